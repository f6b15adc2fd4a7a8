"""Why a memory has the score it has: its signals with their weights, and how each word of the query was found.

Owns: the facts, as JSON has them. Every number is the very one that made the order, so the values add up to the score.
Leaves alone: the table on a terminal (`surfaces.cli.explained`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from remvault.index.analysis import FOLD, STEM
from remvault.retrieval.ranking import TermMatch
from remvault.retrieval.signals import WEIGHTS


class Ranked(Protocol):
    """What a ranking says of a hit; `search.Hit` is one."""

    @property
    def score(self) -> float:
        """The sum of its signals."""
        ...

    @property
    def signals(self) -> Mapping[str, float]:
        """What each brought or took."""
        ...

    @property
    def matches(self) -> tuple[TermMatch, ...]:
        """How each word was found."""
        ...


@dataclass(frozen=True, slots=True)
class Explanation:
    """What made a score."""

    score: float
    signals: tuple[tuple[str, float, float | None], ...]  # name, value, weight; None: it has none, its value is its own
    matches: tuple[TermMatch, ...]  # in the order of the query

    def answer(self) -> dict[str, Any]:
        """The explanation as JSON has it. Numbers are whole, so that the values add up to the score."""
        return {
            "score": self.score,
            "signals": [{"signal": name, "value": value, "weight": weight} for name, value, weight in self.signals],
            "matches": [one.answer() | {"term": plain_term(one.term)} for one in self.matches],
        }


def explain(hit: Ranked) -> Explanation:
    """Say what made the score of a hit, the strongest signal first."""
    ordered = sorted(hit.signals.items(), key=lambda one: (-abs(one[1]), one[0]))
    return Explanation(hit.score, tuple((name, value, WEIGHTS.get(name)) for name, value in ordered), hit.matches)


def explain_rank(score: float) -> Explanation:
    """Say what made the score of a hit among those of several vaults: its rank in its own, and nothing else."""
    return Explanation(score, (("rank", score, None),), ())


def plain_term(term: str) -> str:
    """A term without the mark of a derived one."""
    return term.lstrip(STEM + FOLD)
