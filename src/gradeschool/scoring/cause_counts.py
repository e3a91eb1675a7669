"""How often each cause stands behind a miss or a wrong acceptance, by run and by scorer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from gradeschool.datasets.platinum import disputed
from gradeschool.problem import Problem
from gradeschool.scorer import Scorer
from gradeschool.scoring.causes import explain_verdict, provider_error, view
from gradeschool.scoring.collect import Run
from gradeschool.scoring.load import load_runs
from gradeschool.scoring.sources import sources

Causes = dict[str, int]  # by cause, the most frequent first


def causes_in_files(
    names: Sequence[str], dataset: str | None, scorers: Sequence[Scorer]
) -> dict[tuple[str, str], dict[str, Causes]]:
    """Return the causes by (file, run) and scorer. Raises InputError, DataError.

    Says nothing of rows that cannot be used: whoever scores the same files does.
    """
    found = {}
    for source in sources(names, dataset):
        changes = disputed(source.dataset.problems)
        for run in load_runs(Path(source.name), dataset, _silently):
            found[source.name, run.name] = causes_in_run(run, scorers, changes)
    return found


def causes_in_run(
    run: Run, scorers: Sequence[Scorer], changes: Mapping[str, Problem | None]
) -> dict[str, Causes]:
    """Return the causes by scorer; their sum is its misses and wrong acceptances."""
    counters: dict[str, Counter[str]] = {scorer.name: Counter() for scorer in scorers}
    for sample in run.samples:
        if sample.problem is None or sample.error:
            failed = str(provider_error(sample.error)) if sample.problem else "row without use"
            for counter in counters.values():
                counter[failed] += 1
            continue
        seen = view(sample.text, sample.problem, sample.finish, changes)
        for scorer in scorers:
            cause = explain_verdict(seen, scorer.judge(sample.text, sample.problem))
            if cause is not None:
                counters[scorer.name][str(cause)] += 1
    return {name: dict(counter.most_common()) for name, counter in counters.items()}


def _silently(message: str) -> None:
    """Say nothing."""
