"""What a recipe found: each way to pick an answer, over all training seeds, against the baselines.

The seeds share their test problems, so a problem's outcomes are summed over the seeds and intervals
are over problems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gradeschool.scoring.at_k import steps
from gradeschool.scoring.statistics import Interval, clustered_wilson
from gradeschool.verifier.curves import Point, point
from gradeschool.verifier.rank import Difference, difference
from gradeschool.verifier.rank_run import baseline, one_run, ready
from gradeschool.verifier.reproduce.presets import GREEDY, VOTING, Preset, folder
from gradeschool.verifier.scores_file import choose_scores, scores_path
from gradeschool.verifier.separation import auc, within
from gradeschool.verifier.ways import MEAN, SCORES, VOTERS, Picked, Ways, pick

Outcomes = Mapping[str, tuple[int, int]]  # by problem: right ones of how many
BASELINE, CONTROL = GREEDY
WAYS = Ways(voters=VOTING)


class Seed(NamedTuple):
    """One training seed on one split: the problems as picked, and the greedy runs' outcomes."""

    picked: Sequence[Picked]
    greedy: Mapping[str, Outcomes]
    has_logprob: bool


class Found(NamedTuple):
    """One way over all seeds: its share, and by other way the difference; by_seed: the shares."""

    name: str
    accuracy: float
    ci95: Interval
    by_seed: Sequence[float]
    over: Mapping[str, Difference]


class Separation(NamedTuple):
    """How a score tells right from wrong, the mean over seeds: over all completions, and within."""

    score: str
    overall: float
    within: float


class Findings(NamedTuple):
    """What is known of one split; families: the same by family."""

    problems: int
    found: Sequence[Found]
    families: Mapping[str, Sequence[Found]]
    separations: Sequence[Separation]
    over_completions: Mapping[str, Sequence[Point]]
    over_voters: Sequence[Point]


def read_seed(root: Path, preset: Preset, seed: int, split: str) -> Seed:
    """Return one seed's outcomes from the runs and scores in a recipe's folder."""
    problems = str(root / f"problems/{split}.jsonl")
    held = one_run(str(root / folder(split, seed)), problems, _quiet)
    prepared = ready(held, *choose_scores(scores_path(held.path), None))
    ns = steps(max(len(case.options) for case in prepared.cases))
    picked = [pick(case, prepared.has_logprob, WAYS, ns) for case in prepared.cases]
    greedy = {
        name: baseline(held, str(root / folder(f"{split}-{name}", seed)), problems, _quiet)[1]
        for name in GREEDY
    }
    return Seed(picked, greedy, prepared.has_logprob)


def findings(seeds: Sequence[Seed]) -> Findings:
    """Return what all seeds together say of a split."""
    families = sorted({one.case.family for one in seeds[0].picked})
    ways = list(seeds[0].picked[0].by_way)
    return Findings(
        problems=len(seeds[0].picked),
        found=_found(seeds, ways, None),
        families={family: _found(seeds, ways, family) for family in families},
        separations=[_separation(seeds, name) for name in SCORES],
        over_completions={way: _over_completions(seeds, way) for way in ways if way != MEAN},
        over_voters=_over_voters(seeds),
    )


def _found(seeds: Sequence[Seed], ways: Sequence[str], family: str | None) -> list[Found]:
    by_seed = [_outcomes(seed, ways, family) for seed in seeds]
    pooled = {name: _summed([one[name] for one in by_seed]) for name in by_seed[0]}
    others = [name for name in (*GREEDY, "majority") if name in pooled]
    return [
        Found(
            name,
            _share(mine),
            clustered_wilson(list(mine.values())),
            [_share(one[name]) for one in by_seed],
            {other: difference(pooled[other], mine) for other in others if other != name},
        )
        for name, mine in pooled.items()
    ]


def _outcomes(seed: Seed, ways: Sequence[str], family: str | None) -> dict[str, Outcomes]:
    chosen = [one for one in seed.picked if family in (None, one.case.family)]
    known = {one.case.problem for one in chosen}
    found: dict[str, Outcomes] = {
        name: {problem: told for problem, told in outcomes.items() if problem in known}
        for name, outcomes in seed.greedy.items()
    }
    for way in ways:
        found[way] = {one.case.problem: _counted(one, way) for one in chosen}
    return found


def _counted(one: Picked, way: str) -> tuple[int, int]:
    if way == MEAN:
        return sum(option.right for option in one.case.options), len(one.case.options)
    return round(one.by_way[way][-1]), 1


def _summed(outcomes: Sequence[Outcomes]) -> Outcomes:
    shared = [id for id in outcomes[0] if all(id in one for one in outcomes)]
    return {
        id: (sum(one[id][0] for one in outcomes), sum(one[id][1] for one in outcomes))
        for id in shared
    }


def _share(outcomes: Outcomes) -> float:
    return sum(right / count for right, count in outcomes.values()) / len(outcomes)


def _separation(seeds: Sequence[Seed], name: str) -> Separation:
    score = SCORES[name]
    overall, inside = [], []
    for seed in seeds:
        told = [
            ([score(one) for one in each.case.options], [one.right for one in each.case.options])
            for each in seed.picked
        ]
        scores = [value for values, _ in told for value in values]
        overall.append(auc(scores, [one for _, right in told for one in right]) or 0.5)
        inside.append(within(told).auc or 0.5)
    return Separation(name, sum(overall) / len(seeds), sum(inside) / len(seeds))


def _over_completions(seeds: Sequence[Seed], way: str) -> list[Point]:
    ns = seeds[0].picked[0].ns
    return [
        point(n, _means(seeds, way, at), _means(seeds, "majority", at), len(seeds))
        for at, n in enumerate(ns)
    ]


def _means(seeds: Sequence[Seed], way: str, at: int) -> list[float]:
    """Return each problem's expectation with as many completions, the mean over the seeds."""
    rows = [[one.by_way[way][at] for one in seed.picked] for seed in seeds]
    return [sum(values) / len(values) for values in zip(*rows, strict=True)]


def _over_voters(seeds: Sequence[Seed]) -> list[Point]:
    most = seeds[0].picked[0].ns[-1]
    ks = sorted({k for k in VOTERS if k < most} | {most, WAYS.voters})
    base = _means(seeds, "majority", -1)
    rows = [[one.top[-1] for one in seed.picked] for seed in seeds]
    return [
        point(k, [sum(one[at] for one in tops) / len(tops) for tops in zip(*rows, strict=True)],
              base, len(seeds))
        for at, k in enumerate(ks)
    ]  # fmt: skip


def _quiet(_: str) -> None:
    """Take a warning that the stage itself printed already."""
