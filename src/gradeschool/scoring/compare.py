"""Runs compared problem by problem under one scorer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from gradeschool.errors import InputError
from gradeschool.problem import Problem
from gradeschool.scorer import Scorer
from gradeschool.scoring.collect import Run
from gradeschool.scoring.matrix import CORRECT, ERROR, Matrix
from gradeschool.scoring.paired import (
    Pair,
    holm,
    mean_difference,
    paired_interval,
    paired_test,
    unpaired,
)
from gradeschool.scoring.power import minimum_detectable, problems_needed, spread
from gradeschool.scoring.statistics import Interval, clustered_wilson

SHOWN_IDS = 5


class Tally(NamedTuple):
    """The samples of one problem: how many are right, and how many a scorer could judge."""

    correct: int
    judged: int


@dataclass(frozen=True, slots=True)
class Outcomes:
    """One run under one scorer, by problem id. `unjudged`: samples that are errors, left out."""

    run: str
    problems: Mapping[str, Problem]
    tallies: Mapping[str, Tally]
    unjudged: int

    @property
    def accuracy(self) -> float:
        """Return the mean over problems of the share of right samples."""
        shares = [tally.correct / tally.judged for tally in self.tallies.values()]
        return sum(shares) / len(shares) if shares else 0.0

    @property
    def interval(self) -> Interval:
        """Return the 95 % interval of the accuracy, clustered by problem."""
        return clustered_wilson(list(self.tallies.values()))


def outcomes_of(run: Run, scorer: Scorer) -> Outcomes:
    """Judge every sample of a run; errors are counted and left out, never taken for wrong."""
    matrix = Matrix([scorer])
    usable = [s for s in run.samples if s.problem is not None and not s.error]
    matrix.expect((sample.text, sample.problem) for sample in usable if sample.problem)
    problems: dict[str, Problem] = {}
    counts: dict[str, list[int]] = {}
    unjudged = len(run.samples) - len(usable)
    for sample in usable:
        assert sample.problem is not None  # noqa: S101  (for the type checker)
        code = matrix.codes(sample.text, sample.problem)[0]
        if code == ERROR:
            unjudged += 1
            continue
        problems[sample.problem.id] = sample.problem
        count = counts.setdefault(sample.problem.id, [0, 0])
        count[0] += code == CORRECT
        count[1] += 1
    if not counts:
        raise InputError(f"the run {run.name!r} holds no completion that {scorer.name!r} can judge")
    tallies = {id: Tally(*count) for id, count in counts.items()}
    return Outcomes(run.name, problems, tallies, unjudged)


class Change(NamedTuple):
    """A problem on which two runs differ: the share of right samples in each."""

    problem: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """One run against the first; every difference is `run` minus `baseline`, -1..1.

    n: problems that both judged; 0 for an unpaired comparison. accuracy_a, accuracy_b: of those
    problems alone. p_holm: p corrected for the number of comparisons made. p_unpaired: the test
    that ignores the pairing, for comparison with tools that have no other. detectable: the smallest
    true difference that this many problems find with 80 % power. needed: problems that would find
    the difference seen with that power.
    """

    baseline: str
    run: str
    n: int
    accuracy_a: float
    accuracy_b: float
    difference: float
    ci95: Interval
    ci_method: str
    p: float
    p_method: str
    p_holm: float
    p_unpaired: float
    gained: tuple[Change, ...] = ()
    lost: tuple[Change, ...] = ()
    detectable: float | None = None
    needed: int | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values, differences as shares."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        fields["ci95"] = list(self.ci95)
        for side in ("gained", "lost"):
            fields[side] = [change._asdict() for change in fields[side]]
        return fields


def shared_by_all(outcomes: Sequence[Outcomes]) -> list[Outcomes]:
    """Return runs with only those problems that every one of them holds.

    They stay as they are where there is none: `compare` says so.
    """
    shared = set.intersection(*(set(one.tallies) for one in outcomes))
    if not shared:
        return list(outcomes)
    return [
        replace(one, tallies={id: tally for id, tally in one.tallies.items() if id in shared})
        for one in outcomes
    ]


def compare(outcomes: Sequence[Outcomes], common: bool = False, seed: int = 0) -> list[Comparison]:
    """Compare every run with the first, paired by problem.

    common: compare on the problems that both hold where the sets differ. Raises InputError where
    they differ without it, and where an id means two problems.
    """
    first = outcomes[0]
    return _corrected([_paired(first, other, common, seed) for other in outcomes[1:]])


def compare_unpaired(outcomes: Sequence[Outcomes]) -> list[Comparison]:
    """Compare every run with the first as if their problems had nothing in common."""
    return _corrected([_unpaired(outcomes[0], other) for other in outcomes[1:]])


def _corrected(comparisons: list[Comparison]) -> list[Comparison]:
    ps = holm([one.p for one in comparisons])
    return [replace(one, p_holm=p) for one, p in zip(comparisons, ps, strict=True)]


def _unpaired(a: Outcomes, b: Outcomes) -> Comparison:
    found = unpaired(list(a.tallies.values()), list(b.tallies.values()))
    return Comparison(
        baseline=a.run,
        run=b.run,
        n=0,
        accuracy_a=a.accuracy,
        accuracy_b=b.accuracy,
        difference=found.difference,
        ci95=found.interval,
        ci_method="unpaired score interval (Newcombe)",
        p=found.p,
        p_method="unpaired z test",
        p_holm=found.p,
        p_unpaired=found.p,
    )


def _paired(a: Outcomes, b: Outcomes, common: bool, seed: int) -> Comparison:
    pairs = _pairs(a, b, common)
    both = list(pairs.values())
    n = len(both)
    interval, ci_method = paired_interval(both, seed)
    test = paired_test(both)
    alone = unpaired(
        [(pair.right_a, pair.n_a) for pair in both], [(pair.right_b, pair.n_b) for pair in both]
    )
    difference, discordance = mean_difference(both), spread(both)
    changes = [
        Change(id, pair.right_a / pair.n_a, pair.right_b / pair.n_b) for id, pair in pairs.items()
    ]
    changes.sort(key=lambda change: -abs(change.after - change.before))
    return Comparison(
        baseline=a.run,
        run=b.run,
        n=n,
        accuracy_a=sum(pair.right_a / pair.n_a for pair in both) / n,
        accuracy_b=sum(pair.right_b / pair.n_b for pair in both) / n,
        difference=difference,
        ci95=interval,
        ci_method=ci_method,
        p=test.p,
        p_method=test.how,
        p_holm=test.p,
        p_unpaired=alone.p,
        gained=tuple(change for change in changes if change.after > change.before),
        lost=tuple(change for change in changes if change.after < change.before),
        detectable=minimum_detectable(n, discordance),
        needed=problems_needed(discordance, difference),
    )


def _pairs(a: Outcomes, b: Outcomes, common: bool) -> dict[str, Pair]:
    shared = [id for id in a.tallies if id in b.tallies]
    for id in shared:
        _require_same(a, b, id)
    if not common:
        _require_same_set(a, b)
    if not shared:
        raise InputError(
            f"{a.run!r} and {b.run!r} share no problem; give --unpaired to compare them so"
        )
    return {id: Pair(*a.tallies[id], *b.tallies[id]) for id in shared}


def _require_same(a: Outcomes, b: Outcomes, id: str) -> None:
    ours, theirs = a.problems[id], b.problems[id]
    if (ours.question, ours.gold) != (theirs.question, theirs.gold):
        raise InputError(
            f"{a.run!r} and {b.run!r} mean different problems by the id {id!r}: "
            f"{ours.question[:60]!r} (gold {ours.gold!r}) and {theirs.question[:60]!r} "
            f"(gold {theirs.gold!r}); compare runs of one dataset, or give --unpaired"
        )


def _require_same_set(a: Outcomes, b: Outcomes) -> None:
    only_a = [id for id in a.tallies if id not in b.tallies]
    only_b = [id for id in b.tallies if id not in a.tallies]
    if not (only_a or only_b):
        return
    sides = [
        f"{len(ids)} only in {side.run!r} ({', '.join(ids[:SHOWN_IDS])}"
        f"{', ...' if len(ids) > SHOWN_IDS else ''})"
        for side, ids in ((a, only_a), (b, only_b))
        if ids
    ]
    raise InputError(
        f"the runs judge different problems: {' and '.join(sides)}; give --common to compare the "
        f"{len(a.tallies.keys() & b.tallies.keys())} that both have, or --unpaired"
    )
