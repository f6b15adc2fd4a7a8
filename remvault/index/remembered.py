"""A vault's folder as last listed, of which only the places that are known to have changed are listed again.

Owns: what was listed, and when it may serve.
Leaves alone: how it is known what changed (watcher). A read never uses it: it trusts nobody and lists all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from remvault.domain.problems import Problem
from remvault.store.trees import DirectoryTree, FileStat, Scan


class RememberedFolder:
    """Can be scanned in place of the folder; each `touch` serves one scan, and a second look is one at everything."""

    def __init__(self, root: Path) -> None:
        self._tree = DirectoryTree(root)
        self._files: dict[str, dict[str, FileStat]] | None = None  # by folder, "" is the root
        self._skipped: dict[str, list[Problem]] = {}
        self._touched: set[str] | None = None  # folders to list again; None: everything

    def forget(self) -> None:
        """List everything with the next scan, whatever is touched until then."""
        self._files = None

    def touch(self, paths: Iterable[str]) -> None:
        """With the next scan list the folders of these notes again, and nothing else that was listed before."""
        if self._files is None:
            return  # everything will be
        folders = {path.rpartition("/")[0] for path in paths}
        # Whether a folder without notes is one of the vault's at all, only a look from the top can tell.
        self._touched = folders if folders <= self._files.keys() else None

    def size_of(self, path: str) -> int | None:
        """How long a note was when it was last listed; None when it was not. May be asked on any thread."""
        files = self._files  # another's scan may replace it
        found = None if files is None else files.get(path.rpartition("/")[0], {}).get(path)
        return None if found is None else found.size

    def scan(self) -> Scan:
        """Every note with its stat, and what was skipped."""
        if self._files is None or self._touched is None:
            scan = self._tree.scan()
            self._files, self._skipped = defaultdict(dict), defaultdict(list)
        else:
            scan = self._tree.scan_folders(self._touched)
            for folder in self._touched:
                self._files[folder], self._skipped[folder] = {}, []
        for path, stat in scan.files.items():
            self._files[path.rpartition("/")[0]][path] = stat
        for problem in scan.skipped:
            self._skipped[problem.path.rpartition("/")[0]].append(problem)
        self._touched = None
        files = {path: stat for folder in self._files.values() for path, stat in folder.items()}
        return Scan(files, sorted((one for some in self._skipped.values() for one in some), key=Problem.sort_key))

    def read(self, path: str) -> bytes:
        """All bytes of a note, as the folder has them now; raises as `DirectoryTree.read`."""
        return self._tree.read(path)
