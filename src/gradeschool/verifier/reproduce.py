"""The paper from nothing: one table of stages, one runner, one report.

Every stage is a command of this package. What is measured is read from the runs and scores that
the stages leave, so that a report can be written again without running anything.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from gradeschool.atomic import FolderLock, write_file, write_json
from gradeschool.errors import GradeschoolError, InputError, UnknownNameError
from gradeschool.formats.own_run import read_json
from gradeschool.formats.samples import ReadOptions
from gradeschool.percentages import bounds, gain, percent
from gradeschool.problem import MARKER
from gradeschool.scoring.at_k import steps
from gradeschool.scoring.statistics import Interval, clustered_wilson, mean_share
from gradeschool.signals import stop_flag
from gradeschool.verifier.candidates import one_run
from gradeschool.verifier.rank import (
    AccuracyGain,
    aucs_of,
    outcomes_of,
    paired_difference,
    rank_input,
)
from gradeschool.verifier.scores import choose_scores
from gradeschool.verifier.select import (
    BEST,
    COVERAGE,
    MAJORITY,
    STRATEGIES,
    CurvePoint,
    ProblemResult,
    SelectionSettings,
    break_even_auc,
    curves_of,
    pick,
    strategy_title,
    top_curves_of,
)
from gradeschool.worker import python_command, python_environment

TRAIN, LABELLED, TEST = (f"problems/{name}.jsonl" for name in ("train", "labelled", "test"))
DIRECT = "problems/direct.jsonl"  # the training problems with their answers alone
STAGES = "stages"
SELECTION = SelectionSettings(voters=3)
SMALLER = {"5M": "1M", "1M": "0.2M", "0.2M": "0.05M"}
STOP_SECONDS, POLL_SECONDS, TAIL = 60.0, 0.2, 1500
INTERRUPTED = 130
PROGRAM = "from gradeschool.cli import main; main()"
# What the report compares with the majority vote.
SHOWN = (BEST, "weighted", "odds", "frequency", "top", "logprob")


@dataclass(frozen=True, slots=True)
class Preset:
    """One recipe.

    families, steps: of the fresh problems, () for all families. problems: of the generator, with
    solutions. labelled: further problems, of which only final answers are used, with k samples
    each at a temperature. tested: test problems, with n samples each. curve: numbers of labelled
    problems of the learning curve, for the first seed. base: the generator's base model. generator,
    control, verifier: options of the trainings; the verifier's are the paper's head. pooled:
    options in place of them for the second verifier, () for none. probe: whether the verifier
    begins from a probe.
    """

    name: str
    problems: int
    labelled: int
    tested: int
    base: str
    generator: tuple[str, ...]
    control: tuple[str, ...]
    verifier: tuple[str, ...]
    pooled: tuple[str, ...]
    curve: tuple[int, ...]
    families: tuple[str, ...] = ("collection", "comparison", "groups", "shopping")
    steps: tuple[int, int] = (2, 4)
    k: int = 1
    temperature: float = 1.0
    n: int = 32
    test_temperature: float = 0.8
    seeds: tuple[int, ...] = (0, 1, 2)
    problem_seeds: tuple[int, int, int] = (1, 2, 3)  # of train, labelled, test
    gguf: bool = False


MUON = ("--optimizer", "muon", "--batch", "16")
LAPTOP = Preset(
    "laptop", 2000, 120_000, 1000, "new:0.2M",
    generator=("--epochs", "20", "--loss-on", "solution"),
    control=(*MUON, "--epochs", "1", "--lr", "3e-3", "--warmup", "50", "--loss-on", "solution"),
    verifier=(*MUON, "--lr", "2e-3", "--warmup", "30", "--language", "right"),
    pooled=("--level", "pooled"),
    curve=(6_000, 24_000, 60_000),
)  # fmt: skip
LORA = ("--lora", "16", "--warmup", "5")
PRETRAINED = replace(
    LAPTOP, name="pretrained", problems=1280, labelled=6000, base="", steps=(2, 3), k=4, n=16,
    generator=(*LORA, "--epochs", "1", "--lr", "1e-3", "--batch", "8", "--loss-on", "solution"),
    control=(*LORA, "--epochs", "1", "--lr", "5e-4", "--batch", "8", "--loss-on", "solution"),
    verifier=(*LORA, "--lr", "5e-4", "--head-lr", "1e-2", "--batch", "8", "--language", "right",
              "--init-row", "probe", "--level", "pooled"),
    pooled=(), curve=(1500, 3000), seeds=(0,),
)  # fmt: skip
GPU = replace(
    PRETRAINED, name="gpu", families=(), steps=(2, 8), problems=4000, labelled=32_000, n=100,
    generator=("--epochs", "2", "--lr", "1e-5", "--batch", "32"),
    control=("--epochs", "1", "--lr", "1e-5", "--batch", "32"),
    verifier=("--epochs", "2", "--lr", "5e-5", "--head-lr", "1e-2", "--batch", "64", "--warmup",
              "50", "--init-row", "probe", "--level", "pooled"),
    curve=(4000, 16_000),
)  # fmt: skip
TINY = replace(
    LAPTOP, name="tiny", families=(), steps=(2, 8), problems=90_000, labelled=10_000, tested=400,
    generator=("--epochs", "1", "--loss-on", "solution"), pooled=(), curve=(), n=16, seeds=(0,),
    problem_seeds=(7, 2, 3), gguf=True,
)  # fmt: skip
PRESETS = {preset.name: preset for preset in (LAPTOP, PRETRAINED, GPU, TINY)}


@dataclass(frozen=True, slots=True)
class Stage:
    """One command, run in the recipe's folder, to which its paths are relative.

    needs: the stages whose results it reads. stdout: the file for its output, else the stage's log.
    """

    name: str
    command: tuple[str, ...]
    needs: tuple[str, ...] = ()
    stdout: str = ""


class Point(NamedTuple):
    """A point of a figure: a run's accuracy, or that of a strategy by the scores in a file.

    epochs: read the points of a training's curves.jsonl instead, by this name in its rows.
    """

    panel: int
    series: str
    x: float
    run: str
    scores: str = ""
    strategy: str = BEST
    epochs: str = ""


@dataclass(slots=True)
class Recipe:
    """The stages of a preset for one seed; a model, run or file of scores is one stage.

    Each method adds the stages that its result needs, and returns the result's name.
    """

    preset: Preset
    seed: int
    stages: dict[str, Stage] = field(default_factory=dict)

    def add(self, name: str, command: Sequence[str], needs: Sequence[str], out: str = "") -> str:
        """Add a stage once; return its name."""
        self.stages.setdefault(name, Stage(name, tuple(command), tuple(needs), out))
        return name

    def folder(self, what: str) -> str:
        """Return the folder of a model or a run of this seed."""
        return f"seed-{self.seed}/{what}"

    def problems(self, name: str) -> str:
        """Return the stage that draws problems."""
        preset = self.preset
        of = {"train": ("train", preset.problem_seeds[0], preset.problems),
              "labelled": ("train", preset.problem_seeds[1], preset.labelled),
              "test": ("test", preset.problem_seeds[2], preset.tested)}  # fmt: skip
        split, seed, count = of[name]
        families = [word for family in preset.families for word in ("--family", family)]
        command = ("data", "generate", "--split", split, "--seed", str(seed), "-n", str(count),
                   "--steps", *map(str, preset.steps), *families)  # fmt: skip
        return self.add(f"problems-{name}", command, (), f"problems/{name}.jsonl")

    def generator(self, what: str = "generator", base: str = "", *options: str) -> str:
        """Return a generator of the preset with other options."""
        command = ("verifier", "finetune", "-m", base or self.preset.base, "-d", TRAIN, "-o",
                   self.folder(what), *self.preset.generator, *options, "--seed", str(self.seed),
                   "--quiet")  # fmt: skip
        self.add(f"{what}-{self.seed}", _without_repeats(command), (self.problems("train"),))
        return what

    def sampled(self, what: str, model: str, problems: str, k: int, temperature: float) -> str:
        """Return a run of a model."""
        path = {"labelled": LABELLED, "test": TEST}[problems]
        command = ("verifier", "sample", "-m", f"transformers/{self.folder(model)}", "-d", path,
                   "-o", self.folder(what), "-k", str(k), "--temperature", f"{temperature:g}",
                   "--seed", str(self.seed), "--quiet")  # fmt: skip
        needs = (f"{model}-{self.seed}", self.problems(problems))
        self.add(f"{what}-{self.seed}", command, needs)
        return what

    def greedy(self, model: str) -> str:
        """Return the run of a model's greedy answers."""
        return self.sampled(f"greedy-{model}", model, "test", 1, 0.0)

    def samples(self, model: str = "generator") -> str:
        """Return the labelled samples of a generator."""
        preset = self.preset
        name = "samples" + model.removeprefix("generator")
        return self.sampled(name, model, "labelled", preset.k, preset.temperature)

    def tested(self, model: str = "generator") -> str:
        """Return the test samples of a generator."""
        preset = self.preset
        name = "test" + model.removeprefix("generator")
        return self.sampled(name, model, "test", preset.n, preset.test_temperature)

    def verifier(
        self, what: str, *options: str, labels: int = 0, model: str = "generator", init: str = ""
    ) -> str:
        """Return a verifier. labels: of the first labelled problems, 0 for all."""
        samples = self.samples(model)
        some = ("-n", str(labels)) if labels else ()
        first = ("--init", self.folder(init)) if init else ()
        command = ("verifier", "train", "--generator", self.folder(model), *first, "--samples",
                   self.folder(samples), "-d", LABELLED, "-o", self.folder(what),
                   *self.preset.verifier, *options, *some, "--seed", str(self.seed),
                   "--quiet")  # fmt: skip
        needs = [f"{samples}-{self.seed}", *([f"{init}-{self.seed}"] if init else [])]
        self.add(f"{what}-{self.seed}", _without_repeats(command), needs)
        return what

    def scored(self, by: str, model: str = "generator", option: str = "--verifier") -> str:
        """Return the file of a verifier's scores of a generator's test samples."""
        run = self.tested(model)
        path = self.folder(f"scores-{by}.jsonl")
        command = ["verifier", "score", self.folder(run), option, self.folder(by), "-d", TEST, "-o",
                   path]  # fmt: skip
        if option == "--verifier" and by == "verifier":
            command += ["--generator", self.folder(model)]
        self.add(f"scores-{by}-{self.seed}", command, (f"{run}-{self.seed}", f"{by}-{self.seed}"))
        return path

    def control(self) -> str:
        """Return the generator trained further on its own correct samples."""
        samples, right = self.samples(), self.folder("right.jsonl")
        kept = ("data", "right", self.folder(samples), "-d", LABELLED, "--with", TRAIN)
        needs = (f"{samples}-{self.seed}", self.problems("train"))
        self.add(f"right-{self.seed}", kept, needs, right)
        command = ("verifier", "finetune", "-m", self.folder("generator"), "-d", right, "-o",
                   self.folder("control"), *self.preset.control, "--seed", str(self.seed),
                   "--quiet")  # fmt: skip
        self.add(f"control-{self.seed}", command, (f"right-{self.seed}",))
        return "control"


def _without_repeats(command: Sequence[str]) -> tuple[str, ...]:
    """Return a command in which the last value of an option counts."""
    kept: dict[str, tuple[str, ...]] = {}
    rest: list[str] = []
    words = list(command)
    while words:
        word = words.pop(0)
        if word.startswith("-") and words and not words[0].startswith("-"):
            kept.pop(word, None)
            kept[word] = (word, words.pop(0))
        elif word.startswith("-"):
            kept[word] = (word,)
        else:
            rest.append(word)
    return (*rest, *(part for parts in kept.values() for part in parts))


def whole_recipe(preset: Preset) -> list[Stage]:
    """Return the stages of a preset's report, each after those that it needs."""
    stages: dict[str, Stage] = {}
    for seed in preset.seeds:
        recipe = Recipe(preset, seed, stages)
        recipe.generator()
        recipe.greedy("generator")
        recipe.verifier("verifier")
        recipe.scored("verifier")
        if seed != preset.seeds[0]:
            continue
        recipe.control()
        recipe.greedy("control")
        recipe.scored("control", option="--generator")
        for labels in preset.curve:
            recipe.verifier(f"verifier-{labels}", labels=labels)
            recipe.scored(f"verifier-{labels}")
        if preset.pooled:
            recipe.verifier("pooled", *preset.pooled)
            recipe.scored("pooled")
        for model in ("generator", "verifier") if preset.gguf else ():
            folder = recipe.folder(model)
            recipe.add(f"gguf-{model}-{seed}", ("verifier", "export", folder, "-o",
                       f"{folder}.gguf"), (f"{model}-{seed}",))  # fmt: skip
    return list(stages.values())


# The figures of the paper: their claims, their axes, and the points that they need


class FigurePlan(NamedTuple):
    """A figure: its claim, and a function that adds its stages and returns its points."""

    claim: str
    points: Callable[[Recipe], list[Point]]


def _figure_2(recipe: Recipe) -> list[Point]:
    points = []
    for count in (recipe.preset.problems // 4, recipe.preset.problems // 2, 0):
        what = f"generator-of-{count}" if count else "generator"
        recipe.generator(what, "", *(("-n", str(count)) if count else ()))
        run = recipe.greedy(what)
        points.append(Point(0, "greedy", count or recipe.preset.problems, run))
    size = recipe.preset.base.removeprefix("new:")
    if size in SMALLER:
        recipe.generator("generator-small", f"new:{SMALLER[size]}")
        run = recipe.greedy("generator-small")
        points.append(Point(1, "greedy", _parameters(SMALLER[size]), run))
        points.append(Point(1, "greedy", _parameters(size), "greedy-generator"))
    return points


def _figure_3(recipe: Recipe) -> list[Point]:
    test = recipe.problems("test")
    recipe.generator(
        "generator-curves", "", "--dev", TEST, "--dev-problems", "200", "--dev-samples",
        str(recipe.preset.n),
    )  # fmt: skip
    stage = recipe.stages[f"generator-curves-{recipe.seed}"]
    recipe.stages[stage.name] = replace(stage, needs=(*stage.needs, test))
    return [Point(panel, name, 0, "generator-curves", epochs=name)
            for panel, name in enumerate(("test@1", "test@k"))]  # fmt: skip


def _figure_5(recipe: Recipe) -> list[Point]:
    preset = recipe.preset
    recipe.generator()
    points = [Point(0, "fine-tuning, greedy", preset.labelled, recipe.greedy(recipe.control()))]
    for labels in (*preset.curve, 0):
        what = f"verifier-{labels}" if labels else "verifier"
        recipe.verifier(what, labels=labels)
        scores, x = recipe.scored(what), labels or preset.labelled
        points += [Point(0, STRATEGIES[name], x, "test", scores, name)
                   for name in (BEST, "odds", MAJORITY)]  # fmt: skip
    return points


def _compared(
    name: str, variants: Mapping[str, tuple[str, ...]]
) -> Callable[[Recipe], list[Point]]:
    """Return the points of verifiers with different options, over the labels of the curve."""

    def points(recipe: Recipe) -> list[Point]:
        recipe.generator()
        found = []
        for series, options in variants.items():
            for labels in (*recipe.preset.curve, 0):
                what = f"{name}-{series}-{labels or recipe.preset.labelled}".replace(" ", "-")
                recipe.verifier(what, *options, labels=labels)
                x = labels or recipe.preset.labelled
                found.append(Point(0, series, x, "test", recipe.scored(what)))
        return found

    return points


def _figure_5c(recipe: Recipe) -> list[Point]:
    size = recipe.preset.base.removeprefix("new:")
    if size not in SMALLER:
        raise InputError("figure 5c needs models of two sizes; give a preset with a new model")
    recipe.generator()
    recipe.generator("generator-small", f"new:{SMALLER[size]}")
    points = []
    for series, model, init in (("large generator, small verifier", "generator", "generator-small"),
                                ("small generator, large verifier", "generator-small",
                                 "generator")):  # fmt: skip
        what = f"crossed-{model}"
        recipe.verifier(what, model=model, init=init)
        run = recipe.tested(model)
        points.append(Point(0, series, recipe.preset.labelled, run, recipe.scored(what, model)))
    return points


def _figure_6(strategies: Sequence[str]) -> Callable[[Recipe], list[Point]]:
    def points(recipe: Recipe) -> list[Point]:
        recipe.generator()
        recipe.verifier("verifier")
        scores = recipe.scored("verifier")
        return [Point(0, STRATEGIES.get(name, name), 0, "test", scores, name)
                for name in strategies]  # fmt: skip

    return points


def _figure_7(recipe: Recipe) -> list[Point]:
    preset, points = recipe.preset, []
    for share in (0.0, 0.2):
        more = ("--dropout", f"{share:g}") if share else ()
        suffix = "-dropout" if share else ""
        name = f"dropout {share:g}"
        generator = recipe.generator(f"generator{suffix}", "", *more)
        points.append(Point(0, name, preset.problems, recipe.greedy(generator)))
        for panel, level in ((1, "solution"), (2, "token")):
            what = f"level-{level}{suffix}"
            init = generator if share else ""
            recipe.generator()
            recipe.verifier(what, "--level", level, *more, init=init)
            points.append(Point(panel, name, preset.labelled, "test", recipe.scored(what)))
    return points


def _direct(recipe: Recipe) -> list[Point]:
    recipe.generator()
    recipe.add("problems-direct", (DIRECT_STAGE, TRAIN, DIRECT), (recipe.problems("train"),))
    command = recipe.stages[f"generator-{recipe.seed}"].command
    changed = [DIRECT if word == TRAIN else word.replace("/generator", "/direct")
               for word in command]  # fmt: skip
    recipe.add(f"direct-{recipe.seed}", changed, ("problems-direct",))
    return [Point(0, "with steps", recipe.preset.problems, recipe.greedy("generator")),
            Point(0, "answer alone", recipe.preset.problems, recipe.greedy("direct"))]  # fmt: skip


DIRECT_STAGE = "@direct"  # the one stage that is no command: it writes answers without steps
FIGURES: Mapping[str, FigurePlan] = {
    "2": FigurePlan("more training problems and a larger model solve more", _figure_2),
    "3": FigurePlan("over epochs test@1 rises while test@k falls after the first", _figure_3),
    "5": FigurePlan("verification takes off with many labels", _figure_5),
    "5a": FigurePlan("token-level verifiers beat solution-level ones in the end", _compared(
        "5a", {"solution": ("--level", "solution"), "token": ("--level", "token"),
               "pooled": ("--level", "pooled")})),
    "5b": FigurePlan("the joint objective beats verification alone", _compared(
        "5b", {"verification": ("--level", "token", "--objective", "verification",
                                "--language", ""), "joint": ("--level", "token")})),
    "5c": FigurePlan("a large generator with a small verifier beats the reverse", _figure_5c),
    "6a": FigurePlan("accuracy rises with completions, and falls with very many",
                     _figure_6((BEST, MAJORITY, "odds", COVERAGE))),
    "6b": FigurePlan("the more completions, the more voters pay", _figure_6(("voters",))),
    "7": FigurePlan("dropout helps fine-tuning and solution-level verifiers", _figure_7),
    "direct": FigurePlan("an answer without steps is far worse (20.6 to 5.2 in the paper)",
                         _direct),
}  # fmt: skip


def _parameters(size: str) -> float:
    return float(size.removesuffix("M")) * 1e6


def figure_recipe(preset: Preset, name: str) -> tuple[list[Stage], list[Point]]:
    """Return a figure's stages and points, for the preset's first seed."""
    if name not in FIGURES:
        raise UnknownNameError("figure", name, FIGURES)
    recipe = Recipe(preset, preset.seeds[0])
    points = FIGURES[name].points(recipe)
    stages = [replace(stage, command=_cleared(stage.command)) for stage in recipe.stages.values()]
    return stages, points


def _cleared(command: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command without options whose value is empty."""
    kept: list[str] = []
    for word in command:
        if word == "":
            kept.pop()
        else:
            kept.append(word)
    return tuple(kept)


# The runner


class StageError(GradeschoolError):
    """A stage's command failed; the recipe stops, and the same command continues from there."""


def run_stages(
    stages: Sequence[Stage], folder: Path, jobs: int, tell: Callable[[str], None]
) -> None:
    """Run the stages that have not ended, each once those that it needs have; jobs at a time.

    A first SIGINT or SIGTERM interrupts the running stages, which keep what they have. Raises
    KeyboardInterrupt then, StageError if a stage fails, InputError if the folder holds a stage with
    other settings.
    """
    codes: dict[str, str] = {}
    for stage in stages:
        parts = [*stage.command, *(codes[need] for need in stage.needs)]
        codes[stage.name] = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    (folder / STAGES).mkdir(parents=True, exist_ok=True)
    done: set[str] = set()
    for stage in stages:
        known = read_json(folder / STAGES / f"{stage.name}.json")
        if known is not None and known.get("digest") != codes[stage.name]:
            raise InputError(
                f"the stage {stage.name!r} in {str(folder)!r} was run with other settings; give "
                "another -o"
            )
        if known is not None:
            done.add(stage.name)
    running: dict[str, tuple[Stage, subprocess.Popen[bytes], float]] = {}
    with FolderLock(folder / STAGES), stop_flag() as stop:
        try:
            while len(done) < len(stages):
                if stop.requested:
                    raise KeyboardInterrupt
                for stage in stages:
                    ready = stage.name not in done and all(need in done for need in stage.needs)
                    if len(running) < jobs and ready and stage.name not in running:
                        tell(f"{stage.name} ... ({len(done)} of {len(stages)} done)")
                        running[stage.name] = (stage, _begin(stage, folder), time.monotonic())
                time.sleep(POLL_SECONDS)
                for name, (stage, process, since) in list(running.items()):
                    pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                    if not pid:
                        continue
                    process.returncode = os.waitstatus_to_exitcode(status)
                    del running[name]
                    _check_ended(stage, process.returncode, folder)
                    seconds = usage.ru_utime + usage.ru_stime
                    fields = {"digest": codes[name], "cpu_seconds": round(seconds, 1),
                              "seconds": round(time.monotonic() - since, 1)}  # fmt: skip
                    write_json(folder / STAGES / f"{name}.json", fields)
                    done.add(name)
                    tell(f"{name}: {fields['seconds']:,.0f} s, {seconds:,.0f} s of CPU")
        finally:
            for _, process, _ in running.values():
                process.send_signal(signal.SIGINT)
            for _, process, _ in running.values():
                try:
                    process.wait(STOP_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def _begin(stage: Stage, folder: Path) -> subprocess.Popen[bytes]:
    command = python_command(PROGRAM, *stage.command)
    if stage.command[0] == DIRECT_STAGE:
        program = "import sys; from gradeschool.verifier.reproduce import write_direct"
        command = python_command(f"{program}; write_direct(*sys.argv[1:])", *stage.command[1:])
    (folder / stage.stdout).parent.mkdir(parents=True, exist_ok=True)
    with (folder / STAGES / f"{stage.name}.log").open("ab") as log:
        out = (folder / f"{stage.stdout}.part").open("wb") if stage.stdout else log
        process = subprocess.Popen(  # noqa: S603  (our own command line)
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=log,
            process_group=0,  # a terminal's Ctrl-C reaches only this process, which passes it on
            env=python_environment({"TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}),
        )
        if stage.stdout:
            out.close()
    return process


def _check_ended(stage: Stage, status: int, folder: Path) -> None:
    if status in (INTERRUPTED, -signal.SIGINT):
        raise KeyboardInterrupt
    if status:
        log = folder / STAGES / f"{stage.name}.log"
        raise StageError(
            f"the stage {stage.name!r} ended with status {status}: "
            f"{log.read_text('utf-8', 'replace')[-TAIL:].strip()}\n(full output: {str(log)!r}); "
            "the same command continues from there"
        )
    if stage.stdout:
        target = folder / stage.stdout
        target.with_name(f"{target.name}.part").replace(target)


def write_direct(source: str, target: str) -> None:
    """Write problems with their final answers alone, for the ablation without steps."""
    rows = [json.loads(line) for line in Path(source).read_text("utf-8").splitlines()]
    for row in rows:
        row["answer"] = MARKER + row["answer"].rpartition(MARKER)[2]
    write_file(Path(target), "".join(f"{json.dumps(row)}\n" for row in rows).encode())


# What was measured


class Selected(NamedTuple):
    """The results of one file of scores on one run, by problem."""

    results: list[ProblemResult]
    has_logprob: bool

    @property
    def auc(self) -> float | None:
        """Return the AUC within problems of the scores."""
        return aucs_of("verifier", [result.case for result in self.results])[1].auc


def read_selected(folder: Path, seed: int, run: str, scores: str) -> Selected:
    """Return what every strategy selects from a run by a file of scores."""
    sampled = one_run(
        str(folder / f"seed-{seed}" / run), ReadOptions(dataset=str(folder / TEST)), lambda _: None
    )
    ranked = rank_input(sampled, *choose_scores(folder / scores, None))
    ns = steps(max(len(case.options) for case in ranked.cases))
    found = [pick(case, ranked.has_logprob, SELECTION, ns) for case in ranked.cases]
    return Selected(found, ranked.has_logprob)


Outcomes = dict[str, tuple[int, int]]


def read_greedy(folder: Path, seed: int, run: str) -> Outcomes:
    """Return the outcomes of a run by problem."""
    options = ReadOptions(dataset=str(folder / TEST))
    sampled = one_run(str(folder / f"seed-{seed}" / run), options, lambda _: None)
    return {answered.problem.id: answered.outcome for answered in sampled.answered}


def _summed(each: Sequence[Mapping[str, tuple[int, int]]]) -> Outcomes:
    """Return outcomes over seeds: a problem's are added, so that intervals are over problems."""
    shared = [id for id in each[0] if all(id in outcomes for outcomes in each)]
    return {id: (sum(outcomes[id][0] for outcomes in each),
                 sum(outcomes[id][1] for outcomes in each)) for id in shared}  # fmt: skip


class Finding(NamedTuple):
    """A strategy over all seeds: its accuracy, by seed, and its gains over others by name."""

    title: str
    accuracy: float
    ci95: Interval
    by_seed: Sequence[float]
    over: Mapping[str, AccuracyGain]


def findings(preset: Preset, folder: Path, what: str, seeds: Sequence[int]) -> list[Finding]:
    """Return every strategy by a verifier's scores, over seeds."""
    selected = [read_selected(folder, seed, "test", f"seed-{seed}/scores-{what}.jsonl")
                for seed in seeds]  # fmt: skip
    majority = _summed([outcomes_of(each.results, MAJORITY) for each in selected])
    others = {"majority": majority}
    if tuple(seeds) == preset.seeds[:1]:
        others["control 1"] = read_greedy(folder, seeds[0], "greedy-control")
        by_control = read_selected(
            folder, seeds[0], "test", f"seed-{seeds[0]}/scores-control.jsonl"
        )
        others["control 2"] = outcomes_of(by_control.results, BEST)
    found = []
    for name in selected[0].results[0].by_strategy:
        by_seed = [outcomes_of(each.results, name) for each in selected]
        mine = _summed(by_seed)
        over = {other: paired_difference(outcomes, mine) for other, outcomes in others.items()
                if not (name == MAJORITY and other == "majority")}  # fmt: skip
        title = strategy_title(name, SELECTION.voters, SELECTION.share_weight)
        shares = [mean_share(list(outcomes.values())) for outcomes in by_seed]
        clusters = list(mine.values())
        found.append(Finding(title, mean_share(clusters), clustered_wilson(clusters), shares, over))
    return found


def write_report(preset: Preset, folder: Path) -> Path:
    """Write report.md from a finished recipe's folder; return its path."""
    first = preset.seeds[0]
    main = findings(preset, folder, "verifier", preset.seeds)
    one = findings(preset, folder, "verifier", (first,))
    selected = read_selected(folder, first, "test", f"seed-{first}/scores-verifier.jsonl")
    need = break_even_auc([result.case for result in selected.results])
    auc = selected.auc
    by_title = {finding.title: finding for finding in main}
    shown = [strategy_title(name, SELECTION.voters, SELECTION.share_weight) for name in SHOWN]
    shown = [title for title in shown if title in by_title]
    ahead = [title for title in shown if by_title[title].over["majority"].ci95.low > 0]
    best = max(shown, key=lambda title: by_title[title].accuracy)
    more = by_title[best].over["majority"]
    lines = [f"# Verifiers, preset {preset.name}", ""]
    lines.append(
        f"The {best} is right on {percent(by_title[best].accuracy, 1)}, "
        f"{gain(more.difference, more.ci95)} over the majority vote"
        + (f"; above it for certain: {', '.join(ahead)}." if ahead else
           "; nothing is above the majority for certain.")
    )  # fmt: skip
    controls = {finding.title: finding for finding in one}[best].over
    for name, words in (("control 1", "the same labels spent on fine-tuning, greedily"),
                        ("control 2", "log-probability under that model")):  # fmt: skip
        each = controls[name]
        state = "stays ahead of it" if each.difference < 0 else "is behind it"
        lines.append(f"Control {name[-1]} ({words}) {state}: {gain(each.difference, each.ci95)} "
                     f"for the verifier (seed {first}).")  # fmt: skip
    known = "none" if auc is None else f"{auc:.3f}"
    needed = "no AUC" if need is None else f"{need:.2f}"
    lines += [
        "",
        f"{preset.labelled:,} labelled problems with {preset.k} samples each, "
        f"{len(selected.results):,} test problems with {preset.n}; {len(preset.seeds)} training "
        f"seeds. AUC within problems {known}; the best of {preset.n} equals the majority at "
        f"{needed} (seed {first}).",
        "",
    ]
    rows = [["strategy", "right", "95 %", "by seed", "over the majority"]]
    for finding in main:
        over = finding.over.get("majority")
        rows.append([finding.title, percent(finding.accuracy, 1), bounds(finding.ci95),
                     " ".join(f"{100 * share:.1f}" for share in finding.by_seed),
                     "" if over is None else gain(over.difference, over.ci95)])  # fmt: skip
    lines += [*_table(rows), ""]
    rows = [["labelled problems", "AUC within", *shown[:3]]]
    named = [*((f"verifier-{labels}", f"{labels:,}") for labels in preset.curve)]
    named.append(("verifier", f"{preset.labelled:,}"))
    named += [("pooled", f"{preset.labelled:,} pooled")] if preset.pooled else []
    for what, label in named:
        read = read_selected(folder, first, "test", f"seed-{first}/scores-{what}.jsonl")
        by_name = {each.title: each for each in findings(preset, folder, what, (first,))}
        gains = [by_name[title].over["majority"] for title in shown[:3]]
        shares = [gain(more.difference, more.ci95) for more in gains]
        rows.append([label, f"{read.auc or 0:.3f}", *shares])
    title = f"## Learning curve (seed {first}), points over the majority"
    lines += [title, "", *_table(rows), ""]
    costs = [
        (path.stem, read_json(path) or {}) for path in sorted((folder / STAGES).glob("*.json"))
    ]
    rows = [["stage", "CPU s"], *([name, f"{fields.get('cpu_seconds', 0):,.0f}"]
                                  for name, fields in costs)]  # fmt: skip
    total = sum(float(fields.get("cpu_seconds", 0)) for _, fields in costs)
    lines += [f"## CPU seconds: {total:,.0f}", "", *_table(rows), ""]
    path = folder / "report.md"
    write_file(path, "\n".join(lines).encode())
    return path


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return [lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]


class Measured(NamedTuple):
    """A measured point of a figure."""

    panel: int
    series: str
    x: float
    share: float
    ci95: Interval | None


def measure(folder: Path, seed: int, points: Sequence[Point]) -> list[Measured]:
    """Return the points of a figure from a finished recipe's folder."""
    found: list[Measured] = []
    cache: dict[tuple[str, str], Selected] = {}
    for point in points:
        if point.epochs:
            path = folder / f"seed-{seed}" / point.run / "curves.jsonl"
            rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
            found += [Measured(point.panel, point.series, row["epoch"], row[point.epochs], None)
                      for row in rows]  # fmt: skip
        elif not point.scores:
            clusters = list(read_greedy(folder, seed, point.run).values())
            ci95 = clustered_wilson(clusters)
            found.append(Measured(point.panel, point.series, point.x, mean_share(clusters), ci95))
        else:
            key = (point.run, point.scores)
            if key not in cache:
                cache[key] = read_selected(folder, seed, *key)
            results = cache[key].results
            most = max(len(result.case.options) for result in results)
            curves: Mapping[str, Sequence[CurvePoint]] = curves_of(results, most)
            if point.strategy == "voters":
                for n, voters in top_curves_of(results, most).items():
                    found += [Measured(0, f"of {n}", each.n, each.accuracy, each.ci95)
                              for each in voters if n >= 8]  # fmt: skip
                continue
            values = curves[point.strategy] if not point.x else curves[point.strategy][-1:]
            found += [Measured(point.panel, point.series, point.x or each.n, each.accuracy,
                               each.ci95) for each in values]  # fmt: skip
    return found


def write_figure(preset: Preset, folder: Path, name: str, points: Sequence[Point]) -> list[str]:
    """Write figures/NAME.json and .svg of a finished figure; return its lines for people."""
    from gradeschool.reports.figures import Point as Dot
    from gradeschool.reports.figures import Series, draw
    from gradeschool.reports.paper_figures import paper_figure

    measured = measure(folder, preset.seeds[0], points)
    target = folder / "figures"
    target.mkdir(exist_ok=True)
    fields = {"figure": name, "claim": FIGURES[name].claim,
              "points": [point._asdict() for point in measured]}  # fmt: skip
    write_json(target / f"{name}.json", fields)
    by_panel: dict[int, dict[str, list[Dot]]] = {}
    for each in measured:
        series = by_panel.setdefault(each.panel, {}).setdefault(each.series, [])
        series.append(Dot(each.x, each.share, each.ci95))
    panels = []
    for by_series in by_panel.values():
        ordered = {name: sorted(dots, key=lambda dot: dot.x) for name, dots in by_series.items()}
        panels.append([Series(name, tuple(dots)) for name, dots in ordered.items()])
    if name != "direct":
        titles = None if len(panels) == 1 else [f"{number + 1}" for number in range(len(panels))]
        draw(paper_figure(name, panels, titles=titles or [""]), target / f"{name}.svg")
    lines = [f"figure {name}: {FIGURES[name].claim}"]
    for each in measured:
        interval = "" if each.ci95 is None else f" ({bounds(each.ci95)})"
        lines.append(f"{each.series:30} {each.x:10,g} {percent(each.share, 1)}{interval}")
    return lines
