"""How memories were used and rated: what ranking asks of the world outside the index."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import NamedTuple, Protocol


class Used(NamedTuple):
    """What is known of one memory's use."""

    recalls: tuple[datetime, ...] = ()  # when it was recalled on purpose
    useful: int = 0
    irrelevant: int = 0


class Experience(Protocol):
    """Where use and ratings are known."""

    @property
    def half_life_days(self) -> float:
        """Time in which what is known loses half of its weight."""
        ...

    def of(self, ids: Collection[str]) -> Mapping[str, Used]:
        """The use of memories; those never used nor rated are left out."""
        ...


class NoExperience:
    """Nothing is known of any use, as in the past."""

    half_life_days = 14.0

    def of(self, ids: Collection[str]) -> Mapping[str, Used]:
        """Nothing."""
        return {}
