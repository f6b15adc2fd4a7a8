"""A set of our own, made from a seed: projects, their parts, what was decided of each, and questions of six kinds.

`plain` and `identifier` ask for a decision in other words or by a name out of the code, `superseded` for one that was
replaced since; `absent` asks of a part that no project has, `elsewhere` of one that only another project has, `chat`
of nothing that anybody noted. Nothing of it was taken from a public set.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.bench.retrieval.notes import BenchNote, note_id, slug
from tests.bench.retrieval.protocols import Protocol, Question

SEED = 11
PROJECTS = ("atlas", "beacon", "cobalt", "dune", "ember")
PARTS_EACH = 10
DECISIONS_EACH = 3
_PARTS = (
    "retry queue", "session cache", "invoice export", "search index", "image resizer", "webhook dispatcher",
    "audit trail", "rate limiter", "job scheduler", "login page", "payment ledger", "email digest", "report builder",
    "upload form", "config loader", "metrics collector", "backup rotation", "chat widget", "price calculator",
    "address book", "map tiles", "license checker", "theme switcher", "token vault",
)  # fmt: skip
_ABSENT = ("fax bridge", "barcode scanner", "voice mailbox", "coupon engine", "seat planner", "weather banner")
_CHAT = (
    "write a haiku about autumn",
    "what is the capital of Portugal?",
    "rename these photographs by the day they were taken",
    "thanks, that was helpful",
    "translate this paragraph into Dutch",
    "how tall is the highest mountain of Africa?",
    "draw a small cat in ASCII",
    "please continue",
    "which side dish goes with roasted salmon?",
    "convert 40 miles to kilometres",
    "explain what a monad is",
    "what should I wear for a wedding in June?",
)
_PEOPLE = ("Amira", "Bente", "Cyril", "Dorota", "Emeka", "Farida", "Goran", "Hanneke")
_STORES = ("Postgres", "Redis", "SQLite", "DynamoDB", "Cassandra", "MinIO")
_FORMATS = ("CSV", "Parquet", "JSON Lines", "Protobuf", "MessagePack", "XML")
_TOOLS = ("Docker", "a fake clock", "the staging account", "LocalStack", "a seeded fixture", "Chromium")
_CAUSES = (
    "an expired certificate",
    "a full disk",
    "a leap second",
    "a renamed column",
    "clock skew",
    "a typo in a flag",
)
_MONTHS = ("January", "March", "April", "June", "September", "October")


@dataclass(frozen=True, slots=True)
class _Aspect:
    """One kind of decision: what is noted of a part, and how it is asked for."""

    name: str
    title: str
    body: str
    questions: tuple[str, ...]


_ASPECTS = (
    _Aspect(
        "timeout",
        "{Part} gives up after {number} seconds",
        "`{ident}` stays at {number} seconds. The gateway answered late twice, and waiting longer filled the pool of "
        "connections.",
        ("how long does the {part} wait before it gives up?", "after how many seconds does the {part} stop waiting?"),
    ),
    _Aspect(
        "store",
        "{Part} lives in {store}",
        "We keep it in {store} because the team runs that already. Go through `{ident}`, never to the tables.",
        ("where do we keep the {part}?", "does the {part} live in {store} or somewhere else?"),
    ),
    _Aspect(
        "format",
        "{Part} writes {format}",
        "Other teams read the files with their own tools, so {format} was chosen. `{ident}` is the only writer.",
        ("which format does the {part} write?", "in what format are the files of the {part}?"),
    ),
    _Aspect(
        "owner",
        "{person} owns the {part}",
        "Ask {person} before changing `{ident}`; reviews go there first.",
        ("who owns the {part}?", "whom do I ask before changing the {part}?"),
    ),
    _Aspect(
        "rollout",
        "{Part} goes out behind a flag",
        "Turn `{ident}` on for {number} percent, watch the errors for a day, then for everybody.",
        ("how do we roll out changes to the {part}?", "which flag is the {part} behind?"),
    ),
    _Aspect(
        "tests",
        "Tests of the {part} need {tool}",
        "Without {tool} they hang. `{ident}` prepares it and cleans up behind itself.",
        ("what do the tests of the {part} need?", "why do the {part} tests hang?"),
    ),
    _Aspect(
        "limit",
        "{Part} takes at most {number} entries",
        "`{ident}` refuses more than {number}: memory grew without bound in the load test.",
        ("how many entries does the {part} take at most?", "why does the {part} refuse more entries?"),
    ),
    _Aspect(
        "failure",
        "{Part} failed in {month}: {cause}",
        "The alarm came an hour late. Since then `{ident}` checks for {cause} every minute.",
        ("why did the {part} fail?", "what broke the {part} in {month}?"),
    ),
    _Aspect(
        "naming",
        "Files of the {part} begin with the day",
        "Named by `{ident}`, year first, so that sorting by name sorts by age.",
        ("how are the files of the {part} named?", "what do file names of the {part} begin with?"),
    ),
)


def synthetic(seed: int = SEED) -> Protocol:
    """The set of a seed, always the same."""
    chance = random.Random(seed)
    notes: list[BenchNote] = []
    questions: list[Question] = []
    parts = {project: chance.sample(_PARTS, PARTS_EACH) for project in PROJECTS}
    for project in PROJECTS:
        for part in parts[project]:
            for aspect in chance.sample(_ASPECTS, DECISIONS_EACH):
                made, asked = _decided(chance, project, part, aspect)
                notes += made
                questions += asked
    for part in _ABSENT:
        for aspect in chance.sample(_ASPECTS, 4):
            project = chance.choice(PROJECTS)
            questions.append(_unanswered(f"absent/{slug(part)}/{aspect.name}", aspect, part, project, "absent", chance))
    for project in PROJECTS:
        foreign = [
            part for part in _PARTS if part not in parts[project] and any(part in all_ for all_ in parts.values())
        ]
        for part in chance.sample(foreign, 5):
            aspect = chance.choice(_ASPECTS)
            key = f"elsewhere/{project}/{slug(part)}"
            questions.append(_unanswered(key, aspect, part, project, "elsewhere", chance))
    for at, prompt in enumerate(_CHAT):
        context = {"project": chance.choice(PROJECTS)}
        questions.append(
            Question(id=f"chat/{at}", text=prompt, gold=frozenset(), context=context, category="chat", group="chat")
        )
    return Protocol("synthetic", tuple(notes), tuple(questions))


def _decided(chance: random.Random, project: str, part: str, aspect: _Aspect) -> tuple[list[BenchNote], list[Question]]:
    """A decision with its questions; one in eight replaced an older one."""
    key = f"{project}/{slug(part)}/{aspect.name}"
    words = _words(chance, part, aspect)
    note = _note(key, project, aspect, words, day=chance.randint(1, 28))
    context = {"project": project}

    def question(kind: str, text: str) -> Question:
        return Question(
            id=f"{kind}/{key}", text=text, gold=frozenset({key}), context=context, category=kind, group=kind
        )

    asked = chance.choice(aspect.questions).format(**words)
    if chance.random() < 0.125:
        before = _words(chance, part, aspect) | {"ident": words["ident"]}
        older = _note(f"{key}/before", project, aspect, before, day=1, is_superseded=True)
        newer = _note(key, project, aspect, words, day=28, supersedes=older.key)
        return [older, newer], [question("superseded", asked)]
    questions = [question("plain", asked)]
    if chance.random() < 0.25:
        questions.append(question("identifier", f"what is {words['ident']} for?"))
    return [note], questions


def _unanswered(key: str, aspect: _Aspect, part: str, project: str, kind: str, chance: random.Random) -> Question:
    text = chance.choice(aspect.questions).format(**_words(chance, part, aspect))
    return Question(id=key, text=text, gold=frozenset(), context={"project": project}, category=kind, group=kind)


def _words(chance: random.Random, part: str, aspect: _Aspect) -> dict[str, str]:
    first, second = part.split()
    ident = chance.choice(
        (
            f"{first}_{second}_{aspect.name}",
            f"{first}{second.capitalize()}{aspect.name.capitalize()}",
            f"{first.capitalize()}{second.capitalize()}.{aspect.name}",
        )
    )
    return {
        "part": part,
        "Part": f"The {part}",
        "ident": ident,
        "number": str(chance.choice((5, 12, 20, 30, 45, 60, 90, 250, 400))),
        "person": chance.choice(_PEOPLE),
        "store": chance.choice(_STORES),
        "format": chance.choice(_FORMATS),
        "tool": chance.choice(_TOOLS),
        "cause": chance.choice(_CAUSES),
        "month": chance.choice(_MONTHS),
    }


def _note(
    key: str,
    project: str,
    aspect: _Aspect,
    words: dict[str, str],
    *,
    day: int,
    is_superseded: bool = False,
    supersedes: str | None = None,
) -> BenchNote:
    when = f"2026-10-{day:02d}T10:00:00Z"
    return BenchNote(
        key=key,
        path=f"project/{project}/{slug(key)}.md",
        title=aspect.title.format(**words),
        body=aspect.body.format(**words),
        type="episodic" if aspect.name == "failure" else "decision",
        scope="project",
        scope_id=project,
        source="remvault://explicit-write",
        captured=when,
        fields={"created": when} | ({"supersedes": f"[{note_id(supersedes)}]"} if supersedes else {}),
        is_superseded=is_superseded,
    )
