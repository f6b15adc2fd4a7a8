"""Activation: rises with recalls, fades with time, and does nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remvault.domain.activation import activation

NOW = datetime(2026, 12, 1, tzinfo=UTC)
DAYS = st.lists(st.floats(min_value=0, max_value=3650), max_size=20)


def ago(*days: float) -> list[datetime]:
    return [NOW - timedelta(days=one) for one in days]


def test_a_memory_never_recalled_has_none() -> None:
    assert activation([], now=NOW) == 0.0


def test_one_recall_weighs_half_after_a_half_life() -> None:
    assert activation(ago(0), now=NOW) == pytest.approx(1 / 2)
    assert activation(ago(14), now=NOW) == pytest.approx(0.5 / 1.5)
    assert activation(ago(7), now=NOW, half_life_days=7) == activation(ago(14), now=NOW)


def test_importance_slows_the_fading_and_a_pin_stops_it() -> None:
    assert activation(ago(28), now=NOW, importance=1.0) == activation(ago(14), now=NOW)
    assert activation(ago(3650), now=NOW, is_pinned=True) == activation(ago(0), now=NOW)


def test_a_recall_of_another_clock_s_future_counts_as_just_now() -> None:
    assert activation(ago(-400), now=NOW) == activation(ago(0), now=NOW)


@given(DAYS, st.floats(min_value=0, max_value=3650))
def test_another_recall_never_lowers_it(days: list[float], more: float) -> None:
    assert activation(ago(*days, more), now=NOW) >= activation(ago(*days), now=NOW)


@given(DAYS, st.floats(min_value=0, max_value=1), st.booleans())
def test_it_stays_between_none_and_one(days: list[float], importance: float, is_pinned: bool) -> None:
    assert 0 <= activation(ago(*days), now=NOW, importance=importance, is_pinned=is_pinned) < 1
