"""Read many notes in several processes, for a whole index or for a great change.

Owns: how many processes, their shares, talking to them.
Leaves alone: how a note is read (reading), index files (text_index), what becomes of the parts (generations).
"""

from __future__ import annotations

import gc
import json
import os
import secrets
import shutil
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from remvault.domain.problems import Problem
from remvault.index.analysis import Analyzer
from remvault.index.postings import DamagedIndex, Document
from remvault.index.reading import Batch, Progress, read_notes
from remvault.index.retiring import Numbers, Terms, terms_of
from remvault.index.rows import Entry
from remvault.index.schema import MAX_SECTIONS
from remvault.index.text_index import MAX_NUMBER, TextIndex, write_generation
from remvault.store.trees import DirectoryTree, FileStat

if TYPE_CHECKING:
    from remvault.index.changes import Seen
    from remvault.index.reading import Reader

# Below this many notes, starting processes costs more than it saves.
PARALLEL_FROM = 600
_MAX_PROCESSES = 4
# Notes of one process go into segments of at most this size, so that memory stays bounded.
_SEGMENT_NOTES = 25_000


def process_count(notes: int) -> int:
    """How many processes a build of so many notes is worth on this machine."""
    if notes < PARALLEL_FROM or not sys.executable:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(_MAX_PROCESSES, cores))


@dataclass(frozen=True, slots=True)
class Parts:
    """What several processes made of their shares."""

    folders: Sequence[Path]  # indexes, to be joined
    batch: Batch
    terms: Terms  # of the documents that were to be counted


@contextmanager
def parts_of(
    folder: Path,
    seen: Seen,
    reader: Reader,
    batch: Batch,
    *,
    processes: int,
    again: Iterator[Document] | None = None,
    retired: tuple[int, Numbers] = (0, {}),
) -> Iterator[Parts]:
    """Have what a look found read by several processes, each into an index of its own; they are gone afterwards.

    Args:
        folder: of the index that the parts are for.
        batch: where numbers begin, and what is read is put.
        again: documents for one more part, written by this process.
        retired: a generation in `folder`, and documents of it whose terms are to be counted.

    Raises:
        DamagedIndex: a process failed.
    """
    parts = folder.with_name(folder.name + ".parts")
    # Processes of a build that was killed may still be at work there: without their folder they come to an end.
    shutil.rmtree(parts, ignore_errors=True)
    share, workers = parts / secrets.token_hex(4), list[_Worker]()
    try:
        folders = list(_part_of(share / "again", again or iter(())))
        jobs = _jobs(share, folder, seen, reader, batch, processes, retired)
        workers += [_Worker(job) for job in jobs]
        _follow(workers, len(seen.read), reader.progress)
        rows: dict[str, Entry] = {}
        terms: dict[str, Counter[str]] = defaultdict(Counter)
        for worker in workers:
            answer = worker.answer()
            folders += [Path(part) for part in answer["folders"]]
            for *fields, rest in answer["rows"]:
                entry = Entry._make([*fields, rest.encode("utf-8", "surrogatepass")])
                rows[entry.path] = entry
            batch.unreadable += [Problem(*values) for values in answer["unreadable"]]
            for kind, found in answer["lengths"].items():
                batch.lengths[kind] += [tuple(one) for one in found]
            for name, counts in answer["terms"].items():
                terms[name].update(counts)
        batch.rows = {path: rows[path] for path in sorted(rows)}
        yield Parts(folders, batch, terms)
    finally:
        for worker in workers:
            worker.stop()
        shutil.rmtree(parts, ignore_errors=True)


def _part_of(folder: Path, documents: Iterator[Document]) -> Iterator[Path]:
    """Write one part in this process, if there is anything to write."""
    first = next(documents, None)
    if first is not None:
        write_generation(folder, chain((first,), documents), generation=None)
        yield folder


def _jobs(
    share: Path,
    folder: Path,
    seen: Seen,
    reader: Reader,
    batch: Batch,
    processes: int,
    retired: tuple[int, Numbers],
) -> list[dict[str, Any]]:
    """What each process is to do, JSON-ready; sets apart the numbers of their documents."""
    paths, (generation, numbers) = sorted(seen.read), retired
    most = (1 + MAX_SECTIONS) * -(-len(paths) // processes)
    first, batch.next_number = batch.next_number, batch.next_number + processes * most
    if batch.next_number > MAX_NUMBER:
        raise DamagedIndex("the numbers of documents are used up")
    return [
        {
            "root": os.fspath(reader.source.root),
            "folder": os.fspath(share / str(at)),
            "files": {path: list(seen.read[path]) for path in paths[at::processes]},
            "language": reader.analyzer.language,
            "is_embedded": reader.source.is_embedded,
            "first_number": first + at * most,
            "index": os.fspath(folder),
            "generation": generation,
            "retired": {name: some[at::processes] for name, some in numbers.items()},
        }
        for at in range(processes)
    ]


def build_part(job: Mapping[str, Any], report: Callable[[int], None]) -> dict[str, Any]:
    """Do one process's share of a build; `job` and the answer are JSON-ready, `report` is told the notes done."""
    tree, analyzer = DirectoryTree(Path(job["root"])), Analyzer(job["language"])
    batch = Batch(next_number=job["first_number"])
    files = {path: FileStat(*stat) for path, stat in job["files"].items()}
    paths, folders = list(files), []
    for start in range(0, len(paths), _SEGMENT_NOTES):
        share = {path: files[path] for path in paths[start : start + _SEGMENT_NOTES]}

        def tell(done: int, _: int, start: int = start) -> None:
            if done % 50 == 0:
                report(start + done)

        documents = read_notes(tree, share, batch, analyzer, is_embedded=job["is_embedded"], progress=tell)
        folder = Path(f"{job['folder']}-{start}")
        write_generation(folder, documents, generation=None)
        folders.append(os.fspath(folder))
    terms: Terms = {}
    if any(job["retired"].values()):
        terms = terms_of(TextIndex(Path(job["index"]), job["generation"]), job["retired"], analyzer)
    return {
        "rows": [(*entry[:-1], entry.rest.decode("utf-8", "surrogatepass")) for entry in batch.rows.values()],
        "lengths": batch.lengths,
        "unreadable": [[one.code, one.severity, one.path, one.line, one.message] for one in batch.unreadable],
        "folders": folders,
        "terms": terms,
    }


def serve_part() -> None:
    """Run one share in this process: the job as JSON on standard input; counts, then the answer on standard output."""
    gc.disable()  # what is made here lives until the end anyway

    def report(done: int) -> None:
        print(done, flush=True)

    answer = build_part(json.load(sys.stdin), report)
    print(json.dumps(answer), flush=True)


class _Worker:
    """A process of our own interpreter that does one share.

    A fresh interpreter, not a fork (unsafe beside threads) and not `multiprocessing` (which would import the caller's
    main module again).
    """

    def __init__(self, job: Mapping[str, Any]) -> None:
        code = f"import sys; sys.path[:] = {sys.path!r}; from remvault.index.building import serve_part; serve_part()"
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError as err:
            raise DamagedIndex(f"no process could be started: {err.strerror}") from err
        self.done = 0
        self._last = b""
        self._thread = threading.Thread(target=self._talk, args=(json.dumps(job).encode(),), daemon=True)
        self._thread.start()

    def _talk(self, job: bytes) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(OSError):  # a process that died early: its exit code tells
            self._process.stdin.write(job)
            self._process.stdin.close()
        for line in self._process.stdout:
            self._last = line
            if len(line) < 20:
                self.done = int(line)

    def wait(self, timeout_s: float) -> bool:
        """Whether the process is done after so long."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def answer(self) -> dict[str, Any]:
        if self._process.wait() != 0 or not self._last.startswith(b"{"):
            raise DamagedIndex(f"a build process ended with code {self._process.returncode}")
        answer: dict[str, Any] = json.loads(self._last)
        return answer

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._thread.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


def _follow(workers: Sequence[_Worker], total: int, progress: Progress | None) -> None:
    for worker in workers:
        while not worker.wait(0.1):
            if progress:
                progress(sum(one.done for one in workers), total)
    if progress:
        progress(total, total)
