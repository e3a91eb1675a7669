"""`gradeschool report`."""

from __future__ import annotations

from pathlib import Path

import click

from gradeschool.cli.options import dataset_option, warn, warn_of_faults
from gradeschool.errors import InputError


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True,
              help="The file to write: .html, .md, .csv or .xml.")  # fmt: skip
@click.option("--rule", "rules", multiple=True, metavar="NAME",
              help="Rules to show, the first is the headline; by default the protocol's own, then "
                   "all that call no library.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
@dataset_option
def command(
    runs: tuple[str, ...], output: Path, rules: tuple[str, ...], force: bool, dataset: str | None
) -> None:
    """Write a report of runs: scores under every rule, causes, every completion.

    A RUN is a run folder or a file of completions; FILE#NAME is one run of several. The page is one
    file that asks the network for nothing: it can be sent, archived and printed. Problems and
    completions are in it.

    Other endings of the file's name give other forms: .md a table for a pull request, .csv a row
    for each completion (no cell is a formula), .xml JUnit with a case for each completion.

    Example: gradeschool report runs/mine -o report.html
    """
    from gradeschool.protocols.registry import all_rules, get_usable_rule
    from gradeschool.reports.exports import WRITERS
    from gradeschool.reports.page.gather import gather
    from gradeschool.reports.page.verdicts import judge_run
    from gradeschool.reports.page.write import require_free, save
    from gradeschool.scoring.load import ALL, choose_rules
    from gradeschool.scoring.matrix import Matrix
    from gradeschool.scoring.select import headline_rule

    if output.suffix.lower() not in WRITERS:
        known = ", ".join(WRITERS)
        raise InputError(f"no report is written as {output.name!r}; its name may end in {known}")
    require_free(output, force)
    found = gather(runs, dataset, warn)
    manifests = [run.manifest for run in found]
    named = next((name for name in rules if name != ALL), None)
    headline = get_usable_rule(named or headline_rule(manifests, list(all_rules())))
    others = [rule for rule in choose_rules(rules) if rule is not headline]
    matrix = Matrix([headline, *others])
    judged = [judge_run(run, matrix, 0, run.disputed) for run in found]
    write = WRITERS[output.suffix.lower()]
    size = save(write(judged, matrix.rules), output)
    completions = sum(len(run.entries) for run in found)
    click.echo(f"{completions:,} completions in {output}, {size / 1e6:.1f} MB")
    warn_of_faults(sum(run.faults for run in found))
