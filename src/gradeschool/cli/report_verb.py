"""`gradeschool report`."""

from __future__ import annotations

from pathlib import Path

import click

from gradeschool.cli.options import (
    FileVerb,
    dataset_option,
    files_and_scorers,
    scorers_option,
    size_in_words,
    warn,
    warn_of_faults,
)
from gradeschool.errors import InputError
from gradeschool.reports.printable import say

FORMS = ("svg", "pdf", "png")


@click.command(cls=FileVerb)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-o", "--output", type=click.Path(path_type=Path),
              help="File to write: .html, .md, .csv or .xml.")  # fmt: skip
@click.option("--figures", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
              help="Write figures for a paper to this folder.")  # fmt: skip
@click.option("--format", "forms", type=click.Choice(FORMS), multiple=True, default=FORMS,
              help="Format of the figures; by default all three.")  # fmt: skip
@click.option(
    "--heatmap",
    type=click.Path(path_type=Path),
    metavar="FILE.html",
    help="Write a page of solutions coloured by a verifier's value of each token.",
)
@scorers_option("those of the protocol, then all that call no library; the first is the headline")
@click.option("--force", is_flag=True, help="Replace existing files.")
@dataset_option
def command(
    runs: tuple[str, ...],
    output: Path | None,
    figures: Path | None,
    forms: tuple[str, ...],
    heatmap: Path | None,
    scorers: tuple[str, ...],
    force: bool,
    dataset: str | None,
) -> None:
    """Write a report of runs: scores under every scorer, causes, every completion.

    A RUN is a run folder or a sample file; FILE#NAME selects one run of several. The HTML page is
    one file with all problems and completions; it makes no network requests and can be sent,
    archived and printed.

    The file's name selects the format: .md is a table for a pull request, .csv has a row for each
    completion (no cell is a formula), .xml is JUnit with a case for each completion.

    --figures needs the extra "report" (matplotlib) and replaces figures of the same names.
    --heatmap shows the output of `gradeschool verifier score --tokens`.

    Example: gradeschool report runs/mine -o report.html

    Example: gradeschool report runs/mine --figures paper/figures --format pdf
    """
    from gradeschool.reports.exports import report_scorers, write_report
    from gradeschool.reports.page.gather import gather
    from gradeschool.reports.page.verdicts import judge_run
    from gradeschool.scoring.sources import choose_scorers

    _require_writable(output, figures, heatmap, force)
    files, names = files_and_scorers(runs, scorers)
    choose_scorers(names)
    gathered = gather(files, dataset, warn)
    chosen = report_scorers(gathered, names)
    judged = [judge_run(run, chosen, 0) for run in gathered]
    if output is not None:
        size = write_report(judged, chosen, output)
        completions = sum(len(run.entries) for run in gathered)
        say(f"{completions:,} completions in {output}, {size_in_words(size)}")
    if figures is not None:
        from gradeschool.reports.figures.run_figures import write_figures

        written = write_figures(judged, figures, [f".{form}" for form in dict.fromkeys(forms)])
        say(f"{len(written)} files of figures in {figures}")
    if heatmap is not None:
        from gradeschool.reports.heatmap import heatmap as heatmap_page
        from gradeschool.reports.page.write import save

        size = save(heatmap_page(judged), heatmap)
        say(f"a heat-map in {heatmap}, {size_in_words(size)}")
    warn_of_faults(sum(run.faults for run in gathered))


def _require_writable(
    output: Path | None, figures: Path | None, heatmap: Path | None, force: bool
) -> None:
    from gradeschool.reports.exports import check_report_path
    from gradeschool.reports.page.write import require_free

    if output is None and figures is None and heatmap is None:
        raise InputError(
            "there is nothing to write; give -o FILE, --figures FOLDER or --heatmap FILE"
        )
    if heatmap is not None:
        if heatmap.suffix.lower() != ".html" or heatmap == output:
            raise InputError(f"the heat-map is a separate page, not {heatmap.name!r}; give "
                             "another name that ends in .html")  # fmt: skip
        require_free(heatmap, force)
    if output is not None:
        check_report_path(output, force)
