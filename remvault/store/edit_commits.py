"""Committing notes as a person left them, one commit of ours for each, while nobody waits for it.

Owns: what of an edit is still as it was judged, and what of it is the person's own business.
Leaves alone: which edits are quiet and fit (surfaces.quiet), the commit itself (committing).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from remvault.domain.blobs import blob_id
from remvault.errors import GitError, RemvaultError
from remvault.store.committing import Committer, PutOff, Tracked, edit_of, is_kept_local, put_off
from remvault.store.files import SaveFailed, read_regular
from remvault.store.ledger import Ledger
from remvault.store.note_paths import PathRefused
from remvault.store.saving import FileChange, place
from remvault.store.state import LockTimeout


@dataclass(frozen=True, slots=True)
class Edit:
    """A note that HEAD does not hold as it is on disk."""

    path: str  # relative to the vault
    blob: str  # SHA-1 blob id of what was judged fit
    moved_from: str | None = None  # where HEAD holds the same memory, and the disk no longer


@dataclass(frozen=True, slots=True)
class Committed:
    """What became of edits."""

    commits: tuple[tuple[str, str], ...] = ()  # path and commit, in order
    passed_over: tuple[Edit, ...] = ()  # not to be tried again as they are
    why_held: str | None = None  # one line: why the rest was not tried


def commit_edits(ledger: Ledger, edits: Sequence[Edit]) -> Committed:
    """Commit each edit that is still as it was judged. Of an edit that was staged the commit is the person's.

    Only where `[git] commit` is `auto`; elsewhere every commit is the person's.
    """
    commits: list[tuple[str, str]] = []
    passed_over: list[Edit] = []
    try:
        with ledger.locked():
            committer = ledger.committer()
            committer.check_idle()
            for edit in edits:
                commit = _commit(ledger, committer, edit)
                if commit is None:
                    passed_over.append(edit)
                elif commit:
                    commits.append((edit.path, commit))
            if commits:
                committer.tidy()
    except LockTimeout as err:
        return Committed(tuple(commits), tuple(passed_over), err.message)
    except PutOff as err:
        return Committed(tuple(commits), tuple(passed_over), err.reason)
    except GitError as err:
        return Committed(tuple(commits), tuple(passed_over), put_off(err).reason)
    return Committed(tuple(commits), tuple(passed_over))


def _commit(ledger: Ledger, committer: Committer, edit: Edit) -> str | None:
    """The commit; "" when this is not the time, None when it will never be. Raises GitError, among them PutOff."""
    data = _as_judged(ledger, edit)
    if data is None:
        return ""
    path = ledger.prefix + edit.path
    gone = [] if edit.moved_from is None else [ledger.prefix + edit.moved_from]
    heads = committer.look([path, *gone])
    staged = committer.repository.staged_blobs([path, *gone])
    if staged != heads:
        return ""  # the person is about to commit it, or has taken it out of git
    blob = committer.store(path, data, heads[path])
    if blob == heads[path] and not gone:
        return None  # git keeps it in another form than the disk has it, and has it already
    try:
        made = committer.take(edit_of(edit.path, data), [Tracked(path, blob, None), *(_removed(one) for one in gone)])
    except PutOff as err:
        if err.is_final:
            return None
        raise
    return made.commit


def _as_judged(ledger: Ledger, edit: Edit) -> bytes | None:
    try:
        data = read_regular(place(ledger.root, FileChange(edit.path, None, None), apart=ledger.private))
    except (PathRefused, SaveFailed):
        return None
    if data is None or blob_id(data) != edit.blob or is_kept_local(edit.path, data):
        return None
    if edit.moved_from is None:
        return data
    try:
        # It may be back meanwhile: then it is no move any more.
        there = place(ledger.root, FileChange(edit.moved_from, None, None), apart=ledger.private)
        return data if read_regular(there) is None else None
    except RemvaultError:
        return None


def _removed(path: str) -> Tracked:
    return Tracked(path, None, None)
