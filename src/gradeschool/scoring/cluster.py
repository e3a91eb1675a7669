"""Scoring Parquet and JSON Lines files with Ray Data: tasks read and score, and return rows.

Uses a local Ray or the cluster at RAY_ADDRESS, whose machines need gradeschool too. A task returns
some bytes for each line or row of a file, never its text; they are counted here, in file order.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from gradeschool.errors import InputError, require_packages
from gradeschool.formats.read import SampleReader
from gradeschool.formats.tables import Row as FileRow
from gradeschool.formats.tables import parse_line
from gradeschool.ray_session import ray_session
from gradeschool.scoring.matching import Matcher, examined
from gradeschool.scoring.score import Relabelled, Row, score_batch
from gradeschool.scoring.sources import Source
from gradeschool.scoring.table import ScorerSet, choose_scorers

HEAD = 1024  # rows that show how a file is read
STORE_BYTES = 256 * 2**20  # for Ray's objects: rows without texts are small
PARQUET, LINES = ".parquet", ".jsonl"


class _Task:
    """Scores a block of rows; travels to the tasks."""

    def __init__(
        self, reader: SampleReader, matcher: Matcher, scorers: Sequence[str], labels: Relabelled
    ) -> None:
        self.reader = reader
        self.matcher = matcher
        self.scorers = tuple(scorers)
        self.labels = labels

    def __call__(self, block: Any) -> Any:
        """Return a table with the path and the scored rows, as JSON, of each row of a block."""
        import pyarrow as arrow

        paths = block.column("path").to_pylist()
        scorers = _scorer_set(self.scorers)
        scored = []
        for row in rows_of_block(block):
            samples = [self.matcher.match(sample) for sample in self.reader.read(row)]
            rows = score_batch(samples, scorers, self.labels)
            scored.append(json.dumps([_written(row) for row in rows]))
        return arrow.table({"path": paths, "rows": scored})


@lru_cache(1)
def _scorer_set(names: tuple[str, ...]) -> ScorerSet:
    """Return the scorers; each process of Ray makes them once."""
    return ScorerSet(choose_scorers(names))


def rows_of_block(block: Any) -> Iterator[FileRow]:
    """Yield the rows of a block of Ray Data: cells, or lines of JSON; their numbers are 0."""
    if block.column_names == ["text", "path"]:
        for line in block.column("text").to_pylist():
            fields, fault = parse_line(line.encode("utf-8", "surrogatepass"))
            yield FileRow(0, fields, fault)
        return
    for fields in block.drop_columns("path").to_pylist():
        yield FileRow(0, fields, "")


def _written(row: Row) -> list[Any]:
    return [value.decode("latin-1") if isinstance(value, bytes) else value for value in row]


def _read(values: list[Any], number: int) -> Row:
    row = Row(*values)
    outcomes, revised = (text.encode("latin-1") for text in (row.outcomes, row.revised))
    return row._replace(row=number, outcomes=outcomes, revised=revised)


def rows_on_ray(source: Source, scorers: ScorerSet, relabelled: Relabelled) -> Iterator[list[Row]]:
    """Yield the scored rows of a source in file order, a list for each block.

    Raises InputError for files of other formats or that cannot be read, MissingExtraError without
    ray, and GradeschoolError if Ray fails.
    """
    kinds = {Path(part).suffix for part in source.parts}
    if not (kinds == {PARQUET} or kinds == {LINES}):
        raise InputError(
            f"--engine ray reads Parquet and JSON Lines (.jsonl), not {source.name!r}; convert it "
            "or leave --engine out"
        )
    with ray_session(object_store_memory=STORE_BYTES) as ray:
        require_packages("--engine ray", "cluster", "pyarrow")
        context = ray.data.DataContext.get_current()
        context.execution_options.preserve_order = True
        context.enable_progress_bars = False
        logging.getLogger("ray.data").setLevel("ERROR")
        paths = [str(Path(part).absolute()) for part in source.parts]
        if kinds == {PARQUET}:
            rows = ray.data.read_parquet(paths, include_paths=True)
        else:
            rows = ray.data.read_text(paths, include_paths=True, drop_empty_lines=False)
        reader = SampleReader(Path(source.parts[0]), source.run, source.options)
        head = rows.take_batch(HEAD, batch_format="pyarrow")
        numbered = (row._replace(number=i) for i, row in enumerate(rows_of_block(head), start=1))
        reader.begin(numbered, examined(source.dataset, source.name, source.is_chosen))
        matcher = Matcher(source.dataset.problems, source.dataset.name)
        task = _Task(reader, matcher, scorers.names, relabelled)
        numbers: Counter[str] = Counter()
        scored = rows.map_batches(task, batch_format="pyarrow", batch_size=HEAD)
        for block in scored.iter_batches(batch_size=None, batch_format="pyarrow"):
            batch = []
            for path, text in zip(*(block.column(i).to_pylist() for i in (0, 1)), strict=True):
                numbers[path] += 1
                batch += [_read(values, numbers[path]) for values in json.loads(text)]
            yield batch
