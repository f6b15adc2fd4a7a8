"""The file of git's staged index, swapped under git's own lock.

Owns: reading it once, replacing it.
Leaves alone: its bytes (index_format), what to stage (git).

Why not the library: it writes every entry anew, drops what it does not know, and a process killed while it writes
leaves a lock that nobody may remove.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from remvault.domain.blobs import blob_id
from remvault.store.files import SaveFailed, read_regular
from remvault.store.index_format import Entry, Index, StagedFile, packed_times
from remvault.store.work_tree import index_swap


class IndexMoved(Exception):
    """Somebody changed the index between looking at it and changing it; nothing was touched."""


class IndexFile:
    """The staged index of one work tree."""

    def __init__(self, git_dir: Path, root: Path, *, name: str | None = None) -> None:
        """`name`: another file than the usual one, only to be read; relative to `root`, as git tells its hooks."""
        self._root, self._path = root, git_dir / "index" if name is None else root / name
        self._lock = index_swap(git_dir)
        self._index: Index | None = None
        self._seen: Index | None = None
        self._is_held = False

    def find(self, paths: list[str]) -> dict[str, Entry | None]:
        """The entries of paths as they are on disk now; raises UnknownIndex or OSError."""
        self._seen = index = self._parsed(self._load()[0])
        return {path: index.find(path) for path in paths}

    def below(self, prefix: str) -> dict[str, tuple[int, str]]:
        """Every staged file below a prefix, see `Index.below`; raises UnknownIndex or OSError."""
        return self._parsed(self._load()[0]).below(prefix)

    def swap(self, changes: Mapping[str, StagedFile | None]) -> None:
        """Set or (None) remove entries. Raises as `swapping`."""
        with self.swapping(changes):
            pass

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold git's lock on the index for longer than one change; raises LockHeld or OSError."""
        if self._is_held:
            yield
            return
        self._lock.clear()
        self._lock.part.write_bytes(b"")
        self._lock.take()
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
            self._lock.free()

    @contextmanager
    def swapping(self, changes: Mapping[str, StagedFile | None]) -> Iterator[None]:
        """Set or (None) remove entries, and no other byte of any entry, for the block to move the branch.

        Git reads HEAD first, then the index, and locks only then. So the index must never be behind the branch, or a
        commit made at that moment would take our note out again; it is written before the block, under git's lock,
        and put back when the block fails. Call with our own write lock held.

        Raises:
            UnknownIndex: git itself must do it.
            LockHeld: somebody else holds `index.lock`.
            IndexMoved: the index is not the one that `find` last looked at.
            OSError: the disk would not take it; the index is as before.
        """
        with self.held():
            data, before = self._load()
            index, seen = self._parsed(data), self._seen
            self._seen = None
            if seen is not None and index is not seen:
                raise IndexMoved
            keeps_time = before is not None and self._is_racy(index, before, changes)
            self._put(index.edited(changes), before, keeps_time=keeps_time)
            try:
                yield
            except BaseException:
                if before is None:
                    self._path.unlink()
                else:
                    self._put(data, before, keeps_time=True)
                raise

    def _load(self) -> tuple[bytes, os.stat_result | None]:
        try:
            with self._path.open("rb") as stream:
                return stream.read(), os.fstat(stream.fileno())
        except FileNotFoundError:
            return b"", None

    def _parsed(self, data: bytes) -> Index:
        """The parsed index, the same object as long as the checksum is the same."""
        # A checksum of zeros is that of no index yet, or was left out (index.skipHash) and tells nothing.
        checksum = data[-20:] or bytes(20)
        if self._index is None or self._index.checksum != checksum or (data and not any(checksum)):
            self._index = Index(data)
        return self._index

    def _put(self, data: bytes, like: os.stat_result | None, *, keeps_time: bool) -> None:
        """Replace the index in one step, with the mode, and if asked the time, of the one before."""
        part = self._path.with_name("index.remvault-new")
        with part.open("wb") as stream:
            stream.write(data)
        if like is not None:
            with suppress(OSError):
                part.chmod(stat.S_IMODE(like.st_mode))
            if keeps_time:
                os.utime(part, ns=(like.st_atime_ns, like.st_mtime_ns))
        part.replace(self._path)

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


def staged_file(path: Path, blob: str, mode: int) -> StagedFile:
    """An entry for exactly this blob; while the file on disk is it, with its times, so that git need not read it."""
    found: os.stat_result | None = None
    with suppress(SaveFailed, OSError):
        before = path.lstat()
        data = read_regular(path)
        after = path.lstat()
        is_still = (packed_times(before), before.st_ino) == (packed_times(after), after.st_ino)
        if data is not None and blob_id(data) == blob and is_still:
            found = before
    return StagedFile(blob, mode, found)


def _has_times(path: Path, recorded: bytes) -> bool:
    try:
        return packed_times(path.lstat()) == recorded
    except OSError:
        return False
