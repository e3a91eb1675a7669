"""Intervals: against scipy, on clusters, and by simulation."""

import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool.scoring.statistics import (
    clustered_error,
    clustered_wilson,
    standard_error,
    wilson,
)

SIZES = (1, 2, 3, 10, 37, 100, 1319, 26_380, 10**6)
CASES = [(k, n) for n in SIZES for k in {0, 1, n // 7, n // 3, n // 2, n - 1, n} if 0 <= k <= n]
# 400 runs of 200 problems: the share of intervals that hold the truth is known within 1.1 points
# (standard deviation), so these bounds are more than 3 deviations away from 95 %.
RUNS, PROBLEMS = 400, 200
LEAST, MOST = 0.91, 0.985
SIMULATED = list(product((1, 4), ((1.0, 1.0), (0.4, 0.4), (8.0, 2.0))))


@pytest.mark.parametrize(("k", "n"), CASES)
def test_wilson_is_scipys(k: int, n: int) -> None:
    """Both bounds equal scipy's to the last few bits, at 0 and n too."""
    from scipy.stats import binomtest

    expected = binomtest(k, n).proportion_ci(method="wilson")
    assert wilson(k, n) == pytest.approx((expected.low, expected.high), rel=1e-12, abs=1e-15)


def test_nothing_is_known_of_nothing() -> None:
    """No trial gives the whole range, plain or clustered."""
    assert wilson(0, 0) == clustered_wilson([]) == clustered_wilson([(0, 0)]) == (0, 1)


@given(st.lists(st.booleans(), min_size=1, max_size=300))
def test_one_sample_a_problem_is_plain_wilson(rights: list[bool]) -> None:
    """Without repeated samples there is nothing to correct."""
    assert clustered_wilson([(right, 1) for right in rights]) == wilson(sum(rights), len(rights))


@given(st.lists(st.integers(0, 4), min_size=2, max_size=50))
def test_the_error_of_an_accuracy_is_that_of_the_mean_for_equal_samples(rights: list[int]) -> None:
    """For unequal numbers it is clustered: one problem with most samples makes it large."""
    expected = standard_error([right / 4 for right in rights])
    assert clustered_error([(right, 4) for right in rights]) == pytest.approx(expected)
    assert clustered_error([(3, 4)]) is None
    uneven = clustered_error([(40, 40), *[(0, 1)] * 9])
    assert uneven is not None
    assert uneven > 0.15


@given(st.lists(st.booleans(), min_size=1, max_size=300), st.integers(2, 9))
def test_identical_samples_add_no_knowledge(rights: list[bool], samples: int) -> None:
    """k copies of each sample give the interval of the problems alone, and never a narrower one."""
    copied = clustered_wilson([(right * samples, samples) for right in rights])
    alone = wilson(sum(rights), len(rights))
    assert copied.high - copied.low >= alone.high - alone.low - 1e-12
    # The clustered variance divides by problems - 1: equal up to that correction.
    slack = 1.0 / len(rights)
    assert copied == pytest.approx(alone, abs=slack * (alone.high - alone.low) + 1e-12)
    as_if_independent = wilson(sum(rights) * samples, len(rights) * samples)
    assert copied.high - copied.low > as_if_independent.high - as_if_independent.low


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=60))
def test_an_interval_is_ordered_and_inside(counts: list[tuple[int, int]]) -> None:
    """0 <= low <= accuracy <= high <= 1 for problems of any sizes."""
    clusters = [(right, right + wrong) for right, wrong in counts]
    n = sum(size for _, size in clusters)
    low, high = clustered_wilson(clusters)
    assert 0 <= low <= high <= 1
    if n:
        share = sum(right for right, _ in clusters) / n
        assert low - 1e-12 <= share <= high + 1e-12


@pytest.mark.parametrize(("samples", "spread"), SIMULATED)
def test_coverage(samples: int, spread: tuple[float, float]) -> None:
    """The interval holds the true accuracy in about 95 % of simulated runs.

    Each problem has a chance of its own, from a beta distribution: strongly clustered at (0.4,
    0.4), where intervals that take samples for independent hold the truth in 75 % alone.
    """
    source = random.Random(f"{samples} {spread}")
    truth = spread[0] / sum(spread)
    covered = 0
    for _ in range(RUNS):
        clusters = []
        for _ in range(PROBLEMS):
            chance = source.betavariate(*spread)
            clusters.append((sum(source.random() < chance for _ in range(samples)), samples))
        low, high = clustered_wilson(clusters)
        covered += low <= truth <= high
    assert LEAST <= covered / RUNS <= MOST
