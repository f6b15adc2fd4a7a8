"""Which memories were shown, found and recalled: local state, bounded, thrown away without loss of memory.

Owns: the file of lines, appending from many processes at once, keeping it small, reading it.
Leaves alone: when something is worth a line (surfaces.exposing), what activation makes of it (domain.activation).

A line is added by one write in append mode, so writers do not wait for each other. Compaction renames the file first:
whoever comes too late sees that and writes to the new one. A line that is there twice counts once.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from remvault.domain.moments import format_moment, parse_moment
from remvault.store.files import SaveFailed, read_regular
from remvault.store.state import State

try:
    import fcntl
except ImportError:  # Windows, where an open file cannot be renamed at all, and so compaction finds another moment
    fcntl = None  # type: ignore[assignment]

# Surfaced by itself; among the hits of a search; read or rated on purpose; a session that no longer knows what it saw.
KINDS = ("shown", "found", "recall", "forgotten")
MAX_BYTES = 512 * 1024
RECALLS_KEPT = 8  # a memory; older ones weigh next to nothing
# Of sessions: what the latest of them were shown, and that they forgot it. A session seldom sees a hundred memories, so
# that a dozen of them at once are remembered; one that is not sees a memory twice, and that is all.
_SEEN_KEPT = 1_000
_FOUND_KEPT = 50
_LEFT_OVER_S = 60
_ATTEMPTS = 9


@dataclass(frozen=True, slots=True)
class Use:
    """One line. What is not known is None."""

    time: str
    kind: str
    id: str
    session: str | None = None
    query: str | None = None  # digest of the prompt or query, never its text
    score: float | None = None
    signals: Mapping[str, float] = field(default_factory=dict)
    core: float | None = None  # the bonus of a core memory
    rank: int | None = None  # 1 is the best
    times: int = 1  # how many lines this one stands for; 0: it was counted elsewhere and only tells what a session saw
    content: str | None = None  # names what the reader was told
    provider: str | None = None  # another source of memories than this vault

    def answer(self) -> dict[str, Any]:
        """The line as JSON has it."""
        names = ("time", "session", "query", "score", "signals", "core", "rank")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class MemoryUsage:
    """How one memory was used here."""

    times_surfaced: int = 0
    last: Use | None = None  # the latest exposure
    recalls: tuple[Use, ...] = ()  # by time

    @property
    def last_surfaced(self) -> str | None:
        """When it was last surfaced."""
        return self.last.time if self.last is not None else None

    def recalled_at(self) -> list[datetime]:
        """When it was recalled on purpose."""
        moments = [parse_moment(one.time) for one in self.recalls]
        return [moment for moment in moments if moment is not None]


class Usage:
    """The usage kept for one vault in one work tree. Nothing here ever fails a command: it is a cache."""

    def __init__(self, state: State | None) -> None:
        self._file = state.caches / "usage" if state is not None and state.caches_usable else None

    def read(self) -> list[Use]:
        """Every line, by time; torn and foreign ones are passed over."""
        lines: dict[bytes, None] = {}
        for file in self._files():
            lines |= dict.fromkeys(_lines(file))
        uses = [use for use in map(_use, lines) if use is not None]
        return sorted(uses, key=lambda use: use.time)

    def by_memory(self) -> dict[str, MemoryUsage]:
        """The usage of every memory by id: of all scopes, so show a context only those it sees."""
        found: dict[str, list[Use]] = {}
        for use in self.read():
            if use.provider is None and use.kind != "forgotten":
                found.setdefault(use.id, []).append(use)
        return {one: _summary(uses) for one, uses in found.items()}

    def add(self, uses: Sequence[Use]) -> None:
        """Append lines in one write."""
        if self._file is None or not uses:
            return
        data = b"".join(_line(use) for use in uses)
        with suppress(OSError):
            for _ in range(_ATTEMPTS):
                if self._append(data):
                    break
            if self._file.stat().st_size > MAX_BYTES:
                self._compact()

    def recent(self, kind: str, session: str | None, *, now: datetime, within: timedelta) -> dict[str, Use]:
        """The latest use of a kind in a session by memory id, of those at most `within` away from now."""
        found = {}
        # Times of ours sort as text; of a long file only the last minutes are parsed.
        first = f'{{"time":"{format_moment(now - within)}'.encode()
        lines = {line for file in self._files() for line in _lines(file) if line >= first}
        for use in sorted((use for use in map(_use, lines) if use is not None), key=lambda use: use.time):
            moment = parse_moment(use.time)
            is_near = moment is not None and abs(now - moment) < within
            if use.kind == kind and use.provider is None and use.session == session and is_near:
                found[use.id] = use
        return found

    def seen(self, session: str) -> dict[tuple[str | None, str], Use]:
        """What a session was shown and still knows, the latest by provider and id; provider None is this vault."""
        # Of a long file only the session's own lines are parsed.
        name = f'"session":{json.dumps(session)}'.encode()
        lines = [line for file in self._files() for line in _lines(file) if name in line]
        found: dict[tuple[str | None, str], Use] = {}
        for use in sorted((use for use in map(_use, lines) if use is not None), key=lambda use: use.time):
            if use.session != session:
                continue
            if use.kind == "forgotten":
                found.clear()
            elif use.kind == "shown":
                found[use.provider, use.id] = use
        return found

    def _append(self, data: bytes) -> bool:
        """Add to the file in one write; False when it was renamed before we had it."""
        assert self._file is not None
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        handle = os.open(self._file, flags, 0o600)
        try:
            _hold(handle, shared=True)
            if not os.path.samestat(os.fstat(handle), self._file.stat()):
                return False
            os.write(handle, data)
            return True
        except FileNotFoundError:
            return False
        finally:
            os.close(handle)

    def _files(self) -> list[Path]:
        return [] if self._file is None else [*self._parts(), self._file]

    def _parts(self) -> list[Path]:
        """Files that are being compacted, or that a process which ended in mid-compaction left."""
        assert self._file is not None
        return sorted(self._file.parent.glob(f"{self._file.name}.part-*"))

    def _compact(self) -> None:
        """Keep of every memory the latest exposure with a count, and the latest recalls."""
        assert self._file is not None
        latest = self._file.stat().st_mtime
        left_over = [part for part in self._parts() if latest - part.stat().st_mtime > _LEFT_OVER_S]
        claimed = []
        for file in (self._file, *left_over):
            # Of several processes only one gets to rename a file, and so to count what is in it.
            part = self._file.with_name(f"{self._file.name}.part-{secrets.token_hex(4)}")
            with suppress(FileNotFoundError):
                file.rename(part)
                claimed.append(part)
                _wait_for_writers(part)
        lines = dict.fromkeys(line for part in claimed for line in _lines(part))
        data = b"".join(_shortened(use for use in map(_use, lines) if use is not None))
        if claimed and any(self._append(data) for _ in range(_ATTEMPTS)):
            for part in claimed:
                part.unlink(missing_ok=True)


def _hold(handle: int, *, shared: bool) -> None:
    """Lock an open file against its compaction, or against its writers; the lock ends with the handle."""
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)


def _wait_for_writers(part: Path) -> None:
    """Wait for those who were about to write when the file was renamed; whoever comes later sees that it was."""
    handle = os.open(part, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        _hold(handle, shared=False)
    finally:
        os.close(handle)


def of_memory(state: State | None, memory_id: str) -> MemoryUsage:
    """How one memory was used here."""
    return Usage(state).by_memory().get(memory_id, MemoryUsage())


def query_digest(text: str) -> str:
    """Name a prompt or query without keeping it: 12 hex of SHA-256, letter case and white space apart."""
    return hashlib.sha256(" ".join(text.casefold().split()).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def use_at(now: datetime, kind: str, memory_id: str, **known: Any) -> Use:
    """A line for what happens now."""
    return Use(format_moment(now), kind, memory_id, **known)


def _summary(uses: Sequence[Use]) -> MemoryUsage:
    shown = [use for use in uses if use.kind == "shown" and use.times]
    recalls = tuple(use for use in uses if use.kind == "recall")
    return MemoryUsage(sum(use.times for use in shown), shown[-1] if shown else None, recalls)


def _shortened(uses: Iterable[Use]) -> Iterator[bytes]:
    """The lines that stay, of the latest uses as many as fit into half of the limit, in the order of time."""
    kept: list[Use] = []
    seen: list[Use] = []
    by_id: dict[tuple[str, str | None, str], list[Use]] = {}
    for use in sorted(uses, key=lambda use: use.time):
        if use.kind == "forgotten":
            seen.append(use)
        else:
            by_id.setdefault((use.kind, use.provider, use.id), []).append(use)
    found = []
    for (kind, _, _), many in by_id.items():
        if kind == "shown":
            kept.append(replace(many[-1], times=sum(use.times for use in many)))
            seen += [_only_seen(use) for use in many[:-1] if use.session is not None and use.content is not None]
        elif kind == "recall":
            kept += many[-RECALLS_KEPT:]
        else:
            found.append(many[-1])
    kept += sorted(found, key=lambda use: use.time)[-_FOUND_KEPT:]
    kept += sorted(seen, key=lambda use: use.time)[-_SEEN_KEPT:]
    left = MAX_BYTES // 2
    lines = []
    for use in sorted(kept, key=lambda use: use.time, reverse=True):
        line = _line(use)
        left -= len(line)
        if left < 0:
            break
        lines.append(line)
    yield from reversed(lines)


def _only_seen(use: Use) -> Use:
    """What a line says of a session, without what it says of the memory."""
    return Use(use.time, use.kind, use.id, use.session, times=0, content=use.content, provider=use.provider)


def _line(use: Use) -> bytes:
    values = {name: getattr(use, name) for name in use.__slots__}
    values["signals"] = {name: round(value, 6) for name, value in use.signals.items()}
    kept = {name: value for name, value in values.items() if value not in (None, {})}
    return json.dumps(kept, separators=(",", ":")).encode() + b"\n"


def _lines(file: Path) -> list[bytes]:
    try:
        data = read_regular(file) or b""
    except SaveFailed:
        return []
    return data.split(b"\n")


def _use(line: bytes) -> Use | None:
    if not line.startswith(b'{"time":"') or len(line) > 8192:
        return None
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return None
    texts = ("time", "kind", "id", "session", "query", "content", "provider")
    numbers = ("score", "core", "rank", "times")
    signals = values.get("signals", {})
    is_sound = (
        values.keys() <= set(Use.__slots__)
        and all(isinstance(values[name], str) for name in texts if name in values)
        and all(_is_number(values[name]) for name in numbers if name in values)
        and isinstance(signals, dict)
        and all(_is_number(value) for value in signals.values())
        and values.get("kind") in KINDS
        and "id" in values
    )
    return Use(**values) if is_sound else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
