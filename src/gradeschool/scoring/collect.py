"""Recorded completions with their problems: what a score is made of, and what was passed over."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
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
    is kept as a further sample. Raises InputError where no row can be used.
    """
    runs: dict[str, Run] = {}
    seen: dict[tuple[str, str, int], str] = {}
    notes = _Notes()
    for recorded in recordings:
        run = runs.setdefault(recorded.run, Run(recorded.run))
        fault, problem = recorded.fault, None
        if not fault:
            try:
                problem = matcher.find(recorded.reference)
            except InputError as missing:
                fault = str(missing)
        if problem is None:
            run.faults += 1
            notes.add("cannot be used", f"row {recorded.row} of {source!r} {fault}")
            run.samples.append(Sample(None, 0, "", fault, recorded.row))
            continue
        sample = _number(recorded, problem, seen, notes, source)
        if sample is not None:
            seen[run.name, problem.id, sample] = recorded.text
            found = Sample(problem, sample, recorded.text, recorded.error, recorded.row)
            run.samples.append(found)
    notes.tell(warn)
    if all(sample.problem is None for run in runs.values() for sample in run.samples):
        raise InputError(f"no row of {source!r} can be used; see the messages above")
    return list(runs.values())


def _number(
    recorded: Recorded,
    problem: Problem,
    seen: dict[tuple[str, str, int], str],
    notes: _Notes,
    source: str,
) -> int | None:
    """Return the sample's number, None for a repetition."""
    number = recorded.sample or 0
    where = f"row {recorded.row} of {source!r}"
    while (earlier := seen.get((recorded.run, problem.id, number))) is not None:
        if recorded.sample is not None and earlier == recorded.text:
            notes.add(
                "repeats a row",
                f"{where} repeats sample {number} of problem {problem.id} to the letter; "
                "counted once",
            )
            return None
        number += 1
    if number != (recorded.sample or 0):
        notes.add(
            "a further sample",
            f"{where} holds problem {problem.id} of run {recorded.run!r} again; "
            f"counted as sample {number}",
        )
    return number
