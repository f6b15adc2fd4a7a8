"""The watcher: from a save to the index, what it costs at rest. `python -m tests.bench watch`.

Saves are timed until the manifest on disk names what was saved. A search does not wait for that: it looks at the files
itself, with or without a watcher.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from remvault.domain.blobs import blob_id
from tests.bench import process_bench
from tests.bench.figures import Figure

BAR_MS, BAR_CPU, BAR_MB = 500, 1.0, 120
_DEADLINE_S = 120.0


def figures(base: Path, *, notes: int, saves: int, rest_s: float) -> Iterator[Figure]:
    """Measure on a fresh vault of so many notes below `base`, one figure at a time.

    Args:
        saves: how many of each kind.
        rest_s: for how long the watcher is observed at rest.
    """
    env = process_bench.environment(base / "home")
    vault = process_bench.make_vault(base / "vault", notes, env)
    with watcher(vault, env) as process:
        yield _at_rest(process.pid, rest_s, notes)
        for name, save in SAVES.items():
            times = [_timed(vault, save, number) for number in range(saves)]
            p95 = sorted(times)[min(len(times) - 1, len(times) * 95 // 100)]
            yield Figure(
                f"save to searchable, {notes:,} notes, {name}",
                f"p50 {statistics.median(times):.0f}, p95 {p95:.0f} ms ({len(times)} saves)",
                f"p95 under {BAR_MS} ms",
                p95 < BAR_MS,
            )
        yield _at_rest(process.pid, rest_s, notes, after="after the saves")


@contextmanager
def watcher(vault: Path, env: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A watcher that has done its first sweep and lets go of the vault at the end."""
    command = [sys.executable, "-m", "remvault", "watch"]
    process = subprocess.Popen(command, cwd=vault, env=dict(env), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    log = next((vault / ".git/remvault").glob("*-*")) / "watcher/log"
    try:
        _until(lambda: log.exists() and "(start)" in log.read_text("utf-8"))
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=_DEADLINE_S)
    assert process.returncode == 0


def _in_place(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def _by_rename(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(data)
    part.replace(path)


def _with_backup(path: Path, data: bytes) -> None:
    path.rename(path.with_name(path.name + "~"))
    path.write_bytes(data)


SAVES: Mapping[str, Callable[[Path, bytes], None]] = {
    "written in place": _in_place,
    "temporary file and rename": _by_rename,
    "backup and new file": _with_backup,
}


def _timed(vault: Path, save: Callable[[Path, bytes], None], number: int) -> float:
    """Milliseconds from the end of one save until the manifest names its content."""
    notes = sorted(path for path in vault.rglob("*.md") if ".git" not in path.parts)
    path = notes[number * 37 % len(notes)]
    data = path.read_bytes() + f"\nSaved {number} by {save.__name__}.\n".encode()
    manifest = next((vault / ".git/remvault").glob("*-*")) / "manifest"
    blob = blob_id(data).encode()
    before = manifest.stat().st_mtime_ns
    save(path, data)
    started = time.perf_counter()

    def is_there() -> bool:
        nonlocal before
        now = manifest.stat().st_mtime_ns
        if now == before:
            return False
        before = now
        return blob in manifest.read_bytes()

    _until(is_there, pause_s=0.002)
    taken = (time.perf_counter() - started) * 1000
    time.sleep(0.3 + number % 7 / 20)  # people do not save in step with the watcher's clock
    return taken


def _at_rest(pid: int, seconds: float, notes: int, *, after: str = "at rest") -> Figure:
    """What the watcher takes while nothing happens; its first burst of work is left to end before."""
    time.sleep(min(5.0, seconds))
    before = _cpu_s(pid)
    time.sleep(seconds)
    share = 100 * (_cpu_s(pid) - before) / seconds
    now_mb, most_mb = (_status_mb(pid, key) for key in ("VmRSS", "VmHWM"))
    return Figure(
        f"watcher {after}, {notes:,} notes",
        f"{share:.2f} % of a core over {seconds:.0f} s, {now_mb:.0f} MB (at most {most_mb:.0f})",
        f"under {BAR_CPU:.0f} %, {BAR_MB} MB",
        share < BAR_CPU and now_mb < BAR_MB,
    )


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _status_mb(pid: int, key: str) -> float:
    line = next(one for one in Path(f"/proc/{pid}/status").read_text().splitlines() if one.startswith(f"{key}:"))
    return int(line.split()[1]) / 1024


def _until(holds: Callable[[], bool], *, pause_s: float = 0.02) -> None:
    deadline = time.monotonic() + _DEADLINE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(pause_s)


def main(arguments: list[str]) -> int:
    """Print the report; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench watch", description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--quick", action="store_true", help="fewer saves, a shorter rest")
    asked = parser.parse_args(arguments)
    if not Path("/proc/self/status").exists():
        print("skipped: what a process takes is read from /proc, which this system has not")
        return 0
    process_bench.clean_process_environment()
    missed = 0
    with tempfile.TemporaryDirectory(prefix="remvault-bench-") as folder:
        saves, rest_s = (10, 10.0) if asked.quick else (60, 60.0)
        for figure in figures(Path(folder), notes=asked.notes, saves=saves, rest_s=rest_s):
            print(figure.line(), flush=True)
            missed += figure.is_met is False
    return 1 if missed else 0
