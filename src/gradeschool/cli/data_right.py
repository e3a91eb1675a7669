"""`gradeschool data right`: the right completions of a run as problems with solutions."""

from __future__ import annotations

import json

import click

from gradeschool.cli.options import dataset_option, warn
from gradeschool.errors import InputError


@click.command("right")
@click.argument("run", metavar="RUN")
@dataset_option
@click.option("--with", "others", multiple=True, metavar="DATASET",
              help="Problems that are put before them with their own solutions.")  # fmt: skip
def right_command(run: str, dataset: str | None, others: tuple[str, ...]) -> None:
    """Print the right completions of a run as problems.

    One JSON line each, with the completion as the solution: rejection sampling.

    Each different text of a problem stands once; where none is right, that is an error. A model
    that is trained on them has used the same labels as a verifier of the same run: the fair control
    of what a verifier is worth.

    Example: gradeschool data right runs/samples --with gsm8k:train > right.jsonl
    """
    from gradeschool.datasets.load import load_datasets
    from gradeschool.scoring.sources import check_sources
    from gradeschool.verifier.candidates import candidates_of

    check_sources([run], dataset)
    added = load_datasets(others)
    kept = [
        (answered.problem.question, text)
        for held in candidates_of(run, dataset, warn)
        for answered in held.answered
        for text in dict.fromkeys(one.text for one in answered.candidates if one.right)
    ]
    if not kept:
        raise InputError(
            f"no completion of {run!r} is right; sample more of each problem, at a higher "
            "temperature, or from a generator that is trained longer"
        )
    for name in others:
        for problem in added[name].problems:
            click.echo(_row(problem.question, problem.solution))
    for question, text in kept:
        click.echo(_row(question, text))
    warn(f"{len(kept)} right completions of {run}")


def _row(question: str, solution: str) -> str:
    return json.dumps({"question": question, "answer": solution.strip()})
