"""Taking back a change that waits, staged, for the person's commit: the file and the staged entry as they were.

Owns: which staged change is the last, whether nobody touched it since.
Leaves alone: changes in history (undoing), queueing and the lock (ledger).
"""

from __future__ import annotations

from collections.abc import Mapping

from remvault.domain.blobs import blob_id
from remvault.domain.note import Note
from remvault.errors import GitError
from remvault.store.committing import Committer, Outcome
from remvault.store.ledger import FileChange, Ledger
from remvault.store.pending import UNKNOWN, PendingChange, PendingOperation
from remvault.store.saving import place, save, verify
from remvault.store.trees import DirectoryTree, NoteMissing
from remvault.store.undoing import Eyes, KeptOnDisk, Undone, UndoRefused, read_note

_CHANGE = "the staged change"


def unstage_last(ledger: Ledger, eyes: Eyes, *, dry_run: bool) -> Undone | None:
    """Take back the last staged change that the eyes may see; None when none is staged.

    Raises:
        UndoRefused: the file or what is staged of it is another by now; nothing was changed.
        KeptOnDisk: it would publish a local-only note.
        GitError: git is in the middle of something, or the staged entries cannot be written.
    """
    if ledger.tree is None or ledger.mode != "stage":
        return None
    with ledger.locked():
        committer, entries = ledger.committer(), ledger.entries("staged")
        for place_, entry in reversed(list(enumerate(entries))):
            heads = committer.look([one.path for one in entry.changes])
            if all(heads[one.path] == one.blob for one in entry.changes):
                continue  # the person has committed it: history's to undo
            notes = _notes(committer, ledger, entry)
            kept = any(eyes.is_kept_on_disk(note.memory.id or "") for note in notes)
            if (kept and not eyes.is_person) or not all(eyes.sees(note) for note in notes):
                continue
            if kept:
                raise KeptOnDisk(_CHANGE)
            return _take_back(ledger, committer, entry, entries[:place_], notes, dry_run=dry_run)
    return None


def _take_back(
    ledger: Ledger,
    committer: Committer,
    entry: PendingOperation,
    earlier: list[PendingOperation],
    notes: list[Note],
    *,
    dry_run: bool,
) -> Undone:
    changes = _reversed(ledger, committer, entry)
    outcome = None
    if not dry_run:
        committer.check_idle()
        save(verify([(one, place(ledger.root, one, apart=ledger.private)) for one in changes]))
        trouble = committer.stage({one.path: _staged_before(one, earlier) for one in entry.changes})
        if trouble is not None:
            raise GitError(f"the files are as before, the staged entries are not: {trouble}")
        ledger.queue("staged").drop(entry)
        outcome = Outcome(True, False, None, None)
    ids = tuple(dict.fromkeys(note.memory.id for note in notes if note.memory.id))
    title = f"{entry.operation.op}: {entry.operation.title}"
    return Undone(None, entry.operation.op, title, ids, entry.paths, outcome)


def _reversed(ledger: Ledger, committer: Committer, entry: PendingOperation) -> list[FileChange]:
    repository, changes = committer.repository, []
    staged = repository.staged_blobs([one.path for one in entry.changes])
    for one in entry.changes:
        path = one.path.removeprefix(ledger.prefix)
        data = _on_disk(ledger, path)
        found = None if data is None else repository.hash(data)
        for other in (staged[one.path], found):
            if other != one.blob:
                raise UndoRefused(path, change=_CHANGE, left=one.blob, found=other, by=None)
        before = None if one.base is None else repository.read_blob(one.base)
        changes.append(FileChange(path, before, None if data is None else blob_id(data)))
    return changes


def _on_disk(ledger: Ledger, path: str) -> bytes | None:
    try:
        return DirectoryTree(ledger.root).read(path)
    except NoteMissing:
        return None


def _staged_before(change: PendingChange, earlier: list[PendingOperation]) -> str | None:
    """What was staged before; where nobody wrote it down, what our own earlier change staged, else what HEAD has."""
    if change.staged != UNKNOWN:
        return change.staged
    ours: Mapping[str, str | None] = {one.path: one.blob for entry in earlier for one in entry.changes}
    return change.base if ours.get(change.path, UNKNOWN) == change.base else change.head


def _notes(committer: Committer, ledger: Ledger, entry: PendingOperation) -> list[Note]:
    """Every version of the notes of a change that git has."""
    repository = committer.repository
    return [
        read_note(repository, one.path.removeprefix(ledger.prefix), blob)
        for one in entry.changes
        for blob in (one.base, one.blob)
        if blob is not None and repository.has_blob(blob)
    ]
