"""What a verifier is worth at test time: every way to pick an answer out of N completions.

Works on recorded scores alone, without a model. Every problem counts once, however many
completions it has; intervals and tests are over problems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gradeschool.errors import InputError
from gradeschool.scoring.at_k import steps
from gradeschool.scoring.statistics import (
    Interval,
    Pair,
    clustered_wilson,
    paired_interval,
    paired_test,
    wilson_of_mean,
)
from gradeschool.verifier.curves import Point, point
from gradeschool.verifier.separation import Bucket, Within, auc, calibration, within
from gradeschool.verifier.ways import (
    MAJORITY,
    MEAN,
    SCORES,
    STRATEGIES,
    VOTERS,
    Case,
    Picked,
    Ways,
    pick,
)


class Difference(NamedTuple):
    """How much better a way is than another, over the problems that both have."""

    difference: float
    ci95: Interval
    p: float
    problems: int


class Result(NamedTuple):
    """One way on all completions of every problem; `against`: by the other's name."""

    name: str
    title: str
    accuracy: float
    ci95: Interval
    against: Mapping[str, Difference]


@dataclass(frozen=True, slots=True)
class Part:
    """The results on the problems of one family, or on all of them.

    unique_solutions, unique_answers: how many different ones a problem has in the mean. mixed: how
    many problems have right and wrong completions. aucs: by score ("verifier", "logprob", "sum"):
    over all completions, and within problems.
    """

    family: str
    problems: int
    completions: int
    unique_solutions: float
    unique_answers: float
    mixed: int
    results: Sequence[Result]
    aucs: Mapping[str, tuple[float | None, Within]]

    def result(self, name: str) -> Result | None:
        """Return the result of a way, None where it was not to be had."""
        return next((one for one in self.results if one.name == name), None)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Everything that is known of one set of scored completions.

    curves: by way, a point for each number of completions. top: for each number of completions, a
    point for each number of voters. families: the same results by family, () for one family.
    """

    whole: Part
    families: Sequence[Part]
    curves: Mapping[str, Sequence[Point]]
    top: Mapping[int, Sequence[Point]]
    buckets: Sequence[Bucket]
    most: int
    ways: Ways
    has_logprob: bool


def rank(
    cases: Sequence[Case],
    *,
    has_logprob: bool,
    baselines: Mapping[str, Mapping[str, tuple[int, int]]] | None = None,
    ways: Ways | None = None,
) -> Ranking:
    """Return what every way to pick makes of scored completions.

    baselines: by name, (right, completions) of each problem of another run. Raises InputError where
    there is no completion, or a baseline shares no problem.
    """
    if not any(case.options for case in cases):
        raise InputError("there is no scored completion to rank; score the run first")
    ways = ways or Ways()
    most = max(len(case.options) for case in cases)
    picked = [pick(case, has_logprob, ways, steps(most)) for case in cases if case.options]
    others = dict(baselines or {})
    families = sorted({case.family for case in cases})
    parts = [
        _part(family, [one for one in picked if one.case.family == family], ways, others)
        for family in families
    ]
    options = [option for one in picked for option in one.case.options]
    return Ranking(
        whole=_part("all", picked, ways, others),
        families=parts if len(parts) > 1 else (),
        curves=_curves(picked, most),
        top=_top_curves(picked, most),
        buckets=calibration([one.score for one in options], [one.right for one in options]),
        most=most,
        ways=ways,
        has_logprob=has_logprob,
    )


def _part(
    family: str,
    picked: Sequence[Picked],
    ways: Ways,
    baselines: Mapping[str, Mapping[str, tuple[int, int]]],
) -> Part:
    others = {MAJORITY: {one.case.problem: _counted(one, MAJORITY) for one in picked}}
    others.update({name: dict(found) for name, found in baselines.items()})
    known = picked[0].by_way
    cases = [one.case for one in picked]
    answers = [{option.answer for option in case.options} - {None} for case in cases]
    return Part(
        family=family,
        problems=len(cases),
        completions=sum(len(case.options) for case in cases),
        unique_solutions=sum(case.unique for case in cases) / len(cases),
        unique_answers=sum(map(len, answers)) / len(cases),
        mixed=sum(len({option.right for option in case.options}) > 1 for case in cases),
        results=[_result(name, picked, ways, others) for name in STRATEGIES if name in known],
        aucs={name: _aucs(name, cases) for name in SCORES if name == "verifier" or name in known},
    )


def _counted(one: Picked, name: str) -> tuple[int, int]:
    """Return how many of how many tries are right: of all samples for the mean, else 0 or 1."""
    if name == MEAN:
        return sum(option.right for option in one.case.options), len(one.case.options)
    return round(one.by_way[name][-1]), 1


def _result(
    name: str,
    picked: Sequence[Picked],
    ways: Ways,
    others: Mapping[str, Mapping[str, tuple[int, int]]],
) -> Result:
    mine = {one.case.problem: _counted(one, name) for one in picked}
    shares = [right / count for right, count in mine.values()]
    against = {
        other: difference(theirs, mine)
        for other, theirs in others.items()
        if name not in (other, MEAN) and mine.keys() & theirs.keys()
    }
    title = STRATEGIES[name].format(voters=ways.voters, favour=f"{ways.favour:g}")
    interval = (
        clustered_wilson(list(mine.values()))
        if name != MEAN
        else wilson_of_mean(shares, sum(count for _, count in mine.values()))
    )
    return Result(name, title, sum(shares) / len(shares), interval, against)


def difference(
    before: Mapping[str, tuple[int, int]], after: Mapping[str, tuple[int, int]]
) -> Difference:
    """Return after minus before on the problems of both, each (right, completions) by problem."""
    shared = [id for id in after if id in before]
    pairs = [Pair(*before[id], *after[id]) for id in shared]
    gap = sum(pair.difference for pair in pairs) / len(pairs)
    return Difference(gap, paired_interval(pairs)[0], paired_test(pairs).p, len(pairs))


def _aucs(name: str, cases: Sequence[Case]) -> tuple[float | None, Within]:
    score = SCORES[name]
    by_problem = [
        ([score(one) for one in case.options], [one.right for one in case.options])
        for case in cases
    ]
    scores = [score for found, _ in by_problem for score in found]
    right = [one for _, found in by_problem for one in found]
    return auc(scores, right), within(by_problem)


def _curves(picked: Sequence[Picked], most: int) -> dict[str, list[Point]]:
    """Return the points of every way; a problem takes part up to the completions that it has."""
    found: dict[str, list[Point]] = {}
    for name in picked[0].by_way:
        for n in steps(most):
            enough = [one for one in picked if n in one.ns]
            values = [one.by_way[name][one.ns.index(n)] for one in enough]
            base = [one.by_way[MAJORITY][one.ns.index(n)] for one in enough]
            found.setdefault(name, []).append(point(n, values, base, max(1, most // n)))
    return found


def _top_curves(picked: Sequence[Picked], most: int) -> dict[int, list[Point]]:
    found: dict[int, list[Point]] = {}
    for n in steps(most):
        enough = [(one.top[at], one.by_way[MAJORITY][at]) for one in picked if n in one.ns
                  for at in [one.ns.index(n)]]  # fmt: skip
        ks = [k for k in (*VOTERS, most) if k <= n]
        ks = sorted({*ks, n}) if n == most else ks
        columns = min(len(top) for top, _ in enough)
        base = [majority for _, majority in enough]
        found[n] = [
            point(k, [top[at] for top, _ in enough], base, max(1, most // n))
            for at, k in enumerate(ks[:columns])
        ]
    return found
