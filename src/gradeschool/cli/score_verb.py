"""`gradeschool score`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradeschool.cli.options import (
    FileVerb,
    dataset_option,
    files_and_scorers,
    is_pipe,
    json_option,
    labels_option,
    print_json,
    reading,
    reading_words,
    scorers_option,
    stdout_console,
    warn,
    warn_of_faults,
)
from gradeschool.reports.printable import say

if TYPE_CHECKING:
    from gradeschool.scorer import Scorer
    from gradeschool.scoring.at_k import VoteScore
    from gradeschool.scoring.totals import Totals

SHARD_ALONE = (
    "--shard needs -o FILE, and cannot be combined with --engine ray, --vote, --labels or --causes"
)


@click.command(cls=FileVerb)
@click.argument("files", nargs=-1, required=True)
@scorers_option("all that call no library")
@click.option("--vote", "votes", multiple=True, metavar="NAME",
              help="Apply a published vote to the samples of each problem too.")  # fmt: skip
@dataset_option
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
              help="Write a row of verdicts for each completion: .jsonl or .parquet.")  # fmt: skip
@click.option("--jobs", type=click.IntRange(0), default=1, show_default=True,
              help="Scoring processes; 0 is one for each core.")  # fmt: skip
@click.option("--shard", metavar="I/N",
              help="Score only shard I of N (counted from 1), into -o.")  # fmt: skip
@click.option("--merge", is_flag=True, help="Join the tables (-o) of all shards, given as FILES.")
@click.option("--engine", type=click.Choice(["local", "ray"]), default="local", show_default=True,
              help="Score on this machine, or Parquet files on a Ray cluster.")  # fmt: skip
@labels_option
@click.option("--causes", is_flag=True,
              help="Count the causes of incorrect verdicts, by run and scorer.")  # fmt: skip
@json_option
def command(
    files: tuple[str, ...],
    scorers: tuple[str, ...],
    votes: tuple[str, ...],
    dataset: str | None,
    output: Path | None,
    jobs: int,
    shard: str | None,
    merge: bool,
    engine: str,
    labels: str | None,
    causes: bool,
    as_json: bool,
) -> None:
    """Score sample files under every scorer.

    FILES are run folders, tables (JSONL, JSON, CSV, Excel, Parquet, Arrow) or logs of other tools.
    Detects the columns by their names: the text, and the problem by its question, id or index; run
    and sample if there are several. --columns names them. A quoted pattern ('answers/*.parquet') or
    a folder of tables is one table; FILE#NAME selects one run of several. Reads JSON lines from
    pipes and from -, standard input. Counts rows that cannot be used as errors, and exits with 3.

    Scorers that call a library ("extra" in `gradeschool protocols list`) are about a thousand times
    slower; `--scorer all` adds those that are installed.

    Example: gradeschool score answers.jsonl --scorer multi-pattern openai/2021
    """
    from gradeschool.scoring.totals import ScoreOptions, merged, score_shard, scored

    if merge:
        if scorers or votes or dataset or shard or labels or causes or engine != "local":
            raise click.UsageError("--merge takes tables of shards and -o, and no other option")
        totals, counted, by_origin = merged([Path(name) for name in files], output, warn), [], {}
    else:
        paths, names = files_and_scorers(files, scorers)
        chosen = _scorers(names, votes, paths, dataset)
        work = ScoreOptions(paths, reading(dataset), chosen, output, jobs, engine)
        if shard is not None:
            if output is None or engine != "local" or votes or labels or causes:
                raise click.UsageError(SHARD_ALONE)
            warn(score_shard(work, shard, warn))
            return
        if labels:
            if votes:
                raise click.UsageError("--vote counts the dataset's own labels; leave --labels out")
            _check_labels(paths, dataset)
        totals = scored(work, warn)
        by_origin = _causes(paths, dataset, chosen) if causes else {}
        counted = _votes(paths, votes, dataset) if votes else []
    if not labels:
        totals.scores = [replace(score, platinum=None) for score in totals.scores]
    named = {
        name: by_origin[origin] for name, origin in totals.origins.items() if origin in by_origin
    }
    if as_json:
        _print_json(totals, counted, named)
    else:
        _print(totals, counted, named, dataset, not any(map(is_pipe, files)))
    warn_of_faults(totals.faults)


def _causes(
    names: Sequence[str], dataset: str | None, scorers: Sequence[Scorer]
) -> dict[tuple[str, str], dict[str, dict[str, int]]]:
    from gradeschool.scoring.causes import causes_in_files

    return causes_in_files(names, reading(dataset), scorers)


def _votes(files: Sequence[str], names: Sequence[str], dataset: str | None) -> list[VoteScore]:
    from gradeschool.scoring.at_k import votes_on

    return votes_on([Path(file) for file in files], names, reading(dataset), warn)


def _check_labels(names: Sequence[str], dataset: str | None) -> None:
    from gradeschool.scoring.sources import check_labels, open_sources

    check_labels([source.dataset for source in open_sources(names, reading(dataset), warn)])


def _scorers(
    names: Sequence[str], votes: Sequence[str], files: Sequence[str], dataset: str | None
) -> list[Scorer]:
    """Return the named scorers; warn about those that "all" leaves out. Check votes' names too."""
    from gradeschool.protocols.registry import all_scorers, get_vote
    from gradeschool.scoring.sources import ALL, choose_scorers, common_dataset

    for vote in votes:
        get_vote(vote)
    chosen = choose_scorers(names, common_dataset(files, dataset))
    if ALL in names and (left_out := all_scorers().keys() - {scorer.name for scorer in chosen}):
        extras = ", ".join(sorted({all_scorers()[name].extra for name in left_out}))
        hint = f"pip install 'gradeschool[{extras}]'"
        warn(f"{len(left_out)} scorers that call a library are not installed: {hint}")
    return chosen


def _print_json(
    totals: Totals,
    votes: Sequence[VoteScore],
    causes: Mapping[str, dict[str, dict[str, int]]],
) -> None:
    counted = {"votes": [vote.as_json() for vote in votes]} if votes else {}
    runs = [score.as_json() for score in totals.scores]
    if causes:
        from gradeschool.scoring.causes import CORRECT_BY_GUESS
    for run in runs:
        for scorer, counts in causes.get(run["run"], {}).items():
            run["scorers"][scorer]["correct_by_guess"] = counts.pop(CORRECT_BY_GUESS, 0)
            run["scorers"][scorer]["causes"] = counts
    print_json({"runs": runs, **counted})


def _print(
    totals: Totals,
    votes: Sequence[VoteScore],
    causes: Mapping[str, dict[str, dict[str, int]]],
    dataset: str | None,
    explains: bool,
) -> None:
    """Print the tables, and the command that explains them if it can read the files again."""
    from gradeschool.reports.terminal import (
        print_cause_counts,
        print_votes,
        score_table,
        spread_lines,
    )

    score_table(totals.scores, stdout_console())
    if explains:
        for line in spread_lines(totals.scores, totals.origins, reading_words(dataset)):
            say(line)
    print_cause_counts(causes, stdout_console())
    if votes:
        print_votes(votes, stdout_console())
