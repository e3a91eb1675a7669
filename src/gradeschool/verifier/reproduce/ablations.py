"""The paper's figures as further stages of a recipe's first training seed, and where to read them.

Verifiers of figures 5a, 5b and 7 have the paper's scalar head; those of 5 and 5c are the preset's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from gradeschool.verifier.reproduce.ablation_stages import TEST, Maker, parameters
from gradeschool.verifier.reproduce.presets import SPLITS, TRAIN, Preset, stages_of
from gradeschool.verifier.reproduce.stages import Stage

EPOCHS: tuple[float, ...] = (0.5, 1.0, 2.0)
DROPOUT = 0.2  # the paper's
CURVE_PROBLEMS, CURVE_SAMPLES = 200, 16  # of figure 3, at most


class Spot(NamedTuple):
    """One point to be read: a run's greedy answers, or with scores its best by verifier."""

    panel: int
    series: str
    x: float
    run: str
    scores: str = ""
    baseline: bool = False


class Contrast(NamedTuple):
    """What the paper found: one point above another, each named by panel, series and x."""

    words: str
    better: tuple[int, str, float]
    worse: tuple[int, str, float]


class Plan(NamedTuple):
    """What a figure needs, and what it shows.

    curves: the file of a training's curves, figure 3's. titles, x, scale: of the panels, None for
    the paper's.
    """

    stages: list[Stage]
    spots: tuple[Spot, ...] = ()
    contrasts: tuple[Contrast, ...] = ()
    curves: str = ""
    titles: tuple[str, ...] | None = None
    x: str | None = None
    scale: str | None = None


def plan(name: str, preset: Preset) -> Plan:
    """Return the plan of a figure of the paper."""
    maker = Maker(preset, preset.seeds[0], {one.name: one for one in stages_of(preset)})
    found = PLANS[name](maker)
    return found._replace(stages=maker.needed())


def merged(plans: Iterable[Plan]) -> list[Stage]:
    """Return the stages of several figures, each once, behind what they need."""
    found: dict[str, Stage] = {}
    for one in plans:
        for stage in one.stages:
            found.setdefault(stage.name, stage)
    return list(found.values())


def _figure_2(maker: Maker) -> Plan:
    name = "fine-tuning"
    counts, sizes = maker.problems(), maker.sizes
    spots = [Spot(0, name, n, maker.greedy(maker.generator(problems=n))) for n in counts]
    spots += [Spot(1, name, parameters(s), maker.greedy(maker.generator(s))) for s in sizes]
    small, large = map(parameters, sizes)
    contrasts = (
        Contrast("all problems against a quarter", (0, name, counts[2]), (0, name, counts[0])),
        Contrast("the larger model against the smaller", (1, name, large), (1, name, small)),
    )
    return Plan([], tuple(spots), contrasts)


def _figure_3(maker: Maker) -> Plan:
    preset, what = maker.preset, "generator-curves"
    problems, k = min(CURVE_PROBLEMS, preset.tested[0]), min(CURVE_SAMPLES, preset.n)
    new = ("finetune", "-m", f"new:{preset.size}", "-d", TRAIN, "-o", maker.at(what))
    curves = ("--dev", TEST, "--dev-problems", str(problems), "-k", str(k))
    command = (*new, *preset.generator, *curves, *maker.of_seed)
    maker.want(maker.stage(what, command, ("problems-train", "problems-test")))
    return Plan([], curves=f"{maker.at(what)}/curves.jsonl", titles=("test@1", f"test@{k}"))


def _figure_5(maker: Maker) -> Plan:
    count = maker.preset.labelled
    counts = (count // 10, count // 3, count)
    verified, trained = "best by verifier", "trained on right samples"
    spots = []
    base = maker.greedy("generator")
    for n in counts:
        control = maker.control(n)
        limit = () if n == count else ("-n", str(n))
        what = "verifier" if n == count else f"verifier-{n}"
        verifier = maker.verifier(what, limit, init=control)
        spots.append(Spot(0, verified, n, *maker.scored(verifier)))
        spots.append(Spot(0, trained, n, maker.greedy(control)))
        spots.append(Spot(0, "fine-tuning", n, base, baseline=True))
    best = (0, verified, count)
    contrasts = (
        Contrast("verification against fine-tuning", best, (0, "fine-tuning", count)),
        Contrast("verification against the control", best, (0, trained, count)),
    )
    return Plan([], tuple(spots), contrasts, titles=("",), x="Labelled problems")


def _figure_5a(maker: Maker) -> Plan:
    spots = [Spot(0, f"{level} level", x, *maker.head(level, x))
             for level in ("token", "solution") for x in EPOCHS]  # fmt: skip
    end = EPOCHS[-1]
    words = "token level against solution level, at the end"
    contrast = Contrast(words, (0, "token level", end), (0, "solution level", end))
    return Plan([], tuple(spots), (contrast,))


def _figure_5b(maker: Maker) -> Plan:
    spots = [Spot(0, "joint", x, *maker.head("token", x)) for x in EPOCHS]
    spots += [
        Spot(0, "verification only", x, *maker.head("token", x, "verification")) for x in EPOCHS
    ]
    end = EPOCHS[-1]
    words = "joint against verification only, at the end"
    contrast = Contrast(words, (0, "joint", end), (0, "verification only", end))
    return Plan([], tuple(spots), (contrast,))


def _figure_5c(maker: Maker) -> Plan:
    sizes = maker.sizes
    spots = []
    for size in sizes:
        for other in sizes:
            generator, init = maker.generator(size), maker.generator(other)
            what = f"verifier-{other}-of-{size}"
            verifier = maker.verifier(what, (), generator, "" if init == generator else init)
            spot = maker.scored(verifier, generator)
            spots.append(Spot(0, f"generator of {size}", parameters(other), *spot))
    small, large = sizes
    contrast = Contrast(
        "a large generator with a small verifier against the reverse",
        (0, f"generator of {large}", parameters(small)),
        (0, f"generator of {small}", parameters(large)),
    )
    return Plan([], tuple(spots), (contrast,), x="Parameters of the verifier", scale="log10")


def _figure_6(maker: Maker) -> Plan:
    for split in SPLITS:
        for seed in maker.preset.seeds:
            maker.want(f"rank-{split}-{seed}")
    return Plan([], titles=tuple(SPLITS))


def _figure_calculator(maker: Maker) -> Plan:
    names = {True: "with the calculator", False: "without"}
    counts = maker.problems()
    spots = [
        Spot(0, name, n, maker.greedy(maker.generator(problems=n), calculator))
        for calculator, name in names.items()
        for n in counts
    ]
    contrasts = tuple(
        Contrast(f"with against without, {n:,} problems", (0, names[True], n), (0, names[False], n))
        for n in counts
    )
    return Plan([], tuple(spots), contrasts)


def _figure_7(maker: Maker) -> Plan:
    names = {0.0: "no dropout", DROPOUT: f"dropout {DROPOUT:g}"}
    spots, counts = [], maker.problems()
    for rate, name in names.items():
        for n in counts:
            run = maker.greedy(maker.generator(problems=n, dropout=rate))
            spots.append(Spot(0, name, n, run))
        for panel, level in enumerate(("solution", "token"), 1):
            spots += [Spot(panel, name, x, *maker.head(level, x, dropout=rate)) for x in EPOCHS]
    contrasts = tuple(
        Contrast(f"dropout against none, {words}", (at, names[DROPOUT], x), (at, names[0.0], x))
        for at, (words, x) in enumerate(
            [
                ("fine-tuning", counts[2]),
                ("solution level", EPOCHS[-1]),
                ("token level", EPOCHS[-1]),
            ]
        )
    )
    return Plan([], tuple(spots), contrasts)


PLANS: dict[str, Callable[[Maker], Plan]] = {
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
}
