"""`gradeschool profile`."""

import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from gradeschool.atomic import check_output
from gradeschool.cli import options as cli
from gradeschool.cli.eval import print_estimates, request_options, run_all
from gradeschool.cli.options import COUNT, FOLDER, option, switch
from gradeschool.datasets.load import is_here
from gradeschool.errors import InputError, StoreError
from gradeschool.formats.run_folder import manifest_of
from gradeschool.formats.values import mapping
from gradeschool.problem import Problem
from gradeschool.reports.pages import axis_over, render, save_page
from gradeschool.reports.terminal import print_profile
from gradeschool.runs.job import BUILT_IN, Job, PreparedJob, prepare, recorded_plan
from gradeschool.scoring import compare as comparing
from gradeschool.scoring.causes import misses_by_kind
from gradeschool.scoring.sources import choose_runs
from gradeschool.scoring.statistics import Interval
from gradeschool.scoring.table import ScoredTable

SETS = ("gsm8k", "gsm-symbolic", "gsm-plus:mini", "gsm-hard", "fresh:1")
# The shipped model was trained on fresh problems, which need no download.
BUILT_IN_SETS = ("fresh:1", "fresh:1:test-numbers", "fresh:1:test-templates",
                 "fresh:1:test-structures")  # fmt: skip


@click.command(cls=cli.Command)
@click.argument("runs", nargs=-1, metavar="[ORIGINAL RUN...]")
@option("-m --model", str, "Model to run on the sets, instead of RUNs; as for `eval -m`.",
        metavar="PROVIDER/NAME")  # fmt: skip
@option("-p --protocol", str, "Protocol of -m; by default zero-shot/chat, for tiny openai/2021.",
        default="", show_default=False, metavar="NAME")  # fmt: skip
@option("-d --dataset datasets", str, "With -m: a set to run, the original first; by default "
        "gsm8k, gsm-symbolic, gsm-plus:mini, gsm-hard and fresh:1. Repeat it. Without -m: the "
        "dataset of all runs.", multiple=True, metavar="NAME")  # fmt: skip
@option("-n --limit", COUNT, "Use at most N problems of each set: those that most sets vary.")
@option("-k --samples", COUNT, "Completions for each problem.", default=1)
@option("--runs-in parent", FOLDER, "Folder of the run folders of -m; by default runs.",
        metavar="FOLDER")  # fmt: skip
@cli.scorer_option("Scorer for all runs; by default that of their protocol.")
@option("-o --output", cli.PATH, "Page to write (.html).", metavar="FILE")
@request_options
@switch("--dry-run", "Print the requests of each run of -m and the cost; send nothing.")
@cli.quiet_option
@cli.column_options
@cli.json_option
def profile_command(
    runs: tuple[str, ...], model: str | None, datasets: tuple[str, ...], scorer: str | None,
    output: Path | None, dry_run: bool, quiet: bool, as_json: bool, **settings: Any,
) -> None:  # fmt: skip
    """Measure what a score on GSM8K loses with other numbers, words or languages.

    ORIGINAL is the model's run on GSM8K; each further RUN is the same model on a set of variations:
    gsm-plus, gsm-symbolic, gsm-hard, mgsm:LANG, gsm8k-platinum. With -m, runs the model on the
    sets first: runs are stored as in `gradeschool eval`, and the same command resumes them.

    Pairs every variation with the problem that it varies. Intervals are at 95 % and clustered by
    that problem; p is corrected for the number of lines (Holm). Compares a set of other problems
    without pairs. Counts the causes of the errors that make up a loss.

    Example: gradeschool profile -m http://localhost:8080/v1 -n 300

    Example: gradeschool profile runs/gsm8k runs/gsm-plus runs/mgsm-de
    """
    if (model is None) == (not runs):
        raise InputError("give either the runs of a profile or -m MODEL")
    if model is None:
        source = click.get_current_context().get_parameter_source
        for param in profile_command.params:
            name = param.name or ""
            if name in ("dry_run", *settings) and source(name) is ParameterSource.COMMANDLINE:
                raise InputError(
                    f"{param.opts[-1]} applies only with -m MODEL; leave it out for runs"
                )
        if len(datasets) > 1:
            raise InputError(f"-d is given {len(datasets)} times; runs have one dataset each")
    check_output(output, ".html")
    status, dataset = 0, next(iter(datasets), None)
    if model is not None:
        parent = settings.pop("parent")
        jobs = profile_jobs(Job(model, **settings), datasets, parent)
        if dry_run:
            print_estimates(jobs, as_json)
            return
        finished, status = run_all(jobs, quiet)
        stopped = any(evaluation.over_budget for evaluation in finished)
        if len(finished) < len(jobs) or status not in (0, 3) or stopped:
            cli.warn("the profile is not complete; the same command continues its runs")
            sys.exit(status)
        runs, dataset = tuple(str(work.folder) for work in jobs), None

    chosen = choose_runs(runs, replace(cli.read_options(), dataset=dataset), cli.warn)
    if len(chosen) < 2:
        name = chosen[0].name
        raise InputError(f"only one run is given: {name!r}; give that on GSM8K, then the others")
    chosen_scorer = cli.scorer_of_runs(chosen, scorer)
    # Runs are named after their datasets if those are known and differ.
    recorded = (mapping(run.manifest.get("dataset")).get("name") for run in chosen)
    names = [Path(str(name)).name if name else "" for name in recorded]
    if not all(names) or len(set(names)) < len(names):
        names = [run.name for run in chosen]
    tables = [ScoredTable(run, [chosen_scorer]) for run in chosen]
    base, *others = (
        replace(comparing.run_outcomes(table), run=name, misses=misses_by_kind(table))
        for table, name in zip(tables, names, strict=True)
    )
    entries = comparing.profile(base, others)
    if as_json:
        cli.print_json({"scorer": chosen_scorer.name, **comparing.profile_json(base, entries)})
    else:
        print_profile(base, entries, chosen_scorer.name, cli.stdout_console())
    if output is not None:
        about = str(chosen[0].manifest.get("model") or chosen[0].name)
        axis = axis_over([Interval(0.0, 0.0), *(entry.comparison.ci95 for entry in entries)])
        page = render(
            "profile.html", about, "Profile", original=base, entries=entries, axis=axis,
            scorer=chosen_scorer.name, verdict=comparing.conclusions(base, entries),
            sentence=comparing.entry_sentence,
        )  # fmt: skip
        save_page(page, output)
    failing = cli.warn_of_scorer_errors([base, *others], chosen_scorer.name)
    cli.exit_for_faults(sum(run.faults for run in chosen), 3 if failing else status)


def profile_jobs(job: Job, sets: Sequence[str], parent: Path | None = None) -> list[PreparedJob]:
    """Return the checked jobs of a profile, the original first.

    job: its dataset and output are not used; its limit applies to each set, see `paired_problems`.
    sets: the original and at least one other; () means SETS. parent: the folder of the run folders.
    If a folder has other problems of the same set, they stay in its plan. Raises InputError and the
    errors of `runs.job.prepare`.
    """
    sets = tuple(dict.fromkeys(sets or (BUILT_IN_SETS if job.model == BUILT_IN else SETS)))
    if len(sets) < 2:
        raise InputError(f"only one set: {sets[0]!r}; give the original, then the others")
    by_name = {
        name: prepare(replace(job, dataset=name, limit=None, output=None))
        for name in sorted(sets, key=lambda name: not is_here(name))  # local ones first
    }
    chosen = paired_problems([by_name[name].plan.problems for name in sets], job.limit)
    jobs = []
    for work, problems in zip((by_name[name] for name in sets), chosen, strict=True):
        folder = work.folder if parent is None else parent / work.folder.name
        ids = {problem.id for problem in problems}
        if manifest := manifest_of(folder):
            try:
                ids |= {problem.id for problem in recorded_plan(manifest).problems}
            except StoreError as error:
                raise InputError(f"{str(folder)!r} cannot be continued: {error}") from error
        kept = tuple(problem for problem in work.plan.dataset.problems if problem.id in ids)
        jobs.append(replace(work, folder=folder, plan=replace(work.plan, problems=kept)))
    return jobs


def paired_problems(
    sets: Sequence[Sequence[Problem]], limit: int | None
) -> list[tuple[Problem, ...]]:
    """Return at most `limit` problems of each set, chosen to keep as many pairs as possible.

    sets: the original first. From the original, the problems with variations in the most sets are
    taken; from a set of variations, one of each problem, then a second one, with kinds in turn;
    from a set of other problems, the first ones.
    """
    if limit is None:
        return [tuple(problems) for problems in sets]
    original, *others = sets
    find_seed = comparing.seed_finder({problem.id: problem for problem in original})
    varied: list[defaultdict[str, list[Problem]]] = [defaultdict(list) for _ in others]
    for variations, problems in zip(varied, others, strict=True):
        for problem in problems:
            if (seed := find_seed(problem)) is not None:
                variations[seed].append(problem)
    counts = Counter(seed for variations in varied for seed in variations)
    order = sorted((problem.id for problem in original), key=lambda id: -counts[id])[:limit]
    ids = set(order)
    chosen = [tuple(problem for problem in original if problem.id in ids)]
    for problems, variations in zip(others, varied, strict=True):
        found = [variations[seed] for seed in order if seed in variations]
        for place, each in enumerate(found):  # the kinds of the first variations take turns
            each[:] = each[place % len(each) :] + each[: place % len(each)]
        turns = chain.from_iterable(zip_longest(*found))
        taken = tuple(islice((problem for problem in turns if problem), limit))
        chosen.append(taken or tuple(problems[:limit]))
    return chosen
