"""One round of watching: from when a vault is there until it is gone or we are told to stop.

Owns: when to reconcile, to sweep, to look after ourselves and to commit; what is told about it.
Leaves alone: hearing (index.watcher), the index (index.reconcile), what the watcher leaves behind (store.watch_post).
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from remvault.errors import GitError, RemvaultError
from remvault.index.reconcile import is_being_written
from remvault.index.remembered import RememberedFolder
from remvault.index.snapshot import Snapshot
from remvault.index.watcher import TICK_S, FolderWatcher, Heard
from remvault.store.layout import VAULT_FILE, is_vault
from remvault.store.watch_post import WatchPost
from remvault.store.work_tree import find_work_tree, head
from remvault.surfaces.app import OpenVault
from remvault.surfaces.bearings import take_bearings
from remvault.surfaces.quiet import settle_quiet
from remvault.surfaces.settings_files import user_settings_path, vault_settings

# However small a vault's settings make it.
_SHORTEST_SWEEP_S = 5.0
# After a failure, or when another process writes the index; the failures of a series wait twice as long each.
_AGAIN_S, _LONGEST_AGAIN_S = 0.5, 60.0
# When git is busy, or the hooks of a commit run.
_HELD_S = 5.0

Stats = list[tuple[int, int, int] | None]


class _Stopped(Exception):
    """We were told to stop while notes were read."""


class WatchRound:
    """One round; used once.

    Args:
        vault: one that is there, with caches.
        say: told what the log is told.
        is_stopped: whether we were told to stop; then `wake` is called too.
    """

    def __init__(self, vault: OpenVault, say: Callable[[str], None], is_stopped: Callable[[], bool]) -> None:
        assert vault.state is not None
        self._vault = replace(vault, progress=self._check_stop)
        self._say, self._is_stopped = say, is_stopped
        self._since, self._id = vault.surroundings.now(), vault.settings.text("vault.id")
        self._state = vault.state
        self._post = WatchPost(vault.state.caches, vault.surroundings.now)
        self._folder = RememberedFolder(vault.root)
        self._ears = FolderWatcher(
            vault.root, settings=VAULT_FILE, pulse=self._post.pulse, size_of=self._folder.size_of
        )
        self._settings_seen, self._generation = self._settings_stats(), -1
        self._head: str | None = None  # when the index was last brought up to date
        self._passed_over: set[tuple[str, str]] = set()
        self._said: dict[str, str | None] = {}  # subject: what was said of it last
        self._failures = 0
        self._tick_at = self._sweep_at = 0.0
        self._again_at = self._settle_at = math.inf

    def wake(self) -> None:
        """Look at once whether to stop; from any thread or a signal handler."""
        self._ears.wake()

    def run(self) -> None:
        """Watch until told to stop, or until the vault or its state are no longer there, or another's.

        Raises:
            WatcherRunning: another watcher is at work.
        """
        self._post.take()
        try:
            self._log(f"watching {self._vault.root}, process {os.getpid()}")
            self._arm()
            self._update("start", None)
            while not self._is_stopped() and self._step():
                pass
            self._log("stopped" if self._is_stopped() else "gone, waiting for it to come back")
        except OSError as err:
            self._log(f"gone ({err}), waiting for it to come back")
        finally:
            self._ears.close()
            self._post.leave()

    def _step(self) -> bool:
        """Wait for the next thing to do and do it; False when the vault is gone."""
        if time.monotonic() >= self._tick_at:
            self._tick_at = time.monotonic() + TICK_S
            if not self._tick():
                return False
        until = min(self._tick_at, self._again_at, self._settle_at)
        heard = self._ears.wait(max(0.0, until - time.monotonic()))
        if self._is_stopped():
            return True
        if heard is not None:
            self._answer(heard)
        elif time.monotonic() >= self._again_at:
            self._update("again", None)
        elif time.monotonic() >= self._settle_at:
            self._update("edits are quiet", frozenset())
        return True

    def _tick(self) -> bool:
        """What is done every two seconds; False when vault or state are no longer what they were."""
        is_same = self._vault.settings.text("vault.id") == self._id  # it names the state folder
        if not is_same or not self._post.is_held() or not is_there(self._vault):
            return False
        trouble = self._ears.tick()
        with suppress(OSError):  # a full disk passes; where nothing can be heard for long, looking takes over
            self._post.beat()
        if self._settings_stats() != self._settings_seen:
            self._reopen("settings changed")
        if trouble is not None:
            self._log(trouble)
            self._arm()
            self._update(trouble, None)
        elif time.monotonic() >= self._sweep_at:
            self._reopen(None)
            if self._ears.may_hear_again:
                self._arm()
            self._update("sweep", frozenset())
        elif self._head_now() != self._head:
            self._update("HEAD moved", frozenset())
        return True

    def _answer(self, heard: Heard) -> None:
        if heard.lost:
            self._log("events were lost")
        if heard.folders and is_there(self._vault):
            self._arm()
        if heard.settings:
            self._reopen("settings changed")
        self._update("files changed", None if heard.folders else heard.notes)

    def _arm(self) -> None:
        self._ears.arm()
        mode, detail = self._ears.mode, self._ears.detail
        self._say_once("mode", f"by {mode}" + (f": {detail}" if detail else ""))
        with suppress(OSError):
            self._post.tell(pid=os.getpid(), since=self._since, mode=mode, detail=detail)

    def _update(self, why: str, notes: frozenset[str] | None) -> None:
        """Reconcile and settle; what fails is tried again a little later.

        Args:
            notes: all that changed since the last time, so far as we know; None: look everywhere, with every core.
        """
        started = time.monotonic()
        self._again_at = self._settle_at = math.inf
        if not is_there(self._vault):
            return  # the next tick says so
        try:
            if is_being_written(self._state):  # then we would only do in memory, and twice, what is being done
                self._again_at = started + _AGAIN_S
                return
            self._vault = replace(self._vault)  # whatever it remembers is from the last time
            self._head = self._head_now()
            snapshot = self._look(notes)
            self._tell(snapshot, why, time.monotonic() - started)
            if snapshot.is_stale:
                self._again_at = time.monotonic() + _AGAIN_S
            else:
                self._settle(snapshot)
            self._failures = 0
        except _Stopped:
            return
        except (RemvaultError, OSError) as err:
            self._say_once("failure", f"failed, to be tried again: {err}")
            self._again_at = time.monotonic() + min(_AGAIN_S * 2**self._failures, _LONGEST_AGAIN_S)
            self._failures += 1
        else:
            self._say_once("failure", None)

    def _look(self, notes: frozenset[str] | None) -> Snapshot:
        if notes is None or time.monotonic() >= self._sweep_at:
            self._folder.forget()
            self._sweep_at = time.monotonic() + max(_SHORTEST_SWEEP_S, self._vault.settings.count("watch.poll-seconds"))
        if notes is None:
            snapshot = self._vault.snapshot()
            self._folder.scan()  # for the next time; what changes from here on is heard
            return snapshot
        self._folder.touch(notes)
        return self._vault.snapshot(files=self._folder)

    def _settle(self, snapshot: Snapshot) -> None:
        """Commit what may be committed, and let the index know."""
        settled = settle_quiet(self._vault, snapshot, self._passed_over)
        waits = [] if settled.wait_s is None else [settled.wait_s]
        if settled.why_held is not None:
            waits.append(_HELD_S)
        self._settle_at = time.monotonic() + min(waits, default=math.inf)
        self._say_once("held", None if settled.why_held is None else f"not committed: {settled.why_held}")
        for path, commit in settled.commits:
            self._log(f"committed {path or 'what waited'} ({commit[:10]})")
        if settled.commits:
            self._vault = replace(self._vault)
            self._head = self._head_now()
            self._tell(self._look(frozenset()), "committed", 0.0)

    def _tell(self, snapshot: Snapshot, why: str, seconds: float) -> None:
        for notice in snapshot.notices:
            self._log(notice)
        if snapshot.generation != self._generation:
            self._generation = snapshot.generation
            self._log(f"generation {snapshot.generation} ({why}), {seconds * 1000:.0f} ms")

    def _reopen(self, why: str | None) -> None:
        """Read settings again, the vault's, the user's and git's; bad ones leave the earlier ones in force."""
        self._settings_seen = self._settings_stats()
        try:
            self._vault = replace(reopened(self._vault), progress=self._check_stop)
        except (RemvaultError, OSError) as err:
            self._say_once("settings", f"the earlier settings stay: {err}")
        else:
            self._said.pop("settings", None)
            if why is not None:
                self._log(why)

    def _settings_stats(self) -> Stats:
        return [_stat(self._vault.root / VAULT_FILE), _stat(user_settings_path(self._vault.surroundings))]

    def _head_now(self) -> str | None:
        tree = self._vault.work_tree
        try:
            return None if tree is None else head(tree, self._vault.surroundings.environ).commit
        except GitError:
            return None

    def _check_stop(self, done: int, total: int) -> None:
        if self._is_stopped():
            raise _Stopped

    def _say_once(self, subject: str, message: str | None) -> None:
        """Log what is new about a subject; None: there is nothing to say of it any more."""
        if message is not None and self._said.get(subject) != message:
            self._log(message)
        self._said[subject] = message

    def _log(self, message: str) -> None:
        self._post.log(message)
        self._say(message)


def is_there(vault: OpenVault) -> bool:
    """Whether the vault lies where it lay, in the work tree in which it lay: asked before folders may be made there."""
    return is_vault(vault.root) and vault.work_tree is not None and find_work_tree(vault.root) == vault.work_tree


def reopened(vault: OpenVault) -> OpenVault:
    """The vault with settings and surroundings as they are now; raises RemvaultError or OSError."""
    around = vault.surroundings
    settings = vault_settings(vault.root, around)
    if settings.read_only_reason is None:
        settings = replace(settings, read_only_reason=vault.settings.read_only_reason)
    bearings = take_bearings(vault.place, settings, around, context=(), hook_session=None)
    return replace(vault, settings=settings, bearings=bearings)


def _stat(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
