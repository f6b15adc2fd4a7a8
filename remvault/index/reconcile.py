"""Bring what is known of a vault up to date with its files, before every read.

Owns: the next manifest, when to write and when to answer from memory instead.
Leaves alone: what changed (changes), how a note is read (reading), files of the index (text_index), looking words up
(snapshot).

The index is a cache: whatever is wrong with it costs time, never an answer. A reader never waits for a writer: what the
disk lacks is indexed in memory for this one answer.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from remvault.domain.problems import Problem
from remvault.errors import IndexBusy
from remvault.index import manifest as manifests
from remvault.index.analysis import Analyzer
from remvault.index.changes import NoteSource, Seen, is_racy, look, look_at_all
from remvault.index.manifest import INDEX_FOLDER, BadManifest, Manifest
from remvault.index.postings import DamagedIndex, MemoryPostings
from remvault.index.reading import Batch, Progress, Reader
from remvault.index.retiring import bury, retire, terms_of
from remvault.index.rows import head_blob_of, with_head_blob
from remvault.index.schema import SCHEMA_VERSION
from remvault.index.snapshot import Snapshot, View
from remvault.index.still import StillTree
from remvault.store.trees import FileStat, GitTree

__all__ = ["NoteSource", "Snapshot", "reconcile", "snapshot_of"]

if TYPE_CHECKING:
    from remvault.index.text_index import TextIndex
    from remvault.store.state import State

# So many notes are hashed again on each read before the manifest is written anew only to spare that.
_RACY_KEPT = 20
# How long a reader waits for a writer that is between writing the index and naming it in the manifest.
_WRITER_S = 1.0
_LOCK_FILE = "text-index.lock"


def reconcile(
    source: NoteSource,
    state: State | None,
    *,
    language: str = "english",
    progress: Progress | None = None,
    rebuild: bool = False,
) -> Snapshot:
    """Look at every note's stat, read what changed, update the index, and return the vault as it is now.

    Args:
        source: where the notes are.
        state: where the caches are; None, or unusable caches, means that everything is done in memory.
        language: of the analyzer, one of `analysis.LANGUAGES`.
        progress: called with (notes done, notes in all) while notes are read.
        rebuild: throw the index away first.
    """
    task = _Task(source, state, Analyzer(language), progress)
    return Snapshot(task.run(rebuild=rebuild), task.recover)


def snapshot_of(
    tree: GitTree,
    state: State | None,
    *,
    language: str = "english",
    is_embedded: bool = True,
    progress: Progress | None = None,
) -> Snapshot:
    """The notes of a commit, all of them committed, for one answer; nothing is written.

    Where the caches hold an index of the files of today it serves for all notes that are the same; what differs is read
    and indexed in memory.
    """
    still = StillTree(tree)
    source = NoteSource(Path(), "still", lambda: still.blobs, is_embedded, still)
    task = _Task(source, state, Analyzer(language), progress)
    return Snapshot(task.of_still(still), lambda reason, attempt: task.of_still(still, alone=True))


def is_being_written(state: State) -> bool:
    """Whether another process is writing the index this very moment; raises OSError."""
    from remvault.store.state import hold_alone

    if not (state.caches / _LOCK_FILE).exists():
        return False
    free = hold_alone(state.caches / _LOCK_FILE)
    if free is not None:
        free()
    return free is None


def flavour(analyzer: Analyzer, *, is_embedded: bool) -> str:
    """Everything that decides what the same note is indexed as; an index of another flavour is no use."""
    return f"{SCHEMA_VERSION}/{analyzer.signature}/{'embedded' if is_embedded else 'standalone'}"


class _Task:
    """One reconciliation."""

    def __init__(self, source: NoteSource, state: State | None, analyzer: Analyzer, progress: Progress | None) -> None:
        self._source, self._analyzer = source, analyzer
        self._reader = Reader(source, analyzer, progress)
        self._caches = state.caches if state is not None and state.caches_usable else None
        self._key = state.key if state is not None else b""
        self._flavour = flavour(analyzer, is_embedded=source.is_embedded)
        self._notices: list[str] = []

    def run(self, *, rebuild: bool = False) -> View:
        """The vault as it is now."""
        if self._caches is None:
            return self._in_memory()
        known = None if rebuild else self._load()
        seen = None
        if known is not None:
            seen = look(self._source, known)
            if not seen.changed and not self._is_worth_saving(seen):
                return self._view(known, seen)
        with ExitStack() as stack:
            # Where there is nothing to answer from, wait a little: another process may be about to finish.
            if self._lock(stack, _WRITER_S if seen is None else 0):
                return self._update(seen, rebuild=rebuild)
        if seen is None:
            return self._in_memory(is_stale=True)
        return self._overlay(seen)

    def of_still(self, still: StillTree, *, alone: bool = False) -> View:
        """A vault that does not change; `alone` leaves the index on disk aside."""
        known = None if alone or self._caches is None else self._load()
        nothing = Manifest(self._flavour, head="")
        seen = still.compare(nothing if known is None else known)
        # Taking a note out of the answer costs as much as reading one: a far past is cheaper on its own.
        if known is not None and len(seen.retired) + len(seen.read) > len(seen.scan.files):
            known, seen = None, still.compare(nothing)
        view = self._in_memory(seen) if known is None else self._overlay(seen)
        return replace(view, is_stale=False)

    def recover(self, reason: str, attempt: int) -> View:
        """The view anew, after the index proved unusable while it was read: the first time, then the second, ..."""
        if attempt == 0:  # another process may just have written the next generation
            return self.run()
        self._notices.append(f"rebuilding the text index: {reason}")
        return self.run(rebuild=True) if attempt == 1 else self._in_memory(is_stale=True)

    def _load(self, *, tell: bool = False) -> Manifest | None:
        assert self._caches is not None
        try:
            return manifests.load(self._caches, self._flavour, self._key)
        except FileNotFoundError:
            return None
        except BadManifest as err:
            if tell:
                self._notices.append(f"rebuilding the text index: {err}")
            return None

    def _lock(self, stack: ExitStack, wait_s: float) -> bool:
        """Become the only writer, if nobody else is within so long."""
        assert self._caches is not None
        from filelock import FileLock, Timeout  # 50 ms, and not needed while nothing changes

        try:
            self._caches.mkdir(parents=True, exist_ok=True, mode=0o700)
            stack.enter_context(FileLock(self._caches / _LOCK_FILE).acquire(timeout=wait_s, poll_interval=0.01))
        except (OSError, Timeout, NotImplementedError):
            return False
        return True

    def _is_worth_saving(self, seen: Seen) -> bool:
        """Whether the manifest should be written only so that fewer notes are hashed next time."""
        if len(seen.same) < _RACY_KEPT or self._caches is None:
            return False
        clock = self._clock(seen)
        return sum(1 for stat in seen.same.values() if not is_racy(stat, clock)) >= _RACY_KEPT

    def _clock(self, seen: Seen) -> int:
        """When the scan began, by the clock of the disk that stamps the files; 0 where stamps mean nothing."""
        assert self._caches is not None
        if isinstance(self._source.tree, StillTree):
            return 0
        try:
            return manifests.disk_clock(self._caches) - (time.perf_counter_ns() - seen.started_ns)
        except OSError:
            return 0  # every file counts as racy

    def _update(self, seen: Seen | None, *, rebuild: bool) -> View:
        """As the only writer: look again if another was here in between, and write what is missing."""
        assert self._caches is not None
        if seen is None or manifests.read_stamp(self._caches) != seen.known.stamp:
            known = None if rebuild else self._load(tell=True)
            if known is None:
                return self._build()
            seen = look(self._source, known)
        if not seen.changed and not self._is_worth_saving(seen):
            return self._view(seen.known, seen)
        fresh = self._with_files(seen)
        try:
            if seen.read or seen.retired:
                self._write(fresh, seen)
        except IndexBusy:
            return self._overlay(seen)
        except (DamagedIndex, OSError) as err:
            self._notices.append(f"rebuilding the text index: {err}")
            return self._build()
        self._save(fresh)
        return self._view(fresh, seen)

    def _with_files(self, seen: Seen) -> Manifest:
        """The manifest after this look, as far as it does not depend on parsing: what is gone, stats, HEAD."""
        fresh, clock = seen.known.copy(), self._clock(seen) if self._caches is not None else 0
        for path in seen.gone:
            fresh.drop(path)
        for path, stat in seen.same.items():
            fresh.rows[path] = fresh.rows[path]._replace(**stat._asdict(), is_racy=int(is_racy(stat, clock)))
        for path, entry in seen.moved.items():
            old = fresh.rows.get(path)
            head_blob = fresh.head_only.pop(path, None) if old is None else head_blob_of(old)
            racy = int(is_racy(FileStat(*entry[:4]), clock))
            fresh.rows[path] = with_head_blob(entry._replace(is_racy=racy), head_blob)
        if seen.head_moved:
            blobs = dict(self._source.head_blobs()) if self._source.head is not None else {}
            for path, entry in fresh.rows.items():
                fresh.rows[path] = with_head_blob(entry, blobs.pop(path, None))
            fresh.head, fresh.head_only = self._source.head, blobs
        return fresh

    def _take(self, fresh: Manifest, batch: Batch, clock: int) -> None:
        """Put what was read into the manifest."""
        for path, entry in batch.rows.items():
            old = fresh.rows.get(path)
            head_blob = fresh.head_only.pop(path, None) if old is None else head_blob_of(old)
            racy = int(is_racy(FileStat(*entry[:4]), clock))
            fresh.rows[path] = with_head_blob(entry._replace(is_racy=racy), head_blob)
        for kind, found in batch.lengths.items():
            for lengths in found:
                fresh.totals[kind].add(lengths)
        fresh.next_number = batch.next_number

    def _write(self, fresh: Manifest, seen: Seen) -> None:
        """Write the next generation for what changed, and put it into `fresh`."""
        from remvault.index.generations import write_changes

        assert self._caches is not None
        batch = write_changes(self._caches / INDEX_FOLDER, self._open(seen.known), fresh, seen, self._reader)
        self._take_read(fresh, seen, batch)

    def _take_read(self, fresh: Manifest, seen: Seen, batch: Batch) -> None:
        self._take(fresh, batch, self._clock(seen) if self._caches is not None else 0)
        for path in seen.read.keys() - batch.rows.keys():
            fresh.drop(path)  # hashed a moment ago, and could not be read again
        seen.unreadable += batch.unreadable

    def _build(self) -> View:
        """A fresh index of everything; in memory if the disk does not take it."""
        assert self._caches is not None
        from remvault.index.generations import write_all
        from remvault.index.text_index import WHOOSH_VERSION

        seen = look_at_all(self._source, self._flavour)
        fresh = self._with_files(seen)
        fresh.whoosh = WHOOSH_VERSION
        try:
            fresh.generation, batch = write_all(self._caches / INDEX_FOLDER, seen, self._reader)
        except (DamagedIndex, OSError, IndexBusy) as err:
            self._notices.append(f"answering from memory: {err}")
            return self._in_memory(is_stale=True)
        self._take_read(fresh, seen, batch)
        self._save(fresh)
        return self._view(fresh, seen)

    def _save(self, fresh: Manifest) -> None:
        assert self._caches is not None
        try:
            manifests.save(self._caches, fresh, self._key)
        except OSError as err:
            # What is on disk answers this time, and is thrown away next time.
            self._notices.append(f"the text index could not be kept: {err.strerror}")

    def _overlay(self, seen: Seen) -> View:
        """Answer from the index on disk, completed in memory by what it lacks."""
        fresh, batch = self._with_files(seen), Batch(next_number=seen.known.next_number)
        try:
            index = self._open(seen.known)
            dead = seen.known.dead()
            retired = retire(index, seen.retired, fresh, dead, index.segments())
            bury(dead, terms_of(index, retired, self._analyzer))
        except DamagedIndex:
            return self._in_memory(is_stale=True)
        memory = MemoryPostings(self._reader.read(seen, batch))
        self._take_read(fresh, seen, batch)
        view = self._view(fresh, seen, is_stale=True)
        return replace(view, memory=memory, dead=dead, disk=lambda: index)

    def _in_memory(self, seen: Seen | None = None, *, is_stale: bool = False) -> View:
        """Everything in memory: no usable disk, or a writer that takes long to make a first index."""
        seen = look_at_all(self._source, self._flavour) if seen is None else seen
        fresh, batch = self._with_files(seen), Batch()
        memory = MemoryPostings(self._reader.read(seen, batch))
        self._take_read(fresh, seen, batch)
        return replace(self._view(fresh, seen, is_stale=is_stale), memory=memory, disk=None)

    def _open(self, known: Manifest) -> TextIndex:
        from remvault.index.text_index import WHOOSH_VERSION, TextIndex

        assert self._caches is not None
        assert known.generation is not None
        if known.whoosh != WHOOSH_VERSION:
            raise DamagedIndex(f"it was written with Whoosh {known.whoosh}, this is {WHOOSH_VERSION}")
        index = TextIndex(self._caches / INDEX_FOLDER, known.generation)
        # Asked after opening: what is open now stays as it is, even when another process replaces the files.
        if not manifests.goes_with(self._caches, known):
            raise DamagedIndex("another process has replaced it")
        return index

    def _view(self, manifest: Manifest, seen: Seen, *, is_stale: bool = False) -> View:
        skipped = sorted([*seen.scan.skipped, *seen.unreadable], key=Problem.sort_key)
        return View(manifest, lambda: self._open(manifest), MemoryPostings(), None, skipped, is_stale, self._notices)
