"""The metrics, each for one question or one list of scores, and the intervals around their means. Pure."""

from __future__ import annotations

import math
import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

RESAMPLES = 1000
SEED = 5
_Z95 = 1.959963984540054  # the normal distribution's 97.5 % quantile


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval, from `n` observations. A count has itself for an interval."""

    value: float
    low: float
    high: float
    n: int

    def answer(self) -> dict[str, float | int]:
        """The estimate as JSON has it: six digits, so that nobody compares noise."""
        return {"value": round(self.value, 6), "low": round(self.low, 6), "high": round(self.high, 6), "n": self.n}


def recall_at(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """The share of the gold that stands among the first `k`; raises ValueError without gold."""
    if not gold:
        raise ValueError("a question without gold has no recall")
    return len(set(ranking[:k]) & set(gold)) / len(set(gold))


def reciprocal_rank(ranking: Sequence[str], gold: Collection[str]) -> float:
    """One over the rank of the first gold, ranks from 1; 0 when there is none."""
    return next((1 / rank for rank, key in enumerate(ranking, 1) if key in gold), 0.0)


def ndcg_at(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """Discounted gain of the first `k` over the best there could be, every gold worth 1.

    Source: Järvelin, Kekäläinen, "Cumulated gain-based evaluation of IR techniques", 2002, with log2(rank + 1).
    """
    if not gold:
        raise ValueError("a question without gold has no gain")
    gain = sum(1 / math.log2(rank + 1) for rank, key in enumerate(ranking[:k], 1) if key in gold)
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(set(gold)), k) + 1))
    return gain / best


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float:
    """The probability that a positive scores over a negative, ties counted half; raises ValueError for an empty side.

    The area under the ROC curve, as Mann and Whitney's U over the number of pairs.
    """
    if not positives or not negatives:
        raise ValueError("both sides need a score")
    ordered = sorted(negatives)
    wins = sum(bisect_left(ordered, one) + bisect_right(ordered, one) for one in positives)
    return wins / (2 * len(positives) * len(negatives))


def fpr_at_recall(positives: Sequence[float], negatives: Sequence[float], recall: float) -> float:
    """The share of negatives at or over the highest threshold that lets `recall` of the positives pass."""
    if not positives or not negatives:
        raise ValueError("both sides need a score")
    wanted = max(1, math.ceil(recall * len(positives) - 1e-9))
    threshold = sorted(positives, reverse=True)[wanted - 1]
    return sum(one >= threshold for one in negatives) / len(negatives)


def wilson(hits: int, n: int) -> Estimate:
    """A rate with Wilson's score interval; of nothing the interval is everything and the value 0.

    Source: Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
    """
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n} is no rate")
    if not n:
        return Estimate(0.0, 0.0, 1.0, 0)
    rate, z2 = hits / n, _Z95 * _Z95
    middle = (rate + z2 / (2 * n)) / (1 + z2 / n)
    reach = _Z95 / (1 + z2 / n) * math.sqrt(rate * (1 - rate) / n + z2 / (4 * n * n))
    # At the ends the formula is 0 and 1 but for rounding.
    low, high = (0.0 if hits == 0 else middle - reach), (1.0 if hits == n else middle + reach)
    return Estimate(rate, low, high, n)


def count(value: int, n: int) -> Estimate:
    """How often something happened in `n` cases."""
    return Estimate(float(value), float(value), float(value), n)


def mean(values: Sequence[float], *, seed: int = SEED) -> Estimate:
    """The mean with the 95 % interval of the percentile bootstrap; the same seed draws the same samples."""
    if not values:
        raise ValueError("no values")
    n = len(values)
    means = sorted(math.fsum(values[at] for at in drawn) / n for drawn in _drawn(n, seed))
    return Estimate(math.fsum(values) / n, *_middle(means), n)


def paired(
    measure: Callable[[Sequence[float], Sequence[float]], float],
    pairs: Sequence[tuple[float, float]],
    *,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> Estimate:
    """A measure of positives against negatives, its interval by drawing whole pairs (a question asked both ways)."""
    if not pairs:
        raise ValueError("no pairs")

    def measured(chosen: Sequence[tuple[float, float]]) -> float:
        return measure([one for one, _ in chosen], [other for _, other in chosen])

    drawn = sorted(measured([pairs[at] for at in one]) for one in _drawn(len(pairs), seed, resamples))
    return Estimate(measured(pairs), *_middle(drawn), len(pairs))


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` of the values do not exceed (nearest rank); raises ValueError for none."""
    if not values:
        raise ValueError("no values")
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def _drawn(n: int, seed: int, resamples: int = RESAMPLES) -> Iterator[list[int]]:
    chance = random.Random(seed)
    everything = range(n)
    for _ in range(resamples):
        yield chance.choices(everything, k=n)


def _middle(ordered: Sequence[float]) -> tuple[float, float]:
    """What 95 % of the ordered values lie between."""
    return percentile(ordered, 0.025), percentile(ordered, 0.975)
