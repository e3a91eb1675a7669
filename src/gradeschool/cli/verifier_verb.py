"""`gradeschool verifier`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradeschool.cli.options import dataset_option, warn
from gradeschool.cli.training import How, run_training, training_options

if TYPE_CHECKING:
    from gradeschool.verifier.scores import ScoringProgress


@click.group()
def command() -> None:
    """Train a verifier on labelled completions; score completions by one."""


@command.command()
@click.option("--generator", required=True, metavar="FOLDER",
              help="The model that wrote the samples.")  # fmt: skip
@click.option("--samples", required=True, metavar="RUN",
              help="A run of `gradeschool sample`, or any file of completions.")  # fmt: skip
@click.option("--init", metavar="FOLDER",
              help="Begin with this model's weights; by default with the generator's.")  # fmt: skip
@dataset_option
@click.option("--level", type=click.Choice(["token", "solution", "likelihood"]), default="token",
              show_default=True,
              help="Learn a value at every token, or at the last; or, not the paper's, score by "
                   "the likelihood of the solution.")  # fmt: skip
@click.option("--objective", type=click.Choice(["joint", "verification"]), default="joint",
              show_default=True, help="With the language-modelling loss, or without.")  # fmt: skip
@click.option("--language", type=click.Choice(["reference", "right"]),
              help="Of reference solutions, or of samples that are right; by default reference, "
                   "with the level likelihood right.")  # fmt: skip
@click.option("--group", type=click.IntRange(min=1), default=8, show_default=True,
              help="Different solutions of a problem in a group, at most.")  # fmt: skip
@training_options({"epochs": "1", "optimizer": "adam", "lr": "1e-5", "warmup": "0", "batch": "8"},
                  batch="Groups (a problem with some of its solutions)")  # fmt: skip
def train(**options: Any) -> None:
    """Train a verifier on labelled completions.

    The defaults are the paper's: the verifier begins as a copy of the generator, and learns at
    every token of a completion whether its final answer will be right, beside the language of the
    reference solutions. The same command again goes on from the last checkpoint.

    Example: gradeschool verifier train --generator models/generator --samples runs/samples -o
    models/verifier
    """
    from gradeschool.verifier.base_model import needs_training_packages

    needs_training_packages()
    from gradeschool.verifier.train_verifier import VerifierTraining, train_verifier

    how = How.taken(options)
    given = {name: value for name, value in options.items() if value is not None}
    run_training(train_verifier, VerifierTraining(**given), how)


@command.command()
@click.argument("files", nargs=-1, required=True, metavar="RUN...")
@click.option("--verifier", required=True, metavar="FOLDER|FILE.gguf|tiny",
              help="Who scores; tiny comes with the package.")  # fmt: skip
@click.option("--generator", metavar="FOLDER|FILE.gguf|tiny",
              help="Write this model's log-probabilities too.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="By default verifier-scores.jsonl beside the completions.")  # fmt: skip
@click.option("--tokens", is_flag=True, help="Write the value and the text of every token too.")
@dataset_option
def score(
    files: tuple[str, ...],
    verifier: str,
    generator: str | None,
    output: Path | None,
    tokens: bool,
    dataset: str | None,
) -> None:
    """Score completions from any source by a verifier.

    A RUN is a run folder or a file, as `gradeschool score` takes them.

    Completions that have this verifier's score are not scored again, so a killed command goes on
    where it stopped.

    Example: gradeschool verifier score --verifier models/verifier runs/samples
    """
    from gradeschool.scoring.sources import check_sources
    from gradeschool.verifier.candidates import candidates_of
    from gradeschool.verifier.scorers import load_scorer
    from gradeschool.verifier.scores import score_held

    check_sources(files, dataset)
    scorer = load_scorer(verifier, generator)
    held = [one for spec in dict.fromkeys(files) for one in candidates_of(spec, dataset, warn)]
    for one in held:
        path = score_held(one, scorer, path=output, tokens=tokens, tell=progress("scored"))
        click.echo(f"{one.total} completions of {one.run} are scored in {path}")


def progress(verb: str) -> Callable[[ScoringProgress], None]:
    """Return who tells on stderr, at most once in two seconds, how far a scoring is."""
    last = time.monotonic()

    def tell(told: ScoringProgress) -> None:
        nonlocal last
        if told.scored < told.total and time.monotonic() - last < 2:
            return
        last = time.monotonic()
        end = "\r" if sys.stderr.isatty() and told.scored < told.total else "\n"
        click.echo(f"{verb} {told.scored} of {told.total} completions", err=True, nl=False)
        click.echo(end, err=True, nl=False)

    return tell
