"""Intervals for an accuracy, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

Z95 = 1.959963984540054  # the 97.5 % quantile of the normal distribution


class Interval(NamedTuple):
    """Bounds of a proportion, both in [0, 1]."""

    low: float
    high: float


def wilson(correct: float, n: float, z: float = Z95) -> Interval:
    """Return the Wilson score interval of a proportion.

    correct: successes, 0..n. n: trials; n = 0 knows nothing and gives (0, 1). Source: Wilson 1927,
    JASA 22:209; checked against scipy's `binomtest(...).proportion_ci(method="wilson")`.
    """
    if n <= 0:
        return Interval(0.0, 1.0)
    share = correct / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if correct <= 0 else max(0.0, centre - half)
    high = 1.0 if correct >= n else min(1.0, centre + half)
    return Interval(low, high)


def clustered_wilson(clusters: Sequence[tuple[int, int]]) -> Interval:
    """Return the Wilson interval of an accuracy over problems with one or several samples each.

    clusters: (correct, n) for each problem. Samples of one problem are no independent trials: n is
    divided by the design effect, the ratio of the clustered to the simple variance (Kish 1965), at
    least 1. With one sample a problem this is the plain Wilson interval.
    """
    clusters = [(right, size) for right, size in clusters if size]
    n = sum(size for _, size in clusters)
    correct = sum(right for right, _ in clusters)
    count = len(clusters)
    if n == 0 or count < 2 or n == count or correct in (0, n):
        return wilson(correct, n) if n == count else wilson(correct * count / max(n, 1), count)
    share = correct / n
    between = sum((right - share * size) ** 2 for right, size in clusters)
    variance = between * count / (count - 1) / n**2
    effect = max(1.0, variance / (share * (1 - share) / n))
    return wilson(correct / effect, n / effect)
