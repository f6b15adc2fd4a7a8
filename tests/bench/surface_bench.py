"""`surface` over thousands of notes with giants among them: in its budget, and beside a `search` of the same words.

`python -m tests.bench surface [--notes N]` builds a vault of 5,000 notes, ten of 2 MB and one with a line of 1 MB.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import remvault
from tests.bench import process_bench
from tests.bench.figures import Figure, alternating_ms, median_ms
from tests.bench.vault_generator import generate, query_words
from tests.vaults import git, note_text

BUDGETS = (10_000, 2_400, 500)
PROMPTS = 20
WORDS = 12  # of a prompt
_GIANTS = 10
_GIANT_BYTES, _LINE_BYTES = 2_000_000, 1_000_000


def make_vault(root: Path, notes: int) -> remvault.OpenVault:
    """Build and index the vault; its giants hold every word that is asked for."""
    root.mkdir()
    git(root, "init", "-q")
    (root / "remvault.toml").write_text('[vault]\nid = "v-bench"\nkind = "standalone"\nformat = 1\n')
    generate(root, notes)
    words = " ".join(dict.fromkeys(query_words(PROMPTS * WORDS)))
    owner: dict[str, Any] = {"scope": "project", "scope_id": "project-1"}
    for at in range(_GIANTS):
        body = f"{words}\n" + "Nothing is said in this line of the giant.\n" * (_GIANT_BYTES // 43)
        (root / f"giant-{at}.md").write_text(note_text(f"Giant {at}", id=f"m-giant-{at}", body=body, **owner))
    line = f"{words} " * (_LINE_BYTES // (len(words) + 1) + 1)
    (root / "line.md").write_text(note_text("One line", id="m-line", body=f"{line}\n", **owner))
    for at in range(3):
        core = note_text(f"Rule {at}", id=f"m-rule-{at}", tier="core", body="It holds always.\n")
        (root / f"rule-{at}.md").write_text(core)
    opened = remvault.open_vault(str(root), context={"project": "project-1"}, options={"gate.threshold": "0"})
    opened.snapshot()
    return opened


def figures(vault: remvault.OpenVault, *, notes: int, runs: int) -> Iterator[Figure]:
    """Measure budgets, and time beside a search of the same words over the same files."""
    words = query_words(PROMPTS * WORDS)
    prompts = [" ".join(words[at : at + WORDS]) for at in range(0, len(words), WORDS)]
    over, empty = 0, 0
    for budget in BUDGETS:
        for prompt in prompts:
            block = remvault.surface(vault, prompt, budget_chars=budget).block
            over += len(block.encode()) > budget
            empty += not block
    said = f"{len(BUDGETS) * len(prompts)} blocks: {over} over, {empty} empty"
    yield Figure(
        f"surface within its budget, {notes:,} notes with giants", said, "0 over, 0 empty", not (over or empty)
    )
    turns = iter(prompts * (2 * runs + 4))
    surfaced, searched = alternating_ms(
        lambda: remvault.surface(vault, next(turns)), lambda: remvault.search(vault, next(turns), limit=36), runs=runs
    )
    ratio = surfaced / searched
    said = f"{surfaced:.0f} ms : {searched:.0f} ms = {ratio:.2f}"
    yield Figure("surface : a search of as many, both with their stat of all files", said, "under 2x", ratio < 2)
    giant = prompts[0]
    least = median_ms(lambda: remvault.surface(vault, giant, budget_chars=500), runs=runs)
    most = median_ms(lambda: remvault.surface(vault, giant, budget_chars=10_000), runs=runs)
    yield Figure(
        "surface at 10,000 characters : at 500", f"{most:.0f} ms : {least:.0f} ms", "under 2x", most < 2 * least
    )


def main(arguments: list[str]) -> int:
    """Print the report."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench surface", description=__doc__)
    parser.add_argument("--notes", type=int, default=5_000)
    parser.add_argument("--runs", type=int, default=20)
    asked = parser.parse_args(arguments)
    process_bench.clean_process_environment()
    missed = 0
    with tempfile.TemporaryDirectory(prefix="remvault-bench-") as folder:
        started = time.perf_counter()
        vault = make_vault(Path(folder) / "vault", asked.notes)
        print(f"built and indexed in {time.perf_counter() - started:.0f} s", flush=True)
        for figure in figures(vault, notes=asked.notes, runs=asked.runs):
            print(figure.line(), flush=True)
            missed += figure.is_met is False
    return 1 if missed else 0
