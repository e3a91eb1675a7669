"""`gradeschool data list | fetch | verify | generate | right | suspects`."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradeschool.cli.options import (
    FiniteRange,
    dataset_option,
    json_option,
    print_json,
    stdout_console,
    warn,
    warn_of_faults,
)
from gradeschool.errors import InputError

if TYPE_CHECKING:
    from gradeschool.problem import Problem
    from gradeschool.scoring.suspects import Suspect

MOST_COUNT, MOST_SEED = 1_000_000, 10**18 - 1
SHOWN_RUNS = 4


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """List, fetch, verify and generate datasets."""


@command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the named datasets and where each is found."""
    from gradeschool.datasets.files import find_file
    from gradeschool.datasets.sources import SOURCES
    from gradeschool.errors import DataError

    rows = []
    for source in SOURCES.values():
        try:
            file = find_file(source)
            where = file.where if file else "to be fetched"
            path = str(file.path) if file else None
        except DataError:
            where, path = "wrong digest", None
        rows.append({"name": source.name, "rows": source.rows, "where": where, "path": path,
                     "sha256": source.sha256, "url": source.url, "licence": source.licence,
                     "summary": source.summary})  # fmt: skip
    if as_json:
        print_json({"datasets": rows})
        return
    from rich import box
    from rich.table import Table

    table = Table("dataset", "problems", "found", "what it is", box=box.SIMPLE_HEAD)
    table.caption = "fresh:SEED makes new problems: `gradeschool data generate --help`"
    table.caption_justify = "left"
    for row in rows:
        table.add_row(*(str(row[name]) for name in ("name", "rows", "where", "summary")))
    stdout_console().print(table)


@command.command("fetch")
@click.argument("names", nargs=-1)
def fetch_command(names: tuple[str, ...]) -> None:
    """Fetch datasets from their origin and verify them.

    Fetches all of them where none is named, and nothing that is here already.
    """
    from gradeschool.datasets.files import locate
    from gradeschool.datasets.load import source_named
    from gradeschool.datasets.sources import SOURCES

    for source in [source_named(name) for name in names] or SOURCES.values():
        file = locate(source)
        click.echo(f"{source.name}: {file.where}, {file.path}")


@command.command("verify")
@click.argument("names", nargs=-1)
def verify_command(names: tuple[str, ...]) -> None:
    """Check digests and row counts of datasets.

    Checks all that are here where none is named.
    """
    from gradeschool.datasets.files import find_file
    from gradeschool.datasets.load import load_dataset, source_named
    from gradeschool.datasets.sources import SOURCES
    from gradeschool.errors import DataError

    failed = False
    for source in [source_named(name) for name in names] or SOURCES.values():
        try:
            if find_file(source) is None:
                failed = failed or bool(names)
                click.echo(f"{source.name}: not on this machine")
                continue
            problems = len(load_dataset(source.name))
            click.echo(f"{source.name}: ok, {problems} problems")
        except DataError as error:
            failed = True
            click.echo(f"{source.name}: {error}", err=True)
    if failed:
        sys.exit(2)


@command.command("generate")
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
    from gradeschool.datasets.fresh.named import row, rows_digest
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


@command.command("right")
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


@command.command("suspects")
@click.argument("files", nargs=-1, required=True)
@click.option("--strong", type=FiniteRange(0, 1), default=0.7, show_default=True,
              help="Ask runs of a higher accuracy alone.")  # fmt: skip
@click.option("-n", "--limit", type=click.IntRange(min=0), default=20, show_default=True,
              help="Problems to show.")  # fmt: skip
@dataset_option
@json_option
def suspects_command(
    files: tuple[str, ...], strong: float, limit: int, dataset: str | None, as_json: bool
) -> None:
    """List problems whose label may be wrong.

    These are problems that runs of FILES, which are right elsewhere, miss in the same way: one
    other answer has more runs than the gold. A suspicion and no proof: runs of one model are no
    independent witnesses. What GSM8K-Platinum did with a problem stands beside it.

    Example: gradeschool data suspects runs/*/completions.jsonl
    """
    from gradeschool.datasets.platinum import disputed
    from gradeschool.scoring.load import load_runs
    from gradeschool.scoring.sources import sources
    from gradeschool.scoring.suspects import suspects

    found = sources(files, dataset)
    datasets = {source.dataset.name: source.dataset for source in found}
    if len(datasets) > 1:
        names = ", ".join(map(repr, datasets))
        raise InputError(f"the files are of different datasets: {names}; give those of one")
    runs = [run for source in found for run in load_runs(Path(source.name), dataset, warn)]
    [problems] = [one.problems for one in datasets.values()]
    listed = suspects(runs, disputed(problems), strong)
    if as_json:
        print_json({"suspects": [one.as_json() for one in listed]})
    else:
        _print(listed, limit)
    warn_of_faults(sum(run.faults for run in runs))


def _print(listed: list[Suspect], limit: int) -> None:
    from rich.text import Text

    from gradeschool.reports.printable import printable

    console = stdout_console()
    count = "1 problem" if len(listed) == 1 else f"{len(listed)} problems"
    console.print(f"{count} where more strong runs agree on one other answer than on the gold")
    for one in listed[:limit]:
        said = (
            f"gold {one.problem.gold}, said by {one.right} of {one.runs}; {one.value}, said by "
            f"{len(one.sayers)}, the best {100 * one.strongest:.1f} % right; GSM8K-Platinum "
            f"{one.platinum}"
        )
        names = ", ".join(one.sayers[:SHOWN_RUNS])
        more = f" and {len(one.sayers) - SHOWN_RUNS} more" if len(one.sayers) > SHOWN_RUNS else ""
        console.print()
        console.rule(Text(f"problem {printable(one.problem.id)}"), align="left")
        console.print(Text(printable(one.problem.question), "italic"))
        console.print(Text(printable(said), "bold"))
        console.print(Text(f"{printable(names, keep='')}{more}"))
    if 0 < limit < len(listed):
        console.print(f"\n{len(listed) - limit} more; show them with -n {len(listed)}")
