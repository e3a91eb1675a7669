"""Where a run is right: by the problem's length and size, under other labels, over k samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

from gradeschool.answers.numbers import normalize
from gradeschool.problem import MARKER, Problem
from gradeschool.reports.page.verdicts import Judged, Share, share_of, share_of_clusters
from gradeschool.scorer import Scorer
from gradeschool.scoring.table import OUTCOMES, tally_by_problem

MARK = "<<"  # opens a calculator annotation in a reference solution: one for each step
SIZES = ((10, "0 to 9"), (100, "10 to 99"), (1000, "100 to 999"), (10_000, "1,000 to 9,999"))
LARGEST = "10,000 and more"
LENGTHS = ((30, "up to 29"), (40, "30 to 39"), (50, "40 to 49"), (65, "50 to 64"))
LONGEST = "65 and more"
MOST_STEPS = 8


class Slice(NamedTuple):
    """The completions whose problem falls into one class."""

    label: str
    problems: int
    share: Share


class Slices(NamedTuple):
    """One way to divide the problems, with the accuracy in each class, in order."""

    title: str
    unit: str
    classes: tuple[Slice, ...]


def slices_of(judged: Judged) -> list[Slices]:
    """Return accuracy by steps of the reference solution, size of the gold, words asked."""
    ways: tuple[tuple[str, str, Callable[[Problem], tuple[int, str] | None]], ...] = (
        ("Steps of the reference solution", "steps", _by_steps),
        ("Size of the answer", "", _by_size),
        ("Length of the question", "words", _by_length),
    )
    return [Slices(title, unit, _divided(judged, key)) for title, unit, key in ways]


def steps_of(problem: Problem) -> int:
    """Return the steps of a reference solution: calculator marks, else its lines; 0: none given."""
    marks = problem.solution.count(MARK)
    body = problem.solution.rpartition(MARKER)[0]
    return marks or sum(bool(line.strip()) for line in body.split("\n"))


def _divided(judged: Judged, key: Callable[[Problem], tuple[int, str] | None]) -> tuple[Slice, ...]:
    classes: dict[tuple[int, str], list[int]] = {}
    for at, entry in enumerate(judged.run.entries):
        found = key(entry.problem)
        if found is not None:
            classes.setdefault(found, []).append(at)
    return tuple(
        Slice(
            label,
            len({judged.run.entries[at].problem.id for at in places}),
            share_of(judged, judged.headline, places),
        )
        for (_, label), places in sorted(classes.items())
    )


def _by_steps(problem: Problem) -> tuple[int, str] | None:
    steps = min(steps_of(problem), MOST_STEPS)
    if not steps:
        return None
    return steps, f"{steps} and more" if steps == MOST_STEPS else str(steps)


def _by_size(problem: Problem) -> tuple[int, str] | None:
    try:
        size = abs(Fraction(normalize(problem.gold)))
    except (ValueError, ZeroDivisionError):
        return None
    return next(((limit, name) for limit, name in SIZES if size < limit), (10**9, LARGEST))


def _by_length(problem: Problem) -> tuple[int, str] | None:
    words = len(problem.question.split())
    if not words:
        return None
    return next(((limit, name) for limit, name in LENGTHS if words < limit), (10**9, LONGEST))


class Platinum(NamedTuple):
    """A run under GSM8K-Platinum's labels: removed problems are out, revised golds count."""

    share: Share
    removed: int
    revised: int


def platinum_of(
    judged: Judged, scorer: Scorer, changes: Mapping[str, Problem | None]
) -> Platinum | None:
    """Return the headline under Platinum's labels; None where nothing is known to be disputed.

    changes: the problems that it relabels, None for those that it removed.
    """
    if not changes:
        return None
    outcomes: list[tuple[str, int]] = []
    removed = revised = 0
    for codes, entry in zip(judged.codes, judged.run.entries, strict=True):
        problem, outcome = entry.problem, codes[judged.headline]
        if problem.id in changes and not entry.error:
            changed = changes[problem.id]
            if changed is None:
                removed += 1
                continue
            revised += 1
            outcome = OUTCOMES.index(scorer.judge(entry.text, changed).outcome)
        outcomes.append((problem.id, outcome))
    share = share_of_clusters(list(tally_by_problem(outcomes).values()))
    return Platinum(share, removed, revised)


def samples_of(judged: Judged) -> int:
    """Return how many samples most problems have."""
    counts = Counter(entry.problem.id for entry in judged.run.entries)
    return Counter(counts.values()).most_common(1)[0][0] if counts else 0
