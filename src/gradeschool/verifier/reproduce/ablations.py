"""The paper's figures as further stages of a recipe's first training seed.

Verifiers of figures 5a, 5b and 7 have the paper's scalar head; figures 5 and 5c use the preset's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from gradeschool.verifier.reproduce.grid import grid_stages
from gradeschool.verifier.reproduce.plans import (
    TEST,
    AblationPlan,
    Contrast,
    PlannedPoint,
    StageBuilder,
    parameters,
)
from gradeschool.verifier.reproduce.points import training_curves
from gradeschool.verifier.reproduce.presets import TRAIN, Preset, stages_of
from gradeschool.verifier.reproduce.scaling import figure_compute, figure_k, figure_n
from gradeschool.verifier.reproduce.stages import Stage

EPOCHS: tuple[float, ...] = (0.5, 1.0, 3.0)
DROPOUT = 0.2  # the paper's
GRID = "grid"  # not a figure of the paper: see `grid`
CURVE_PROBLEMS, CURVE_SAMPLES = 200, 16  # maximum numbers for figure 3


def plan(name: str, preset: Preset) -> AblationPlan:
    """Return the plan of a figure of the paper, or of the grid."""
    if name == GRID:
        return AblationPlan([*stages_of(preset), *grid_stages(preset)])
    builder = StageBuilder(
        preset, preset.seeds[0], {stage.name: stage for stage in stages_of(preset)}
    )
    ablation = PLANS[name](builder)
    return ablation._replace(stages=builder.needed())


def merged(plans: Iterable[AblationPlan]) -> list[Stage]:
    """Return the stages of several figures, each once, after the stages that they need."""
    by_name: dict[str, Stage] = {}
    for ablation in plans:
        for stage in ablation.stages:
            by_name.setdefault(stage.name, stage)
    return list(by_name.values())


def _figure_2(builder: StageBuilder) -> AblationPlan:
    name = "fine-tuning"
    counts, sizes = builder.problems(), builder.sizes
    points = [
        PlannedPoint(0, name, n, builder.greedy(builder.generator(problems=n))) for n in counts
    ]
    points += [
        PlannedPoint(1, name, parameters(s), builder.greedy(builder.generator(s))) for s in sizes
    ]
    small, large = map(parameters, sizes)
    contrasts = (
        Contrast("all problems against a quarter", (0, name, counts[2]), (0, name, counts[0])),
        Contrast("the larger model against the smaller", (1, name, large), (1, name, small)),
    )
    return AblationPlan([], tuple(points), contrasts)


def _figure_3(builder: StageBuilder) -> AblationPlan:
    preset, what = builder.preset, "generator-curves"
    problems, k = min(CURVE_PROBLEMS, preset.tested[0]), min(CURVE_SAMPLES, preset.n)
    new = ("finetune", "-m", f"new:{preset.size}", "-d", TRAIN, "-o", builder.folder_of(what))
    curves = ("--dev", TEST, "--dev-problems", str(problems), "-k", str(k))
    command = (*new, *preset.generator, *curves, *builder.of_seed)
    builder.want(builder.stage(what, command, ("problems-train", "problems-test")))
    return AblationPlan(
        [],
        read=partial(training_curves, f"{builder.folder_of(what)}/curves.jsonl"),
        titles=("test@1", f"test@{k}"),
    )


def _figure_5(builder: StageBuilder) -> AblationPlan:
    count = builder.preset.labelled
    counts = (count // 10, count // 3, count)
    verified, trained = "best by verifier", "trained on right samples"
    points = []
    base = builder.greedy("generator")
    for n in counts:
        control = builder.control(n)
        limit = () if n == count else ("-n", str(n))
        what = "verifier" if n == count else f"verifier-{n}"
        verifier = builder.verifier(what, limit, init=control)
        points.append(PlannedPoint(0, verified, n, *builder.scored(verifier)))
        points.append(PlannedPoint(0, trained, n, builder.greedy(control)))
        points.append(PlannedPoint(0, "fine-tuning", n, base, baseline=True))
    best = (0, verified, count)
    contrasts = (
        Contrast("verification against fine-tuning", best, (0, "fine-tuning", count)),
        Contrast("verification against the control", best, (0, trained, count)),
    )
    return AblationPlan([], tuple(points), contrasts, titles=("",), x="Labelled problems")


def _figure_5a(builder: StageBuilder) -> AblationPlan:
    points = [PlannedPoint(0, f"{level} level", x, *builder.head(level, x))
             for level in ("token", "solution") for x in EPOCHS]  # fmt: skip
    end = EPOCHS[-1]
    words = "token level against solution level, at the end"
    contrast = Contrast(words, (0, "token level", end), (0, "solution level", end))
    return AblationPlan([], tuple(points), (contrast,))


def _figure_5b(builder: StageBuilder) -> AblationPlan:
    points = [PlannedPoint(0, "joint", x, *builder.head("token", x)) for x in EPOCHS]
    points += [
        PlannedPoint(0, "verification only", x, *builder.head("token", x, "verification"))
        for x in EPOCHS
    ]
    end = EPOCHS[-1]
    words = "joint against verification only, at the end"
    contrast = Contrast(words, (0, "joint", end), (0, "verification only", end))
    return AblationPlan([], tuple(points), (contrast,))


def _figure_5c(builder: StageBuilder) -> AblationPlan:
    sizes = builder.sizes
    points = []
    for size in sizes:
        for other in sizes:
            generator, init = builder.generator(size), builder.generator(other)
            what = f"verifier-{other}-of-{size}"
            verifier = builder.verifier(what, (), generator, "" if init == generator else init)
            point = builder.scored(verifier, generator)
            points.append(PlannedPoint(0, f"generator of {size}", parameters(other), *point))
    small, large = sizes
    contrast = Contrast(
        "a large generator with a small verifier against the reverse",
        (0, f"generator of {large}", parameters(small)),
        (0, f"generator of {small}", parameters(large)),
    )
    return AblationPlan(
        [], tuple(points), (contrast,), x="Parameters of the verifier", scale="log10"
    )


def _figure_6(builder: StageBuilder) -> AblationPlan:
    for split in builder.preset.splits:
        for seed in builder.preset.seeds:
            builder.want(f"rank-{split}-{seed}")
    return AblationPlan([], titles=builder.preset.splits)


def _figure_calculator(builder: StageBuilder) -> AblationPlan:
    names = {True: "with the calculator", False: "without"}
    counts = builder.problems()
    points = [
        PlannedPoint(0, name, n, builder.greedy(builder.generator(problems=n), calculator))
        for calculator, name in names.items()
        for n in counts
    ]
    contrasts = tuple(
        Contrast(f"with against without, {n:,} problems", (0, names[True], n), (0, names[False], n))
        for n in counts
    )
    return AblationPlan([], tuple(points), contrasts)


def _figure_7(builder: StageBuilder) -> AblationPlan:
    names = {0.0: "no dropout", DROPOUT: f"dropout {DROPOUT:g}"}
    points, counts = [], builder.problems()
    for rate, name in names.items():
        for n in counts:
            run = builder.greedy(builder.generator(problems=n, dropout=rate))
            points.append(PlannedPoint(0, name, n, run))
        for panel, level in enumerate(("solution", "token"), 1):
            points += [
                PlannedPoint(panel, name, x, *builder.head(level, x, dropout=rate)) for x in EPOCHS
            ]
    contrasts = tuple(
        Contrast(
            f"dropout against none, {words}", (panel, names[DROPOUT], x), (panel, names[0.0], x)
        )
        for panel, (words, x) in enumerate(
            [
                ("fine-tuning", counts[2]),
                ("solution level", EPOCHS[-1]),
                ("token level", EPOCHS[-1]),
            ]
        )
    )
    return AblationPlan([], tuple(points), contrasts)


PLANS: dict[str, Callable[[StageBuilder], AblationPlan]] = {
    "2": _figure_2,
    "3": _figure_3,
    "5": _figure_5,
    "5a": _figure_5a,
    "5b": _figure_5b,
    "5c": _figure_5c,
    "6a": _figure_6,
    "6b": _figure_6,
    "7": _figure_7,
    "calculator": _figure_calculator,
    "n": figure_n,
    "k": figure_k,
    "compute": figure_compute,
}
