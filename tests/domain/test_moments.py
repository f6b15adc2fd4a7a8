"""Dates and times on one scale."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remvault.domain.moments import format_moment, parse_moment


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-05-20", datetime(2026, 5, 20, tzinfo=UTC)),
        ("2026-05-20T08:00:00", datetime(2026, 5, 20, 8, tzinfo=UTC)),
        ("2026-05-20T08:00", datetime(2026, 5, 20, 8, tzinfo=UTC)),
        ("2026-05-20 08:00:00Z", datetime(2026, 5, 20, 8, tzinfo=UTC)),
        ("2026-05-20t08:00:00z", datetime(2026, 5, 20, 8, tzinfo=UTC)),
        ("2026-05-20T08:00:00+09:00", datetime(2026, 5, 19, 23, tzinfo=UTC)),
        ("2026-05-20T08:00:00 -0330", datetime(2026, 5, 20, 11, 30, tzinfo=UTC)),
        ("2026-05-20T08:00:00.5Z", datetime(2026, 5, 20, 8, 0, 0, 500_000, tzinfo=UTC)),
        ("2026-05-20T08:00:00.123456789Z", datetime(2026, 5, 20, 8, 0, 0, 123_456, tzinfo=UTC)),
        ("1779264000", datetime(2026, 5, 20, 8, tzinfo=UTC)),
        ("1779264000000", datetime(2026, 5, 20, 8, tzinfo=UTC)),
    ],
)
def test_every_written_form_has_its_place(text: str, moment: datetime) -> None:
    assert parse_moment(text) == moment


@pytest.mark.parametrize(
    "text",
    [
        "",
        "last tuesday",
        "2026",
        "2026-13-45",
        "2026-02-29",
        "2026-5-2",
        "20260520",
        "2026-05-20T25:00:00Z",
        "2026-05-20T08:00:00+25:00",
        "2026-05-20T08:00\nZ",
        "2026-05-20\n",
        "0000-01-01",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "２０２６-05-20",
        "123456789012",
    ],
)
def test_anything_else_is_no_moment(text: str) -> None:
    assert parse_moment(text) is None


@given(st.text(st.sampled_from("0123456789-:.TtZz+ \n"), max_size=30))
def test_no_text_breaks_it(text: str) -> None:
    moment = parse_moment(text)

    assert moment is None or moment.utcoffset() == timedelta(0)


@given(st.datetimes(), st.integers(-14 * 60, 14 * 60))
def test_a_moment_written_is_read_back_to_the_second(naive: datetime, offset_minutes: int) -> None:
    if not 2 <= naive.year <= 9998:
        return
    moment = naive.replace(microsecond=0, tzinfo=timezone(timedelta(minutes=offset_minutes)))

    assert parse_moment(moment.isoformat()) == moment
    assert parse_moment(format_moment(moment)) == moment
