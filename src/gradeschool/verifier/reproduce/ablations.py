"""The paper's figures as further stages of a recipe's first training seed, and where to read them.

Verifiers of figures 5a, 5b and 7 have the paper's scalar head; those of 5 and 5c are the preset's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from gradeschool.errors import DataError
from gradeschool.scoring.at_k import steps
from gradeschool.scoring.statistics import Interval, clustered_wilson, wilson
from gradeschool.verifier.rank import CurvePoint, difference, one_run, ready
from gradeschool.verifier.reproduce.findings import BASELINE, SELECTION, Findings
from gradeschool.verifier.reproduce.grid import grid_stages
from gradeschool.verifier.reproduce.presets import (
    LABELLED,
    TRAIN,
    Preset,
    folder,
    kept_right,
    stages_of,
)
from gradeschool.verifier.reproduce.stages import Stage, stages_for
from gradeschool.verifier.scores import choose_scores
from gradeschool.verifier.selection import BEST, MAJORITY, pick

EPOCHS: tuple[float, ...] = (0.5, 1.0, 3.0)
DROPOUT = 0.2  # the paper's
GRID = "grid"  # no figure of the paper: see `grid`
CURVE_PROBLEMS, CURVE_SAMPLES = 200, 16  # of figure 3, at most


class PlannedPoint(NamedTuple):
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


class AblationPlan(NamedTuple):
    """What a figure needs, and what it shows.

    curves: the file of a training's curves, figure 3's. titles, x, scale: of the panels, None for
    the paper's.
    """

    stages: list[Stage]
    points: tuple[PlannedPoint, ...] = ()
    contrasts: tuple[Contrast, ...] = ()
    curves: str = ""
    titles: tuple[str, ...] | None = None
    x: str | None = None
    scale: str | None = None


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
    """Return the stages of several figures, each once, behind what they need."""
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
        [], curves=f"{builder.folder_of(what)}/curves.jsonl", titles=("test@1", f"test@{k}")
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
}


TEST = "problems/test.jsonl"
# By size of the preset, the one that it is held against.
OTHER_SIZE = {"0.2M": "0.05M", "1M": "0.2M", "5M": "1M"}
# Of the verifiers with the paper's head. They learn slowly at this scale: at the laptop's 30,000
# labels three epochs are 5,625 updates.
HEAD = ("--optimizer", "muon", "--lr", "2e-3", "--warmup", "30", "--batch", "16", "--group", "1")


@dataclass(slots=True)
class StageBuilder:
    """Gathers stages; a model, a run or a verifier has the same name in every figure."""

    preset: Preset
    seed: int
    stages: dict[str, Stage]
    targets: list[str] = field(default_factory=list)

    def needed(self) -> list[Stage]:
        """Return the targets and all stages that they need, in order."""
        return stages_for(list(self.stages.values()), self.targets)

    def folder_of(self, what: str) -> str:
        """Return where a model or a run lies."""
        return folder(what, self.seed)

    def stage(
        self, what: str, command: tuple[str, ...], needs: tuple[str, ...], out: str = ""
    ) -> str:
        """Add a stage once and return its name."""
        name = f"{what}-{self.seed}"
        self.stages.setdefault(name, Stage(name, command, needs, out))
        return name

    def want(self, name: str) -> None:
        """Ask for a stage."""
        if name not in self.targets:
            self.targets.append(name)

    @property
    def of_seed(self) -> tuple[str, str]:
        """Return the option of the training seed."""
        return ("--seed", str(self.seed))

    def generator(self, size: str = "", problems: int = 0, dropout: float = 0.0) -> str:
        """Return the name of a generator, trained as the preset's but for what is given."""
        what, options = "generator", list(self.preset.generator)
        if size and size != self.preset.size:
            what += f"-{size}"
        if problems and problems != self.preset.problems:
            what += f"-of-{problems}"
            options += ["-n", str(problems)]
        if dropout:
            what += "-dropout"
            options += ["--dropout", f"{dropout:g}"]
        new = ("finetune", "-m", f"new:{size or self.preset.size}", "-d", TRAIN)
        command = (*new, "-o", self.folder_of(what), *options, *self.of_seed)
        self.stage(what, command, ("problems-train",))
        return what

    def greedy(self, model: str, calculator: bool = True) -> str:
        """Return the run of a model's greedy answers to the test problems."""
        what = f"test-{model}" if calculator else f"test-{model}-alone"
        run, how = self.folder_of(what), () if calculator else ("--no-calculator",)
        sampled = ("sample", "-m", f"transformers/{self.folder_of(model)}", "-o", run, "-k", "1")
        command = (*sampled, "--temperature", "0", *how, "-d", TEST, *self.of_seed)
        needs = (f"{model}-{self.seed}", "problems-test")
        self.want(self.stage(what, command, needs))
        return run

    def drawn(self, what: str, model: str, problems: str, k: int, temperature: float) -> str:
        """Return the name of a run of several completions a problem."""
        if model != "generator":
            what += model.removeprefix("generator")
        path = TEST if problems == "test" else LABELLED
        many = ("-k", str(k), "--temperature", f"{temperature:g}")
        sampled = (
            "sample",
            "-m",
            f"transformers/{self.folder_of(model)}",
            "-o",
            self.folder_of(what),
        )
        self.stage(what, (*sampled, *many, "-d", path, *self.of_seed),
                   (f"{model}-{self.seed}", f"problems-{problems}"))  # fmt: skip
        return what

    def samples(self, model: str) -> str:
        """Return the name of a generator's samples that a verifier learns from."""
        preset = self.preset
        return self.drawn("samples", model, "labelled", preset.k, preset.temperature)

    def tested(self, model: str) -> str:
        """Return the name of a generator's test completions."""
        return self.drawn("test", model, "test", self.preset.n, self.preset.test_temperature)

    def control(self, count: int) -> str:
        """Return the name of the generator trained further on its right samples of the first."""
        if count == self.preset.labelled:
            return "control"
        some, right = f"problems/labelled-{count}.jsonl", f"right-{count}"
        before, after = _around(self.stages["problems-labelled"].command, "-n")
        name = f"problems-labelled-{count}"
        self.stages.setdefault(name, Stage(name, (*before, str(count), *after), stdout=some))
        samples = self.samples("generator")
        kept = kept_right(self.preset, self.folder_of(samples), some)
        path = self.folder_of(f"{right}.jsonl")
        needs = (f"{samples}-{self.seed}", name, "problems-train")
        self.stage(right, kept, needs, path)
        what = f"control-{count}"
        further = (
            "finetune",
            "-m",
            self.folder_of("generator"),
            "-d",
            path,
            "-o",
            self.folder_of(what),
        )
        command = (*further, *self.preset.control, *self.of_seed)
        self.stage(what, command, (f"{right}-{self.seed}",))
        return what

    def verifier(
        self, what: str, options: tuple[str, ...], generator: str = "generator", init: str = ""
    ) -> str:
        """Return the name of a verifier; init: whose weights it begins with, if not the same."""
        samples = self.samples(generator)
        begun = ("verifier", "train", "--generator", self.folder_of(generator))
        read = ("--samples", self.folder_of(samples), "-d", LABELLED, "-o", self.folder_of(what))
        first = ("--init", self.folder_of(init)) if init else ()
        needs = [f"{samples}-{self.seed}", *([f"{init}-{self.seed}"] if init else [])]
        words = self.preset.verifier  # name, value, name, value, ...
        kept = [
            pair for pair in zip(words[::2], words[1::2], strict=True) if pair[0] not in options
        ]
        usual = [word for pair in kept for word in pair]
        self.stage(what, (*begun, *first, *read, *usual, *options, *self.of_seed),
                   tuple(needs))  # fmt: skip
        return what

    def scored(self, verifier: str, generator: str = "generator") -> tuple[str, str]:
        """Return a run of test completions and the file of a verifier's scores of them."""
        run = self.tested(generator)
        path = self.folder_of(f"scores-{verifier}.jsonl")
        command = ("verifier", "score", self.folder_of(run), "--verifier", self.folder_of(verifier))
        needs = (f"{run}-{self.seed}", f"{verifier}-{self.seed}")
        self.want(self.stage(f"scores-{verifier}", (*command, "-o", path, "-d", TEST), needs))
        return self.folder_of(run), path

    def head(
        self, level: str, epochs: float, objective: str = "joint", dropout: float = 0.0
    ) -> tuple[str, str]:
        """Return run and scores of a verifier with the paper's head.

        All learn from all labels, and from no reference solution of the labelled problems. With
        dropout, the verifier begins as a generator that was trained with it, else as the generator.
        """
        what, init = f"head-{level}-{objective}", ""
        options = [*HEAD, "--level", level, "--objective", objective, "--epochs", f"{epochs:g}"]
        options += ["--language", "right"] if objective == "joint" else []
        if dropout:
            what += "-dropout"
            options += ["--dropout", f"{dropout:g}"]
            init = self.generator(dropout=dropout)
        return self.scored(self.verifier(f"{what}-{epochs:g}", tuple(options), init=init))

    @property
    def sizes(self) -> tuple[str, str]:
        """Return the preset's size and its other one, the smaller first."""
        both = (self.preset.size, OTHER_SIZE[self.preset.size])
        small, large = sorted(both, key=parameters)
        return small, large

    def problems(self) -> tuple[int, int, int]:
        """Return a quarter, a half and all of the training problems."""
        count = self.preset.problems
        return count // 4, count // 2, count


def parameters(size: str) -> float:
    """Return the number of parameters that a size such as 0.2M names."""
    return float(size.removesuffix("M")) * 1e6


def _around(command: tuple[str, ...], option: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the parts of a command before and after an option's value."""
    index = command.index(option) + 1
    return command[:index], command[index + 1 :]


# The ways of figure 6a.
OVER_COMPLETIONS = {
    BEST: "best by verifier",
    "weighted": "verifier-weighted vote",
    MAJORITY: "majority vote",
    "logprob": "best by generator's logprob",
}
VOTE = "top k by verifier"


class MeasuredPoint(NamedTuple):
    """One point. outcomes: right ones of how many, by problem; None: only the share is known."""

    panel: int
    series: str
    x: float
    share: float
    ci95: Interval | None
    outcomes: Mapping[str, tuple[int, int]] | None = None
    baseline: bool = False


class ContrastResult(NamedTuple):
    """Whether one point is above another, as the paper found.

    ci95: of the difference by problem; None where only the two shares' own intervals are known, and
    it holds if these lie apart. outcome: "holds", "the reverse", "not decided", or, of a curve that
    does not rise or fall at all, "does not hold".
    """

    words: str
    difference: float
    ci95: Interval | None
    outcome: str


def measure(root: Path, plan: AblationPlan) -> list[MeasuredPoint]:
    """Return the points of a figure's runs and curves in a recipe's folder."""
    if plan.curves:
        return _curves(root / plan.curves)
    return [_measured(root, point) for point in plan.points]


def over_completions(panel: int, results: Findings) -> list[MeasuredPoint]:
    """Return the points of figure 6a for one split."""
    points = [
        _of_point(panel, title, score)
        for strategy, title in OVER_COMPLETIONS.items()
        for score in results.over_completions.get(strategy, ())
    ]
    level = next(strategy.accuracy for strategy in results.strategies if strategy.name == BASELINE)
    ns = [score.n for score in results.over_completions[BEST]]
    return [*points, *(MeasuredPoint(panel, "fine-tuning", n, level, None, None, True) for n in ns)]


def over_voters(panel: int, results: Findings) -> list[MeasuredPoint]:
    """Return the points of figure 6b for one split."""
    return [_of_point(panel, VOTE, score) for score in results.over_voters]


def verdicts(
    name: str, plan: AblationPlan, measured: Sequence[MeasuredPoint]
) -> list[ContrastResult]:
    """Return what holds of the paper's findings of a figure."""
    by_place = {
        (measured_value.panel, measured_value.series, measured_value.x): measured_value
        for measured_value in measured
    }
    contrasts = plan.contrasts or _over_x(name, plan.titles or (), measured)
    return [
        _verdict(
            measured_value.words, by_place[measured_value.better], by_place[measured_value.worse]
        )
        for measured_value in contrasts
    ]


def _of_point(panel: int, series: str, score: CurvePoint) -> MeasuredPoint:
    return MeasuredPoint(panel, series, score.n, score.accuracy, score.ci95)


def _measured(root: Path, point: PlannedPoint) -> MeasuredPoint:
    sampled = one_run(str(root / point.run), str(root / TEST), _quiet)
    if point.scores:
        name, rows = choose_scores(root / point.scores, None)
        cases = ready(sampled, name, rows).cases
        ns = steps(max(len(case.options) for case in cases))
        picked = [pick(case, False, SELECTION, ns) for case in cases]
        outcomes = {
            outcome.case.problem: (round(outcome.by_strategy[BEST][-1]), 1) for outcome in picked
        }
    else:
        outcomes = {
            outcome.problem.id: (
                sum(each.right for each in outcome.candidates),
                len(outcome.candidates),
            )
            for outcome in sampled.answered
        }
    share = sum(right / count for right, count in outcomes.values()) / len(outcomes)
    interval = clustered_wilson(list(outcomes.values()))
    return MeasuredPoint(
        point.panel, point.series, point.x, share, interval, outcomes, point.baseline
    )


def _curves(path: Path) -> list[MeasuredPoint]:
    """Return test@1 and test@k after every epoch; an interval takes a problem as one trial."""
    results = []
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        for panel, name in enumerate(("test@1", "test@k")):
            if name not in row:
                raise DataError(f"{str(path)!r} has a row without {name!r}; make it again")
            interval = wilson(row[name] * row["problems"], row["problems"])
            results.append(MeasuredPoint(panel, "fine-tuning", row["epoch"], row[name], interval))
    if not results:
        raise DataError(f"{str(path)!r} has no curve; make it again")
    return results


def _over_x(name: str, titles: Sequence[str], measured: Sequence[MeasuredPoint]) -> list[Contrast]:
    """Return what figures over epochs, completions or voters show: a rise, a fall from the peak."""
    contrasts = []
    for panel, title in enumerate(titles):
        first = next(value for value in measured if value.panel == panel).series
        points = [value for value in measured if (value.panel, value.series) == (panel, first)]
        start, peak, end = (
            (panel, first, value.x)
            for value in (points[0], max(points, key=lambda value: value.share), points[-1])
        )
        rise = Contrast(f"{title}: rises from {start[2]:g} to {peak[2]:g}", peak, start)
        words = (
            f"from {peak[2]:g} to {end[2]:g}"
            if peak != end
            else f"(highest at {end[2]:g}, the last)"
        )
        fall = Contrast(f"{title}: falls {words}", peak, end)
        contrasts += {"3": [[rise], [fall]][min(panel, 1)], "6a": [rise, fall]}.get(name, [rise])
    return contrasts


def _verdict(words: str, better: MeasuredPoint, worse: MeasuredPoint) -> ContrastResult:
    if better.outcomes is not None and worse.outcomes is not None:
        gap = difference(worse.outcomes, better.outcomes)
        outcome = _outcome(gap.ci95.low > 0, gap.ci95.high < 0)
        return ContrastResult(words, gap.difference, gap.ci95, outcome)
    if better == worse:
        return ContrastResult(words, 0.0, None, "does not hold")
    above = better.ci95 and worse.ci95 and better.ci95.low > worse.ci95.high
    below = better.ci95 and worse.ci95 and better.ci95.high < worse.ci95.low
    return ContrastResult(
        words, better.share - worse.share, None, _outcome(bool(above), bool(below))
    )


def _outcome(above: bool, below: bool) -> str:
    return "holds" if above else "the reverse" if below else "not decided"


def _quiet(_: str) -> None:
    """Take a warning that the stage itself printed already."""
