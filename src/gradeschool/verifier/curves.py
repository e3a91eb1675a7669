"""A point of a curve: the mean over problems with its interval, clustered by problem."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from gradeschool.scoring.statistics import Z95, Interval, wilson_of_mean


class Point(NamedTuple):
    """One place of a curve.

    at: completions, or voters. gain: accuracy minus the majority vote's of as many completions,
    problem by problem.
    """

    at: int
    problems: int
    accuracy: float
    ci95: Interval
    gain: float
    gain_ci95: Interval


def point(at: int, values: Sequence[float], base: Sequence[float], groups: int) -> Point:
    """Return the point of one value a problem, each an expectation in 0..1.

    base: what it is compared with, problem by problem. groups: disjoint sets of completions that a
    problem's value is a mean over.
    """
    count = len(values)
    gains = [one - other for one, other in zip(values, base, strict=True)]
    mean = sum(gains) / count
    half = Z95 * _error(gains)
    return Point(
        at=at,
        problems=count,
        accuracy=sum(values) / count,
        ci95=wilson_of_mean(values, count * groups),
        gain=mean,
        gain_ci95=Interval(max(-1.0, mean - half), min(1.0, mean + half)),
    )


def _error(values: Sequence[float]) -> float:
    """Return the standard error of the mean of independent values, 0 for fewer than two."""
    count = len(values)
    if count < 2:
        return 0.0
    mean = sum(values) / count
    return sqrt(sum((one - mean) ** 2 for one in values) / (count - 1) / count)
