"""What each set becomes: notes, and questions with the context they are asked in.

One function a protocol, from the rows of a set to a `Protocol`; nothing here knows how the product ranks.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from tests.bench.retrieval.notes import BenchNote, note_id, one_line, slug, title_of
from tests.bench.retrieval.sets import BadSet, Row, SetFolder, by_id

_DATE = "%I:%M %p on %d %B, %Y"
_FUNCTION = re.compile(r"^\s*(?:async\s+)?(?:def|class)\s+(\w+)", re.MULTILINE)
_TICKS = re.compile(r"`{3,}")
NOTES_PER_FOLDER = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One query, and what would answer it."""

    id: str
    text: str
    gold: frozenset[str]  # keys of notes
    context: Mapping[str, str] = field(default_factory=dict)
    audited: frozenset[str] = frozenset()  # the gold after an audit, where the set has one
    wrong: tuple[str, Mapping[str, str]] | None = None  # the question that has no answer, and where it is asked
    category: str = ""
    group: str = ""  # questions that are reported apart have different ones


@dataclass(frozen=True, slots=True)
class Protocol:
    """A vault and what is asked of it."""

    name: str
    notes: tuple[BenchNote, ...]
    questions: tuple[Question, ...]
    remarks: tuple[str, ...] = ()  # what was left out or cannot be found, for a reader to hear
    files: Mapping[str, str] = field(default_factory=dict)  # of the vault, besides notes


def locomo_turn(data: SetFolder) -> Protocol:
    """A note a turn, in the project scope of its conversation; gold: the evidence turns; without adversarial ones."""
    turns = by_id(data.rows("turns"))
    notes = tuple(_turn_note(row, at) for at, row in enumerate(turns.values()))
    questions, remarks = _locomo_questions(data, turns, is_session=False)
    return Protocol("locomo-turn", notes, questions, remarks)


def locomo_session(data: SetFolder) -> Protocol:
    """A note a session, all in one global pool; gold: the sessions of the evidence turns."""
    turns = by_id(data.rows("turns"))
    questions, remarks = _locomo_questions(data, turns, is_session=True)
    pooled = tuple(
        Question(id=one.id, text=one.text, gold=one.gold, audited=one.audited, category=one.category)
        for one in questions
    )
    return Protocol("locomo-session", _session_notes(turns, is_pool=True), pooled, remarks)


def locomo_session_scoped(data: SetFolder) -> Protocol:
    """As `locomo_session`, each conversation in its own project scope: where the wrong conversation is asked."""
    turns = by_id(data.rows("turns"))
    questions, remarks = _locomo_questions(data, turns, is_session=True)
    return Protocol("locomo-session-scoped", _session_notes(turns, is_pool=False), questions, remarks)


def cosqa(data: SetFolder) -> Protocol:
    """A note a function, its name the title (else its first line), its text in a fence; all global."""
    notes = []
    for at, (key, row) in enumerate(by_id(data.rows("docs")).items()):
        code = row.text("text")
        found = _FUNCTION.search(code)
        first = next((line for line in code.splitlines() if line.strip()), "")
        fence = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(code)), default=0))
        notes.append(
            BenchNote(
                key=key,
                path=_flat_path(at, key),
                title=found[1] if found else title_of(first),
                body=f"{fence}python\n{code.strip(chr(10))}\n{fence}",
                source=f"cosqa:{key}",
                actors=("tool:capture",),
            )
        )
    return _with_questions("cosqa", data, notes)


def titled(data: SetFolder) -> Protocol:
    """A note a document with its own title and text (scifact, qmd); all global."""
    notes = [
        BenchNote(
            key=key,
            path=_flat_path(at, key),
            title=one_line(row.text("title", default="")) or title_of(row.text("text")),
            body=row.text("text"),
            source=f"{data.name}:{key}",
            actors=("tool:capture",),
        )
        for at, (key, row) in enumerate(by_id(data.rows("docs")).items())
    ]
    return _with_questions(data.name, data, notes)


def _with_questions(name: str, data: SetFolder, notes: list[BenchNote]) -> Protocol:
    known = {note.key for note in notes}
    questions, remarks = [], _Remarks()
    for row in by_id(data.rows("queries")).values():
        gold = frozenset(row.texts("rel"))
        remarks.hear(row, gold, known)
        if gold:
            category = row.text("cat", default="")
            questions.append(Question(id=row.text("id"), text=row.text("text"), gold=gold, category=category))
    return Protocol(name, tuple(notes), tuple(questions), remarks.said())


def _locomo_questions(
    data: SetFolder, turns: Mapping[str, Row], *, is_session: bool
) -> tuple[tuple[Question, ...], tuple[str, ...]]:
    speakers = _speakers(turns.values())
    order = list(speakers)
    questions, remarks, adversarial = [], _Remarks(), 0
    for row in by_id(data.rows("queries")).values():
        category = row.text("cat")
        if category == "adversarial":
            adversarial += 1
            continue
        scope = row.text("scope")
        if scope not in speakers:
            raise BadSet(f"{row.place}: no turn is of conversation {scope!r}")
        gold, audited = row.texts("rel"), row.texts("rel_fixed") or row.texts("rel")
        remarks.hear(row, {*gold, *audited}, turns.keys())
        if not gold:
            continue
        following = order[(order.index(scope) + 1) % len(order)]
        asked = _renamed(row.text("text"), speakers[scope], speakers[following])
        questions.append(
            Question(
                id=row.text("id"),
                text=row.text("text"),
                gold=frozenset(_session(turns, key) if is_session else key for key in gold),
                audited=frozenset(_session(turns, key) if is_session else key for key in audited),
                context={"project": slug(scope)},
                wrong=(asked, {"project": slug(following)}) if following != scope else None,
                category=category,
            )
        )
    return tuple(questions), (f"{adversarial} adversarial questions are not asked", *remarks.said())


def _session(turns: Mapping[str, Row], turn: str) -> str:
    row = turns.get(turn)
    return turn if row is None else f"{row.text('scope')}/D{row.whole('session')}"


def _speakers(turns: Iterable[Row]) -> dict[str, list[str]]:
    """The speakers of each conversation, both in order of appearance."""
    found: dict[str, list[str]] = {}
    for row in turns:
        names = found.setdefault(row.text("scope"), [])
        if row.text("speaker") not in names:
            names.append(row.text("speaker"))
    return found


def _renamed(text: str, names: list[str], others: list[str]) -> str:
    """The text with one conversation's speakers called as the other's, in order, as whole words."""
    called = {name.lower(): others[at % len(others)] for at, name in enumerate(names)}
    either = "|".join(re.escape(name) for name in sorted(called, key=len, reverse=True))
    return re.sub(rf"\b(?:{either})\b", lambda found: called[found[0].lower()], text, flags=re.IGNORECASE)


def _turn_note(row: Row, at: int) -> BenchNote:
    key, scope, text = row.text("id"), row.text("scope"), row.text("text").strip()
    session, number = row.whole("session"), re.search(r"(\d+)\Z", key)
    place = int(number[1]) if number else at
    when = _moment(row)
    caption = one_line(row.text("caption", default=""))
    return BenchNote(
        key=key,
        path=f"project/{slug(scope)}/d{session:02d}-{place:03d}-{note_id(key)}.md",
        title=title_of(text or caption),
        body="\n".join(part for part in (text, caption) if part),
        type="episodic",
        scope="project",
        scope_id=slug(scope),
        source=f"conversation:{key}",
        actors=(f"user:{one_line(row.text('speaker'))}",),
        captured=when,
        fields={"observed": when, "parent": f"{scope}/D{session}"},
    )


def _session_notes(turns: Mapping[str, Row], *, is_pool: bool) -> tuple[BenchNote, ...]:
    sessions: dict[str, list[Row]] = {}
    for key, row in turns.items():
        sessions.setdefault(_session(turns, key), []).append(row)
    return tuple(_session_note(key, rows, is_pool=is_pool) for key, rows in sessions.items())


def _session_note(key: str, rows: list[Row], *, is_pool: bool) -> BenchNote:
    first = rows[0]
    scope, when = first.text("scope"), _moment(first)
    speakers = list(dict.fromkeys(one_line(row.text("speaker")) for row in rows))
    lines = []
    for row in rows:
        lines.append(f"{one_line(row.text('speaker'))}: {one_line(row.text('text'))}")
        lines += [caption] if (caption := one_line(row.text("caption", default=""))) else []
    folder = "global" if is_pool else f"project/{slug(scope)}"
    day = datetime.fromisoformat(when)
    return BenchNote(
        key=key,
        path=f"{folder}/{slug(scope)}-d{first.whole('session'):02d}-{note_id(key)}.md",
        title=f"{' and '.join(speakers)}, {day.day} {day:%B %Y}",
        body="\n".join(lines),
        type="episodic",
        scope="global" if is_pool else "project",
        scope_id=None if is_pool else slug(scope),
        source=f"conversation:{key}",
        actors=tuple(f"user:{name}" for name in speakers),
        captured=when,
        fields={"observed": when, "parent": f'"{scope}"'},
    )


def _moment(row: Row) -> str:
    text = row.text("date")
    try:
        return datetime.strptime(one_line(text), _DATE).strftime("%Y-%m-%dT%H:%M:00Z")
    except ValueError as err:
        raise BadSet(f"{row.place}: date {text!r} is not like '1:56 pm on 8 May, 2023'") from err


def _flat_path(at: int, key: str) -> str:
    return f"global/2026-{at // NOTES_PER_FOLDER:02d}/{slug(key)[:60]}-{note_id(key)}.md"


class _Remarks:
    """What a reader must hear of a set's questions."""

    def __init__(self) -> None:
        self._without, self._unknown = 0, 0
        self._first = ""

    def hear(self, row: Row, gold: Collection[str], known: Collection[str]) -> None:
        """Count a question without evidence, or with evidence that no document is: that can never be found."""
        missing = [one for one in gold if one not in known]
        self._without += not gold
        self._unknown += len(missing)
        if missing and not self._first:
            self._first = f"{row.place}: {sorted(missing)[0]!r}"

    def said(self) -> tuple[str, ...]:
        """The remarks as sentences."""
        said = [f"{self._without} questions without evidence are not asked"] if self._without else []
        if self._unknown:
            said.append(
                f"{self._unknown} pieces of evidence are in no document (first {self._first}); they stay counted"
            )
        return tuple(said)
