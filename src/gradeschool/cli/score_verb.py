"""`gradeschool score`."""

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


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--rule", "--rules", "rules", multiple=True, metavar="NAME...",
              help="Names from `gradeschool protocols list`; by default all that call no library, "
                   "with 'all' those too.")  # fmt: skip
@dataset_option
@json_option
def command(
    files: tuple[str, ...], rules: tuple[str, ...], dataset: str | None, as_json: bool
) -> None:
    """Score recorded completions under every rule.

    FILES are run folders, rows in JSONL, CSV or Parquet (index, id, question_id or question for
    the problem; completion, answer, output or response for the text; run or model and sample where
    there are several), lm-eval samples, inspect logs or OpenAI batch output. Rows that cannot be
    used are counted as errors, and the exit status is 3.

    Rules that call a library ("extra" in `gradeschool protocols list`) are about a thousand times
    slower: `--rule all` adds them, where they are installed.

    Example: gradeschool score answers.jsonl --rule multi-pattern openai/2021
    """
    from gradeschool.protocols.registry import all_rules
    from gradeschool.reports.terminal import Origin, score_table, spread_lines
    from gradeschool.scoring.load import ALL, choose_rules, load_runs
    from gradeschool.scoring.matrix import Matrix
    from gradeschool.scoring.score import score_with

    paths, names = files_and_rules(files, rules)
    chosen = choose_rules(names)
    if ALL in names and (left_out := all_rules().keys() - {rule.name for rule in chosen}):
        extras = ", ".join(sorted({all_rules()[name].extra for name in left_out}))
        hint = f"pip install 'gradeschool[{extras}]'"
        warn(f"{len(left_out)} rules that call a library are left out: {hint}")
    scores, faults = [], 0
    origins: dict[str, Origin] = {}
    for path in paths:
        matrix = Matrix(chosen)  # one a file: files may be of different datasets
        for run in load_runs(path, dataset, warn):
            origin = Origin(path, run.name)
            if run.name in origins:
                run.name = f"{run.name} ({path})"
            faults += run.faults
            scores.append(score_with(matrix, run))
            origins[run.name] = origin
    if as_json:
        print_json({"runs": [score.as_json() for score in scores]})
    else:
        score_table(scores, stdout_console())
        for line in spread_lines(scores, origins):
            click.echo(line)
    warn_of_faults(faults)
