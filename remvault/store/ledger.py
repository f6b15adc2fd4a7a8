"""The write side of history: files first, then the commit, and nothing of the person's out of place.

Owns: the order of a write under the lock, and what is queued for later.
Leaves alone: the texts (vault), the single steps (saving, committing, settling, pending).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from remvault.domain.blobs import blob_id
from remvault.domain.commit_message import Operation
from remvault.errors import GitError, RemvaultError
from remvault.store.awaited import awaited
from remvault.store.committing import STAGED, Committer, Mode, Outcome, PutOff, Tracked, is_kept_local, put_off
from remvault.store.files import SaveFailed, read_regular
from remvault.store.hook_runs import HooksRunning, commit_run, hook_run
from remvault.store.note_paths import is_local_only
from remvault.store.pending import UNKNOWN, PendingChange, PendingOperation, Queue
from remvault.store.saving import FileChange, Placed, place, save, verify
from remvault.store.settling import settle
from remvault.store.state import State, write_lock
from remvault.store.work_tree import WorkTree

__all__ = ["STAGED", "FileChange", "Ledger", "Mode", "Outcome"]

_NO_GIT = "not in a git repository: run 'git init' in the vault to keep history"
_QUEUES = ("pending", "staged")
_COMMIT_WAIT_S = 2.0  # for a person's commit to end; its message may take them longer, and then ours is put off
_OFF = 'not committed: [git] commit is "off"'


class Ledger:
    """Writes operations of one vault in one work tree.

    Args:
        root: the vault's folder.
        tree: the work tree that holds it; None outside git.
        state: its state folders; None outside git.
        mode: `[git] commit`.
        environ: the process environment; identity and settings of git are resolved from it.
        clock: the present moment, aware.
        config: what `work_tree.git_config` said, if it was asked already.
        private: the folder in which `private/` and `handoffs/` lie, when it is not the vault.
        lock_timeout_s: how long to wait for another writer.
    """

    def __init__(
        self,
        root: Path,
        *,
        tree: WorkTree | None,
        state: State | None,
        mode: Mode,
        environ: Mapping[str, str],
        clock: Callable[[], datetime],
        config: Mapping[str, str] | None = None,
        private: Path | None = None,
        lock_timeout_s: float = 10.0,
    ) -> None:
        self.root = Path(os.path.realpath(root))
        self.tree, self.state, self.mode, self.private = tree, state, mode, private
        self._environ, self._clock, self._config, self._timeout_s = environ, clock, config, lock_timeout_s
        is_top = tree is None or self.root == tree.root
        self.prefix = "" if tree is None or is_top else f"{self.root.relative_to(tree.root).as_posix()}/"

    def write(
        self,
        operation: Operation,
        changes: Sequence[FileChange],
        *,
        append: Mapping[str, bytes] | None = None,
        hold: str | None = None,
    ) -> Outcome:
        """Save the files and take the operation into history, as far as git allows now.

        Args:
            append: lines to add to files, by vault-relative path: to whatever they hold once we have the lock.
            hold: why it may not go into history yet; the files are saved and that is all. None for nothing against it.

        Raises:
            UnfitForCommit: the operation holds what cannot stand in a commit message; nothing was written.
            PathRefused: a path leaves the vault; nothing was written.
            FileChanged: a file is not the version its change was computed from; nothing was written.
            LockTimeout: another writer held the lock; nothing was written.
            SaveFailed: the disk would not take it; all files are as before.
            HooksRunning: a tracked file would change under the hooks of a commit; nothing was written.
        """
        operation.check()
        if append or not all(is_local_only(change.path) for change in changes):
            self._await_commit()  # before the lock, so that whoever need not wait passes us by
        with self.locked():
            if self.tree is not None:
                self.committer().lock_vanishes()  # a command such as 'git checkout' may be replacing these very files
            changes = [*changes, *(self._appended(path, lines) for path, lines in (append or {}).items())]
            targets = [(change, place(self.root, change, apart=self.private)) for change in changes]
            # What waits goes first, so that history keeps the order of the writes. Its troubles are not this write's.
            waiting = self._settle()[1]
            placed = verify(targets)
            versioned = [one for one in placed if not _stays_here(one)]
            hooks = self._hooks() if any(one.before is not None for one in versioned) else None
            if hooks is not None:
                raise HooksRunning(hooks, self._timeout_s)
            if hold is not None:
                save(placed)
                return Outcome(True, False, None, hold)
            if self.tree is None or self.state is None or self.mode == "off" or not versioned:
                save(placed)
                said = _NO_GIT if self.tree is None else _OFF
                return Outcome(True, False, None, said if versioned else None)
            return self._write_tracked(operation, placed, versioned, waiting)

    def await_hooks(self) -> None:
        """Wait for the hooks of a commit to end, before a note is read in order to be changed.

        What a hook manager has put aside is not on disk: a change computed then would be one of the wrong version.

        Raises:
            HooksRunning: they took longer than we wait for another writer.
        """
        run = _wait(self._hooks, self._timeout_s)
        if run is not None:
            raise HooksRunning(run, self._timeout_s)

    def settle(self) -> list[Outcome]:
        """Take into git what was saved earlier and could not be taken then; oldest first.

        Called by writing verbs and `status`, never by a hook or a read. What still has to wait says why.

        Raises:
            LockTimeout: another writer held the lock.
        """
        if not self.pending():
            return []
        with self.locked():
            return self._settle()[0]

    def pending(self) -> list[PendingOperation]:
        """What waits in this vault and work tree, oldest first; torn files are renamed and put in `state.set_aside`."""
        return self.entries("pending")

    def staged(self) -> list[PendingOperation]:
        """`stage` mode: operations whose result is staged and not committed yet, for a hook to add their trailers."""
        entries = self.entries("staged")
        if not entries:
            return []
        paths = sorted({change.path for entry in entries for change in entry.changes})
        committer = self.committer()
        return awaited(entries, heads=committer.look(paths), staged=committer.repository.staged_blobs(paths))

    def _await_commit(self) -> None:
        """Wait for the hooks of a commit as long as for another writer, and a moment more for the commit itself."""
        if _wait(self._hooks, self._timeout_s) is None:
            _wait(self._commit, _COMMIT_WAIT_S)

    def _hooks(self) -> str | None:
        return None if self.tree is None else hook_run(self.tree, self._environ, now=self._clock())

    def _commit(self) -> str | None:
        return None if self.tree is None else commit_run(self.tree, self._environ, now=self._clock())

    def _appended(self, path: str, lines: bytes) -> FileChange:
        before = read_regular(place(self.root, FileChange(path, lines, None), apart=self.private))
        if before is None:
            return FileChange(path, lines, None)
        # A line that was torn by a crash stays as it is, and ours begins on one of its own.
        gap = b"" if not before or before.endswith(b"\n") else b"\n"
        return FileChange(path, before + gap + lines, blob_id(before))

    def _write_tracked(
        self, operation: Operation, placed: Sequence[Placed], versioned: Sequence[Placed], waiting: frozenset[str]
    ) -> Outcome:
        committer, queue = self.committer(), self.queue("pending")
        files, heads, obstacle = self._track(committer, placed, versioned)
        waiting &= heads.keys()
        if obstacle is None and waiting:
            obstacle = PutOff(f"an earlier change of {min(waiting)} waits for its commit: run 'remvault status'")
        # The queue knows before the files do: should the process end in mid-write, the next writer finishes the job.
        entry = self._enqueue(queue, operation, files, heads, why="", durable=False)
        try:
            save(placed)
        except RemvaultError:
            queue.drop(entry)
            raise
        try:
            if obstacle is not None:
                raise obstacle
            staged = self._staged_before(committer, files)
            outcome = committer.take(operation, files)
        except PutOff as err:
            outcome, staged = Outcome(True, False, None, err.reason), {}
            if err.is_final:
                queue.drop(entry)
                return outcome
        if outcome.pending is None or outcome.pending == STAGED:
            self._remember_staged(outcome, operation, files, heads, staged)
            queue.drop(entry)
            committer.tidy()
        else:
            queue.put_off(entry, outcome.pending)
        return outcome

    def _settle(self) -> tuple[list[Outcome], frozenset[str]]:
        """With the lock held: outcomes, and the paths that still wait."""
        entries = self.pending()
        if not entries or self.tree is None or self.mode == "off":
            return [], frozenset()
        settled, waiting = settle(entries, committer=self.committer(), queue=self.queue("pending"), root=self.tree.root)
        for entry, outcome in settled:
            files = [Tracked(one.path, one.blob, one.base) for one in entry.changes]
            self._remember_staged(outcome, entry.operation, files, {one.path: one.head for one in entry.changes})
        return [outcome for _, outcome in settled], waiting

    def _track(
        self, committer: Committer, placed: Sequence[Placed], versioned: Sequence[Placed]
    ) -> tuple[list[Tracked], dict[str, str | None], PutOff | None]:
        """See the files as git does and store their contents, with what HEAD has; and why that fails, if it does."""
        # A note that moves into private/ takes its uncommitted version along; so does one that was local-only.
        moves_away = len(placed) > len(versioned)
        files = [
            Tracked(self.prefix + one.change.path, one.blob, None if moves_away or _was_local(one) else one.change.base)
            for one in versioned
        ]
        try:
            heads = committer.look([file.path for file in files])
            stored = [
                Tracked(
                    file.path,
                    None if one.change.data is None else committer.store(file.path, one.change.data, heads[file.path]),
                    None
                    if file.base is None or one.before is None
                    else committer.store(file.path, one.before, heads[file.path]),
                )
                for file, one in zip(files, versioned, strict=True)
            ]
            if moves_away and self.mode == "stage":
                # Nothing is committed here, and what is staged of it must not stay staged: it is known by its name.
                names = [None if one.before is None else committer.repository.hash(one.before) for one in versioned]
                stored = [replace(file, base=name) for file, name in zip(stored, names, strict=True)]
        except GitError as err:
            return files, {file.path: None for file in files}, put_off(err)
        return stored, heads, None

    def _staged_before(self, committer: Committer, files: Sequence[Tracked]) -> Mapping[str, str | None]:
        """In `stage` mode: the staged blobs that ours replace, for taking the operation back."""
        if self.mode != "stage":
            return {}
        try:
            return committer.repository.staged_blobs([file.path for file in files])
        except GitError as err:
            raise put_off(err) from err

    def _remember_staged(
        self,
        outcome: Outcome,
        operation: Operation,
        files: Sequence[Tracked],
        heads: Mapping[str, str | None],
        staged: Mapping[str, str | None] | None = None,
    ) -> None:
        if outcome.pending != STAGED:
            return
        queue = self.queue("staged")
        self._enqueue(queue, operation, files, heads, staged=staged, why=STAGED, durable=True)
        # After, so that what this operation was staged over still counts as on its way to the person's commit.
        kept = {entry.name for entry in self.staged()}
        for entry in self.entries("staged"):
            if entry.name not in kept:
                queue.drop(entry)

    def _enqueue(
        self,
        queue: Queue,
        operation: Operation,
        files: Sequence[Tracked],
        heads: Mapping[str, str | None],
        *,
        staged: Mapping[str, str | None] | None = None,
        why: str,
        durable: bool,
    ) -> PendingOperation:
        assert self.tree is not None
        changes = tuple(
            PendingChange(one.path, one.blob, one.base, heads.get(one.path), (staged or {}).get(one.path, UNKNOWN))
            for one in files
        )
        try:
            return queue.add(
                operation,
                changes,
                work_tree=self.tree.name,
                prefix=self.prefix,
                now=self._clock(),
                why=why,
                durable=durable,
            )
        except OSError as err:
            raise SaveFailed(str(queue.folder), err.strerror or str(err)) from err

    def entries(self, name: str) -> list[PendingOperation]:
        """What stands in one queue, `pending` or `staged`, of this vault and work tree, oldest first."""
        if self.state is None:
            return []
        entries = self.queue(name).read(self.state.set_aside)
        assert self.tree is not None
        return [one for one in entries if (one.work_tree, one.prefix) == (self.tree.name, self.prefix)]

    def set_aside(self) -> list[Path]:
        """Files of the queues that were not taken for ours, now or earlier, and wait for a person to look at them."""
        return [] if self.state is None else [file for name in _QUEUES for file in self.queue(name).set_aside()]

    def queue(self, name: str) -> Queue:
        """One of the two queues; only inside git, like `committer`."""
        assert self.state is not None
        return Queue(self.state.shared / name)

    def committer(self) -> Committer:
        """The way into git, for one operation."""
        assert self.tree is not None
        return Committer(self.tree, self.mode, self._environ, self._clock, self._config)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of all writers; raises LockTimeout."""
        if self.state is None:  # outside git there is no place for a lock; single files are guarded all the same
            yield
            return
        with write_lock(self.state, self._timeout_s):
            yield


def _wait(asked: Callable[[], str | None], timeout_s: float) -> str | None:
    """Ask until nothing is answered or the time is up; the last answer."""
    deadline = time.monotonic() + timeout_s
    while (answer := asked()) is not None and time.monotonic() < deadline:
        time.sleep(0.02)
    return answer


def _stays_here(one: Placed) -> bool:
    """Whether a change never goes into git: by its folder, or because the note says so."""
    data = one.change.data
    return is_local_only(one.change.path) or (data is not None and is_kept_local(one.change.path, data))


def _was_local(one: Placed) -> bool:
    return one.before is not None and is_kept_local(one.change.path, one.before)
