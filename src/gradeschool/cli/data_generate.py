"""`gradeschool data generate`: fresh problems as JSON lines, or counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradeschool.cli.options import json_option, print_json, warn

if TYPE_CHECKING:
    from gradeschool.problem import Problem

MOST_COUNT, MOST_SEED = 1_000_000, 10**18 - 1


@click.command("generate")
@click.option("--seed", type=click.IntRange(0, MOST_SEED), default=1, show_default=True)
@click.option(
    "-n",
    "--count",
    type=click.IntRange(1, MOST_COUNT),
    default=1_000,
    show_default=True,
    help="How many problems; the first of a longer run are the same.",
)
@click.option("--split", default="train", show_default=True, help="train, dev, test, test-...")
@click.option("--steps", nargs=2, type=click.IntRange(1, 20), default=(2, 8), show_default=True)
@click.option(
    "--family",
    "families",
    multiple=True,
    help="A family, or all that are forward or search; may be given more than once.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="A JSONL file to write.")
@json_option
def generate_command(
    seed: int,
    count: int,
    split: str,
    steps: tuple[int, int],
    families: tuple[str, ...],
    output: Path | None,
    as_json: bool,
) -> None:
    """Make new problems, one JSON line each.

    The columns are those of GSM8K, and what a problem is made of.

    The same seed gives the same problems on every machine. Without -o the lines go to stdout;
    --json prints what was made instead of the lines.
    """
    from gradeschool.datasets.fresh import fresh_problems
    from gradeschool.datasets.fresh.generate import row, rows_digest
    from gradeschool.errors import InputError

    if output is not None and output.exists():
        raise InputError(f"{str(output)!r} is there already; remove it or give another -o")
    low, high = steps
    if low > high:
        raise InputError(f"--steps {low} {high} leaves no number of steps; give the smaller first")
    problems = fresh_problems(seed, count, split=split, steps=steps, families=families)
    if output is not None:
        _write(output, "".join(map(row, problems)))
    elif not as_json:
        click.echo("".join(map(row, problems)), nl=False)
    if as_json:
        counts = _counts(problems)
        where = {"path": str(output)} if output else {}
        print_json(
            {"seed": seed, "split": split, **where, **counts, "sha256": rows_digest(problems)}
        )
    elif output is not None:
        warn(f"{len(problems)} problems in {str(output)!r}, SHA-256 {rows_digest(problems)}")


def _write(path: Path, text: str) -> None:
    from gradeschool.errors import InputError

    try:
        with path.open("x", encoding="ascii", newline="\n") as file:
            file.write(text)
    except OSError as error:
        why = error.strerror or error
        raise InputError(f"{str(path)!r} cannot be written: {why}; give another -o") from error


def _counts(problems: tuple[Problem, ...]) -> dict[str, object]:
    """Return how many problems there are, by family, and how many structures."""
    families = Counter(problem.meta["family"] for problem in problems)
    structures = {problem.meta["structure"] for problem in problems}
    return {
        "problems": len(problems),
        "structures": len(structures),
        "families": dict(sorted(families.items())),
    }
