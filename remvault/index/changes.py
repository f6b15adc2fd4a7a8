"""What of a vault differs from what its manifest says.

Owns: where notes come from, which of them are read and hashed, when a stat proves nothing.
Leaves alone: parsing (reading), what is done about a change (reconcile).
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from remvault.domain.blobs import blob_id
from remvault.domain.problems import Problem
from remvault.errors import UserError
from remvault.index.manifest import Manifest, uncollected
from remvault.index.reading import unreadable
from remvault.index.rows import Entry, blob_of
from remvault.store.trees import DirectoryTree, FileStat, Scan

# A file changed this long before a scan may change again without another time stamp: the coarsest clocks of file
# systems tick every two seconds.
_RACY_NS = 2_000_000_000
_SCANS = 4  # so often the folders are listed at most, when they change meanwhile
_HELD_BYTES = 1024 * 1024  # a longer note is not held in memory between hashing and parsing


class Scannable(Protocol):
    """A tree whose notes can be told apart without reading them."""

    def scan(self) -> Scan:
        """Every note with its stat, and what was skipped."""
        ...

    def read(self, path: str) -> bytes:
        """All bytes of a note; raises UserError when it cannot be read."""
        ...


@dataclass(frozen=True, slots=True)
class NoteSource:
    """The notes of a vault on disk, and what HEAD holds of them."""

    root: Path  # the vault's folder
    head: str | None = None  # HEAD's commit id
    head_blobs: Callable[[], Mapping[str, str]] = dict  # path: blob id of HEAD's notes; called only when HEAD moved
    is_embedded: bool = True  # whether a workspace note may lack its scope-id
    tree: Scannable | None = None  # what to scan and read instead of `root`

    @property
    def files(self) -> Scannable:
        """The tree that is read."""
        return self.tree or DirectoryTree(self.root)


@dataclass(slots=True)
class Seen:
    """One look at the files, held against a manifest."""

    known: Manifest
    scan: Scan
    started_ns: int = 0  # of the scan, on the process's own clock
    read: dict[str, FileStat] = field(default_factory=dict)  # to be parsed: new, or with other content
    same: dict[str, FileStat] = field(default_factory=dict)  # looked suspicious, but hash the same
    moved: dict[str, Entry] = field(default_factory=dict)  # by new path: the row that has this content elsewhere
    gone: list[str] = field(default_factory=list)  # rows whose file is gone or cannot be read
    data: dict[str, bytes] = field(default_factory=dict)  # content of `read`
    unreadable: list[Problem] = field(default_factory=list)
    head_moved: bool = False

    def keep(self, path: str, stat: FileStat, data: bytes) -> None:
        """Put a note down to be parsed; what is long is read once more then, rather than all of it held at once."""
        self.read[path] = stat
        if len(data) <= _HELD_BYTES:
            self.data[path] = data

    @property
    def changed(self) -> bool:
        """Whether anything an answer depends on differs from the manifest."""
        return bool(self.read or self.gone or self.moved or self.head_moved)

    @property
    def retired(self) -> list[Entry]:
        """Entries of the manifest whose documents no longer count."""
        return [entry for entry in self._replaced() if entry.number]

    def find_moves(self) -> None:
        """What has the content of a note that is no longer where it was is that note, and need not be parsed."""
        left: dict[str, list[Entry]] = defaultdict(list)
        for entry in self._replaced():
            left[blob_of(entry)].append(entry)
        for path in list(self.read) if left else ():
            entries = left.get(blob_id(self.data[path])) if path in self.data else None
            if entries:
                self.moved[path] = entries.pop()._replace(path=path, **self.read.pop(path)._asdict())
                del self.data[path]

    def _replaced(self) -> list[Entry]:
        """The entries whose path no longer holds their content, those apart that were found elsewhere."""
        taken = {entry.number for entry in self.moved.values()}
        entries = [self.known.rows.get(path) for path in (*self.gone, *self.read, *self.moved)]
        return [entry for entry in entries if entry is not None and entry.number not in taken]


def look(source: NoteSource, known: Manifest) -> Seen:
    """Stat every note, and read and hash those that may have changed since the manifest was written."""
    with uncollected():
        return _look(source, known)


def _look(source: NoteSource, known: Manifest) -> Seen:
    tree, rows = source.files, known.rows
    started, scan = _scan(tree, rows)
    seen = Seen(known, scan, started, head_moved=source.head != known.head)
    gone = [path for path in rows if path not in scan.files]
    by_stat = {entry[:4]: entry for entry in map(rows.__getitem__, gone) if entry.inode and not entry.is_racy}
    for path, stat in seen.scan.files.items():
        entry = rows.get(path)
        if entry is not None and not entry.is_racy and entry[:4] == stat:
            continue
        # The very file in a folder of another name: its stat proves as much as it would have where it was.
        if entry is None and (moved := by_stat.pop(stat, None)) is not None:
            seen.moved[path] = moved._replace(path=path)
            continue
        try:
            data = tree.read(path)
        except UserError as err:
            seen.unreadable.append(unreadable(path, err))
            if entry is not None:
                seen.gone.append(path)
            continue
        if entry is not None and blob_of(entry) == blob_id(data):
            seen.same[path] = stat
        else:
            seen.keep(path, stat, data)
    seen.gone += gone
    seen.find_moves()
    return seen


def _scan(tree: Scannable, rows: Mapping[str, Entry]) -> tuple[int, Scan]:
    """List all notes, and when the listing began.

    A folder moved meanwhile may be missed where it was and where it is, so notes that seem to be gone are looked for
    again, until two listings agree.
    """
    started, scan = time.perf_counter_ns(), tree.scan()
    for _ in range(_SCANS - 1):
        if rows.keys() <= scan.files.keys():
            break
        before, started = scan, time.perf_counter_ns()
        scan = tree.scan()
        if scan.files.keys() == before.files.keys():
            break
    return started, scan


def look_at_all(source: NoteSource, flavour: str) -> Seen:
    """A look at a vault of which nothing is known: every note is to be read."""
    started = time.perf_counter_ns()
    scan = source.files.scan()
    # No commit id is empty, so HEAD counts as moved; where there is no HEAD there is nothing to ask it for.
    return Seen(Manifest(flavour, head=""), scan, started, dict(sorted(scan.files.items())), head_moved=True)


def is_racy(stat: FileStat, clock_ns: int) -> bool:
    """Whether a file may change again without another stamp, so that its stat proves nothing next time."""
    return max(stat.mtime_ns, stat.ctime_ns) >= clock_ns - _RACY_NS
