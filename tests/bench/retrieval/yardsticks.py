"""What the figures are held against: our own bars, and what others published of the same data."""

from __future__ import annotations

from dataclasses import dataclass

from tests.bench.retrieval.metrics import Estimate

_ROUNDING = 5e-4  # bars are named to two or three digits


@dataclass(frozen=True, slots=True)
class Bar:
    """What a metric must reach."""

    set_name: str
    metric: str
    bar: float
    stretch: float | None = None
    is_ceiling: bool = False  # the less the better

    def is_met(self, one: Estimate) -> bool:
        """Whether the bar is reached."""
        return self.reaches(one, self.bar)

    def reaches(self, one: Estimate, aim: float) -> bool:
        """Whether an estimate is at least, or for a ceiling at most, so much."""
        return one.value <= aim + _ROUNDING if self.is_ceiling else one.value >= aim - _ROUNDING

    def said(self, aim: float | None) -> str:
        """A bar as text; "" for None."""
        return "" if aim is None else f"{'≤' if self.is_ceiling else '≥'} {aim:g}"


@dataclass(frozen=True, slots=True)
class Published:
    """Figures that somebody else gave."""

    system: str
    set_name: str
    pool: str
    figures: str


BARS: tuple[Bar, ...] = (
    Bar("locomo-turn", "R@5", 0.69, 0.73),
    Bar("locomo-turn", "R@10", 0.77, 0.81),
    Bar("locomo-turn", "MRR", 0.60, 0.64),
    Bar("locomo-session", "R@5", 0.88, 0.91),
    Bar("locomo-session", "MRR", 0.83, 0.86),
    Bar("cosqa", "R@10", 0.57, 0.65),
    Bar("cosqa", "MRR", 0.36, 0.42),
    Bar("scifact", "nDCG@10", 0.70, 0.72),
    Bar("wrong-conversation-session", "AUROC", 0.92, 0.94),
    Bar("wrong-conversation-turn", "AUROC", 0.88, 0.91),
    Bar("wrong-conversation-session", "FPR@90", 0.19, 0.12, is_ceiling=True),
    Bar("remmemory", "surfaced_recall_en", 0.70, 0.75),
    Bar("remmemory", "FPR", 0.20, 0.10, is_ceiling=True),
)

# As their authors give them, for the whole of a set where we measure a part; which categories and versions of the data
# they took may differ, so that a point or two means nothing. What is not known of a pool is not said.
PUBLISHED: tuple[Published, ...] = (
    Published(
        "agentcairn, hybrid with cross-encoder",
        "LoCoMo",
        "turns; key: evidence turns",
        "R@5 .660, R@10 .735, MRR .608",
    ),
    Published("agentcairn, its BM25", "LoCoMo", "turns; key: evidence turns", "R@5 .527"),
    Published(
        "basic-memory", "LoCoMo", "sessions, one pool of all; key: sessions of the evidence turns", "R@5 .823, MRR .718"
    ),
    Published(
        "BM25, as published for BEIR", "SciFact", "abstracts, one pool; key: cited abstracts", "nDCG@10 .665 to .679"
    ),
    Published(
        "opencode-memory v1.6",
        "remmemory, its own dev set",
        "memories, a store a question; key: expected memories, pairs of languages too",
        "surfaced recall .675 (54 of 80), precision .632 macro and .818 by entry, false-positive rate .342",
    ),
)
