"""`gradeschool explain`."""

from __future__ import annotations

from pathlib import Path

import click

from gradeschool.cli.options import dataset_option, json_option, print_json, stdout_console, warn
from gradeschool.errors import InputError


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("more", nargs=-1, metavar="")
@click.option("--rules", multiple=True, required=True, help="Two or more rules: --rules A B.")
@click.option("--run", help="Only this run of the file.")
@click.option("-n", "--limit", default=10, show_default=True, help="Completions to show.")
@dataset_option
@json_option
def command(
    file: Path,
    more: tuple[str, ...],
    rules: tuple[str, ...],
    run: str | None,
    limit: int,
    dataset: str | None,
    as_json: bool,
) -> None:
    """Show the completions of FILE on which rules differ: what each read, and why.

    Example: gradeschool explain answers.jsonl --rules openai/2021 multi-pattern
    """
    from gradeschool.reports.explanation import as_json as one_as_json
    from gradeschool.reports.explanation import print_disagreements
    from gradeschool.scoring.explain import disagreements
    from gradeschool.scoring.load import choose_rules, load_runs

    chosen = choose_rules(rules + more)  # `--rules A B`: click sees B as an argument
    if len(chosen) < 2:
        raise InputError(f"only one rule is given: {rules[0]!r}; give two or more behind --rules")
    runs = load_runs(file, dataset, warn)
    if run is not None:
        names = [found.name for found in runs]
        runs = [found for found in runs if found.name == run]
        if not runs:
            raise InputError(f"the file holds no run {run!r}; it holds {', '.join(names)}")
    found = list(disagreements(runs, chosen))
    total = sum(len(found.samples) for found in runs)
    if as_json:
        print_json({"completions": total, "differ": [one_as_json(one) for one in found]})
    else:
        print_disagreements(found, chosen, total, limit, stdout_console())
