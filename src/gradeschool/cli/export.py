"""`gradeschool export`."""

import sys
from pathlib import Path

import click

from gradeschool.cli import options as cli
from gradeschool.cli.options import option
from gradeschool.errors import InputError
from gradeschool.percentages import count
from gradeschool.reports.printable import say

ENDINGS = {"lm-eval": "", "inspect": ".eval", "parquet": ".parquet"}  # "": files in a folder


@click.command(cls=cli.FileVerb)
@click.argument("arguments", nargs=-1, required=True, metavar="RUN")
@option("--to form", click.Choice(list(ENDINGS)), "Format to write.", required=True)
@option("-o --output", click.Path(path_type=Path), "File to write; for lm-eval a folder.",
        required=True)  # fmt: skip
@cli.scorers_option("those of the protocol and gradeschool/reader; the first is the headline")
@click.option("--force", is_flag=True, help="Replace existing files.")
@option("--push repo", str, "Upload the files to the Hugging Face hub; a new repository is "
        "private.", metavar="OWNER/NAME")  # fmt: skip
@cli.dataset_option
@cli.json_option
def command(
    arguments: tuple[str, ...], form: str, output: Path, scorers: tuple[str, ...], force: bool,
    repo: str | None, dataset: str | None, as_json: bool,
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
    from gradeschool.errors import TransientError
    from gradeschool.reports.export import check_push, export_run, gather_run, push
    from gradeschool.scoring.sources import choose_run
    from gradeschool.scoring.table import choose_scorers

    if ENDINGS[form] and output.suffix.lower() != ENDINGS[form]:
        raise InputError(
            f"a file for {form} must end in {ENDINGS[form]}, and {output.name!r} does not; "
            f"give -o {output.with_suffix(ENDINGS[form])}"
        )
    if repo is not None:
        check_push(repo)
    runs, names = cli.files_and_scorers(arguments, scorers)
    if len(runs) > 1:
        raise InputError(f"one run is exported at a time; given: {', '.join(map(repr, runs))}")
    chosen = choose_scorers(names) if names else ()
    run = gather_run(choose_run(runs[0], cli.read_options(dataset), cli.warn), chosen, cli.warn)
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
