"""Measure a verifier at test time: every strategy that picks one of N answers.

It needs only recorded scores, not a model. Every problem counts once, whatever its number of
completions; intervals and tests are over problems.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.errors import InputError
from gradeschool.formats.samples import ReadOptions
from gradeschool.formats.settings import mapping
from gradeschool.percentages import count, gain
from gradeschool.problem import Problem
from gradeschool.scoring.at_k import steps
from gradeschool.scoring.samples import Warn
from gradeschool.scoring.sources import split_run
from gradeschool.scoring.statistics import (
    Interval,
    ProblemPair,
    clustered_wilson,
    mean_difference,
    mean_share,
    paired_interval,
    paired_test,
    wilson_of_mean,
)
from gradeschool.verifier.data import CandidateRun, one_run
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
    LOGPROB,
    MAJORITY,
    MEAN,
    SCORES,
    SHARE,
    TOP,
    VERIFIER,
    CurvePoint,
    Option,
    ProblemResult,
    RankedProblem,
    ScoreAuc,
    SelectionSettings,
    auc_of_cases,
    break_even_auc,
    measure_curves,
    pick,
)

# What the conclusion recommends, where its gain over the majority is certain.
CHOOSABLE = (BEST, "weighted", "odds", SHARE, TOP, LOGPROB, "probable")
FAMILY_FIELDS = ("family", "kind")
ANNOTATED = re.compile(r"<<[^<>]*>>")  # a step of a reference solution
EDGES = (0.05, 0.2, 0.4, 0.6, 0.8, 0.95)  # boundaries of the calibration buckets
Outcomes = Mapping[str, tuple[int, int]]  # (right, completions) by problem


class AccuracyGain(NamedTuple):
    """The gain of a strategy over another one, on the problems that both have."""

    difference: float
    ci95: Interval
    p: float
    problems: int


class StrategyResult(NamedTuple):
    """One strategy on all completions of every problem; `over`: gains by the other's name."""

    title: str
    accuracy: float
    ci95: Interval
    over: Mapping[str, AccuracyGain]


class FamilyResults(NamedTuple):
    """The results on the problems of one family, or on all of them.

    unique_solutions, unique_answers: mean number of distinct ones per problem. mixed: number of
    problems with right and wrong completions. strategies, auc: by name.
    """

    family: str
    problems: int
    completions: int
    unique_solutions: float
    unique_answers: float
    mixed: int
    strategies: Mapping[str, StrategyResult]
    auc: Mapping[str, ScoreAuc]


class Bucket(NamedTuple):
    """Completions with a score in [low, high), and the share of right ones."""

    low: float | None
    high: float | None
    completions: int
    mean_score: float
    right: float


class Ranking(NamedTuple):
    """The results on one set of scored completions.

    families: the results by family, () for a single one. curves: by strategy, a point for each
    number of completions. voters_curves: for each number of completions, a point for each number of
    voters. break_even_auc: see `select.break_even_auc`. conclusion: what to select by, in words.
    """

    whole: FamilyResults
    families: Sequence[FamilyResults]
    curves: Mapping[str, Sequence[CurvePoint]]
    voters_curves: Mapping[int, Sequence[CurvePoint]]
    calibration: Sequence[Bucket]
    break_even_auc: float | None
    conclusion: str
    most_completions: int
    settings: SelectionSettings


def rank(
    cases: Sequence[RankedProblem],
    *,
    has_logprob: bool,
    baselines: Mapping[str, Outcomes] | None = None,
    settings: SelectionSettings | None = None,
) -> Ranking:
    """Return the results of every strategy on scored completions.

    baselines: the outcomes of other runs, by name. Raises InputError if there is no completion.
    """
    if not any(case.options for case in cases):
        raise InputError("there are no scored completions to rank; score the run first")
    settings = settings or SelectionSettings()
    most = max(len(case.options) for case in cases)
    picked = [pick(case, has_logprob, settings, steps(most)) for case in cases if case.options]
    families = sorted({each.case.family for each in picked})
    parts = [_family(family, [each for each in picked if each.case.family == family], settings,
                     baselines or {}) for family in families]  # fmt: skip
    whole = _family("all", picked, settings, baselines or {})
    need = break_even_auc([each.case for each in picked])
    options = [option for each in picked for option in each.case.options]
    curves, by_voters = measure_curves(picked, most)
    return Ranking(
        whole,
        parts if len(parts) > 1 else (),
        curves,
        by_voters,
        calibrate([option.score for option in options], [option.right for option in options]),
        need,
        _conclude(whole, need, most),
        most,
        settings,
    )


def _family(
    family: str,
    picked: Sequence[ProblemResult],
    settings: SelectionSettings,
    baselines: Mapping[str, Outcomes],
) -> FamilyResults:
    others = {MAJORITY: count_outcomes(picked, MAJORITY), **baselines}
    cases = [each.case for each in picked]
    strategies = {}
    for name in picked[0].by_strategy:
        mine = count_outcomes(picked, name)
        clusters = list(mine.values())
        share, interval = mean_share(clusters), clustered_wilson(clusters)
        if name == MEAN:
            shares = [right / size for right, size in clusters]
            interval = wilson_of_mean(shares, sum(size for _, size in clusters))
        over = {other: paired_difference(theirs, mine) for other, theirs in others.items()
                if name not in (other, MEAN) and mine.keys() & theirs.keys()}  # fmt: skip
        strategies[name] = StrategyResult(settings.title(name), share, interval, over)
    return FamilyResults(
        family=family,
        problems=len(cases),
        completions=sum(len(case.options) for case in cases),
        unique_solutions=sum(case.unique for case in cases) / len(cases),
        unique_answers=sum(len({option.answer for option in case.options} - {None})
                           for case in cases) / len(cases),
        mixed=sum(len({option.right for option in case.options}) > 1 for case in cases),
        strategies=strategies,
        auc={name: auc_of_cases(name, cases) for name in SCORES
             if name == VERIFIER or name in strategies},
    )  # fmt: skip


def count_outcomes(picked: Iterable[ProblemResult], name: str) -> dict[str, tuple[int, int]]:
    """Return (right, tries) of a strategy by problem: of all samples for the mean, else of one."""
    found = {}
    for each in picked:
        options = each.case.options
        right, tries = round(each.by_strategy[name][-1]), 1
        if name == MEAN:
            right, tries = sum(option.right for option in options), len(options)
        found[each.case.problem] = (right, tries)
    return found


def paired_difference(before: Outcomes, after: Outcomes) -> AccuracyGain:
    """Return after minus before on common problems."""
    pairs = [ProblemPair(*before[id], *after[id]) for id in after if id in before]
    interval, _ = paired_interval(pairs)
    return AccuracyGain(mean_difference(pairs), interval, paired_test(pairs)[0], len(pairs))


def calibrate(scores: Sequence[float], right: Sequence[bool]) -> list[Bucket]:
    """Return the non-empty buckets, from low to high scores."""
    buckets: list[list[tuple[float, bool]]] = [[] for _ in range(len(EDGES) + 1)]
    for score, is_right in zip(scores, right, strict=True):
        buckets[bisect_right(EDGES, score)].append((score, is_right))
    bounds = [None, *EDGES, None]
    return [
        Bucket(bounds[place], bounds[place + 1], len(bucket),
               sum(score for score, _ in bucket) / len(bucket),
               sum(is_right for _, is_right in bucket) / len(bucket))
        for place, bucket in enumerate(buckets) if bucket
    ]  # fmt: skip


def _conclude(whole: FamilyResults, need: float | None, most: int) -> str:
    """Return in one or two sentences what to select by, and what the score would need."""
    inside = whole.auc[VERIFIER].within
    known = "no problem has right and wrong completions"
    if inside is not None:
        needed = "no selector can equal the majority vote here"
        if need is not None:
            needed = f"to equal the majority vote, the best of {most} needs {need:.2f} here"
        known = f"AUC within problems {inside:.2f}; {needed}"
    gains = {name: each.over[MAJORITY] for name, each in whole.strategies.items()
             if name in CHOOSABLE and MAJORITY in each.over}  # fmt: skip
    above = [name for name, each in gains.items() if each.ci95.low > 0]
    of_best = ""
    if BEST in gains:
        title = whole.strategies[BEST].title
        of_best = f"; {title}: {gain(gains[BEST].difference, gains[BEST].ci95)}"
    if not above:
        return f"{known}. Use the majority vote: no choice by this score is above it{of_best}."
    name = max(above, key=lambda name: gains[name].difference)
    more = gain(gains[name].difference, gains[name].ci95)
    also = "" if name == BEST else of_best
    return f"{known}. Use the {whole.strategies[name].title}: {more} over the majority{also}."


# What is ranked


class RankInput(NamedTuple):
    """Problems to rank. unscored: completions without a score, which are left out."""

    cases: Sequence[RankedProblem]
    verifier: str
    has_logprob: bool
    unscored: int


def scorer_or_scores(
    spec: str, verifier: str | None, **options: Any
) -> CandidateScorer | tuple[str, Mapping[str, ScoreRow]]:
    """Return a verifier that can score, or a verifier's name and its recorded scores by key.

    spec: the run, FILE or FILE#RUN. options: of `load_scorer`; the verifier may also be a file of
    scores, the beginning of a verifier's name in the file beside the completions, or None for the
    only verifier in that file. Raises InputError.
    """
    generator = options.get("generator")
    if options.get("critic") or (is_model(verifier) if verifier else generator):
        return load_scorer(verifier, **options)
    if generator is not None:
        raise InputError(
            "--generator needs a verifier's model; recorded scores are used as they are"
        )
    if verifier is not None and Path(verifier).is_file():
        return choose_scores(Path(verifier), None)
    return choose_scores(scores_path(Path(split_run(spec)[0])), verifier)


def rank_input(sampled: CandidateRun, verifier: str, scores: Mapping[str, ScoreRow]) -> RankInput:
    """Return the problems of a run with their scores; raises InputError if there are no scores."""
    cases, rows = [], []
    for answered in sampled.answered:
        scored = [(each, scores[each.key]) for each in answered.candidates if each.key in scores]
        if not scored:
            continue
        rows += [row for _, row in scored]
        options = [Option(each.answer, each.right, row.score, row.logprob or 0.0)
                   for each, row in scored]  # fmt: skip
        problem, texts = answered.problem, {each.text for each, _ in scored}
        cases.append(RankedProblem(problem.id, name_family(problem), options, len(texts),
                                   problem.question))  # fmt: skip
    if not rows:
        raise InputError(
            f"{verifier!r} has scored no completion of {str(sampled.path)!r}; give the scores of "
            "this run, or the verifier's folder with --verifier"
        )
    has_logprob = all(row.logprob is not None for row in rows)
    return RankInput(cases, verifier, has_logprob, sampled.total - len(rows))


def name_family(problem: Problem) -> str:
    """Return the family of a problem: from its dataset, else by its number of steps."""
    for name in FAMILY_FIELDS:
        if name in problem.meta:
            return str(problem.meta[name])
    number = len(ANNOTATED.findall(problem.solution))
    return count(number, "step") if number else "all"


def read_baseline(
    sampled: CandidateRun, spec: str, options: ReadOptions, warn: Warn
) -> tuple[str, dict[str, tuple[int, int]]]:
    """Return another run on the same problems: its name, and its outcomes by the same scorer.

    Raises InputError if it shares no problem with the run.
    """
    if options.dataset is None:
        own = mapping(sampled.manifest.get("dataset")).get("name")
        options = replace(options, dataset=str(own or "") or None)
    other = one_run(spec, options, warn, sampled.scorer)
    questions = {each.problem.id: each.problem.question for each in sampled.answered}
    outcomes = {each.problem.id: each.outcome for each in other.answered
                if questions.get(each.problem.id) == each.problem.question}  # fmt: skip
    if not outcomes:
        raise InputError(
            f"the baseline {spec!r} shares no problem with {str(sampled.path)!r}; "
            "give a run on the same dataset"
        )
    return other.run, outcomes
