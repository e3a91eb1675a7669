"""Intervals: against scipy, on clusters, and by simulation."""

import random
from itertools import product
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool.scoring.statistics import (
    Z95,
    ProblemPair,
    clustered_wilson,
    mcnemar,
    mean_difference,
    minimum_detectable,
    paired_interval,
    paired_test,
    problems_needed,
    tango,
    wilson,
)

SIZES = (1, 2, 10, 1319)
CASES = [(k, n) for n in SIZES for k in {0, 1, n // 7, n // 3, n // 2, n - 1, n} if 0 <= k <= n]
FLIPS = [(0, 0), (0, 1), (6, 0), (3, 9), (21, 24), (64, 293), (500, 1)]
# 400 runs of 200 problems: the share of intervals that hold the truth is known within 1.1 points
# (standard deviation), so these bounds are more than 3 deviations away from 95 %.
RUNS, PROBLEMS = 400, 200
LEAST, MOST = 0.91, 0.985
SIMULATED = [(1, (8.0, 2.0)), (4, (0.4, 0.4))]


@pytest.mark.slow
def test_the_exact_tests_and_wilson_are_scipys() -> None:
    """To the last few bits, at 0 and n too, and the same whichever run comes first."""
    from scipy.stats import binomtest

    for k, n in CASES:
        expected = binomtest(k, n).proportion_ci(method="wilson")
        assert wilson(k, n) == pytest.approx((expected.low, expected.high), rel=1e-12, abs=1e-15)
    for only_a, only_b in FLIPS:
        p = binomtest(only_a, only_a + only_b).pvalue if only_a + only_b else 1.0
        assert mcnemar(only_a, only_b) == mcnemar(only_b, only_a) == pytest.approx(p, rel=1e-9)


@given(st.lists(st.booleans(), min_size=1, max_size=300))
def test_one_sample_a_problem_is_plain_wilson(rights: list[bool]) -> None:
    """Without repeated samples there is nothing to correct."""
    assert clustered_wilson([(right, 1) for right in rights]) == wilson(sum(rights), len(rights))


@pytest.mark.slow
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


PAIRS = st.lists(
    st.builds(lambda a, b: ProblemPair(a, 3, b, 3), st.integers(0, 3), st.integers(0, 3)),
    min_size=1,
    max_size=8,
)


@given(PAIRS)
def test_the_sign_flip_test_counts_sign_patterns(pairs: list[ProblemPair]) -> None:
    """The share of all 2^n patterns of signs that end as far from zero as the data."""
    steps = [pair.right_b - pair.right_a for pair in pairs]
    observed = abs(sum(steps))
    patterns = list(product((-1, 1), repeat=len(steps)))
    far = sum(
        abs(sum(s * d for s, d in zip(signs, steps, strict=True))) >= observed for signs in patterns
    )
    assert paired_test(pairs)[0] == pytest.approx(far / len(patterns))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gained", "lost", "n"), [(12, 2, 44), (5, 5, 30), (0, 3, 20), (40, 9, 90)]
)
def test_tango_is_the_constrained_likelihood(gained: int, lost: int, n: int) -> None:
    """At both bounds the score statistic, its nuisance maximised numerically, is 1.96."""
    from math import log, sqrt

    from scipy.optimize import minimize_scalar

    for delta in tango(gained, lost, n):

        def minus_likelihood(chance: float, delta: float = delta) -> float:
            cells = (
                (gained, chance + delta),
                (lost, chance),
                (n - gained - lost, 1 - 2 * chance - delta),
            )
            return -sum(count * log(max(share, 1e-300)) for count, share in cells if count)

        bounds = (max(0.0, -delta), (1 - delta) / 2)
        chance = minimize_scalar(
            minus_likelihood, bounds=bounds, method="bounded", options={"xatol": 1e-12}
        ).x
        score = (gained - lost - n * delta) / sqrt(n * (2 * chance + delta * (1 - delta)))
        assert abs(score) == pytest.approx(Z95, abs=2e-4)


@pytest.mark.slow
def test_the_bootstrap_repeats_itself_and_is_near_the_textbook() -> None:
    """Equal pairs, one interval; its width is that of the normal approximation within 10 %."""
    source = random.Random(5)
    pairs = [ProblemPair(source.randint(0, 4), 4, source.randint(1, 4), 4) for _ in range(400)]
    bounds, how = paired_interval(pairs)
    assert how == "bootstrap over problems, 4000 resamples, seed 0"
    assert bounds == paired_interval(pairs)[0]
    square = sum(pair.difference**2 for pair in pairs) / 400
    half = Z95 * ((square - mean_difference(pairs) ** 2) / 400) ** 0.5
    assert (bounds.high - bounds.low) / 2 == pytest.approx(half, rel=0.1)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=4, max_size=60))
def test_an_interval_excludes_zero_where_the_test_rejects(rights: list[tuple[int, int]]) -> None:
    """Its limit is p 0.05 of the sign-flip test in its normal form; it has a width."""
    pairs = [ProblemPair(a, 6, b, 6) for a, b in rights]
    if not any(pair.difference for pair in pairs):
        return
    (low, high), how = paired_interval(pairs)
    assert how == "score interval by problem"
    squares = sum(pair.difference**2 for pair in pairs)
    z = abs(sum(pair.difference for pair in pairs)) / squares**0.5
    if abs(z - Z95) > 1e-6:
        assert (low > 0 or high < 0) is (z > Z95)
    assert low < mean_difference(pairs) < high or abs(mean_difference(pairs)) == 1


@pytest.mark.parametrize(("n", "discordance"), [(48, 0.3), (1319, 0.05), (1319, 0.3), (4, 1.0)])
def test_the_detectable_difference_has_a_power_of_80_percent(n: int, discordance: float) -> None:
    least = minimum_detectable(n, discordance, 1.0)
    assert least is not None
    spread = (discordance - least**2) ** 0.5
    power = NormalDist().cdf((least * n**0.5 - Z95 * discordance**0.5) / spread)
    assert power == pytest.approx(0.8, abs=1e-6)
    assert problems_needed(discordance, least) == pytest.approx(n, abs=1)
    assert minimum_detectable(n, discordance, 0.9 * least) is None
    assert minimum_detectable(3, discordance, 1.0) is None


@pytest.mark.slow
@pytest.mark.parametrize(("samples", "changed"), [(1, 0.1), (5, 0.03), (5, 0.4)])
def test_paired_intervals_hold_the_truth(samples: int, changed: float) -> None:
    """300 simulated pairs of runs: about 95 %; where few change, a bootstrap would hold in 70 %."""
    source = random.Random(f"{samples} {changed}")
    truth, covered, times = changed * (2 / 3 - 0.6), 0, 300
    for _ in range(times):
        drawn = []
        for _ in range(150):
            chance = source.betavariate(0.6, 0.4)
            other = source.betavariate(2, 1) if source.random() < changed else chance
            rights = [sum(source.random() < p for _ in range(samples)) for p in (chance, other)]
            drawn.append(ProblemPair(rights[0], samples, rights[1], samples))
        low, high = paired_interval(drawn)[0]
        covered += low <= truth <= high
    assert 0.90 <= covered / times <= 0.995
