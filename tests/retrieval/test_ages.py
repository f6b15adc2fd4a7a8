"""How old a memory is, in words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from remvault.retrieval.ages import age_of

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


def age(**times: str) -> str:
    return age_of({"confirmed": None, "observed": None, "created": None} | times, NOW)


@pytest.mark.parametrize(
    ("time", "said"),
    [
        ("2026-12-01T09:00:00Z", "less than a day old"),
        ("2026-12-01T20:00:00Z", "less than a day old"),  # another clock, or a date alone
        ("2026-11-30", "1 day old"),
        ("2026-11-28T08:00:00Z", "3 days old"),
        ("2026-10-05", "57 days old"),
        ("2026-09-01", "3 months old"),
        ("2025-06-01", "18 months old"),
        ("2020-01-01", "6 years old"),
        ("1764547200", "12 months old"),
        ("2027-01-01", "created in the future"),
        ("last week", "unknown"),
    ],
)
def test_an_age_is_said_in_the_unit_that_tells_most(time: str, said: str) -> None:
    assert age(created=time) == said


def test_when_it_was_confirmed_says_more_than_when_it_was_made() -> None:
    assert age(created="2020-01-01", observed="2026-11-01", confirmed="2026-11-28T08:00:00Z") == "confirmed 3 days ago"
    assert age(created="2020-01-01", observed="2026-11-28T08:00:00Z") == "3 days old"
    assert age(created="2026-11-28T08:00:00Z", confirmed="someday") == "3 days old"
    assert age() == "unknown"
