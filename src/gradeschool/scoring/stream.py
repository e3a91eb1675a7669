"""Scores files of any length in batches, in this process or in several, without storing texts."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import count, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from gradeschool.answers.regions import form_of
from gradeschool.datasets.load import Dataset
from gradeschool.datasets.platinum import disputed
from gradeschool.errors import GradeschoolError
from gradeschool.formats.read import SampleBatch
from gradeschool.formats.samples import Sample
from gradeschool.formats.tables import every_row
from gradeschool.machine import cores
from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_scorer
from gradeschool.scorer import Scorer
from gradeschool.scoring.forms import notes_of
from gradeschool.scoring.matching import Matcher
from gradeschool.scoring.samples import digest
from gradeschool.scoring.shards import FilePlace, Shard
from gradeschool.scoring.sources import Source
from gradeschool.scoring.table import BATCH, ScoredRow, ScorerSet
from gradeschool.signals import ignore_interrupts

if TYPE_CHECKING:
    from concurrent.futures import Future

AHEAD = 2  # batches for each other process: one being scored, one waiting
MOST_WAITING = 16  # batches for each process that are scored and wait for an earlier one


class FileScorer:
    """Scorers and a dataset, ready for the samples of files."""

    def __init__(
        self, problems: Sequence[Problem], dataset: str, scorers: Sequence[Scorer]
    ) -> None:
        self.matcher = Matcher(problems, dataset)
        self.scorers = ScorerSet(scorers)
        self.disputed = disputed(problems)

    def score(self, samples: Iterable[Sample]) -> list[ScoredRow]:
        """Return a row for each sample, in their order."""
        rows: list[ScoredRow] = []
        matched = map(self.matcher.match, samples)
        while batch := list(islice(matched, BATCH)):
            outcomes = iter(
                self.scorers.outcomes_of(
                    [
                        (sample.text, sample.problem)
                        for sample in batch
                        if sample.problem is not None and not sample.error
                    ]
                )
            )
            rows += [
                ScoredRow(
                    sample.row, sample.run, None, "", sample.sample, sample.finish, 1, sample.fault
                )
                if sample.problem is None
                else self._row(sample, sample.problem, b"" if sample.error else next(outcomes))
                for sample in batch
            ]
        return rows

    def _row(self, sample: Sample, problem: Problem, outcomes: bytes) -> ScoredRow:
        text, error = sample.text, sample.error
        form = None if error else form_of(text, sample.finish, problem.question)
        relabelled = self._relabelled(text, problem) if problem.id in self.disputed else b""
        return ScoredRow(
            sample.row,
            sample.run,
            problem.id,
            problem.gold,
            sample.sample,
            sample.finish,
            digest(text),
            error,
            outcomes,
            notes_of(form, relabelled),
        )

    def _relabelled(self, text: str, problem: Problem) -> bytes | None:
        """Return the outcomes under the gold of GSM8K-Platinum, None if it removed the problem."""
        revised = self.disputed[problem.id]
        if revised is None:
            return None
        return self.scorers.outcomes(text, replace(revised, id=f"{revised.id} revised"))


class Part(NamedTuple):
    """Some scored rows of a file, in order."""

    place: FilePlace
    rows: Sequence[ScoredRow]


class _Task(NamedTuple):
    place: FilePlace
    dataset: str
    batch: SampleBatch


def score_sources(
    sources: Sequence[Source], scorers: Sequence[Scorer], jobs: int = 1, shard: Shard | None = None
) -> Iterator[Part]:
    """Yield a scored row for every sample, in the order of the files.

    jobs: processes; the parts do not depend on their number. shard: score only its rows. Raises
    InputError if a file cannot be read, GradeschoolError if a process dies.
    """
    datasets = {source.dataset.name: source.dataset for source in sources}
    with closing(_tasks(sources, shard)) as tasks:
        if jobs > 1:
            yield from _by_processes(tasks, scorers, datasets, jobs)
            return
        file_scorers = _FileScorers(datasets, scorers)
        for task in tasks:
            yield Part(task.place, file_scorers.of(task.dataset).score(task.batch.samples()))


def processes(jobs: int) -> int:
    """Return the number of processes for `--jobs`: 0 means one for each core."""
    return jobs or cores()


def _tasks(sources: Sequence[Source], shard: Shard | None) -> Generator[_Task, None, None]:
    numbers = count(1)
    for source in sources:
        for path in source.parts:
            number = next(numbers)
            selected = shard.selects(number) if shard else every_row
            place = FilePlace(str(shard) if shard else "", source.name, str(path), number)
            for batch in source.read(path, selected):
                yield _Task(place, source.dataset.name, batch)


class _FileScorers:
    """A `FileScorer` for each dataset, created when it is first needed."""

    def __init__(self, datasets: Mapping[str, Dataset], scorers: Sequence[Scorer]) -> None:
        self._datasets = datasets
        self._scorers = scorers
        self._of_dataset: dict[str, FileScorer] = {}

    def of(self, name: str) -> FileScorer:
        if name not in self._of_dataset:
            dataset = self._datasets[name]
            self._of_dataset[name] = FileScorer(dataset.problems, dataset.name, self._scorers)
        return self._of_dataset[name]


def _by_processes(
    tasks: Iterator[_Task], scorers: Sequence[Scorer], datasets: Mapping[str, Dataset], jobs: int
) -> Iterator[Part]:
    """Score in `jobs - 1` processes, and here when these are busy: they start late."""
    # 40 ms, which a single process saves
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    names, others = [scorer.name for scorer in scorers], jobs - 1
    here = _FileScorers(datasets, scorers)
    try:
        pool = ProcessPoolExecutor(others, get_context("spawn"), _initialize, (names, datasets))
    except (OSError, ImportError) as error:  # some containers have no /dev/shm for semaphores
        raise GradeschoolError(f"cannot start {jobs} processes: {error}; give --jobs 1") from error
    waiting: deque[_Scored] = deque()
    try:
        for place, dataset, batch in tasks:
            busy = sum(not scored.is_ready() for scored in waiting)
            if busy < AHEAD * others:
                future = pool.submit(_scored_columns, dataset, batch)
                waiting.append(_Scored(place, future=future))
            else:
                waiting.append(_Scored(place, here.of(dataset).score(batch.samples())))
            while waiting and (waiting[0].is_ready() or len(waiting) > MOST_WAITING * jobs):
                yield waiting.popleft().part()
        while waiting:
            yield waiting.popleft().part()
    except BrokenProcessPool as error:
        raise GradeschoolError(
            f"one of the {jobs} scoring processes died, perhaps because it ran out of memory; "
            "give fewer --jobs, or score a --shard at a time"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


class _Scored(NamedTuple):
    """A batch that is scored, or that another process is scoring."""

    place: FilePlace
    rows: Sequence[ScoredRow] = ()
    future: Future[_Columns] | None = None

    def is_ready(self) -> bool:
        return self.future is None or self.future.done()

    def part(self) -> Part:
        """Return the rows; waits for those of another process."""
        if self.future is None:
            return Part(self.place, self.rows)
        columns = self.future.result()
        return Part(self.place, [ScoredRow._make(row) for row in zip(*columns, strict=True)])


# Rows as columns: a tenth of the cost of a thousand tuples when sent between processes.
_Columns = list[tuple[Any, ...]]
_file_scorers: _FileScorers


def _initialize(scorers: Sequence[str], datasets: Mapping[str, Dataset]) -> None:
    """Prepare a process; on Ctrl-C, its parent stops it."""
    global _file_scorers
    ignore_interrupts()
    _file_scorers = _FileScorers(datasets, [get_scorer(name) for name in scorers])


def _scored_columns(dataset: str, batch: SampleBatch) -> _Columns:
    return list(zip(*_file_scorers.of(dataset).score(batch.samples()), strict=True))
