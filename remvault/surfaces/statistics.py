"""Numbers about what a context sees: `stats`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from remvault.domain.moments import parse_moment
from remvault.store.usage import MemoryUsage
from remvault.surfaces.exposing import usage_of

if TYPE_CHECKING:
    from remvault.surfaces.app import OpenVault

_NAMED = 5  # memories at either end of "surfaced"
_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Surfacing:
    """How often one memory was surfaced in this work tree."""

    id: str
    title: str | None
    times: int
    last: str | None

    def answer(self) -> dict[str, Any]:
        """The numbers as JSON has them."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of what the context sees, by value, most first."""

    notes: int
    counts: Mapping[str, Mapping[str, int]]  # "types", "scopes", "stages", "tiers", "freshness"
    conflicts: int
    most_surfaced: tuple[Surfacing, ...]
    least_surfaced: tuple[Surfacing, ...]  # of the active ones, those never surfaced first
    notices: tuple[str, ...]

    def answer(self) -> dict[str, Any]:
        """The numbers as JSON has them."""
        return {
            "notes": self.notes,
            **{name: dict(values) for name, values in self.counts.items()},
            "conflicts": self.conflicts,
            "most_surfaced": [one.answer() for one in self.most_surfaced],
            "least_surfaced": [one.answer() for one in self.least_surfaced],
        }


def stats(vault: OpenVault) -> Stats:
    """Count what this context sees."""
    view = vault.view()
    rows = list(view.visible())
    active = [row for row in rows if row.id is not None and view.stage(row) == "active"]
    usage = usage_of(vault, [row.id for row in rows if row.id is not None])
    titles = {row.id: row.title for row in rows if row.id is not None}
    shown = [_surfacing(one, titles[one], used) for one, used in usage.items() if used.times_surfaced]
    shown.sort(key=lambda one: (-one.times, one.id))
    least = [_surfacing(row.id, row.title, usage[row.id]) for row in active if row.id is not None]
    least.sort(key=lambda one: (one.times, _seconds(one.last), one.id))
    counts = {
        "types": _counted(row.type for row in rows),
        "scopes": _counted(row.owner.partition(":")[0] if row.owner else None for row in rows),
        "stages": _counted(view.stage(row) for row in rows),
        "tiers": _counted(row.tier for row in rows),
        "freshness": _counted(row.freshness for row in rows),
    }
    return Stats(
        len(rows), counts, len(view.conflicts.open), tuple(shown[:_NAMED]), tuple(least[:_NAMED]), view.notices()
    )


def _counted(values: Iterable[str | None]) -> dict[str, int]:
    counted = Counter(value or _UNKNOWN for value in values)
    return dict(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))


def _surfacing(memory_id: str, title: str | None, usage: MemoryUsage) -> Surfacing:
    return Surfacing(memory_id, title, usage.times_surfaced, usage.last_surfaced)


def _seconds(text: str | None) -> float:
    moment = parse_moment(text) if text else None
    return moment.timestamp() if moment is not None else 0.0
