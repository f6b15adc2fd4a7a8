"""The file of git's staged index, swapped under git's own lock.

Owns: reading it once, replacing it, telling a lock that a killed process of ours left.
Leaves alone: its bytes (index_format), what to stage (git).

Why not the library: it writes every entry anew, drops what it does not know, and a process killed while it writes
leaves a lock that nobody may remove. Here the new file is complete before the lock is taken, and a lock of ours can be
told from others.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from remvault.store.index_format import Entry, Index, StagedFile, packed_times

# The complete new file waits under this name; git's lock becomes a second name of it for the blink of the swap.
_PART = "index.remvault"


class IndexHeld(Exception):
    """Somebody else holds `index.lock`."""


class IndexFile:
    """The staged index of one work tree."""

    def __init__(self, git_dir: Path, root: Path) -> None:
        self._root, self._git_dir = root, git_dir
        self._path, self._lock, self._part = git_dir / "index", git_dir / "index.lock", git_dir / _PART
        self._index: Index | None = None

    def find(self, paths: list[str]) -> dict[str, Entry | None]:
        """The entries of paths as they are on disk now; raises UnknownIndex or OSError."""
        index, _ = self._read()
        return {path: index.find(path) for path in paths}

    def swap(self, changes: Mapping[str, StagedFile | None]) -> None:
        """Set or (None) remove entries, and no other byte of any entry; call with our own write lock held.

        Raises:
            UnknownIndex: git itself must do it.
            IndexHeld: the lock is taken.
            OSError: the disk would not take it; the index is as before.
        """
        clear_own_lock(self._git_dir)
        while True:
            index, before = self._read()
            keeps_time = before is not None and self._is_racy(index, before, changes)
            _write(self._part, index.edited(changes), before, keeps_time=keeps_time)
            try:
                self._take_lock()
            except FileExistsError as err:
                self._part.unlink()
                raise IndexHeld(str(self._lock)) from err
            # Only now nobody else can change the index: was it still the one we read?
            if self._read()[0] is index:
                break
            self._lock.unlink()
            self._part.unlink()
        self._lock.replace(self._path)
        self._part.unlink(missing_ok=True)

    def _take_lock(self) -> None:
        """Make `index.lock` the new file, if nobody holds it; raises FileExistsError."""
        try:
            os.link(self._part, self._lock)
        except FileExistsError:
            raise
        except OSError:  # no hard links here: then a lock that a killed process leaves cannot be told from others
            with self._lock.open("xb") as stream:
                stream.write(self._part.read_bytes())

    def _read(self) -> tuple[Index, os.stat_result | None]:
        """The parsed index, the same object as long as the file's checksum is the same, and the file's facts."""
        try:
            with self._path.open("rb") as stream:
                data, found = stream.read(), os.fstat(stream.fileno())
        except FileNotFoundError:
            data, found = b"", None
        # A checksum of zeros is that of no index yet, or was left out (index.skipHash) and tells nothing.
        checksum = data[-20:] or bytes(20)
        if self._index is None or self._index.checksum != checksum or (data and not any(checksum)):
            self._index = Index(data)
        return self._index, found

    def _is_racy(self, index: Index, file: os.stat_result, changes: Mapping[str, StagedFile | None]) -> bool:
        """Whether an entry that is not ours may have changed within the very second in which the index was written.

        Git reads such a file again because its entry is no older than the index. An index that looks younger would make
        git trust times that it compares to the second only.
        """
        ours = {os.fsencode(path) for path in changes}
        for name, times in index.times_since(file.st_mtime_ns // 10**9):
            if name not in ours and not _has_times(self._root / os.fsdecode(name), times):
                return True
        return False


def is_own_lock(git_dir: Path) -> bool:
    """Whether `index.lock` was left by a process of ours: it is the very file that waits under our name."""
    try:
        return os.path.samestat((git_dir / "index.lock").lstat(), (git_dir / _PART).lstat())
    except OSError:
        return False


def clear_own_lock(git_dir: Path) -> None:
    """Clear what a killed process of ours left behind; any other lock stays. Call with our write lock held."""
    if is_own_lock(git_dir):
        (git_dir / "index.lock").unlink()
    (git_dir / _PART).unlink(missing_ok=True)


def _has_times(path: Path, recorded: bytes) -> bool:
    try:
        return packed_times(path.lstat()) == recorded
    except OSError:
        return False


def _write(part: Path, data: bytes, like: os.stat_result | None, *, keeps_time: bool) -> None:
    with part.open("wb") as stream:
        stream.write(data)
    if like is not None:
        with suppress(OSError):
            part.chmod(stat.S_IMODE(like.st_mode))
        if keeps_time:
            os.utime(part, ns=(like.st_atime_ns, like.st_mtime_ns))
