"""What the verbs that train share: their options, and how a training runs and ends."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from gradeschool.cli.options import FiniteRange, json_option, print_json, warn

if TYPE_CHECKING:
    from gradeschool.verifier.training import TrainingSettings

MOST_SEED = 10**18 - 1  # as of fresh problems; torch takes no more than 2**64
POSITIVE = FiniteRange(min=0, min_open=True)
Decorated = Callable[..., Any]

seed_option = click.option("--seed", type=click.IntRange(0, MOST_SEED), default=0,
                           show_default=True)  # fmt: skip


class How(NamedTuple):
    """The options that decide how a training runs and not what it makes."""

    output: Path
    save_every: int
    parallel: Any
    processes: int | None
    quiet: bool
    as_json: bool

    @classmethod
    def taken(cls, options: dict[str, Any]) -> How:
        """Take these options out of all that a command was given."""
        return cls(*(options.pop(name) for name in cls._fields))


def training_options(usual: Mapping[str, str], batch: str) -> Callable[[Decorated], Decorated]:
    """Return a decorator that adds the options of every training.

    usual: what --help says where epochs, optimizer, lr, warmup or batch are not given; they are
    None then. batch: what an update has.
    """
    options = [
        click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False),
                     required=True, metavar="FOLDER", help="Folder of the new model."),
        click.option("-n", "--limit", type=click.IntRange(min=1),
                     help="Only the first N problems."),
        click.option("--epochs", type=POSITIVE, show_default=usual["epochs"],
                     help="May be a fraction."),
        click.option("--optimizer", type=click.Choice(["adam", "muon"]),
                     show_default=usual["optimizer"]),
        click.option("--lr", type=POSITIVE, show_default=usual["lr"],
                     help="The highest learning rate; it falls linearly to 0."),
        click.option("--warmup", type=click.IntRange(min=0), show_default=usual["warmup"],
                     help="Updates over which it rises."),
        click.option("--batch", type=click.IntRange(min=1), show_default=usual["batch"],
                     help=f"{batch} an update."),
        click.option("--pass-tokens", type=click.IntRange(min=1), default=8192, show_default=True,
                     help="Tokens computed at a time; a larger batch is accumulated."),
        click.option("--precision", type=click.Choice(["float32", "bfloat16"]),
                     show_default="bfloat16 on a GPU, else float32",
                     help="Of the passes; weights and optimizer stay in float32."),
        click.option("--dropout", type=FiniteRange(0, 1, max_open=True), default=0.0,
                     show_default=True, help="On the residual paths; the paper's is 0.2."),
        click.option("--weight-decay", type=FiniteRange(min=0), default=0.0, show_default=True),
        seed_option,
        click.option("--save-every", type=click.IntRange(min=1), default=200, show_default=True,
                     help="Updates between checkpoints."),
        click.option("--parallel", type=click.Choice(["ddp", "fsdp"]), default="ddp",
                     show_default=True, help="How the processes of torchrun share the work."),
        click.option("--processes", type=click.IntRange(min=1),
                     help="Stop unless so many processes take part."),
        click.option("--quiet", is_flag=True, help="No progress."),
        json_option,
    ]  # fmt: skip

    def decorate(command: Decorated) -> Decorated:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def run_training(
    train: Callable[..., Mapping[str, Any]], settings: TrainingSettings, how: How
) -> None:
    """Train, show how it goes, print the result; exits with 130 where it was interrupted.

    train: `finetune` or `train_verifier`.
    """
    from shlex import join

    from gradeschool.models.workers import keep_freed_memory
    from gradeschool.reports.training_progress import training_progress
    from gradeschool.verifier.parallel import joined
    from gradeschool.verifier.session import Listener

    keep_freed_memory()
    with (
        joined(how.parallel, how.processes) as world,
        training_progress(how.quiet or not world.first) as progress,
    ):
        fields = train(
            settings,
            how.output,
            world=world,
            save_every=how.save_every,
            command=join(["gradeschool", *sys.argv[1:]]),
            listener=Listener(progress.note, progress.update, progress.row),
        )
        if fields["status"] == "finished" and not progress.updates:
            progress.note(f"{how.output} is finished already; nothing was trained")
    if how.as_json and world.first:
        print_json({"folder": str(how.output), **fields})
    if fields["status"] != "finished":
        if world.first:
            warn(f"interrupted; the same command goes on from update {fields['updates']}")
        sys.exit(130)
