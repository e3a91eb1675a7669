"""Intervals and tests: an accuracy, a mean over problems, two runs on the same problems.

Samples of one problem are not independent trials, so intervals are clustered by problem. Two runs
on the same problems are compared in pairs: a problem is hard for both or easy for both, and pairing
removes that variation. On the same data an unpaired test needs about twice the difference.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import ceil, comb, erfc, sqrt
from typing import NamedTuple, TypeVar

Unit = TypeVar("Unit")
Z95 = 1.959963984540054  # the 97.5 % quantile of the normal distribution
Z80 = 0.8416212335729143  # its 80 % quantile: the power that sizes and differences are given for
RESAMPLES = 4000
# Maximum number of steps of the exact sign-flip test; above it, its normal approximation is used.
MOST_STEPS = 3_000_000
BISECTIONS = 60
# With fewer differing problems, the bootstrap's 95 % interval contains the true difference in less
# than 94 % of cases, with very few in only 60 %: a score interval is used.
LEAST_DIFFERING = 100


class Interval(NamedTuple):
    """Bounds of a share, or of a difference of shares."""

    low: float
    high: float


def wilson(correct: float, n: float, z: float = Z95) -> Interval:
    """Return the Wilson score interval of a proportion.

    correct: successes, 0..n. n: trials; n = 0 gives (0, 1). z: normal quantile of the level.
    Source: Wilson 1927, JASA 22:209; checked against scipy's
    `binomtest(...).proportion_ci(method="wilson")`.
    """
    if n <= 0:
        return Interval(0.0, 1.0)
    share = correct / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if correct <= 0 else max(0.0, centre - half)
    high = 1.0 if correct >= n else min(1.0, centre + half)
    return Interval(low, high)


def mean_share(clusters: Iterable[tuple[int, int]]) -> float:
    """Return the accuracy of (correct, n) by problem: the mean of the problems' shares.

    Each problem counts once, however many samples it has. 0 without any.
    """
    pairs = [(right, size) for right, size in clusters if size]
    if len({size for _, size in pairs}) == 1:  # exact: no sum of rounded shares
        return sum(right for right, _ in pairs) / (len(pairs) * pairs[0][1])
    return sum(right / size for right, size in pairs) / len(pairs) if pairs else 0.0


def clustered_wilson(clusters: Iterable[tuple[int, int]], z: float = Z95) -> Interval:
    """Return the Wilson interval of `mean_share`: problems with one or several samples each.

    clusters: (correct, n) for each problem. Samples of one problem are not independent trials: the
    number of trials is the one that a proportion with the same mean and standard error would have,
    at most that of the samples (a design effect of at least 1, Kish 1965). With one sample a
    problem this is the plain Wilson interval.
    """
    pairs = [(right, size) for right, size in clusters if size]
    n, count = sum(size for _, size in pairs), len(pairs)
    if n == count:
        return wilson(sum(right for right, _ in pairs), n, z)
    share = mean_share(pairs)
    if count < 2 or share in (0.0, 1.0):
        return wilson(share * count, count, z)
    variance = standard_error([right / size for right, size in pairs]) ** 2
    trials = min(n, share * (1 - share) / variance) if variance else n
    return wilson(share * trials, trials, z)


class Share(NamedTuple):
    """An accuracy: the mean over problems of the share of judged samples that are correct.

    problems: number of those with a judged sample. interval: at 95 %, clustered by problem. bounds:
    if the scorer itself fails on some texts, the accuracy if all of these are wrong, and if all are
    right; else None. With bounds the accuracy is the lower one, and the interval covers both.
    """

    judged: int
    accuracy: float
    interval: Interval
    problems: int
    bounds: Interval | None = None


def share_of(problems: Iterable[tuple[int, int, int]]) -> Share:
    """Return the accuracy over (correct, judged, errors) of each problem."""
    low, high, pairs = [], [], []
    for right, size, failed in problems:
        if size:
            pairs.append((right, size))
        if size or failed:
            low.append((right, size + failed))
            high.append((right + failed, size + failed))
    judged = sum(size for _, size in pairs)
    if not judged or judged == sum(size for _, size in low):
        return Share(judged, mean_share(pairs), clustered_wilson(pairs), len(pairs))
    interval = Interval(clustered_wilson(low).low, clustered_wilson(high).high)
    bounds = Interval(mean_share(low), mean_share(high))
    return Share(judged, bounds.low, interval, len(pairs), bounds)


def wilson_of_mean(shares: Sequence[Fraction] | Sequence[float], most: float) -> Interval:
    """Return the Wilson interval of a mean of shares in [0, 1], one for each problem.

    The number of trials is the one that a proportion with the same mean and standard error would
    have: at least one for each problem, at most `most`, the number of disjoint groups of samples
    behind the shares. If all problems are right, or all wrong, the samples do not show the spread
    between problems, and each problem counts as one trial, as in `clustered_wilson`.
    """
    count = len(shares)
    mean = min(1.0, float(sum(shares) / count))
    if count < 2 or mean in (0.0, 1.0):
        return wilson(mean * count, count)
    variance = sum((float(share) - mean) ** 2 for share in shares) / (count - 1)
    equal = mean * (1 - mean) * count / variance if variance else float(most)
    trials = max(float(count), min(equal, float(most)))
    return wilson(mean * trials, trials)


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean of independent values, 0 for fewer than two."""
    count = len(values)
    if count < 2:
        return 0.0
    mean = sum(values) / count
    return sqrt(sum((value - mean) ** 2 for value in values) / (count - 1) / count)


class ProblemPair(NamedTuple):
    """One problem in two runs: right answers and number of samples in each, n at least 1."""

    right_a: int
    n_a: int
    right_b: int
    n_b: int

    @property
    def difference(self) -> float:
        """Return the share of right samples in b minus that in a, -1..1."""
        return self.right_b / self.n_b - self.right_a / self.n_a


def mcnemar(only_a: int, only_b: int) -> float:
    """Return the exact two-sided p value of McNemar's test (binomial, no correction).

    only_a, only_b: problems that only one run has right. Source: McNemar 1947, Psychometrika
    12:153; equal to scipy's `binomtest(only_a, only_a + only_b)`.
    """
    n = only_a + only_b
    tail = sum(comb(n, k) for k in range(min(only_a, only_b) + 1))
    return min(1.0, 2 * tail / (1 << n))


def mean_difference(pairs: Sequence[ProblemPair]) -> float:
    """Return the mean over problems of the difference of shares, b minus a.

    Each problem counts once. If a run has equally many samples of each problem, and so does the
    other, this is the difference of their accuracies.
    """
    return sum(pair.difference for pair in pairs) / len(pairs)


def paired_test(pairs: Sequence[ProblemPair]) -> tuple[float, str]:
    """Return the two-sided p value of no difference, and the test that gave it, in words.

    One sample per problem: exact McNemar. Several: the sign-flip test of the problems' differences,
    which McNemar's equals for one sample; exact if feasible, else normal.
    """
    sizes = {size for pair in pairs for size in (pair.n_a, pair.n_b)}
    if sizes <= {1}:
        only_a = sum(pair.right_a > pair.right_b for pair in pairs)
        only_b = sum(pair.right_b > pair.right_a for pair in pairs)
        return mcnemar(only_a, only_b), "exact McNemar test"
    steps = [pair.right_b - pair.right_a for pair in pairs if pair.right_a != pair.right_b]
    if len(sizes) == 1 and len(steps) * sum(map(abs, steps)) <= MOST_STEPS:
        sums = {0: 1.0}  # the chance of each sum, over all patterns of signs
        for step in steps:
            flipped: dict[int, float] = {}
            for total, chance in sums.items():
                flipped[total + step] = flipped.get(total + step, 0.0) + chance / 2
                flipped[total - step] = flipped.get(total - step, 0.0) + chance / 2
            sums = flipped
        seen = abs(sum(steps))
        p = sum(chance for total, chance in sums.items() if abs(total) >= seen)
        return min(1.0, p), "exact sign-flip test by problem"
    differences = [pair.difference for pair in pairs]
    deviation = sqrt(sum(difference * difference for difference in differences))
    p = erfc(abs(sum(differences)) / deviation / sqrt(2)) if deviation else 1.0
    return p, "sign-flip test by problem, normal approximation"


def paired_interval(pairs: Sequence[ProblemPair]) -> tuple[Interval, str]:
    """Return the 95 % interval of `mean_difference` and its method, in words.

    One sample per problem: Tango's score interval, which is also accurate for few flips. Several:
    the bootstrap over problems, each with all its samples in both runs; where few problems differ
    it is too narrow, and without any it has no width, so that a score interval takes its place.
    """
    n = len(pairs)
    if all(pair.n_a == pair.n_b == 1 for pair in pairs):
        flips = Counter(pair.right_b - pair.right_a for pair in pairs)
        return tango(flips[1], flips[-1], n), "score interval (Tango)"
    differences = [pair.difference for pair in pairs]
    are_equal = max(differences) - min(differences) < 1e-12  # except for rounding
    if sum(map(bool, differences)) >= LEAST_DIFFERING and not are_equal:
        drawn = bootstrap(differences, lambda drawn: sum(drawn) / n)
        how = f"bootstrap over problems, {RESAMPLES} resamples, seed 0"
        return drawn or Interval(-1.0, 1.0), how
    return _score_interval(differences, are_equal), "score interval by problem"


def _score_interval(differences: Sequence[float], are_equal: bool) -> Interval:
    """Return a score interval of the mean of differences in [-1, 1], also if few are not 0.

    The wider bound of two: one inverts the test of a mean with the mean square around it as its
    variance, the other is Tango's for flips of one size with the observed mean and mean square.
    Both exclude 0 exactly if `paired_test` in its normal form has p < 0.05. If all differences are
    equal, it is symmetric.
    """
    n, freedom = len(differences), len(differences) - Z95 * Z95
    if not any(differences):
        return tango(0, 0, n)
    if freedom <= 0:
        return Interval(-1.0, 1.0)
    mean = sum(differences) / n
    gained = sum(difference for difference in differences if difference > 0)
    lost = -sum(difference for difference in differences if difference < 0)
    square = sum(difference * difference for difference in differences)
    size = square / (gained + lost)
    low, high = (size * bound for bound in tango(gained / size, lost / size, n))
    half = Z95 * sqrt(max(0.0, square / n - mean * mean) / freedom)
    if are_equal:
        half = max(mean - low, high - mean)
    return Interval(max(-1.0, min(low, mean - half)), min(1.0, max(high, mean + half)))


def bootstrap(
    units: Sequence[Unit],
    statistic: Callable[[Sequence[Unit]], float | None],
    resamples: int = RESAMPLES,
) -> Interval | None:
    """Return the 95 % percentile interval of a statistic over units drawn with replacement.

    Resamples for which the statistic is None are left out; None if that leaves none, or without
    units. The same units give the same interval.
    """
    source = random.Random(0)  # noqa: S311  (statistics, no secret)
    drawn = (
        statistic(source.choices(units, k=len(units))) for _ in range(resamples if units else 0)
    )
    values = sorted(value for value in drawn if value is not None)
    if len(values) < 2:
        return Interval(values[0], values[0]) if values else None
    from statistics import quantiles

    cuts = quantiles(values, n=40, method="inclusive")
    return Interval(cuts[0], cuts[-1])


def tango(gained: float, lost: float, n: int) -> Interval:
    """Return the score interval of a difference of paired proportions, (gained - lost) / n.

    gained, lost: problems out of n that changed to right, and from right. Source: Tango 1998,
    Statistics in Medicine 17:891, equations 3 and 4.
    """

    def score(delta: float) -> float:
        """Return the score statistic of the hypothesis that the true difference is delta."""
        distance = gained - lost - n * delta
        linear = (2 * n - gained + lost) * delta - gained - lost
        constant = -lost * delta * (1 - delta)
        root = sqrt(max(0.0, linear * linear - 8 * n * constant))
        chance = (root - linear) / (4 * n)  # the likeliest probability of a loss, given delta
        variance = n * (2 * chance + delta * (1 - delta))
        if variance <= 0:
            return 0.0 if abs(distance) < 1e-12 else float("inf")
        return distance / sqrt(variance)

    bounds = []
    for outside in (-1.0, 1.0):
        inside = (gained - lost) / n
        for _ in range(BISECTIONS):
            middle = (inside + outside) / 2
            if abs(score(middle)) <= Z95:
                inside = middle
            else:
                outside = middle
        bounds.append(inside)
    return Interval(*bounds)


def unpaired(
    a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]
) -> tuple[float, Interval, float]:
    """Return the difference of two runs that share no problems, its interval and its p value.

    a, b: (right, n) by problem. Interval: Newcombe's (1998, Statistics in Medicine 17:873, method
    10) of the two Wilson intervals, clustered by problem. p: the pooled z test of two proportions,
    over the problems' shares if there are several samples. Tools without a paired test apply it to
    pairs too.
    """
    mean_a, mean_b = mean_share(a), mean_share(b)
    low_a, high_a = clustered_wilson(a)
    low_b, high_b = clustered_wilson(b)
    gap = mean_b - mean_a
    low = gap - sqrt((mean_b - low_b) ** 2 + (high_a - mean_a) ** 2)
    high = gap + sqrt((high_b - mean_b) ** 2 + (mean_a - low_a) ** 2)
    both = [right / size for right, size in (*a, *b)]
    mean = sum(both) / len(both)
    variance = sum((share - mean) ** 2 for share in both) / len(both)
    error = sqrt(variance * (1 / len(a) + 1 / len(b)))
    p = erfc(abs(gap) / error / sqrt(2)) if error else 1.0
    return gap, Interval(max(-1.0, low), min(1.0, high)), p


# Power, for pairs of problems. Source: Connor 1987, Biometrics 43:207 (the normal approximation of
# McNemar's test): n problems detect a difference d at the 5 % level, two-sided, with 80 % power if
# d sqrt(n) = Z95 sqrt(D) + Z80 sqrt(D - d^2), where D is the discordance: the mean square of the
# problems' differences, with one sample per problem the share that flips.


def minimum_detectable(n: int, discordance: float, largest: float) -> float | None:
    """Return the smallest difference that n problems detect with 80 % power, None for none.

    Assumes that the sizes of the problems' differences stay the same; largest: their mean, which a
    difference cannot exceed.
    """
    root = discordance * (n + Z80**2 - Z95**2)
    if root <= 0:
        return None
    least = (Z95 * sqrt(n * discordance) + Z80 * sqrt(root)) / (n + Z80**2)
    return least if least <= min(largest, 1.0) else None


def problems_needed(discordance: float, difference: float) -> int | None:
    """Return how many problems detect a difference of this size with 80 % power, None for 0."""
    size = abs(difference)
    if not size or discordance <= 0:
        return None
    remaining = max(0.0, discordance - size * size)
    return ceil(((Z95 * sqrt(discordance) + Z80 * sqrt(remaining)) / size) ** 2)


def problems_for_margin(discordance: float, margin: float) -> int:
    """Return how many problems exclude a loss of `margin` (a share) of equal runs with 80 % power.

    Excluded means that the 95 % interval of the difference is above -margin.
    """
    return ceil(((Z95 + Z80) / margin) ** 2 * discordance)
