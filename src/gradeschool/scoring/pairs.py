"""Every run compared with every other, corrected for the number of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradeschool.scoring.compare import Comparison, Outcomes, compare
from gradeschool.scoring.paired import holm


def all_pairs(outcomes: Sequence[Outcomes]) -> dict[tuple[int, int], Comparison]:
    """Return the comparison of each run with each earlier one, by their places (later, earlier).

    p_holm is corrected for all pairs. Raises InputError where runs judge different problems.
    """
    found = {
        (later, earlier): comparison
        for earlier in range(len(outcomes) - 1)
        for later, comparison in enumerate(compare(outcomes[earlier:]), start=earlier + 1)
    }
    corrected = holm([one.p for one in found.values()])
    return {
        places: replace(one, p_holm=p)
        for (places, one), p in zip(found.items(), corrected, strict=True)
    }


def is_cheap(outcomes: Sequence[Outcomes]) -> bool:
    """Tell whether intervals need no resampling: one sample of each problem."""
    return all(tally.judged == 1 for one in outcomes for tally in one.tallies.values())
