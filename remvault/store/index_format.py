"""The bytes of git's staged index, edited so that every entry but ours stays byte for byte. Pure.

Owns: the binary format, versions 2 and 3: finding, setting and removing entries, cached trees that no longer hold.
Leaves alone: the file and its lock (index_file), other formats (git_command).

Source: git's Documentation/gitformat-index.
"""

from __future__ import annotations

import hashlib
import os
import struct
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

_HEADER = struct.Struct(">4sII")
_ENTRY = struct.Struct(">10I20sH")  # ctime, mtime (s, ns each), device, inode, mode, uid, gid, size, id, flags
_CHECKSUM = 20
_NAME_MASK, _STAGE_MASK, _EXTENDED = 0x0FFF, 0x3000, 0x4000
_OURS, _THEIRS = 2, 3
_KEPT = (b"TREE", b"REUC")
# Derived from the entries or from the work tree: valid no longer once an entry changes, made anew by git.
_DROPPED = (b"UNTR", b"FSMN", b"EOIE", b"IEOT")
_EMPTY = _HEADER.pack(b"DIRC", 2, 0) + b"\0" * _CHECKSUM


class UnknownIndex(Exception):
    """The index is of a kind that git itself must edit (version 4, split, sparse), or damaged; nothing was touched."""


@dataclass(frozen=True, slots=True)
class StagedFile:
    """One entry to set."""

    blob: str
    mode: int
    found: os.stat_result | None  # of the file on disk, when it holds exactly this blob


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry as found."""

    blob: str
    mode: int
    is_in_conflict: bool


class Index:
    """An index as parsed: its bytes and where each entry starts.

    Args:
        data: the whole file; b"" stands for no index yet.

    Raises:
        UnknownIndex: see there.
    """

    def __init__(self, data: bytes) -> None:
        data = data or _EMPTY
        self._body, self.checksum = data[:-_CHECKSUM], data[-_CHECKSUM:]
        try:
            signature, self._version, count = _HEADER.unpack_from(self._body)
            if signature != b"DIRC" or self._version not in (2, 3):
                raise UnknownIndex(f"version {self._version}")
            self._starts = _entry_starts(self._body, count)
        except (struct.error, IndexError, ValueError) as err:
            raise UnknownIndex("damaged") from err

    def find(self, path: str) -> Entry | None:
        """The entry of a path, in conflict the first of its sides."""
        first, last = self._place(os.fsencode(path))
        if first == last:
            return None
        fields = _ENTRY.unpack_from(self._body, self._starts[first])
        return Entry(fields[10].hex(), fields[6], bool(fields[11] & _STAGE_MASK))

    def below(self, prefix: str) -> dict[str, tuple[int, str]]:
        """Every file below a prefix: path relative to it to (mode, blob); in conflict our side, else theirs."""
        start_of, found = os.fsencode(prefix), {}
        for start in self._starts[:-1]:
            name = self._name(start)
            if not name.startswith(start_of):
                continue
            fields = _ENTRY.unpack_from(self._body, start)
            side = (fields[11] & _STAGE_MASK) >> 12
            path = os.fsdecode(name[len(start_of) :])
            if side in (0, _OURS) or (side == _THEIRS and path not in found):
                found[path] = (fields[6], fields[10].hex())
        return found

    def times_since(self, second: int) -> list[tuple[bytes, bytes]]:
        """Entries whose file was changed in `second` (since 1970) or later: (path, ctime and mtime as recorded)."""
        body, least = self._body, struct.pack(">I", second & 0xFFFFFFFF)
        young = [start for start in self._starts[:-1] if body[start + 8 : start + 12] >= least]
        return [(self._name(start), self._body[start : start + 16]) for start in young]

    def edited(self, changes: Mapping[str, StagedFile | None]) -> bytes:
        """The whole file with these entries set or (None) removed.

        Raises:
            UnknownIndex: it has an extension that must be understood and is not.
        """
        parts, at, added = [], _HEADER.size, 0
        for path, wanted in sorted((os.fsencode(path), wanted) for path, wanted in changes.items()):
            first, last = self._place(path)
            parts.append(self._body[at : self._starts[first]])
            if wanted is not None:
                parts.append(_pack(path, wanted))
                added += 1
            added -= last - first
            at = self._starts[last]
        parts.append(self._body[at : self._starts[-1]])
        try:
            parts.append(self._extensions([os.fsencode(path) for path in changes]))
        except (IndexError, ValueError) as err:
            raise UnknownIndex("damaged") from err
        edited = _HEADER.pack(b"DIRC", self._version, len(self._starts) - 1 + added) + b"".join(parts)
        return edited + hashlib.sha1(edited, usedforsecurity=False).digest()

    def _place(self, path: bytes) -> tuple[int, int]:
        """The range of entries of a path, empty where it would be put; several in conflict."""
        count = len(self._starts) - 1
        first = last = bisect_left(range(count), path, key=lambda number: self._name(self._starts[number]))
        while last < count and self._name(self._starts[last]) == path:
            last += 1
        return first, last

    def _name(self, start: int) -> bytes:
        flags = self._body[start + 60] << 8 | self._body[start + 61]
        begin = start + (64 if flags & _EXTENDED else 62)
        return self._body[begin : self._body.index(0, begin)]

    def _extensions(self, paths: list[bytes]) -> bytes:
        parts, at = [], self._starts[-1]
        while at < len(self._body):
            name, size = self._body[at : at + 4], int.from_bytes(self._body[at + 4 : at + 8])
            content = self._body[at + 8 : at + 8 + size]
            if len(content) != size:
                raise ValueError("an extension runs over the end")
            if name not in _KEPT + _DROPPED:
                raise UnknownIndex(f"extension {name!r}")
            if name == b"TREE":
                content = _without_trees_above(content, paths)
            if name in _KEPT:
                parts.append(name + len(content).to_bytes(4) + content)
            at += 8 + size
        return b"".join(parts)


def _entry_starts(body: bytes, count: int) -> list[int]:
    """Offsets of all entries, and of the end of the last. Runs over every entry at every write, so steps are short."""
    starts: list[int] = []
    append = starts.append
    at = _HEADER.size
    for _ in range(count):
        append(at)
        if not body[at + 60]:  # no flag, no conflict, a path of under 256 bytes: nearly all entries
            at += (body[at + 61] + 70) & -8
            continue
        flags = body[at + 60] << 8 | body[at + 61]
        size = 64 if flags & _EXTENDED else 62
        length = flags & _NAME_MASK
        if length == _NAME_MASK:
            length = body.index(0, at + size + _NAME_MASK) - at - size
        at += (size + length + 8) & ~7
    starts.append(at)
    if at > len(body):
        raise ValueError("entries run over the end")
    return starts


def _pack(path: bytes, wanted: StagedFile) -> bytes:
    found = wanted.found
    times, place, owner, size = b"\0" * 16, (0, 0), (0, 0), 0
    if found is not None:
        times = packed_times(found)
        place, owner, size = (found.st_dev, found.st_ino), (found.st_uid, found.st_gid), found.st_size
    fields = [field & 0xFFFFFFFF for field in (*place, wanted.mode, *owner, size)]
    flags = min(len(path), _NAME_MASK)
    entry = times + struct.pack(">6I20sH", *fields, bytes.fromhex(wanted.blob), flags) + path
    return entry + b"\0" * (8 - len(entry) % 8)


def packed_times(found: os.stat_result) -> bytes:
    """A file's ctime and mtime as an entry records them."""
    times = (*divmod(found.st_ctime_ns, 10**9), *divmod(found.st_mtime_ns, 10**9))
    return struct.pack(">4I", *(part & 0xFFFFFFFF for part in times))


def _without_trees_above(content: bytes, paths: list[bytes]) -> bytes:
    """Mark the cached trees of all folders above the paths as out of date; the others stay a help to git."""
    stale = {b"/".join(path.split(b"/")[:depth]) for path in paths for depth in range(path.count(b"/") + 1)}
    parts: list[bytes] = []
    above: list[tuple[bytes, int]] = []  # folder, subtrees still to come
    at = 0
    while at < len(content):
        end = content.index(0, at)
        line = content.index(b"\n", end)
        name = content[at:end]
        count, subtrees = (int(number) for number in content[end + 1 : line].split(b" "))
        tree = content[line + 1 : line + 21] if count >= 0 else b""
        at = line + 1 + len(tree)
        while above and above[-1][1] == 0:
            above.pop()
        folder = name
        if above:
            parent, left = above.pop()
            above.append((parent, left - 1))
            folder = parent + b"/" + name if parent else name
        above.append((folder, subtrees))
        if folder in stale:
            count, tree = -1, b""
        parts.append(b"%s\0%d %d\n%s" % (name, count, subtrees, tree))
    return b"".join(parts)
