"""`gradeschool data right`: the right completions of a run as problems with solutions."""

from __future__ import annotations

import json

import click

from gradeschool.cli.options import dataset_option, warn


@click.command("right")
@click.argument("run", metavar="RUN")
@dataset_option
@click.option("--with", "others", multiple=True, metavar="DATASET",
              help="Problems that are put before them with their own solutions.")  # fmt: skip
def right_command(run: str, dataset: str | None, others: tuple[str, ...]) -> None:
    """Print the right completions of a run as problems.

    One JSON line each, with the completion as the solution: rejection sampling.

    Each different text of a problem stands once. A model that is trained on them has used the same
    labels as a verifier of the same run: the fair control of what a verifier is worth.

    Example: gradeschool data right runs/samples --with gsm8k:train > right.jsonl
    """
    from gradeschool.datasets.load import load_dataset
    from gradeschool.verifier.candidates import candidates_of

    kept = 0
    for name in others:
        for problem in load_dataset(name).problems:
            click.echo(_row(problem.question, problem.solution))
    for held in candidates_of(run, dataset, warn):
        for answered in held.answered:
            texts = dict.fromkeys(one.text for one in answered.candidates if one.right)
            kept += len(texts)
            for text in texts:
                click.echo(_row(answered.problem.question, text))
    warn(f"{kept} right completions of {run}")


def _row(question: str, solution: str) -> str:
    return json.dumps({"question": question, "answer": solution.strip()})
