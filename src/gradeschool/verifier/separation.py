"""How well scores tell right completions from wrong ones: AUC, over all and within problems."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from gradeschool.scoring.statistics import Z95, Interval

EDGES = (0.05, 0.2, 0.4, 0.6, 0.8, 0.95)  # between the buckets of calibration


class Within(NamedTuple):
    """The mean AUC of the problems that have right and wrong completions, and their number."""

    auc: float | None
    ci95: Interval | None
    problems: int


class Bucket(NamedTuple):
    """Completions whose score lies in [low, high), and the share of them that is right."""

    low: float | None
    high: float | None
    completions: int
    mean_score: float
    right: float


def auc(scores: Sequence[float], right: Sequence[bool]) -> float | None:
    """Return the chance that a right completion's score is above a wrong one's, ties half.

    The Mann-Whitney statistic over the number of pairs; None where there are no pairs.
    """
    positives = sum(right)
    negatives = len(right) - positives
    if not positives or not negatives:
        return None
    order = sorted(range(len(scores)), key=scores.__getitem__)
    ranks = 0.0  # of the right ones, ties sharing theirs
    at = 0
    while at < len(order):
        end = at + 1
        while end < len(order) and scores[order[end]] == scores[order[at]]:
            end += 1
        ranks += sum(right[one] for one in order[at:end]) * (at + 1 + end) / 2
        at = end
    return (ranks - positives * (positives + 1) / 2) / (positives * negatives)


def within(problems: Sequence[tuple[Sequence[float], Sequence[bool]]]) -> Within:
    """Return the mean of the AUCs of problems, each (scores, right); others are left out."""
    found = [one for scores, right in problems if (one := auc(scores, right)) is not None]
    if not found:
        return Within(None, None, 0)
    mean = sum(found) / len(found)
    if len(found) == 1:
        return Within(mean, Interval(0.0, 1.0), 1)
    error = sqrt(sum((one - mean) ** 2 for one in found) / (len(found) - 1) / len(found))
    interval = Interval(max(0.0, mean - Z95 * error), min(1.0, mean + Z95 * error))
    return Within(mean, interval, len(found))


def calibration(scores: Sequence[float], right: Sequence[bool]) -> list[Bucket]:
    """Return the buckets that hold any completion, from low to high scores."""
    held: list[list[tuple[float, bool]]] = [[] for _ in range(len(EDGES) + 1)]
    for score, is_right in zip(scores, right, strict=True):
        held[bisect_right(EDGES, score)].append((score, is_right))
    bounds = [None, *EDGES, None]
    return [
        Bucket(
            low=bounds[at],
            high=bounds[at + 1],
            completions=len(bucket),
            mean_score=sum(score for score, _ in bucket) / len(bucket),
            right=sum(is_right for _, is_right in bucket) / len(bucket),
        )
        for at, bucket in enumerate(held)
        if bucket
    ]
