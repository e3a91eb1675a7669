"""Samples with their problems: what a score is made of, and what was passed over."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import NamedTuple

from gradeschool.completion import Finish
from gradeschool.errors import InputError
from gradeschool.formats.samples import FileSample
from gradeschool.problem import Problem
from gradeschool.scoring.matching import Matcher
from gradeschool.scoring.notes import Notes, Warn
from gradeschool.scoring.repeats import Place, Repeats
from gradeschool.scoring.tally import note_place
from gradeschool.scoring.verdicts import digest


class Sample(NamedTuple):
    """One completion of one problem; problem is None and error is set where there is no text."""

    problem: Problem | None
    sample: int
    text: str
    error: str
    row: int
    finish: str = Finish.UNKNOWN


@dataclass(slots=True)
class Run:
    """The samples of one run, in the order of the file; `faults` counts unusable rows."""

    name: str
    samples: list[Sample] = field(default_factory=list)
    faults: int = 0


def collect(
    recordings: Iterable[FileSample], matcher: Matcher, source: str, warn: Warn
) -> list[Run]:
    """Group recorded completions by run and find their problems.

    A row that cannot be used is a sample with an error, told to `warn` with its number. A row that
    repeats another one to the letter is counted once; one that gives the same sample another text
    is kept as a further sample. Rows that do not number their samples may repeat each other where
    most problems of their run have several. Raises InputError where no row can be used.
    """
    notes, repeats = Notes(), Repeats()
    runs: dict[str, Run] = {}
    places: list[tuple[Run, Sample, FileSample, Place | None]] = []
    for recorded in recordings:
        problem, fault = _problem(recorded, matcher)
        run = runs.setdefault(recorded.run, Run(recorded.run))
        row, text = recorded.row, recorded.text
        if problem is None:
            run.faults += 1
            notes.add("cannot be used", partial("row {} of {!r} {}".format, row, source, fault))
            places.append((run, Sample(None, 0, "", fault, row), recorded, None))
            continue
        place = repeats.place(run.name, problem.id, recorded.sample, digest(text))
        if place.repeats or place.number != (recorded.sample or 0):
            note_place(notes, place, run.name, problem.id, recorded.sample, row, source)
        sample = Sample(problem, place.number, text, recorded.error, row, recorded.finish)
        places.append((run, sample, recorded, place))
    sampled = repeats.sampled_runs()
    notes.tell(warn, sampled)
    _fill(places, sampled)
    if all(sample.problem is None for run in runs.values() for sample in run.samples):
        raise InputError(f"no row of {source!r} can be used; see the messages above")
    return list(runs.values())


def _fill(
    places: Iterable[tuple[Run, Sample, FileSample, Place | None]], sampled: Collection[str]
) -> None:
    """Put the samples into their runs: repetitions only where a run is sampled."""
    counters: dict[tuple[str, str], Iterator[int]] = defaultdict(count)
    for run, sample, recorded, place in places:
        if sample.problem is not None and recorded.sample is None and run.name in sampled:
            number = next(counters[run.name, sample.problem.id])
            run.samples.append(sample._replace(sample=number))
        elif place is None or not place.repeats:
            run.samples.append(sample)


def _problem(recorded: FileSample, matcher: Matcher) -> tuple[Problem | None, str]:
    """Return the problem of a row, or None and why there is none."""
    if recorded.fault:
        return None, recorded.fault
    try:
        return matcher.find(recorded.reference), ""
    except InputError as missing:
        return None, str(missing)
