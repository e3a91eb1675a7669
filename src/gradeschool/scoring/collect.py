"""Recorded completions with their problems: what a score is made of, and what was passed over."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from gradeschool.errors import InputError
from gradeschool.problem import Problem
from gradeschool.recordings.recorded import Recorded
from gradeschool.scoring.matching import Matcher

Warn = Callable[[str], None]
SHOWN = 5


class Sample(NamedTuple):
    """One completion of one problem; problem is None and error is set where there is no text."""

    problem: Problem | None
    sample: int
    text: str
    error: str
    row: int


@dataclass(slots=True)
class Run:
    """The samples of one run, in the order of the file; `faults` counts unusable rows."""

    name: str
    samples: list[Sample] = field(default_factory=list)
    faults: int = 0


class _Notes:
    """Collects messages about rows; prints the first few of each kind and counts the rest."""

    def __init__(self) -> None:
        self.kinds: dict[str, list[str]] = defaultdict(list)

    def add(self, kind: str, message: str) -> None:
        self.kinds[kind].append(message)

    def tell(self, warn: Warn) -> None:
        for kind, messages in self.kinds.items():
            for message in messages[:SHOWN]:
                warn(message)
            if len(messages) > SHOWN:
                warn(f"... and {len(messages) - SHOWN} more rows of this kind ({kind})")


def collect(recordings: Iterable[Recorded], matcher: Matcher, source: str, warn: Warn) -> list[Run]:
    """Group recorded completions by run and find their problems.

    A row that cannot be used is a sample with an error, told to `warn` with its number. A row that
    repeats another one to the letter is counted once; one that gives the same sample another text
    is kept as a further sample. Rows that do not number their samples may repeat each other where
    most problems of their run have several. Raises InputError where no row can be used.
    """
    notes = _Notes()
    found = [(one, *_problem(one, matcher)) for one in recordings]
    sampled = _sampled_runs((one, problem) for one, problem, _ in found if problem is not None)
    runs: dict[str, Run] = {}
    seen: dict[tuple[str, str, int], str] = {}
    counters: dict[tuple[str, str], Iterator[int]] = defaultdict(count)
    for recorded, problem, fault in found:
        run = runs.setdefault(recorded.run, Run(recorded.run))
        if problem is None:
            run.faults += 1
            notes.add("cannot be used", f"row {recorded.row} of {source!r} {fault}")
            run.samples.append(Sample(None, 0, "", fault, recorded.row))
            continue
        if recorded.sample is None and run.name in sampled:
            number: int | None = next(counters[run.name, problem.id])
        else:
            number = _number(recorded, problem, seen, notes, source)
        if number is not None:
            seen[run.name, problem.id, number] = recorded.text
            sample = Sample(problem, number, recorded.text, recorded.error, recorded.row)
            run.samples.append(sample)
    notes.tell(warn)
    if all(sample.problem is None for run in runs.values() for sample in run.samples):
        raise InputError(f"no row of {source!r} can be used; see the messages above")
    return list(runs.values())


def _problem(recorded: Recorded, matcher: Matcher) -> tuple[Problem | None, str]:
    """Return the problem of a row, or None and why there is none."""
    if recorded.fault:
        return None, recorded.fault
    try:
        return matcher.find(recorded.reference), ""
    except InputError as missing:
        return None, str(missing)


def _sampled_runs(rows: Iterable[tuple[Recorded, Problem]]) -> set[str]:
    """Return the runs that leave samples without numbers and have several of most problems."""
    counts = Counter((one.run, problem.id) for one, problem in rows if one.sample is None)
    several: dict[str, list[bool]] = defaultdict(list)
    for (run, _), rows_of_problem in counts.items():
        several[run].append(rows_of_problem > 1)
    return {run for run, found in several.items() if sum(found) > len(found) / 2}


def _number(
    recorded: Recorded,
    problem: Problem,
    seen: Mapping[tuple[str, str, int], str],
    notes: _Notes,
    source: str,
) -> int | None:
    """Return the sample's number, None for a repetition."""
    number = recorded.sample or 0
    where = f"row {recorded.row} of {source!r}"
    while (earlier := seen.get((recorded.run, problem.id, number))) is not None:
        if earlier == recorded.text:
            repeated = f"repeats sample {number} of problem {problem.id!r} to the letter"
            notes.add("repeats a row", f"{where} {repeated}; counted once")
            return None
        number += 1
    if number != (recorded.sample or 0):
        notes.add(
            "a further sample",
            f"{where} holds problem {problem.id!r} of run {recorded.run!r} again, with another "
            f"text; counted as sample {number}",
        )
    return number
