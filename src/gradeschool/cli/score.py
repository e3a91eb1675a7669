"""`gradeschool score`."""

import gc
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from gradeschool.atomic import check_output
from gradeschool.cli import options as cli
from gradeschool.cli.options import option
from gradeschool.datasets.load import platinum_changes
from gradeschool.formats.run_folder import manifest_of
from gradeschool.printable import count, quoted, say
from gradeschool.protocols.registry import all_scorers, get_vote
from gradeschool.reports import terminal
from gradeschool.scoring.at_k import votes_on
from gradeschool.scoring.score import score_sources, verdict_table
from gradeschool.scoring.sources import open_sources
from gradeschool.scoring.table import ALL, ScorerSet, choose_scorers, headline_scorer
from gradeschool.worker import cores


@click.command(cls=cli.Command)
@click.argument("files", nargs=-1, required=True)
@cli.scorers_option("all that call no library, in groups that agree")
@cli.marks_option
@option("--vote votes", str, "Apply a published vote to the samples of each problem too; "
        "`gradeschool runs curve` has maj@k and pass@k.", multiple=True,
        metavar="NAME")  # fmt: skip
@cli.reading_options
@option("-o --output", cli.PATH, "Write a row of verdicts for each completion: .jsonl or .parquet.",
        metavar="FILE")  # fmt: skip
@option("--jobs", click.IntRange(0), "Scoring processes; 0 is one for each core.", default=1)
@option("--engine", ("local", "ray"), "Score here, or Parquet and .jsonl files on Ray "
        "(RAY_ADDRESS).", default="local")  # fmt: skip
@option("--labels", ("platinum",), "Use the labels of GSM8K-Platinum (110 problems removed, 10 "
        "golds revised).")  # fmt: skip
@cli.json_option
def score_command(
    files: tuple[str, ...],
    scorers: tuple[str, ...],
    thinking_marks: tuple[str, ...],
    votes: tuple[str, ...],
    output: Path | None,
    jobs: int,
    engine: str,
    labels: str | None,
    as_json: bool,
) -> None:
    """Score sample files under every scorer.

    FILES are run folders, tables (JSONL, JSON, CSV, Excel, Parquet, Arrow) or logs of other tools.
    Detects the columns by their names: the text, and the problem by its question, id or index; run
    and sample if there are several. --columns names them. A quoted pattern ('answers/*.parquet') or
    a folder of tables is one table; FILE#NAME selects one run of several. Reads JSON lines from
    pipes and from -, standard input. Counts rows that cannot be used as errors, and exits with 3.

    Prints the headline scorer first (the run's own, else gradeschool/reader), then a line for each
    group of scorers that agree on every completion. `--scorer all` lists every scorer, with those
    of other datasets and the installed ones that call a library, which are a thousand times slower.

    Example: gradeschool score answers.jsonl --scorer multi-pattern openai/2021
    """
    gc.freeze()
    gc.set_threshold(50_000)  # nearly all objects of a row stay: looking for garbage takes 6 %
    paths, names = cli.files_and_scorers(files, scorers, thinking_marks)
    for vote in votes:
        get_vote(vote)
    if labels and votes:
        raise click.UsageError("--vote counts the dataset's own labels; leave --labels out")
    check_output(output, ".jsonl", ".parquet")
    chosen = choose_scorers(names) if names else []
    if ALL in names and (absent := all_scorers().keys() - {scorer.name for scorer in chosen}):
        extras = ",".join(sorted({all_scorers()[name].extra for name in absent}))
        cli.warn(
            f"{len(absent)} scorers that call a library are not installed: "
            f"pip install 'gradeschool[{extras}]'"
        )
    tables = open_sources(paths, cli.read_options(), cli.warn)
    datasets = {table.dataset.name for table in tables}
    dataset = datasets.pop() if len(datasets) == 1 else ""
    if names:
        headline = chosen[0].name
    else:
        manifests = [manifest_of(Path(table.path)) for table in tables]
        cli.warn_of_own_scorer(manifests)
        headline, chosen = headline_scorer(manifests), choose_scorers((), dataset)
        if headline not in {scorer.name for scorer in chosen}:
            chosen += choose_scorers([headline])
    for table in tables if labels else ():
        platinum_changes(table.dataset.problems, table.dataset.name)  # raises InputError
    scorer_set = ScorerSet(chosen)
    verdicts = verdict_table(output, scorer_set.names) if output else nullcontext(lambda *_: None)
    with verdicts as write:
        scores = score_sources(
            tables, scorer_set, cli.warn, labels=bool(labels), jobs=jobs or cores(), engine=engine,
            write=write,
        )  # fmt: skip
    voted = votes_on(paths, votes, cli.read_options()) if votes else []
    flagged = [run for run in scores if run.flags]
    lines = []
    if flagged and all(run.flags[headline].agree == run.flags[headline].n for run in flagged):
        lines = [f"the file's own flags agree with {headline} on every completion"]
        flagged = []
    for run in flagged:
        words = terminal.flag_line(run, headline, cli.options_as_typed())
        lines.append(f"{run.run}: {words}")
        if terminal.disagrees(run.flags[headline]):
            cli.warn(lines[-1])
    if as_json:
        fields: dict[str, Any] = {"runs": [run.as_json() for run in scores]}
        cli.print_json(fields | ({"votes": [asdict(vote) for vote in voted]} if voted else {}))
    else:
        console = cli.stdout_console()
        terminal.print_scores(scores, console, None if names else headline)
        for line in lines:
            say(line)
        if not any(map(cli.is_pipe, files)):  # the command under the table reads the files again
            comparable = {scorer.name for scorer in chosen if dataset.startswith(scorer.dataset)}
            options = cli.options_as_typed()
            for line in terminal.spread_lines(scores, comparable, headline, options):
                say(line)
        if voted:
            terminal.print_votes(voted, console)
    is_failed = False
    for run in scores:
        for result in run.scorers if names else [run.result(headline)]:
            is_failed = is_failed or result.error > 0
            if result.error > run.failed:
                judged = "; its accuracy is a range: from all of these wrong to all of them right"
                cli.warn(
                    f"{result.scorer} fails on {result.error - run.failed} of "
                    f"{count(run.n - run.failed, 'completion')} of {run.run!r}"
                    f"{judged if result.judged else ''}; why: gradeschool explain "
                    f"{quoted(run.origin)}{cli.options_as_typed()} --scorer "
                    f"{quoted(result.scorer)}"
                )
    cli.exit_for_faults(sum(run.faults for run in scores), 3 if is_failed else 0)
