"""Run the protocols: build each vault once, ask its questions in shards over several processes, measure in one.

The order of shards never shows in a result, so that a run with two processes equals one with eight to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from remvault.retrieval import signals
from tests.bench.retrieval import measuring, protocols
from tests.bench.retrieval.asking import Asker, Kind, Reply
from tests.bench.retrieval.baselines import Scored, ask_engine
from tests.bench.retrieval.building import build
from tests.bench.retrieval.measuring import MEASURES, Metrics
from tests.bench.retrieval.protocols import Protocol, Question
from tests.bench.retrieval.remmemory import remmemory
from tests.bench.retrieval.sets import SetFolder, find_sets
from tests.bench.retrieval.synthetic import synthetic

OWN = "synthetic"  # needs no data
_SHARD = 60
_AGREEING = 5  # questions a vault that are asked in every way there is, see `Asker.must_agree`


@dataclass(frozen=True, slots=True)
class Bench:
    """One vault and what is reported of it."""

    name: str
    set_name: str
    make: Callable[[SetFolder], Protocol]
    reports: Mapping[str, Kind]  # name of the report to what is measured for it


BENCHES: tuple[Bench, ...] = (
    Bench("scifact", "scifact", protocols.titled, {"scifact": "ranking"}),
    Bench("cosqa", "cosqa", protocols.cosqa, {"cosqa": "ranking"}),
    Bench(
        "locomo-turn",
        "locomo",
        protocols.locomo_turn,
        {"locomo-turn": "ranking", "wrong-conversation-turn": "gate"},
    ),
    Bench("locomo-session", "locomo", protocols.locomo_session, {"locomo-session": "ranking"}),
    Bench(
        "locomo-session-scoped",
        "locomo",
        protocols.locomo_session_scoped,
        {"wrong-conversation-session": "gate"},
    ),
    Bench("remmemory", "remmemory", remmemory, {"remmemory": "block"}),
    Bench("qmd", "qmd", protocols.titled, {"qmd": "ranking"}),
    Bench(OWN, OWN, lambda _: synthetic(), {"synthetic": "ranking", "synthetic-surface": "block"}),
)


@dataclass(frozen=True, slots=True)
class Run:
    """Where, and how much."""

    data: Path
    work: Path  # vaults are made below
    quick: int | None = None  # the first questions of each set only
    with_time: bool = False
    engines: tuple[str, ...] = ()  # the baselines
    without: tuple[str, ...] = ()  # signals of `retrieval.signals.WEIGHTS` that are switched off


@dataclass(slots=True)
class Measured:
    """The results of a run."""

    sets: dict[str, Metrics] = field(default_factory=dict)
    latency: dict[str, list[float]] = field(default_factory=dict)  # ms of each search, by vault
    remarks: list[str] = field(default_factory=list)
    replies: dict[str, list[tuple[Question, Reply]]] = field(default_factory=dict)  # by vault
    protocols: dict[str, Protocol] = field(default_factory=dict)
    baselines: dict[str, dict[str, Metrics]] = field(default_factory=dict)  # by engine, then as `sets`


def measure(
    run: Run, chosen: Sequence[Bench], *, jobs: int, say: Callable[[str], None] = lambda line: None
) -> Measured:
    """Build, ask and measure the chosen benches; `say` hears of each step.

    Raises:
        BadSet: a set cannot be read.
        Disagreement: the ways of asking did not agree.
    """
    measured = Measured()
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        for bench, ready in [(bench, pool.submit(_prepare, run, bench.name)) for bench in chosen]:
            protocol, remarks = _protocol(run, bench.name), ready.result()
            measured.protocols[bench.name] = protocol
            measured.remarks += [f"{bench.name}: {one}" for one in remarks]
            say(f"{bench.name}: {len(protocol.notes):,} notes, {len(protocol.questions):,} questions")
        shards = [
            (bench, pool.submit(_ask, run, bench.name, start, stop))
            for bench in chosen
            for start, stop in _shards(len(measured.protocols[bench.name].questions))
        ]
        others = [
            (engine, bench, pool.submit(_ask_engine, run, bench.name, engine))
            for engine in run.engines
            for bench in chosen
        ]
        for bench, shard in shards:
            measured.replies.setdefault(bench.name, []).extend(shard.result())
            say(f"{bench.name}: {len(measured.replies[bench.name]):,} asked")
        for engine, bench, answered in others:
            questions, answers = measured.protocols[bench.name].questions, answered.result()
            into = measured.baselines.setdefault(engine, {})
            for report, kind in bench.reports.items():
                into[report] = measuring.of_engine(kind, questions, answers)
            say(f"{bench.name}: {engine}")
    for bench in chosen:
        asked = measured.replies[bench.name]
        measured.latency[bench.name] = [reply.search_ms for _, reply in asked]
        for report, kind in bench.reports.items():
            measured.sets[report] = MEASURES[kind](asked) | measuring.boundaries(asked)
    return measured


def _shards(questions: int) -> Iterator[tuple[int, int]]:
    for start in range(0, questions, _SHARD):
        yield start, min(start + _SHARD, questions)


def _prepare(run: Run, name: str) -> list[str]:
    protocol = _protocol(run, name)
    build(run.work / name, protocol.notes, protocol.files)
    asker = _asker(run, name)
    asker.forget_usage()
    for question in protocol.questions[:_AGREEING]:
        asker.must_agree(question)
    asker.forget_usage()
    return list(protocol.remarks)


def _ask(run: Run, name: str, start: int, stop: int) -> list[tuple[Question, Reply]]:
    kinds = set(_bench(name).reports.values())
    signals.WEIGHTS.update(dict.fromkeys(run.without, 0.0))  # of this process, which ends with the run
    asker = _asker(run, name)
    return [
        (question, asker.ask(question, kinds, with_time=run.with_time))
        for question in _protocol(run, name).questions[start:stop]
    ]


def _ask_engine(run: Run, name: str, engine: str) -> list[tuple[Scored, Scored]]:
    return ask_engine(engine, _protocol(run, name), run.work / "baselines" / name)


def _bench(name: str) -> Bench:
    return next(bench for bench in BENCHES if bench.name == name)


@lru_cache
def _protocol(run: Run, name: str) -> Protocol:
    bench = _bench(name)
    protocol = bench.make(SetFolder(OWN, run.data) if bench.set_name == OWN else find_sets(run.data)[0][bench.set_name])
    return replace(protocol, questions=protocol.questions[: run.quick])


@lru_cache
def _asker(run: Run, name: str) -> Asker:
    return Asker(run.work / name, _protocol(run, name).notes)
