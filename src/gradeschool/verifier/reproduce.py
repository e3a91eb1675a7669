"""The paper from nothing: presets, a table of stages, the stages of each figure, and their runner.

Every stage is a command of this package that writes one file or folder; it needs the stages that
write what its words name.
"""

import hashlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.atomic import LOCK_FILE, locked_file, write_json
from gradeschool.errors import GradeschoolError, InputError, UnknownNameError
from gradeschool.formats.run_folder import read_json
from gradeschool.verifier.rank import BEST, COVERAGE, MAJORITY, STRATEGIES
from gradeschool.worker import python_command, python_environment, stop_flag

STAGES = "stages"  # the folder of the stages' logs and results
TEST = "problems/test.jsonl"
VOTERS = "voters"  # in place of a strategy: a curve over the number of voters
SMALLER = {"new:5M": "new:1M", "new:1M": "new:0.2M", "new:0.2M": "new:0.05M"}
STOP_SECONDS, POLL_SECONDS, TAIL = 60.0, 0.2, 1500
INTERRUPTED = 130
PROGRAM = "from gradeschool.cli import main; main()"
Options = Mapping[str, Any]  # of a command; None leaves the option out
Stages = dict[str, tuple[str, ...]]  # each command, by what it writes


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """The settings of one reproduction, from which `Recipe` makes its table of stages.

    families, steps: of the fresh problems, () for all families. problems: of the generator, with
    solutions. labelled: further problems, of which only final answers are used, with k samples
    each at a temperature. tested: test problems, with n samples each. curve: numbers of labelled
    problems of the learning curve, for the first seed. base: the generator's base model. generator,
    control, verifier: options of the trainings; the verifier's are the paper's head. problem_seeds:
    of train, labelled, test. gguf: whether generator and verifier are exported for llama.cpp.
    """

    name: str
    problems: int
    labelled: int
    tested: int = 1000
    base: str = ""
    generator: Options
    control: Options
    verifier: Options
    curve: tuple[int, ...] = ()
    families: tuple[str, ...] = ("collection", "comparison", "groups", "shopping")
    steps: tuple[int, int] = (2, 4)
    k: int = 1
    temperature: float = 1.0
    n: int = 32
    test_temperature: float = 0.8
    seeds: tuple[int, ...] = (0,)
    problem_seeds: tuple[int, int, int] = (1, 2, 3)
    gguf: bool = False


MUON = {"optimizer": "muon", "batch": 16}
SOLUTIONS = {"loss_on": "solution"}
LAPTOP = Preset(
    name="laptop", problems=2000, labelled=120_000, tested=2500, base="new:0.2M", seeds=(0, 1, 2),
    generator={"epochs": 20, **SOLUTIONS},
    control={**MUON, "epochs": 1, "lr": 3e-3, "warmup": 50, **SOLUTIONS},
    verifier={**MUON, "lr": 5e-3, "head_lr": 2e-3, "warmup": 30, "language": "right",
              "level": "pooled"},
    curve=(6_000, 24_000),
)  # fmt: skip
LORA = {"lora": 16, "warmup": 5, "batch": 8}
PRETRAINED = Preset(
    name="pretrained", problems=1280, labelled=4000, steps=(2, 3), n=16, curve=(1000,),
    generator={**LORA, "epochs": 1, "lr": 1e-3, **SOLUTIONS},
    control={**LORA, "epochs": 1, "lr": 5e-4, **SOLUTIONS},
    verifier={**LORA, "lr": 5e-4, "head_lr": 1e-2, "language": "right", "init_row": "probe",
              "level": "pooled"},
)  # fmt: skip
GPU = replace(
    PRETRAINED, name="gpu", families=(), steps=(2, 8), problems=4000, labelled=32_000, k=4, n=100,
    generator={"epochs": 2, "lr": 1e-5, "batch": 32},
    control={"epochs": 1, "lr": 1e-5, "batch": 32},
    verifier={"epochs": 2, "lr": 5e-5, "head_lr": 1e-2, "batch": 64, "warmup": 50,
              "init_row": "probe", "level": "pooled"},
    curve=(4000, 16_000),
)  # fmt: skip
TINY = replace(
    LAPTOP, name="tiny", families=(), steps=(2, 8), problems=90_000, labelled=10_000, tested=400,
    generator={"epochs": 1, **SOLUTIONS}, curve=(), n=16, seeds=(0,),
    problem_seeds=(7, 2, 3), gguf=True,
    verifier={**LAPTOP.verifier, "lr": 2e-3, "head_lr": 1e-2, "level": "token"},
)  # fmt: skip
PRESETS = {preset.name: preset for preset in (LAPTOP, PRETRAINED, GPU, TINY)}


# The table of stages


class Recipe:
    """The table of stages that a preset's settings give, for one seed of the verifiers' training.

    The generator, its samples and the control are those of the first seed. Each method adds the
    stages that its result needs, and returns the path of the result.
    """

    def __init__(self, preset: Preset, seed: int, stages: Stages | None = None) -> None:
        self.preset, self.seed, self.first = preset, seed, preset.seeds[0]
        self.stages = {} if stages is None else stages

    def add(self, output: str, words: str, options: Options, sign: str = "-o") -> str:
        """Add the stage that writes `output`, once; return the output."""
        named = [word for name, value in options.items() if value is not None
                 for word in (f"--{name.replace('_', '-')}", f"{value}")]  # fmt: skip
        self.stages.setdefault(output, (*words.split(), *named, sign, output))
        return output

    def problems(self, name: str) -> str:
        """Return problems: train, labelled or test."""
        preset = self.preset
        counts = {"train": preset.problems, "labelled": preset.labelled, "test": preset.tested}
        seed = dict(zip(counts, preset.problem_seeds, strict=True))[name]
        split, (low, high) = "test" if name == "test" else "train", preset.steps
        words = f"data generate --split {split} --steps {low} {high}"
        words += "".join(f" --family {family}" for family in preset.families)
        return self.add(f"problems/{name}.jsonl", words, {"seed": seed, "limit": counts[name]})

    def generator(self, what: str = "generator", **changed: Any) -> str:
        """Return a generator of the preset with some options changed."""
        words = f"verifier finetune -d {self.problems('train')} --quiet"
        options = {"model": self.preset.base, **self.preset.generator, **changed}
        options["seed"] = self.first
        return self.add(f"seed-{self.first}/{what}", words, options)

    def sampled(self, what: str, model: str) -> str:
        """Return a model's run: "greedy" or "test" on the test problems, "samples" on labelled."""
        preset, name = self.preset, Path(model).name
        problems, k, temperature = {
            "greedy": ("test", 1, 0.0),
            "samples": ("labelled", preset.k, preset.temperature),
            "test": ("test", preset.n, preset.test_temperature),
        }[what]
        is_own = what != "greedy" and name.startswith("generator")
        output = name.replace("generator", what) if is_own else f"{what}-{name}"
        words = f"verifier sample -m transformers/{model} -d {self.problems(problems)} --quiet"
        options = {"samples": k, "temperature": temperature, "seed": self.first}
        return self.add(f"seed-{self.first}/{output}", words, options)

    def verifier(
        self, what: str = "verifier", model: str = "", labels: int = 0, **changed: Any
    ) -> str:
        """Return a verifier. model: the generator. labels: of the first problems, 0 for all."""
        model = model or self.generator()
        samples = self.sampled("samples", model)
        words = f"verifier train --generator {model} --samples {samples} --quiet"
        options = {"dataset": self.problems("labelled"), **self.preset.verifier, **changed,
                   "limit": labels or None, "seed": self.seed}  # fmt: skip
        return self.add(f"seed-{self.seed}/{what}", words, options)

    def scored(self, by: str, model: str = "", **options: Any) -> str:
        """Return the file of a model's scores of a generator's test samples.

        options: of the command, by default those by which the preset's verifier scores everywhere.
        """
        run = self.sampled("test", model or self.generator())
        words = f"verifier score {run} -d {self.problems('test')}"
        output = f"seed-{self.seed}/scores-{Path(by).name}.jsonl"
        own = self.generator() if by.endswith("/verifier") else None
        return self.add(output, words, options or {"verifier": by, "generator": own})

    def curve(self, what: str, **changed: Any) -> list[tuple[int, str]]:
        """Return verifiers over the numbers of labels: (labels, scores)."""
        found = []
        for labels in self.preset.curve:
            verifier = self.verifier(f"{what}-{labels}", labels=labels, **changed)
            found.append((labels, self.scored(verifier)))
        return [*found, (self.preset.labelled, self.scored(self.verifier(what, **changed)))]

    def control(self) -> str:
        """Return the generator trained further on its own correct samples."""
        model, train = self.generator(), self.problems("train")
        samples = self.sampled("samples", model)
        words = f"data right {samples} -d {self.problems('labelled')} --with {train}"
        right = self.add(f"seed-{self.first}/right.jsonl", words, {}, ">")
        words = f"verifier finetune -m {model} -d {right} --quiet"
        options = {**self.preset.control, "seed": self.first}
        return self.add(f"seed-{self.first}/control", words, options)


def whole_recipe(preset: Preset) -> Stages:
    """Return the stages of a preset's report, each after those that it needs."""
    stages: Stages = {}
    for seed in preset.seeds:
        recipe = Recipe(preset, seed, stages)
        generator = recipe.generator()
        recipe.sampled("greedy", generator)
        verifier = recipe.verifier()
        recipe.scored(verifier)
        if seed != preset.seeds[0]:
            continue
        control = recipe.control()
        recipe.sampled("greedy", control)
        recipe.sampled("test", control)
        recipe.scored(control, generator=control)
        recipe.curve("verifier")
        for model in (generator, verifier) if preset.gguf else ():
            recipe.add(f"{model}.gguf", f"verifier export {model}", {})
    return stages


def find_needs(command: Sequence[str], stages: Stages) -> list[str]:
    """Return the stages that write what a command reads."""
    words = {word.removeprefix("transformers/") for word in command[:-1]}
    return [output for output in stages if output in words]


def stage_codes(stages: Stages) -> dict[str, str]:
    """Return a digest of each stage's command and of those before it, in whatever order."""
    codes: dict[str, str] = {}
    for output, command in stages.items():
        parts = [*command, *sorted(codes[need] for need in find_needs(command, stages))]
        codes[output] = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    return codes


# The figures of the paper


class FigurePoint(NamedTuple):
    """A point of a figure: a greedy run's accuracy, or that of a strategy by a file of scores.

    x: 0 for the whole curve over the number of completions; strategy VOTERS: over the voters.
    """

    panel: str
    series: str
    x: float
    run: str
    scores: str = ""
    strategy: str = BEST


def _figure_2(recipe: Recipe) -> Iterator[FigurePoint]:
    preset, small = recipe.preset, SMALLER.get(recipe.preset.base)
    for count in (preset.problems // 4, preset.problems // 2):
        run = recipe.sampled("greedy", recipe.generator(f"generator-of-{count}", limit=count))
        yield FigurePoint("problems", "greedy", count, run)
    whole = recipe.sampled("greedy", recipe.generator())
    yield FigurePoint("problems", "greedy", preset.problems, whole)
    if small is not None:
        run = recipe.sampled("greedy", recipe.generator("generator-small", model=small))
        for base, greedy in ((small, run), (preset.base, whole)):
            weights = float(base.removeprefix("new:").removesuffix("M")) * 1e6
            yield FigurePoint("weights", "greedy", weights, greedy)


def _figure_5(recipe: Recipe) -> Iterator[FigurePoint]:
    run = recipe.sampled("test", recipe.generator())
    control = recipe.sampled("greedy", recipe.control())
    yield FigurePoint("", "fine-tuning, greedy", recipe.preset.labelled, control)
    for labels, scores in recipe.curve("verifier"):
        for name in (BEST, "odds", MAJORITY):
            yield FigurePoint("", STRATEGIES[name][0], labels, run, scores, name)


def _figure_6(recipe: Recipe, variants: Mapping[str, Options]) -> Iterator[FigurePoint]:
    """Yield the points of verifiers with different options, over the numbers of labels."""
    run = recipe.sampled("test", recipe.generator())
    for series, options in variants.items():
        is_presets = options.items() <= recipe.preset.verifier.items()
        name = "-".join(str(value) for value in options.values() if value is not None)
        for labels, scores in recipe.curve("verifier" if is_presets else name, **options):
            yield FigurePoint("", series, labels, run, scores)


def _figure_6c(recipe: Recipe) -> Iterator[FigurePoint]:
    small = SMALLER.get(recipe.preset.base)
    if small is None:
        raise InputError("figure 6c needs models of two sizes; give a preset with a new model")
    large, little = recipe.generator(), recipe.generator("generator-small", model=small)
    for series, model, init in (("large generator, small verifier", large, little),
                                ("small generator, large verifier", little, large)):  # fmt: skip
        verifier = recipe.verifier(f"crossed-{Path(model).name}", model, init=init)
        scores = recipe.scored(verifier, model, verifier=verifier)
        yield FigurePoint("", series, recipe.preset.labelled, recipe.sampled("test", model), scores)


def _figure_7(recipe: Recipe, strategies: Sequence[str]) -> Iterator[FigurePoint]:
    """Yield the points of strategies by the verifier's scores."""
    run, scores = recipe.sampled("test", recipe.generator()), recipe.scored(recipe.verifier())
    for name in strategies:
        yield FigurePoint("", STRATEGIES.get(name, (name,))[0], 0, run, scores, name)


def _figure_8(recipe: Recipe) -> Iterator[FigurePoint]:
    preset, run = recipe.preset, recipe.sampled("test", recipe.generator())
    for share in (None, 0.2):
        end, series = ("", "without") if share is None else ("-dropout", f"dropout {share}")
        model = recipe.generator(f"generator{end}", dropout=share)
        yield FigurePoint("fine-tuning", series, preset.problems, recipe.sampled("greedy", model))
        for level in ("solution", "token"):
            init = None if share is None else model
            verifier = recipe.verifier(f"{level}{end}", level=level, dropout=share, init=init)
            scores = recipe.scored(verifier)
            yield FigurePoint(f"{level} level", series, preset.labelled, run, scores)


def _direct(recipe: Recipe) -> Iterator[FigurePoint]:
    models = {"with steps": recipe.generator(),
              "answer alone": recipe.generator("direct", loss_on="answer")}  # fmt: skip
    for series, model in models.items():
        yield FigurePoint("", series, recipe.preset.problems, recipe.sampled("greedy", model))


LABELS, COMPLETIONS = "labelled problems", "completions of a problem"
LEVELS: Mapping[str, Options] = {name: {"level": name} for name in ("solution", "token", "pooled")}
OBJECTIVES: Mapping[str, Options] = {
    "joint": {"level": "token"},
    "verification": {"level": "token", "objective": "verification", "language": None},
}
# Each figure: what it shows, the label of x, and its points.
FIGURES: Mapping[str, tuple[str, str, Callable[[Recipe], Iterator[FigurePoint]]]] = {
    "2": ("more training problems and a larger model solve more", "size", _figure_2),
    "5": ("verification takes off with many labels", LABELS, _figure_5),
    "6a": ("token-level verifiers beat solution-level ones in the end", LABELS,
                     partial(_figure_6, variants=LEVELS)),
    "6b": ("the joint objective beats verification alone", LABELS,
                     partial(_figure_6, variants=OBJECTIVES)),
    "6c": ("a large generator with a small verifier beats the reverse", LABELS,
                     _figure_6c),
    "7a": ("accuracy rises with completions, and falls with very many", COMPLETIONS,
                     partial(_figure_7, strategies=(BEST, MAJORITY, "odds", COVERAGE))),
    "7b": ("the more completions, the more voters pay", "voters",
                     partial(_figure_7, strategies=(VOTERS,))),
    "8": ("dropout helps fine-tuning and solution-level verifiers", "problems",
                    _figure_8),
    "direct": ("an answer without steps is far worse (20.6 to 5.2 in the paper)",
                         "problems", _direct),
}  # fmt: skip


def figure_recipe(preset: Preset, name: str) -> tuple[Stages, list[FigurePoint]]:
    """Return a figure's stages and points, for the preset's first seed."""
    if name not in FIGURES:
        raise UnknownNameError("figure", name, FIGURES)
    recipe = Recipe(preset, preset.seeds[0])
    points = list(FIGURES[name][2](recipe))
    return recipe.stages, points


# The runner


def run_stages(stages: Stages, folder: Path, jobs: int, tell: Callable[[str], None]) -> None:
    """Run each unfinished stage as soon as those that it needs have ended, `jobs` at a time.

    A first SIGINT or SIGTERM interrupts the running stages, which keep what they have. Raises
    KeyboardInterrupt then, GradeschoolError if a stage fails, InputError if the folder holds a
    stage with other settings.
    """
    codes, done = stage_codes(stages), set[str]()
    (folder / STAGES).mkdir(parents=True, exist_ok=True)
    for output in stages:
        known = read_json(_stage_file(folder, output, "json"))
        if known is not None and known.get("digest") != codes[output]:
            raise InputError(
                f"the stage {output!r} in {str(folder)!r} was run with other settings; give "
                "another -o"
            )
        if known is not None:
            done.add(output)
    running: dict[str, subprocess.Popen[bytes]] = {}
    with locked_file(folder / STAGES / LOCK_FILE), stop_flag() as stop:
        try:
            while len(done) < len(stages):
                if stop.is_set():
                    raise KeyboardInterrupt
                for output, command in stages.items():
                    ready = done.issuperset(find_needs(command, stages))
                    if len(running) < jobs and ready and output not in done | running.keys():
                        tell(f"{output} ... ({len(done)} of {len(stages)} done)")
                        running[output] = _begin(command, folder)
                time.sleep(POLL_SECONDS)
                for output, process in list(running.items()):
                    pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                    if not pid:
                        continue
                    process.returncode = ended = os.waitstatus_to_exitcode(status)
                    del running[output]
                    if ended in (INTERRUPTED, -signal.SIGINT):
                        raise KeyboardInterrupt
                    if ended:
                        log = _stage_file(folder, output, "log")
                        raise GradeschoolError(
                            f"the stage {output!r} ended with status {ended}: "
                            f"{log.read_text('utf-8', 'replace')[-TAIL:].strip()}\n(full output: "
                            f"{str(log)!r}); the same command continues from there"
                        )
                    cpu = usage.ru_utime + usage.ru_stime
                    fields = {"digest": codes[output], "cpu_seconds": cpu}
                    write_json(_stage_file(folder, output, "json"), fields)
                    done.add(output)
                    tell(f"{output}: {cpu:,.0f} s of CPU")
        finally:
            for process in running.values():
                process.send_signal(signal.SIGINT)
            for process in running.values():
                try:
                    process.wait(STOP_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def _stage_file(folder: Path, output: str, ending: str) -> Path:
    return folder / STAGES / f"{output.replace('/', '-')}.{ending}"


def _begin(command: Sequence[str], folder: Path) -> subprocess.Popen[bytes]:
    *words, sign, output = command
    (folder / output).parent.mkdir(parents=True, exist_ok=True)
    if words[1] in ("generate", "export"):  # they refuse a file, which an interruption may leave
        (folder / output).unlink(missing_ok=True)
    with _stage_file(folder, output, "log").open("ab") as log:
        out = (folder / output).open("wb") if sign == ">" else log
        process = subprocess.Popen(  # noqa: S603  (our own command line)
            python_command(PROGRAM, *(words if sign == ">" else command)),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=log,
            process_group=0,  # a terminal's Ctrl-C reaches only this process, which passes it on
            env=python_environment({"TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}),
        )
        out.close()
    return process
