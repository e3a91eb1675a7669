"""The recipes: problems, models, training settings; and their stages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from gradeschool.verifier.reproduce.stages import Stage

# The splits of test problems: like the training problems, and with held-out structures.
SPLITS = {"test": "test", "held-out": "test-structures"}
TRAIN, LABELLED = "problems/train.jsonl", "problems/labelled.jsonl"
# The models whose greedy answers are baselines.
GREEDY = ("generator", "control")
# Voters among the verifier's top samples; chosen on a development split, like the settings.
VOTING = 3
# Number of problems whose samples are used for the layer probes.
PROBED = 150
# Seeds of the problems; the seeds of the generator's problems and of training are in the preset.
LABELLED_SEED, TEST_SEED = 2, 3


@dataclass(frozen=True, slots=True)
class Preset:
    """One recipe.

    families, steps: of the problems, () for all families. problems: of the generator, with
    solutions; fully trained, it is also the baseline. labelled: number of further problems, of
    which only the final answers are used. tested: test problems for each of SPLITS, or only for the
    first. size: of new models. generator, control, verifier: options of their training. k,
    temperature: of the labelled samples. n, test_temperature: of the test samples. train_seed: of
    the generator's problems. replay: the control is trained on these again. gguf: also convert
    generator and verifier for llama.cpp. model: a pretrained model's folder or FILE.gguf instead of
    a new model. second: add a round with the control as generator, with labels of the same
    problems.
    """

    name: str
    families: tuple[str, ...]
    steps: tuple[int, int]
    problems: int
    labelled: int
    tested: tuple[int, ...]
    size: str
    generator: tuple[str, ...]
    control: tuple[str, ...]
    verifier: tuple[str, ...]
    k: int
    temperature: float
    n: int
    test_temperature: float
    seeds: tuple[int, ...]
    train_seed: int = 1
    replay: bool = True
    gguf: bool = False
    model: str = ""
    second: bool = False

    @property
    def splits(self) -> tuple[str, ...]:
        """Return the names of the test splits."""
        return tuple(SPLITS)[: len(self.tested)]

    @property
    def base(self) -> str:
        """Return the generator's base model."""
        return self.model or f"new:{self.size}"


# Settings were chosen on a development split; see docs/log.md.
LAPTOP = Preset(
    name="laptop",
    families=("collection", "comparison", "groups", "shopping"),
    steps=(2, 4),
    problems=2000,
    labelled=30000,
    tested=(1000, 500),
    size="0.2M",
    generator=("--epochs", "20"),
    control=("--epochs", "2", "--optimizer", "muon", "--lr", "3e-3", "--warmup", "50", "--batch",
             "16"),
    verifier=("--level", "likelihood", "--optimizer", "muon", "--lr", "1e-3", "--warmup", "30",
              "--batch", "16", "--group", "1"),
    k=1,
    temperature=1.0,
    n=32,
    test_temperature=0.8,
    seeds=(0, 1, 2),
)  # fmt: skip
# The same at a larger scale; never run: the settings are extrapolated.
GPU = replace(
    LAPTOP,
    name="gpu",
    families=(),
    steps=(2, 8),
    problems=30000,
    labelled=300000,
    tested=(1000, 1000),
    size="5M",
    n=100,
)
# The shipped models (models/tiny/SOURCE.md); settings were not tuned.
TINY = replace(
    LAPTOP,
    name="tiny",
    families=(),
    steps=(2, 8),
    problems=90000,
    labelled=10000,
    tested=(400, 200),
    generator=("--epochs", "1"),
    control=("--epochs", "1", "--optimizer", "muon", "--lr", "1e-3", "--warmup", "30", "--batch",
             "16"),
    n=16,
    seeds=(0,),
    train_seed=7,
    replay=False,
    gguf=True,
)  # fmt: skip
# A small pretrained model and the paper's head, sized for four hours on two cores; settings were
# not tuned. A quarter of the labels trains no verifier of use (docs/log.md).
PRETRAINED = replace(
    LAPTOP,
    name="pretrained",
    steps=(2, 3),
    problems=640,
    labelled=1024,
    tested=(500,),
    size="",
    generator=("--epochs", "1", "--lora", "16", "--lr", "1e-3", "--warmup", "5", "--batch", "8"),
    control=("--epochs", "1", "--lora", "16", "--lr", "5e-4", "--warmup", "5", "--batch", "8"),
    verifier=("--level", "token", "--lora", "16", "--lr", "5e-4", "--head-lr", "1e-2", "--warmup",
              "5", "--batch", "2"),
    replay=False,
    k=8,
    n=16,
    seeds=(0,),
    second=True,
)  # fmt: skip
PRESETS = {preset.name: preset for preset in (LAPTOP, GPU, TINY, PRETRAINED)}


def stages_of(preset: Preset) -> list[Stage]:
    """Return all stages of a recipe, each after the stages that it needs."""
    stages = list(_problems(preset))
    for seed in preset.seeds:
        stages += _training(preset, seed)
        for split in preset.splits:
            stages += _testing(preset, seed, split)
        stages += _written(preset, seed)
        stages += _second(preset, seed) if preset.second else ()
    return stages


def folder(what: str, seed: int) -> str:
    """Return the folder of a model or a run of a training seed."""
    return f"seed-{seed}/{what}"


def control_scores(split: str, seed: int) -> str:
    """Return the file of the samples' log-probabilities under the control."""
    return folder(f"{split}-control-logprob.jsonl", seed)


def kept_right(preset: Preset, samples: str, problems: str) -> tuple[str, ...]:
    """Return the command that prints a control's training data."""
    replayed = ("--with", TRAIN) if preset.replay else ()
    return ("data", "right", samples, "-d", problems, *replayed)


def _problems(preset: Preset) -> Iterator[Stage]:
    sets = [
        ("train", TRAIN, "train", preset.train_seed, preset.problems),
        ("labelled", LABELLED, "train", LABELLED_SEED, preset.labelled),
        *((name, f"problems/{name}.jsonl", split, TEST_SEED, tested)
          for (name, split), tested in zip(SPLITS.items(), preset.tested, strict=False)),
    ]  # fmt: skip
    for name, path, split, seed, count in sets:
        yield problems_stage(preset, name, split, seed, count, path)


def problems_stage(
    preset: Preset, name: str, split: str, seed: int, count: int, path: str = ""
) -> Stage:
    """Return the stage that draws problems of a seed and split; path: its file, if not its own."""
    families = [word for family in preset.families for word in ("--family", family)]
    numbers = ("--seed", str(seed), "-n", str(count), "--steps", *map(str, preset.steps))
    command = ("data", "generate", "--split", split, *numbers, *families)
    return Stage(f"problems-{name}", command, stdout=path or f"problems/{name}.jsonl")


def _training(preset: Preset, seed: int) -> Iterator[Stage]:
    """Yield generator, samples, control and verifier; the verifier starts as the control.

    The control is the generator, trained further on its own right samples: it measures the value of
    the same labels for a generator.
    """
    of_seed = ("--seed", str(seed))
    generator, samples, control = (folder(it, seed) for it in ("generator", "samples", "control"))
    right = folder("right.jsonl", seed)
    new = ("finetune", "-m", preset.base, "-d", TRAIN, "-o", generator)
    yield Stage(f"generator-{seed}", (*new, *preset.generator, *of_seed), ("problems-train",))
    drawn = ("-k", str(preset.k), "--temperature", f"{preset.temperature:g}", *of_seed)
    sampled = ("sample", "-m", f"transformers/{generator}", "-d", LABELLED, "-o", samples, *drawn)
    yield Stage(f"samples-{seed}", sampled, (f"generator-{seed}", "problems-labelled"))
    kept = kept_right(preset, samples, LABELLED)
    yield Stage(f"right-{seed}", kept, (f"samples-{seed}", "problems-train"), right)
    further = ("finetune", "-m", generator, "-d", right, "-o", control, *preset.control, *of_seed)
    yield Stage(f"control-{seed}", further, (f"right-{seed}",))
    begun = ("verifier", "train", "--generator", generator, "--init", control)
    trained = ("--samples", samples, "-d", LABELLED, "-o", folder("verifier", seed))
    command = (*begun, *trained, *preset.verifier, *of_seed)
    yield Stage(f"verifier-{seed}", command, (f"control-{seed}",))


def _testing(preset: Preset, seed: int, split: str) -> Iterator[Stage]:
    problems, run = f"problems/{split}.jsonl", folder(split, seed)
    of_seed = ("-d", problems, "--seed", str(seed))
    judged = ["rank", run, "--verifier", folder("verifier", seed)]
    judged += ["--generator", folder("generator", seed), "-d", problems, "--json"]
    judged += ["--voters", str(VOTING)]
    needs = [f"{split}-{seed}", f"verifier-{seed}"]
    for name in GREEDY:
        greedy, stage = folder(f"{split}-{name}", seed), f"{split}-{name}-{seed}"
        model = f"transformers/{folder(name, seed)}"
        command = ("sample", "-m", model, "-o", greedy, "-k", "1", "--temperature", "0", *of_seed)
        yield Stage(stage, command, (f"{name}-{seed}", f"problems-{split}"))
        judged += ["--baseline", greedy]
        needs.append(stage)
    drawn = ("-k", str(preset.n), "--temperature", f"{preset.test_temperature:g}")
    model = f"transformers/{folder('generator', seed)}"
    sampled = ("sample", "-m", model, "-o", run, *drawn, *of_seed)
    yield Stage(f"{split}-{seed}", sampled, (f"generator-{seed}", f"problems-{split}"))
    yield Stage(f"rank-{split}-{seed}", tuple(judged), tuple(needs), f"results/{split}-{seed}.json")
    by_control = ("verifier", "score", run, "--generator", folder("control", seed))
    yield Stage(
        f"logprob-{split}-{seed}",
        (*by_control, "-d", problems, "-o", control_scores(split, seed)),
        (f"{split}-{seed}", f"control-{seed}"),
    )
    if preset.model:
        probed = ("verifier", "probe", run, "--generator", folder("generator", seed), "--json")
        yield Stage(
            f"layers-{split}-{seed}",
            (*probed, "-d", problems, "-n", str(PROBED)),
            (f"{split}-{seed}",),
            layer_results(split, seed),
        )


def layer_results(split: str, seed: int) -> str:
    """Return the file of the linear probes of the generator's layers."""
    return f"results/{split}-layers-{seed}.json"


def second_results(split: str, seed: int) -> str:
    """Return the file of the ranking of the control's own samples by their own verifier."""
    return f"results/{split}-second-{seed}.json"


def _second(preset: Preset, seed: int) -> Iterator[Stage]:
    """Yield the verifier on top of the control: its samples, their verifier, the ranking."""
    control, of_seed = folder("control", seed), ("--seed", str(seed))
    samples, verifier = folder("samples-second", seed), folder("verifier-second", seed)
    model = ("sample", "-m", f"transformers/{control}")
    drawn = ("-k", str(preset.k), "--temperature", f"{preset.temperature:g}", *of_seed)
    yield Stage(f"samples-second-{seed}", (*model, "-d", LABELLED, "-o", samples, *drawn),
                (f"control-{seed}", "problems-labelled"))  # fmt: skip
    begun = ("verifier", "train", "--generator", control, "--samples", samples, "-d", LABELLED)
    yield Stage(f"verifier-second-{seed}", (*begun, "-o", verifier, *preset.verifier, *of_seed),
                (f"samples-second-{seed}",))  # fmt: skip
    drawn = ("-k", str(preset.n), "--temperature", f"{preset.test_temperature:g}", *of_seed)
    for split in preset.splits:
        problems, run = f"problems/{split}.jsonl", folder(f"{split}-second", seed)
        yield Stage(f"{split}-second-{seed}", (*model, "-o", run, "-d", problems, *drawn),
                    (f"control-{seed}", f"problems-{split}"))  # fmt: skip
        judged = ["rank", run, "--verifier", verifier, "--generator", control, "-d", problems]
        needs = [f"{split}-second-{seed}", f"verifier-second-{seed}"]
        for name in GREEDY:
            judged += ["--baseline", folder(f"{split}-{name}", seed)]
            needs.append(f"{split}-{name}-{seed}")
        yield Stage(f"rank-{split}-second-{seed}", (*judged, "--json"), tuple(needs),
                    second_results(split, seed))  # fmt: skip


def _written(preset: Preset, seed: int) -> Iterator[Stage]:
    for name in ("generator", "verifier") if preset.gguf else ():
        model = folder(name, seed)
        yield Stage(f"gguf-{name}-{seed}", ("gguf", model, "-o", f"{model}.gguf"),
                    (f"{name}-{seed}",))  # fmt: skip
