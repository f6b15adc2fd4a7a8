"""The results as text, JSON and Markdown: three ways to say the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from tests.bench.retrieval.measuring import Asked, Metrics, false_positives
from tests.bench.retrieval.metrics import percentile
from tests.bench.retrieval.notes import one_line
from tests.bench.retrieval.protocols import Protocol


def as_json(sets: Mapping[str, Metrics], latency: Mapping[str, list[float]] | None) -> str:
    """`{"sets": {NAME: {METRIC: {"value", "low", "high", "n"}}}}`; with `latency`, `"latency_ms"` by vault beside."""
    answer: dict[str, object] = {
        "sets": {name: {metric: one.answer() for metric, one in found.items()} for name, found in sets.items()}
    }
    if latency is not None:
        answer["latency_ms"] = {
            name: {"p50": round(percentile(taken, 0.5), 1), "p95": round(percentile(taken, 0.95), 1), "n": len(taken)}
            for name, taken in latency.items()
            if taken
        }
    return json.dumps(answer, indent=1) + "\n"


def lines(sets: Mapping[str, Metrics], latency: Mapping[str, list[float]] | None) -> Iterator[str]:
    """The results as a table of text."""
    for name, found in sets.items():
        for metric, one in found.items():
            yield f"{name:<28}{metric:<22}{one.value:>9.4f}   {one.low:.4f} .. {one.high:.4f}   n {one.n}"
    for name, taken in (latency or {}).items():
        if taken:
            yield f"{name:<28}{'search ms p50 / p95':<22}{percentile(taken, 0.5):>9.1f} / {percentile(taken, 0.95):.1f}"


def negatives(replies: Mapping[str, Asked], protocols: Mapping[str, Protocol]) -> Iterator[str]:
    """Every question without an answer that was given memories, what the gate made of it, and the memories."""
    for name, asked in replies.items():
        notes = {note.key: note for note in protocols[name].notes}
        gates = {question.id: reply.gate for question, reply in asked}
        for question, block in false_positives(asked):
            yield f"{name} {question.id} [{question.category}] gate {gates[question.id].score:.3f}: {question.text}"
            for key in block.relevant:
                yield f"    {key}: {one_line(notes[key].body)[:120]}"
