"""The verbs that ask the ledger: what happened, what differs, who wrote what. None of them changes anything.

Everything is told through the same boundary as reading: a memory that this context may not see is not told of, and a
commit is told only as far as it concerns the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from remvault.domain.note import Note, parse_note
from remvault.index.rows import NoteRow, as_row, make_entry
from remvault.retrieval.lookup import MemoryNotFound, NamedNote, find
from remvault.retrieval.view import View
from remvault.store.trees import DirectoryTree, FileStat, Tree
from remvault.surfaces.app import OpenVault

if TYPE_CHECKING:
    from remvault.domain.differences import Difference
    from remvault.store.history import Entry


@dataclass(frozen=True, slots=True)
class Log:
    """What happened, newest first."""

    entries: tuple[Entry, ...]

    def answer(self) -> dict[str, Any]:
        """The entries as JSON has them."""
        return {"entries": [entry_answer(one) for one in self.entries]}


@dataclass(frozen=True, slots=True)
class Differences:
    """What differs between two commits, or a commit and the work tree (None)."""

    old: str
    new: str | None
    memories: tuple[Difference, ...]

    def answer(self) -> dict[str, Any]:
        """The differences as JSON has them."""
        return {"from": self.old, "to": self.new, "memories": [one.answer() for one in self.memories]}


@dataclass(frozen=True, slots=True)
class Blamed:
    """Who last changed each part of a memory; an entry of None is not committed yet."""

    id: str | None
    title: str | None
    path: str
    fields: tuple[tuple[str, Any, Entry | None], ...]  # kebab-case key, value, last change
    body: tuple[tuple[int, int, str, Entry | None], ...]  # first and last line in the file, text, last change

    def answer(self) -> dict[str, Any]:
        """The blame as JSON has it."""
        return {
            "memory": {"id": self.id, "title": self.title, "path": self.path},
            "fields": [{"field": key, "value": value} | _who(entry) for key, value, entry in self.fields],
            "body": [
                {"from_line": first, "to_line": last, "text": text} | _who(entry)
                for first, last, text, entry in self.body
            ],
        }


def entry_answer(entry: Entry) -> dict[str, Any]:
    """One entry of the log as JSON has it."""
    keys = ("commit", "op", "actor", "reason", "time", "subject")
    return {key: getattr(entry, key) for key in keys} | {"ids": list(entry.ids)}


def log(vault: OpenVault, name: str | None = None, *, limit: int = 30) -> Log:
    """What happened to the vault, or to one memory, newest first; a memory that is no longer there may be named too.

    Only operations on memories this context may see are told.
    """
    view = vault.view(with_past=True)
    if name is None:
        return Log(_told(vault, view, limit))
    try:
        row = vault.find(name, view)
        path, memory_id = row.path, row.id
    except MemoryNotFound:
        gone = _find_gone(vault, view, name)
        if gone is None:
            raise
        path, memory_id = gone.path, gone.memory.id
    return Log(_told(vault, view, limit, path=path, memory_id=memory_id))


def memory_log(vault: OpenVault, view: View, row: NoteRow, *, limit: int | None = None) -> tuple[Entry, ...]:
    """What happened to one memory that this context sees, newest first."""
    return _told(vault, view, limit, path=row.path, memory_id=row.id)


def diff(vault: OpenVault, old: str, new: str | None = None) -> Differences:
    """What differs between two revisions, dates or times; `new` None is the work tree.

    A memory that moved out of this context's sight is told as removed, one that moved into it as added.

    Raises:
        UserError: for a revision or date that is not there.
    """
    from remvault.domain.differences import differences

    view = vault.view(with_past=True)
    first, last = vault.past(old).commit, None if new is None else vault.past(new).commit
    before, after = _tree(vault, first), _tree(vault, last)
    changed = _changed_paths(vault, view, first, last)
    found = differences(_visible(vault, view, before, changed), _visible(vault, view, after, changed))
    return Differences(first, last, tuple(found))


def blame(vault: OpenVault, name: str) -> Blamed:
    """Which commit last changed each field and each run of lines of a memory, through renames and merges."""
    from remvault.store.blame import blame as _blame
    from remvault.store.blame import known_fields

    view = vault.view(with_past=True)
    row = vault.find(name, view)
    note = parse_note(row.path, DirectoryTree(vault.root).read(row.path))
    found = _blame(vault.history, vault.prefix, note, head_path=_path_in_head(vault, view, row))
    values = known_fields(note)
    fields = tuple(
        (key if key in note.memory.metadata else key.replace("_", "-"), values[key], entry)
        for key, entry in found.fields.items()
    )
    runs: list[tuple[int, int, list[str], Entry | None]] = []
    for at, (line, entry) in enumerate(zip(note.body.splitlines(), found.lines, strict=True)):
        number = note.body_line + at
        if runs and _commit_of(runs[-1][3]) == _commit_of(entry):
            runs[-1] = (runs[-1][0], number, [*runs[-1][2], line], entry)
        else:
            runs.append((number, number, [line], entry))
    body = tuple((first, last, "\n".join(text), entry) for first, last, text, entry in runs)
    return Blamed(row.id, note.memory.title, row.path, fields, body)


def _told(
    vault: OpenVault, view: View, limit: int | None, *, path: str | None = None, memory_id: str | None = None
) -> tuple[Entry, ...]:
    from remvault.store.history import history

    visible = _visible_ids(view) | ({memory_id} if memory_id else set())
    found = history(vault.history, vault.prefix, path=path, memory_id=memory_id)
    seen = (_seen(vault, entry, view, visible) for entry in found)
    return tuple(islice((entry for entry in seen if entry is not None), limit))


def _find_gone(vault: OpenVault, view: View, name: str) -> Note | None:
    """The memory of this context that was called so when it was last there."""
    known = {row.id for row in view.snapshot.rows.values() if row.id}
    gone: dict[str, NamedNote] = {}
    for note in _gone_notes(vault, view):
        if note.memory.id not in known and note.path not in view.snapshot.rows:
            key = note.memory.id or note.path
            if key not in gone and view.sees(row_of(vault, note)):
                gone[key] = NamedNote(note)
    names = dict.fromkeys((vault.from_here(name), name))
    for one in names:
        try:
            found = find(one, gone.values())
        except MemoryNotFound:
            continue
        assert isinstance(found, NamedNote)
        return found.note
    return None


def _gone_notes(vault: OpenVault, view: View) -> Iterator[Note]:
    """Notes of HEAD that the disk no longer has, then those that commits removed, latest first."""
    from remvault.store.history import read_note, removed_notes

    for path, blob in sorted(vault.head_blobs().items()):
        if path not in view.snapshot.rows and path.endswith(".md"):
            yield read_note(vault.history, path, blob)
    yield from removed_notes(vault.history, vault.prefix)


def row_of(vault: OpenVault, note: Note) -> NoteRow:
    """A note that is not in the index as a row, so that the one boundary can be asked of it."""
    return as_row(make_entry(note, FileStat(0, 0, 0, 0), is_embedded=vault.is_embedded))


def _tree(vault: OpenVault, commit: str | None) -> Tree:
    return DirectoryTree(vault.root) if commit is None else vault.tree_of(commit)


def _changed_paths(vault: OpenVault, view: View, old: str, new: str | None) -> set[str]:
    from remvault.store.note_paths import is_note_path

    before = vault.history.blob_ids(old, vault.prefix)
    after: Mapping[str, str]
    if new is not None:
        after = vault.history.blob_ids(new, vault.prefix)
    else:
        after = {row.path: row.blob for row in view.snapshot.rows.values()}
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path) and is_note_path(path)}


def _visible(vault: OpenVault, view: View, tree: Tree, paths: Collection[str]) -> list[Note]:
    """The notes of a tree at these paths that this context may see."""
    from remvault.store.trees import NoteMissing

    found = []
    for path in sorted(paths):
        try:
            note = parse_note(path, tree.read(path))
        except NoteMissing:
            continue
        if view.sees(row_of(vault, note)):
            found.append(note)
    return found


def _path_in_head(vault: OpenVault, view: View, row: NoteRow) -> str | None:
    """Where HEAD holds a memory: at its path, or where it lay before a move that is not committed yet."""
    from remvault.store.history import read_note

    if row.head_blob is not None:
        return row.path
    for path, blob in sorted(vault.head_blobs().items()):
        if path not in view.snapshot.rows and path.endswith(".md") and row.id is not None:
            note = read_note(vault.history, path, blob)
            if note.memory.id == row.id and view.sees(row_of(vault, note)):
                return path
    return None


def _visible_ids(view: View) -> frozenset[str]:
    return frozenset(row.id for row in view.visible() if row.id)


def _seen(vault: OpenVault, entry: Entry, view: View, visible: Collection[str]) -> Entry | None:
    """An entry as far as this context may know of it; None when it may not.

    What the commit says it belongs to decides. Where that says nothing, only memories that are seen today are told of.
    Whatever it says: a subject or reason that may speak of a note out of sight is left out.
    """
    if entry.scope is not None:
        if entry.scope not in view.owners:
            return None
        hidden = {row.id for row in view.snapshot.rows_of(entry.ids) if not view.sees(row)} | view.withheld
        ids = tuple(one for one in entry.ids if one not in hidden)
    else:
        ids = tuple(one for one in entry.ids if one in visible)
    if ids == entry.ids and _sees_paths(vault, entry, view):
        return entry
    if not ids:
        return None
    return replace(entry, ids=ids, subject=f"{entry.op}: {len(ids)} of the memories here", reason=None)


def _sees_paths(vault: OpenVault, entry: Entry, view: View) -> bool:
    """Whether every note that a commit touched is in sight: as it is now, or as that commit had it when it is gone."""
    from remvault.store.history import notes_of

    rows = [view.snapshot.rows.get(path) for path in entry.paths]
    if not all(row is None or view.sees(row) for row in rows):
        return False
    gone = [path for path, row in zip(entry.paths, rows, strict=True) if row is None]
    return all(view.sees(row_of(vault, note)) for note in notes_of(vault.history, vault.prefix, entry.commit, gone))


def _who(entry: Entry | None) -> dict[str, Any]:
    if entry is None:
        return {"commit": None, "op": None, "actor": None, "time": None}
    return {"commit": entry.commit, "op": entry.op, "actor": entry.actor, "time": entry.time}


def _commit_of(entry: Entry | None) -> str | None:
    return None if entry is None else entry.commit
