"""Several note files as one change on disk: all checked first, all written, or all as before.

Owns: where a change goes and whether it may, the bases, undoing a half-made change.
Leaves alone: single files (files), git (ledger).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from remvault.domain.blobs import blob_id
from remvault.errors import RemvaultError
from remvault.store.files import (
    FileChanged,
    SaveFailed,
    create_exclusive,
    read_regular,
    remove,
    rename,
    replace,
    sync_folder,
)
from remvault.store.note_paths import LOCAL_ONLY, PathRefused, checked_parts, name_key


@dataclass(frozen=True, slots=True)
class FileChange:
    """What should become of one file."""

    path: str  # relative to the vault, with "/"
    data: bytes | None  # None removes
    base: str | None  # blob id it was computed from; None: there must be nothing yet


@dataclass(frozen=True, slots=True)
class Placed:
    """A change that may be made: where, and over what."""

    change: FileChange
    target: Path
    before: bytes | None  # content on disk, which is `change.base`

    @property
    def blob(self) -> str | None:
        """The SHA-1 blob id of the new content."""
        return None if self.change.data is None else blob_id(self.change.data)


def place(root: Path, change: FileChange, *, apart: Path | None) -> Path:
    """Find the file of a change; the path is refused before anything is opened.

    Args:
        root: the vault's folder, links resolved.
        apart: the folder that holds `private/` and `handoffs/` when it is not the vault.

    Raises:
        PathRefused: it leaves the vault, by its words or through a link, or belongs to a nested repository.
    """
    parts = checked_parts(change.path)
    if apart is not None and parts[0] in LOCAL_ONLY:
        root = apart
    folder = root
    for part in parts[:-1]:
        folder = folder / part
        if folder.is_symlink():
            raise PathRefused(change.path, f"{part} is a link")
        if os.path.lexists(folder / ".git"):
            raise PathRefused(change.path, f"{part} is another git repository")
    return folder / parts[-1]


def verify(targets: Sequence[tuple[FileChange, Path]]) -> list[Placed]:
    """Read what is on disk and compare with every base, before anything is written.

    Raises:
        FileChanged: the first file that is not the version its change was computed from.
        SaveFailed: something that is no regular file is in the way.
    """
    placed = []
    for change, target in targets:
        before = read_regular(target)
        found = None if before is None else blob_id(before)
        if found != change.base:
            raise FileChanged(change.path, change.base, found)
        placed.append(Placed(change, target, before))
    return placed


def save(placed: Sequence[Placed]) -> None:
    """Write every file; when one fails, what was done before it is undone and the failure is raised.

    A removal and a new file whose names one file system may take for the same become a rename.

    Raises:
        FileChanged, SaveFailed: see `files`.
    """
    done: list[Placed] = []
    removed = {name_key(str(one.target)): one for one in placed if one.change.data is None}
    pairs = {one.target: removed.get(name_key(str(one.target))) for one in placed if one.before is None}
    renamed = {pair.target for pair in pairs.values() if pair is not None}
    # Removals last: between two steps there is rather one copy too many than one too few.
    order = sorted((one for one in placed if one.target not in renamed), key=lambda one: one.change.data is None)
    for one in order:
        pair = pairs.get(one.target)
        try:
            _write(one, pair)
        except (RemvaultError, OSError) as err:
            _undo(done)
            if isinstance(err, OSError):
                raise SaveFailed(one.change.path, err.strerror or str(err)) from err
            raise
        done += [one] if pair is None else [pair, one]


def _write(one: Placed, pair: Placed | None) -> None:
    data, base = one.change.data, one.change.base
    if data is None:
        assert base is not None
        remove(one.target, base)
    elif pair is not None and pair.change.base is not None:
        rename(pair.target, one.target, pair.change.base)
        try:
            replace(one.target, data, pair.change.base)
        except (RemvaultError, OSError):
            rename(one.target, pair.target, pair.change.base)
            raise
    elif base is None:
        if not one.target.parent.is_dir():
            one.target.parent.mkdir(parents=True, exist_ok=True)
            sync_folder(one.target.parent.parent)
        create_exclusive(one.target, data)
    else:
        replace(one.target, data, base)


def _undo(done: Sequence[Placed]) -> None:
    """Put back what was there; a file that somebody changed in between is theirs and stays."""
    for one in reversed(done):
        with suppress(RemvaultError, OSError):
            if one.before is None and one.blob is not None:
                remove(one.target, one.blob)
            elif one.before is not None and one.blob is None:
                create_exclusive(one.target, one.before)
            elif one.before is not None and one.blob is not None:
                replace(one.target, one.before, one.blob)
