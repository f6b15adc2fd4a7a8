"""Activation: how present a memory is, from when it was recalled on purpose. Pure.

It rises with each recall and fades with time, slower for what is important, never for what is pinned. It orders and
explains; it never hides, confirms or deletes anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

HALF_LIFE_DAYS = 14.0
_DAY_S = 86_400.0


def activation(
    recalls: Iterable[datetime],
    *,
    now: datetime,
    half_life_days: float = HALF_LIFE_DAYS,
    importance: float | None = None,
    is_pinned: bool = False,
) -> float:
    """Return the activation of a memory, 0 (never recalled, or long ago) up to but not including 1.

    Each recall weighs 0.5 ** (age / half-life); the sum s becomes s / (1 + s), so that the first recalls count most.
    Recalls in the future (another clock) count as just now.

    Args:
        recalls: when it was recalled, in any order; being surfaced is no recall.
        half_life_days: above 0.
        importance: 0..1; 1 doubles the half-life. None counts as 0.
        is_pinned: every recall keeps its full weight.
    """
    half_life_s = half_life_days * _DAY_S * (1 + (importance or 0.0))
    total = 0.0
    for moment in recalls:
        age_s = 0.0 if is_pinned else max(0.0, (now - moment).total_seconds())
        total += 0.5 ** (age_s / half_life_s)
    return total / (1 + total)
