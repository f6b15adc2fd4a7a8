"""The gate: whether what was found is worth showing at all. The only place that says so.

A raw score says little: it grows with the length and rarity of the query. Divided by the idf mass of the query, words
that no note holds counted in full, it says which share of what was asked for the best memory answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from remvault.index.query import QueryWord
from remvault.index.snapshot import Matches
from remvault.retrieval.ranking import Scored, idf


@dataclass(frozen=True, slots=True)
class Gate:
    """What the best memory reaches, and what it would have to."""

    score: float  # 0..1: the best text score of a memory matched by a whole token, over the idf mass of the query
    threshold: float

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
        }


def opens(scored: Scored) -> bool:
    """Whether a memory is matched within word boundaries: a stem alone opens nothing."""
    return bool(scored.matched)


def judge(scored: Iterable[Scored], words: Sequence[QueryWord], matches: Matches, *, threshold: float) -> Gate:
    """Measure the best of the memories that were found against the whole query."""
    mass = idf_mass(words, matches)
    best = max((one.signals.get("text", 0.0) for one in scored if opens(one)), default=0.0)
    return Gate(min(1.0, best / mass) if mass else 0.0, threshold)


def idf_mass(words: Sequence[QueryWord], matches: Matches) -> float:
    """What a memory would score at most that held every word of the query, over the whole vault's frequencies."""
    return sum(idf(matches.note_count, matches.word_frequency.get(word.text, 0)) for word in words)
