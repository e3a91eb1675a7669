"""Scoring files of any length: read a batch, score it, forget it; in this process or in several."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from itertools import count
from multiprocessing import get_context
from typing import Any, NamedTuple

from gradeschool.datasets.load import Dataset
from gradeschool.errors import GradeschoolError
from gradeschool.formats.read import SampleBatch, sample_batches
from gradeschool.formats.tables import everything
from gradeschool.protocols.registry import get_scorer
from gradeschool.scorer import Scorer
from gradeschool.scoring.shards import Shard
from gradeschool.scoring.sources import Source
from gradeschool.scoring.table import Place
from gradeschool.scoring.verdicts import Judge, Scored
from gradeschool.signals import ignore_interrupts

AHEAD = 3  # batches that wait for each process: reading goes on while it works


class Part(NamedTuple):
    """Some completions of a file, in order."""

    place: Place
    scored: Sequence[Scored]


class _Task(NamedTuple):
    place: Place
    dataset: str
    batch: SampleBatch


def score_sources(
    sources: Sequence[Source], scorers: Sequence[Scorer], jobs: int = 1, shard: Shard | None = None
) -> Iterator[Part]:
    """Yield what the scorers make of every completion, in the order of the files.

    jobs: processes; the parts are the same whatever their number. shard: score its rows alone.
    Raises InputError where a file cannot be read, GradeschoolError where a process dies.
    """
    datasets = {source.dataset.name: source.dataset for source in sources}
    with closing(_tasks(sources, shard)) as tasks:
        if jobs > 1:
            yield from _by_processes(tasks, scorers, datasets, jobs)
            return
        judges = _Judges(datasets, scorers)
        for task in tasks:
            scored = judges.of(task.dataset).judge(task.batch.samples())
            yield Part(task.place, scored)


def processes(jobs: int) -> int:
    """Return the number of processes that `--jobs` asks for: 0 is as many as there are cores."""
    if jobs:
        return jobs
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def _tasks(sources: Sequence[Source], shard: Shard | None) -> Generator[_Task, None, None]:
    numbers = count(1)
    for source in sources:
        for path in source.parts:
            number = next(numbers)
            wanted = shard.wanted(number) if shard else everything
            place = Place(str(shard) if shard else "", source.name, str(path), number)
            for batch in sample_batches(path, wanted, source.run):
                yield _Task(place, source.dataset.name, batch)


class _Judges:
    """A judge for each dataset, made when it is first needed."""

    def __init__(self, datasets: Mapping[str, Dataset], scorers: Sequence[Scorer]) -> None:
        self._datasets = datasets
        self._scorers = scorers
        self._judges: dict[str, Judge] = {}

    def of(self, dataset: str) -> Judge:
        if dataset not in self._judges:
            found = self._datasets[dataset]
            self._judges[dataset] = Judge(found.problems, found.name, self._scorers)
        return self._judges[dataset]


def _by_processes(
    tasks: Iterator[_Task], scorers: Sequence[Scorer], datasets: Mapping[str, Dataset], jobs: int
) -> Iterator[Part]:
    names = [scorer.name for scorer in scorers]
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), _begin, (names, datasets))
    waiting: deque[tuple[_Task, Future[_Columns]]] = deque()
    try:
        for task in tasks:
            waiting.append((task, pool.submit(_judged, task.dataset, task.batch)))
            if len(waiting) > AHEAD * jobs:
                yield _part(*waiting.popleft())
        while waiting:
            yield _part(*waiting.popleft())
    except BrokenProcessPool as error:
        raise GradeschoolError(
            f"one of the {jobs} processes that score died, perhaps for want of memory; "
            "give fewer --jobs, or score a --shard at a time"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


# Completions field by field: a tenth of the cost of a thousand tuples on the way between processes.
_Columns = list[tuple[Any, ...]]
_judges: _Judges


def _begin(scorers: Sequence[str], datasets: Mapping[str, Dataset]) -> None:
    """Make a process ready; Ctrl-C is for its parent, which stops it."""
    global _judges
    ignore_interrupts()
    _judges = _Judges(datasets, [get_scorer(name) for name in scorers])


def _judged(dataset: str, batch: SampleBatch) -> _Columns:
    return list(zip(*_judges.of(dataset).judge(batch.samples()), strict=True))


def _part(task: _Task, future: Future[_Columns]) -> Part:
    scored = [Scored._make(values) for values in zip(*future.result(), strict=True)]
    return Part(task.place, scored)
