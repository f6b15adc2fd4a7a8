"""Which folders of a vault are to be watched, and whether the system tells of all that happens in them.

Owns: the folders that hold notes, by the rules of the scan; file systems whose changes raise no events.
Leaves alone: the watching (watcher).
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from remvault.store.note_paths import SET_APART

# Each costs kernel memory and counts against a limit that the person's other programs share.
MAX_FOLDERS = 20_000
# Deeper ones are nobody's; what walks through them calls itself for each.
MAX_DEPTH = 200
# What changes on another machine, or outside of this one, raises no event here.
_REMOTE = re.compile(
    r"(9p|afs|beegfs|ceph|cifs|drvfs|gfs2|glusterfs|lustre|ncpfs|nfs4?|ocfs2|orangefs|prl_fs|smb[23]|smbfs|vboxsf"
    r"|virtiofs|vmhgfs|fuse\.(?!ntfs|exfat|fuse-overlayfs|encfs|gocryptfs).*)\Z"
)
_MOUNTS, _DESCRIPTORS, _DESCRIPTOR_FACTS = (
    Path("/proc/self/mountinfo"),
    Path("/proc/self/fd"),
    Path("/proc/self/fdinfo"),
)


@dataclass(frozen=True, slots=True)
class WatchPlan:
    """Absolute folders to watch, in order."""

    deep: tuple[str, ...]  # with everything below them
    flat: tuple[str, ...]  # alone, since something below them is not to be watched
    folders: int  # how many folders that comes to


def watch_plan(root: Path) -> WatchPlan:
    """Plan for the folders that a scan would enter.

    `.git` and other dot-folders, what is set apart at the top, and what is in other repositories are never watched;
    links are not followed.

    Raises:
        OSError: the root cannot be listed, or there are more folders, or deeper ones, than should be watched.
    """
    folders, above, depths, is_whole = [os.fspath(root)], [-1], [0], [True]
    at = 0
    while at < len(folders):
        try:
            entries = _folders_in(folders[at])
        except OSError:
            if at == 0:
                raise
            entries = []  # gone meanwhile, or closed to us: the scan cannot enter it either
        if at and os.path.lexists(f"{folders[at]}/.git"):
            entries, is_whole[at] = [], False  # another repository: only whether it stays one
        for name in entries:
            path = f"{folders[at]}/{name}"
            if name[0] == "." or (at == 0 and name in SET_APART):
                is_whole[at] = False
                continue
            folders.append(path)
            above.append(at)
            depths.append(depths[at] + 1)
            is_whole.append(True)
        at += 1
        if len(folders) > MAX_FOLDERS:
            raise OSError(errno.E2BIG, f"there are over {MAX_FOLDERS:,} folders")
        if depths[-1] > MAX_DEPTH:
            raise OSError(errno.E2BIG, f"folders lie over {MAX_DEPTH} deep")
    for at in range(len(folders) - 1, 0, -1):  # those below come after those above
        is_whole[above[at]] &= is_whole[at]
    deep = [at for at in range(len(folders)) if is_whole[at] and (at == 0 or not is_whole[above[at]])]
    flat = [at for at in range(len(folders)) if not is_whole[at]]
    return WatchPlan(tuple(folders[at] for at in deep), tuple(folders[at] for at in flat), len(folders))


def remote_file_system(root: Path) -> str | None:
    """Name the type of a file system that may change without an event here; None for a local one, or when unknown."""
    if os.fspath(root).startswith("\\\\"):
        return "network share"
    try:
        lines = _MOUNTS.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return None
    return _type_of(os.path.realpath(root), lines)


def watch_counts() -> Mapping[str, int] | None:
    """How many watches each of this process's inotify descriptors has; None where that cannot be asked."""
    counts: dict[str, int] = {}
    try:
        for descriptor in list(_DESCRIPTORS.iterdir()):
            with suppress(OSError):  # closed meanwhile
                if "inotify" in os.fspath(descriptor.readlink()):
                    facts = (_DESCRIPTOR_FACTS / descriptor.name).read_text()
                    counts[descriptor.name] = sum(1 for line in facts.splitlines() if line.startswith("inotify "))
    except OSError:
        return None
    return counts


def _folders_in(folder: str) -> list[str]:
    with os.scandir(folder) as listing:
        return sorted(entry.name for entry in listing if entry.is_dir(follow_symlinks=False))


def _type_of(path: str, lines: list[str]) -> str | None:
    found, length = None, -1
    for line in lines:
        fields, _, rest = line.partition(" - ")
        place = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), fields.split(" ")[4])
        kind = rest.split(" ")[0]
        is_above = path == place or path.startswith(place.rstrip("/") + "/")
        if is_above and len(place) >= length:  # of two mounted at one place the later one is on top
            found, length = kind, len(place)
    return found if found is not None and _REMOTE.match(found) else None
