"""Hear what happens to the notes of a vault, from the system's events where they can be had, else by looking.

Owns: events and when a burst of them is over, whether we still hear, looking where events do not work. The only
watchdog user.
Leaves alone: which folders (watch_plan), what is done about a change (surfaces.watching).

Nothing is concluded from an event but that it is time to reconcile, so one too many costs a look, and one too few is
made good by the next sweep.
"""

from __future__ import annotations

import errno
import logging
import os
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from remvault.index.watch_plan import remote_file_system, watch_counts, watch_plan
from remvault.store.note_paths import is_note_name
from remvault.store.trees import DirectoryTree, FileStat

# A save in two parts is one change when the second part follows within this. What was renamed to its name, or has its
# old length but for a tenth, is hardly a first part. A burst that does not end is cut.
QUIET_S, QUIET_WHOLE_S, LONGEST_S = 0.35, 0.06, 2.0
_WHOLE_SHARE = 0.9
# Between two beats; two in a row that are not heard mean that we are deaf.
TICK_S = 2.0
_MISSED_TICKS = 2
# Looking may take this share of one core.
_LOOKING_SHARE = 0.01
_SHORTEST_LOOK_S = 2.0
# Notes are made by a link too, and left by a move: whatever can change what a name holds. What opens or reads does not.
_KINDS: list[type[FileSystemEvent]] = [
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
]
_STOP_S = 5.0
_FEW = 20  # notes whose paths are kept; beyond, it is quicker to look everywhere
_LIMITS = {
    errno.ENOSPC: "the system's limit of watches is reached (fs.inotify.max_user_watches)",
    errno.EMFILE: "the system's limit of watching programs is reached (fs.inotify.max_user_instances)",
}


@dataclass(frozen=True, slots=True)
class Heard:
    """What came together until it was quiet for a moment."""

    notes: frozenset[str] | None = frozenset()  # paths relative to the vault; None: many, or nobody knows which
    folders: bool = False  # a folder was made, moved or removed: there may be places we do not hear yet
    settings: bool = False  # the vault's settings file was touched
    lost: bool = False  # events were lost, or so it seems

    def __or__(self, other: Heard) -> Heard:
        notes = None if self.notes is None or other.notes is None else self.notes | other.notes
        if notes is not None and len(notes) > _FEW:
            notes = None
        return Heard(notes, self.folders or other.folders, self.settings or other.settings, self.lost or other.lost)


class Burst:
    """Events that belong together: until it has been quiet for a moment, or for `LONGEST_S` in all."""

    def __init__(self) -> None:
        self.heard: Heard | None = None
        self._first = 0.0
        self._quiet_at: dict[str, float] = {}  # path: when it will have been quiet

    def add(self, heard: Heard, now: float, *, path: str = "", is_whole: bool = False) -> None:
        """Take one event in. `is_whole`: what is at the path now is hardly the first part of a save."""
        if self.heard is None:
            self.heard, self._first, self._quiet_at = heard, now, {}
        self.heard |= heard
        self._quiet_at[path] = now + (QUIET_WHOLE_S if is_whole else QUIET_S)

    def due_at(self) -> float | None:
        """When it is over, as things stand; None when there is nothing."""
        return None if self.heard is None else min(max(self._quiet_at.values()), self._first + LONGEST_S)

    def take(self, now: float) -> Heard | None:
        """What was heard, once, if it is over."""
        due = self.due_at()
        if due is None or now < due:
            return None
        heard, self.heard = self.heard, None
        return heard


class FolderWatcher:
    """Watches the notes below one folder. Driven by one thread; events come in on others.

    Args:
        root: the vault's folder, links resolved.
        settings: the name of the settings file at its top.
        pulse: a file that the caller writes at every tick, so that we notice when we no longer hear.
        size_of: how long a note was when last read, None when that is not known; asked on another thread.
        now: seconds on a clock that only goes forward.
    """

    def __init__(
        self,
        root: Path,
        *,
        settings: str,
        pulse: Path,
        size_of: Callable[[str], int | None] = lambda path: None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.root = root
        self.detail: str | None = None  # why we look, in one line; None when all is heard
        self._settings, self._pulse, self._now = os.fspath(root / settings), pulse, now
        self._size_of = size_of
        self._prefix = os.path.join(root, "")  # noqa: PTH118 (with a slash at the end)
        self._condition = threading.Condition()
        self._burst, self._is_woken = Burst(), False
        self._waits_until = 0.0
        self._observer: BaseObserver | None = None
        self._identity: tuple[int, int] | None = None
        self._is_heard = True  # whether any event came since the last tick
        self._beats_missed = self._times_deaf = 0
        self._seen: dict[str, FileStat] | None = None  # notes as last looked at; None: we need not look
        self._look_at = 0.0
        self._complaints = _Complaints(self._hear_loss)
        logging.getLogger("watchdog").addHandler(self._complaints)
        # It warns of watching a new folder twice, which happens when events and its own look cross; no harm is done.
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"watchdog\.")

    @property
    def mode(self) -> str:
        """`events`, or `polling` where they do not tell all."""
        return "events" if self._seen is None else "polling"

    @property
    def may_hear_again(self) -> bool:
        """Whether `arm` might do better now than it did."""
        return self._observer is None

    def arm(self) -> None:
        """Watch the folders there are now; what is heard already stays. Reconcile afterwards: before, nobody watched.

        Raises:
            OSError: the root is not there.
        """
        identity, old = _identity(self.root), self._observer
        self._observer, why = None, None
        if self._times_deaf > 1:
            self._times_deaf, why = 0, "no events arrive here"
        else:
            try:
                self._observer = self._listen()
            except OSError as err:
                why = _LIMITS.get(err.errno or 0, err.strerror or type(err).__name__)
        if old is not None:
            _stop(old)
        self._identity, self._is_heard, self._beats_missed = identity, True, 0
        remote = remote_file_system(self.root)
        self.detail = why or (f"{remote}: changes made elsewhere raise no events here" if remote else None)
        self._seen = None if self.detail is None else self._look()

    def close(self) -> None:
        """Stop watching."""
        if self._observer is not None:
            _stop(self._observer)
        self._observer = None
        logging.getLogger("watchdog").removeHandler(self._complaints)

    def wake(self) -> None:
        """End a `wait`, or the next one; from any thread or a signal handler."""
        with self._condition:
            self._is_woken = True
            self._condition.notify_all()

    def wait(self, timeout_s: float) -> Heard | None:
        """Wait until a burst is over and return what it was; None when woken or after `timeout_s`."""
        until = self._now() + timeout_s
        with self._condition:
            while not self._is_woken:
                due = self._burst.due_at()
                self._waits_until = until if due is None else min(due, until)
                left = self._waits_until - self._now()
                if left <= 0:
                    break
                self._condition.wait(left)
            self._is_woken = False
            return self._burst.take(self._now())

    def tick(self) -> str | None:
        """Call every `TICK_S`, before writing the pulse: look where we must, and name what keeps us from hearing."""
        if self._seen is not None and self._now() >= self._look_at:
            before, self._seen = self._seen, self._look()
            if self._seen != before:
                self._hear(Heard(None))
        try:
            if _identity(self.root) != self._identity:
                return "the folder was replaced"
        except OSError:
            return "the folder is gone"
        if self._observer is None:
            return None
        if not self._observer.is_alive() or not all(emitter.is_alive() for emitter in self._observer.emitters):
            return "the folder, or one in it, was replaced"
        self._beats_missed = 0 if self._is_heard else self._beats_missed + 1
        self._is_heard = False
        if self._beats_missed >= _MISSED_TICKS:
            self._times_deaf += 1
            return "events no longer arrive"
        return None

    def _listen(self) -> BaseObserver:
        before, plan = watch_counts() or {}, watch_plan(self.root)
        observer = Observer()
        try:
            handler = _Ears(self._hear_event)
            for folder in plan.flat:
                observer.schedule(handler, folder, recursive=False, event_filter=_KINDS)
            for folder in plan.deep:
                observer.schedule(handler, folder, recursive=True, event_filter=_KINDS)
            observer.schedule(handler, os.fspath(self._pulse.parent), recursive=False, event_filter=_KINDS)
            observer.start()
            after = watch_counts()
            if after is not None:
                heard = sum(count for descriptor, count in after.items() if descriptor not in before)
                # watchdog passes over the folders below the first for which the system has no watch left.
                if heard <= plan.folders and heard <= watch_plan(self.root).folders:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            _stop(observer)
            raise
        return observer

    def _look(self) -> dict[str, FileStat]:
        started = self._now()
        seen = DirectoryTree(self.root).scan().files
        ended = self._now()
        self._look_at = ended + max(_SHORTEST_LOOK_S, (ended - started) / _LOOKING_SHARE)
        return seen

    def _hear_event(self, event: FileSystemEvent) -> None:
        paths = [os.fsdecode(path) for path in (event.src_path, event.dest_path) if path]
        self._is_heard = True  # whatever it is: in a long queue the pulse may be far behind
        if os.fspath(self._pulse) in paths:
            self._times_deaf = 0
            return
        names = [os.path.basename(path) for path in paths]  # noqa: PTH119 (called for every event)
        is_folder = ".git" in names or (event.is_directory and not all(name.startswith(".") for name in names))
        is_settings = self._settings in paths
        if is_folder or is_settings or any(map(is_note_name, names)):
            notes = [path for path, name in zip(paths, names, strict=True) if is_note_name(name)]
            heard = Heard(frozenset(map(self._relative, notes)), folders=is_folder, settings=is_settings)
            # Of a note renamed to its backup its old name counts, where the new note will be.
            path = notes[-1] if notes else paths[-1]
            self._hear(heard, path=path, is_whole=self._is_whole(event, path))

    def _hear_loss(self) -> None:
        self._hear(Heard(None, folders=True, lost=True))

    def _relative(self, path: str) -> str:
        return path.removeprefix(self._prefix).replace(os.sep, "/")

    def _is_whole(self, event: FileSystemEvent, path: str) -> bool:
        """Whether a note is hardly the first part of a save: renamed to its name, or about as long as it was."""
        if isinstance(event, FileMovedEvent):
            return path == os.fsdecode(event.dest_path)
        known = self._size_of(self._relative(path))
        try:
            return known is not None and os.lstat(path).st_size >= known * _WHOLE_SHARE
        except OSError:
            return False

    def _hear(self, heard: Heard, *, path: str = "", is_whole: bool = False) -> None:
        with self._condition:
            self._burst.add(heard, self._now(), path=path, is_whole=is_whole)
            due = self._burst.due_at()
            if due is not None and due < self._waits_until:
                self._condition.notify_all()


class _Ears(FileSystemEventHandler):
    """Passes every event on."""

    def __init__(self, hear: Callable[[FileSystemEvent], None]) -> None:
        self._hear = hear

    def on_any_event(self, event: FileSystemEvent) -> None:
        self._hear(event)


class _Complaints(logging.Handler):
    """Listens to what watchdog logs: it has no other way to say that the system dropped events."""

    def __init__(self, hear_loss: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._hear_loss = hear_loss

    def emit(self, record: logging.LogRecord) -> None:
        if "overflow" in record.getMessage().lower() or record.exc_info:
            self._hear_loss()


def _identity(folder: Path) -> tuple[int, int]:
    found = folder.stat()
    return found.st_dev, found.st_ino


def _stop(observer: BaseObserver) -> None:
    observer.stop()
    with suppress(RuntimeError):  # it was never started
        observer.join(_STOP_S)
