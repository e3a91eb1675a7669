"""`gradeschool explain`."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from gradeschool.cli import options as cli
from gradeschool.errors import InputError
from gradeschool.percentages import accuracy_words, count

MOST_NAMED = 4  # scorers named in a sentence


@click.command(cls=cli.FileVerb)
@click.argument("arguments", nargs=-1, required=True, metavar="FILE")
@cli.scorers_option("the run's own scorer, else gradeschool/reader")
@cli.marks_option
@click.option("--problem", metavar="ID",
              help="Show only this problem, right or wrong; by default under every "
                   "scorer.")  # fmt: skip
@click.option("--cause", metavar="WORDS", help="Show only causes that contain these words.")
@click.option("--flags", is_flag=True,
              help="Show completions on which the file's own verdict differs from the "
                   "scorer's.")  # fmt: skip
@click.option("-n", "--limit", type=click.IntRange(min=0), default=10, show_default=True,
              help="Completions to show, taken from each cause in turn.")  # fmt: skip
@cli.dataset_option
@cli.json_option
def command(
    arguments: tuple[str, ...], scorers: tuple[str, ...], thinking_marks: tuple[str, ...],
    problem: str | None, cause: str | None, flags: bool, limit: int, dataset: str | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Show why completions are right or wrong: extracted answer, verdict and cause.

    FILE is a run folder or a sample file; FILE#NAME selects one run of several. With one scorer,
    shows the completions that it misses or accepts by mistake; with several, those on which they
    differ. Groups them by cause, most frequent first. In the text, brackets with a scorer's letter
    mark its extracted answer, and [!:...] marks the text that shows the cause.

    Example: gradeschool explain runs/mine --scorer openai/2021 multi-pattern
    """
    from gradeschool.answers.failures import Failure
    from gradeschool.datasets.platinum import label_changes
    from gradeschool.formats.own_run import manifest_of
    from gradeschool.reports.explanation import as_json as case_json
    from gradeschool.reports.explanation import explained_cases, print_cases, print_groups
    from gradeschool.scoring.causes import Side
    from gradeschool.scoring.sources import choose_runs, open_sources, split_run
    from gradeschool.scoring.table import choose_scorers, scorer_for

    files, names = cli.files_and_scorers(arguments, scorers, thinking_marks)
    if len(files) > 1:
        raise InputError(f"explain reads one file at a time, not {', '.join(map(repr, files))}")
    words = (cause or "").casefold()
    if not any(words in failure.value for failure in (*Failure, *Side)):
        known = ", ".join(failure.value for failure in Failure)
        raise InputError(f"no cause contains the words {cause!r}; known: {known}")
    path = Path(split_run(files[0])[0])
    if names or (problem is not None and not flags):
        chosen = choose_scorers(names)
    else:
        chosen = [scorer_for([manifest_of(path)])]
        cli.warn_of_own_scorer([manifest_of(path)])
    if flags and len(chosen) > 1:
        raise InputError(f"--flags compares the file with one scorer, not {len(chosen)}")

    runs = [each.run for each in choose_runs(files, cli.read_options(dataset), cli.warn)]
    [source] = open_sources([str(path)], cli.read_options(dataset), lambda message: None)
    changes = {run.name: label_changes(source.dataset.problems, run.problems()) for run in runs}
    total, faults = sum(len(run.samples) for run in runs), sum(run.faults for run in runs)
    if problem is not None:
        runs = [
            replace(run, samples=[s for s in run.samples if s.problem and s.problem.id == problem])
            for run in runs
        ]
        if not any(run.samples for run in runs):
            raise InputError(
                f"no completion answers the problem {problem!r}; give an id that `gradeschool "
                "explain` prints: for GSM8K the row, counted from 0"
            )
    differing = len(chosen) > 1 and problem is None
    every = list(explained_cases(runs, chosen, changes, differing))
    shown, first = [case for case in every if words in case.group], chosen[0].name
    fields: dict[str, Any] = {"completions": total}
    if flags:
        flagged = [case for case in every if case.sample.flag is not None and not case.failed]
        if not flagged:
            raise InputError(f"{files[0]!r} has no verdicts of its own")
        shown = [case for case in flagged if case.sample.flag != case.verdicts[0].correct]
        wrong = sum(not case.sample.flag for case in shown)
        fields |= {"scorer": first, "flags": len(flagged), "differ": len(shown)}
        heading = (
            f"the file's own flags and {first} differ on {len(shown):,} of {len(flagged):,} "
            f"completions: {wrong:,} that the file calls wrong, {len(shown) - wrong:,} that it "
            "calls correct"
        )
    elif problem is not None:
        fields["completions"], heading = len(shown), ""
    elif differing:
        fields["groups"] = dict(Counter(case.group for case in shown).most_common())
        who = f"{', '.join(scorer.name for scorer in chosen[:-1])} and {chosen[-1].name}"
        who = f"{len(chosen)} scorers" if len(chosen) > MOST_NAMED else who
        heading = f"{who} differ on {len(shown)} of {total} completions"
    else:
        right = sum(case.verdicts[0].correct for case in every if case.verdicts)
        errors = sum(case.failed for case in every) + faults
        shown = [case for case in shown if case.group]
        causes = dict(Counter(case.group for case in shown).most_common())
        fields |= {"scorer": first, "correct": right, "error": errors, "causes": causes}
        judged = total - errors
        failing = sum(case.failed and bool(case.verdicts) for case in every)  # the scorer itself
        texts = judged + failing
        between = (right / texts, (right + failing) / texts) if failing else None
        share = f" ({accuracy_words(right / judged, between)})" if judged else ""
        failed = f", {count(errors, 'error')}" if errors else ""
        heading = f"{first}: {right} of {judged} correct{share}{failed}"
    if as_json:
        cli.print_json({**fields, "differ" if differing else "cases": list(map(case_json, shown))})
    else:
        console = cli.stdout_console()
        if heading:
            console.print(heading, soft_wrap=True)
        if flags or problem is not None:
            print_cases(shown[:limit], len(shown), console)
        else:
            print_groups(shown, len(shown) if differing else total, limit, console)
    cli.exit_for_faults(faults)
