"""Measure a verifier at test time: every strategy that picks one of N answers.

It needs only recorded scores, not a model. Every problem counts once, whatever its number of
completions; intervals and tests are over problems.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from gradeschool.errors import InputError
from gradeschool.formats.samples import ReadOptions
from gradeschool.formats.settings import mapping
from gradeschool.percentages import count
from gradeschool.problem import Problem
from gradeschool.scoring.at_k import steps
from gradeschool.scoring.samples import Warn
from gradeschool.scoring.sources import parted
from gradeschool.scoring.statistics import (
    Interval,
    Pair,
    clustered_wilson,
    interval_of_mean,
    mean_difference,
    mean_share,
    paired_interval,
    paired_test,
    wilson_of_mean,
)
from gradeschool.verifier.candidates import (
    CandidateRun,
    ProblemCandidates,
    one_run,
)
from gradeschool.verifier.scorers import (
    LOGPROB_READER,
    CandidateScorer,
    is_model,
    load_scorer,
)
from gradeschool.verifier.scores import (
    ScoreRow,
    ScoringProgress,
    add_scores,
    choose_scores,
    scores_path,
    stores_logprobs,
)
from gradeschool.verifier.selection import (
    COVERAGE,
    MAJORITY,
    MEAN,
    SCORES,
    STRATEGIES,
    Option,
    ProblemResult,
    RankedProblem,
    SelectionSettings,
    passes,
    pick,
    strategy_title,
)


class AccuracyGain(NamedTuple):
    """The gain of a strategy over another one, on the problems that both have."""

    difference: float
    ci95: Interval
    p: float
    problems: int


class StrategyResult(NamedTuple):
    """One strategy on all completions of every problem; `against`: gains by the other's name."""

    name: str
    title: str
    accuracy: float
    ci95: Interval
    against: Mapping[str, AccuracyGain]


@dataclass(frozen=True, slots=True)
class FamilyResults:
    """The results on the problems of one family, or on all of them.

    unique_solutions, unique_answers: mean number of distinct ones per problem. mixed: number of
    problems with right and wrong completions. aucs: by score ("verifier", "logprob", "sum"): over
    all completions, and within problems.
    """

    family: str
    problems: int
    completions: int
    unique_solutions: float
    unique_answers: float
    mixed: int
    results: Sequence[StrategyResult]
    aucs: Mapping[str, tuple[float | None, WithinAuc]]

    def result(self, name: str) -> StrategyResult | None:
        """Return the result of a strategy, None if there is none."""
        return next((result for result in self.results if result.name == name), None)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The results on one set of scored completions.

    curves: by strategy, a point for each number of completions. top: for each number of
    completions, a point for each number of voters. families: the same results by family, () for a
    single family. budgets: by number of tokens.
    """

    whole: FamilyResults
    families: Sequence[FamilyResults]
    curves: Mapping[str, Sequence[CurvePoint]]
    top: Mapping[int, Sequence[CurvePoint]]
    buckets: Sequence[Bucket]
    budgets: Sequence[BudgetPoint]
    most: int
    settings: SelectionSettings
    has_logprob: bool


def rank(
    cases: Sequence[RankedProblem],
    *,
    has_logprob: bool,
    stored: Collection[str] = (),
    baselines: Mapping[str, Mapping[str, tuple[int, int]]] | None = None,
    settings: SelectionSettings | None = None,
) -> Ranking:
    """Return the results of every strategy on scored completions.

    stored: see `RankInput`. baselines: by name, (right, completions) of each problem of another
    run. Raises InputError if there is no completion, or a baseline shares no problem.
    """
    if not any(case.options for case in cases):
        raise InputError("there are no scored completions to rank; score the run first")
    settings = settings or SelectionSettings()
    most = max(len(case.options) for case in cases)
    picked = [pick(case, has_logprob, settings, steps(most)) for case in cases if case.options]
    others = baselines or {}
    families = sorted({case.family for case in cases})
    parts = [
        _part(
            family,
            [outcome for outcome in picked if outcome.case.family == family],
            settings,
            others,
        )
        for family in families
    ]
    options = [option for outcome in picked for option in outcome.case.options]
    curves = curves_of(picked, most)
    return Ranking(
        whole=_part("all", picked, settings, others),
        families=parts if len(parts) > 1 else (),
        curves=curves,
        budgets=budget_curve(curves, cases, stored),
        top=top_curves_of(picked, most),
        buckets=calibration(
            [outcome.score for outcome in options],
            [outcome.right for outcome in options],
        ),
        most=most,
        settings=settings,
        has_logprob=has_logprob,
    )


def _part(
    family: str,
    picked: Sequence[ProblemResult],
    settings: SelectionSettings,
    baselines: Mapping[str, Mapping[str, tuple[int, int]]],
) -> FamilyResults:
    others = {MAJORITY: outcomes_of(picked, MAJORITY), **baselines}
    strategies = picked[0].by_strategy
    cases = [outcome.case for outcome in picked]
    answers = [{option.answer for option in case.options} - {None} for case in cases]
    return FamilyResults(
        family=family,
        problems=len(cases),
        completions=sum(len(case.options) for case in cases),
        unique_solutions=sum(case.unique for case in cases) / len(cases),
        unique_answers=sum(map(len, answers)) / len(cases),
        mixed=sum(len({option.right for option in case.options}) > 1 for case in cases),
        results=[
            _result(name, picked, settings, others) for name in STRATEGIES if name in strategies
        ],
        aucs={
            name: aucs_of(name, cases)
            for name in SCORES
            if name == "verifier" or name in strategies
        },
    )


def counted(outcome: ProblemResult, name: str) -> tuple[int, int]:
    """Return (right, tries): over all samples for the mean, else 0 or 1 of one."""
    if name == MEAN:
        return sum(option.right for option in outcome.case.options), len(outcome.case.options)
    return round(outcome.by_strategy[name][-1]), 1


def outcomes_of(picked: Iterable[ProblemResult], name: str) -> dict[str, tuple[int, int]]:
    """Return (right, tries) of a strategy by problem; see `counted`."""
    return {outcome.case.problem: counted(outcome, name) for outcome in picked}


def _result(
    name: str,
    picked: Sequence[ProblemResult],
    settings: SelectionSettings,
    others: Mapping[str, Mapping[str, tuple[int, int]]],
) -> StrategyResult:
    mine = outcomes_of(picked, name)
    shares = [right / count for right, count in mine.values()]
    against = {
        other: paired_difference(theirs, mine)
        for other, theirs in others.items()
        if name not in (other, MEAN) and mine.keys() & theirs.keys()
    }
    title = strategy_title(name, settings.voters, settings.share_weight)
    interval = (
        clustered_wilson(list(mine.values()))
        if name != MEAN
        else wilson_of_mean(shares, sum(count for _, count in mine.values()))
    )
    return StrategyResult(name, title, sum(shares) / len(shares), interval, against)


def paired_difference(
    before: Mapping[str, tuple[int, int]], after: Mapping[str, tuple[int, int]]
) -> AccuracyGain:
    """Return after minus before on common problems; both are (right, completions) by problem."""
    shared = [id for id in after if id in before]
    pairs = [Pair(*before[id], *after[id]) for id in shared]
    interval, _ = paired_interval(pairs)
    return AccuracyGain(mean_difference(pairs), interval, paired_test(pairs).p, len(pairs))


def aucs_of(name: str, cases: Sequence[RankedProblem]) -> tuple[float | None, WithinAuc]:
    """Return the AUC of a score (see SCORES) over all completions, and within problems."""
    score = SCORES[name]
    by_problem = [
        ([score(option) for option in case.options], [option.right for option in case.options])
        for case in cases
    ]
    scores = [score for values, _ in by_problem for score in values]
    right = [option for _, values in by_problem for option in values]
    return auc(scores, right), within(by_problem)


def curves_of(picked: Sequence[ProblemResult], most: int) -> dict[str, list[CurvePoint]]:
    """Return the points of every strategy; a problem counts up to its number of completions."""
    points: dict[str, list[CurvePoint]] = {}
    for name in picked[0].by_strategy:
        for n in steps(most):
            enough = [(outcome, outcome.ns.index(n)) for outcome in picked if n in outcome.ns]
            values = [outcome.by_strategy[name][place] for outcome, place in enough]
            base = [outcome.by_strategy[MAJORITY][place] for outcome, place in enough]
            groups = most if name == MEAN else max(1, most // n)  # MEAN is over all at every n
            points.setdefault(name, []).append(point(n, values, base, groups))
    return points


def top_curves_of(picked: Sequence[ProblemResult], most: int) -> dict[int, list[CurvePoint]]:
    """Return the points over the numbers of voters for each number of completions."""
    points: dict[int, list[CurvePoint]] = {}
    for n in steps(most):
        enough = [(outcome, outcome.ns.index(n)) for outcome in picked if n in outcome.ns]
        tops = [outcome.top[place] for outcome, place in enough]
        base = [outcome.by_strategy[MAJORITY][place] for outcome, place in enough]
        ks = min(([k for k in outcome.voters if k <= n] for outcome, _ in enough), key=len)
        points[n] = [
            point(k, [top[index] for top in tops], base, max(1, most // n))
            for index, k in enumerate(ks)
        ]
    return points


FAMILY_FIELDS = ("family", "kind")
STEP = re.compile(r"<<[^<>]*>>")  # an annotation of a reference solution


class RankInput(NamedTuple):
    """Problems to rank.

    unscored: number of completions without a score, which are left out. stored: the names of the
    scores (see SCORES) that sampling stored, so that no scorer had to read the completions.
    """

    cases: Sequence[RankedProblem]
    verifier: str
    has_logprob: bool
    unscored: int
    stored: frozenset[str] = frozenset()


def scorer_or_scores(
    spec: str,
    verifier: str | None,
    generator: str | None,
    reduction: str = "last",
    form: str | None = None,
) -> CandidateScorer | tuple[str, Mapping[str, ScoreRow]]:
    """Return a verifier that can score, or a verifier's name and its recorded scores by key.

    spec: the run, FILE or FILE#RUN. verifier: a verifier's folder, its FILE.gguf or `tiny`; a file
    of scores; the beginning of a verifier's name in the file beside the completions; None for the
    only verifier in that file, or with a generator for its log-probabilities. reduction, form: see
    `load_scorer`. Raises InputError.
    """
    if is_model(verifier) if verifier is not None else generator is not None:
        return load_scorer(verifier, generator, reduction, form)
    if generator is not None:
        raise InputError(
            "--generator needs a verifier's model; recorded scores are used as they are"
        )
    if verifier is not None and Path(verifier).is_file():
        return choose_scores(Path(verifier), None)
    return choose_scores(scores_path(Path(parted(spec)[0])), verifier)


def scored_by(
    scorer: CandidateScorer,
    sampled: CandidateRun,
    tell: Callable[[ScoringProgress], None] | None = None,
) -> tuple[str, Mapping[str, ScoreRow]]:
    """Return a verifier's name and its scores of a run's completions; compute missing scores."""
    return choose_scores(add_scores(sampled, scorer, tell=tell), scorer.name)


def rank_input(sampled: CandidateRun, verifier: str, scores: Mapping[str, ScoreRow]) -> RankInput:
    """Return the problems of a run with their scores; raises InputError if there are no scores."""
    rows = [
        scores[candidate.key]
        for problem in sampled.answered
        for candidate in problem.candidates
        if candidate.key in scores
    ]
    if not rows:
        raise InputError(
            f"{verifier!r} has scored no completion of {str(sampled.path)!r}; give the scores of "
            "this run, or the verifier's folder with --verifier"
        )
    has_logprob = all(row.logprob is not None for row in rows)
    cases = [_case(answered, scores) for answered in sampled.answered]
    cases = [case for case in cases if case.options]
    stored = _stored_scores(sampled, verifier, rows)
    return RankInput(cases, verifier, has_logprob, sampled.total - len(rows), stored)


def _stored_scores(
    sampled: CandidateRun, verifier: str, rows: Sequence[ScoreRow]
) -> frozenset[str]:
    names: set[str] = set()
    if all(stores_logprobs(sampled, name) for name in {row.generator for row in rows}):
        names |= {"logprob", "sum"}
    reader = verifier.removeprefix(LOGPROB_READER)
    if reader != verifier and stores_logprobs(sampled, reader):
        names.add("verifier")
    return frozenset(names)


def _case(answered: ProblemCandidates, scores: Mapping[str, ScoreRow]) -> RankedProblem:
    options = []
    texts = set()
    for candidate in answered.candidates:
        row = scores.get(candidate.key)
        if row is None:
            continue
        logprob = row.logprob or 0.0
        options.append(Option(candidate.answer, candidate.right, row.score, logprob, row.length))
        texts.add(candidate.text)
    problem = answered.problem
    return RankedProblem(problem.id, family_of(problem), options, len(texts), problem.question)


def family_of(problem: Problem) -> str:
    """Return the family of a problem: from its dataset, else by its number of steps."""
    for name in FAMILY_FIELDS:
        if name in problem.meta:
            return str(problem.meta[name])
    steps = len(STEP.findall(problem.solution))
    return count(steps, "step") if steps else "all"


def baseline(
    sampled: CandidateRun, spec: str, options: ReadOptions, warn: Warn
) -> tuple[str, dict[str, tuple[int, int]], float, Interval]:
    """Return another run on the same problems: its name, (right, completions) by problem, score.

    It is scored by the same scorer. Raises InputError if it shares no problem with the run.
    """
    own = mapping(sampled.manifest.get("dataset")).get("name")
    if options.dataset is None:
        options = replace(options, dataset=str(own or "") or None)
    other = one_run(spec, options, warn, sampled.scorer)
    questions = {problem.problem.id: problem.problem.question for problem in sampled.answered}
    outcomes = {
        problem.problem.id: problem.outcome
        for problem in other.answered
        if questions.get(problem.problem.id) == problem.problem.question
    }
    if not outcomes:
        raise InputError(
            f"the baseline {spec!r} shares no problem with {str(sampled.path)!r}; "
            "give a run on the same dataset"
        )
    clusters = list(outcomes.values())
    return other.run, outcomes, mean_share(clusters), clustered_wilson(clusters)


class BudgetPoint(NamedTuple):
    """The accuracies of strategies for the same mean number of tokens per problem.

    tokens: written and read, those of n completions. A strategy whose scorer reads its completions
    has half as many (see `passes`). accuracies: by strategy.
    """

    n: int
    tokens: float
    accuracies: Mapping[str, float]


def budget_curve(
    curves: Mapping[str, Sequence[CurvePoint]],
    cases: Sequence[RankedProblem],
    stored: Collection[str] = (),
) -> list[BudgetPoint]:
    """Return the accuracies over equal numbers of tokens; empty if no length is recorded."""
    lengths = [option.tokens for case in cases for option in case.options]
    if not any(lengths):
        return []
    mean = sum(lengths) / len(lengths)
    by_n = {name: {point.n: point.accuracy for point in points} for name, points in curves.items()}
    points = []
    for n in by_n[MAJORITY]:
        accuracies = {
            name: values[count]
            for name, values in by_n.items()
            if name != COVERAGE and (count := n // passes(name, stored)) in values
        }
        points.append(BudgetPoint(n, n * mean, accuracies))
    return points


class CurvePoint(NamedTuple):
    """One point of a curve.

    n: number of completions, or of voters. gain: accuracy minus that of the majority vote of as
    many completions, problem by problem.
    """

    n: int
    problems: int
    accuracy: float
    ci95: Interval
    gain: float
    gain_ci95: Interval


def point(n: int, values: Sequence[float], base: Sequence[float], groups: int) -> CurvePoint:
    """Return the point for one value per problem, each an expectation in 0..1.

    base: values to compare with, problem by problem. groups: number of disjoint sets of completions
    over which a problem's value is a mean.
    """
    count = len(values)
    gains = [value - other for value, other in zip(values, base, strict=True)]
    return CurvePoint(
        n=n,
        problems=count,
        accuracy=sum(values) / count,
        ci95=wilson_of_mean(values, count * groups),
        gain=sum(gains) / count,
        gain_ci95=interval_of_mean(gains, -1.0),
    )


EDGES = (0.05, 0.2, 0.4, 0.6, 0.8, 0.95)  # boundaries of the calibration buckets


class WithinAuc(NamedTuple):
    """The mean AUC of the problems with right and wrong completions, and their number."""

    auc: float | None
    ci95: Interval | None
    problems: int


class Bucket(NamedTuple):
    """Completions with a score in [low, high), and the share of right ones."""

    low: float | None
    high: float | None
    completions: int
    mean_score: float
    right: float


def auc(scores: Sequence[float], right: Sequence[bool]) -> float | None:
    """Return the probability that a right completion scores above a wrong one; ties count half.

    The Mann-Whitney statistic over the number of pairs; None if there are no pairs.
    """
    positives = sum(right)
    negatives = len(right) - positives
    if not positives or not negatives:
        return None
    order = sorted(range(len(scores)), key=scores.__getitem__)
    ranks = 0.0  # of right completions; ties share the mean rank
    start = 0
    while start < len(order):
        end = start + 1
        while end < len(order) and scores[order[end]] == scores[order[start]]:
            end += 1
        ranks += sum(right[index] for index in order[start:end]) * (start + 1 + end) / 2
        start = end
    return (ranks - positives * (positives + 1) / 2) / (positives * negatives)


def within(problems: Sequence[tuple[Sequence[float], Sequence[bool]]]) -> WithinAuc:
    """Return the mean AUC of problems, each (scores, right), without problems that have no AUC."""
    aucs = [value for scores, right in problems if (value := auc(scores, right)) is not None]
    if not aucs:
        return WithinAuc(None, None, 0)
    mean = sum(aucs) / len(aucs)
    if len(aucs) == 1:
        return WithinAuc(mean, Interval(0.0, 1.0), 1)
    return WithinAuc(mean, interval_of_mean(aucs, 0.0), len(aucs))


def calibration(scores: Sequence[float], right: Sequence[bool]) -> list[Bucket]:
    """Return the non-empty buckets, from low to high scores."""
    buckets: list[list[tuple[float, bool]]] = [[] for _ in range(len(EDGES) + 1)]
    for score, is_right in zip(scores, right, strict=True):
        buckets[bisect_right(EDGES, score)].append((score, is_right))
    bounds = [None, *EDGES, None]
    return [
        Bucket(
            low=bounds[index],
            high=bounds[index + 1],
            completions=len(bucket),
            mean_score=sum(score for score, _ in bucket) / len(bucket),
            right=sum(is_right for _, is_right in bucket) / len(bucket),
        )
        for index, bucket in enumerate(buckets)
        if bucket
    ]
