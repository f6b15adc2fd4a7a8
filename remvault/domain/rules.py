"""Rules over what notes say: one note by itself, and all notes together.

Pure: notes in, problems out. What files and folders look like is `store.checking`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from remvault.domain.anchor_rules import form_problems
from remvault.domain.anchors import MAX_ANCHORS
from remvault.domain.copies import Claim, find_copies
from remvault.domain.fields import FIELDS
from remvault.domain.lineage import Lineage, Link, build_lineage
from remvault.domain.memory import EXPLICIT_WRITE
from remvault.domain.note import Note
from remvault.domain.problems import Problem, has_errors, problem, shown
from remvault.domain.scope import SCOPES, scope_id_fault
from remvault.domain.suggestions import suggest

NoteRule = Callable[[Note], Iterator[Problem]]


def note_problems(note: Note, *, is_embedded: bool = True, max_anchors: int = MAX_ANCHORS) -> list[Problem]:
    """Every problem of one note by itself, reading included, in report order.

    A note is *valid* when none of them is an error. `is_embedded` tells whether a workspace note may lack its id;
    `max_anchors` is the vault's own limit.
    """
    found = list(note.problems)
    if note.has_block and not any(one.code in ("RV101", "RV111") for one in note.problems):
        for rule in NOTE_RULES:
            found += rule(note)
        found += _owner(note, is_embedded=is_embedded)
        found += form_problems(note, max_anchors=max_anchors)
    return sorted(found, key=Problem.sort_key)


@dataclass(frozen=True, slots=True)
class Linked:
    """One note as the rules over the whole vault see it."""

    path: str
    id: str | None
    owner: str | None
    supersedes: tuple[str, ...]
    superseded_by: str | None
    freshness: str | None
    status: str
    is_valid: bool
    head_blob: str | None = None  # what HEAD holds at the path, where that is known
    is_committed: bool = False  # and it is this very note
    key_lines: Mapping[str, int] = field(default_factory=dict)  # empty where the note is not opened

    def line_of(self, key: str) -> int:
        """Line of a key, or the first line."""
        return self.key_lines.get(key, 1)


def linked(note: Note, head_blob: str | None = None) -> Linked:
    """What the rules over the whole vault need of a parsed note; `head_blob` is what HEAD holds at its path."""
    memory = note.memory
    return Linked(
        note.path,
        memory.id,
        note.owner,
        memory.supersedes,
        memory.superseded_by,
        memory.freshness,
        memory.status,
        not has_errors(note_problems(note)),
        head_blob,
        head_blob == note.blob,
        note.key_lines,
    )


def vault_problems(notes: Sequence[Linked]) -> list[Problem]:
    """Problems that only show when all notes are seen together: duplicate ids and supersession, in report order."""
    found = [*_duplicates(notes), *_chain(notes, build_lineage(links(notes)))]
    return sorted(found, key=Problem.sort_key)


def links(notes: Iterable[Linked]) -> list[Link]:
    """What supersession needs to know of each note that has an id. Of notes with one id the first by path counts.

    Copies count last.
    """
    return [
        Link(memory_id, note.supersedes, note.owner, note.is_valid and note.status == "active")
        for memory_id, note in _by_id(list(notes)).items()
    ]


def _by_id(notes: Sequence[Linked]) -> dict[str, Linked]:
    copies = _copies(notes)
    ordered = sorted(notes, key=lambda one: (one.path in copies, one.path), reverse=True)
    return {note.id: note for note in ordered if note.id}


def _copies(notes: Iterable[Linked]) -> Mapping[str, str | None]:
    return find_copies(
        Claim(note.path, note.id, note.owner, note.head_blob is not None, note.is_committed)
        for note in notes
        if note.id is not None
    )


def _required(note: Note) -> Iterator[Problem]:
    hints = {
        "id": "'remvault check --fix' makes one",
        "title": "add title: what a reader recognises the memory by",
        "type": "add type: one of " + ", ".join(FIELDS["type"].choices),
        "freshness": "add freshness: current, stale or unknown",
    }
    for key, hint in hints.items():
        value = getattr(note.memory, FIELDS[key].attribute)
        if (value is None or not value.strip()) and key not in note.flawed_keys:
            yield problem("RV104", note.path, note.line_of(key), f"{key} is missing", hint, fixable=key == "id")


def _owner(note: Note, *, is_embedded: bool) -> Iterator[Problem]:
    memory = note.memory
    if memory.scope is None:
        if "scope" not in note.flawed_keys:
            hint = "add scope: project and scope-id: NAME, or scope: global"
            yield problem("RV401", note.path, note.line_of("scope"), "scope is missing", hint)
        return
    if "scope-id" in note.flawed_keys:
        return
    if memory.scope_id is not None:
        fault = scope_id_fault(memory.scope, memory.scope_id)
        if fault is not None:
            message = f"scope-id {shown(memory.scope_id)} {fault}"
            yield problem("RV405", note.path, note.line_of("scope-id"), message, "'remvault context' shows valid ids")
        return
    if memory.scope == "global":
        return
    if SCOPES.row(memory.scope).has_home and is_embedded:
        return  # visible in the vault's own work tree only, which `Context` sees to
    message = f"scope-id is missing: a {memory.scope} memory needs its owner"
    yield problem("RV402", note.path, note.line_of("scope"), message, f"add scope-id: the {memory.scope}'s id")


def _provenance(note: Note) -> Iterator[Problem]:
    line = note.line_of("provenance")
    if "provenance" in note.flawed_keys:
        return
    if not note.memory.provenance:
        hint = f"add provenance: with '- source: {EXPLICIT_WRITE}' or where you know it from"
        yield problem("RV403", note.path, line, "provenance is missing", hint)
    elif not any(entry.source for entry in note.memory.provenance):
        hint = f"add source: a URI, path, commit or {EXPLICIT_WRITE}"
        yield problem("RV404", note.path, line, "no provenance entry has a source", hint)


def _temporary(note: Note) -> Iterator[Problem]:
    if note.memory.tier == "temporary" and note.memory.expires is None:
        yield problem(
            "RV107", note.path, note.line_of("tier"), "tier is temporary but expires is missing", "add expires: DATE"
        )


def _look_alikes(note: Note) -> Iterator[Problem]:
    for key in note.memory.metadata:
        folded = key.lower().replace("_", "-")
        close = folded if folded in FIELDS and folded != key else _near(folded)
        if close is not None and close not in note.key_lines:
            yield problem(
                "RV108",
                note.path,
                note.line_of(key),
                f"unknown key {shown(key)} (did you mean {close!r}?)",
                f"rename it to {close}",
            )


def _near(key: str) -> str | None:
    # Short words are near to everything, and "author" is no slip for "anchors".
    close = suggest(key, list(FIELDS), likeness=0.8) if len(key) > 2 else None
    return close if close != key else None


def _local_only(note: Note) -> Iterator[Problem]:
    if note.memory.is_local_only and not note.path.startswith("private/"):
        hint = "move it to private/, which git ignores, or remove the field"
        yield problem("RV407", note.path, note.line_of("sensitivity"), "local-only note outside private/", hint)


NOTE_RULES: tuple[NoteRule, ...] = (_required, _provenance, _temporary, _look_alikes, _local_only)


def _duplicates(notes: Sequence[Linked]) -> Iterator[Problem]:
    by_id: dict[str, list[Linked]] = defaultdict(list)
    for note in notes:
        if note.id is not None:
            by_id[note.id].append(note)
    copies = _copies(notes)
    originals = set(copies.values())
    for memory_id, same in by_id.items():
        for note in same if len(same) > 1 else ():
            if note.path in originals:
                continue  # what is wrong is said of its copies
            others = ", ".join(sorted(other.path for other in same if other is not note))
            message = f"id {memory_id!r} is also in {others}"
            hint = "give the copy another id, or remove it"
            original = copies.get(note.path, "")
            if original:
                message = f"a copy of {original}, which has the same id: set aside, never surfaced"
                hint = f"bring what is new in it into {original} and remove it, or give it another id"
            elif original is None:
                message += "; nothing tells which is the original, so none is surfaced"
            yield problem("RV105", note.path, note.line_of("id"), message, hint)


def _chain(notes: Sequence[Linked], lineage: Lineage) -> Iterator[Problem]:
    by_id = _by_id(notes)
    in_circle = {one: members for members in lineage.cycles for one in members}
    idle = set(lineage.without_effect)
    for memory_id, note in by_id.items():
        at = note.line_of("supersedes")
        if memory_id in in_circle:
            message = "supersession goes in a circle: " + " -> ".join(in_circle[memory_id])
            yield problem("RV202", note.path, at, message, "remove one of the links")
        for older in note.supersedes:
            if older not in by_id:
                message = f"supersedes {older!r}, which no note has"
                yield problem("RV201", note.path, at, message, "remove it or restore the note")
            elif (memory_id, older) in idle and note.status == "active":
                hint = "same owner or a wider scope, and no errors of its own"
                message = f"does not supersede {older!r}: owner or validity does not allow it"
                yield problem("RV204", note.path, at, message, hint)
        yield from _mark(note, by_id, lineage)
    for memory_id, heads in lineage.contests():
        note = by_id[memory_id]
        message = f"superseded independently by {' and '.join(heads)}"
        hint = "supersede or retract one of them"
        yield problem("RV205", note.path, note.line_of("superseded-by"), message, hint)


def _mark(note: Linked, by_id: Mapping[str, Linked], lineage: Lineage) -> Iterator[Problem]:
    """Compare what the older note says of itself with what the newer ones say."""
    assert note.id is not None
    newer = lineage.successors.get(note.id, ())
    if newer and (note.freshness != "superseded" or note.superseded_by is None):
        message = f"superseded by {newer[0]!r} but not marked so"
        hint = f"'remvault check --fix' adds freshness: superseded and superseded-by: {newer[0]}"
        yield problem("RV203", note.path, note.line_of("freshness"), message, hint, fixable=len(newer) == 1)
    elif note.superseded_by is not None and note.superseded_by not in newer:
        named = by_id.get(note.superseded_by)
        why = "is no note" if named is None else "does not supersede this note"
        if named is not None and note.id in named.supersedes:
            why = f"is {named.status}, so this one holds" if named.status != "active" else "may not supersede this note"
        message = f"superseded-by {note.superseded_by!r} {why}"
        hint = "name the note that supersedes it, or remove the mark"
        yield problem("RV206", note.path, note.line_of("superseded-by"), message, hint)
