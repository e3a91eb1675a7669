"""When compiled code judges completions, and how a matrix asks it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from gradeschool.protocols.registry import all_scorers
from gradeschool.scorer import Scorer

if TYPE_CHECKING:
    from gradeschool.scoring.compiled.batch import Batches, Judge

# What no kernel has told (`compiled.numbers.ASK`).
NOT_TOLD = 7
# From so many completions on it pays to load machine code that is on disk (about a second), or to
# compile it first (most of a minute, once for each version and machine).
TO_LOAD, TO_COMPILE = 50_000, 1_000_000
# With fewer scorers that kernels know, asking them is as quick.
FEWEST_SCORERS = 4


def compiled_for(
    scorers: Sequence[Scorer], group_of: Sequence[int], asked_for: int
) -> Batches | None:
    """Return the kernel for some scorers; None where it does not pay or numba is missing."""
    if asked_for < TO_LOAD or find_spec("numba") is None:
        return None
    from gradeschool.scoring.compiled.case import SCORERS

    known = all_scorers()
    names: list[list[str]] = [[] for _ in range(max(group_of, default=-1) + 1)]
    for scorer, place in zip(scorers, group_of, strict=True):
        if scorer.name in SCORERS and known.get(scorer.name) is scorer:
            names[place].append(scorer.name)
    if sum(map(bool, names)) < FEWEST_SCORERS:
        return None
    judge = _judge()
    from gradeschool.scoring.compiled.batch import Batches

    return Batches(names, judge) if judge.is_quick or asked_for >= TO_COMPILE else None


@lru_cache(1)
def _judge() -> Judge:
    from gradeschool.scoring.compiled.batch import stamped_judge

    return stamped_judge()
