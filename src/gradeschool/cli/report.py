"""`gradeschool report`."""

from pathlib import Path
from typing import Any

import click

from gradeschool.cli import options as cli
from gradeschool.cli.options import FOLDER, option
from gradeschool.errors import InputError
from gradeschool.percentages import count
from gradeschool.reports.printable import say


@click.command(cls=cli.FileVerb)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@option("-o --output", click.Path(path_type=Path), "File to write: .html or .md.")
@option("--figures", FOLDER, "Write figures for a paper to this folder, as SVG, PDF and PNG.",
        metavar="FOLDER")  # fmt: skip
@option("--heatmap", click.Path(path_type=Path), "Write a page of solutions coloured by a "
        "verifier's value of each token.", metavar="FILE.html")  # fmt: skip
@cli.scorers_option("those of the protocol, then all without a library; the first is the headline")
@cli.marks_option
@click.option("--force", is_flag=True, help="Replace existing files.")
@cli.dataset_option
@cli.json_option
def command(
    runs: tuple[str, ...], output: Path | None, figures: Path | None, heatmap: Path | None,
    scorers: tuple[str, ...], thinking_marks: tuple[str, ...], force: bool, dataset: str | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Write a report of runs: scores under every scorer, causes, every completion.

    A RUN is a run folder or a sample file; FILE#NAME selects one run of several. The HTML page is
    one file with all problems and completions; it makes no network requests and can be sent,
    archived and printed. A file that ends in .md is a table for a pull request.

    --figures needs the extra "report" (matplotlib) and replaces figures of the same names.
    --heatmap shows the output of `gradeschool verifier score --tokens`.

    Example: gradeschool report runs/mine -o report.html --figures paper/figures
    """
    from gradeschool.atomic import require_free
    from gradeschool.reports.report import check_report_path, judge_runs, write_report

    if output is None and figures is None and heatmap is None:
        raise InputError(
            "there is nothing to write; give -o FILE, --figures FOLDER or --heatmap FILE"
        )
    if heatmap is not None:
        if heatmap.suffix.lower() != ".html" or heatmap == output:
            raise InputError(f"the heat-map is a separate page, not {heatmap.name!r}; give another "
                             "name that ends in .html")  # fmt: skip
        require_free(heatmap, force)
    if output is not None:
        check_report_path(output, force)
    files, names = cli.files_and_scorers(runs, scorers, thinking_marks)
    judged, chosen = judge_runs(files, cli.read_options(dataset), names, cli.warn)
    written: dict[str, Any] = {}
    if output is not None:
        size = write_report(judged, chosen.scorers, output)
        completions = sum(len(each.completions) for each in judged)
        written["report"] = {"file": str(output), "bytes": size, "completions": completions}
    if figures is not None:
        from gradeschool.reports.figures import write_figures

        written["figures"] = [str(path) for path in write_figures(judged, figures)]
    if heatmap is not None:
        from gradeschool.reports.pages import save_page
        from gradeschool.reports.report import heatmap_page

        size = save_page(heatmap_page(judged), heatmap)
        written["heatmap"] = {"file": str(heatmap), "bytes": size}
    if as_json:
        cli.print_json(written)
    else:
        if output is not None:
            say(f"{count(completions, 'completion')} in {output}")
        if figures is not None:
            say(f"{count(len(written['figures']), 'file')} of figures in {figures}")
        if heatmap is not None:
            say(f"a heat-map in {heatmap}")
    cli.exit_for_faults(sum(each.source.run.faults for each in judged))
