"""The metrics of the retrieval benchmark against values worked out by hand."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from tests.bench.retrieval.metrics import (
    Estimate,
    auroc,
    count,
    fpr_at_recall,
    mean,
    ndcg_at,
    paired,
    percentile,
    recall_at,
    reciprocal_rank,
    wilson,
)


def test_recall_is_the_share_of_the_gold_among_the_first() -> None:
    ranking = ["a", "x", "b", "y", "c"]

    assert recall_at(ranking, {"a", "b", "c", "d"}, 1) == 0.25
    assert recall_at(ranking, {"a", "b", "c", "d"}, 3) == 0.5
    assert recall_at(ranking, {"a", "b", "c", "d"}, 10) == 0.75
    assert recall_at([], {"a"}, 5) == 0


def test_a_memory_that_is_there_twice_is_found_once() -> None:
    assert recall_at(["a", "a"], {"a", "b"}, 2) == 0.5


def test_without_gold_there_is_no_recall() -> None:
    with pytest.raises(ValueError, match="gold"):
        recall_at(["a"], set(), 5)
    with pytest.raises(ValueError, match="gold"):
        ndcg_at(["a"], set(), 5)


def test_the_reciprocal_rank_is_that_of_the_first_gold() -> None:
    assert reciprocal_rank(["x", "a", "b"], {"a", "b"}) == 0.5
    assert reciprocal_rank(["a"], {"a"}) == 1
    assert reciprocal_rank(["x", "y"], {"a"}) == 0


def test_ndcg_discounts_by_the_logarithm_of_the_rank() -> None:
    # Gold at ranks 1 and 3 of two: (1 + 1/log2 4) / (1 + 1/log2 3) = 1.5 / 1.63093.
    assert ndcg_at(["a", "x", "b"], {"a", "b"}, 10) == pytest.approx(1.5 / (1 + 1 / math.log2(3)))
    assert ndcg_at(["a", "b"], {"a", "b"}, 10) == 1
    assert ndcg_at(["x", "a"], {"a"}, 1) == 0
    # More gold than places: the best there could be fills the places.
    assert ndcg_at(["a", "b"], {"a", "b", "c"}, 2) == 1


def test_auroc_counts_pairs_and_ties_half() -> None:
    # 3 over 1, 2, 2: three wins. 2 over 1: one win, two ties. 1: one tie. 3 + 2 + 0.5 of 9.
    assert auroc([3, 2, 1], [1, 2, 2]) == pytest.approx(5.5 / 9)
    assert auroc([2, 3], [0, 1]) == 1
    assert auroc([0], [1]) == 0
    assert auroc([5, 5], [5]) == 0.5
    with pytest.raises(ValueError, match="side"):
        auroc([], [1])


def test_false_positives_are_taken_at_the_highest_threshold_that_lets_the_recall_pass() -> None:
    positives = [float(score) for score in range(1, 11)]  # nine of ten are at least 2

    assert fpr_at_recall(positives, [0, 1, 1.5, 2, 3], 0.9) == pytest.approx(2 / 5)
    assert fpr_at_recall(positives, [1.99], 0.9) == 0
    assert fpr_at_recall([1, 1, 1], [1, 0], 0.9) == 0.5
    assert fpr_at_recall([4.0], [3.0, 5.0], 0.5) == 0.5


def test_wilson_intervals_are_those_of_the_textbook() -> None:
    # 10 of 20: 0.5 ± 1.96 / (1 + 3.8415/20) * sqrt(0.0125 + 3.8415/1600) = 0.2993 .. 0.7007.
    half = wilson(10, 20)
    assert (half.value, half.n) == (0.5, 20)
    assert half.low == pytest.approx(0.2993, abs=1e-4)
    assert half.high == pytest.approx(0.7007, abs=1e-4)
    # None of 10: 0 .. z²/(n + z²).
    none = wilson(0, 10)
    assert (none.value, none.low) == (0, 0)
    assert none.high == pytest.approx(3.8415 / 13.8415, abs=1e-4)
    assert wilson(10, 10).high == 1
    assert wilson(10, 10).low == pytest.approx(10 / 13.8415, abs=1e-4)


def test_of_nothing_no_rate_is_claimed() -> None:
    assert wilson(0, 0) == Estimate(0.0, 0.0, 1.0, 0)
    with pytest.raises(ValueError, match="no rate"):
        wilson(3, 2)


def test_the_bootstrap_draws_the_same_samples_every_time() -> None:
    values = [math.sqrt(at) for at in range(7)]

    first = mean(values)

    assert first == mean(values)
    assert first != mean(values, seed=6)
    assert first.value == pytest.approx(sum(values) / 7)
    assert first.low < first.value < first.high
    assert first.n == 7


def test_values_that_do_not_differ_have_no_width() -> None:
    assert mean([0.5] * 9) == Estimate(0.5, 0.5, 0.5, 9)


def test_more_observations_make_the_interval_narrower() -> None:
    widths = [one.high - one.low for one in (mean([0.0, 1.0] * size) for size in (5, 50, 500))]

    assert all(wider > narrower for wider, narrower in pairwise(widths))


def test_a_paired_measure_is_drawn_by_whole_pairs() -> None:
    pairs = [(float(at), float(at) - 0.5) for at in range(30)]

    estimate = paired(auroc, pairs, resamples=50)

    # Each positive beats as many negatives as there are at or below it: 30·31/2 of 900.
    assert estimate.value == pytest.approx(465 / 900)
    assert estimate == paired(auroc, pairs, resamples=50)
    assert 0.5 < estimate.low <= estimate.high < 0.6
    assert estimate.n == 30


def test_a_percentile_is_a_value_that_was_measured() -> None:
    taken = [5.0, 1.0, 4.0, 2.0, 3.0]

    assert percentile(taken, 0.5) == 3
    assert percentile(taken, 0.95) == 5
    assert percentile(taken, 0.2) == 1
    assert percentile([7.0], 0.5) == 7


def test_json_has_six_digits() -> None:
    assert Estimate(1 / 3, 0.0, 2 / 3, 3).answer() == {"value": 0.333333, "low": 0.0, "high": 0.666667, "n": 3}
    assert count(2, 50).answer() == {"value": 2.0, "low": 2.0, "high": 2.0, "n": 50}
