"""Committing later what was saved and could not be committed then.

Owns: whether a waiting operation is still what it was, a write that was cut short, a file that changed since.
Leaves alone: the commit itself (committing), the lock and when to settle (ledger).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from remvault.domain.commit_message import Operation
from remvault.errors import GitError
from remvault.store.committing import Committer, Outcome, PutOff, Tracked, edit_of, is_kept_local, put_off
from remvault.store.files import SaveFailed, read_regular, sweep_parts
from remvault.store.note_paths import PathRefused
from remvault.store.pending import PendingChange, PendingOperation, Queue
from remvault.store.saving import FileChange, place

_BEHIND = "an earlier change of the same note waits for its commit"


def settle(
    entries: Sequence[PendingOperation], *, committer: Committer, queue: Queue, root: Path
) -> tuple[list[tuple[PendingOperation, Outcome]], frozenset[str]]:
    """Take every operation into git that can be, oldest first; call with the lock held.

    An operation whose files changed since is not committed as it was (what a person took out again must not enter
    history); the present content is, as `edit`. A file that is gone was removed by a person, whose commit it is.

    Args:
        entries: of one vault and work tree, oldest first.
        root: of the work tree.

    Returns:
        Each operation with its outcome (those that came to nothing are left out), and the paths that still wait.
    """
    outcomes: list[tuple[PendingOperation, Outcome]] = []
    waiting: set[str] = set()
    obstacle = _obstacle(committer)
    for number, entry in enumerate(entries):
        paths = {change.path for change in entry.changes}
        try:
            if obstacle is not None:
                raise obstacle
            if paths & waiting:
                raise PutOff(entry.why or _BEHIND)
            outcome = _settle_one(entry, entries[number + 1 :], committer, root)
        except PutOff as err:
            outcome = Outcome(True, False, None, err.reason)
            if not err.is_final:
                if err.reason != entry.why:
                    queue.put_off(entry, err.reason)
                waiting |= paths
                outcomes.append((entry, outcome))
                continue
        queue.drop(entry)
        if outcome is not None:
            outcomes.append((entry, outcome))
    return outcomes, frozenset(waiting)


def _obstacle(committer: Committer) -> PutOff | None:
    """What stands in the way of all of them, asked once."""
    try:
        committer.check_idle()
        committer.repository.hash(b"")
    except PutOff as err:
        return err
    except GitError as err:
        return put_off(err)
    return None


def _settle_one(
    entry: PendingOperation, later: Sequence[PendingOperation], committer: Committer, root: Path
) -> Outcome | None:
    """Commit one operation, or what became of it; None when nothing of it is left. Raises PutOff."""
    paths = [change.path for change in entry.changes]
    is_cut_short = entry.why == ""
    targets = {path: _target(root, path) for path in paths}
    if is_cut_short:
        for folder in {target.parent for target in targets.values() if target is not None}:
            sweep_parts(folder)
    contents = {path: None if target is None else _read(target) for path, target in targets.items()}
    try:
        heads = committer.look(paths)
        known = {change.path: change.blob for change in entry.changes}
        # Only named here: what a person keeps from git by now must not even be stored there.
        disk = {
            path: None if data is None else committer.name(path, data, known[path]) for path, data in contents.items()
        }
        if all(heads[change.path] == change.blob for change in entry.changes):
            return _follow(entry.changes, committer)
        # For a note written twice while waiting, the first version is the base of the second.
        bases = {change.path: change.base for one in reversed(later) for change in one.changes}
        now = disk | {path: base for path, base in bases.items() if path in disk}
        if is_cut_short and not any(now[change.path] == change.blob for change in entry.changes):
            return None
        if all(_is_intact(one, now, heads) and _is_stored(one, contents[one.path], committer) for one in entry.changes):
            left_over = frozenset({change.head for change in entry.changes}) if is_cut_short else frozenset()
            files = [Tracked(one.path, one.blob, one.base, left_over) for one in entry.changes]
            return committer.take(entry.operation, files)
    except PutOff:
        raise
    except GitError as err:
        raise put_off(err) from err
    changed = [path for path in paths if path not in bases and disk[path] not in (None, heads[path])]
    return _take_edits({path: contents[path] for path in changed}, known, entry.operation, committer)


def _is_intact(change: PendingChange, now: Mapping[str, str | None], heads: Mapping[str, str | None]) -> bool:
    """Whether a file is as the operation left it, and HEAD holds nothing the operation did not know of."""
    return now[change.path] == change.blob and heads[change.path] in (change.head, change.base, change.blob)


def _is_stored(change: PendingChange, data: bytes | None, committer: Committer) -> bool:
    """Whether git has what was written, or gets it from `data`, now on disk; nothing of a note that is kept local."""
    if data is not None and is_kept_local(change.path, data):
        return False
    if change.blob is None or committer.repository.has_blob(change.blob):
        return True
    return data is not None and committer.store(change.path, data, change.blob) == change.blob


def _follow(changes: Sequence[PendingChange], committer: Committer) -> Outcome:
    """HEAD has it all: only our staged entries may be missing, after a crash or a lock at the wrong moment."""
    staged = committer.repository.staged_blobs([change.path for change in changes])
    behind = {one.path: one.blob for one in changes if staged[one.path] != one.blob and staged[one.path] == one.head}
    trouble = committer.stage(behind) if behind else None
    if trouble is not None:
        raise PutOff(trouble)
    return Outcome(True, True, None, None)


def _take_edits(
    contents: Mapping[str, bytes | None], known: Mapping[str, str | None], operation: Operation, committer: Committer
) -> Outcome | None:
    """Commit files that changed since, as they are now, each as an edit; in `stage` mode they are the person's."""
    outcome: Outcome | None = None
    for path, data in contents.items():
        if committer.mode == "stage" or data is None or is_kept_local(path, data):
            continue
        edit = replace(edit_of(path, data), session=operation.session)
        made = committer.take(edit, [Tracked(path, committer.store(path, data, known[path]), None)])
        earlier = () if outcome is None or outcome.commit is None else (*outcome.edits, outcome.commit)
        outcome = replace(made, edits=earlier)
    return outcome


def _target(root: Path, path: str) -> Path | None:
    """Where a file of the queue lies; None behind a link or in another repository, where none of ours can be."""
    try:
        return place(root, FileChange(path, None, None), apart=None)
    except PathRefused:
        return None


def _read(path: Path) -> bytes | None:
    try:
        return read_regular(path)
    except SaveFailed:
        return None  # a link or a folder lies there now: nothing of ours
