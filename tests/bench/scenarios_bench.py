"""Sixty scripted scenarios with a watcher, and a checkout without: `python -m tests.bench scenarios`."""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.bench import process_bench
from tests.bench.figures import Figure, times_ms
from tests.bench.scenes import LARGE_SCENES, SCENES, Act, Scene
from tests.bench.vault_generator import generate
from tests.vaults import git

QUIET_S, RATIO = 5.0, 1.5
NOTES, LARGE_NOTES, CHANGED = 600, 20_000, 1_000
_GIVE_UP_S = 300.0  # to tell late from never


def figures(base: Path, *, scale: float = 1.0, seed: int = 1, runs: int = 3) -> Iterator[Figure]:
    """Play all scenarios and measure checkouts below `base`, one figure at a time; single scenarios are printed."""
    env = process_bench.environment(base / "home")
    os.environ.update(env)
    took: list[float | None] = []
    for name, notes, scenes in (("small", NOTES, SCENES), ("large", LARGE_NOTES, LARGE_SCENES)):
        scene = Scene(base / name, env, random.Random(seed), scale)
        scene.make(scene.many(notes))
        scene.seconds_until_right(_GIVE_UP_S)
        acts = [act for act, times in scenes for _ in range(times)]
        scene.chance.shuffle(acts)
        try:
            for act in acts:
                took.append(play(scene, act, number=len(took) + 1))
        finally:
            scene.close()
    right = sorted(one for one in took if one is not None) or [_GIVE_UP_S]
    yield Figure(
        f"{len(took)} scenarios, index as a fresh build once quiet",
        f"{len(right)} right, after at most {right[-1]:.1f} s, half by {right[len(right) // 2]:.1f} s",
        f"all within {QUIET_S:.0f} s",
        len(right) == len(took) and right[-1] <= QUIET_S,
    )
    yield new_notes(base / "new", env, scale=scale, seed=seed)
    for notes in (CHANGED, 10 * CHANGED):
        yield checkout(base / f"checkout-{notes}", env, notes=round(notes * scale), runs=runs)


def play(scene: Scene, act: Act, *, number: int, deadline_s: float = _GIVE_UP_S) -> float | None:
    """Play one scenario; seconds from its end until the index is right, None when it is not, or is wrong."""
    act(scene)
    seconds = scene.seconds_until_right(deadline_s)
    is_wrong = seconds is None or scene.differs()
    said = "never right" if seconds is None else f"{'WRONG' if is_wrong else 'right'} after {seconds:.2f} s"
    print(f"{number:>4}  {act.__name__:<26} {said:<22} {len(scene.notes())} notes", flush=True)
    return None if is_wrong else seconds


def new_notes(base: Path, env: Mapping[str, str], *, scale: float, seed: int) -> Figure:
    """As many new notes as there may be, at once: bound by what indexing costs, and reported without a bar."""
    scene = Scene(base, env, random.Random(seed), scale)
    scene.make(10)
    try:
        count = scene.many(LARGE_NOTES)
        generate(scene.root, count)
        seconds = scene.seconds_until_right(_GIVE_UP_S)
    finally:
        scene.close()
    said = "never right" if seconds is None else f"{seconds:.0f} s, {count / seconds:.0f} notes/s"
    return Figure(f"{count:,} new notes of 120 to 200 words at once, watched", said, "", None)


def checkout(base: Path, env: Mapping[str, str], *, notes: int, runs: int) -> Figure:
    """`git checkout` that rewrites notes, then `search`, against `reindex` of a vault of that many; whole processes."""
    changed = min(CHANGED, notes)
    vault = process_bench.make_vault(base / "vault", notes, env)
    peer = process_bench.make_vault(base / "peer", changed, env)
    paths = generate(base / "other", notes, seed=2)
    git(vault, "checkout", "-qb", "topic", env=dict(env))
    for path in random.Random(1).sample(paths, changed):
        (vault / path).write_bytes((base / "other" / path).read_bytes())
    git(vault, "commit", "-qam", "topic", "--no-verify", env=dict(env))

    def switch() -> None:
        git(vault, "checkout", "-q", "-", env=dict(env))  # the branch before
        process_bench.run([sys.executable, "-m", "remvault", "search", "retry queue"], vault, env)

    def index() -> None:
        process_bench.run([sys.executable, "-m", "remvault", "reindex"], peer, env)

    switch()
    switches, builds = [], []
    for _ in range(runs):  # in turns, so that a slow moment of the machine meets both
        switches += times_ms(switch, runs=1, warm_up=0)
        builds += times_ms(index, runs=1, warm_up=0)
        _settle(2.1)
    switched, built = statistics.median(switches), statistics.median(builds)
    return Figure(
        f"checkout of {changed:,} of {notes:,} notes, then search",
        f"{switched:,.0f} ms : {built:,.0f} ms, {switched / built:.2f}x indexing {changed:,}",
        f"at most {RATIO}x",
        switched <= RATIO * built,
    )


def _settle(seconds: float) -> None:
    """Let stamps grow old enough to be trusted."""
    time.sleep(seconds)


def main(arguments: list[str]) -> int:
    """Print the report."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench scenarios", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="files and notes against the full measure")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args(arguments)
    process_bench.clean_process_environment()
    missed = 0
    with tempfile.TemporaryDirectory(prefix="remvault-bench-") as folder:
        for figure in figures(Path(folder), scale=asked.scale, seed=asked.seed, runs=asked.runs):
            print(figure.line(), flush=True)
            missed += figure.is_met is False
    return 1 if missed else 0
