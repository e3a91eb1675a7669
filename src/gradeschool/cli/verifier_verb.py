"""`gradeschool verifier`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gradeschool.atomic import require_new, write_file
from gradeschool.cli.options import (
    FileVerb,
    FiniteNumber,
    VerbGroup,
    dataset_option,
    json_option,
    print_json,
    reading,
    renamed_option,
    stdout_console,
    warn,
)
from gradeschool.cli.training import POSITIVE, RunSettings, run_training, training_options
from gradeschool.errors import InputError
from gradeschool.percentages import decimals
from gradeschool.reports.printable import say


@click.group(cls=VerbGroup)
def command() -> None:
    """Train a verifier on labelled completions; score completions with it."""


@command.command(cls=FileVerb)
@click.option("--generator", required=True, metavar="FOLDER",
              help="Model that wrote the samples.")  # fmt: skip
@renamed_option("--completions", "samples", aliases=("--samples",), required=True,
                metavar="RUN",
                help="Run of `gradeschool sample`, or any sample file.")  # fmt: skip
@click.option("--init", metavar="FOLDER",
              help="Start from the weights of this model; by default the generator.")  # fmt: skip
@dataset_option
@click.option("--level", type=click.Choice(["token", "step", "solution", "likelihood"]),
              default="token", show_default=True,
              help="Learn a value at every token, at the end of each step, or at the last token; "
                   "or score by the solution's likelihood, which is not in the paper.")  # fmt: skip
@click.option("--supervision", type=click.Choice(["outcome", "process"]), default="outcome",
              show_default=True,
              help="Learn the final answer's correctness, or the exact first wrong step of fresh "
                   "problems.")  # fmt: skip
@click.option(
    "--objective",
    type=click.Choice(["joint", "verification", "preference"]),
    default="joint",
    show_default=True,
    help="Train with or without the language-modelling loss; or prefer right solutions to wrong "
    "ones of the same problem (DPO), with --level likelihood.",
)
@click.option("--beta", type=POSITIVE,
              help="Scale of --objective preference; by default 0.1.")  # fmt: skip
@click.option("--language", type=click.Choice(["reference", "right"]),
              help="Text for the language-modelling loss: reference solutions or correct samples; "
                   "by default reference, with --level likelihood right.")  # fmt: skip
@click.option("--head-lr", type=POSITIVE,
              help="Learning rate of the head's gain and bias; by default --lr.")  # fmt: skip
@click.option("--group", type=click.IntRange(min=1), default=8, show_default=True,
              help="Maximum number of solutions of a problem in a group.")  # fmt: skip
@training_options({"epochs": "1", "optimizer": "adam", "lr": "1e-5", "warmup": "0", "batch": "8"},
                  batch="Groups (a problem with some of its solutions)")  # fmt: skip
def train(**options: Any) -> None:
    """Train a verifier on labelled completions.

    The defaults are the paper's: the verifier starts as a copy of the generator and learns, at
    every token of a completion, whether the final answer will be correct, with a language-modelling
    loss on the reference solutions. Running the same command again resumes from the last
    checkpoint.

    Example: gradeschool verifier train --generator models/generator --completions runs/samples -o
    models/verifier
    """
    from gradeschool.verifier.base_model import needs_training_packages

    needs_training_packages()
    from gradeschool.verifier.train_verifier import VerifierTraining, train_verifier

    settings = RunSettings.pop_from(options)
    chosen = {name: value for name, value in options.items() if value is not None}
    run_training(train_verifier, VerifierTraining(**chosen), settings)


form_option = click.option(
    "--form", type=click.Choice(["token", "sequence", "math-shepherd", "qwen", "skywork"]),
    help="Form of a published reward model; by default read from config.json.")  # fmt: skip
reduction_option = click.option(
    "--reduce", "reduction", type=click.Choice(["last", "min", "product", "mean"]), default="last",
    show_default=True,
    help="Score of a solution: the value at its last token, or the smallest, the product or the "
         "mean of the values at the ends of its lines.")  # fmt: skip


@command.command(cls=FileVerb)
@click.argument("files", nargs=-1, required=True, metavar="RUN...")
@click.option("--verifier", metavar="FOLDER|FILE.gguf|tiny",
              help="Verifier or published reward model; tiny comes with the package.")  # fmt: skip
@click.option("--generator", metavar="FOLDER|FILE.gguf|tiny",
              help="Write the log-probabilities under this model too; without a verifier, they "
                   "are the scores.")  # fmt: skip
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File to write; by default verifier-scores.jsonl beside the samples.",
)
@click.option("--tokens", is_flag=True, help="Write the value and the text of every token too.")
@reduction_option
@form_option
@dataset_option
def score(
    files: tuple[str, ...],
    verifier: str | None,
    generator: str | None,
    output: Path | None,
    tokens: bool,
    reduction: str,
    form: str | None,
    dataset: str | None,
) -> None:
    """Score completions from any source with a verifier.

    A RUN is a run folder or a sample file, as for `gradeschool score`. Skips completions that
    already have a score by this verifier, so an interrupted command resumes.

    Example: gradeschool verifier score --verifier models/verifier runs/samples
    """
    from gradeschool.reports.progress import ScoringDisplay
    from gradeschool.scoring.sources import check_sources
    from gradeschool.verifier.candidates import candidates_of
    from gradeschool.verifier.scorers import load_scorer
    from gradeschool.verifier.scores import add_scores

    check_sources(files, reading(dataset))
    scorer = load_scorer(verifier, generator, reduction, form)
    runs = [
        run for spec in dict.fromkeys(files) for run in candidates_of(spec, reading(dataset), warn)
    ]
    for run in runs:
        with ScoringDisplay() as display:
            path = add_scores(run, scorer, path=output, tokens=tokens, tell=display.scored)
        say(f"{run.total} completions of {run.run} are scored in {path}")


@command.command(cls=FileVerb)
@click.argument("run", metavar="RUN")
@click.option("--generator", type=click.Path(path_type=Path, file_okay=False), required=True,
              metavar="FOLDER", help="Model whose layers are probed.")  # fmt: skip
@click.option("-n", "--limit", type=click.IntRange(min=1), help="Use only the first N problems.")
@dataset_option
@json_option
def probe(run: str, generator: Path, limit: int | None, dataset: str | None, as_json: bool) -> None:
    """Measure how well a model's layers tell right from wrong.

    A linear probe reads the layer's state at the last token, fitted and tested on different
    problems. An AUC within problems near 0.5 means that no linear head on that layer can choose
    among the samples of a problem. Prints no layers for fewer than five problems, or if all labels
    are equal.

    Example: gradeschool verifier probe runs/test --generator models/generator
    """
    from gradeschool.verifier.base_model import needs_training_packages

    needs_training_packages()
    from gradeschool.verifier import separability
    from gradeschool.verifier.candidates import one_run

    layers = separability.separability(one_run(run, reading(dataset), warn), generator, warn, limit)
    if as_json:
        print_json({"layers": separability.as_json(layers)})
        return
    for layer in layers:
        inside, interval, problems = layer.within
        overall, text = decimals(layer.overall, "none"), decimals(inside, "none")
        if interval is not None:
            text += f" ({interval.low:.3f} to {interval.high:.3f}, {problems} problems)"
        say(f"layer {layer.layer:3}  AUC over all {overall}, within problems {text}")


@command.command()
@click.argument("verifier", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER")
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), required=True,
              metavar="FOLDER", help="Folder to write.")  # fmt: skip
def export(verifier: Path, output: Path) -> None:
    """Export a verifier as a token classifier.

    Transformers' AutoModelForTokenClassification.from_pretrained(FOLDER) gives the verifier's value
    at each token as its only logit. Reading it needs no code from gradeschool.

    Example: gradeschool verifier export models/verifier -o models/classifier
    """
    from gradeschool.verifier.base_model import needs_training_packages

    needs_training_packages()
    from gradeschool.verifier.adapters import export_classifier

    export_classifier(verifier, output)
    say(f"the token classifier is in {output}")


@command.command()
@click.argument("benchmark", type=click.Choice(["processbench"]))
@click.option("--verifier", "verifiers", multiple=True, metavar="FOLDER|FILE.gguf|tiny",
              help="Verifier: its value at the end of each step; may be repeated.")  # fmt: skip
@click.option("--logprob", "generators", multiple=True, metavar="FOLDER|FILE.gguf|tiny",
              help="Language model: the mean log-probability of each step's tokens; may be "
                   "repeated.")  # fmt: skip
@click.option("--reward-model", "reward_models", multiple=True, metavar="FOLDER",
              help="Reward model for transformers; may be repeated.")  # fmt: skip
@form_option
@click.option("--critic", "critics", multiple=True, metavar="RUN",
              help="Run of `gradeschool eval -p processbench/gsm8k`; its critiques of a solution "
                   "vote. May be repeated.")  # fmt: skip
@click.option("--predictions", multiple=True, metavar="FILE",
              help="JSONL with the id and the scores or the prediction of each solution; may be "
                   "repeated.")  # fmt: skip
@click.option("--threshold", type=FiniteNumber(),
              help="Score below which a step is wrong; by default each half of the problems "
                   "chooses for the other.")  # fmt: skip
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    help="Use only N solutions, evenly spread over the file.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write the scores and predictions of every solution as JSON lines.")  # fmt: skip
@json_option
def bench(
    benchmark: str, threshold: float | None, limit: int | None, output: Path | None, as_json: bool,
    **sources: Any,
) -> None:  # fmt: skip
    """Measure how well scorers find the first wrong step.

    processbench: 400 solutions of GSM8K problems, labelled by people (Zheng et al. 2024). Prints F1
    as the paper defines it, with intervals over problems, by the model that wrote the solutions,
    and the calibration of the scores. The threshold of scores is never chosen on the solutions that
    it is reported on.

    Example: gradeschool verifier bench processbench --verifier models/verifier --logprob tiny
    """
    from gradeschool.datasets.step_labels import load_step_labels
    from gradeschool.reports.progress import ScoringDisplay
    from gradeschool.reports.ranking import bench_json, print_bench
    from gradeschool.verifier.step_bench import BenchSources, prediction_rows, spread_evenly
    from gradeschool.verifier.step_bench import bench as measure

    if not any(sources[name] for name in BenchSources._fields if name != "form"):
        raise InputError(
            "no scorer is given; give --verifier, --logprob, --reward-model, --critic or "
            "--predictions"
        )
    require_new(output)
    scorers = BenchSources(**sources).load()
    rows = spread_evenly(load_step_labels(), limit)
    predictions = []
    for scorer in scorers:
        with ScoringDisplay("solutions") as display:
            predictions.append(scorer(rows, threshold, display.scored))
    if threshold is not None and all(each.scores is None for each in predictions):
        raise InputError("--threshold applies to scores, and only predictions are given; leave it "
                         "out")  # fmt: skip
    results = [measure(rows, each) for each in predictions]
    if output is not None:
        write_file(output, "".join(prediction_rows(rows, predictions)).encode())
    if as_json:
        print_json({"benchmark": benchmark, **bench_json(rows, results)})
    else:
        print_bench(rows, results, stdout_console())
