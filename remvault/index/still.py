"""A vault that no longer changes, as a commit holds it, held against what the index knows of the files of today.

Owns: which notes of the past are the same as today's, by their content alone.
Leaves alone: answering from the index completed in memory (reconcile). Nothing of the past is ever kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from remvault.domain.blobs import blob_id
from remvault.errors import UserError
from remvault.index.changes import Seen
from remvault.index.manifest import Manifest
from remvault.index.reading import unreadable
from remvault.index.rows import blob_of
from remvault.store.trees import FileStat, GitTree, Scan

_NO_STAT = FileStat(0, 0, 0, 0)


@dataclass(slots=True)
class StillTree:
    """The notes of a commit as reconciling sees a tree: with a stat for each, which here means nothing."""

    tree: GitTree
    blobs: dict[str, str] = field(default_factory=dict)  # of every note, once `compare` has looked; all are committed

    def scan(self) -> Scan:
        """Every note, without reading any."""
        return Scan(dict.fromkeys(self.tree.paths(), _NO_STAT), self.tree.skipped())

    def read(self, path: str) -> bytes:
        """All bytes of a note; raises NoteMissing."""
        return self.tree.read(path)

    def compare(self, known: Manifest) -> Seen:
        """Hold the notes against a manifest: what has the same content at the same path is not read."""
        scan = self.scan()
        seen = Seen(known, scan, head_moved=True)
        for path in scan.files:
            entry, blob = known.rows.get(path), self.tree.blob(path)
            if entry is None or blob_of(entry) != blob:
                try:
                    data = self.tree.read(path)
                except UserError as err:
                    seen.unreadable.append(unreadable(path, err))
                    seen.gone += [path] if entry is not None else []
                    continue
                seen.keep(path, _NO_STAT, data)
                blob = blob_id(data)
            self.blobs[path] = blob
        seen.gone += [path for path in known.rows if path not in scan.files]
        return seen
