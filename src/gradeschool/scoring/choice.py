"""The ways to score files: here or on a cluster, all rows or a shard, with or without a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from gradeschool.formats.samples import UNNAMED
from gradeschool.scorer import Scorer
from gradeschool.scoring.matrix import Matrix
from gradeschool.scoring.notes import Warn
from gradeschool.scoring.score import Columns
from gradeschool.scoring.shards import Shard, join
from gradeschool.scoring.sources import no_such_run, parted, run_of, sources
from gradeschool.scoring.stream import Part, processes, score_sources
from gradeschool.scoring.table import Table, Writer
from gradeschool.scoring.totals import Totals, total

RAY = "ray"


@dataclass(frozen=True, slots=True)
class Work:
    """What to score: the fields are the options of `gradeschool score`."""

    files: Sequence[str]
    dataset: str | None
    scorers: Sequence[Scorer]
    output: Path | None
    jobs: int
    engine: str

    def columns(self) -> Columns:
        """Return where each scorer's outcome stands."""
        return Columns(tuple(scorer.name for scorer in self.scorers), Matrix(self.scorers).group_of)


def scored(work: Work, warn: Warn) -> Totals:
    """Return the scores of every run, and write the table of verdicts where one is wanted."""
    columns = work.columns()
    output = _table(work.output, columns)
    runs, parts = _on_ray(work) if work.engine == RAY else _here(work)
    with output as table:
        written = _written(_of_the_run(parts), table)
        return total(written, columns, runs.__getitem__, warn, list(runs))


def _here(work: Work) -> tuple[dict[str, str], Iterator[Part]]:
    found = sources(work.files, work.dataset)
    parts = score_sources(found, work.scorers, processes(work.jobs))
    return {source.name: source.run for source in found}, parts


def _on_ray(work: Work) -> tuple[dict[str, str], Iterator[Part]]:
    from gradeschool.scoring.cluster import cluster_sources, score_on_ray

    found = cluster_sources(work.files, work.dataset)
    parts = score_on_ray(found, work.scorers)
    return {source.name: source.run for source in found}, parts


def score_shard(work: Work, shard: str) -> str:
    """Write the table of one shard, "I/N"; return a sentence that says so."""
    part = Shard.parse(shard)
    output = _table(work.output, work.columns())
    found = sources(work.files, work.dataset)
    rows = 0
    with output as table:
        parts = score_sources(found, work.scorers, processes(work.jobs), part)
        for _, scored in _written(_of_the_run(parts, whole=False), table):
            rows += len(scored)
    counted = "1 completion" if rows == 1 else f"{rows} completions"
    return (
        f"shard {part}: {counted} in {str(work.output)!r}; "
        f"when all {part.count} are there: gradeschool score --merge TABLES"
    )


def merged(tables: Sequence[Path], output: Path | None, warn: Warn) -> Totals:
    """Return the scores that the tables of all shards come to, and write them as one table."""
    columns, rows = join(tables)
    with _table(output, columns) as table:
        parts = (
            Part(place, [scored for _, scored in group])
            for place, group in groupby(rows, key=lambda row: row[0]._replace(shard=""))
        )
        return total(_written(parts, table), columns, run_of, warn)


def _of_the_run(parts: Iterable[Part], whole: bool = True) -> Iterator[Part]:
    """Yield of FILE#RUN the rows of that run alone, and those that do not tell theirs.

    Raises InputError where a file holds no such run; a part of its rows (not whole) need not.
    """
    for name, group in groupby(parts, key=lambda part: part.place.source):
        file, only = parted(name)
        held: dict[str, None] = {}
        for place, scored in group:
            if only:
                held.update(dict.fromkeys(one.run for one in scored))
                scored = [one for one in scored if one.run in (only, UNNAMED)]
            yield Part(place, scored)
        if only and whole and only not in held:
            raise no_such_run(file, only, held)


def _table(path: Path | None, columns: Columns) -> Table | nullcontext[None]:
    return Table(path, columns) if path else nullcontext()


def _written(parts: Iterable[Part], table: Writer | None) -> Iterator[Part]:
    for part in parts:
        if table is not None:
            table.write(*part)
        yield part
