"""Plans of figures: the stages that a figure needs, named once, and the points that it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from gradeschool.scoring.statistics import Interval
from gradeschool.verifier.reproduce.presets import LABELLED, TRAIN, Preset, folder, kept_right
from gradeschool.verifier.reproduce.stages import Stage, stages_for
from gradeschool.verifier.selection import BEST


class PlannedPoint(NamedTuple):
    """One point to measure: a run's greedy answers, or with scores a strategy's selection."""

    panel: int
    series: str
    x: float
    run: str
    scores: str = ""
    baseline: bool = False
    strategy: str = BEST


class MeasuredPoint(NamedTuple):
    """One point. outcomes: (right, total) by problem; None if only the share is known.

    chances: if only the probability of a right answer to each problem is known.
    """

    panel: int
    series: str
    x: float
    share: float
    ci95: Interval | None
    outcomes: Mapping[str, tuple[int, int]] | None = None
    baseline: bool = False
    chances: Mapping[str, float] | None = None


class Contrast(NamedTuple):
    """A finding of the paper: one point is above another, each given as (panel, series, x)."""

    words: str
    better: tuple[int, str, float]
    worse: tuple[int, str, float]


class AblationPlan(NamedTuple):
    """The stages that a figure needs, and its points and contrasts.

    contrasts: None for the rise and the fall of each panel's first curve. read: measures the points
    in a recipe's folder, None if `points` is enough. titles, x, scale: of the panels, None for the
    paper's.
    """

    stages: list[Stage]
    points: tuple[PlannedPoint, ...] = ()
    contrasts: tuple[Contrast, ...] | None = None
    read: Callable[[Path], list[MeasuredPoint]] | None = None
    titles: tuple[str, ...] | None = None
    x: str | None = None
    scale: str | None = None


TEST = "problems/test.jsonl"
# The size to compare with, by the preset's size.
OTHER_SIZE = {"0.2M": "0.05M", "1M": "0.2M", "5M": "1M"}
# Settings of verifiers with the paper's head. They learn slowly at this scale: with the laptop's
# 30,000 labels, three epochs are 5,625 updates.
HEAD = ("--optimizer", "muon", "--lr", "2e-3", "--warmup", "30", "--batch", "16", "--group", "1")


@dataclass(slots=True)
class StageBuilder:
    """Collects stages; a model, a run or a verifier has the same name in every figure."""

    preset: Preset
    seed: int
    stages: dict[str, Stage]
    targets: list[str] = field(default_factory=list)

    def needed(self) -> list[Stage]:
        """Return the requested stages and all stages that they need, in order."""
        return stages_for(list(self.stages.values()), self.targets)

    def folder_of(self, what: str) -> str:
        """Return the folder of a model or a run."""
        return folder(what, self.seed)

    def stage(
        self, what: str, command: tuple[str, ...], needs: tuple[str, ...], out: str = ""
    ) -> str:
        """Add a stage once and return its name."""
        name = f"{what}-{self.seed}"
        self.stages.setdefault(name, Stage(name, command, needs, out))
        return name

    def want(self, name: str) -> None:
        """Request a stage."""
        if name not in self.targets:
            self.targets.append(name)

    @property
    def of_seed(self) -> tuple[str, str]:
        """Return the option of the training seed."""
        return ("--seed", str(self.seed))

    def generator(self, size: str = "", problems: int = 0, dropout: float = 0.0) -> str:
        """Return the name of a generator, trained like the preset's except for these settings."""
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

    def drawn(
        self, what: str, model: str, problems: str, k: int, temperature: float, limit: int = 0
    ) -> str:
        """Return the name of a run with k completions per problem. limit: 0 for all problems."""
        if model != "generator":
            what += f"-{model.removeprefix('generator-')}"
        path = TEST if problems == "test" else LABELLED
        some = ("-n", str(limit)) if limit else ()
        many = ("-k", str(k), "--temperature", f"{temperature:g}", *some)
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
        """Return the name of a generator's samples for training a verifier."""
        preset = self.preset
        return self.drawn("samples", model, "labelled", preset.k, preset.temperature)

    def tested(self, model: str) -> str:
        """Return the name of a generator's test completions."""
        return self.drawn("test", model, "test", self.preset.n, self.preset.test_temperature)

    def control(self, count: int) -> str:
        """Return the name of a generator trained further on its own right samples."""
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
        self,
        what: str,
        options: tuple[str, ...],
        generator: str = "generator",
        init: str = "",
        samples: str = "",
    ) -> str:
        """Return the name of a verifier; init: the model with its initial weights, if another.

        samples: the run to learn from, by default the preset's samples of the generator.
        """
        samples = samples or self.samples(generator)
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

        All learn from all labels, and never from reference solutions of the labelled problems. With
        dropout, the verifier starts as a generator trained with dropout, else as the generator.
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
        """Return the preset's size and the other size, the smaller first."""
        both = (self.preset.size, OTHER_SIZE[self.preset.size])
        small, large = sorted(both, key=parameters)
        return small, large

    def problems(self) -> tuple[int, int, int]:
        """Return a quarter, a half and all of the training problems."""
        count = self.preset.problems
        return count // 4, count // 2, count


def parameters(size: str) -> float:
    """Return the number of parameters of a size such as 0.2M."""
    return float(size.removesuffix("M")) * 1e6


def _around(command: tuple[str, ...], option: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the parts of a command before and after an option's value."""
    index = command.index(option) + 1
    return command[:index], command[index + 1 :]
