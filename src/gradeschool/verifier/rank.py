"""Measure a verifier at test time: every strategy that picks one of N answers.

It needs only recorded scores, not a model. Every problem counts once, whatever its number of
completions; intervals and tests are over problems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.errors import InputError
from gradeschool.formats.samples import ReadOptions
from gradeschool.formats.settings import mapping
from gradeschool.formats.verifier_scores import ScoreRow, choose_scores, scores_path
from gradeschool.percentages import gain
from gradeschool.scoring.at_k import steps
from gradeschool.scoring.candidates import CandidateRun, one_run
from gradeschool.scoring.samples import Warn
from gradeschool.scoring.sources import split_run
from gradeschool.scoring.statistics import (
    Interval,
    ProblemPair,
    clustered_wilson,
    mean_difference,
    mean_share,
    paired_interval,
    wilson_of_mean,
)
from gradeschool.verifier.scores import add_scores, is_model, load_scorer
from gradeschool.verifier.select import (
    BEST,
    LOGPROB,
    MAJORITY,
    MEAN,
    SCORES,
    SHARE,
    TOP,
    VERIFIER,
    Option,
    ProblemResult,
    RankedProblem,
    auc_of_cases,
    break_even_auc,
    measure_curves,
    pick,
    title_of,
)

# What the conclusion recommends, where its gain over the majority is certain.
CHOOSABLE = (BEST, "weighted", "odds", SHARE, TOP, LOGPROB, "probable")
Outcomes = Mapping[str, tuple[int, int]]  # (right, completions) by problem


class AccuracyGain(NamedTuple):
    """The gain of a strategy over another one, on the problems that both have."""

    difference: float
    ci95: Interval


def rank(
    cases: Sequence[RankedProblem],
    *,
    has_logprob: bool,
    baselines: Mapping[str, Outcomes] | None = None,
    voters: int = 5,
    seed: int = 0,
) -> dict[str, Any]:
    """Return the results of every strategy on scored completions, of at least one problem.

    baselines: the outcomes of other runs, by name. voters, seed: see `pick`. The result has the
    conclusion (what to select by, in words), counts (unique_: mean number of distinct ones per
    problem; mixed: problems with right and wrong completions), `strategies` by name (over: gains by
    the other's name), `auc` by name, and `curves`: a point for each number of completions.
    """
    most = max(len(case.options) for case in cases)
    picked = [pick(case, has_logprob, steps(most), (voters,), seed) for case in cases]
    others = {MAJORITY: count_outcomes(picked, MAJORITY), **(baselines or {})}
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
        strategies[name] = {"title": title_of(name), "accuracy": share, "ci95": interval,
                            "over": over}  # fmt: skip
    auc = {name: auc_of_cases(name, cases) for name in SCORES
           if name == VERIFIER or name in strategies}  # fmt: skip
    need = break_even_auc(cases)
    answers = [{option.answer for option in case.options} - {None} for case in cases]
    return {
        "conclusion": _conclude(strategies, auc[VERIFIER].within, need, most),
        "problems": len(cases),
        "completions": sum(len(case.options) for case in cases),
        "unique_solutions": sum(case.unique for case in cases) / len(cases),
        "unique_answers": sum(map(len, answers)) / len(cases),
        "mixed": sum(len({option.right for option in case.options}) > 1 for case in cases),
        "strategies": strategies,
        "auc": auc,
        "break_even_auc": need,
        "curves": measure_curves(picked, most),
        "most_completions": most,
    }


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
    return AccuracyGain(mean_difference(pairs), paired_interval(pairs)[0])


def _conclude(
    strategies: Mapping[str, Mapping[str, Any]], inside: float | None, need: float | None, most: int
) -> str:
    """Return in one or two sentences what to select by, and what the score would need."""
    known = "no problem has right and wrong completions"
    if inside is not None:
        needed = "no selector can equal the majority vote here"
        if need is not None:
            needed = f"to equal the majority vote, the best of {most} needs {need:.2f} here"
        known = f"AUC within problems {inside:.2f}; {needed}"
    gains = {name: each["over"][MAJORITY] for name, each in strategies.items()
             if name.partition(" ")[0] in CHOOSABLE}  # fmt: skip
    words = {name: gain(each.difference, each.ci95) for name, each in gains.items()}
    of_best = f"; {strategies[BEST]['title']}: {words[BEST]}"
    above = [name for name, each in gains.items() if each.ci95.low > 0]
    if not above:
        return f"{known}. Use the majority vote: no choice by this score is above it{of_best}."
    name = max(above, key=lambda name: gains[name].difference)
    also = "" if name == BEST else of_best
    return f"{known}. Use the {strategies[name]['title']}: {words[name]} over the majority{also}."


# What is ranked


class RankInput(NamedTuple):
    """Problems to rank. unscored: completions without a score, which are left out."""

    cases: Sequence[RankedProblem]
    verifier: str
    has_logprob: bool
    unscored: int


def read_scored(
    spec: str,
    options: ReadOptions,
    warn: Warn,
    scorer: str | None,
    tell: Callable[[int, int], None],
    verifier: str | None = None,
    **models: Any,
) -> tuple[CandidateRun, RankInput]:
    """Return a run (FILE or FILE#RUN) with its scores, which a given model adds first.

    scorer: labels the completions. verifier, models: see `load_scorer`; the verifier may also be a
    file of scores, the beginning of a verifier's name in the file beside the completions, or None
    for the only verifier in that file. tell: see `add_scores`. Raises InputError.
    """
    generator = models.get("generator")
    if models.get("critic") or (is_model(verifier) if verifier else generator):
        model = load_scorer(verifier, **models)
        run = one_run(spec, options, warn, scorer)
        found = choose_scores(add_scores(run, model, tell=tell), model.name)
    elif generator is not None:
        raise InputError(
            "--generator needs a verifier's model; recorded scores are used as they are"
        )
    else:
        if verifier is not None and Path(verifier).is_file():
            found = choose_scores(Path(verifier), None)
        else:
            found = choose_scores(scores_path(Path(split_run(spec)[0])), verifier)
        run = one_run(spec, options, warn, scorer)
    ranked = rank_input(run, *found)
    if ranked.unscored:
        warn(f"{ranked.unscored} of {run.total} completions have no score and are left out")
    return run, ranked


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
        texts = {each.text for each, _ in scored}
        cases.append(RankedProblem(answered.problem.id, options, len(texts)))
    if not rows:
        raise InputError(
            f"{verifier!r} has scored no completion of {str(sampled.path)!r}; give the scores of "
            "this run, or the verifier's folder with --verifier"
        )
    has_logprob = all(row.logprob is not None for row in rows)
    return RankInput(cases, verifier, has_logprob, sampled.total - len(rows))


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
