"""`gradeschool export`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradeschool.cli.options import (
    FileVerb,
    dataset_option,
    files_and_scorers,
    json_option,
    print_json,
    scorers_option,
    size_in_words,
    warn,
    warn_of_faults,
)
from gradeschool.errors import InputError
from gradeschool.percentages import count
from gradeschool.reports.printable import say

if TYPE_CHECKING:
    from gradeschool.formats.export import ExportedFile, ExportedRun
    from gradeschool.reports.hub_upload import HubTarget
    from gradeschool.scorer import Scorer

NAMES = ("lm-eval", "inspect", "eval-results", "model-index", "every-eval-ever", "parquet")


@click.command(cls=FileVerb)
@click.argument("arguments", nargs=-1, required=True, metavar="RUN")
@click.option("--to", "name", type=click.Choice(NAMES), required=True, help="Format to write.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True,
              help="File to write; for lm-eval and every-eval-ever a folder.")  # fmt: skip
@scorers_option("those of the protocol and gradeschool/reader; the first is the headline")
@click.option("--force", is_flag=True, help="Replace existing files.")
@click.option("--push", "repo", metavar="OWNER/NAME",
              help="Upload the files to the Hugging Face hub; a new repository is "
                   "private.")  # fmt: skip
@click.option(
    "--dry-run", is_flag=True, help="Print what would be written; write and send nothing."
)
@dataset_option
@json_option
def command(
    arguments: tuple[str, ...],
    name: str,
    output: Path,
    scorers: tuple[str, ...],
    force: bool,
    repo: str | None,
    dry_run: bool,
    dataset: str | None,
    as_json: bool,
) -> None:
    """Write a run in the format of another tool.

    RUN is a run folder or a sample file with one run; FILE#NAME selects one run of several.

    \b
    lm-eval          results_*.json and samples_*.jsonl, in a folder
    inspect          an .eval log, for inspect view, inspect log and inspect score
    eval-results     a .yaml file for .eval_results/ on the Hugging Face hub
    model-index      its older form: the front matter of a model card (.md)
    every-eval-ever  data/... of the datastore, schema 0.3
    parquet          a row for each sample: completion, verdicts, tokens

    Writes lone surrogates, which these formats cannot store, as U+FFFD. Dates are those of the run,
    so the same run gives the same bytes.

    Example: gradeschool export runs/mine --to inspect -o mine.eval
    """  # noqa: D301  (\b keeps click from wrapping)
    from gradeschool.formats.export import require_all_free, save_files
    from gradeschool.reports.exported_run import FORMATS
    from gradeschool.reports.hub_upload import check_push, hub_target

    form = FORMATS[name]
    if form.ending and output.suffix.lower() != form.ending:
        raise InputError(
            f"a file for {name} must end in {form.ending}, and {output.name!r} does not; "
            f"give -o {output.with_suffix(form.ending)}"
        )
    if repo is not None:
        check_push(repo, name)
    run = _chosen_run(arguments, scorers, dataset)
    files = form.files(run)
    require_all_free(output, files, force)
    target = None if repo is None else hub_target(repo, name, output, files)
    if dry_run:
        _print_plan(output, files, target, as_json)
        return
    size = save_files(output, files)
    address = None if target is None else _pushed(target, run, output, force)
    _print_written(run, [str(output / file.path) for file in files], size, address, as_json)
    failed = len(run.samples) - len(run.answered())
    if failed and name == "lm-eval":
        warn(f"lm-eval's format cannot store failed samples; {failed} of {len(run.samples)} "
             f"{'is' if failed == 1 else 'are'} left out")  # fmt: skip
    warn_of_faults(run.faults)


def _chosen_run(
    arguments: Sequence[str], scorers: Sequence[str], dataset: str | None
) -> ExportedRun:
    """Return the run of a command line with its verdicts; raises InputError for several."""
    from gradeschool.reports.exported_run import exported_run, one_run
    from gradeschool.scoring.sources import choose_scorers

    runs, names = files_and_scorers(arguments, scorers)
    if len(runs) > 1:
        raise InputError(f"one run is exported at a time; given: {', '.join(map(repr, runs))}")
    chosen = choose_scorers(names) if names else None
    run = one_run(runs[0], dataset, warn)
    return exported_run(run, chosen or _own_scorers(run.manifest), warn)


def _pushed(target: HubTarget, run: ExportedRun, output: Path, force: bool) -> str:
    """Upload an export and return the address of the commit; exits with 3 without a connection."""
    from gradeschool.errors import TransientError
    from gradeschool.reports.hub_upload import push

    kept = f"nothing was uploaded, the export is in {str(output)!r}"
    try:
        return push(target, run, force)
    except InputError as error:
        raise InputError(f"{error}; {kept}") from error
    except TransientError as error:
        warn(f"{error}; {kept}")
        sys.exit(3)


def _print_plan(
    output: Path, files: Sequence[ExportedFile], target: HubTarget | None, as_json: bool
) -> None:
    """Print the files of an export with their sizes, and where they would be uploaded."""
    from gradeschool.formats.export import size_of

    sizes = {str(output / file.path): size_of(file) for file in files}
    uploads = {name: sizes[str(path)] for name, path in target.files.items()} if target else {}
    if as_json:
        repo = target and {"name": target.repo, "kind": target.kind, "files": uploads,
                           "card": target.card}  # fmt: skip
        print_json({"files": sizes, "repository": repo})
        return
    say("\n".join(f"would write {name}, {size_in_words(size)}" for name, size in sizes.items()))
    if target is not None:
        for name, size in uploads.items():
            say(f"would upload {name}, {size_in_words(size)}")
        card = ", with a README.md unless it has one" if target.card else ""
        say(f"to the {target.kind} repository {target.repo}{card}")


def _print_written(
    run: ExportedRun, files: Sequence[str], size: int, address: str | None, as_json: bool
) -> None:
    answered, scorers = len(run.answered()), [score.scorer.name for score in run.scores]
    if as_json:
        print_json({"files": list(files), "bytes": size, "completions": answered,
                    "failed": len(run.samples) - answered, "scorers": scorers,
                    **({"commit": address} if address else {})})  # fmt: skip
        return
    say("\n".join([*files, *([address] if address else [])]))
    say(f"{count(answered, 'completion')}, {size_in_words(size)}, scored by {', '.join(scorers)}")


def _own_scorers(manifest: Mapping[str, Any]) -> list[Scorer]:
    """Return the scorers of a run's protocol, and the answer extractor."""
    from gradeschool.formats.settings import mapping
    from gradeschool.protocols.registry import all_scorers, available, get_scorer
    from gradeschool.scorer import DEFAULT_SCORER
    from gradeschool.scoring.sources import headline_scorer

    registered = all_scorers()
    listed = mapping(manifest.get("protocol")).get("scorers")
    own = [str(name) for name in listed] if isinstance(listed, list) else []
    chosen = dict.fromkeys((headline_scorer([manifest]), *own, DEFAULT_SCORER))
    return [
        get_scorer(name) for name in chosen if name in registered and available(get_scorer(name))
    ]
