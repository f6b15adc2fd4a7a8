"""What speaks for or against a memory beside its text: one table of weights, and the signals of known facts.

Pure. Text dominates: all of these together move a memory among those that match, and never over the gate, which counts
text alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from remvault.domain.scope import SCOPES

# What each signal may add, on the scale of a text score, where one rare word found once brings 3 to 4. What each gains
# on and off is measured by `python -m tests.bench.retrieval --without SIGNAL`.
WEIGHTS: dict[str, float] = {
    "coverage": 0.25,  # exponent: a note with half of the query's idf mass keeps 0.84 of its text score
    "section": 0.75,  # of its best section's text score; a short note is its own section
    "neighbours": 1.0,  # of what the notes before and after it would add to its text
    "parent": 0.5,  # of the text score of all notes below its parent, taken as one text
    "names": 3.0,  # the query names who said it
    "proximity": 0.2,  # for each two words of the query that stand side by side
    "graph": 0.3,  # at most, for links to other good answers
    "recency": 0.2,  # from minus to plus half of it, by age
    "activation": 0.1,  # at most, by deliberate recalls
    "importance": 0.2,  # from minus to plus half of it
    "trust": 0.1,  # from the lowest to the highest rank
    "feedback": 0.3,  # at most, for or against
    "freshness": 0.2,  # share of its text that a stale note loses
}
# What a word brings that stands in the note before or after, next to one in the note itself.
NEIGHBOUR_SHARE = 0.5
# Among equal texts the narrower scope comes first: at most 0.007, less than any real difference in text.
SCOPE_STEP = 0.001
_TRUSTS = {"operator": 1.0, "user": 0.75, "system": 0.75, "tool": 0.5, "source": 0.25, "low": 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a memory beside its text. Unknown is None, and neither for nor against it."""

    age_days: float | None = None  # since it was last known to hold
    importance: float | None = None  # 0..1
    is_pinned: bool = False
    trust: str | None = None  # of the strongest source
    activation: float = 0.0  # 0..1
    useful: int = 0
    irrelevant: int = 0
    links: float = 0.0  # 0..1, to other good answers
    half_life_days: float = 14.0


def scope_signal(scope: str) -> dict[str, float]:
    """What a scope adds to a score, as a signal: the narrower the more."""
    return {"scope": SCOPE_STEP * (len(SCOPES) - 1 - SCOPES.index(scope))}


def fact_signals(facts: Facts) -> dict[str, float]:
    """The signals of known facts; those of unknown ones are left out."""
    signals = {
        "recency": WEIGHTS["recency"] * _recency(facts),
        "importance": WEIGHTS["importance"] * ((0.5 if facts.importance is None else facts.importance) - 0.5),
        "trust": WEIGHTS["trust"] * (_TRUSTS.get(facts.trust or "", 0.5) - 0.5),
        "activation": WEIGHTS["activation"] * facts.activation,
        "feedback": WEIGHTS["feedback"] * _feedback(facts.useful, facts.irrelevant),
        "graph": WEIGHTS["graph"] * facts.links,
    }
    return {name: value for name, value in signals.items() if value}


def _recency(facts: Facts) -> float:
    """0.5 for what was just known to hold or is pinned, -0.5 for what is very old, 0 for what names no time."""
    if facts.is_pinned:
        return 0.5
    if facts.age_days is None:
        return 0.0
    half_life = facts.half_life_days * (1 + (facts.importance or 0.0))
    return math.pow(0.5, facts.age_days / half_life) - 0.5


def _feedback(useful: int, irrelevant: int) -> float:
    """-1..1: the share of what was said for it less against it, drawn to 0 where little was said."""
    return (useful - irrelevant) / (useful + irrelevant + 2)
