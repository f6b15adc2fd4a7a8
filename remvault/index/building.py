"""Build a whole index in several processes.

Owns: how many processes, their shares, talking to them, joining what they made.
Leaves alone: how a note is read (reading), index files (text_index), what the manifest says afterwards (reconcile).
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
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from remvault.domain.problems import Problem
from remvault.index.analysis import Analyzer
from remvault.index.postings import DamagedIndex
from remvault.index.reading import Batch, Progress, read_notes
from remvault.index.rows import Entry
from remvault.index.text_index import join_folders, write_generation
from remvault.store.trees import DirectoryTree, FileStat

# Below this many notes, starting processes costs more than it saves.
PARALLEL_FROM = 600
_MAX_PROCESSES = 4
# Notes of one process go into segments of at most this size, so that memory stays bounded.
_SEGMENT_NOTES = 25_000
_NUMBERS_EACH = 100_000_000  # numbers set apart for each process


def process_count(notes: int) -> int:
    """How many processes a build of so many notes is worth on this machine."""
    if notes < PARALLEL_FROM or not sys.executable:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(_MAX_PROCESSES, cores))


def build_in_processes(
    root: Path,
    folder: Path,
    files: Mapping[str, FileStat],
    language: str,
    *,
    is_embedded: bool,
    processes: int,
    progress: Progress | None = None,
) -> tuple[int, Batch]:
    """Build a fresh index of `files` in `folder`, each process its share; returns the generation and what was read.

    Raises:
        DamagedIndex: a process failed or the parts could not be joined; whatever is in `folder` is to be thrown away.
    """
    paths = list(files)
    parts = folder.with_name(folder.name + ".parts")
    # Processes of a build that was killed may still be at work there: without their folder they come to an end.
    shutil.rmtree(parts, ignore_errors=True)
    share = parts / secrets.token_hex(4)
    jobs = [
        {
            "root": os.fspath(root),
            "folder": os.fspath(share / str(at)),
            "files": {path: list(files[path]) for path in paths[at::processes]},
            "language": language,
            "is_embedded": is_embedded,
            "first_number": 1 + at * _NUMBERS_EACH,
        }
        for at in range(processes)
    ]
    workers = [_Worker(job) for job in jobs]
    try:
        _follow(workers, len(paths), progress)
        batch = Batch(next_number=1 + processes * _NUMBERS_EACH)
        rows: dict[str, Entry] = {}
        for worker in workers:
            answer = worker.answer()
            for *fields, rest in answer["rows"]:
                entry = Entry._make([*fields, rest.encode("utf-8", "surrogatepass")])
                rows[entry.path] = entry
            batch.unreadable += [Problem(*values) for values in answer["unreadable"]]
            for kind, found in answer["lengths"].items():
                batch.lengths[kind] += [tuple(one) for one in found]
        batch.rows = {path: rows[path] for path in paths if path in rows}
        folders = [Path(part) for worker in workers for part in worker.answer()["folders"]]
        return join_folders(folder, folders), batch
    finally:
        for worker in workers:
            worker.stop()
        shutil.rmtree(parts, ignore_errors=True)


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
    return {
        "rows": [(*entry[:-1], entry.rest.decode("utf-8", "surrogatepass")) for entry in batch.rows.values()],
        "lengths": batch.lengths,
        "unreadable": [[one.code, one.severity, one.path, one.line, one.message] for one in batch.unreadable],
        "folders": folders,
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
