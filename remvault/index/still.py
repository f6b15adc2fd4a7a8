"""A vault that no longer changes, as a commit holds it: indexed in memory for one answer, kept nowhere."""

from __future__ import annotations

from pathlib import Path

from remvault.domain.blobs import blob_id
from remvault.index.changes import NoteSource
from remvault.index.reading import Progress
from remvault.index.reconcile import reconcile
from remvault.index.snapshot import Snapshot
from remvault.store.trees import FileStat, NoteMissing, Scan, Tree

_NO_STAT = FileStat(0, 0, 0, 0)


def snapshot_of(
    tree: Tree, *, language: str = "english", is_embedded: bool = True, progress: Progress | None = None
) -> Snapshot:
    """Read and index every note of a tree in memory. All of them count as committed; nothing is written."""
    still = _Still(tree)
    source = NoteSource(Path(), "still", lambda: still.blobs, is_embedded, still)
    return reconcile(source, None, language=language, progress=progress)


class _Still:
    """A tree as reconciling sees one: with a stat for each note, which here means nothing."""

    def __init__(self, tree: Tree) -> None:
        self._data = {path: tree.read(path) for path in tree.paths()}
        self._skipped = tree.skipped()
        self.blobs = {path: blob_id(data) for path, data in self._data.items()}

    def scan(self) -> Scan:
        return Scan(dict.fromkeys(self._data, _NO_STAT), self._skipped)

    def read(self, path: str) -> bytes:
        try:
            return self._data[path]
        except KeyError as err:
            raise NoteMissing(path) from err
