"""Scoring in a stream: the same scores in batches, processes, shards and tables as all at once."""

import os
import tracemalloc
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from gradeschool.datasets.load import Dataset
from gradeschool.errors import GradeschoolError, InputError
from gradeschool.formats.samples import ReadOptions
from gradeschool.formats.tables import TableBatch, every_row, read_batches, read_rows
from gradeschool.problem import Problem
from gradeschool.scoring import stream
from gradeschool.scoring.samples import Repeats
from gradeschool.scoring.shards import Shard
from gradeschool.scoring.sources import Source, choose_scorers, open_sources
from gradeschool.scoring.stream import processes, score_sources
from gradeschool.scoring.totals import Totals, total
from tests.support.real_rows import NAMES, jsonl, real_rows

PROBLEMS = tuple(
    Problem.from_row(str(index), f"Question {index}?", f"So it is\n#### {index}")
    for index in range(6)
)
NUMBERS = Dataset("numbers", PROBLEMS, "")
SCORERS = choose_scorers(NAMES)


def source(path: Path, dataset: Dataset = NUMBERS) -> Source:
    return Source(str(path), (path,), path.stem, dataset)


def scores(tables: Sequence[Source], jobs: int = 1) -> tuple[Totals, list[str]]:
    notes: list[str] = []
    parts = score_sources(tables, SCORERS, jobs)
    runs = {table.name: table.run for table in tables}
    return total(parts, NAMES, runs.__getitem__, notes.append), notes


# What repeats


def naive_places(rows: Iterable[tuple[int | None, int]]) -> list[tuple[int, bool]]:
    """Number samples of one problem by trying one number after the other."""
    digests: dict[int, int] = {}
    places = []
    for sample, text in rows:
        number = sample or 0
        while number in digests and digests[number] != text:
            number += 1
        places.append((number, number in digests))
        digests[number] = text
    return places


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.integers(-3, 6), st.sampled_from([1500, 1501, 10**12])),
            st.integers(1, 6),
        ),
        max_size=60,
    )
)
def test_places_are_those_of_trying_each_number(rows: list[tuple[int | None, int]]) -> None:
    """Eight bytes a sample give what a dictionary of texts gives."""
    repeats = Repeats()
    places = [tuple(repeats.place("r", "0", sample, text)) for sample, text in rows]
    assert places == naive_places(rows)


def test_a_hundred_thousand_samples_in_linear_time() -> None:
    """All with the number 0 and with texts that differ: no 5 billion comparisons."""
    repeats = Repeats()
    last = [repeats.place("r", "0", 0, text) for text in range(1, 100_001)][-1]
    assert last == (99_999, False)
    assert repeats.place("r", "0", None, 500) == (499, True)


# Batches


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([b"{}", b'{"a": 1}', b"", b" ", b"not", b"[1]"]), max_size=30),
    st.integers(1, 5),
)
def test_every_row_is_in_one_shard(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], count: int
) -> None:
    """The shards of a file are its rows, each once, whatever the file is."""
    path = tmp_path_factory.mktemp("rows") / "a.jsonl"
    path.write_bytes(b"\n".join(lines))

    def rows(batches: Iterable[TableBatch]) -> list[tuple[int, str]]:
        return [(row.number, row.fault) for batch in batches for row in batch.rows()]

    whole = rows(read_batches(path, every_row))
    parts = [
        rows(read_batches(path, Shard(index, count).selects(3))) for index in range(1, count + 1)
    ]
    assert sorted(row for part in parts for row in part) == whole
    assert whole == [(row.number, row.fault) for row in read_rows(path)]


def test_parquet_cells_of_every_kind(tmp_path: Path) -> None:
    """Strings, dictionaries, numbers, lists and nulls come as pyarrow's own values."""
    words = arrow.array(["a", None, "é"])
    table = arrow.table(
        {
            "plain": words,
            "large": words.cast(arrow.large_string()),
            "coded": words.dictionary_encode(),
            "number": arrow.array([1, None, 3]),
            "list": arrow.array([["a"], None, []]),
        }
    )
    for codec in ("none", "snappy", "zstd", "gzip"):
        path = tmp_path / f"{codec}.parquet"
        parquet.write_table(table, path, compression=codec)
        rows = list(read_rows(path))
        assert [row.fields for row in rows] == table.to_pylist()
        assert [row.number for row in rows] == [1, 2, 3]


def test_a_column_that_is_no_utf8(tmp_path: Path) -> None:
    """A damaged string is an error with its file's column, no traceback; from a process too."""
    broken = arrow.array([b"\xff"]).cast(arrow.binary()).view(arrow.string())
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({"index": [1], "completion": broken}), path)
    for jobs in (1, 2):
        with pytest.raises(InputError, match="not a readable Parquet file: In column 1"):
            scores([source(path)], jobs)


# Processes, shards and tables, on real completions


@pytest.fixture(scope="module")
def real(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two thousand real completions of several runs, with faults, repeats and further samples."""
    return jsonl(tmp_path_factory.mktemp("real") / "real.jsonl", real_rows(data))


@pytest.fixture(scope="module")
def plain_table(real: Path) -> tuple[Totals, list[str]]:
    """The scores of one process, and its messages."""
    return scores(open_sources([str(real)], ReadOptions(), print))


def test_two_processes_give_the_same(real: Path, plain_table: tuple[Totals, list[str]]) -> None:
    """The same runs, totals, intervals and messages, in the same order."""
    assert scores(open_sources([str(real)], ReadOptions(), print), jobs=2) == plain_table
    assert len(plain_table[1]) == 4


def test_parquet_in_gives_the_same(
    real: Path, tmp_path: Path, plain_table: tuple[Totals, list[str]]
) -> None:
    """One file of small row groups, and several files that are one table."""
    rows = [row.fields for row in read_rows(real)]
    names = ("model", "index", "sample", "completion")
    cells: list[dict[str, Any]] = [{name: row.get(name) for name in names} for row in rows]
    for row in cells:
        row["completion"] = row["completion"].replace("\ud800", "_")
    table = arrow.Table.from_pylist(cells)
    folder = tmp_path / "real"
    folder.mkdir()
    parquet.write_table(table, tmp_path / "real.parquet", row_group_size=100, compression="zstd")
    for index, start in enumerate(range(0, len(rows), 500)):
        parquet.write_table(table.slice(start, 500), folder / f"{index}.parquet")
    expected = plain_table[0].scores
    for name in ("real.parquet", "real", "real/*.parquet"):
        totals, notes = scores(open_sources([str(tmp_path / name)], ReadOptions(), print))
        assert totals.scores == expected, name
        assert len(notes) == 4


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    rows = [{"index": index, "completion": f"#### {index}"} for index in range(9)]
    return jsonl(tmp_path / "answers.jsonl", rows)


def die(*_: object) -> None:
    """End a process as the system does where memory is short."""
    os._exit(9)


def test_a_process_that_dies(answers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One error that says so, and no hanging."""
    monkeypatch.setattr(stream, "_scored_columns", die)
    with pytest.raises(GradeschoolError, match="one of the 2 scoring processes died"):
        scores([source(answers)], jobs=2)


def test_a_system_without_semaphores_is_told_to_use_one_process(
    answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container whose /dev/shm may not be written."""

    def refuse(*options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", refuse)
    with pytest.raises(GradeschoolError, match=r"cannot start 2 processes: .*; give --jobs 1"):
        scores([source(answers)], jobs=2)


def test_zero_jobs_are_the_cores() -> None:
    """As many as this process may use."""
    assert processes(3) == 3
    assert 1 <= processes(0) <= (os.cpu_count() or 1)


# Memory


@settings(deadline=None)
def peak(path: Path, jobs: int = 1) -> int:
    """Return the most bytes that Python held while a file was scored."""
    tracemalloc.start()
    try:
        scores([source(path)], jobs)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_memory_is_flat(tmp_path: Path, ending: str) -> None:
    """Five times the rows take a few bytes more each, not their text (500 on average)."""

    def table_of(count: int) -> Path:
        rows = [
            {
                "index": index % 6,
                "sample": index // 6,
                "completion": f"{'x' * (index % 999)}\n#### 1",
            }
            for index in range(count)
        ]
        path = tmp_path / f"{count}.{ending}"
        if ending == "jsonl":
            return jsonl(path, rows)
        parquet.write_table(arrow.Table.from_pylist(rows), path)
        return path

    small, large = 3000, 15_000
    files = table_of(small), table_of(large)
    peak(files[0])  # what is made once
    assert peak(files[1]) - peak(files[0]) < 40 * (large - small)
