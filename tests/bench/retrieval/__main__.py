"""The retrieval benchmark: `python -m tests.bench.retrieval --data DIR`. See `tests/bench/README.md`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from remvault.retrieval.signals import WEIGHTS
from tests.bench.retrieval import report
from tests.bench.retrieval.asking import DEPTH, Disagreement
from tests.bench.retrieval.baselines import ENGINES
from tests.bench.retrieval.running import BENCHES, OWN, Bench, Run, measure
from tests.bench.retrieval.sets import BadSet, find_sets


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print; 0 when everything chosen was measured and nothing crossed a boundary, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.retrieval", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of sets")
    parser.add_argument("--json", type=Path, help="write the results here")
    parser.add_argument("--sets", default="", help="only these, by set or report, with commas: locomo,cosqa")
    parser.add_argument("--quick", type=int, metavar="N", help="the first N questions of each set only")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="make the vaults here, and take those that are")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--latency", action="store_true", help="time each search at the default depth, in the JSON too")
    parser.add_argument("--markdown", action="store_true", help="print the table of bars for a README instead")
    parser.add_argument("--no-baselines", action="store_true", help="only the product")
    parser.add_argument("--without", default="", metavar="SIGNALS", help="signals to switch off: parent,names")
    parser.add_argument("--explain-negatives", action="store_true", help="say what was shown where nothing should be")
    asked = parser.parse_args(argv)
    engines = () if asked.no_baselines else tuple(ENGINES)
    started = time.monotonic()

    def say(line: str) -> None:
        print(f"[{time.monotonic() - started:5.0f} s] {line}", file=sys.stderr, flush=True)

    try:
        chosen = _chosen(asked.data, asked.sets)
        with ExitStack() as stack:
            work = asked.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="remvault-bench-")))
            without = _signals(asked.without)
            run = Run(asked.data.resolve(), work.resolve(), asked.quick, asked.latency, engines, without)
            measured = measure(run, chosen, jobs=asked.jobs, say=say)
    except (BadSet, Disagreement) as err:
        print(f"error: {err}", file=sys.stderr)
        return 2
    for remark in measured.remarks:
        print(f"note: {remark}", file=sys.stderr)
    if asked.json is not None:
        asked.json.write_text(report.as_json(measured, with_latency=asked.latency), encoding="utf-8")
    print("\n".join(report.markdown(measured) if asked.markdown else report.lines(measured)))
    for line in report.times(measured, "the default depth" if asked.latency else f"depth {DEPTH}"):
        say(line)
    if asked.explain_negatives:
        print("\n".join(report.negatives(measured)))
    crossed = [one for found in measured.sets.values() for one in (found["scope_leaks"], found["superseded_surfaced"])]
    return 1 if any(one.value for one in crossed) else 0


def _signals(names: str) -> tuple[str, ...]:
    wanted = tuple(name.strip() for name in names.split(",") if name.strip())
    strange = [name for name in wanted if name not in WEIGHTS]
    if strange:
        raise BadSet(f"no signal is called {', '.join(strange)}; there are {', '.join(WEIGHTS)}")
    return wanted


def _chosen(data: Path, names: str) -> list[Bench]:
    found, unknown = find_sets(data)
    for folder in unknown:
        print(f"skipped: {folder} is no set that this bench knows", file=sys.stderr)
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    known = {name for bench in BENCHES for name in (bench.name, bench.set_name, *bench.reports)}
    strange = [name for name in wanted if name not in known]
    if strange:
        raise BadSet(f"no set or report is called {', '.join(strange)}; there are {', '.join(sorted(known))}")
    chosen = []
    for bench in BENCHES:
        if wanted and not {bench.name, bench.set_name, *bench.reports} & set(wanted):
            continue
        if bench.set_name not in (*found, OWN):
            print(f"skipped: {bench.name}, since {data} holds no set {bench.set_name}", file=sys.stderr)
            continue
        chosen.append(bench)
    if not chosen:
        raise BadSet("nothing to measure")
    return chosen


if __name__ == "__main__":
    sys.exit(main())
