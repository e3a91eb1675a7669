"""Findings of a recipe: each selection strategy over all training seeds, against the baselines.

The seeds share their test problems, so a problem's outcomes are summed over the seeds, and
intervals are over problems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from gradeschool.scoring.at_k import steps
from gradeschool.scoring.statistics import Interval, clustered_wilson
from gradeschool.verifier.candidates import CandidateRun, one_run
from gradeschool.verifier.rank import (
    AccuracyGain,
    CurvePoint,
    RankInput,
    aucs_of,
    baseline,
    outcomes_of,
    paired_difference,
    point,
    rank_input,
)
from gradeschool.verifier.reproduce.presets import GREEDY, VOTING, control_scores, folder
from gradeschool.verifier.scores import choose_scores, scores_path
from gradeschool.verifier.selection import (
    BEST,
    MAJORITY,
    MEAN,
    SCORES,
    ProblemResult,
    SelectionSettings,
    pick,
)

Outcomes = Mapping[str, tuple[int, int]]  # by problem: (right, total)
BASELINE, CONTROL = GREEDY
SELECTION = SelectionSettings(voters=VOTING)
LOGPROB_SCORES = ("logprob", "sum")  # they need the log-probability of every sample
CONTROL_LOGPROB = "control-logprob"  # the best sample by its log-probability under the control


class Seed(NamedTuple):
    """One training seed on one split: the results by problem, and the outcomes of baselines.

    greedy: outcomes of the greedy runs, and of the best sample by log-probability under the
    control.
    """

    picked: Sequence[ProblemResult]
    greedy: Mapping[str, Outcomes]
    has_logprob: bool


class StrategyFinding(NamedTuple):
    """One strategy over all seeds: its share, the differences from others, the share by seed."""

    name: str
    accuracy: float
    ci95: Interval
    by_seed: Sequence[float]
    over: Mapping[str, AccuracyGain]


class MeanAucs(NamedTuple):
    """The mean AUC of a score over the seeds that have one: over all completions, within problems.

    None if no seed has one, as when all completions are right.
    """

    score: str
    overall: float | None
    within: float | None


class Findings(NamedTuple):
    """The findings on one split; families: the same findings by family."""

    problems: int
    strategies: Sequence[StrategyFinding]
    families: Mapping[str, Sequence[StrategyFinding]]
    mean_aucs: Sequence[MeanAucs]
    over_completions: Mapping[str, Sequence[CurvePoint]]
    over_voters: Sequence[CurvePoint]


def read_seed(root: Path, seed: int, split: str) -> Seed:
    """Return one seed's outcomes from the runs and scores in a recipe's folder."""
    problems = str(root / f"problems/{split}.jsonl")
    sampled = one_run(str(root / folder(split, seed)), problems, quiet)
    ranked, picked = read_picked(sampled, scores_path(sampled.path))
    greedy = {
        name: baseline(sampled, str(root / folder(f"{split}-{name}", seed)), problems, quiet)[1]
        for name in GREEDY
    }
    scored = root / control_scores(split, seed)
    if scored.is_file():  # folders of earlier releases do not have it
        _, by_control = read_picked(sampled, scored)
        greedy[CONTROL_LOGPROB] = outcomes_of(by_control, BEST)
    return Seed(picked, greedy, ranked.has_logprob)


def read_picked(sampled: CandidateRun, scores: Path) -> tuple[RankInput, list[ProblemResult]]:
    """Return a run's problems with their only verifier's scores, and what each strategy selects."""
    ranked = rank_input(sampled, *choose_scores(scores, None))
    ns = steps(max(len(case.options) for case in ranked.cases))
    return ranked, [pick(case, ranked.has_logprob, SELECTION, ns) for case in ranked.cases]


def findings(seeds: Sequence[Seed]) -> Findings:
    """Return the findings of all seeds on a split, on the problems that all seeds have."""
    seeds = _aligned(seeds)
    families = sorted({outcome.case.family for outcome in seeds[0].picked})
    has_logprob = all(seed.has_logprob for seed in seeds)
    left_out = () if has_logprob else LOGPROB_SCORES
    strategies = [name for name in seeds[0].picked[0].by_strategy if name not in left_out]
    return Findings(
        problems=len(seeds[0].picked),
        strategies=_findings(seeds, strategies, None),
        families={family: _findings(seeds, strategies, family) for family in families},
        mean_aucs=[_mean_aucs(seeds, name) for name in SCORES if name not in left_out],
        over_completions={
            strategy: _over_completions(seeds, strategy)
            for strategy in strategies
            if strategy != MEAN
        },
        over_voters=_over_voters(seeds),
    )


def _aligned(seeds: Sequence[Seed]) -> list[Seed]:
    """Return the seeds with the problems that all of them have, in the same order."""
    by_seed = [{outcome.case.problem: outcome for outcome in seed.picked} for seed in seeds]
    shared = sorted(set(by_seed[0]).intersection(*by_seed[1:]))
    return [
        seed._replace(picked=[by_problem[problem] for problem in shared])
        for seed, by_problem in zip(seeds, by_seed, strict=True)
    ]


def _findings(
    seeds: Sequence[Seed], strategies: Sequence[str], family: str | None
) -> list[StrategyFinding]:
    by_seed = [_outcomes(seed, strategies, family) for seed in seeds]
    pooled = {name: summed([outcomes[name] for outcomes in by_seed]) for name in by_seed[0]}
    others = [name for name in (*GREEDY, CONTROL_LOGPROB, MAJORITY) if name in pooled]
    return [
        StrategyFinding(
            name,
            mean_share(mine),
            clustered_wilson(list(mine.values())),
            [mean_share(outcomes[name]) for outcomes in by_seed],
            {other: paired_difference(pooled[other], mine) for other in others if other != name},
        )
        for name, mine in pooled.items()
    ]


def _outcomes(seed: Seed, strategies: Sequence[str], family: str | None) -> dict[str, Outcomes]:
    chosen = [outcome for outcome in seed.picked if family in (None, outcome.case.family)]
    problems = {outcome.case.problem for outcome in chosen}
    by_name: dict[str, Outcomes] = {
        name: {problem: outcome for problem, outcome in outcomes.items() if problem in problems}
        for name, outcomes in seed.greedy.items()
    }
    for strategy in strategies:
        by_name[strategy] = outcomes_of(chosen, strategy)
    return by_name


def summed(outcomes: Sequence[Outcomes]) -> Outcomes:
    """Return the combined outcomes of several seeds, on the problems that all of them have."""
    shared = [id for id in outcomes[0] if all(id in seed_outcomes for seed_outcomes in outcomes)]
    return {
        id: (
            sum(seed_outcomes[id][0] for seed_outcomes in outcomes),
            sum(seed_outcomes[id][1] for seed_outcomes in outcomes),
        )
        for id in shared
    }


def mean_share(outcomes: Outcomes) -> float:
    """Return the mean share of right completions over problems."""
    return sum(right / count for right, count in outcomes.values()) / len(outcomes)


def _mean_aucs(seeds: Sequence[Seed], name: str) -> MeanAucs:
    aucs = [aucs_of(name, [outcome.case for outcome in seed.picked]) for seed in seeds]
    overall = _mean_of_known([total for total, _ in aucs])
    return MeanAucs(name, overall, _mean_of_known([inside.auc for _, inside in aucs]))


def _mean_of_known(values: Sequence[float | None]) -> float | None:
    measured = [value for value in values if value is not None]
    return fmean(measured) if measured else None


def _over_completions(seeds: Sequence[Seed], strategy: str) -> list[CurvePoint]:
    by_n = _by_n(seeds)
    most, _ = by_n[-1]
    return [
        point(
            n,
            _means(problems, n, strategy),
            _means(problems, n, MAJORITY),
            len(seeds) * max(1, most // n),
        )
        for n, problems in by_n
    ]


def _by_n(seeds: Sequence[Seed]) -> list[tuple[int, list[Sequence[ProblemResult]]]]:
    """Return by number of completions the problems of which every seed has so many."""
    problems: list[Sequence[ProblemResult]] = list(
        zip(*(seed.picked for seed in seeds), strict=True)
    )
    most = max(len(outcome.case.options) for of_seeds in problems for outcome in of_seeds)
    by_n = [
        (n, [of_seeds for of_seeds in problems if all(n in outcome.ns for outcome in of_seeds)])
        for n in steps(most)
    ]
    return [(n, enough) for n, enough in by_n if enough]


def _means(problems: Sequence[Sequence[ProblemResult]], n: int, strategy: str) -> list[float]:
    """Return each problem's expectation with n completions, averaged over the seeds."""
    return [
        fmean(outcome.by_strategy[strategy][outcome.ns.index(n)] for outcome in of_seeds)
        for of_seeds in problems
    ]


def _over_voters(seeds: Sequence[Seed]) -> list[CurvePoint]:
    n, problems = _by_n(seeds)[-1]
    base = _means(problems, n, MAJORITY)
    outcomes = [outcome for of_seeds in problems for outcome in of_seeds]
    ks = set(outcomes[0].voters).intersection(*(outcome.voters for outcome in outcomes))
    return [
        point(k, [fmean(_top(outcome, n, k) for outcome in of_seeds) for of_seeds in problems],
              base, len(seeds))
        for k in sorted(ks)
        if k <= n
    ]  # fmt: skip


def _top(outcome: ProblemResult, n: int, voters: int) -> float:
    return outcome.top[outcome.ns.index(n)][outcome.voters.index(voters)]


def quiet(_: str) -> None:
    """Ignore a warning that the stage itself has printed."""
