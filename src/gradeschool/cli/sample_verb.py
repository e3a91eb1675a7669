"""`gradeschool sample`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from gradeschool.cli.eval_verb import exit_status, run_plan, warn_of_end
from gradeschool.cli.options import (
    FiniteRange,
    Verb,
    dataset_option,
    json_option,
    log_option,
    print_json,
    warn,
)
from gradeschool.cli.training import MOST_SEED
from gradeschool.reports.printable import say

TEMPERATURE = 0.7  # the paper's


@click.command(cls=Verb)
@click.option("-m", "--model", "models", multiple=True, required=True, metavar="PROVIDER/NAME",
              help="transformers/FOLDER, or an endpoint as for `gradeschool eval`; several "
                   "endpoints of one model share the work.")  # fmt: skip
@dataset_option
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), required=True,
              metavar="RUN", help="Run folder.")  # fmt: skip
@click.option("-k", "--samples", type=click.IntRange(min=1), default=100, show_default=True,
              help="Completions for each problem.")  # fmt: skip
@click.option("-n", "--limit", type=click.IntRange(min=1), help="Use only the first N problems.")
@click.option("-p", "--protocol", default="openai/2021", show_default=True,
              help="A name from `gradeschool protocols list`.")  # fmt: skip
@click.option("--temperature", type=FiniteRange(0, 2), default=TEMPERATURE, show_default=True,
              help="Sampling temperature.")  # fmt: skip
@click.option(
    "--max-tokens",
    type=click.IntRange(min=1),
    help="Length limit; by default that of the protocol, 400.",
)
@click.option(
    "--calculator/--no-calculator",
    default=True,
    show_default=True,
    help="Insert the results of annotations (<<3*4=12>>) while the model writes.",
)
@click.option("--seed", type=click.IntRange(0, MOST_SEED),
              help="Seed; another one gives other samples.")  # fmt: skip
@click.option("--connections", type=click.IntRange(1, 4096), help="Requests in flight at a time.")
@click.option("--timeout", type=FiniteRange(min=0.1), default=600.0, show_default=True,
              help="Seconds to wait for one request.")  # fmt: skip
@log_option
@click.option("--quiet", is_flag=True, help="Show no progress.")
@json_option
def command(
    models: tuple[str, ...],
    dataset: str | None,
    output: Path,
    samples: int,
    limit: int | None,
    protocol: str,
    temperature: float,
    max_tokens: int | None,
    calculator: bool,
    seed: int | None,
    connections: int | None,
    timeout: float,
    loggers: tuple[str, ...],
    quiet: bool,
    as_json: bool,
) -> None:
    """Sample many completions for each problem, and label them by their final answer.

    Writes a run folder, which every verb that takes a run reads, with the labels in labels.jsonl.
    Running the same command again samples only what is missing; a larger -k adds samples.

    Example: gradeschool sample -m transformers/models/generator -d gsm8k:train -k 100 -o
    runs/samples
    """
    from gradeschool.reports.loggers import check_loggers
    from gradeschool.runs.job import Job, prepare

    check_loggers(loggers)
    job = Job(
        models[0],
        protocol,
        dataset or "",
        limit,
        samples,
        temperature,
        max_tokens=max_tokens,
        seed=seed,
        calculator=calculator,
        connections=connections,
        timeout=timeout,
        output=output,
    )
    work = prepare(job)
    evaluation = run_plan(work, quiet, loggers)
    if evaluation.fatal is None:
        _labels(output, as_json)
    warn_of_end(evaluation)
    sys.exit(exit_status(evaluation))


def _labels(output: Path, as_json: bool) -> None:
    """Write the labels beside the samples, and print how many are correct."""
    from gradeschool.formats.samples import ReadOptions
    from gradeschool.verifier.candidates import candidates_of
    from gradeschool.verifier.labels import LABELS_FILE, count_labels, in_words, write_labels

    [candidates] = candidates_of(str(output), ReadOptions(), warn)
    write_labels(candidates)
    labels = count_labels(candidates.answered)
    if as_json:
        fields = {"scorer": candidates.scorer, "failed": candidates.failed, **labels.as_json()}
        print_json({"folder": str(output), **fields})
        return
    say(f"{in_words(labels)}\nlabelled by {candidates.scorer} in {output / LABELS_FILE}")
