"""What a running watcher leaves for others to see: that it is there, since when, how it hears, and its log.

Owns: the folder `watcher` in the caches: lock, pulse, facts, log.
Leaves alone: watching (index.watcher) and what is done about a change (surfaces).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from remvault.domain.hostile_text import one_line
from remvault.errors import ConflictError
from remvault.store.state import hold_alone, make_private, write_whole

LOG_BYTES = 256 * 1024  # then the log begins anew; the one before it is kept
_FOLDER, _LOCK, _PULSE, _FACTS, _LOG = "watcher", "lock", "pulse", "facts", "log"
_WRITE = os.O_WRONLY | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


class WatcherRunning(ConflictError):
    """This vault is watched already in this work tree."""

    code = "watcher_running"

    def __init__(self, pid: int | None, since: str | None) -> None:
        self.pid, self.since = pid, since
        who = f"process {pid}, since {since}" if pid is not None else "another process"
        super().__init__(f"this vault is watched already ({who})", hint="one watcher is enough; end that one first")


@dataclass(frozen=True, slots=True)
class WatcherSeen:
    """What is known of the watcher of a vault in one work tree."""

    is_alive: bool
    last_seen: datetime | None = None  # None: never
    pid: int | None = None
    since: str | None = None  # RFC 3339
    mode: str | None = None  # "events" or "polling"
    detail: str | None = None  # one line, when there is something to know

    def answer(self) -> dict[str, object]:
        """The watcher as JSON has it."""
        seen = None if self.last_seen is None else _text_of(self.last_seen)
        live = {"pid": self.pid, "since": self.since, "mode": self.mode, "detail": self.detail}
        return {"alive": self.is_alive, "last_seen": seen, **(live if self.is_alive else dict.fromkeys(live))}


class WatchPost:
    """The place of the one watcher of a vault in a work tree.

    Args:
        caches: the state's.
        clock: the present moment, aware.
    """

    def __init__(self, caches: Path, clock: Callable[[], datetime]) -> None:
        self.folder = caches / _FOLDER
        self._clock = clock
        self._free: Callable[[], None] | None = None
        self._held: tuple[int, int] | None = None

    @property
    def pulse(self) -> Path:
        """The file that is written with every beat."""
        return self.folder / _PULSE

    def take(self, *, wait_s: float = 1.0) -> None:
        """Become the watcher; raises WatcherRunning, or OSError when the folder cannot be made."""
        make_private(self.folder)
        # Whoever asks whether a watcher is alive holds the lock for a moment.
        self._free = hold_alone(self.folder / _LOCK, wait_s=wait_s)
        if self._free is None:
            seen = watcher_of(self.folder.parent)
            raise WatcherRunning(seen.pid, seen.since)
        self._held = _identity(self.folder / _LOCK)

    def is_held(self) -> bool:
        """Whether the place is still ours: caches may be deleted at any time, and a lock with them."""
        return self._held is not None and _identity(self.folder / _LOCK) == self._held

    def leave(self) -> None:
        """Let another take the place."""
        if self._free is not None:
            self._free()
        self._free = self._held = None

    def tell(self, *, pid: int, since: datetime, mode: str, detail: str | None) -> None:
        """Leave the facts for `status`; raises OSError."""
        facts = {"pid": pid, "since": _text_of(since), "mode": mode, "detail": detail}
        write_whole(self.folder / _FACTS, json.dumps(facts).encode(), durable=False)
        self.beat()

    def beat(self) -> None:
        """Show that we are alive; raises OSError."""
        handle = os.open(self.pulse, _WRITE, 0o600)
        try:
            os.write(handle, b"\n")
            os.utime(handle if os.utime in os.supports_fd else self.pulse)
        finally:
            os.close(handle)

    def log(self, message: str) -> None:
        """Add a line with the time to the log; a log that cannot be written stops nothing."""
        path = self.folder / _LOG
        line = f"{_text_of(self._clock())} {one_line(message)}\n".encode("utf-8", "backslashreplace")
        with suppress(OSError):
            handle = os.open(path, _WRITE | os.O_APPEND, 0o600)
            try:
                os.write(handle, line)
                size = os.fstat(handle).st_size
            finally:
                os.close(handle)
            if size > LOG_BYTES:
                path.replace(path.with_name(f"{_LOG}.1"))


def watcher_of(caches: Path) -> WatcherSeen:
    """See whether a watcher is at work, by the lock that ends with its process, and what it left."""
    folder = caches / _FOLDER
    try:
        last_seen = datetime.fromtimestamp((folder / _PULSE).stat().st_mtime, UTC)
        facts = json.loads((folder / _FACTS).read_bytes())
        alive = _is_held(folder / _LOCK)
        return WatcherSeen(alive, last_seen, facts["pid"], facts["since"], facts["mode"], facts["detail"])
    except (OSError, ValueError, KeyError, TypeError):
        return WatcherSeen(_is_held(folder / _LOCK))


def _is_held(lock: Path) -> bool:
    if not lock.exists():
        return False
    try:
        free = hold_alone(lock)
    except OSError:
        return False
    if free is not None:
        free()
    return free is None


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _text_of(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
