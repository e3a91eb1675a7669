"""Accuracy over many samples, over FLOPs, and over the samples of a labelled problem.

None of them is a figure of the paper: the first extends figure 6a, on the self-trained generator
with its verifier (the grid's second round); the second is the same at equal cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from gradeschool.models.local import TRAINING_FILE
from gradeschool.scoring.at_k import steps
from gradeschool.verifier.candidates import CandidateRun, one_run
from gradeschool.verifier.rank import baseline, rank_input
from gradeschool.verifier.reproduce.findings import quiet, read_picked
from gradeschool.verifier.reproduce.flops import sampling_flops, training_flops, transformer_shape
from gradeschool.verifier.reproduce.grid import (
    FEW_SAMPLES,
    LIKELIHOOD,
    ROUNDS,
    TOKEN,
    grid_stages,
)
from gradeschool.verifier.reproduce.plans import (
    TEST,
    AblationPlan,
    Contrast,
    MeasuredPoint,
    PlannedPoint,
    StageBuilder,
)
from gradeschool.verifier.reproduce.points import of_chances
from gradeschool.verifier.scores import choose_scores
from gradeschool.verifier.selection import (
    BEST,
    MAJORITY,
    best_of,
    passes,
)

MANY, MANY_PROBLEMS = 1024, 128
FEWER = 32  # the recipe's number of samples at test time
KS = (1, FEW_SAMPLES, 32)  # samples of each labelled problem
ROUND = ROUNDS[1]
SELF_TRAINED = "best by logprob, self-trained again"
SELECTED = {
    BEST: "best by verifier",
    "weighted": "verifier-weighted vote",
    MAJORITY: "majority vote",
    "logprob": "best by own logprob",
}
# The same strategies by the paper's head.
BY_HEAD = {
    BEST: "best by the paper's head",
    "weighted": "vote weighted by the paper's head",
}
GREEDY_NAMES = ("one greedy answer", "one greedy answer, self-trained again")


class ManySamples(NamedTuple):
    """The files of many samples of a few test problems, of their scores, and of greedy answers.

    scores: by the verifier, with the log-probabilities under the generator. self_scores: under the
    generator that was trained again. head_scores: by the paper's head. greedy: runs of both
    generators. generator: its folder. trained: by score, the folders of what was trained and
    sampled for it.
    """

    run: str
    scores: str
    self_scores: str
    head_scores: str
    greedy: tuple[str, str]
    generator: str
    trained: Mapping[str, Sequence[str]]


def figure_n(builder: StageBuilder) -> AblationPlan:
    """Return the plan of the accuracy over up to MANY samples."""
    many = _many_samples(builder)
    best, vote = SELECTED[BEST], SELECTED["weighted"]
    names = (*SELECTED.values(), *BY_HEAD.values(), SELF_TRAINED)
    turns = [
        Contrast(f"{name}: {MANY:,} samples against {FEWER}", (0, name, MANY), (0, name, FEWER))
        for name in names
    ]
    contrasts = (
        *turns,
        Contrast(f"weighted vote against best, {MANY:,} samples", (0, vote, MANY), (0, best, MANY)),
        *(Contrast(f"verifier against logprob, self-trained again, {n:,} samples", (0, best, n),
                   (0, SELF_TRAINED, n)) for n in (FEWER, MANY)),
        Contrast(f"best of {MANY:,} by verifier against {GREEDY_NAMES[1]}", (0, best, MANY),
                 (0, GREEDY_NAMES[1], MANY)),
        Contrast(f"best of {FEWER} by verifier against {2 * FEWER} votes, as many FLOPs",
                 (0, best, FEWER), (0, SELECTED[MAJORITY], 2 * FEWER)),
    )  # fmt: skip
    return AblationPlan([], contrasts=contrasts, read=partial(over_samples, many), titles=("",))


def figure_compute(builder: StageBuilder) -> AblationPlan:
    """Return the plan of the accuracy over FLOPs: of one answer, and including training."""
    answers = builder.preset.tested[0]
    titles = ("an answer", f"training and {answers:,} answers")
    read = partial(over_flops, _many_samples(builder), answers)
    return AblationPlan([], contrasts=(), read=read, titles=titles)


def figure_k(builder: StageBuilder) -> AblationPlan:
    """Return the plan of the accuracy over samples per labelled problem, with equal totals.

    The verifiers start as the generator and use the preset's options.
    """
    _add_grid(builder)
    preset = builder.preset
    count = preset.labelled * preset.k
    names = {1: "samples" if preset.k == 1 else "samples-single", FEW_SAMPLES: "samples-few"}
    points = []
    best, vote = SELECTED[BEST], SELECTED["weighted"]
    for k in KS:
        limit = count // k if count // k < preset.labelled else 0
        drawn = builder.drawn(names.get(k, f"samples-{k}-each"), "generator", "labelled", k,
                              preset.temperature, limit)  # fmt: skip
        run, scores = builder.scored(builder.verifier(f"verifier-k{k}", (), samples=drawn))
        for strategy in (BEST, "weighted", MAJORITY):
            name = SELECTED[strategy]
            points.append(PlannedPoint(0, name, k, run, scores, strategy == MAJORITY, strategy))
    contrasts = tuple(
        Contrast(f"{name}: {k} of a problem against {KS[0]}", (0, name, k), (0, name, KS[0]))
        for name in (best, vote)
        for k in KS[1:]
    )
    return AblationPlan([], tuple(points), contrasts)


def _add_grid(builder: StageBuilder) -> None:
    """Add the grid's stages under their names in the grid."""
    for stage in grid_stages(builder.preset):
        builder.stages.setdefault(stage.name, stage)


def _many_samples(builder: StageBuilder) -> ManySamples:
    """Add the samples, their scores and the greedy answers."""
    _add_grid(builder)
    preset, model = builder.preset, ROUND.generator
    problems = min(MANY_PROBLEMS, preset.tested[0])
    what = builder.drawn("test-many", model, "test", MANY, preset.test_temperature, problems)
    run, verifier, head = builder.folder_of(what), *map(ROUND.verifier, (LIKELIHOOD, TOKEN))
    paths = []
    for name, reader, options in (
        ("scores-many", verifier, ("--verifier", builder.folder_of(verifier), "--generator",
                                   builder.folder_of(model))),
        ("scores-many-self", ROUND.self_trained,
         ("--generator", builder.folder_of(ROUND.self_trained))),
        ("scores-many-token", head, ("--verifier", builder.folder_of(head))),
    ):  # fmt: skip
        path = builder.folder_of(f"{name}.jsonl")
        command = ("verifier", "score", run, *options, "-d", TEST, "-o", path)
        needs = (f"{what}-{builder.seed}", f"{reader}-{builder.seed}")
        builder.want(builder.stage(name, command, needs))
        paths.append(path)
    greedy = (builder.greedy(model), builder.greedy(ROUND.self_trained))
    first = ("generator", "samples", model)
    again = (*first, f"samples{ROUND.suffix}", ROUND.self_trained)
    trained = {
        "": first,
        "again": again,
        "verifier": (*again, verifier),
        "head": (*again, head),
    }
    folders = {name: tuple(map(builder.folder_of, needed)) for name, needed in trained.items()}
    scores, self_scores, head_scores = paths
    own = builder.folder_of(model)
    return ManySamples(run, scores, self_scores, head_scores, greedy, own, folders)


class SampleCurve(NamedTuple):
    """One selection strategy over the number of samples.

    passes: over each sample, to write and to score it. trained: a key of `ManySamples.trained`.
    points: by the number of samples.
    """

    name: str
    passes: int
    trained: str
    points: Mapping[int, MeasuredPoint]


def over_samples(many: ManySamples, root: Path) -> list[MeasuredPoint]:
    """Return mean accuracies over the number of samples, from subsets of all samples.

    A point holds the problems that have as many samples.
    """
    sampled = one_run(str(root / many.run), str(root / TEST), quiet)
    points = [point for curve in _curves(many, root, sampled) for point in curve.points.values()]
    ns = sorted({int(point.x) for point in points})
    for level in _greedy(many, root, sampled):
        points += [level._replace(x=n, baseline=True) for n in ns]
    return points


def over_flops(many: ManySamples, answers: int, root: Path) -> list[MeasuredPoint]:
    """Return the same accuracies over the FLOPs of an answer, and over those of all answers.

    The second panel adds the FLOPs of every training and of the labelled samples.
    """
    shape = transformer_shape(root / many.generator)
    cost = sampling_flops(root / many.run, shape)
    trained = {
        name: sum(
            training_flops(root / folder, shape)
            if (root / folder / TRAINING_FILE).is_file()
            else sampling_flops(root / folder, shape).total
            for folder in folders
        )
        for name, folders in many.trained.items()
    }
    sampled = one_run(str(root / many.run), str(root / TEST), quiet)
    results: list[tuple[MeasuredPoint, float, float]] = []
    for curve in _curves(many, root, sampled):
        for n, point in curve.points.items():
            flops = cost.of_samples(n) * curve.passes
            results.append((point, flops, trained[curve.trained]))
    runs = zip(GREEDY_NAMES, _greedy(many, root, sampled), many.greedy, ("", "again"), strict=True)
    for _, point, run, needed in runs:
        flops = sampling_flops(root / run, shape).of_samples(1)
        results.append((point, flops, trained[needed]))
    return [point._replace(panel=0, x=flops) for point, flops, _ in results] + [
        point._replace(panel=1, x=before + answers * flops) for point, flops, before in results
    ]


def _curves(many: ManySamples, root: Path, sampled: CandidateRun) -> list[SampleCurve]:
    curves = []
    for names, scores, trained in (
        (SELECTED, many.scores, "verifier"),
        (BY_HEAD, many.head_scores, "head"),
    ):
        ranked, picked = read_picked(sampled, root / scores)
        most = max(len(case.options) for case in ranked.cases)
        ns = steps(most)
        for strategy, name in names.items():
            points = {
                n: of_chances(name, n, {
                    each.case.problem: each.by_strategy[strategy][each.ns.index(n)]
                    for each in picked if n in each.ns}, max(1, most // n))
                for n in ns
            }  # fmt: skip
            needed = trained if strategy in (BEST, "weighted") else ""
            read = passes(strategy, ranked.stored)
            curves.append(SampleCurve(name, read, needed, points))
    by_self = rank_input(sampled, *choose_scores(root / many.self_scores, None))
    points = {
        n: of_chances(SELF_TRAINED, n, {
            case.problem: best_of(case.options, [option.score for option in case.options], n)
            for case in by_self.cases if len(case.options) >= n}, max(1, most // n))
        for n in ns
    }  # fmt: skip
    return [*curves, SampleCurve(SELF_TRAINED, passes(BEST, by_self.stored), "again", points)]


def _greedy(many: ManySamples, root: Path, sampled: CandidateRun) -> list[MeasuredPoint]:
    """Return the greedy answers to the same problems, at one sample."""
    points = []
    for name, run in zip(GREEDY_NAMES, many.greedy, strict=True):
        _, outcomes, _, _ = baseline(sampled, str(root / run), str(root / TEST), quiet)
        chances = {problem: right / count for problem, (right, count) in outcomes.items()}
        points.append(of_chances(name, 1, chances, 1))
    return points
