"""`undo`: the last change of ours that this context may see, taken back by a new one."""

from __future__ import annotations

from remvault.domain.note import Note
from remvault.errors import ConflictError
from remvault.index.rows import NoteRow, as_row, make_entry
from remvault.retrieval.private_notes import private_notes
from remvault.store.trees import FileStat
from remvault.store.undoing import Eyes, Undone
from remvault.store.undoing import undo as _undo
from remvault.store.unstaging import unstage_last
from remvault.surfaces.app import OpenVault


class ChangeWaits(ConflictError):
    """The last change is saved and not in history yet, so there is no commit to take back."""

    code = "change_waits"

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(
            f"the last change waits for its commit: {why}", hint="run 'remvault status' when it can be made"
        )


def undo(vault: OpenVault, commit: str | None = None, *, reason: str | None = None, dry_run: bool = False) -> Undone:
    """Take back the last change of memories, or the one a commit made, by a new change.

    Called again it steps further back. An undo is undone, which is a redo, when it is named. In `stage` mode a change
    that waits for the person's commit is taken back as if it had not been.

    Raises:
        NothingToUndo, UndoRefused, NotUndoable, KeptOnDisk: see `store.undoing.undo`.
        RevisionNotFound: for a commit that is not there, or whose memories this context may not see.
        ChangeWaits: if the last change could not be committed yet.
        NoHistory: outside git.
    """
    repository, ledger, view = vault.history, vault.vault.ledger, vault.view()
    kept = {note.memory.id for note in private_notes(vault.private_folder)}
    eyes = Eyes(
        sees=lambda note: view.sees(_row(note, is_embedded=vault.is_embedded)),
        is_kept_on_disk=kept.__contains__,
        is_person=vault.is_person,
    )
    if not dry_run:
        ledger.settle()
    waiting = ledger.pending()
    if waiting:
        raise ChangeWaits(waiting[-1].why or "the write was cut short")
    if commit is None:
        undone = unstage_last(ledger, eyes, dry_run=dry_run)
        if undone is not None:
            return undone
    return _undo(ledger, repository, vault.act(reason=reason, dry_run=dry_run), eyes, rev=commit)


def _row(note: Note, *, is_embedded: bool) -> NoteRow:
    """A version of a note as the boundary judges it."""
    return as_row(make_entry(note, FileStat(0, 0, 0, 0), is_embedded=is_embedded))
