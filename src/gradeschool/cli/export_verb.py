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
    reading,
    scorers_option,
    size_in_words,
    warn,
    warn_of_faults,
)
from gradeschool.errors import InputError
from gradeschool.percentages import count
from gradeschool.reports.printable import say

if TYPE_CHECKING:
    from gradeschool.reports.export import ExportedRun
    from gradeschool.scorer import Scorer

ENDINGS = {"lm-eval": "", "inspect": ".eval", "parquet": ".parquet"}  # "": files in a folder


@click.command(cls=FileVerb)
@click.argument("arguments", nargs=-1, required=True, metavar="RUN")
@click.option(
    "--to", "name", type=click.Choice(list(ENDINGS)), required=True, help="Format to write."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True,
              help="File to write; for lm-eval a folder.")  # fmt: skip
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
    lm-eval   results_*.json and samples_*.jsonl, in a folder
    inspect   an .eval log, for inspect view, inspect log and inspect score
    parquet   a row for each sample: completion, verdicts, tokens

    Writes lone surrogates, which these formats cannot store, as U+FFFD. Dates are those of the run,
    so the same run gives the same bytes.

    Example: gradeschool export runs/mine --to inspect -o mine.eval
    """  # noqa: D301  (\b keeps click from wrapping)
    from gradeschool.reports.export import parquet_files, require_all_free, save_files, size_of
    from gradeschool.reports.export_inspect import inspect_files
    from gradeschool.reports.export_lm_eval import lm_eval_files
    from gradeschool.reports.hub import check_push

    if ENDINGS[name] and output.suffix.lower() != ENDINGS[name]:
        raise InputError(
            f"a file for {name} must end in {ENDINGS[name]}, and {output.name!r} does not; "
            f"give -o {output.with_suffix(ENDINGS[name])}"
        )
    if repo is not None:
        check_push(repo)
    run = _chosen_run(arguments, scorers, dataset)
    writers = {"lm-eval": lm_eval_files, "inspect": inspect_files, "parquet": parquet_files}
    files = writers[name](run)
    require_all_free(output, files, force)
    paths = {file.path or output.name: output / file.path for file in files}
    if dry_run:
        sizes = [size_of(file) for file in files]
        _print_plan(paths, sizes, repo, as_json)
        return
    size = save_files(output, files)
    address = None if repo is None else _pushed(repo, paths, run, output, force)
    _print_written(run, list(map(str, paths.values())), size, address, as_json)
    failed = len(run.samples) - len(run.answered())
    if failed and name == "lm-eval":
        warn(f"lm-eval's format cannot store failed samples; {failed} of {len(run.samples)} "
             f"{'is' if failed == 1 else 'are'} left out")  # fmt: skip
    warn_of_faults(run.faults)


def _chosen_run(
    arguments: Sequence[str], scorers: Sequence[str], dataset: str | None
) -> ExportedRun:
    """Return the run of a command line with its verdicts; raises InputError for several."""
    from gradeschool.reports.export import exported_run, one_run
    from gradeschool.scoring.table import choose_scorers

    runs, names = files_and_scorers(arguments, scorers)
    if len(runs) > 1:
        raise InputError(f"one run is exported at a time; given: {', '.join(map(repr, runs))}")
    chosen = choose_scorers(names) if names else None
    run = one_run(runs[0], reading(dataset), warn)
    return exported_run(run, chosen or _own_scorers(run.manifest), warn)


def _pushed(
    repo: str, paths: Mapping[str, Path], run: ExportedRun, output: Path, force: bool
) -> str:
    """Upload an export and return the address of the commit; exits with 3 without a connection."""
    from gradeschool.errors import TransientError
    from gradeschool.reports.hub import push

    kept = f"nothing was uploaded, the export is in {str(output)!r}"
    try:
        return push(repo, paths, run, force)
    except InputError as error:
        raise InputError(f"{error}; {kept}") from error
    except TransientError as error:
        warn(f"{error}; {kept}")
        sys.exit(3)


def _print_plan(
    paths: Mapping[str, Path], sizes: Sequence[int], repo: str | None, as_json: bool
) -> None:
    """Print the files of an export with their sizes, and where they would be uploaded."""
    if as_json:
        written = dict(zip(map(str, paths.values()), sizes, strict=True))
        uploads = repo and {"name": repo, "files": dict(zip(paths, sizes, strict=True))}
        print_json({"files": written, "repository": uploads})
        return
    for path, size in zip(paths.values(), sizes, strict=True):
        say(f"would write {path}, {size_in_words(size)}")
    for name, size in zip(paths, sizes, strict=True) if repo else ():
        say(f"would upload {name}, {size_in_words(size)}")
    if repo:
        say(f"to the dataset repository {repo}, with a README.md unless it has one")


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
    from gradeschool.scoring.table import headline_scorer

    registered = all_scorers()
    listed = mapping(manifest.get("protocol")).get("scorers")
    own = [str(name) for name in listed] if isinstance(listed, list) else []
    chosen = dict.fromkeys((headline_scorer([manifest]), *own, DEFAULT_SCORER))
    return [
        get_scorer(name) for name in chosen if name in registered and available(get_scorer(name))
    ]
