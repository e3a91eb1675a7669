"""The runs of a profile: one model on an original set and on variations of its problems."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gradeschool.datasets.load import is_here
from gradeschool.errors import InputError, StoreError
from gradeschool.formats.own_run import manifest_of
from gradeschool.problem import Problem
from gradeschool.runs.job import BUILT_IN, Job, PreparedJob, prepare, recorded_plan
from gradeschool.scoring.profile import SeedIndex

SETS = ("gsm8k", "gsm-symbolic", "gsm-plus:mini", "gsm-hard", "fresh:1")
# The shipped model was trained on fresh problems, which need no download.
BUILT_IN_SETS = (
    "fresh:1",
    *(f"fresh:1:test-{changed}" for changed in ("numbers", "templates", "structures")),
)


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
    index = SeedIndex({problem.id: problem for problem in original})
    varied: list[defaultdict[str, list[Problem]]] = [defaultdict(list) for _ in others]
    for variations, problems in zip(varied, others, strict=True):
        for problem in problems:
            if (seed := index.find(problem)) is not None:
                variations[seed].append(problem)
    counts = Counter(seed for variations in varied for seed in variations)
    order = sorted((problem.id for problem in original), key=lambda id: -counts[id])[:limit]
    ids = set(order)
    chosen = [tuple(problem for problem in original if problem.id in ids)]
    for problems, variations in zip(others, varied, strict=True):
        # In turn over the seeds; the kinds of the first variations take turns.
        seeds = [seed for seed in order if seed in variations]
        ranked = sorted(
            ((number - place) % len(variations[seed]), place, number)
            for place, seed in enumerate(seeds)
            for number in range(len(variations[seed]))
        )
        taken = tuple(variations[seeds[place]][number] for _, place, number in ranked[:limit])
        chosen.append(taken or tuple(problems[:limit]))
    return chosen
