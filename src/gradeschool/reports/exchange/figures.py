"""Scores as other tools compute them: a mean over problems, with its standard error."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from gradeschool.reports.exchange.bundle import Bundle
from gradeschool.reports.page.verdicts import Share, share_of_clusters
from gradeschool.verdict import Outcome


class Mean(NamedTuple):
    """The mean of the problems' own shares, as lm-eval and inspect_ai give it.

    stderr: standard deviation of the shares (n - 1) over the root of n, None for a single problem.
    problems: how many the scorer judged. It differs from the accuracy of `gradeschool score` where
    problems have different numbers of samples.
    """

    value: float
    stderr: float | None
    problems: int


def clusters_of(bundle: Bundle, scorer: int) -> dict[str, tuple[int, int]]:
    """Return (right, judged) by problem under the scorer at that place; errors are not judged."""
    found: dict[str, tuple[int, int]] = {}
    for item in bundle.answered():
        outcome = item.verdicts[scorer].outcome
        if outcome is not Outcome.ERROR:
            right, judged = found.get(item.problem.id, (0, 0))
            found[item.problem.id] = right + (outcome is Outcome.CORRECT), judged + 1
    return found


def mean_of(bundle: Bundle, scorer: int) -> Mean:
    """Return the mean over problems under the scorer at that place."""
    shares = [right / judged for right, judged in clusters_of(bundle, scorer).values()]
    if not shares:
        return Mean(0.0, None, 0)
    mean = sum(shares) / len(shares)
    if len(shares) == 1:
        return Mean(mean, None, 1)
    variance = sum((share - mean) ** 2 for share in shares) / (len(shares) - 1)
    return Mean(mean, sqrt(variance / len(shares)), len(shares))


def accuracy_of(bundle: Bundle, scorer: int) -> Share:
    """Return our own accuracy: over completions, with its 95 % interval."""
    return share_of_clusters(list(clusters_of(bundle, scorer).values()))
