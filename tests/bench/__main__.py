"""The figures: `python -m tests.bench`. Prints each beside its bar; exits with 1 when a bar is missed.

Options: `--notes N` (10,000), `--large N` (100,000; 0 leaves it out), `--quick` (fewer runs).
Parts with a report of their own: `python -m tests.bench anchors`, `watch`, `scenarios`, `kills`, `retrieval`,
`surface`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from remvault.store.state import State
from tests.bench import (
    index_bench,
    kills_bench,
    process_bench,
    providers_bench,
    recognition_bench,
    scenarios_bench,
    surface_bench,
    watch_bench,
)
from tests.bench.anchors import report as anchors
from tests.bench.figures import Figure
from tests.bench.frontmatter_bench import measure as measure_edits
from tests.bench.retrieval.__main__ import main as retrieval
from tests.bench.vault_generator import generate
from tests.vaults import git

PARTS: Mapping[str, Callable[[list[str]], int]] = {
    "anchors": anchors.main,
    "watch": watch_bench.main,
    "scenarios": scenarios_bench.main,
    "kills": kills_bench.main,
    "retrieval": retrieval,
    "surface": surface_bench.main,
}


def figures(base: Path, *, notes: int, large: int, runs: int) -> Iterator[Figure]:
    """Measure everything, one figure at a time."""
    env = process_bench.environment(base / "home")
    small = process_bench.make_vault(base / "small", 10, env)
    vault = process_bench.make_vault(base / "vault", notes, env)
    yield from process_bench.whole_process(small, vault, env, runs=runs)
    yield from process_bench.commit_in_process(vault, f"{notes:,}", env, runs=runs)
    if large:
        folder = base / "large"
        folder.mkdir()
        git(folder, "init", "-q", env=env)
        generate(folder, large)
        git(folder, "add", ".", env=env)
        git(folder, "commit", "-qm", "notes", env=env)
        yield from process_bench.commit_in_process(folder, f"{large:,}", env, runs=max(runs // 2, 3))
    yield from index_bench.figures(base / "index", notes=notes, runs=runs)
    caches = base / "index" / "caches"
    yield from recognition_bench.figures(base / "index" / "vault", State(caches, caches), runs=runs)
    yield from providers_bench.figures(base / "providers", env, notes=notes, runs=runs)
    edits = measure_edits(notes=notes if runs > 5 else 500)
    said = f"{edits['edits']:,} edits: {edits['wrong']} wrong, {edits['refused']} notes refused, {edits['edit_us']} µs"
    yield Figure("frontmatter edit changes its own line only", said, "0 wrong", edits["wrong"] == 0)


def main() -> int:
    """Print the report."""
    if sys.argv[1:2] and sys.argv[1] in PARTS:
        return PARTS[sys.argv[1]](sys.argv[2:])
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--large", type=int, default=100_000)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    process_bench.clean_process_environment()
    missed = 0
    with tempfile.TemporaryDirectory(prefix="remvault-bench-") as folder:
        for figure in figures(Path(folder), notes=asked.notes, large=asked.large, runs=5 if asked.quick else 15):
            print(figure.line(), flush=True)
            missed += figure.is_met is False
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
