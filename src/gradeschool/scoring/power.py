"""How small a difference a paired comparison can see."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from statistics import NormalDist

from gradeschool.scoring.paired import Pair
from gradeschool.scoring.statistics import Z95

NORMAL = NormalDist()
POWER = 0.8
BISECTIONS = 60


def spread(pairs: Sequence[Pair]) -> float:
    """Return the mean squared difference; with one sample a problem, the share that flipped."""
    return sum(pair.difference**2 for pair in pairs) / len(pairs) if pairs else 0.0


def paired_power(n: int, discordance: float, difference: float) -> float:
    """Return the chance that a true difference is found at the 5 % level, two-sided.

    n: problems. discordance: `spread` of the pairs, at least difference squared. Source: Connor
    1987, Biometrics 43:207 (normal approximation of McNemar's test).
    """
    size = abs(difference)
    if n <= 0 or discordance <= 0:
        return 0.0
    remaining = discordance - size * size
    reach = size * sqrt(n) - Z95 * sqrt(discordance)
    if remaining <= 0:
        return float(reach > 0)
    return NORMAL.cdf(reach / sqrt(remaining))


def minimum_detectable(n: int, discordance: float, power: float = POWER) -> float | None:
    """Return the smallest difference that n problems find with this power, None where none is.

    The share of problems that flip is taken to be what it is; a difference cannot exceed it.
    """
    low, high = 0.0, min(discordance, 1.0)
    if paired_power(n, discordance, high) < power:
        return None
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if paired_power(n, discordance, middle) < power:
            low = middle
        else:
            high = middle
    return high


def problems_needed(discordance: float, difference: float, power: float = POWER) -> int | None:
    """Return how many problems would find a true difference of this size, None for no size."""
    size = abs(difference)
    if not size or discordance <= 0:
        return None
    remaining = max(0.0, discordance - size * size)
    root = Z95 * sqrt(discordance) + NORMAL.inv_cdf(power) * sqrt(remaining)
    return ceil((root / size) ** 2)
