"""`gradeschool finetune`."""

from __future__ import annotations

from typing import Any

import click

from gradeschool.cli.training import How, run_training, training_options

# Where an option is not given: for a model that exists, the paper's; for a new one, what was found
# to work from nothing on a laptop.
USUAL: dict[bool, dict[str, Any]] = {
    False: {"epochs": 2.0, "optimizer": "adam", "lr": 1e-5, "warmup": 0, "batch": 32},
    True: {"epochs": 20.0, "optimizer": "muon", "lr": 5e-3, "warmup": 50, "batch": 16},
}
SHOWN = {name: f"{USUAL[False][name]:g}, new:SIZE {USUAL[True][name]:g}"
         for name in ("epochs", "lr", "warmup", "batch")}  # fmt: skip


@click.command()
@click.option("-m", "--model", required=True, metavar="FOLDER|new:SIZE",
              help="A Hugging Face folder, or new:0.2M, new:1M, new:5M from nothing.")  # fmt: skip
@click.option("-d", "--dataset", required=True,
              help="Problems with solutions: a name from `gradeschool data list`, or a "
                   "file.")  # fmt: skip
@click.option("--loss-on", type=click.Choice(["solution", "both"]), default="solution",
              show_default=True, help="Whether the question is learnt too.")  # fmt: skip
@click.option("--vocabulary", type=click.IntRange(min=1), default=1024, show_default=True,
              help="Tokens of a new model.")  # fmt: skip
@click.option("--dev", help="Problems for the curves: loss, test@1, test@k after every epoch.")
@click.option("--dev-problems", type=click.IntRange(min=1), default=100, show_default=True,
              help="The first N of them.")  # fmt: skip
@click.option("-k", "--dev-samples", type=click.IntRange(min=1), default=1, show_default=True,
              help="Samples of each at temperature 0.7 for test@k.")  # fmt: skip
@training_options({**SHOWN, "optimizer": "adam, new:SIZE muon"}, batch="Examples")
def command(**options: Any) -> None:
    """Fine-tune a language model on problems with solutions.

    The same command again goes on from the last checkpoint. The folder is then a Hugging Face model
    with training.json, losses.jsonl and curves.jsonl. Several processes: `torchrun --nproc-per-node
    2 -m gradeschool finetune ...`.

    Example: gradeschool finetune -m new:0.2M -d fresh:1:train:3000 -o models/mine --dev fresh:2:dev
    """
    from gradeschool.verifier.base_model import needs_training_packages

    needs_training_packages()
    from gradeschool.verifier.base_model import PREFIX
    from gradeschool.verifier.finetune import Finetuning, finetune

    how = How.taken(options)
    usual = USUAL[options["model"].startswith(PREFIX)]
    given = {name: value for name, value in options.items() if value is not None}
    run_training(finetune, Finetuning(**{**usual, **given}), how)
