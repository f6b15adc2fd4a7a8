"""The results as text, JSON and Markdown: three ways to say the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from tests.bench.retrieval.measuring import Metrics, false_positives
from tests.bench.retrieval.metrics import Estimate, percentile
from tests.bench.retrieval.notes import one_line
from tests.bench.retrieval.running import Measured
from tests.bench.retrieval.yardsticks import BARS, PUBLISHED, Bar

OURS = "remvault"


def as_json(measured: Measured, *, with_latency: bool = False) -> str:
    """`{"sets": {NAME: {METRIC: {"value", "low", "high", "n"}}}, "baselines": {ENGINE: {NAME: …}}}`.

    With latency, which no two runs have in common, `"latency_ms"` by vault stands beside.
    """
    answer: dict[str, object] = {
        "sets": _answers(measured.sets),
        "baselines": {engine: _answers(found) for engine, found in measured.baselines.items()},
    }
    if with_latency:
        answer["latency_ms"] = {
            name: {"p50": round(percentile(taken, 0.5), 1), "p95": round(percentile(taken, 0.95), 1), "n": len(taken)}
            for name, taken in measured.latency.items()
            if taken
        }
    return json.dumps(answer, indent=1) + "\n"


def lines(measured: Measured) -> Iterator[str]:
    """The results as a table of text: every metric of ours, with its bar where it has one, then the baselines."""
    for name, found in measured.sets.items():
        for metric, one in found.items():
            yield f"{_line(name, metric, one)}   {verdict(name, metric, one)}".rstrip()
    for engine, sets in measured.baselines.items():
        yield f"\n{engine}"
        for name, found in sets.items():
            yield from (_line(name, metric, one) for metric, one in found.items())


def times(measured: Measured, depth: str) -> Iterator[str]:
    """How long a search took, by vault; no two runs agree on that."""
    for name, taken in measured.latency.items():
        if taken:
            p50, p95 = percentile(taken, 0.5), percentile(taken, 0.95)
            yield f"{name:<28}search of {depth}: p50 {p50:.1f} ms, p95 {p95:.1f} ms, n {len(taken)}"


def markdown(measured: Measured) -> Iterator[str]:
    """The metrics that have a bar, ours beside the baselines of the same run; then what others published."""
    engines = list(measured.baselines)
    heads = ["set", "metric", OURS, "95 %", "n", "bar", "stretch", *engines]
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for bar in BARS:
        ours = measured.sets.get(bar.set_name, {}).get(bar.metric)
        if ours is None:
            continue
        others = [measured.baselines[engine].get(bar.set_name, {}).get(bar.metric) for engine in engines]
        cells = [
            bar.set_name,
            bar.metric,
            f"**{_short(ours.value)}**" + ("" if bar.is_met(ours) else " (missed)"),
            f"{_short(ours.low)} to {_short(ours.high)}",
            str(ours.n),
            bar.said(bar.bar),
            bar.said(bar.stretch),
            *("" if one is None else _short(one.value) for one in others),
        ]
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield "| published | set | granularity, pool and key | figures |"
    yield "|---|---|---|---|"
    for row in PUBLISHED:
        yield f"| {row.system} | {row.set_name} | {row.pool} | {row.figures} |"


def negatives(measured: Measured) -> Iterator[str]:
    """Every question without an answer that was given memories, what the gate made of it, and the memories."""
    for name, asked in measured.replies.items():
        notes = {note.key: note for note in measured.protocols[name].notes}
        gates = {question.id: reply.gate for question, reply in asked}
        for question, block in false_positives(asked):
            yield f"{name} {question.id} [{question.category}] gate {gates[question.id].score:.3f}: {question.text}"
            for key in block.relevant:
                yield f"    {key}: {one_line(notes[key].body)[:120]}"


def verdict(name: str, metric: str, one: Estimate) -> str:
    """How an estimate stands to its bar; "" without one."""
    bar = next((bar for bar in BARS if (bar.set_name, bar.metric) == (name, metric)), None)
    return "" if bar is None else _verdict(bar, one)


def _verdict(bar: Bar, one: Estimate) -> str:
    if not bar.is_met(one):
        return f"MISSED {bar.said(bar.bar)}"
    is_stretch = bar.stretch is not None and bar.reaches(one, bar.stretch)
    return f"ok, stretch {bar.said(bar.stretch)}" if is_stretch else f"ok {bar.said(bar.bar)}"


def _line(name: str, metric: str, one: Estimate) -> str:
    said = one.answer()  # rounded as in the JSON first, so that both say the same in the last digit too
    return f"{name:<28}{metric:<22}{said['value']:>9.4f}   {said['low']:.4f} .. {said['high']:.4f}   n {one.n}"


def _short(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1) if 0 <= value < 1 else f"{value:.3f}".rstrip("0").rstrip(".")


def _answers(sets: Mapping[str, Metrics]) -> dict[str, dict[str, dict[str, float | int]]]:
    return {name: {metric: one.answer() for metric, one in found.items()} for name, found in sets.items()}
