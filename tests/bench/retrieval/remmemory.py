"""The remmemory set: small stores of one-line memories, each asked one question that they answer, or none of them does.

How its fields become the product's own means:

- a store: one project scope, `project:<scenario id>`. Memories with a `projectID` lie in a project scope of their own,
  `project:<scenario id>-<the path as a slug>`, and the question is asked in that of its `directory`; memories of that
  store without one are then its person's, in `team:<scenario id>`, which is open whatever the project is.
- `text`: the body, its first words the title. `category`: the type (preferences: preference, else semantic).
- `weight`: `importance`, a third of it, at most 1 (3 is the heaviest there). Absent stays absent.
- `pinned`: `pinned`.
- `lastSeenAgoDays`: `observed`, so many days before the clock. Nothing is `confirmed`: to be seen confirms nothing.
- `status` SUPERSEDED: `freshness: superseded`, and when one other memory of the store has no status, that one's
  `supersedes`. CONFLICTED: a relation `contradicts` to the other memories of the store that have no status.
- `helpful`, `irrelevant`: so many lines of feedback in the ledger.
"""

from __future__ import annotations

import re
from datetime import timedelta

from remvault.domain.moments import format_moment
from remvault.store.feedback import KIND
from remvault.store.ledger_lines import line_path, to_line
from tests.bench.retrieval.building import NOW
from tests.bench.retrieval.notes import BenchNote, note_id, slug, title_of
from tests.bench.retrieval.protocols import Protocol, Question
from tests.bench.retrieval.sets import BadSet, Row, SetFolder, by_id

_STATUSES = ("ACTIVE", "SUPERSEDED", "CONFLICTED")
_OPS = {"helpful": "useful", "irrelevant": "irrelevant"}
_HEAVIEST = 3.0
# An article or preposition joined to the next word ("l'utente", "dell'app") is written in no English text; beside it,
# two of the commonest words that no English text has. Verbs and nouns of the set are none of it.
_ELISION = re.compile(r"\b(?:l|un|dell|all|nell|dall|sull|quell)['’]\w", re.IGNORECASE)
_ITALIAN_TEXT = "il lo gli di della delle degli che chi è sono con nel nella questo questa quale quali perché"
_ITALIAN = frozenset(_ITALIAN_TEXT.split())
PAIR_CATEGORIES = ("it-en", "en-it")
ENGLISH, PAIR = "en", "pair"


def is_italian(text: str) -> bool:
    """Whether a text is Italian: it joins an article to a word, or has two of the commonest Italian words."""
    words = re.findall(r"\w+", text.lower())
    return bool(_ELISION.search(text)) or sum(word in _ITALIAN for word in words) > 1


def remmemory(data: SetFolder) -> Protocol:
    """A note a memory, every store in one vault; gold: the expected memories, none for a negative.

    A question's group is `pair` when its category is one of PAIR_CATEGORIES, or when the question or a memory that it
    expects is Italian; else `en`.
    """
    notes: list[BenchNote] = []
    questions: list[Question] = []
    feedback: list[bytes] = []
    for row in by_id(data.rows("scenarios")).values():
        memories = _memories(row)
        stored = [_note(row, memories, at) for at in range(len(memories))]
        notes += stored
        for note, memory in zip(stored, memories, strict=True):
            for name, op in _OPS.items():
                line = to_line({"time": format_moment(NOW), "op": op, "id": note.id, "actor": "user:bench"})
                feedback += [line] * (memory.whole(name) or 0)
        questions.append(_question(row, memories, [note.key for note in stored]))
    files = {line_path(KIND, NOW, "bench"): b"".join(feedback).decode()} if feedback else {}
    return Protocol("remmemory", tuple(notes), tuple(questions), files=files)


def _question(row: Row, memories: list[Row], keys: list[str]) -> Question:
    expected, polarity = row.values.get("expected"), row.text("polarity")
    if not isinstance(expected, list) or not all(type(at) is int and 0 <= at < len(keys) for at in expected):
        raise BadSet(f"{row.place}: 'expected' is no list of places among {len(keys)} memories")
    if polarity not in ("positive", "negative") or (polarity == "positive") != bool(expected):
        raise BadSet(f"{row.place}: polarity {polarity!r} with {len(expected)} expected memories")
    store, directory = _store(row), row.text("directory", default="")
    context = {"project": store} if not directory else {"project": f"{store}-{slug(directory)}", "team": store}
    texts = [row.text("query"), *(memories[at].text("text") for at in expected)]
    categories = row.texts("category")
    is_pair = bool(set(categories) & set(PAIR_CATEGORIES)) or (bool(expected) and any(map(is_italian, texts)))
    return Question(
        id=row.text("id"),
        text=row.text("query"),
        gold=frozenset(keys[at] for at in expected),
        context=context,
        category=" ".join(categories),
        group=PAIR if is_pair else ENGLISH,
    )


def _memories(row: Row) -> list[Row]:
    found = row.values.get("memories")
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise BadSet(f"{row.place}: 'memories' is no list of objects")
    return [Row(f"{row.place}, memory {at}", one) for at, one in enumerate(found)]


def _note(row: Row, memories: list[Row], at: int) -> BenchNote:
    memory, store = memories[at], _store(row)
    status = _status(memory)
    standing = [_key(row, other) for other, one in enumerate(memories) if other != at and _status(one) == "ACTIVE"]
    replaced = [_key(row, other) for other, one in enumerate(memories) if _status(one) == "SUPERSEDED"]
    fields: dict[str, str] = {}
    weight, age = memory.number("weight"), memory.number("lastSeenAgoDays")
    if weight is not None:
        fields["importance"] = f"{max(0.0, min(1.0, weight / _HEAVIEST)):.2f}"
    if memory.values.get("pinned") is True:
        fields["pinned"] = "true"
    if age is not None:
        fields["observed"] = format_moment(NOW - timedelta(days=age))
    if status == "ACTIVE" and not standing and replaced:
        fields["supersedes"] = f"[{', '.join(map(note_id, replaced))}]"
    if status == "CONFLICTED" and standing:
        targets = ", ".join(f"{{type: contradicts, target: {note_id(key)}}}" for key in standing)
        fields["relations"] = f"[{targets}]"
    project, directory = memory.text("projectID", default=""), row.text("directory", default="")
    scope, scope_id = ("team", store) if directory else ("project", store)
    if project:
        scope, scope_id = "project", f"{store}-{slug(project)}"
    text = memory.text("text")
    return BenchNote(
        key=_key(row, at),
        path=f"{scope}/{scope_id}/{note_id(_key(row, at))}.md",
        title=title_of(text),
        body=text,
        type="preference" if memory.text("category", default="") == "preferences" else "semantic",
        scope=scope,
        scope_id=scope_id,
        source=f"remmemory:{_key(row, at)}",
        fields=fields,
        is_superseded=status == "SUPERSEDED",
    )


def _status(memory: Row) -> str:
    status = memory.text("status", default="ACTIVE").upper()
    if status not in _STATUSES:
        raise BadSet(f"{memory.place}: status {status!r} is none of {', '.join(_STATUSES)}")
    return status


def _store(row: Row) -> str:
    return slug(row.text("id"))


def _key(row: Row, at: int) -> str:
    return f"{row.text('id')}/{at}"
