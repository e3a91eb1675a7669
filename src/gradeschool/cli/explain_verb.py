"""`gradeschool explain`."""

from __future__ import annotations

import click

from gradeschool.cli.options import (
    dataset_option,
    files_and_rules,
    json_option,
    print_json,
    stdout_console,
    warn,
    warn_of_faults,
)
from gradeschool.errors import InputError


@click.command()
@click.argument("arguments", nargs=-1, required=True, metavar="FILE")
@click.option("--rules", "--rule", multiple=True, required=True, metavar="A B...",
              help="Two or more names from `gradeschool protocols list`, or 'all'.")  # fmt: skip
@click.option("--run", help="Only this run of the file.")
@click.option("-n", "--limit", type=click.IntRange(min=0), default=10, show_default=True,
              help="Completions to show, of every kind of disagreement.")  # fmt: skip
@dataset_option
@json_option
def command(
    arguments: tuple[str, ...],
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

    files, names = files_and_rules(arguments, rules)
    if len(files) != 1:
        unknown = [str(file) for file in files[1:] if not file.exists()]
        if unknown:  # neither a file nor a rule: say which rules are close
            choose_rules(unknown)
        given = ", ".join(repr(str(file)) for file in files)
        raise InputError(f"one file is explained at a time; given: {given}")
    chosen = choose_rules(names)
    if len(chosen) < 2:
        raise InputError(f"only one rule is given: {names[0]!r}; give two or more behind --rules")
    runs = load_runs(files[0], dataset, warn)
    if run is not None:
        known = ", ".join(repr(found.name) for found in runs)
        runs = [found for found in runs if found.name == run]
        if not runs:
            raise InputError(f"the file holds no run {run!r}; it holds {known}")
    found = list(disagreements(runs, chosen))
    total = sum(len(found.samples) for found in runs)
    if as_json:
        print_json({"completions": total, "differ": [one_as_json(one) for one in found]})
    else:
        print_disagreements(found, chosen, total, limit, stdout_console())
    warn_of_faults(sum(found.faults for found in runs))
