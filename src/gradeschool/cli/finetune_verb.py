"""`gradeschool finetune`."""

from __future__ import annotations

from typing import Any

import click

from gradeschool.cli.options import Verb, renamed_option
from gradeschool.cli.training import RunSettings, run_training, training_options

# The defaults: the paper's for an existing model; for a new model, values that suit a laptop.
DEFAULTS: dict[bool, dict[str, Any]] = {
    False: {"epochs": 2.0, "optimizer": "adam", "lr": 1e-5, "warmup": 0, "batch": 32},
    True: {"epochs": 20.0, "optimizer": "muon", "lr": 5e-3, "warmup": 50, "batch": 16},
}
HELP_DEFAULTS = {name: f"{DEFAULTS[False][name]:g}, new:SIZE {DEFAULTS[True][name]:g}"
         for name in ("epochs", "lr", "warmup", "batch")}  # fmt: skip


@click.command(cls=Verb)
@click.option(
    "-m",
    "--model",
    required=True,
    metavar="FOLDER|new:SIZE",
    help="Folder of a Hugging Face model, or new:0.2M, new:1M, new:5M for a new one.",
)
@click.option("-d", "--dataset", required=True,
              help="Problems with solutions: a name from `gradeschool data list`, or a "
                   "file.")  # fmt: skip
@click.option(
    "--loss-on",
    type=click.Choice(["solution", "both"]),
    default="solution",
    show_default=True,
    help="Compute the loss on the solution, or on the question too.",
)
@click.option("--vocabulary", type=click.IntRange(min=1), default=1024, show_default=True,
              help="Vocabulary size of a new model.")  # fmt: skip
@click.option("--dev", help="Problems for the curves: loss, test@1 and test@k after every epoch.")
@click.option("--dev-problems", type=click.IntRange(min=1), default=100, show_default=True,
              help="Use only the first N of them.")  # fmt: skip
@renamed_option("--dev-samples", aliases=("-k",), type=click.IntRange(min=1), default=1,
                show_default=True,
                help="Samples of each for test@k, at temperature 0.7.")  # fmt: skip
@training_options({**HELP_DEFAULTS, "optimizer": "adam, new:SIZE muon"}, batch="Examples")
def command(**options: Any) -> None:
    """Fine-tune a language model on problems with solutions.

    Running the same command again resumes from the last checkpoint. The output folder is a Hugging
    Face model with training.json, losses.jsonl and curves.jsonl. For several processes use
    `torchrun --nproc-per-node 2 -m gradeschool finetune ...`.

    Example: gradeschool finetune -m new:0.2M -d fresh:1:train:3000 -o models/mine --dev fresh:2:dev
    """
    from gradeschool.verifier.base_model import PREFIX, needs_training_packages

    needs_training_packages()
    from gradeschool.verifier.finetune import Finetuning, finetune

    settings = RunSettings.pop_from(options)
    defaults = DEFAULTS[options["model"].startswith(PREFIX)]
    chosen = {name: value for name, value in options.items() if value is not None}
    run_training(finetune, Finetuning(**{**defaults, **chosen}), settings)
