"""`gradeschool eval`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradeschool.cli.options import dataset_option, json_option, print_json, stdout_console, warn

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from gradeschool.reports.progress import LiveProgress, PlainProgress
    from gradeschool.runs.evaluate import Evaluation


@click.command()
@click.option("-m", "--model", required=True, metavar="PROVIDER/NAME",
              help="openai/NAME, http://HOST:PORT/v1[/NAME], or recorded/FILE.")  # fmt: skip
@click.option("-p", "--protocol", default="zero-shot/chat", show_default=True,
              help="A name from `gradeschool protocols list`.")  # fmt: skip
@dataset_option
@click.option("-n", "--limit", type=click.IntRange(min=1), help="Only the first N problems.")
@click.option("-k", "--samples", type=click.IntRange(min=1), default=1, show_default=True,
              help="Completions for each problem.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False),
              help="Run folder; by default runs/MODEL-PROTOCOL-DATASET.")  # fmt: skip
@click.option("--temperature", type=click.FloatRange(0, 2), help="Instead of the protocol's.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="Instead of the protocol's.")
@click.option("--seed", type=int, help="Sample i is asked with seed + i.")
@click.option("--max-connections", type=click.IntRange(1, 4096), default=16, show_default=True)
@click.option("--quiet", is_flag=True, help="No progress.")
@json_option
def command(
    model: str,
    protocol: str,
    dataset: str | None,
    limit: int | None,
    samples: int,
    output: Path | None,
    temperature: float | None,
    max_tokens: int | None,
    seed: int | None,
    max_connections: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Ask a model, store its completions, score them.

    Completions are stored as they come; the same command again asks only for what is missing.
    """
    import asyncio

    from gradeschool import __version__
    from gradeschool.datasets.load import load_dataset
    from gradeschool.models.choose import choose_model
    from gradeschool.protocols.registry import get_protocol
    from gradeschool.runs.evaluate import default_folder, evaluate
    from gradeschool.runs.plan import make_plan

    chosen = get_protocol(protocol)
    problems = load_dataset(dataset or "gsm8k")
    usual = chosen.decoding
    decoding = replace(
        usual,
        temperature=usual.temperature if temperature is None else temperature,
        max_tokens=max_tokens or usual.max_tokens,
        seed=seed,
    )
    plan = make_plan(chosen, problems, decoding, limit, samples)
    answering = choose_model(model, plan.problems, problems.name)
    folder = output or default_folder(model, chosen.name, problems.name)
    with _progress(quiet) as observer:
        work = evaluate(
            plan,
            answering,
            folder,
            connections=max_connections,
            observer=observer,
            version=__version__,
        )
        try:
            evaluation = asyncio.run(work)
        except (KeyboardInterrupt, asyncio.CancelledError):
            warn(f"stopped at once; what is stored stays in {folder}")
            sys.exit(130)
    _report(evaluation, as_json)


def _progress(quiet: bool) -> AbstractContextManager[LiveProgress | PlainProgress]:
    from gradeschool.reports.progress import LiveProgress, PlainProgress

    if quiet or not sys.stderr.isatty():
        return PlainProgress(quiet)
    from rich.console import Console

    return LiveProgress(Console(stderr=True))


def _report(evaluation: Evaluation, as_json: bool) -> None:
    """Print the score and where it is stored; exit as the run ended."""
    if as_json:
        print_json({"folder": str(evaluation.folder), "runs": [evaluation.score.as_json()]})
    else:
        from gradeschool.reports.terminal import quoted, score_table

        score_table([evaluation.score], stdout_console())
        click.echo(f"{evaluation.answered} of {evaluation.requested} samples in "
                   f"{evaluation.folder}; every other rule on them:\n"
                   f"  gradeschool score {quoted(str(evaluation.folder))}")  # fmt: skip
    if evaluation.fatal is not None:
        warn(f"the run stopped: {evaluation.fatal}; the same command goes on from here")
        sys.exit(2)
    if evaluation.interrupted:
        warn("interrupted; the same command asks for what is missing")
        sys.exit(130)
    if evaluation.failed:
        warn(
            f"{evaluation.failed} samples failed (results.json counts the causes); "
            "the same command asks for them again"
        )
        sys.exit(3)
