"""Other labels over the same completions: disputed problems left out, or with another gold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gradeschool.datasets.platinum import platinum_changes
from gradeschool.problem import Problem

if TYPE_CHECKING:
    from gradeschool.datasets.load import Dataset
    from gradeschool.scoring.collect import Run, Sample


def check_labels(datasets: Sequence[Dataset]) -> None:
    """Raise InputError where a dataset has no labels of GSM8K-Platinum."""
    for dataset in datasets:
        platinum_changes(dataset.problems, dataset.name)


def relabelled(runs: Sequence[Run], dataset: Dataset) -> list[Run]:
    """Return runs with the golds of GSM8K-Platinum, without the problems that it removed.

    Raises InputError where the dataset is not the official test split of GSM8K.
    """
    changes = platinum_changes(dataset.problems, dataset.name)
    return [replace(run, samples=list(_samples(run.samples, changes))) for run in runs]


def _samples(samples: Sequence[Sample], changes: Mapping[str, Problem | None]) -> Iterator[Sample]:
    for sample in samples:
        if sample.problem is None or sample.problem.id not in changes:
            yield sample
        elif (problem := changes[sample.problem.id]) is not None:
            yield sample._replace(problem=problem)
