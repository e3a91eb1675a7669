"""`gradeschool score`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from gradeschool.cli.options import dataset_option, json_option, print_json, stdout_console, warn
from gradeschool.errors import InputError


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--rule", "rules", multiple=True, help="A rule's name, or 'all' (the default).")
@dataset_option
@json_option
def command(
    files: tuple[Path, ...], rules: tuple[str, ...], dataset: str | None, as_json: bool
) -> None:
    """Score recorded completions under every rule.

    FILES are run folders, JSONL rows (index, id, question_id or question for the problem;
    completion, answer, output or response for the text), lm-eval samples, inspect logs or OpenAI
    batch output. Exit status 3 where some rows cannot be used.
    """
    from gradeschool.reports.terminal import score_table, spread_line
    from gradeschool.scoring.load import choose_rules, load_runs
    from gradeschool.scoring.score import score_run

    chosen = choose_rules(rules)
    scores, faults = [], 0
    seen: set[str] = set()
    for file in files:
        for run in load_runs(file, dataset, warn):
            if run.name in seen:
                run.name = f"{run.name} ({file})"
            seen.add(run.name)
            faults += run.faults
            scores.append(score_run(run, chosen))
    if not scores:
        raise InputError("no file was given; give at least one")
    if as_json:
        print_json({"runs": [score.as_json() for score in scores]})
    else:
        console = stdout_console()
        score_table(scores, console)
        line = spread_line(scores, str(files[0]))
        if line:
            click.echo(line)
    if faults:
        warn(f"{faults} rows could not be used; they are counted as errors")
        sys.exit(3)
