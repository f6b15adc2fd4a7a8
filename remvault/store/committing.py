"""Turning saved changes into commits, or saying in one line why not now.

Owns: what stands in the way of a commit, a person's own version first, retries, our staged entries.
Leaves alone: files (saving), what waits (pending), the lock and the order of it all (ledger).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Literal

from remvault.domain.commit_message import Operation, one_line, render
from remvault.domain.note import parse_note
from remvault.errors import GitError
from remvault.store.attributes import has_filter
from remvault.store.git import Repository
from remvault.store.hook_runs import commit_run
from remvault.store.identity import resolve_identity
from remvault.store.repository import Draft, GitRepository, IndexLocked, Made, Step, TipMoved
from remvault.store.work_tree import Head, WorkTree, busy_with, git_config, head, index_lock, is_true, run_git

Mode = Literal["auto", "stage", "off"]
STAGED = "staged for your next commit"
# The first attempts hold git's lock for the two milliseconds of the change itself, so that a person's command hardly
# ever meets it; when somebody commits without pause, the later ones hold it from the first look on.
_BOLD_ATTEMPTS, _ATTEMPTS = 3, 9
# A lock younger than this belongs to a command that is running and will soon be done; an older one is left over.
_FRESH_LOCK = timedelta(seconds=2)
_LOCK_WAIT_S = 1.0
_MANY_LOOSE_OBJECTS = 6700
_TIDY = ("-c", "gc.autoDetach=true", "gc", "--auto", "--quiet")
_AFTERWARDS = "then run 'remvault status'"


class PutOff(GitError):
    """A commit cannot be made now; the files are saved. The message is one line and says what to do.

    `is_final`: nothing will change by waiting (the path is ignored), so nothing is queued.
    """

    code = "put_off"

    def __init__(self, reason: str, *, is_final: bool = False) -> None:
        self.reason, self.is_final = reason, is_final
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Tracked:
    """One file of an operation as git sees it."""

    path: str  # from the repository's root
    blob: str | None  # what we wrote; None: removed
    base: str | None  # what was on disk before; None: nothing
    # Staged versions that are nobody's wish: what HEAD had when a write of ours was cut short.
    left_over: frozenset[str | None] = frozenset()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an operation."""

    saved: bool  # the files are whole on disk
    committed: bool
    commit: str | None  # None too when HEAD held all of it already
    pending: str | None  # one line: why not committed, and what to do; None when there is nothing to do
    edits: tuple[str, ...] = ()  # commits of the person's own versions, made first


class Committer:
    """Takes saved files into git. Use one per operation: it remembers the repository and its settings."""

    def __init__(
        self,
        tree: WorkTree,
        mode: Mode,
        environ: Mapping[str, str],
        clock: Callable[[], datetime],
        config: Mapping[str, str] | None = None,
    ) -> None:
        self.mode = mode
        self._tree, self._environ, self._clock, self._given = tree, environ, clock, config

    def take(self, operation: Operation, files: Sequence[Tracked]) -> Outcome:
        """Commit the files, or in `stage` mode stage them.

        Raises:
            PutOff: not now, with the reason.
        """
        try:
            return self._stage_only(files) if self.mode == "stage" else self._commit(operation, files)
        except PutOff:
            raise
        except GitError as err:
            raise put_off(err) from err

    def look(self, paths: Sequence[str]) -> dict[str, str | None]:
        """The blob HEAD has for each path; raises GitError."""
        where = head(self._tree, self._environ)
        return {path: self._blob_at(where, path) for path in paths}

    @cached_property
    def repository(self) -> GitRepository:
        """The repository; raises GitError, among them NotOwned."""
        return Repository.open(self._tree, self._environ)

    def store(self, path: str, data: bytes, known: str | None) -> str:
        """Store content as git should have it, and name it; raises GitError.

        That is as typed, with two exceptions, where git's own settings decide: a path that goes through a program
        (encryption) must not enter history around it; and where git keeps a note without the carriage returns it has on
        disk (`known`: its blob in HEAD, or as we stored it), a change of one line must not become one of all.
        """
        if self._is_filtered(path, data, known):
            return self.repository.write_filtered_blob(path, data)
        return self.repository.write_blob(data)

    def name(self, path: str, data: bytes, known: str | None) -> str:
        """The name that `store` would give, with nothing stored; raises GitError."""
        if self._is_filtered(path, data, known):
            return self.repository.hash_filtered(path, data)
        return self.repository.hash(data)

    def check_idle(self) -> Head:
        """Return HEAD, or raise PutOff when git is in the middle of something or, for a commit, not on a branch."""
        commit = commit_run(self._tree, self._environ, now=self._clock())
        if commit is not None:
            raise PutOff(f"{commit}: let it end, {_AFTERWARDS}")
        busy = busy_with(self._tree, now=self._clock())
        if busy is not None and self.lock_vanishes():
            busy = busy_with(self._tree, now=self._clock())
        if busy is not None:
            what = "remove it if no git command is running" if "index.lock" in busy else "finish it"
            raise PutOff(f"{busy}: {what}, {_AFTERWARDS}")
        where = head(self._tree, self._environ)
        if self.mode == "auto" and where.detached:
            raise PutOff(f"HEAD is detached: check out a branch, {_AFTERWARDS}")
        if self.mode == "auto" and where.branch is None:
            raise PutOff(f"HEAD is not on a branch: check one out, {_AFTERWARDS}")
        return where

    def lock_vanishes(self) -> bool:
        """Wait a moment for a running command's lock on the staged index to go; a left-over one costs no waiting."""
        deadline = time.monotonic() + _LOCK_WAIT_S
        while index_lock(self._tree) is not None:
            if time.monotonic() >= deadline or not self._lock_is_fresh():
                return False
            time.sleep(0.01)
        return True

    def stage(self, changes: Mapping[str, str | None]) -> str | None:
        """Make our entries, and only ours, follow. Returns what went wrong, or None."""
        deadline = time.monotonic() + _LOCK_WAIT_S
        while True:
            try:
                self.repository.stage(changes)
                return None
            except IndexLocked as err:
                if time.monotonic() < deadline and self._lock_is_fresh():
                    time.sleep(0.01)
                    continue
                return f"{err.message}: {err.hint}, {_AFTERWARDS}"
            except GitError as err:
                return f"{err.message}, {_AFTERWARDS}"

    def _commit(self, operation: Operation, files: Sequence[Tracked]) -> Outcome:
        """First a person's uncommitted version of a file on its own, then the operation, then our staged entries."""
        for attempt in range(_ATTEMPTS):
            try:
                if attempt < _BOLD_ATTEMPTS:
                    return self._try_commit(operation, files)
                with self._holding_index():
                    return self._try_commit(operation, files)
            except (TipMoved, IndexLocked):
                time.sleep(0.002 * 2**attempt)  # somebody moves the branch, or holds a lock for a moment
        raise PutOff(self._why_stuck())

    def tidy(self) -> None:
        """Let git pack its loose objects, in the background, when there are many: the library never does."""
        try:
            # One folder of 256 stands for all, and 6,700 in all is git's own threshold.
            count = sum(1 for _ in (self._tree.common_dir / "objects" / "17").iterdir())
        except OSError:
            return
        if count * 256 > _MANY_LOOSE_OBJECTS:
            with suppress(GitError):  # the commit stands, however long the packing takes
                run_git(self._tree.root, _TIDY, self._environ, check=False, with_hooks=True)

    @contextmanager
    def _holding_index(self) -> Iterator[None]:
        deadline = time.monotonic() + _LOCK_WAIT_S
        with ExitStack() as stack:
            while True:
                try:
                    stack.enter_context(self.repository.holding_index())
                    break
                except IndexLocked:
                    if time.monotonic() >= deadline or not self._lock_is_fresh():
                        raise
                    time.sleep(0.001)
            yield

    def _try_commit(self, operation: Operation, files: Sequence[Tracked]) -> Outcome:
        where = self.check_idle()
        committed = {file.path: self._blob_at(where, file.path) for file in files}
        self._check_versioned(files, committed)
        self._check_staged(files, committed)
        edits = self._edit_steps(files, committed)
        left = {file.path: file.blob for file in files if file.blob != committed[file.path]}
        if not left:
            self.repository.stage({file.path: file.blob for file in files})
            return Outcome(True, True, None, None)
        made = self._make(where, [*edits, Step(left, render(operation))])
        trouble = None if made.trouble is None else f"{made.trouble}, {_AFTERWARDS}"
        return Outcome(True, True, made.commits[-1], trouble, made.commits[:-1])

    def _stage_only(self, files: Sequence[Tracked]) -> Outcome:
        where = self.check_idle()
        committed = {file.path: self._blob_at(where, file.path) for file in files}
        self._check_versioned(files, committed)
        staged = self.repository.staged_blobs([file.path for file in files])
        for file in files:
            if staged[file.path] not in (committed[file.path], file.base, file.blob):
                reason = f"you have staged another version of {file.path}: ours is on disk, unstaged"
                raise PutOff(reason, is_final=True)
        trouble = self.stage({file.path: file.blob for file in files})
        if trouble is not None:
            raise PutOff(trouble)
        return Outcome(True, False, None, STAGED)

    def _check_versioned(self, files: Sequence[Tracked], committed: Mapping[str, str | None]) -> None:
        for file in files:
            if file.blob is None or committed[file.path] is not None:
                continue  # what git knows already it never ignores
            rule = self.repository.ignored_by(file.path)
            if rule is not None:
                raise PutOff(f"not versioned: {file.path} is ignored by {rule}", is_final=True)

    def _check_staged(self, files: Sequence[Tracked], committed: Mapping[str, str | None]) -> None:
        staged = self.repository.staged_blobs([file.path for file in files])
        for file in files:
            if staged[file.path] not in (committed[file.path], file.blob, *file.left_over):
                reason = f"you have staged another version of {file.path}: commit or unstage it"
                raise PutOff(f"{reason}, {_AFTERWARDS}")

    def _edit_steps(self, files: Sequence[Tracked], committed: dict[str, str | None]) -> list[Step]:
        """What a person had changed before us, one commit a note; brings `committed` up to what they will hold."""
        steps: list[Step] = []
        for file in files:
            if file.base is None or file.base in (committed[file.path], file.blob):
                continue
            if not self.repository.has_blob(file.base):
                continue  # collected since: the version cannot be had back, ours still can be committed
            operation = edit_of(file.path, self.repository.read_blob(file.base))
            steps.append(Step({file.path: file.base}, render(operation)))
            committed[file.path] = file.base
        return steps

    def _make(self, where: Head, steps: Sequence[Step]) -> Made:
        assert where.branch is not None
        identity = resolve_identity(self._environ, self._config, self._clock(), self._tree.root)
        sign = is_true(self._config.get("commit.gpgsign"))
        return self.repository.commit(Draft(where.branch, where.commit, steps, identity, sign, self._config))

    def _is_filtered(self, path: str, data: bytes, known: str | None) -> bool:
        is_converted = (
            known is not None
            and b"\r\n" in data
            and self.repository.has_blob(known)
            and b"\r" not in self.repository.read_blob(known)
        )
        return is_converted or has_filter(self._tree, path, self._environ, self._config)

    @cached_property
    def _config(self) -> Mapping[str, str]:
        return git_config(self._tree, self._environ) if self._given is None else self._given

    def _blob_at(self, where: Head, path: str) -> str | None:
        return None if where.commit is None else self.repository.blob_at(where.commit, path)

    def _why_stuck(self) -> str:
        held = index_lock(self._tree, now=self._clock())
        if held is not None:
            return f"{held}: remove it if no git command is running, {_AFTERWARDS}"
        lock = self._tree.common_dir / "refs" / "heads" / f"{head(self._tree, self._environ).branch}.lock"
        if lock.exists():
            return f"{lock.name} exists ({lock}): remove it if no git command is running, {_AFTERWARDS}"
        return "the branch keeps moving: run 'remvault status'"

    def _lock_is_fresh(self) -> bool:
        try:
            made = (self._tree.git_dir / "index.lock").lstat().st_mtime
        except OSError:
            return True
        return self._clock().timestamp() - made < _FRESH_LOCK.total_seconds()


def put_off(err: GitError) -> PutOff:
    """Word any failure of git as a reason to wait, with its hint, on one line."""
    reason = err.message if err.hint is None else f"{err.message}; {err.hint}"
    return PutOff(one_line(f"{reason}, {_AFTERWARDS}"))


def edit_of(path: str, data: bytes | None) -> Operation:
    """The operation that a person's own version of a note amounts to."""
    memory = None if data is None else parse_note(path, data).memory
    if memory is None:
        return Operation("edit", one_line(path))
    ids = (one_line(memory.id),) if memory.id else ()
    scope = None if memory.owner is None else one_line(memory.owner)
    return Operation("edit", one_line(memory.title or path), ids, scope=scope)


def is_kept_local(path: str, data: bytes) -> bool:
    """Whether a note says of itself that it must not leave this disk."""
    return b"local-only" in data and parse_note(path, data).memory.sensitivity == "local-only"
