"""`gradeschool explain`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from gradeschool.cli.options import (
    dataset_option,
    files_and_scorers,
    json_option,
    labels_option,
    print_json,
    scorers_option,
    stdout_console,
    warn,
    warn_of_faults,
)
from gradeschool.errors import InputError

if TYPE_CHECKING:
    from gradeschool.problem import Problem
    from gradeschool.scorer import Scorer
    from gradeschool.scoring.explain import Case
    from gradeschool.scoring.samples import Run

READER = "gradeschool/reader"


@click.command()
@click.argument("arguments", nargs=-1, required=True, metavar="FILE")
@scorers_option("the run's own scorer, else gradeschool/reader")
@click.option("--problem", metavar="ID",
              help="Only this problem, right or wrong; by default under every scorer.")  # fmt: skip
@click.option("--cause", metavar="WORDS", help="Only causes that hold these words.")
@click.option("-n", "--limit", type=click.IntRange(min=0), default=10, show_default=True,
              help="Completions to show, of every cause in turn.")  # fmt: skip
@labels_option
@dataset_option
@json_option
def command(
    arguments: tuple[str, ...],
    scorers: tuple[str, ...],
    problem: str | None,
    cause: str | None,
    limit: int,
    labels: str | None,
    dataset: str | None,
    as_json: bool,
) -> None:
    """Show why the completions of FILE are right or wrong: what a scorer read, verdict, cause.

    FILE is a run folder or a file of completions; FILE#NAME is one run of several. With one scorer,
    all that it does not have right, and what it accepts by mistake; with two or more, those on
    which they differ. Grouped by cause, the most frequent first. In the text, what each scorer read
    is in brackets with its letter; [!:...] is what shows the cause.

    Example: gradeschool explain answers.jsonl --scorer openai/2021 multi-pattern
    """
    from gradeschool.datasets.platinum import disputed
    from gradeschool.reports.explanation import print_cases
    from gradeschool.scoring.explain import cases
    from gradeschool.scoring.sources import choose_runs, parted, relabelled, sources

    files, names = files_and_scorers(arguments, scorers)
    if len(files) > 1:
        raise InputError(f"one file is explained at a time; given: {', '.join(map(repr, files))}")
    _check_cause(cause)
    path = Path(parted(files[0])[0])
    chosen = _scorers(path, names, every=problem is not None)
    found = choose_runs(files, dataset, warn)
    [source] = sources([str(path)], dataset)
    runs = _with_problem([one.run for one in found], problem)
    faults = sum(one.run.faults for one in found)
    if labels:
        runs = relabelled(runs, source.dataset)
    changes = {} if labels else disputed(source.dataset.problems)
    if problem is not None:
        every = _with(list(cases(runs, chosen, changes)), cause)
        if as_json:
            _print_json({"completions": len(every)}, "cases", every)
        else:
            print_cases(every, limit, stdout_console())
    else:
        _explain(runs, chosen, changes, _Shown(cause, limit, as_json))
    warn_of_faults(faults)


class _Shown(NamedTuple):
    cause: str | None
    limit: int
    as_json: bool


def _explain(
    runs: Sequence[Run],
    scorers: Sequence[Scorer],
    changes: Mapping[str, Problem | None],
    how: _Shown,
) -> None:
    """Explain one scorer, or the differences of several."""
    from gradeschool.reports.explanation import Tally, print_causes, print_disagreements
    from gradeschool.scoring.explain import cases, counts

    total = sum(len(run.samples) for run in runs)
    if len(scorers) > 1:
        found = _with(list(cases(runs, scorers, changes, disagreements=True)), how.cause)
        if how.as_json:
            fields = {"completions": total, "groups": counts(found)}
            _print_json(fields, "differ", found)
        else:
            print_disagreements(found, scorers, total, how.limit, stdout_console())
        return
    every = list(cases(runs, scorers, changes))
    right = sum(verdict.correct for case in every for verdict in case.verdicts)
    errors = sum(case.failed for case in every)
    found = _with([case for case in every if case.group], how.cause)
    if how.as_json:
        fields = {
            "completions": total,
            "scorer": scorers[0].name,
            "correct": right,
            "error": errors,
        }
        _print_json({**fields, "causes": counts(found)}, "cases", found)
    else:
        tally = Tally(right, total, errors)
        print_causes(found, scorers[0], tally, how.limit, stdout_console())


def _scorers(path: Path, names: Sequence[str], every: bool) -> list[Scorer]:
    """Return the scorers that are asked for; without names every scorer, or the run's own."""
    from gradeschool.formats.own_run import manifest_of, scorer_of
    from gradeschool.scoring.sources import choose_scorers

    if names or every:
        return choose_scorers(names)
    return choose_scorers([scorer_of(manifest_of(path)) or READER])


def _with_problem(runs: Sequence[Run], problem: str | None) -> list[Run]:
    """Return of each run the completions of that problem alone; all where none is named."""
    if problem is None:
        return list(runs)
    from gradeschool.scoring.samples import Run

    chosen = [
        Run(run.name, [one for one in run.samples if one.problem and one.problem.id == problem])
        for run in runs
    ]
    if not any(run.samples for run in chosen):
        raise InputError(
            f"no completion is of the problem {problem!r}; give an id that `gradeschool explain` "
            "prints: for GSM8K a row, counted from 0"
        )
    return chosen


def _check_cause(cause: str | None) -> None:
    """Raise InputError where no cause holds these words."""
    from gradeschool.answers.failures import Failure
    from gradeschool.scoring.causes import Side

    if cause is not None and not any(
        cause.casefold() in known.value for known in (*Failure, *Side)
    ):
        names = ", ".join(known.value for known in Failure)
        raise InputError(f"no cause holds the words {cause!r}; known: {names}")


def _with(found: Sequence[Case], cause: str | None) -> list[Case]:
    """Return the cases whose cause holds these words."""
    return [case for case in found if cause is None or cause.casefold() in case.group]


def _print_json(fields: Mapping[str, Any], name: str, found: Sequence[Case]) -> None:
    from gradeschool.reports.explanation import as_json

    print_json({**fields, name: [as_json(case) for case in found]})
