"""Dates and times as people write them, on one scale for comparison."""

from __future__ import annotations

import re
from datetime import UTC, datetime

# RFC 3339 with its permitted blank for "T"; a date alone; an offset may be missing (then UTC is assumed for ordering).
_MOMENT = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?) ?(Z|z|[+-]\d{2}:?\d{2})?)?\Z", re.ASCII
)
# Seconds (9 to 11 digits) or milliseconds (13) since 1970, as tools write them.
_EPOCH = re.compile(r"\d{9,11}\Z|\d{13}\Z", re.ASCII)


def parse_moment(text: str) -> datetime | None:
    """Place a date or time on one scale (aware, UTC for what has no offset); None when it is neither.

    A date is its first instant. The text itself is what is kept and shown; this is for ordering only.
    """
    if _EPOCH.match(text):
        return datetime.fromtimestamp(int(text) / (1000 if len(text) == 13 else 1), UTC)
    match = _MOMENT.match(text)
    if match is None:
        return None
    day, clock, offset = match.groups()
    if clock and "." in clock:
        whole, fraction = clock.split(".")
        clock = f"{whole}.{fraction[:6]:0<6}"
    try:
        moment = datetime.fromisoformat(f"{day}T{clock or '00:00'}{(offset or 'Z').upper()}")
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def format_moment(moment: datetime) -> str:
    """Write an aware time as RFC 3339 in UTC to the second, as notes carry it."""
    return moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"
