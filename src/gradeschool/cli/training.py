"""Options of the verbs that train, and the function that runs a training."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from gradeschool.cli.options import (
    Decorated,
    FiniteRange,
    json_option,
    log_option,
    print_json,
    warn,
    with_options,
)

if TYPE_CHECKING:
    from gradeschool.verifier.session import Session
    from gradeschool.verifier.training import TrainingSettings, TrainingUpdate

MOST_SEED = 10**18 - 1  # as for fresh problems; torch accepts less than 2**64
POSITIVE = FiniteRange(min=0, min_open=True)

seed_option = click.option("--seed", type=click.IntRange(0, MOST_SEED), default=0,
                           show_default=True, help="Random seed.")  # fmt: skip


class RunSettings(NamedTuple):
    """The options that do not change the trained model."""

    output: Path
    save_every: int
    parallel: Any
    processes: int | None
    loggers: tuple[str, ...]
    dry_run: bool
    quiet: bool
    as_json: bool

    @classmethod
    def pop_from(cls, options: dict[str, Any]) -> RunSettings:
        """Remove these options from a command's options, and return them."""
        return cls(*(options.pop(name) for name in cls._fields))


def training_options(defaults: Mapping[str, str], batch: str) -> Callable[[Decorated], Decorated]:
    """Return a decorator that adds the options of every training.

    defaults: the defaults that --help shows for epochs, optimizer, lr, warmup and batch; the
    command gets None for them. batch: the items that --batch counts.
    """
    return with_options(
        click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False),
                     required=True, metavar="FOLDER", help="Folder for the trained model."),
        click.option("-n", "--limit", type=click.IntRange(min=1),
                     help="Use only the first N problems."),
        click.option("--epochs", type=POSITIVE, show_default=defaults["epochs"],
                     help="Passes over the data; may be a fraction."),
        click.option("--optimizer", type=click.Choice(["adam", "muon"]),
                     show_default=defaults["optimizer"], help="Optimizer."),
        click.option("--lr", type=POSITIVE, show_default=defaults["lr"],
                     help="Highest learning rate; it decays linearly to 0."),
        click.option("--warmup", type=click.IntRange(min=0), show_default=defaults["warmup"],
                     help="Updates over which the learning rate rises."),
        click.option("--batch", type=click.IntRange(min=1), show_default=defaults["batch"],
                     help=f"{batch} in an update."),
        click.option("--pass-tokens", type=click.IntRange(min=1), default=8192, show_default=True,
                     help="Tokens in one pass; larger batches accumulate gradients."),
        click.option("--precision", type=click.Choice(["float32", "bfloat16"]),
                     show_default="bfloat16 on a GPU, else float32",
                     help="Precision of the passes; weights and optimizer stay in float32."),
        click.option("--save-dtype", type=click.Choice(["float32", "bfloat16", "float16"]),
                     show_default="that of the base model",
                     help="Data type of the saved weights."),
        click.option("--lora", type=click.IntRange(min=1), metavar="RANK",
                     help="Train adapters of this rank by peft instead of all weights; the folder "
                          "gets the merged model and the adapter."),
        click.option("--gradient-checkpointing", is_flag=True,
                     help="Save memory: compute activations again in the backward pass."),
        click.option("--dropout", type=FiniteRange(0, 1, max_open=True), default=0.0,
                     show_default=True, help="Dropout on the residual paths; the paper uses 0.2."),
        click.option("--weight-decay", type=FiniteRange(min=0), default=0.0, show_default=True,
                     help="Weight decay."),
        seed_option,
        click.option("--save-every", type=click.IntRange(min=1), default=200, show_default=True,
                     help="Updates between checkpoints; there is one every five minutes too."),
        click.option("--parallel", type=click.Choice(["ddp", "fsdp"]), default="ddp",
                     show_default=True, help="How torchrun's processes divide the work."),
        click.option("--processes", type=click.IntRange(min=1),
                     help="Stop unless there are exactly this many processes."),
        log_option,
        click.option("--dry-run", is_flag=True,
                     help="Print the number of updates and the memory; write nothing."),
        click.option("--quiet", is_flag=True, help="Show no progress."),
        json_option,
    )  # fmt: skip


def run_training(
    train: Callable[[Any, Session], Mapping[str, Any]],
    training: TrainingSettings,
    settings: RunSettings,
) -> None:
    """Train with a progress display and print the result; exits with 130 if interrupted.

    train: `finetune` or `train_verifier`.
    """
    from shlex import join

    from gradeschool.reports.loggers import TrainingLog, check_loggers
    from gradeschool.reports.progress import TrainingDisplay
    from gradeschool.verifier.parallel import joined
    from gradeschool.verifier.session import PLANNED, Listener, Session

    check_loggers(settings.loggers)
    with (
        joined(settings.parallel, settings.processes) as world,
        TrainingDisplay(settings.quiet or not world.first) as progress,
        TrainingLog(
            settings.loggers if world.first else (),
            settings.output,
            progress.message,
            progress.alert,
        ) as log,
    ):

        def updated(update: TrainingUpdate) -> None:
            progress.updated(update)
            log.row(update.as_json())

        def measured(row: dict[str, Any]) -> None:
            progress.row(row)
            log.row(row)

        fields = train(
            training,
            Session(
                settings.output,
                world,
                join(["gradeschool", *sys.argv[1:]]),
                Listener(progress.message, updated, measured),
                settings.save_every,
                settings.dry_run,
            ),
        )
        if fields["status"] == "finished" and progress.updates:
            log.finished(fields)
        elif fields["status"] == "finished":
            progress.message(f"{settings.output} is already finished; nothing was trained")
    if settings.as_json and world.first:
        print_json({"folder": str(settings.output), **fields})
    if fields["status"] not in ("finished", PLANNED):
        if world.first:
            warn(f"interrupted; the same command resumes from update {fields['updates']}")
        sys.exit(130)
