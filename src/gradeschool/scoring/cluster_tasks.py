"""What runs in Ray's tasks: stretches of Parquet files, read and judged a batch at a time.

A task answers with some bytes a completion and never with its text: tables of `Scored`, packed,
each with the number of its stretch, by which the driver puts them in the order of the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.datasets.load import Dataset
from gradeschool.errors import InputError
from gradeschool.formats.read import Reader, RowBatch
from gradeschool.formats.tables import BATCH_ROWS, Cells
from gradeschool.protocols.registry import get_scorer
from gradeschool.scoring.verdicts import Judge, Scored

STRETCH_ROWS = 32_768  # a task has about as many, or one row group where that has more
CHUNK_ROWS = 16_384  # completions that are packed together
FOOTERS_AT_ONCE = 16
STRETCH, LAST, PACKED = "stretch", "last", "packed"  # the columns that tasks answer with


class Stretch(NamedTuple):
    """Row groups of a file that one task reads; first: the number of their first row, from 1."""

    part: int
    path: str
    first: int
    groups: Sequence[int]


class Chunk(NamedTuple):
    """Packed completions of a stretch, the last of it or not; one stretch has one or more."""

    stretch: int
    last: bool
    packed: bytes


def stretches(parts: Sequence[str], size: int = STRETCH_ROWS) -> list[Stretch]:
    """Divide files into stretches of about `size` rows, in the order of the files.

    Reads the footers alone. Raises InputError for a file that is no Parquet file.
    """
    with ThreadPoolExecutor(FOOTERS_AT_ONCE) as pool:
        found = list(pool.map(_group_sizes, parts))
    return [
        Stretch(at, path, first, groups)
        for at, (path, sizes) in enumerate(zip(parts, found, strict=True))
        for first, groups in _divided(sizes, size)
    ]


def _group_sizes(path: str) -> list[int]:
    with opened(path) as file:
        metadata = file.metadata
        return [metadata.row_group(at).num_rows for at in range(metadata.num_row_groups)]


def _divided(sizes: Sequence[int], size: int) -> Iterator[tuple[int, list[int]]]:
    first, groups, rows = 1, list[int](), 0
    for at, more in enumerate(sizes):
        if groups and rows + more > size:
            yield first, groups
            first, groups, rows = first + rows, [], 0
        groups.append(at)
        rows += more
    if groups:
        yield first, groups


@contextmanager
def opened(path: str) -> Iterator[Any]:
    """Open a Parquet file at a path or address. Raises InputError, while it is read too."""
    import pyarrow as arrow
    from pyarrow import fs, parquet

    try:
        system, inside = fs.FileSystem.from_uri(path)
        # An address is read a row group at a time, a path a page at a time.
        with (
            system.open_input_file(inside) as stream,
            parquet.ParquetFile(stream, pre_buffer="://" in path) as file,
        ):
            yield file
    except (arrow.ArrowException, OSError) as error:
        raise InputError(f"{path!r} is not a readable Parquet file: {error}") from error


class OnRay:
    """Judges stretches of files; each of Ray's processes makes the scorers ready once."""

    def __init__(
        self, dataset: Dataset, scorers: tuple[str, ...], run: str, found: Sequence[Stretch]
    ) -> None:
        self.dataset = dataset
        self.scorers = scorers
        self.run = run
        self.stretches = found

    def __call__(self, numbers: Any) -> Iterator[Any]:
        """Yield tables of one `Chunk` a row for the stretches whose numbers are in a table."""
        import pyarrow as arrow

        for number in numbers.column(0).to_pylist():
            for last, scored in _with_last(self._chunks(self.stretches[number])):
                chunk = Chunk(number, last, packed(scored))
                columns = [arrow.array([value]) for value in chunk]
                yield arrow.table(columns, names=[STRETCH, LAST, PACKED])

    def _chunks(self, stretch: Stretch) -> Iterator[list[Scored]]:
        judge = _judge(self.dataset, self.scorers)
        scored: list[Scored] = []
        for batch in self._read(stretch):
            scored += judge.judge(batch.samples())
            if len(scored) >= CHUNK_ROWS:
                yield scored
                scored = []
        yield scored

    def _read(self, stretch: Stretch) -> Iterator[RowBatch]:
        reader = Reader(Path(stretch.path), self.run)
        with opened(stretch.path) as file:
            head = next(file.iter_batches(batch_size=1), None)
            if head is not None and (row := next(Cells([1], head).rows(), None)) is not None:
                reader.begin(row)
            rows = count(stretch.first)
            for batch in file.iter_batches(batch_size=BATCH_ROWS, row_groups=stretch.groups):
                numbers = [next(rows) for _ in range(batch.num_rows)]
                yield RowBatch(reader, Cells(numbers, batch))


def _with_last(chunks: Iterator[list[Scored]]) -> Iterator[tuple[bool, list[Scored]]]:
    """Yield each with whether it is the last; there is one at least."""
    before = next(chunks)
    for chunk in chunks:
        yield False, before
        before = chunk
    yield True, before


_ready: dict[tuple[str, str, tuple[str, ...]], Judge] = {}


def _judge(dataset: Dataset, scorers: tuple[str, ...]) -> Judge:
    key = dataset.name, dataset.sha256, scorers
    if key not in _ready:
        chosen = [get_scorer(name) for name in scorers]
        _ready[key] = Judge(dataset.problems, dataset.name, chosen)
    return _ready[key]


def packed(scored: Sequence[Scored]) -> bytes:
    """Return completions as a compressed Arrow stream, each word once."""
    import pyarrow as arrow
    from pyarrow import ipc

    kinds: Mapping[str, Any] = {
        "row": arrow.int64(),
        "sample": arrow.int64(),
        "digest": arrow.uint64(),
        "codes": arrow.binary(),
        "notes": arrow.binary(),
    }
    columns = list(zip(*scored, strict=True)) or [()] * len(Scored._fields)
    arrays = []
    for name, values in zip(Scored._fields, columns, strict=True):
        array = arrow.array(values, kinds.get(name, arrow.string()))
        is_word = array.type in (arrow.string(), arrow.binary())
        arrays.append(array.dictionary_encode() if is_word else array)
    batch = arrow.record_batch(arrays, names=list(Scored._fields))
    sink = arrow.BufferOutputStream()
    options = ipc.IpcWriteOptions(compression="lz4")
    with ipc.new_stream(sink, batch.schema, options=options) as stream:
        stream.write_batch(batch)
    whole: bytes = sink.getvalue().to_pybytes()
    return whole


def unpacked(whole: bytes) -> list[Scored]:
    """Return the completions that `packed` was given."""
    from pyarrow import ipc

    with ipc.open_stream(whole) as stream:
        batch = stream.read_next_batch()
    columns = [_values(column) for column in batch.columns]
    return [Scored._make(values) for values in zip(*columns, strict=True)]


def _values(column: Any) -> list[Any]:
    import pyarrow as arrow

    if not arrow.types.is_dictionary(column.type):
        plain: list[Any] = column.to_pylist()
        return plain
    words = [*column.dictionary.to_pylist(), None]
    return [words[place] for place in column.indices.fill_null(-1).to_numpy().tolist()]
