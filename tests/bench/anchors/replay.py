"""The replayed table: memories anchored to the first release of a project, read after each of the next.

The oracle says of each anchor and release whether the definition means what it did, in its file or in one that it came
to. An alert is right when it does not. Told in two ways: `replay` never takes the anchors of the first release again,
so a change alerts in every later one; `replay_pairs` anchors each release anew, as people who confirm every time.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal

from remvault.domain.anchors import Reading, State
from remvault.domain.memory import Anchor
from remvault.store.anchor_states import AnchorNotFound
from tests.bench.anchors import oracles
from tests.bench.anchors.oracles import Known
from tests.bench.anchors.releases import Project
from tests.bench.anchors.scripted import ALERTS, Bench

Truth = Literal["same", "moved", "changed", "gone"]
Definitions = Mapping[str, Mapping[str, tuple[Known, ...]]]  # by path, then by name; without files that do not parse
MOST_ANCHORS = 250  # of one project


@dataclass(frozen=True, slots=True)
class Release:
    """One release: its files, and what the oracle finds in them."""

    version: str
    files: Mapping[str, str]
    known: Definitions


@dataclass(frozen=True, slots=True)
class Look:
    """One anchor after one release."""

    version: str
    truth: Truth
    reading: Reading
    file_alerts: bool
    lines_alert: bool

    @property
    def calls_for_alert(self) -> bool:
        """Whether the definition is not what it was."""
        return self.truth in ("changed", "gone")


@dataclass(slots=True)
class Replay:
    """The looks at a project."""

    project: Project
    anchors: int = 0
    not_anchored: list[str] = field(default_factory=list)  # definitions of the oracle that we do not find
    looks: list[Look] = field(default_factory=list)

    def alerts(self) -> list[Look]:
        """The looks at which we alert."""
        return [look for look in self.looks if look.reading.state in ALERTS]


def release(version: str, files: Mapping[str, str], language: str, acorn: Path | None) -> Release:
    """What a release holds; `acorn` for JavaScript only."""
    found: Mapping[str, Sequence[Known] | None]
    if language == "JavaScript":
        assert acorn is not None
        found = oracles.javascript(files, acorn)
    else:
        read: Callable[[str], list[Known] | None] = oracles.python if language == "Python" else oracles.go
        found = {path: read(text) for path, text in files.items()}
    return Release(version, files, {path: _by_name(known) for path, known in found.items() if known is not None})


def _by_name(known: Sequence[Known]) -> dict[str, tuple[Known, ...]]:
    named: dict[str, list[Known]] = {}
    for one in known:
        named.setdefault(one.name, []).append(one)
    return {name: tuple(several) for name, several in named.items()}


def replay(project: Project, releases: Sequence[Release], folder: Path, *, seed: int = 4) -> Replay:
    """Anchor the first release, commit one release after the other, and look after each."""
    done = Replay(project)
    first, *later = releases
    bench = Bench(folder)
    bench.write(first.files, "committed")
    anchors: list[tuple[str, str, Anchor]] = []
    taking = bench.anchors()
    for path, name in _sampled(first, seed):
        try:
            anchors.append((path, name, taking.take(f"{path}#{name}").anchor))
        except AnchorNotFound:
            done.not_anchored.append(f"{path}#{name}")
    done.anchors = len(anchors)
    for now in later:
        bench.write(now.files, "committed")
        readings = bench.anchors().readings([anchor for *_, anchor in anchors])
        for (path, name, _), reading in zip(anchors, readings, strict=True):
            truth = told(first, now, path, name)
            if truth is not None:
                done.looks.append(_look(first, now, path, name, truth, reading))
    return done


def replay_pairs(project: Project, releases: Sequence[Release], folder: Path, *, seed: int = 4) -> Replay:
    """Anchor each release, and look once, after the next."""
    done = Replay(project)
    for number, pair in enumerate(pairwise(releases)):
        one = replay(project, pair, folder / str(number), seed=seed + number)
        done.anchors += one.anchors
        done.not_anchored += one.not_anchored
        done.looks += one.looks
    return done


def _sampled(first: Release, seed: int) -> list[tuple[str, str]]:
    named = sorted((path, name) for path, known in first.known.items() for name in known)
    return sorted(random.Random(seed).sample(named, min(MOST_ANCHORS, len(named))))


def told(first: Release, now: Release, path: str, name: str) -> Truth | None:
    """What became of a definition; None when its file does not parse."""
    meant = _meaning(first.known[path][name])
    if path in now.files and path not in now.known:
        return None
    here = now.known.get(path, {}).get(name)
    if here is not None:
        return "same" if _meaning(here) == meant else "changed"
    for other, known in now.known.items():
        came = name in known and _meaning(known[name]) == meant
        if came and _meaning(first.known.get(other, {}).get(name, ())) != meant:
            return "moved"
    return "gone"


def _meaning(several: Sequence[Known]) -> list[str]:
    return sorted(one.meaning for one in several)


def _look(first: Release, now: Release, path: str, name: str, truth: Truth, reading: Reading) -> Look:
    old, new = first.files[path], now.files.get(path)
    lines = [one.lines for one in first.known[path][name]]
    gone = new is None
    return Look(
        now.version,
        truth,
        reading,
        file_alerts=new != old,
        lines_alert=gone or any(_part(new or "", one) != _part(old, one) for one in lines),
    )


def _part(text: str, lines: tuple[int, int]) -> list[str]:
    return text.split("\n")[lines[0] - 1 : lines[1]]


def wrong(done: Replay) -> Iterator[Look]:
    """The looks at which our state and the oracle disagree on whether to alert."""
    return (look for look in done.looks if (look.reading.state in ALERTS) != look.calls_for_alert)


def states(done: Replay) -> Counter[tuple[Truth, State]]:
    """How often each state met each truth."""
    return Counter((look.truth, look.reading.state) for look in done.looks)
