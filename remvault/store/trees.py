"""The notes of a vault as a tree: a folder on disk, git's staged entries, a commit, or memory.

Owns: listing the notes, reading one, naming what was skipped and why.
Leaves alone: parsing (domain.note), writing (files, ledger), git itself (git).
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from remvault.domain.problems import Problem
from remvault.errors import UserError
from remvault.store.limits import MAX_FILE_BYTES, TOO_LARGE, BlobTooLarge, read_limited
from remvault.store.note_paths import NOTE_SUFFIX, SET_APART, checked_parts, is_note_name, is_note_path

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | _NO_LINK
_FOLDER = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_DIRECTORY", 0) | _NO_LINK
ROOT = _FOLDER & ~_NO_LINK  # how the root of a tree is opened, which may itself be a link
_READINGS = 3  # so often a file is read that changes meanwhile
_TYPE_BITS = 0o170000
_LINK_MODE, _REPOSITORY_MODE = 0o120000, 0o160000
_new_tuple = tuple.__new__  # half the cost of the named tuple's own constructor


class NoteMissing(UserError):
    """A tree has no note at this path."""

    code = "note_missing"

    def __init__(self, path: str, reason: str = "no such file") -> None:
        self.path, self.reason = path, reason
        super().__init__(f"no note at {path!r}: {reason}")


class NoteUnreadable(NoteMissing):
    """There is something at this path, but not a regular file we may read."""

    code = "note_unreadable"


class Tree(Protocol):
    """Where notes are read from. Paths are relative to the vault, with "/"."""

    def paths(self) -> list[str]:
        """Every note's path, sorted by code point."""
        ...

    def read(self, path: str) -> bytes:
        """All bytes of one note; raises NoteMissing."""
        ...

    def skipped(self) -> list[Problem]:
        """What looks like a note or a folder of notes but is not read, with the reason (RV601)."""
        ...


class FileStat(NamedTuple):
    """What tells a changed file without reading it. A tuple, since ten thousand are made per scan."""

    size: int  # bytes
    mtime_ns: int
    ctime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Scan:
    """One pass over a folder: notes by path (unordered) and what was skipped."""

    files: dict[str, FileStat]
    skipped: list[Problem]


class DirectoryTree:
    """The notes below a folder, as they are on disk now. Links are never followed, special files never opened.

    `is_inner`: the root is itself a folder of a vault, so that it must not be a link either.
    """

    def __init__(self, root: Path, *, is_inner: bool = False) -> None:
        self.root = root
        self._root_flags = _FOLDER if is_inner else ROOT

    def paths(self) -> list[str]:
        """Every note's path, sorted."""
        return sorted(self.scan().files)

    def skipped(self) -> list[Problem]:
        """Links, special files, nested repositories and unreadable folders."""
        return self.scan().skipped

    def scan_folders(self, folders: Iterable[str]) -> Scan:
        """As `scan`, of these folders alone ("" is the root) and not of those below them; missing ones are empty."""
        files: dict[str, FileStat] = {}
        skipped: list[Problem] = []
        for folder in folders:
            prefix = f"{folder}/" if folder else ""
            with suppress(OSError):
                _scan_folder(os.fspath(self.root), prefix, _FOLDER if prefix else self._root_flags, files, skipped)
        return Scan(files, sorted(skipped, key=Problem.sort_key))

    def scan(self) -> Scan:
        """List and stat every note in one pass, without opening any."""
        files: dict[str, FileStat] = {}
        skipped: list[Problem] = []
        root = os.fspath(self.root)
        pending = [""]
        while pending:
            prefix = pending.pop()
            try:
                flags = _FOLDER if prefix else self._root_flags
                pending += _scan_folder(root, prefix, flags, files, skipped)
            except OSError as err:
                skipped.append(_skip(prefix.rstrip("/"), f"folder cannot be read ({err.strerror})"))
        return Scan(files, sorted(skipped, key=Problem.sort_key))

    def read(self, path: str) -> bytes:
        """Read one regular file below the root.

        Raises:
            PathRefused: the path leaves the vault by its words.
            NoteMissing: nothing there.
            NoteUnreadable: a link on the way, a special file, no permission, beyond the limit, or changed each time
                while it was read.
        """
        parts = checked_parts(path)
        for _ in range(_READINGS):
            data = self._read(path, *parts)
            if data is not None:
                return data
        raise NoteUnreadable(path, "it changes while it is read")

    def _read(self, path: str, *parts: str) -> bytes | None:
        """As `read`; None when the file was changed meanwhile: that may be half of one version, half of another."""
        *folders, name = parts
        try:
            handle = open_below(self.root, self._root_flags, folders, name)
        except (FileNotFoundError, NotADirectoryError) as err:
            if os.path.lexists(self.root.joinpath(*folders, name)):
                raise NoteUnreadable(path, "it lies behind a link") from err
            raise NoteMissing(path) from err
        except OSError as err:
            raise NoteUnreadable(path, err.strerror or "it cannot be opened") from err
        with os.fdopen(handle, "rb") as stream:
            before = os.fstat(handle)
            if not stat.S_ISREG(before.st_mode):
                raise NoteUnreadable(path, "not a regular file")
            try:
                data = read_limited(stream)
                after = os.fstat(handle)
            except OSError as err:
                raise NoteUnreadable(path, err.strerror or "it cannot be read") from err
        if data is None:
            raise NoteUnreadable(path, TOO_LARGE)
        is_steady = (before.st_mtime_ns, before.st_ctime_ns) == (after.st_mtime_ns, after.st_ctime_ns)
        return data if is_steady and len(data) == after.st_size else None


class Blobs(Protocol):
    """What a git repository offers to the two trees inside it; `git.Repository` is one."""

    def entries(self, rev: str, prefix: str) -> Mapping[str, tuple[int, str]]:
        """Files below `prefix` in a commit: path relative to `prefix` to (mode, blob id)."""
        ...

    def staged_entries(self, prefix: str) -> Mapping[str, tuple[int, str]]:
        """The same for the staged entries; a path in conflict has its own side, else theirs."""
        ...

    def read_blob(self, blob: str) -> bytes:
        """All bytes of a blob; raises GitError, and BlobTooLarge before anything is read."""
        ...


class GitTree:
    """Notes inside git's object store; `CommitTree` and `StagedTree` say which."""

    def __init__(self, blobs: Blobs, entries: Mapping[str, tuple[int, str]]) -> None:
        self._blobs = blobs
        self._entries = {path: entry for path, entry in entries.items() if is_note_path(path)}
        self._links = [path for path, (mode, _) in self._entries.items() if mode == _LINK_MODE]
        self._nested = [path for path, (mode, _) in entries.items() if mode == _REPOSITORY_MODE]

    def paths(self) -> list[str]:
        """Every note's path, sorted."""
        return sorted(set(self._entries) - set(self._links) - set(self._nested))

    def read(self, path: str) -> bytes:
        """All bytes of one note as git has them; raises NoteMissing, or NoteUnreadable: a link, or beyond the limit."""
        if path in self._links:
            raise NoteUnreadable(path, "a link, links are not followed")
        try:
            _, blob = self._entries[path]
        except KeyError as err:
            raise NoteMissing(path) from err
        try:
            return self._blobs.read_blob(blob)
        except BlobTooLarge as err:
            raise NoteUnreadable(path, TOO_LARGE) from err

    def blob(self, path: str) -> str:
        """The blob id of a note, without reading it; raises NoteMissing."""
        try:
            return self._entries[path][1]
        except KeyError as err:
            raise NoteMissing(path) from err

    def skipped(self) -> list[Problem]:
        """Links with a note's name, and nested repositories."""
        found = [_skip(path, "a link, links are not followed") for path in self._links]
        found += [_skip(path, "another git repository") for path in self._nested]
        return sorted(found, key=Problem.sort_key)


class CommitTree(GitTree):
    """The notes of a commit; `prefix` is the vault's path in the repository, "" or ending in "/"."""

    def __init__(self, blobs: Blobs, rev: str, prefix: str) -> None:
        super().__init__(blobs, blobs.entries(rev, prefix))


class StagedTree(GitTree):
    """The notes as staged for the next commit."""

    def __init__(self, blobs: Blobs, prefix: str) -> None:
        super().__init__(blobs, blobs.staged_entries(prefix))


class MemoryTree:
    """Notes held in memory: path to bytes."""

    def __init__(self, notes: Mapping[str, bytes]) -> None:
        self._notes = {path: data for path, data in notes.items() if is_note_path(path)}

    def paths(self) -> list[str]:
        """Every note's path, sorted."""
        return sorted(self._notes)

    def read(self, path: str) -> bytes:
        """All bytes of one note; raises NoteMissing."""
        try:
            return self._notes[path]
        except KeyError as err:
            raise NoteMissing(path) from err

    def skipped(self) -> list[Problem]:
        """Nothing: memory holds no links."""
        return []


def _scan_folder(root: str, prefix: str, flags: int, files: dict[str, FileStat], skipped: list[Problem]) -> list[str]:
    """Sort one folder's entries, opened with `flags`; returns the prefixes of its folders."""
    # A slash at the end would have the system follow the very link that is to be refused.
    folder = f"{root}/{prefix[:-1]}" if prefix else root
    if os.scandir not in os.supports_fd:
        if flags & _NO_LINK and os.path.islink(folder):  # noqa: PTH114 (a text already)
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        with os.scandir(folder) as listing:
            return _sort_entries(list(listing), prefix, files, skipped)
    # By descriptor each stat resolves one name instead of a whole path, and a folder swapped for a link is refused.
    handle = os.open(folder, flags)
    try:
        with os.scandir(handle) as listing:
            return _sort_entries(list(listing), prefix, files, skipped)
    finally:
        os.close(handle)


def _sort_entries(
    entries: list[os.DirEntry[str]], prefix: str, files: dict[str, FileStat], skipped: list[Problem]
) -> list[str]:
    """Put the notes of one folder into `files`, oddities into `skipped`; return its folders still to visit.

    The loop runs for every file before every read, hence one stat a note, no call of ours for the plain case.
    """
    if prefix and any(entry.name == ".git" for entry in entries):
        skipped.append(_skip(prefix.rstrip("/"), "another git repository"))
        return []
    folders: list[str] = []
    for entry in entries:
        name = entry.name
        if name[0] == ".":
            continue
        if name.endswith(NOTE_SUFFIX) and name.isascii():
            try:
                found = entry.stat(follow_symlinks=False)
            except OSError as err:
                if not isinstance(err, FileNotFoundError):  # gone since the listing: as if never listed
                    skipped.append(_skip(prefix + name, f"cannot be read ({err.strerror})"))
                continue
            if found.st_mode & _TYPE_BITS == stat.S_IFREG:
                if found.st_size > MAX_FILE_BYTES and is_note_name(name):
                    skipped.append(_skip(prefix + name, TOO_LARGE))
                elif is_note_name(name):
                    files[prefix + name] = _new_tuple(
                        FileStat, (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
                    )
                continue
        folder = _sort_oddity(entry, prefix, files, skipped)
        if folder:
            folders.append(folder)
    return folders


def _sort_oddity(
    entry: os.DirEntry[str], prefix: str, files: dict[str, FileStat], skipped: list[Problem]
) -> str | None:
    """Place what is not a plain ASCII-named note; returns the prefix of a folder to visit, if that is what it is."""
    name, path = entry.name, prefix + entry.name
    if not prefix and name in SET_APART:
        return None
    if entry.is_dir(follow_symlinks=False):
        return f"{path}/"
    if entry.is_symlink():
        skipped.append(_skip(path, "a link, links are not followed"))
    elif not is_note_name(name):
        return None
    elif not entry.is_file(follow_symlinks=False):
        skipped.append(_skip(path, "not a regular file"))
    elif any("\udc80" <= char <= "\udcff" for char in name):
        skipped.append(_skip(path, "its name is not UTF-8"))
    else:
        with suppress(FileNotFoundError):
            found = entry.stat(follow_symlinks=False)
            if found.st_size > MAX_FILE_BYTES:
                skipped.append(_skip(path, TOO_LARGE))
                return None
            files[path] = FileStat(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
    return None


def open_below(root: Path, flags: int, folders: list[str], name: str) -> int:
    """Open `root/folders/name` for reading without following a link below the root; returns the descriptor.

    `flags`: how the root is opened.
    """
    if os.open not in os.supports_dir_fd:
        if flags & _NO_LINK and root.is_symlink():
            raise NotADirectoryError(root)
        target = root.joinpath(*folders, name)
        if os.path.realpath(target) != os.path.join(os.path.realpath(root), *folders, name):  # noqa: PTH118
            raise NotADirectoryError(target)
        return os.open(target, _READ)
    if not folders and not flags & _NO_LINK:
        return os.open(root / name, _READ)
    at = os.open(root, flags)
    try:
        for folder in folders:
            below = os.open(folder, _FOLDER, dir_fd=at)
            os.close(at)
            at = below
        return os.open(name, _READ, dir_fd=at)
    finally:
        os.close(at)


def _skip(path: str, reason: str) -> Problem:
    shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return Problem("RV601", "warning", shown, None, f"skipped: {reason}")
