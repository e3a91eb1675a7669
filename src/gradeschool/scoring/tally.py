"""The second half of scoring: what the completions of a file come to, counted in their order.

Memory is that of the problems and of eight bytes for each completion, not of the texts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from gradeschool.errors import InputError
from gradeschool.formats.read import name_of_unnamed
from gradeschool.formats.samples import UNNAMED
from gradeschool.scoring.notes import Notes, Warn
from gradeschool.scoring.repeats import Place, Repeats
from gradeschool.scoring.verdicts import Scored

Key = tuple[str, bytes, bytes]  # a problem's id, the outcomes of the groups of scorers, notes


@dataclass(slots=True)
class RunTally:
    """The completions of one run, counted by problem and outcomes; no outcomes: no text to read.

    n: rows that count, the unusable ones (`faults`) included. repeated: completions without a
    number that repeat another of their problem, which count if the run turns out to be sampled.
    """

    name: str
    n: int = 0
    faults: int = 0
    counts: Counter[Key] = field(default_factory=Counter)
    repeated: Counter[Key] = field(default_factory=Counter)

    def add(self, other: RunTally) -> None:
        """Count another tally in."""
        self.n += other.n
        self.faults += other.faults
        self.counts.update(other.counts)
        self.repeated.update(other.repeated)


class FileTally:
    """Counts the completions of one file, or of one table in several files, as they come."""

    def __init__(self, source: str, default_run: str) -> None:
        self.source = source
        self.default_run = default_run
        self._runs: dict[str, RunTally] = {}
        self._repeats = Repeats()
        self._notes = Notes()

    def add(self, one: Scored, file: str) -> None:
        """Count a completion; file: where its row stands."""
        run = self._runs.get(one.run)
        if run is None:
            run = self._runs[one.run] = RunTally(one.run)
        if one.problem is None:
            run.n += 1
            run.faults += 1
            self._notes.add("cannot be used", lambda: f"row {one.row} of {file!r} {one.error}")
            return
        place = self._repeats.place(one.run, one.problem, one.sample, one.digest)
        if place.repeats or place.number != (one.sample or 0):
            note_place(self._notes, place, one.run, one.problem, one.sample, one.row, file)
        if not place.repeats:
            run.n += 1
            run.counts[one.problem, one.codes, one.notes] += 1
        elif one.sample is None:
            run.repeated[one.problem, one.codes, one.notes] += 1

    def runs(self, warn: Warn) -> list[RunTally]:
        """Return the runs in the order of the file, after the last of its rows.

        Rows that need a word are told to `warn`. Raises InputError where no row can be used.
        """
        sampled = self._repeats.sampled_runs()
        self._notes.tell(warn, sampled)
        for name in sampled:
            run = self._runs[name]
            run.counts.update(run.repeated)
            run.n += run.repeated.total()
        if not any(run.counts for run in self._runs.values()):
            raise InputError(f"no row of {self.source!r} can be used; see the messages above")
        return self._named()

    def _named(self) -> list[RunTally]:
        named: dict[str, RunTally] = {}
        unnamed = name_of_unnamed(self._runs, self.default_run)
        for name, run in self._runs.items():
            run.name = unnamed if name == UNNAMED else name
            if run.name in named:
                named[run.name].add(run)
            else:
                named[run.name] = run
        return list(named.values())


def note_place(
    notes: Notes, place: Place, run: str, problem: str, sample: int | None, row: int, file: str
) -> None:
    """Note that a completion repeats another, or is not the sample that its row says."""
    where = f"row {row} of {file!r}"
    if place.repeats:
        kind, said = (
            "repeats a row",
            lambda: (
                f"{where} repeats sample {place.number} of problem {problem!r} to the letter; "
                "counted once"
            ),
        )
    else:
        kind, said = (
            "a further sample",
            lambda: (
                f"{where} holds problem {problem!r} of run {run!r} again, with another text; "
                f"counted as sample {place.number}"
            ),
        )
    notes.add(kind, said, run, sample is None)
