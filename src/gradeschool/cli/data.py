"""`gradeschool data list | fetch | generate | right | label-steps`."""

import json
from pathlib import Path
from typing import Any

import click

from gradeschool.atomic import check_output, write_file
from gradeschool.cli import options as cli
from gradeschool.cli.options import COUNT, option
from gradeschool.datasets.fresh import fresh_problems, row, rows_digest
from gradeschool.datasets.load import SOURCES, find_file, load_dataset, locate, source_named
from gradeschool.errors import DataError, InputError
from gradeschool.printable import say
from gradeschool.problem import MARKER
from gradeschool.scoring.at_k import read_candidates
from gradeschool.verifier.process_labels import count_labels, label_run, trl_row

output_option = option("-o --output", cli.PATH, "JSONL file to write; by default stdout.",
                       metavar="FILE")  # fmt: skip


@click.group(cls=cli.CommandGroup)
def data_command() -> None:
    """List, fetch and generate datasets."""


@data_command.command("list")
@cli.json_option
def list_command(as_json: bool) -> None:
    """List the named datasets and where each one is stored."""
    names = ("name", "rows", "sha256", "url", "licence", "language", "golds", "summary")
    rows = []
    for source in SOURCES.values():
        row = {name: getattr(source, name) for name in names}
        try:
            file = find_file(source)
            row |= {"where": file.where if file else "to be fetched",
                    "path": str(file.path) if file else None}  # fmt: skip
        except DataError:
            row |= {"where": "wrong digest", "path": None}
        rows.append(row)
    if as_json:
        cli.print_json({"datasets": rows})
        return
    described = "[{where}] {summary}; {rows} problems, {language}, {licence}; golds: {golds}"
    cli.print_lists({"Datasets": [(str(row["name"]), described.format(**row)) for row in rows]})
    say("\nfresh:SEED generates new problems: `gradeschool data generate --help`")


@data_command.command("fetch")
@click.argument("names", nargs=-1, required=True)
def fetch_command(names: tuple[str, ...]) -> None:
    """Fetch datasets from their origin, and verify those that are here already.

    The digest of gsm-symbolic:p1 is published nowhere: it is recorded at the first fetch.

    Example: gradeschool data fetch gsm8k gsm8k:train
    """
    for source in [source_named(name) for name in names]:
        file = locate(source)
        say(f"{source.name}: {file.where}, {file.path}")


@data_command.command("generate")
@option("--seed", click.IntRange(0, cli.MOST_SEED), "Seed; the same seed gives the same problems.",
        default=1)  # fmt: skip
@option("-n --limit count", click.IntRange(1, 1_000_000), "Number of problems; a smaller number "
        "gives the first of them.", default=1000)  # fmt: skip
@option("--split", str, "train, dev, test, test-structures, test-templates or test-numbers.",
        default="train", metavar="NAME")  # fmt: skip
@option("--steps", click.IntRange(1, 20), "Smallest and largest number of steps.",
        nargs=2, default=(2, 8))  # fmt: skip
@option("--family families", str, "Use only this family, or the kind forward or search; may be "
        "repeated.", multiple=True)  # fmt: skip
@output_option
def generate_command(
    seed: int, count: int, split: str, steps: tuple[int, int], families: tuple[str, ...],
    output: Path | None,
) -> None:  # fmt: skip
    """Generate new problems as JSON lines.

    The columns are those of GSM8K, and the family, structure and number of steps of each problem.
    The same seed gives the same problems on every machine.
    """
    check_output(output)
    low, high = steps
    if low > high:
        raise InputError(f"--steps {low} {high} is an empty range; give the smaller number first")
    problems = fresh_problems(seed, count, split=split, steps=steps, families=families)
    _write_lines(output, "".join(map(row, problems)))
    if output is not None:
        cli.warn(f"{len(problems)} problems in {str(output)!r}, SHA-256 {rows_digest(problems)}")


def _write_lines(output: Path | None, lines: str) -> None:
    """Write JSON lines to a file, or to stdout."""
    if output is None:
        say(lines, end="")
    else:
        write_file(output, lines.encode())


@data_command.command("right")
@click.argument("run", metavar="RUN")
@cli.reading_options
@option("--with others", str, "Print the problems of this dataset first, with their own solutions.",
        multiple=True, metavar="DATASET")  # fmt: skip
def right_command(run: str, others: tuple[str, ...]) -> None:
    """Print the correct completions of a run as problems.

    This is rejection sampling. Prints a JSON line for each, with the completion as the solution,
    up to its first "####", and the line "#### N" with the dataset's answer. Prints each different
    text of a problem once. It is an error if none is correct. A model trained on them has used the
    same labels as a verifier trained on the run, so it is a fair baseline for the verifier.

    Example: gradeschool data right runs/mine --with gsm8k:train
    """
    added = [problem for name in others for problem in load_dataset(name).problems]
    runs = read_candidates(run, cli.read_options(), cli.warn)
    rows: dict[tuple[str, str, str], None] = {}  # each different text of a problem once
    for problem, candidates in (each for run in runs for each in run.answered):
        for text in (each.text for each in candidates if each.right):
            solution = f"{text.partition(MARKER)[0].rstrip()}\n{MARKER} {problem.gold}".lstrip()
            rows[problem.id, problem.question, solution] = None
    if not rows:
        raise InputError(
            f"no completion of {run!r} is correct; sample more for each problem, at a higher "
            "temperature, or from a better generator"
        )
    for problem in added:
        say(json.dumps({"question": problem.question, "answer": problem.solution.strip()}))
    for _, question, solution in rows:
        say(json.dumps({"question": question, "answer": solution}))
    failed = sum(candidates.failed for candidates in runs)
    unusable = f"; {failed} others could not be used" if failed else ""
    cli.warn(f"{len(rows)} correct completions of {run}{unusable}")


@data_command.command("label-steps")
@click.argument("run", metavar="RUN")
@option("--form", ("gradeschool", "trl"), "Form of the rows: gradeschool's, or that of a trainer "
        "or dataset.", default="gradeschool")  # fmt: skip
@output_option
@option("--rollouts", COUNT, "Label by K continuations of each step, for any dataset; needs -m.",
        metavar="K")  # fmt: skip
@option("-m --model", str, "Model that continues the steps.", metavar="PROVIDER/NAME")
@cli.reading_options
def label_steps_command(
    run: str, form: str, output: Path | None, rollouts: int | None, model: str | None
) -> None:
    """Find the first wrong step of each solution.

    RUN is a run folder or a sample file on fresh problems, whose solutions contain every true
    value, so the labels need neither a person nor a model; or with --rollouts on any problems: a
    step is right if one of K continuations reaches the right answer (Math-Shepherd). Prints a JSON
    line for each solution, and counts on stderr.

    Example: gradeschool data label-steps runs/mine --form trl -o steps.jsonl
    """
    check_output(output)
    if (rollouts is None) != (model is None):
        raise InputError("--rollouts and -m belong together; give both or none")
    labelled: list[dict[str, Any]] = []
    for each in read_candidates(run, cli.read_options(), cli.warn):
        labelled += label_run(each, model, rollouts or 0)
    counts = count_labels(labelled)
    rows = filter(None, map(trl_row, labelled)) if form == "trl" else labelled
    _write_lines(output, "".join(f"{json.dumps(row)}\n" for row in rows))
    cli.warn(", ".join(f"{count} {name}" for name, count in counts.items()))
