"""Measure a verifier at test time: every strategy that picks one of N answers.

It needs only recorded scores, not a model. Every problem counts once, whatever its number of
completions; intervals and tests are over problems.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from gradeschool.errors import InputError
from gradeschool.formats.samples import ReadOptions
from gradeschool.formats.settings import mapping
from gradeschool.percentages import count, gain
from gradeschool.problem import Problem
from gradeschool.scoring.at_k import steps
from gradeschool.scoring.samples import Warn
from gradeschool.scoring.sources import parted
from gradeschool.scoring.statistics import (
    Interval,
    Pair,
    clustered_wilson,
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
from gradeschool.verifier.scores import (
    CandidateScorer,
    ScoreRow,
    choose_scores,
    is_model,
    load_scorer,
    scores_path,
)
from gradeschool.verifier.select import (
    BEST,
    MAJORITY,
    MEAN,
    SCORES,
    STRATEGIES,
    CurvePoint,
    Option,
    ProblemResult,
    RankedProblem,
    SelectionSettings,
    WithinAuc,
    auc,
    break_even_auc,
    curves_of,
    pick,
    strategy_title,
    top_curves_of,
    within,
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
    single family. break_even: the AUC within problems that a selector needs here, see
    `select.break_even_auc`.
    """

    whole: FamilyResults
    families: Sequence[FamilyResults]
    curves: Mapping[str, Sequence[CurvePoint]]
    top: Mapping[int, Sequence[CurvePoint]]
    buckets: Sequence[Bucket]
    break_even: float | None
    most: int
    settings: SelectionSettings
    has_logprob: bool


def rank(
    cases: Sequence[RankedProblem],
    *,
    has_logprob: bool,
    baselines: Mapping[str, Mapping[str, tuple[int, int]]] | None = None,
    settings: SelectionSettings | None = None,
) -> Ranking:
    """Return the results of every strategy on scored completions.

    baselines: by name, (right, completions) of each problem of another
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
        break_even=break_even_auc([outcome.case for outcome in picked]),
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


def conclusion(ranking: Ranking) -> str:
    """Return in one or two sentences what to select by, and what the score would need."""
    inside = ranking.whole.aucs["verifier"][1].auc
    need = ranking.break_even
    known = "no problem has right and wrong completions"
    if inside is not None:
        needed = "no selector can equal the majority vote here"
        if need is not None:
            needed = f"to equal the majority vote, the best of {ranking.most} needs {need:.2f} here"
        known = f"AUC within problems {inside:.2f}; {needed}"
    gains = {
        result.title: result.against[MAJORITY]
        for result in ranking.whole.results
        if result.name in CHOOSABLE and MAJORITY in result.against
    }
    above = {title: each for title, each in gains.items() if each.ci95.low > 0}
    best = ranking.whole.result(BEST)
    shown = ""
    if best is not None and MAJORITY in best.against:
        more = best.against[MAJORITY]
        shown = f"; {best.title}: {gain(more.difference, more.ci95)}"
    if not above:
        return f"{known}. Use the majority vote: no choice by this score is above it{shown}."
    title = max(above, key=lambda name: above[name].difference)
    more = above[title]
    also = shown if best is not None and title != best.title else ""
    return f"{known}. Use the {title}: {gain(more.difference, more.ci95)} over the majority{also}."


# What `conclusion` recommends, where its gain over the majority is certain.
CHOOSABLE = (BEST, "weighted", "odds", "frequency", "top", "logprob", "probable")
FAMILY_FIELDS = ("family", "kind")
STEP = re.compile(r"<<[^<>]*>>")  # an annotation of a reference solution


class RankInput(NamedTuple):
    """Problems to rank.

    unscored: number of completions without a score, which are left out.
    """

    cases: Sequence[RankedProblem]
    verifier: str
    has_logprob: bool
    unscored: int


def scorer_or_scores(
    spec: str,
    verifier: str | None,
    generator: str | None,
    reduction: str | None = None,
    form: str | None = None,
    critiques: int | None = None,
) -> CandidateScorer | tuple[str, Mapping[str, ScoreRow]]:
    """Return a verifier that can score, or a verifier's name and its recorded scores by key.

    spec: the run, FILE or FILE#RUN. verifier: a verifier's folder, its FILE.gguf or `tiny`; a file
    of scores; the beginning of a verifier's name in the file beside the completions; None for the
    only verifier in that file, or with a generator for its log-probabilities. The others: see
    `load_scorer`. Raises InputError.
    """
    by_model = verifier is None if generator else critiques is not None
    if by_model or (verifier is not None and is_model(verifier)):
        return load_scorer(verifier, generator, reduction, form, critiques)
    if generator is not None:
        raise InputError(
            "--generator needs a verifier's model; recorded scores are used as they are"
        )
    if verifier is not None and Path(verifier).is_file():
        return choose_scores(Path(verifier), None)
    return choose_scores(scores_path(Path(parted(spec)[0])), verifier)


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
    return RankInput(cases, verifier, has_logprob, sampled.total - len(rows))


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


EDGES = (0.05, 0.2, 0.4, 0.6, 0.8, 0.95)  # boundaries of the calibration buckets


class Bucket(NamedTuple):
    """Completions with a score in [low, high), and the share of right ones."""

    low: float | None
    high: float | None
    completions: int
    mean_score: float
    right: float


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
