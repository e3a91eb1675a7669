"""The core of `gradeschool score`: counts rows as they come into the scores of every run.

Memory grows with the problems and the outcomes of completions, not with the texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from gradeschool.formats.read import name_of_unnamed, nothing_in
from gradeschool.formats.samples import UNNAMED, ReadOptions
from gradeschool.percentages import count
from gradeschool.problem import several_golds
from gradeschool.scorer import Scorer
from gradeschool.scoring.samples import UNUSABLE, Notes, Repeats, Warn, note_place
from gradeschool.scoring.score import RunScore, score_noted
from gradeschool.scoring.shards import Shard, VerdictWriter, join_tables, verdict_table
from gradeschool.scoring.sources import (
    folder_notes,
    no_such_run,
    open_sources,
    parted,
    unnamed_run,
)
from gradeschool.scoring.stream import Part, processes, score_sources
from gradeschool.scoring.table import ScoredRow

SEVERAL_GOLDS = "gives another gold"
Key = tuple[str, bytes, bytes]  # a problem's id, the outcomes of all scorers, notes


@dataclass(slots=True)
class RunTally:
    """The completions of one run, counted by problem and outcomes; no outcomes: no text.

    n: counted rows, including unusable ones (`faults`). repeated: completions without a number that
    repeat another of their problem, which count if the run turns out to be sampled.
    """

    name: str
    n: int = 0
    faults: int = 0
    counts: Counter[Key] = field(default_factory=Counter)
    repeated: Counter[Key] = field(default_factory=Counter)

    def add(self, other: RunTally) -> None:
        """Add the counts of another tally."""
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
        self._golds: dict[str, str] = {}
        self._notes = Notes()

    def add(self, row: ScoredRow, file: str) -> None:
        """Count a completion; file: the file of its row."""
        run = self._runs.get(row.run)
        if run is None:
            run = self._runs[row.run] = RunTally(row.run)
        if row.problem is None:
            run.n += 1
            run.faults += 1
            self._notes.add(UNUSABLE, lambda: f"row {row.row} of {file!r} {row.error}")
            return
        if (gold := self._golds.setdefault(row.problem, row.gold)) != row.gold:
            self._notes.add(SEVERAL_GOLDS, lambda: (
                f"row {row.row} of {file!r} gives the gold {row.gold!r} to a problem that an "
                f"earlier row gives {gold!r}"
            ))  # fmt: skip
        place = self._repeats.place(row.run, row.problem, row.sample, row.digest)
        if place.repeats or place.number != max(row.sample, 0):
            note_place(self._notes, place, row.run, row.problem, row.sample, row.row, file)
        if not place.repeats:
            run.n += 1
            key = row.problem, row.outcomes, row.notes
            run.counts[key] = run.counts.get(key, 0) + 1  # twice as fast as Counter's own
        elif row.sample < 0:
            run.repeated[row.problem, row.outcomes, row.notes] += 1

    def runs(self, warn: Warn) -> list[RunTally]:
        """Return the runs in the order of the file, after its last row.

        Messages about rows are passed to `warn`. Raises InputError if no row is usable.
        """
        if not any(run.counts for run in self._runs.values()):
            raise self._notes.only_fault(self.source)
        sampled = self._repeats.sampled_runs()
        self._notes.tell(warn, sampled)
        self._repeats.tell_copies(warn, self.source)
        for name in sampled:
            run = self._runs[name]
            run.counts.update(run.repeated)
            run.n += run.repeated.total()
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


class RunOrigin(NamedTuple):
    """The origin of a run: the argument that the user gave, and the run's name in it."""

    source: str
    run: str


@dataclass(slots=True)
class Totals:
    """The scores of runs under distinct names, the origin of each, and the unusable rows."""

    scores: list[RunScore] = field(default_factory=list)
    origins: dict[str, RunOrigin] = field(default_factory=dict)
    faults: int = 0

    def add(self, tally: FileTally, scorers: Sequence[str], warn: Warn) -> None:
        """Add the runs of a source; see `FileTally.runs`."""
        runs = tally.runs(warn)
        folder_notes(Path(parted(tally.source)[0]), sum(run.n - run.faults for run in runs), warn)
        for run in runs:
            name = f"{run.name} ({tally.source})" if run.name in self.origins else run.name
            self.origins[name] = RunOrigin(tally.source, run.name)
            self.faults += run.faults
            self.scores.append(score_noted(name, run.n, run.counts, scorers))


def total(
    parts: Iterable[Part],
    scorers: Sequence[str],
    default_run: Callable[[str], str],
    warn: Warn,
    expected: Sequence[str] = (),
) -> Totals:
    """Count parts, which come source by source.

    default_run: the run of a source's rows that name none. Raises InputError if no row of a source
    is usable, or an expected source has no rows.
    """
    totals = Totals()
    tally: FileTally | None = None
    for place, rows in parts:
        if tally is None or tally.source != place.source:
            if tally is not None:
                totals.add(tally, scorers, warn)
            tally = FileTally(place.source, default_run(place.source))
        for row in rows:
            tally.add(row, place.file)
    if tally is not None:
        totals.add(tally, scorers, warn)
    counted = {origin.source for origin in totals.origins.values()}
    for source in expected:
        if source not in counted:
            raise nothing_in(Path(source))
    return totals


RAY = "ray"


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """What to score: the fields are the options of `gradeschool score`."""

    files: Sequence[str]
    reading: ReadOptions
    scorers: Sequence[Scorer]
    output: Path | None
    jobs: int
    engine: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the scorers."""
        return tuple(scorer.name for scorer in self.scorers)


def scored(options: ScoreOptions, warn: Warn) -> Totals:
    """Return the scores of every run, and write the table of verdicts if requested."""
    output = _table(options.output, options.names)
    runs, parts = _on_ray(options) if options.engine == RAY else _here(options, warn)
    with output as table:
        written = _written(_of_the_run(parts), table)
        return total(written, options.names, runs.__getitem__, warn, list(runs))


def _here(options: ScoreOptions, warn: Warn) -> tuple[dict[str, str], Iterator[Part]]:
    tables = open_sources(options.files, options.reading, warn)
    for dataset in {table.dataset.name: table.dataset for table in tables}.values():
        if text := several_golds(dataset.problems):
            warn(text)
    parts = score_sources(tables, options.scorers, processes(options.jobs))
    return {source.name: source.run for source in tables}, parts


def _on_ray(options: ScoreOptions) -> tuple[dict[str, str], Iterator[Part]]:
    from gradeschool.scoring.cluster import cluster_sources, score_on_ray

    tables = cluster_sources(options.files, options.reading)
    parts = score_on_ray(tables, options.scorers)
    return {source.name: source.run for source in tables}, parts


def score_shard(options: ScoreOptions, shard: str, warn: Warn) -> str:
    """Write the table of one shard, "I/N"; return a sentence that reports it."""
    part = Shard.parse(shard)
    output = _table(options.output, options.names)
    tables = open_sources(options.files, options.reading, warn)
    completions = 0
    with output as table:
        parts = score_sources(tables, options.scorers, processes(options.jobs), part)
        for _, rows in _written(_of_the_run(parts, whole=False), table):
            completions += len(rows)
    return (
        f"shard {part}: {count(completions, 'completion')} in {str(options.output)!r}; "
        f"when all {part.count} are there: gradeschool score --merge TABLES"
    )


def merged(tables: Sequence[Path], output: Path | None, warn: Warn) -> Totals:
    """Return the scores from the tables of all shards, and write them as one table."""
    scorers, rows = join_tables(tables)
    with _table(output, scorers) as table:
        parts = (
            Part(place, [row for _, row in group])
            for place, group in groupby(rows, key=lambda row: row[0]._replace(shard=""))
        )
        return total(_written(parts, table), scorers, unnamed_run, warn)


def _of_the_run(parts: Iterable[Part], whole: bool = True) -> Iterator[Part]:
    """Yield the rows of the selected run of FILE#RUN, and those that name no run.

    Raises InputError if a file contains no such run, unless only part of its rows is read (not
    whole).
    """
    for name, group in groupby(parts, key=lambda part: part.place.source):
        file, only = parted(name)
        names: dict[str, None] = {}
        for place, rows in group:
            if only:
                names.update(dict.fromkeys(row.run for row in rows))
                rows = [row for row in rows if row.run in (only, UNNAMED)]
            yield Part(place, rows)
        if only and whole and only not in names:
            raise no_such_run(file, only, names)


def _table(
    path: Path | None, scorers: Sequence[str]
) -> AbstractContextManager[VerdictWriter | None]:
    return verdict_table(path, scorers) if path else nullcontext()


def _written(parts: Iterable[Part], table: VerdictWriter | None) -> Iterator[Part]:
    for part in parts:
        if table is not None:
            table.write(*part)
        yield part
