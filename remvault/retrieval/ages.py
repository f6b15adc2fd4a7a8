"""How old a memory is, in words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from remvault.domain.moments import parse_moment

UNKNOWN = "unknown"
_DAY_S = 86_400
_MONTH_DAYS, _YEAR_DAYS = 30.44, 365.25


def age_of(memory: Mapping[str, Any], now: datetime) -> str:
    """Say how long ago a memory was confirmed, else how old it is since it was observed, else created.

    The first of these fields that can be read as a time counts. Nothing is guessed from git or the file.
    """
    for field in ("confirmed", "observed", "created"):
        moment = parse_moment(memory[field]) if memory[field] else None
        if moment is not None:
            days = (now - moment).total_seconds() / _DAY_S
            if days < -1:
                return f"{field} in the future"
            span = _span(max(days, 0.0))
            return f"confirmed {span} ago" if field == "confirmed" else f"{span} old"
    return UNKNOWN


def _span(days: float) -> str:
    if days < 1:
        return "less than a day"
    if days < 2 * _MONTH_DAYS:
        return _count(int(days), "day")
    if days < 2 * _YEAR_DAYS:
        return _count(int(days / _MONTH_DAYS), "month")
    return _count(int(days / _YEAR_DAYS), "year")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
