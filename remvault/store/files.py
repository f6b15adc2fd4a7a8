"""Note files on disk: whole or not at all, and never over somebody else's version.

Owns: making, replacing, removing and renaming one file, guarded by the content it was computed from.
Leaves alone: which paths are allowed (note_paths), locks and history (ledger).
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from remvault.domain.blobs import blob_id
from remvault.errors import ConflictError, RemvaultError
from remvault.store.limits import TOO_LARGE, read_limited

# Dot-files, so no tree takes one for a note; a vault's .gitignore names the pattern.
PART_PREFIX, PART_SUFFIX = ".remvault-", ".tmp"
_CLOEXEC = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class FileChanged(ConflictError):
    """The file is not the version the change was computed from; it was left as found."""

    code = "file_changed"

    def __init__(self, path: str, base: str | None, found: str | None) -> None:
        self.path, self.base, self.found = path, base, found
        if base is None:
            message = f"{path} exists already ({_short(found)}), it is not replaced"
        elif found is None:
            message = f"{path} is gone, the change was made for {_short(base)}"
        else:
            message = f"{path} changed meanwhile: the change was made for {_short(base)}, on disk is {_short(found)}"
        super().__init__(message, hint="read the note again and repeat the change")


class SaveFailed(RemvaultError):
    """The disk would not take a file (full, read-only, no permission); earlier content is as it was."""

    code = "save_failed"

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} cannot be written: {reason}", hint="check free space and permissions of the folder")


def read_regular(path: Path) -> bytes | None:
    """All bytes of a regular file, never through a link; None when nothing is there.

    Raises:
        SaveFailed: something else is there (a link, a folder, a device), it cannot be read, or is beyond the limit.
    """
    try:
        handle = os.open(path, os.O_RDONLY | _CLOEXEC | _NO_LINK)
    except FileNotFoundError:
        return None
    except OSError as err:
        reason = "a link lies there" if path.is_symlink() else err.strerror or "it cannot be read"
        raise SaveFailed(str(path), reason) from err
    with os.fdopen(handle, "rb") as stream:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise SaveFailed(str(path), "it is not a regular file")
        data = read_limited(stream)
    if data is None:
        raise SaveFailed(str(path), f"it is {TOO_LARGE}")
    return data


def create_exclusive(path: Path, data: bytes) -> None:
    """Make a new file, whole and on disk, or raise; an existing one is never replaced. The folder must exist.

    Raises:
        FileChanged: something is there already, also under a name the file system takes for the same.
        OSError: the disk would not take it; nothing is left behind.
    """
    part = _write_part(path.parent, data, mode=None)
    try:
        os.link(part, path, follow_symlinks=False)
    except FileExistsError as err:
        raise FileChanged(str(path), None, _found(path)) from err
    except (OSError, NotImplementedError):
        _create_without_link(path, data)  # no hard links on this file system
    finally:
        part.unlink(missing_ok=True)
    sync_folder(path.parent)


def replace(path: Path, data: bytes, base: str) -> None:
    """Replace a file's content in one step, keeping its mode.

    Raises:
        FileChanged: its blob id is not `base` (or it is gone).
        OSError: the disk would not take it; the old content stands.
    """
    mode = _check(path, base)
    part = _write_part(path.parent, data, mode=mode)
    try:
        # Once more, as late as can be: an editor may have saved while we waited for the disk.
        _check(path, base)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def remove(path: Path, base: str) -> None:
    """Remove a file that still is the version `base`; raises FileChanged or OSError."""
    _check(path, base)
    path.unlink()
    sync_folder(path.parent)


def rename(source: Path, target: Path, base: str) -> None:
    """Rename a file that still is the version `base`; never over another file.

    A new name that differs only in letter case or Unicode form is the same file on some systems, and goes through.

    Raises:
        FileChanged: the source changed, or the target is another file.
    """
    _check(source, base)
    if os.path.lexists(target) and not os.path.samestat(source.lstat(), target.lstat()):
        raise FileChanged(str(target), None, _found(target))
    source.rename(target)
    sync_folder(target.parent)
    if source.parent != target.parent:
        sync_folder(source.parent)


def sweep_parts(folder: Path) -> None:
    """Remove what writers killed in this folder left half-made; call when no other writer can be at work."""
    with suppress(OSError):
        for part in folder.glob(f"{PART_PREFIX}*{PART_SUFFIX}"):
            part.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Wait until a folder's entries are on disk, where the system can do that."""
    with suppress(OSError):  # Windows cannot open folders, some network file systems cannot sync them
        sync_file(folder)


def sync_file(path: Path) -> None:
    """Wait until what was written to a file is on disk; raises OSError."""
    handle = os.open(path, os.O_RDONLY | _CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_part(folder: Path, data: bytes, *, mode: int | None) -> Path:
    part = folder / f"{PART_PREFIX}{secrets.token_hex(8)}{PART_SUFFIX}"
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _CLOEXEC, 0o666)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(handle, mode)
            os.fsync(handle)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return part


def _create_without_link(path: Path, data: bytes) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _CLOEXEC, 0o666)
    except FileExistsError as err:
        raise FileChanged(str(path), None, _found(path)) from err
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(handle)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _check(path: Path, base: str) -> int:
    """The file's mode, if it is the version `base`."""
    data = read_regular(path)
    found = None if data is None else blob_id(data)
    if found != base:
        raise FileChanged(str(path), base, found)
    return stat.S_IMODE(path.lstat().st_mode)


def _found(path: Path) -> str | None:
    try:
        data = read_regular(path)
    except SaveFailed:
        return None
    return None if data is None else blob_id(data)


def _short(blob: str | None) -> str:
    return "not a regular file" if blob is None else f"version {blob[:8]}"
