"""What differs between two states of a vault, in memory terms rather than lines.

Pure: notes in, values out. Owns: pairing notes by identity, and naming what a change means.
Leaves alone: reading the two states, who may see what (surfaces).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from remvault.domain.fields import FIELDS
from remvault.domain.markdown import wikilinks
from remvault.domain.memory import Memory
from remvault.domain.note import Note
from remvault.domain.records import to_record

# Told by a change of its own kind rather than as a field.
_TOLD_APART = frozenset({"scope", "scope_id", "status", "confirmed", "supersedes", "superseded_by", "relations"})
_STATUS_KINDS = {"retracted": "retracted", "archived": "archived"}


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is different.

    `kind`: added, removed, field, body, confirmed, superseded, supersedes, retracted, archived, restored, scope, path,
    link-added, link-removed, layout (the same memory, written differently).
    """

    kind: str
    field: str | None = None  # kebab-case key, for `field`
    old: Any = None
    new: Any = None
    added: int | None = None  # lines, for `body`
    removed: int | None = None

    def answer(self) -> dict[str, Any]:
        """The change as JSON has it: only the keys of its kind."""
        if self.kind == "body":
            return {"kind": self.kind, "lines_added": self.added, "lines_removed": self.removed}
        if self.kind in ("superseded", "supersedes"):
            return {"kind": self.kind, "by" if self.kind == "superseded" else "ids": self.new}
        if self.kind in ("link-added", "link-removed"):
            return {"kind": self.kind, "type": self.field, "target": self.new}
        answer: dict[str, Any] = {"kind": self.kind}
        if self.field is not None:
            answer["field"] = self.field
        if self.kind in ("field", "scope", "path", "confirmed"):
            answer |= {"old": self.old, "new": self.new}
        return answer


@dataclass(frozen=True, slots=True)
class Difference:
    """One memory that differs, by its newer side where there is one."""

    id: str | None
    title: str | None
    path: str
    changes: tuple[Change, ...]

    def answer(self) -> dict[str, Any]:
        """The difference as JSON has it."""
        return {
            "id": self.id,
            "title": self.title,
            "path": self.path,
            "changes": [one.answer() for one in self.changes],
        }


def differences(before: Iterable[Note], after: Iterable[Note]) -> list[Difference]:
    """Compare two sets of notes, by path; notes that are equal may be left out of both.

    Notes are one memory when they share an id, else when they share a path. Of several with one id those at the same
    path are paired first.
    """
    olds, news = {note.path: note for note in before}, {note.path: note for note in after}
    pairs = list(_paired(olds, news))
    superseders = _superseders(pairs)
    found = []
    for old, new in pairs:
        changes = tuple(_changes(old, new, superseders))
        if changes:
            note = new or old
            assert note is not None
            found.append(Difference(note.memory.id, note.memory.title, note.path, changes))
    return sorted(found, key=lambda one: one.path)


def _paired(olds: Mapping[str, Note], news: Mapping[str, Note]) -> Iterator[tuple[Note | None, Note | None]]:
    left, right = dict(olds), dict(news)
    for path in sorted(olds.keys() & news.keys()):
        if olds[path].memory.id == news[path].memory.id or None in (olds[path].memory.id, news[path].memory.id):
            yield left.pop(path), right.pop(path)
    by_id = {note.memory.id: note for _, note in sorted(right.items(), reverse=True) if note.memory.id}
    for path, old in sorted(left.items()):
        new = by_id.pop(old.memory.id or "", None)
        if new is not None:
            del left[path], right[new.path]
            yield old, new
    yield from ((old, None) for old in left.values())
    yield from ((None, new) for new in right.values())


def _superseders(pairs: Sequence[tuple[Note | None, Note | None]]) -> dict[str, str]:
    """Memory to the one that newly supersedes it."""
    found: dict[str, str] = {}
    for old, new in pairs:
        if new is None or new.memory.id is None:
            continue
        known = old.memory.supersedes if old is not None else ()
        found.update({one: new.memory.id for one in new.memory.supersedes if one not in known})
    return found


def _changes(old: Note | None, new: Note | None, superseders: Mapping[str, str]) -> Iterator[Change]:
    if old is None or new is None:
        note = new or old
        yield Change("removed" if new is None else "added")
        if new is not None and new.memory.supersedes:
            yield Change("supersedes", new=list(new.memory.supersedes))
        assert note is not None
        return
    told = [
        *_moves(old, new),
        *_life(old.memory, new.memory, superseders),
        *_fields(old.memory, new.memory),
        *_links(old, new),
        *_body(old, new),
    ]
    yield from told
    if not told and old.blob != new.blob:
        yield Change("layout")


def _moves(old: Note, new: Note) -> Iterator[Change]:
    if old.owner != new.owner:
        yield Change("scope", old=_owner(old), new=_owner(new))
    if old.path != new.path:
        yield Change("path", old=old.path, new=new.path)


def _life(old: Memory, new: Memory, superseders: Mapping[str, str]) -> Iterator[Change]:
    if old.confirmed != new.confirmed:
        yield Change("confirmed", old=old.confirmed, new=new.confirmed)
    successor = superseders.get(new.id or "") or (new.superseded_by if new.superseded_by != old.superseded_by else None)
    if successor is not None:
        yield Change("superseded", new=successor)
    elif old.superseded_by != new.superseded_by:
        yield Change("field", "superseded-by", old.superseded_by, new.superseded_by)
    gained = [one for one in new.supersedes if one not in old.supersedes]
    if gained:
        yield Change("supersedes", new=gained)
    elif old.supersedes != new.supersedes:
        yield Change("field", "supersedes", list(old.supersedes), list(new.supersedes))
    if old.status == new.status:
        return
    if new.status in _STATUS_KINDS:
        yield Change(_STATUS_KINDS[new.status])
    elif new.status == "active" and old.status in _STATUS_KINDS:
        yield Change("restored")
    else:
        yield Change("field", "status", old.status, new.status)


def _fields(old: Memory, new: Memory) -> Iterator[Change]:
    before, after = to_record(old), to_record(new)
    for key, row in FIELDS.items():
        one, two = before[row.attribute], after[row.attribute]
        if row.attribute in _TOLD_APART or one == two:
            continue
        if key == "freshness" and two == "superseded" and old.superseded_by != new.superseded_by:
            continue  # the mark that goes with being superseded
        yield Change("field", key, one, two)
    theirs, ours = old.metadata, new.metadata
    for key in [*theirs, *(key for key in ours if key not in theirs)]:
        if theirs.get(key) != ours.get(key):
            yield Change("field", key, theirs.get(key), ours.get(key))


def _links(old: Note, new: Note) -> Iterator[Change]:
    before, after = _edges(old), _edges(new)
    for kind, target in sorted(after.keys() - before.keys()):
        yield Change("link-added", kind, new=target)
    for kind, target in sorted(before.keys() - after.keys()):
        yield Change("link-removed", kind, new=target)
    for edge in sorted(before.keys() & after.keys()):
        if before[edge] != after[edge]:
            yield Change("field", f"relation {edge[0]} {edge[1]}", before[edge], after[edge])


def _edges(note: Note) -> dict[tuple[str, str], Any]:
    """(type, target) of every link to its further values; wikilinks have none."""
    edges: dict[tuple[str, str], Any] = {("related-to", target): None for target in wikilinks(note.body)}
    for one in to_record(note.memory)["relations"]:
        edges[one["type"], one["target"]] = {key: one[key] for key in ("weight", "confidence", "source")}
    return edges


def _body(old: Note, new: Note) -> Iterator[Change]:
    if old.body == new.body:
        return
    before, after = old.body.splitlines(), new.body.splitlines()
    kept = sum(length for _, _, length in same_lines(before, after))
    yield Change("body", added=len(after) - kept, removed=len(before) - kept)


def same_lines(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int, int]]:
    """Runs of lines that stayed: (start before, start after, length), both ascending, 0-based.

    What both ends share is set aside first, so that the usual small change in a long text costs little.
    """
    shortest = min(len(before), len(after))
    head = next((at for at in range(shortest) if before[at] != after[at]), shortest)
    most = shortest - head
    tail = next((at for at in range(most) if before[-1 - at] != after[-1 - at]), most)
    middle = SequenceMatcher(None, before[head : len(before) - tail], after[head : len(after) - tail])
    runs = [(0, 0, head)]
    runs += [(head + one.a, head + one.b, one.size) for one in middle.get_matching_blocks()]
    runs.append((len(before) - tail, len(after) - tail, tail))
    return [run for run in runs if run[2]]


def _owner(note: Note) -> str | None:
    return None if note.owner is None else note.owner.rstrip(":")
