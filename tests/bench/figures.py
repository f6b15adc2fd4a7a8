"""A measured figure beside its bar."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the report. Ratios are taken in one run on one machine; absolute times are orientation only."""

    name: str
    measured: str
    bar: str
    is_met: bool | None  # None: reported without a bar

    def line(self) -> str:
        """The row as text."""
        verdict = {True: "ok", False: "MISSED", None: ""}[self.is_met]
        return f"{self.name:<58} {self.measured:<52} {self.bar:<22} {verdict}".rstrip()


def median_ms(act: Callable[[], object], *, runs: int, warm_up: int = 1) -> float:
    """The median time of `act` in milliseconds, after `warm_up` runs that do not count."""
    return statistics.median(times_ms(act, runs=runs, warm_up=warm_up))


def times_ms(act: Callable[[], object], *, runs: int, warm_up: int = 1) -> list[float]:
    """Each run's time in milliseconds."""
    for _ in range(warm_up):
        act()
    taken = []
    for _ in range(runs):
        started = time.perf_counter()
        act()
        taken.append((time.perf_counter() - started) * 1000)
    return taken


def alternating_ms(first: Callable[[], object], second: Callable[[], object], *, runs: int) -> tuple[float, float]:
    """Medians of two acts measured in turns, so that a slow moment of the machine meets both."""
    firsts, seconds = [], []
    first(), second()
    for _ in range(runs):
        firsts += times_ms(first, runs=1, warm_up=0)
        seconds += times_ms(second, runs=1, warm_up=0)
    return statistics.median(firsts), statistics.median(seconds)
