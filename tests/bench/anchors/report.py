"""The figures of anchors: `python -m tests.bench anchors`.

Exits with 1 when a bar is missed, with 3 when nothing could be replayed. Options: `--offline` leaves the replayed
releases out, `--keep DIR` keeps what was fetched, `--disagree` lists every look at which we and the oracle disagree.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from remvault.domain.memory import Anchor
from remvault.store.anchor_states import CodeAnchors
from remvault.store.code import CodeRoot
from remvault.store.state import open_state
from tests.bench.anchors import formatters, releases, replay, scripted
from tests.bench.anchors.replay import Look, Replay
from tests.bench.anchors.samples import load_all
from tests.bench.anchors.scripted import ALERTS, Bench, Verdict
from tests.bench.figures import Figure, times_ms

SKIPPED = 3
PRECISION = 0.97


def main(arguments: Sequence[str]) -> int:
    """Print the tables and the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench anchors", description=__doc__)
    parser.add_argument("--offline", action="store_true")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--disagree", action="store_true")
    asked = parser.parse_args(arguments)
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="remvault-bench-") as folder:
        base = Path(folder)
        figures += _scripted(base / "scripted")
        done = [] if asked.offline else list(_replays(base, asked.keep or base / "fetched"))
        for way, title in enumerate(("confirmed after each release", "never confirmed") if done else ()):
            print(f"\nReplayed releases, {title}: our states beside what the oracle says\n")
            figures += _replayed([both[way] for both in done], title, every=asked.disagree)
        if done:
            figures += _formatted(asked.keep or base / "fetched", every=asked.disagree)
        figures += _cost(base / "cost")
    print()
    for figure in figures:
        print(figure.line(), flush=True)
    if any(figure.is_met is False for figure in figures):
        return 1
    return 0 if done else SKIPPED


def _scripted(folder: Path) -> Iterator[Figure]:
    verdicts = list(scripted.run(folder, load_all()))
    print("Scripted edits: how many of each kind are told right\n")
    print(f"{'edit':<20} {'edits':>6} {'right state':>12} {'file hash':>10} {'line range':>11}")
    kinds = list(dict.fromkeys(verdict.edit.kind for verdict in verdicts))
    for kind in kinds:
        _scripted_row(kind, [verdict for verdict in verdicts if verdict.edit.kind == kind])
    _scripted_row("all", verdicts)
    print(f"\n{'language':<20} {'edits':>6} {'right state':>12}")
    for language in sorted({verdict.edit.language for verdict in verdicts}):
        of = [verdict for verdict in verdicts if verdict.edit.language == language]
        print(f"{language:<20} {len(of):>6} {sum(one.is_right for one in of):>12}")
    wrong = [verdict for verdict in verdicts if not verdict.is_right]
    for one in wrong:
        edit, said = one.edit, one.reading
        due = f"{edit.states[0]} {edit.now_at or ''}".strip()
        print(f"WRONG {edit.language}: {edit.kind}, {edit.name} ({edit.how}): {edit.at} is {due},", end=" ")
        print(f"read {said.state} {said.now_at or ''} {said.detail}".rstrip())
    right, count = len(verdicts) - len(wrong), len(verdicts)
    languages = len({verdict.edit.language for verdict in verdicts})
    yield Figure("anchors: scripted edits told right", f"{right} of {count}, {languages} languages", "all", not wrong)
    real = sum(verdict.edit.calls_for_alert for verdict in verdicts)
    ours = [verdict for verdict in verdicts if verdict.reading.state in ALERTS]
    by_file = [verdict for verdict in verdicts if verdict.file_alerts]
    by_lines = [verdict for verdict in verdicts if verdict.lines_alert]
    yield _alerts("anchors: scripted, our alerts", ours, real, 1.0)
    yield _alerts("anchors: scripted, alerts of a file hash", by_file, real)
    yield _alerts("anchors: scripted, alerts of a line range", by_lines, real)


def _scripted_row(name: str, of: Sequence[Verdict]) -> None:
    by_file = sum(one.file_alerts == one.edit.calls_for_alert for one in of)
    by_lines = sum(one.lines_alert == one.edit.calls_for_alert for one in of)
    print(f"{name:<20} {len(of):>6} {sum(one.is_right for one in of):>12} {by_file:>10} {by_lines:>11}")


def _alerts(name: str, alerts: Sequence[Verdict] | Sequence[Look], real: int, least: float | None = None) -> Figure:
    """Precision, recall and alerts per real catch; `real` is how many there were to catch."""
    count = len(alerts)
    caught = sum(one.calls_for_alert if isinstance(one, Look) else one.edit.calls_for_alert for one in alerts)
    precision = caught / count if count else 1.0
    said = f"{count} alerts, {caught} right: precision {precision:.1%}, recall {caught / max(real, 1):.1%}"
    said += f", {count / max(caught, 1):.2f} per catch"
    bar = "" if least is None else f"precision {least:.0%}"
    return Figure(name, said, bar, None if least is None else precision >= least)


def _replays(base: Path, fetched: Path) -> Iterator[tuple[Replay, Replay]]:
    """Each project whose releases are to be had, in two ways; says which are not, and why."""
    for project in releases.PROJECTS:
        try:
            acorn = releases.acorn(fetched) if project.language == "JavaScript" else None
            texts = {version: releases.fetch(project, version, fetched) for version in project.versions}
        except releases.NotFetched as err:
            print(f"\nSKIPPED {project.name} ({project.language}): {err}")
            continue
        known = [replay.release(version, files, project.language, acorn) for version, files in texts.items()]
        folder = base / "replayed" / project.name
        pairs = replay.replay_pairs(project, known, folder / "pairs")
        yield pairs, replay.replay(project, known, folder / "first")


def _formatted(fetched: Path, *, every: bool) -> Iterator[Figure]:
    print("\nFormatters over released sources: definitions whose digest changes\n")
    count = changed = 0
    for one in formatters.formatted(fetched):
        print(f"{one.formatter:<14} {one.suffix:<6} {one.definitions:>7} definitions, {len(one.changed):>4} changed")
        for name in one.changed if every else one.changed[:3]:
            print(f"    CHANGED {name}")
        count, changed = count + one.definitions, changed + len(one.changed)
    if count:
        said = f"{changed} of {count:,} digests: {changed / count:.2%}"
        yield Figure("anchors: digests that a formatter changes", said, "under 0.5%", changed < 0.005 * count)


def _replayed(done: Sequence[Replay], title: str, *, every: bool) -> Iterator[Figure]:
    for one in done:
        of = f"{one.project.name} {' '.join(one.project.versions)} ({one.project.language})"
        missing = len(one.not_anchored)
        print(f"{of}: {one.anchors} anchors, {len(one.looks)} looks, {missing} definitions not found by us")
        for (truth, state), count in sorted(replay.states(one).items()):
            print(f"    {truth:<8} read {state:<8} {count:>6}")
        wrong = list(replay.wrong(one))
        for look in wrong if every else random.Random(4).sample(wrong, min(len(wrong), 5)):
            print(f"    DISAGREE {look.version} {look.reading.at}: {look.truth}, read {look.reading.state}", end=" ")
            print(f"{look.reading.detail} {look.reading.now_at or ''}".rstrip())
        for name in one.not_anchored[:5]:
            print(f"    NOT FOUND {name}")
        _replay_rows(one.project.name, one.looks)
    yield from _replay_figures(title, [look for one in done for look in one.looks])


def _replay_rows(name: str, looks: Sequence[Look]) -> None:
    for figure in _replay_figures(name, looks):
        print(f"    {figure.name.removeprefix('anchors: ').strip():<42} {figure.measured}")


def _replay_figures(title: str, looks: Sequence[Look]) -> Iterator[Figure]:
    """Our figures beside the baselines'."""
    real = sum(look.calls_for_alert for look in looks)
    ours = [look for look in looks if look.reading.state in ALERTS]
    yield _alerts(f"anchors: releases, {title}", ours, real, PRECISION)
    yield _alerts("anchors:     a file hash alerts", [look for look in looks if look.file_alerts], real)
    yield _alerts("anchors:     a line range alerts", [look for look in looks if look.lines_alert], real)


FILES, PER_FILE = 200, 5


def _cost(folder: Path) -> Iterator[Figure]:
    """1,000 anchors in 200 files: the first look, and the next ones beside asking for each file's times."""
    bench = Bench(folder)
    files = {f"package_{number % 20}/module_{number}.py": _module(number) for number in range(FILES)}
    bench.write(files, "committed")
    places = [f"{path}#Class{number}.method_{number}" for path in files for number in range(PER_FILE)]
    anchors: list[Anchor] = [bench.anchors().take(place).anchor for place in places]
    # A file that changed just now is not believed by its times.
    then = time.time() - 60
    for path in files:
        os.utime(bench.folder / path, (then, then))
    state = open_state(bench.tree, vault_id="bench", prefix="", user_state=folder / "state")

    def opened_anchors() -> CodeAnchors:
        return CodeAnchors(CodeRoot(bench.tree, bench.env), state, clock_ns=time.time_ns)

    cold = times_ms(lambda: _check(opened_anchors(), anchors), runs=1, warm_up=0)[0]
    paths = [str(bench.folder / path) for path in files]
    # What changed less than two seconds before the first look is hashed once more; saved with it.
    time.sleep(2)
    warm_anchors = opened_anchors()
    warm_anchors.readings(anchors)
    # The best of many in turns: what both cost when nothing else ran.
    turns = [
        (
            times_ms(lambda: warm_anchors.readings(anchors), runs=1, warm_up=0)[0],
            times_ms(lambda: [os.stat(path) for path in paths], runs=1, warm_up=0)[0],  # noqa: PTH116  the bare call
        )
        for _ in range(200)
    ]
    warm, stats = (min(each) for each in zip(*turns, strict=True))
    opened = times_ms(lambda: _check(opened_anchors(), anchors), runs=10)
    name = f"anchors: states of {len(anchors):,} in {FILES} files"
    yield Figure(f"{name}, cold", f"{cold:.0f} ms", "", None)
    said = f"{warm:.2f} ms : {stats:.2f} ms = {warm / stats:.2f}"
    yield Figure(f"{name}, cached : stat of the files", said, "at most 2x", warm <= 2 * stats)
    yield Figure(f"{name}, cached, cache read from disk", f"{sorted(opened)[len(opened) // 2]:.1f} ms", "", None)


def _check(looking: CodeAnchors, anchors: Sequence[Anchor]) -> None:
    states = Counter(reading.state for reading in looking.readings(anchors))
    assert states == {"fresh": len(anchors)}, states


def _module(number: int) -> str:
    """A module of five classes with two methods each."""
    return "".join(
        f"class Class{one}:\n"
        f'    """What stands for number {one}."""\n\n'
        f"    def method_{one}(self, first, second={number}):\n"
        f"        for item in self.items(first):\n"
        f"            if item.size > second:\n"
        f'                log.debug("skipped %s of %s", item, {one})\n'
        f"                continue\n"
        f"            yield item.name, second + {one}\n\n"
        f"    def items(self, first):\n"
        f"        return sorted(self.found[first:], key=lambda item: item.name)\n\n\n"
        for one in range(PER_FILE)
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
