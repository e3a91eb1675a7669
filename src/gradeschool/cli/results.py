"""`gradeschool report | view | export`."""

import sys
from pathlib import Path
from typing import Any

import click

from gradeschool.atomic import check_output
from gradeschool.cli import options as cli
from gradeschool.cli.options import FOLDER, option
from gradeschool.errors import InputError, TransientError
from gradeschool.printable import count, say
from gradeschool.reports.export import ExportedRun, check_push, export_run, push
from gradeschool.reports.pages import save_page
from gradeschool.reports.report import heatmap_page, read_scored_runs, write_report
from gradeschool.scoring.sources import choose_run
from gradeschool.scoring.table import choose_scorers

ENDINGS = {"lm-eval": "", "inspect": ".eval", "parquet": ".parquet"}  # "": files in a folder


@click.command(cls=cli.Command)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@option("-o --output", cli.PATH, "File to write: .html or .md.")
@option("--figures", FOLDER, "Write figures for a paper to this folder, as SVG, PDF and PNG.",
        metavar="FOLDER")  # fmt: skip
@option("--heatmap", cli.PATH, "Write a page of solutions coloured by a "
        "verifier's value of each token.", metavar="FILE.html")  # fmt: skip
@cli.scorers_option("those of the protocol, then all without a library; the first is the headline")
@cli.marks_option
@cli.force_option
@cli.reading_options
@cli.json_option
def report_command(
    runs: tuple[str, ...], output: Path | None, figures: Path | None, heatmap: Path | None,
    scorers: tuple[str, ...], thinking_marks: tuple[str, ...], force: bool, as_json: bool,
) -> None:  # fmt: skip
    """Write a report of runs: scores under every scorer, causes, every completion.

    A RUN is a run folder or a sample file; FILE#NAME selects one run of several. The HTML page is
    one file with all problems and completions; it makes no network requests and can be sent,
    archived and printed. A file that ends in .md is a table for a pull request.

    --figures needs the extra "report" (matplotlib) and replaces figures of the same names.
    --heatmap shows the output of `gradeschool verifier score --tokens`.

    Example: gradeschool report runs/mine -o report.html --figures paper/figures
    """
    if output is None and figures is None and heatmap is None:
        raise InputError(
            "there is nothing to write; give -o FILE, --figures FOLDER or --heatmap FILE"
        )
    if heatmap is not None and heatmap == output:
        raise InputError(
            f"the heat-map is a separate page, not {heatmap.name!r}; give another name"
        )
    check_output(heatmap, ".html", force=force)
    check_output(output, ".html", ".md", force=force)
    files, names = cli.files_and_scorers(runs, scorers, thinking_marks)
    judged, chosen = read_scored_runs(files, cli.read_options(), names, cli.warn)
    written: dict[str, Any] = {}
    lines = []
    if output is not None:
        size = write_report(judged, chosen.scorers, output)
        completions = sum(len(each.completions) for each in judged)
        written["report"] = {"file": str(output), "bytes": size, "completions": completions}
        lines.append(f"{count(completions, 'completion')} in {output}")
    if figures is not None:
        from gradeschool.reports.figures import write_figures

        written["figures"] = [str(path) for path in write_figures(judged, figures)]
        lines.append(f"{count(len(written['figures']), 'file')} of figures in {figures}")
    if heatmap is not None:
        size = save_page(heatmap_page(judged), heatmap)
        written["heatmap"] = {"file": str(heatmap), "bytes": size}
        lines.append(f"a heat-map in {heatmap}")
    if as_json:
        cli.print_json(written)
    else:
        say("\n".join(lines))
    cli.exit_for_faults(sum(each.run.faults for each in judged))


@click.command(cls=cli.Command)
@click.argument("folder", type=cli.PATH, default="runs")
@option("--port", click.IntRange(0, 65535), "Port on 127.0.0.1; 0 selects a free port.", default=0)
def view_command(folder: Path, port: int) -> None:
    """Show the runs of a folder (by default runs) in the browser, also while they run.

    Prints an address of this machine, which contains a secret, and serves until Ctrl-C: a
    leaderboard, the report of each run with every prompt and completion, and several runs side by
    side. A page shows what is stored when it is loaded. Contacts no other machine, and changes
    nothing.

    Example: gradeschool view runs
    """
    from gradeschool.reports.viewer import RunViewer, serve

    try:
        serve(RunViewer(folder), port, say)
    except KeyboardInterrupt:
        say("stopped", err=True)


@click.command(cls=cli.Command)
@click.argument("arguments", nargs=-1, required=True, metavar="RUN")
@option("--to form", click.Choice(list(ENDINGS)), "Format to write.", required=True)
@option("-o --output", cli.PATH, "File to write; for lm-eval a folder.",
        required=True)  # fmt: skip
@cli.scorers_option("those of the protocol and gradeschool/reader; the first is the headline")
@cli.force_option
@option("--push repo", str, "Upload the files to the Hugging Face hub; a new repository is "
        "private.", metavar="OWNER/NAME")  # fmt: skip
@cli.reading_options
@cli.json_option
def export_command(
    arguments: tuple[str, ...], form: str, output: Path, scorers: tuple[str, ...], force: bool,
    repo: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Write a run in the format of another tool.

    RUN is a run folder or a sample file with one run; FILE#NAME selects one run of several.

    \b
    lm-eval   results_*.json and samples_*.jsonl, in a folder
    inspect   an .eval log, for inspect view, inspect log and inspect score
    parquet   a row for each sample: completion, verdicts, tokens

    Writes lone surrogates, which these formats cannot store, as U+FFFD. Dates are those of the run,
    so the same run gives the same bytes.

    Example: gradeschool export runs/mine --to inspect -o mine.eval
    """  # noqa: D301  (\b keeps click from wrapping)
    if ENDINGS[form]:
        check_output(output, ENDINGS[form], force=force)
    if repo is not None:
        check_push(repo)
    runs, names = cli.files_and_scorers(arguments, scorers)
    if len(runs) > 1:
        raise InputError(f"one run is exported at a time; given: {', '.join(map(repr, runs))}")
    chosen = choose_scorers(names) if names else ()
    run = ExportedRun(choose_run(runs[0], cli.read_options(), cli.warn), chosen, cli.warn)
    files, size = export_run(run, form, output, force)
    commit = {}
    if repo is not None:
        kept = f"nothing was uploaded, the export is in {str(output)!r}"
        try:
            commit = {"commit": push(repo, files, output, run)}
        except InputError as error:
            raise InputError(f"{error}; {kept}") from error
        except TransientError as error:
            cli.warn(f"{error}; {kept}")
            sys.exit(3)
    written, by = list(map(str, files)), [score.name for score in run.scores]
    failed = len(run.samples) - run.answered
    if as_json:
        cli.print_json({"files": written, "bytes": size, "completions": run.answered,
                    "failed": failed, "scorers": by, **commit})  # fmt: skip
    else:
        say("\n".join([*written, *commit.values()]))
        say(f"{count(run.answered, 'completion')}, scored by {', '.join(by)}")
    for score in run.scores:
        if not score.is_exact:
            cli.warn(f"{score.name} itself fails on texts: the export has no accuracy by it")
    if failed and form == "lm-eval":
        cli.warn(f"lm-eval's format cannot store failed samples; {failed} of {len(run.samples)} "
             f"{'is' if failed == 1 else 'are'} left out")  # fmt: skip
    cli.exit_for_faults(run.faults)
