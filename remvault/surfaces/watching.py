"""`watch`: keep the index in step with the files while nobody asks, and commit quiet edits where the person wants that.

Owns: the loop, when to reconcile, sweep and commit, what is told about it.
Leaves alone: hearing (index.watcher), the index (index.reconcile), how an edit is committed (quiet), what the watcher
leaves behind (store.watch_post).

Killing it at any moment changes no answer: every read looks at the files itself.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from remvault.errors import RemvaultError, UserError
from remvault.store.layout import VAULT_FILE, is_vault
from remvault.store.watch_post import WatcherRunning, WatchPost
from remvault.store.work_tree import head
from remvault.surfaces.app import OpenVault
from remvault.surfaces.settings_files import user_settings_path, vault_settings

if TYPE_CHECKING:
    from remvault.index.snapshot import Snapshot
    from remvault.index.watcher import FolderWatcher, Heard
    from remvault.store.state import State

__all__ = ["WatcherRunning", "Watching", "watch_once"]

Say = Callable[[str], None]
# However small a vault's settings make it.
_SHORTEST_SWEEP_S = 5.0
# After a failure, or when another process was writing the index.
_RETRY_S = 1.0


class NothingToWatch(UserError):
    """There is no index that could be kept."""

    code = "nothing_to_watch"

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}, so there is no index to keep", hint="reads work all the same")


class _Stopped(Exception):
    """We are asked to end, in the middle of reading notes."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What one pass over the vault came to."""

    notes: int
    generation: int
    notices: tuple[str, ...]

    def answer(self) -> dict[str, Any]:
        """The pass as JSON has it."""
        return {"notes": self.notes, "generation": self.generation}


def watch_once(vault: OpenVault) -> Swept:
    """Bring the index in line with the files, and end.

    Raises:
        NothingToWatch: outside git, or where the caches cannot be used.
    """
    _state(vault)
    snapshot = vault.snapshot()
    return Swept(len(snapshot.rows), snapshot.generation, tuple(snapshot.notices))


class Watching:
    """A watcher of one vault; `run` returns after `stop`.

    Args:
        vault: opened as for any verb.
        say: told one line for whatever happens, besides the log.
    """

    def __init__(self, vault: OpenVault, say: Say = lambda message: None) -> None:
        self._state = _state(vault)
        self._say, self._since = say, vault.surroundings.now()
        self._vault = replace(vault, progress=self._progress)
        self._is_stopped = False
        self._ears: FolderWatcher | None = None
        self._post: WatchPost | None = None
        self._told: tuple[str, str | None] | None = None
        self._files = self._settings_stats()
        self._head: str | None = None
        self._generation = 0
        self._sweep_at = self._retry_at = 0.0

    def stop(self) -> None:
        """End soon; from a signal handler or another thread."""
        self._is_stopped = True
        if self._ears is not None:
            self._ears.wake()

    def run(self) -> None:
        """Watch until told to stop.

        Raises:
            WatcherRunning: another one watches this vault in this work tree.
            NothingToWatch: as `watch_once`.
        """
        while not self._is_stopped:
            self._watch_this_vault()
            self._await_vault()

    def _watch_this_vault(self) -> None:
        """Watch until told to stop, or until the vault or its state is no longer what it was."""
        from remvault.index.watcher import TICK_S, FolderWatcher

        self._state = _state(self._vault)
        post = self._post = WatchPost(self._state.caches, self._vault.surroundings.now)
        post.take()
        self._ears = FolderWatcher(self._vault.root, settings=VAULT_FILE, pulse=post.pulse)
        try:
            post.beat()
            self._arm()
            self._log(f"watching {self._vault.root} (process {os.getpid()})")
            self._update("start")
            next_tick = 0.0
            while not self._is_stopped:
                now = time.monotonic()
                if now >= next_tick:
                    next_tick = now + TICK_S
                    if not self._tick(post):
                        return
                heard = self._ears.wait(max(0.0, min(next_tick, self._retry_at or next_tick) - time.monotonic()))
                if heard is not None:
                    self._handle(heard)
                elif self._retry_at and time.monotonic() >= self._retry_at:
                    self._update("again")
        except (FileNotFoundError, NotADirectoryError) as err:
            self._log(f"gone: {err.filename}")
        finally:
            if self._is_stopped:
                self._log("stopped")
            self._ears.close()
            post.leave()

    def _await_vault(self) -> None:
        """Wait for a vault that was removed, as by the checkout of a branch without it, to come back."""
        while not self._is_stopped:
            if is_vault(self._vault.root):
                try:
                    self._vault = self._reopened()
                    return
                except (RemvaultError, OSError):
                    pass  # half of it may be back
            time.sleep(_RETRY_S)

    def _tick(self, post: WatchPost) -> bool:
        """What is done every two seconds; False when vault or state are no longer what they were."""
        assert self._ears is not None
        if not post.is_held():
            self._log("the state folder was replaced")
            return False
        post.beat()
        trouble = self._ears.tick()
        if trouble is not None:
            self._log(trouble)
            if not is_vault(self._vault.root):
                return False
            self._arm()
            self._update("re-armed")
        elif time.monotonic() >= self._sweep_at:
            if self._ears.may_hear_again:
                self._arm()
            self._update("sweep")
        if self._settings_stats() != self._files:
            self._read_settings()
        if self._commit_now() != self._head:
            self._update("HEAD moved")
        return True

    def _handle(self, heard: Heard) -> None:
        if heard.lost:
            self._log("events were lost")
        if heard.folders:
            self._arm()
        if heard.settings and self._settings_stats() != self._files:
            self._read_settings()
        self._update("files changed")

    def _arm(self) -> None:
        assert self._ears is not None
        assert self._post is not None
        self._ears.arm()
        told = (self._ears.mode, self._ears.detail)
        if told != self._told:
            self._told = told
            self._log(f"by {told[0]}" + (f": {told[1]}" if told[1] else ""))
        self._post.tell(pid=os.getpid(), since=self._since, mode=told[0], detail=told[1])

    def _update(self, why: str) -> None:
        """Reconcile; what fails is tried again a little later."""
        started, self._retry_at = time.monotonic(), 0.0
        self._sweep_at = started + max(_SHORTEST_SWEEP_S, self._vault.settings.count("watch.poll-seconds"))
        try:
            self._vault = replace(self._vault)  # so that nothing is remembered from the last time
            self._head = self._commit_now()
            snapshot = self._vault.snapshot()
            if snapshot.is_stale:
                self._retry_at = time.monotonic() + _RETRY_S
            self._tell(snapshot, why, time.monotonic() - started)
        except _Stopped:
            return
        except (RemvaultError, OSError) as err:
            self._log(f"failed ({why}): {err}")
            self._retry_at = time.monotonic() + _RETRY_S

    def _tell(self, snapshot: Snapshot, why: str, seconds: float) -> None:
        for notice in snapshot.notices:
            self._log(notice)
        if snapshot.generation != self._generation:
            self._generation = snapshot.generation
            self._log(f"indexed ({why}): generation {snapshot.generation}, {seconds * 1000:.0f} ms")

    def _read_settings(self) -> None:
        self._files = self._settings_stats()
        try:
            self._vault = self._reopened()
            self._log("settings read again")
        except (RemvaultError, OSError) as err:
            self._log(f"the earlier settings stay: {err}")

    def _reopened(self) -> OpenVault:
        vault = self._vault
        settings = vault_settings(vault.root, vault.surroundings)
        if settings.read_only_reason is None:
            settings = replace(settings, read_only_reason=vault.settings.read_only_reason)
        return replace(vault, settings=settings)

    def _settings_stats(self) -> Mapping[str, tuple[int, int, int] | None]:
        files = (self._vault.root / VAULT_FILE, user_settings_path(self._vault.surroundings))
        return {str(file): _stat(file) for file in files}

    def _commit_now(self) -> str | None:
        try:
            tree = self._vault.work_tree
            return None if tree is None else head(tree, self._vault.surroundings.environ).commit
        except RemvaultError:
            return None

    def _progress(self, done: int, total: int) -> None:
        if self._is_stopped:
            raise _Stopped

    def _log(self, message: str) -> None:
        assert self._post is not None
        self._post.log(message)
        self._say(message)


def _state(vault: OpenVault) -> State:
    if vault.state is None:
        raise NothingToWatch("the vault is not in a git repository")
    if not vault.state.caches_usable:
        raise NothingToWatch(f"{vault.state.caches} cannot be used")
    return vault.state


def _stat(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
