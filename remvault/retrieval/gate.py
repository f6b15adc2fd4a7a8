"""The gate: whether what was found is worth showing at all. The only place that says so.

A raw score says little, since it grows with the length of the query; its share of what the query's words could bring
says little of a short query, which one common word answers in full. Their weighted geometric mean tells questions that
have an answer from others better than either; the retrieval benchmark measures it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from remvault.retrieval.ranking import Ranking, Scored

# Two words that stand in one note each are all the evidence that anyone can ask for.
_ENOUGH = 2.0
_SHARE = 0.6  # weight of the share; the amount has the rest


@dataclass(frozen=True, slots=True)
class Gate:
    """What the best memory reaches, and what it would have to."""

    score: float  # 0..1: weighted geometric mean of share and amount
    threshold: float
    best: float = 0.0  # text score of the best memory by whole tokens
    mass: float = 0.0  # the query's idf mass, unseen words in full

    @property
    def is_open(self) -> bool:
        """Whether anything may be surfaced."""
        return self.score > 0 and self.score >= self.threshold

    def answer(self) -> dict[str, Any]:
        """The gate as JSON has it."""
        return {
            "score": round(self.score, 6),
            "threshold": round(self.threshold, 6),
            "abstained": not self.is_open,
            "best": round(self.best, 6),
            "mass": round(self.mass, 6),
        }


def opens(scored: Scored) -> bool:
    """Whether a memory is matched within word boundaries: a stem alone opens nothing."""
    return bool(scored.matched)


def judge(ranking: Ranking, *, threshold: float) -> Gate:
    """Weigh the best of what was found against the whole query."""
    if not (ranking.best and ranking.mass):
        return Gate(0.0, threshold, mass=ranking.mass)
    share = min(1.0, ranking.best / ranking.mass)
    amount = min(1.0, ranking.best / (_ENOUGH * ranking.rarest))
    return Gate(math.pow(share, _SHARE) * math.pow(amount, 1 - _SHARE), threshold, ranking.best, ranking.mass)
