"""`gradeschool explain`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradeschool.cli.options import (
    FileVerb,
    dataset_option,
    files_and_scorers,
    json_option,
    labels_option,
    print_json,
    reading,
    scorers_option,
    stdout_console,
    warn,
    warn_of_faults,
)
from gradeschool.errors import InputError

if TYPE_CHECKING:
    from gradeschool.scorer import Scorer
    from gradeschool.scoring.causes import LabelChanges
    from gradeschool.scoring.explain import Case
    from gradeschool.scoring.samples import Run


@click.command(cls=FileVerb)
@click.argument("arguments", nargs=-1, required=True, metavar="FILE")
@scorers_option("the run's own scorer, else gradeschool/reader")
@click.option(
    "--problem",
    metavar="ID",
    help="Show only this problem, right or wrong; by default under every scorer.",
)
@click.option("--cause", metavar="WORDS", help="Show only causes that contain these words.")
@click.option("-n", "--limit", type=click.IntRange(min=0), default=10, show_default=True,
              help="Completions to show, taken from each cause in turn.")  # fmt: skip
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
    """Show why completions are right or wrong: extracted answer, verdict and cause.

    FILE is a run folder or a sample file; FILE#NAME selects one run of several. With one scorer,
    shows the completions that it misses or accepts by mistake; with several, those on which they
    differ. Groups them by cause, most frequent first. In the text, brackets with a scorer's letter
    mark its extracted answer, and [!:...] marks the text that shows the cause.

    Example: gradeschool explain answers.jsonl --scorer openai/2021 multi-pattern
    """
    from gradeschool.datasets.platinum import disputed
    from gradeschool.reports.explanation import print_cases
    from gradeschool.scoring.causes import label_changes
    from gradeschool.scoring.explain import cases
    from gradeschool.scoring.sources import choose_runs, open_sources, parted, relabelled

    files, names = files_and_scorers(arguments, scorers)
    if len(files) > 1:
        raise InputError(f"explain reads one file at a time, not {', '.join(map(repr, files))}")
    _check_cause(cause)
    path = Path(parted(files[0])[0])
    chosen = _scorers(path, names, every=problem is not None)
    selected = choose_runs(files, reading(dataset), warn)
    [source] = open_sources([str(path)], reading(dataset), warn)
    every_run = [selection.run for selection in selected]
    runs = _with_problem(every_run, problem)
    faults = sum(selection.run.faults for selection in selected)
    if labels:
        runs = relabelled(runs, source.dataset)
    official = () if labels else source.dataset.problems
    changes = {
        run.name: label_changes(run, disputed(official, run.problems())) for run in every_run
    }
    if problem is not None:
        every = _with(list(cases(runs, chosen, changes)), cause)
        if as_json:
            _print_json({"completions": len(every)}, "cases", every)
        else:
            print_cases(every, limit, stdout_console())
    else:
        _explain(runs, chosen, changes, cause, limit, as_json)
    warn_of_faults(faults)


def _explain(
    runs: Sequence[Run],
    scorers: Sequence[Scorer],
    changes: Mapping[str, LabelChanges],
    cause: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """Explain one scorer, or the differences of several."""
    from gradeschool.reports.explanation import print_causes, print_disagreements
    from gradeschool.scoring.explain import cases, counts

    total = sum(len(run.samples) for run in runs)
    if len(scorers) > 1:
        selected = _with(list(cases(runs, scorers, changes, disagreements=True)), cause)
        if as_json:
            fields = {"completions": total, "groups": counts(selected)}
            _print_json(fields, "differ", selected)
        else:
            print_disagreements(selected, scorers, total, limit, stdout_console())
        return
    every = list(cases(runs, scorers, changes))
    right = sum(verdict.correct for case in every for verdict in case.verdicts)
    errors = sum(case.failed for case in every) + sum(run.faults for run in runs)
    selected = _with([case for case in every if case.group], cause)
    if as_json:
        fields = {
            "completions": total,
            "scorer": scorers[0].name,
            "correct": right,
            "error": errors,
        }
        _print_json({**fields, "causes": counts(selected)}, "cases", selected)
    else:
        print_causes(selected, scorers[0], right, total, errors, limit, stdout_console())


def _scorers(path: Path, names: Sequence[str], every: bool) -> list[Scorer]:
    """Return the named scorers; without names every scorer, or the run's own."""
    from gradeschool.formats.own_run import manifest_of
    from gradeschool.scoring.table import choose_scorers, scorer_for

    if names or every:
        return choose_scorers(names)
    return [scorer_for([manifest_of(path)])]


def _with_problem(runs: Sequence[Run], problem: str | None) -> list[Run]:
    """Return the runs with only the completions of a problem, or all if it is None."""
    if problem is None:
        return list(runs)
    from gradeschool.scoring.samples import Run

    chosen = [
        Run(run.name, [each for each in run.samples if each.problem and each.problem.id == problem])
        for run in runs
    ]
    if not any(run.samples for run in chosen):
        raise InputError(
            f"no completion answers the problem {problem!r}; give an id that `gradeschool explain` "
            "prints: for GSM8K the row, counted from 0"
        )
    return chosen


def _check_cause(cause: str | None) -> None:
    """Raise InputError if no cause contains these words."""
    from gradeschool.answers.failures import Failure
    from gradeschool.scoring.causes import Side

    if cause is not None and not any(
        cause.casefold() in failure.value for failure in (*Failure, *Side)
    ):
        names = ", ".join(failure.value for failure in Failure)
        raise InputError(f"no cause contains the words {cause!r}; known: {names}")


def _with(cases: Sequence[Case], cause: str | None) -> list[Case]:
    """Return the cases whose cause contains these words."""
    return [case for case in cases if cause is None or cause.casefold() in case.group]


def _print_json(fields: Mapping[str, Any], name: str, cases: Sequence[Case]) -> None:
    from gradeschool.reports.explanation import as_json

    print_json({**fields, name: [as_json(case) for case in cases]})
