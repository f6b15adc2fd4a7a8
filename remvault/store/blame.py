"""Which commit last changed each field and each line of a note.

Owns: walking back through history with what is not explained yet, along renames and both sides of a merge.
Leaves alone: what a commit says of itself (history), how it is told (surfaces).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from remvault.domain.differences import same_lines
from remvault.domain.note import Note
from remvault.domain.records import to_record
from remvault.store.history import Entry, entry_of, read_note, renamed_from
from remvault.store.repository import CommitFacts, GitRepository, RevisionNotFound


@dataclass(frozen=True, slots=True)
class Blame:
    """Where each part of a note comes from; None is what no commit holds yet."""

    fields: Mapping[str, Entry | None]  # by attribute name or the person's own key, in the order of the answer
    lines: Sequence[Entry | None]  # of the body, in order


@dataclass(slots=True)
class _Open:
    """What of a note is still to be explained, as it stands in one commit."""

    fields: set[str] = field(default_factory=set)
    lines: dict[int, int] = field(default_factory=dict)  # line in the end, to line here

    def take(self, fields: set[str], lines: Mapping[int, int]) -> None:
        self.fields |= fields
        self.lines |= lines


def blame(repository: GitRepository, prefix: str, note: Note, *, head_path: str | None) -> Blame:
    """Explain a note as it is on disk.

    Args:
        head_path: the path at which HEAD holds the memory, None when it does not.
    """
    lines = note.body.splitlines()
    start = _Open({*known_fields(note)}, {at: at for at in range(len(lines))})
    fields: dict[str, Entry | None] = dict.fromkeys(known_fields(note))
    explained: list[Entry | None] = [None] * len(lines)
    try:
        tip = repository.resolve("HEAD")
    except RevisionNotFound:
        return Blame(fields, explained)
    # By commit and path, since two notes may have been merged into one.
    waiting: dict[str, dict[str, _Open]] = {}
    if head_path is not None:
        blob = repository.blob_at(tip, prefix + head_path)
        passed = _same(start, note, read_note(repository, head_path, blob)) if blob is not None else _Open()
        waiting[tip] = {head_path: passed}
    for facts in repository.log(tip):
        for path, left in waiting.pop(facts.id, {}).items():
            _explain(repository, prefix, facts, path, left, waiting)
            if not left.fields and not left.lines:
                continue
            entry = entry_of(repository, facts, prefix)
            fields |= dict.fromkeys(left.fields, entry)
            for at in left.lines:
                explained[at] = entry
        if not waiting:
            break
    return Blame(fields, explained)


def known_fields(note: Note) -> dict[str, Any]:
    """The values a note states, by attribute name, the person's own keys behind them."""
    record = to_record(note.memory)
    metadata: dict[str, Any] = record.pop("metadata")
    stated = {key.replace("-", "_") for key in note.key_lines}
    return {key: value for key, value in record.items() if key in stated} | metadata


def _explain(
    repository: GitRepository,
    prefix: str,
    facts: CommitFacts,
    path: str,
    left: _Open,
    waiting: dict[str, dict[str, _Open]],
) -> None:
    """Pass on to the parents what they have in the same form; what remains in `left` is this commit's own."""
    blob = repository.blob_at(facts.id, prefix + path)
    note = None
    for parent in facts.parents:
        if not left.fields and not left.lines:
            return
        source, older = path, repository.blob_at(parent, prefix + path)
        if older is None:
            changes = repository.changed_paths(parent, facts.id, prefix)
            source = renamed_from(repository, changes, path) or ""
            older = changes[source][0] if source else None
        if older is None:
            continue
        if older == blob:
            passed = _Open(set(left.fields), dict(left.lines))
        else:
            note = note or read_note(repository, path, blob)
            passed = _same(left, note, read_note(repository, source, older))
        left.fields -= passed.fields
        for at in passed.lines:
            del left.lines[at]
        if passed.fields or passed.lines:
            waiting.setdefault(parent, {}).setdefault(source, _Open()).take(passed.fields, passed.lines)


def _same(wanted: _Open, note: Note, older: Note) -> _Open:
    """The part of `wanted` that `older` has in the same form, by its lines."""
    here, there = known_fields(note), known_fields(older)
    fields = {key for key in wanted.fields if key in there and here.get(key) == there[key]}
    moved: dict[int, int] = {}
    for before, after, length in same_lines(older.body.splitlines(), note.body.splitlines()):
        moved |= {after + at: before + at for at in range(length)}
    return _Open(fields, {end: moved[at] for end, at in wanted.lines.items() if at in moved})
