"""Compares runs problem by problem: under one scorer, or one run under two scorers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from gradeschool.errors import InputError
from gradeschool.printable import accuracy_words, count, gain, p_value, points
from gradeschool.problem import Problem
from gradeschool.scorer import clip
from gradeschool.scoring import statistics
from gradeschool.scoring.table import ERROR, ScoredTable, Tally, nothing_judged

SHOWN_IDS = 5
GATE_LEVEL = 0.05


@dataclass(frozen=True)
class Outcomes:
    """One run under one scorer, by problem id.

    failed_samples: number of samples without a verdict, which are left out. scorer_errors: number
    of texts on which the scorer itself fails, by problem. unjudged_problems: ids of the problems of
    which the run has samples, none of which could be judged. misses: number of wrong samples of a
    problem, by kind of miss; {} if not counted. dataset: its name, "" if unknown.
    """

    run: str
    problems: Mapping[str, Problem]
    tallies: Mapping[str, Tally]
    failed_samples: int
    misses: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    unjudged_problems: tuple[str, ...] = ()
    dataset: str = ""
    scorer_errors: Mapping[str, int] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the run's name, its accuracy or the bounds of it, and its interval."""
        share = self.share
        return {
            "run": self.run,
            "problems": len(self.tallies),
            "accuracy": None if share.bounds else share.accuracy,
            **({"accuracy_bounds": list(share.bounds)} if share.bounds else {}),
            "ci95": list(share.interval),
        }

    @cached_property
    def share(self) -> statistics.Share:
        """The accuracy, its interval and, if the scorer fails on texts, its bounds."""
        ids = {**self.tallies, **self.scorer_errors}
        return statistics.share_of(
            (*self.tallies.get(id, (0, 0)), self.scorer_errors.get(id, 0)) for id in ids
        )


def outcomes_of(table: ScoredTable) -> Outcomes:
    """Return the outcomes of a run under the first scorer; errors are counted and left out.

    Raises InputError if the scorer can judge no completion.
    """
    run, tallies = table.run, table.tallies()
    if not tallies:
        raise nothing_judged(run.name, table.scorers.names[0])
    every = dict.fromkeys(problem.id for problem in run.problems() if problem)
    judged = zip(table.problems, table.outcomes, strict=True)
    return Outcomes(
        run.name,
        {problem.id: problem for problem in table.problems if problem.id in tallies},
        tallies,
        len(run.samples) - sum(tally.judged for tally in tallies.values()),
        unjudged_problems=tuple(id for id in every if id not in tallies),
        dataset=run.dataset,
        scorer_errors=Counter(problem.id for problem, outcomes in judged if outcomes[0] == ERROR),
    )


class Change(NamedTuple):
    """A problem on which two runs differ: the share of right samples in each."""

    problem: str
    before: float
    after: float


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """One run against the first; every difference is `run` minus `baseline`, -1..1.

    n: problems that both judged; 0 for an unpaired comparison. accuracy_a, accuracy_b: on those
    problems only. left_out: problems that both contain, without a judged completion in one or both.
    p_holm: p corrected for the number of comparisons.
    detectable: the smallest true difference that this many problems detect with 80 % power. needed:
    the number of problems that would detect the observed difference with that power.
    """

    baseline: str
    run: str
    n: int
    accuracy_a: float
    accuracy_b: float
    difference: float
    ci95: statistics.Interval
    ci_method: str
    p: float
    p_method: str
    p_holm: float
    gained: tuple[Change, ...] = ()
    lost: tuple[Change, ...] = ()
    detectable: float | None = None
    needed: int | None = None
    left_out: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return the difference in one line, in points."""
        change = gain(self.difference, self.ci95, 2)
        return f"<{self.run} against {self.baseline}: {change} points, p {p_value(self.p_holm)}>"

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values, differences as shares."""
        fields = asdict(self)
        for side in ("gained", "lost"):
            fields[side] = [change._asdict() for change in fields[side]]
        return fields


def shared_by_all(outcomes: Sequence[Outcomes]) -> list[Outcomes]:
    """Return runs restricted to the problems that all of them contain.

    They are unchanged if there is no such problem: `compare` reports it.
    """
    shared = set.intersection(*(set(run.tallies) for run in outcomes))
    if not shared:
        return list(outcomes)

    def restrict(by_problem: Mapping[str, Any]) -> dict[str, Any]:
        return {id: value for id, value in by_problem.items() if id in shared}

    return [replace(run, tallies=restrict(run.tallies), scorer_errors=restrict(run.scorer_errors))
            for run in outcomes]  # fmt: skip


def compare(outcomes: Sequence[Outcomes], common: bool = False) -> list[Comparison]:
    """Compare every run with the first, paired by problem.

    A problem without a judged completion in one of two runs is left out of both. common: compare on
    the common problems if the sets differ. Raises InputError if they differ without it, and if an
    id means two problems.
    """
    first = outcomes[0]
    return holm_corrected([_paired(first, other, common) for other in outcomes[1:]])


def compare_unpaired(outcomes: Sequence[Outcomes]) -> list[Comparison]:
    """Compare every run with the first as if they shared no problems."""
    a, comparisons = outcomes[0], []
    for b in outcomes[1:]:
        difference, interval, p = statistics.unpaired(
            list(a.tallies.values()), list(b.tallies.values())
        )
        comparisons.append(
            Comparison(a.run, b.run, 0, statistics.mean_share(a.tallies.values()),
                       statistics.mean_share(b.tallies.values()), difference, interval,
                       "unpaired score interval (Newcombe)", p, "unpaired z test", p)
        )  # fmt: skip
    return holm_corrected(comparisons)


def holm_corrected(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return comparisons whose p_holm is corrected for their number."""
    ps = statistics.holm([comparison.p for comparison in comparisons])
    return [replace(comparison, p_holm=p) for comparison, p in zip(comparisons, ps, strict=True)]


def _paired(a: Outcomes, b: Outcomes, common: bool) -> Comparison:
    shared = [id for id in a.tallies if id in b.tallies]
    for id in shared:
        first, second = a.problems[id], b.problems[id]
        if (first.question, first.gold) != (second.question, second.gold):
            raise InputError(
                f"{a.run!r} and {b.run!r} use the id {id!r} for different problems: "
                f"{first.question[:60]!r} (gold {first.gold!r}) and {second.question[:60]!r} "
                f"(gold {second.gold!r}); compare runs of one dataset, or give --unpaired"
            )
    only = []  # what the other run does not contain; a problem without a judged completion is there
    in_a, in_b = ({*run.tallies, *run.unjudged_problems} for run in (a, b))
    for run, others in ((a, in_b), (b, in_a)):
        if ids := [id for id in run.tallies if id not in others]:
            asked = f", which asks {clip(run.problems[ids[0]].question)!r}"
            only.append(f"{len(ids)} only in {run.run!r} ({_shown(ids)}{asked})")
    if only and not common:
        only += [left_out_text(run.run, run.unjudged_problems) for run in (a, b)
                 if run.unjudged_problems]  # fmt: skip
        raise InputError(
            f"the runs judge different problems: {'; '.join(only)}; give --common to compare "
            f"the {len(shared)} common ones, or --unpaired"
        )
    if not shared:
        raise InputError(
            f"{a.run!r} and {b.run!r} share no problem; give --unpaired to compare them anyway"
        )
    pairs = [statistics.ProblemPair(*a.tallies[id], *b.tallies[id]) for id in shared]
    changes = [Change(id, pair.right_a / pair.n_a, pair.right_b / pair.n_b)
               for id, pair in zip(shared, pairs, strict=True)]  # fmt: skip
    changes.sort(key=lambda change: -abs(change.after - change.before))
    n, difference = len(pairs), statistics.mean_difference(pairs)
    discordance = sum(pair.difference**2 for pair in pairs) / n
    largest = sum(abs(pair.difference) for pair in pairs) / n
    interval, ci_method = statistics.paired_interval(pairs)
    p, p_method = statistics.paired_test(pairs)
    unjudged = dict.fromkeys((*a.unjudged_problems, *b.unjudged_problems))
    return Comparison(
        a.run, b.run, n, statistics.mean_share(pair[:2] for pair in pairs),
        statistics.mean_share(pair[2:] for pair in pairs), difference, interval, ci_method, p,
        p_method, p,
        gained=tuple(change for change in changes if change.after > change.before),
        lost=tuple(change for change in changes if change.after < change.before),
        detectable=statistics.minimum_detectable(n, discordance, largest),
        needed=statistics.problems_needed(discordance, difference),
        left_out=tuple(id for id in unjudged if id in in_a and id in in_b),
    )  # fmt: skip


def left_out_text(run: str, ids: Sequence[str]) -> str:
    """Say which problems a comparison does not use, as a run has no judged completion of them."""
    problems = count(len(ids), "problem")
    return f"{problems} left out: no completion in {run!r} that can be judged ({_shown(ids)})"


def _shown(ids: Sequence[str]) -> str:
    return f"{', '.join(ids[:SHOWN_IDS])}{', ...' if len(ids) > SHOWN_IDS else ''}"


class Threshold(NamedTuple):
    """A threshold of one run, whether it is met, and the figures in words."""

    run: str
    met: bool
    text: str


def check(
    outcomes: Sequence[Outcomes],
    comparisons: Sequence[Comparison],
    at_least: float | None,
    margin: float | None,
) -> list[Threshold]:
    """Return the thresholds that each run must meet.

    at_least: the accuracy to reach, as a share. margin: points by which a run may be worse than the
    first; met only if the whole 95 % interval of the difference is above that (non-inferiority at
    2.5 %, one-sided). With a margin, the first run is the baseline and has no threshold.
    """
    thresholds = []
    if at_least is not None:
        for run in outcomes if margin is None else outcomes[1:]:
            shown = f"accuracy {accuracy_words(run.share.accuracy, run.share.bounds)}"
            needed = f"at least {100 * at_least:g} % is required"
            is_met = run.share.accuracy >= at_least - 1e-12
            thresholds.append(Threshold(run.run, is_met, f"{run.run}: {shown}, {needed}"))
    if margin is not None:
        for other in comparisons:
            met = 100 * other.ci95.low > -margin
            low = f"the interval's lower bound is {points(other.ci95.low)} points"
            text = f"{other.run} against {other.baseline}: {low}, it must be above -{margin:g}"
            thresholds.append(Threshold(other.run, met, text + _needed_for(other, margin)))
    return thresholds


def gate(
    outcomes: Sequence[Outcomes],
    comparisons: Sequence[Comparison],
    margin: float,
    failures: int = 0,
) -> list[Threshold]:
    """Return the thresholds of a build against the last good run, which is the first.

    A build fails if its accuracy is lower and the one-sided p is below 5 % (McNemar's test if each
    problem has one sample; corrected for several runs), so at most one in twenty equal builds
    fails. Failed samples have a threshold of their own and never count as wrong: up to `failures`
    samples without a verdict, or problems that only the good run has, are accepted. The text says
    whether a loss of `margin` points is excluded, and how many problems that takes.
    """
    good = outcomes[0]
    thresholds = []
    for run, other in zip(outcomes[1:], comparisons, strict=True):
        failed = max(run.failed_samples, len(good.tallies.keys() - run.tallies.keys()))
        counts = f"{count(failed, 'sample')} failed ({good.failed_samples} in {good.run})"
        text = f"{run.run}: {counts}, at most {failures} are accepted"
        thresholds.append(Threshold(run.run, failed <= failures, text))
        p = other.p_holm / 2 if other.difference < 0 else 1 - other.p_holm / 2
        shown = f"{points(other.difference)} points, one-sided p {p_value(p)}"
        is_excluded = "excluded" if 100 * other.ci95.low > -margin else "not excluded"
        loss = f"a loss of {margin:g} is {is_excluded}{_needed_for(other, margin)}"
        text = f"{run.run} against {good.run}: {shown} (fails below {GATE_LEVEL:g}); {loss}"
        thresholds.append(Threshold(run.run, p >= GATE_LEVEL, text))
    return thresholds


def _needed_for(comparison: Comparison, margin: float) -> str:
    """Return in words how many problems exclude a loss of that many points.

    "" if it is excluded, or if that is unknown.
    """
    changes = (*comparison.gained, *comparison.lost)
    squares = sum((change.after - change.before) ** 2 for change in changes)
    if 100 * comparison.ci95.low > -margin or not (squares and margin and comparison.n):
        return ""
    needed = statistics.problems_for_margin(squares / comparison.n, margin / 100)
    return f" (an equally good run needs {needed:,} problems to exclude it with 80 % power)"
