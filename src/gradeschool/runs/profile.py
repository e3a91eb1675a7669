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
from gradeschool.runs.job import BUILT_IN, Job, PreparedJob, prepare
from gradeschool.runs.plan import plan_of
from gradeschool.scoring.profile import SeedIndex

SETS = ("gsm8k", "gsm-symbolic", "gsm-plus:mini", "gsm-hard", "fresh:1")
# The shipped model was trained on fresh problems, which need no download.
BUILT_IN_SETS = (
    "fresh:1",
    *(f"fresh:1:test-{changed}" for changed in ("numbers", "templates", "structures")),
)


def profile_jobs(job: Job, sets: Sequence[str], parent: Path | None = None) -> list[PreparedJob]:
    """Return the checked jobs of a profile, the original first.

    job: its dataset and output are not used; its limit applies to each set, see `choose_problems`.
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
    jobs = [by_name[name] for name in sets]
    chosen = choose_problems([work.plan.problems for work in jobs], job.limit)
    return [_over(work, problems, parent) for work, problems in zip(jobs, chosen, strict=True)]


def _over(work: PreparedJob, problems: Sequence[Problem], parent: Path | None) -> PreparedJob:
    """Return a job over some of its problems, and those that are already in its folder."""
    folder = work.folder if parent is None else parent / work.folder.name
    ids = {problem.id for problem in problems}
    if manifest := manifest_of(folder):
        try:
            ids |= {problem.id for problem in plan_of(manifest).problems}
        except StoreError as error:
            raise InputError(f"{str(folder)!r} cannot be continued: {error}") from error
    problems = tuple(problem for problem in work.plan.dataset.problems if problem.id in ids)
    return replace(work, folder=folder, plan=replace(work.plan, problems=problems))


def choose_problems(
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
    varied = [_variations(index, problems) for problems in others]
    counts = Counter(seed for variations in varied for seed in variations)
    rows = {problem.id: row for row, problem in enumerate(original)}
    order = sorted(rows, key=lambda id: (-counts[id], rows[id]))[:limit]
    ids = frozenset(order)
    chosen = [tuple(problem for problem in original if problem.id in ids)]
    for problems, variations in zip(others, varied, strict=True):
        chosen.append(_spread_over(order, variations, limit) or tuple(problems[:limit]))
    return chosen


def _variations(index: SeedIndex, problems: Sequence[Problem]) -> dict[str, list[Problem]]:
    """Return the variations of each original problem by its id."""
    variations: defaultdict[str, list[Problem]] = defaultdict(list)
    for problem in problems:
        if (seed := index.find(problem)) is not None:
            variations[seed].append(problem)
    return variations


def _spread_over(
    seeds: Sequence[str], variations: dict[str, list[Problem]], limit: int
) -> tuple[Problem, ...]:
    """Return one variation of each seed, then another one; the kinds of the first take turns."""
    places = {
        seed: place for place, seed in enumerate(seed for seed in seeds if seed in variations)
    }
    ranked = [
        ((number - place) % len(variations[seed]), place, problem)
        for seed, place in places.items()
        for number, problem in enumerate(variations[seed])
    ]
    ranked.sort(key=lambda entry: entry[:2])
    return tuple(problem for _, _, problem in ranked[:limit])
