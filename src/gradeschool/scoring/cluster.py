"""Scoring Parquet files on Ray Data: read and scored in Ray's tasks, counted here in file order.

The same code as for files on one machine decides which rows count, repeat others or are unusable,
so that the scores are the same. Uses a local Ray or the cluster at RAY_ADDRESS, whose machines need
gradeschool too. A task returns some bytes for each completion, never its text: packed chunks of
scored rows, each with the number of its row range, by which they are put in file order.
"""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.datasets.load import Dataset, load_dataset
from gradeschool.errors import InputError, require_packages
from gradeschool.formats.read import RowBatch, SampleReader
from gradeschool.formats.samples import ReadOptions
from gradeschool.formats.tables import BATCH_ROWS, CellBatch
from gradeschool.protocols.registry import get_scorer
from gradeschool.ray_session import ray_session
from gradeschool.scorer import Scorer
from gradeschool.scoring.matching import examined
from gradeschool.scoring.shards import FilePlace
from gradeschool.scoring.sources import DEFAULT_DATASET, open_sources
from gradeschool.scoring.stream import FileScorer, Part
from gradeschool.scoring.table import ScoredRow

RANGE_ROWS = 32_768  # rows of a task, about; or one row group if it has more
CHUNK_ROWS = 16_384  # completions packed together
FOOTERS_AT_ONCE = 16


class RowGroupRange(NamedTuple):
    """Row groups of a file that one task reads; first: the number of their first row, from 1."""

    part: int
    path: str
    first: int
    groups: Sequence[int]


class Chunk(NamedTuple):
    """Packed completions of a row range, and whether they are its last; each range has some."""

    row_range: int
    last: bool
    packed: bytes


def row_ranges(parts: Sequence[str], size: int = RANGE_ROWS) -> list[RowGroupRange]:
    """Divide files into row ranges of about `size` rows, in the order of the files.

    Reads only the footers. Raises InputError for a file that is not a Parquet file.
    """
    with ThreadPoolExecutor(FOOTERS_AT_ONCE) as pool:
        group_sizes = list(pool.map(_group_sizes, parts))
    return [
        RowGroupRange(number, path, first, groups)
        for number, (path, sizes) in enumerate(zip(parts, group_sizes, strict=True))
        for first, groups in _divided(sizes, size)
    ]


def _group_sizes(path: str) -> list[int]:
    with opened(path) as file:
        metadata = file.metadata
        return [metadata.row_group(index).num_rows for index in range(metadata.num_row_groups)]


def _divided(sizes: Sequence[int], size: int) -> Iterator[tuple[int, list[int]]]:
    first, groups, rows = 1, list[int](), 0
    for index, more in enumerate(sizes):
        if groups and rows + more > size:
            yield first, groups
            first, groups, rows = first + rows, [], 0
        groups.append(index)
        rows += more
    if groups:
        yield first, groups


@contextmanager
def opened(path: str) -> Iterator[Any]:
    """Open a Parquet file at a path or address. Raises InputError, also while it is read."""
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
    """Scores row ranges of files; each Ray process creates the scorers once."""

    def __init__(
        self,
        dataset: Dataset,
        scorers: tuple[str, ...],
        run: str,
        ranges: Sequence[RowGroupRange],
        options: ReadOptions,
    ) -> None:
        self.dataset = dataset
        self.scorers = scorers
        self.run = run
        self.ranges = ranges
        self.options = options

    def __call__(self, numbers: Any) -> Iterator[Any]:
        """Yield tables of one `Chunk` per row for the row ranges whose numbers are in a table."""
        import pyarrow as arrow

        for number in numbers.column(0).to_pylist():
            for last, rows in _with_last(self._chunks(self.ranges[number])):
                chunk = Chunk(number, last, packed(rows))
                yield arrow.Table.from_pylist([chunk._asdict()])

    def _chunks(self, row_range: RowGroupRange) -> Iterator[list[ScoredRow]]:
        scorer = _file_scorer(self.dataset, self.scorers)
        rows: list[ScoredRow] = []
        for batch in self._read(row_range):
            rows += scorer.score(batch.samples())
            if len(rows) >= CHUNK_ROWS:
                yield rows
                rows = []
        yield rows

    def _read(self, row_range: RowGroupRange) -> Iterator[RowBatch]:
        reader = SampleReader(Path(row_range.path), self.run, self.options)
        with opened(row_range.path) as file:
            head = next(file.iter_batches(batch_size=BATCH_ROWS), None)
            if head is not None:
                first = CellBatch(range(1, 1 + head.num_rows), head)
                reader.begin(first.rows(), examined(self.dataset, row_range.path))
            rows = count(row_range.first)
            for batch in file.iter_batches(batch_size=BATCH_ROWS, row_groups=row_range.groups):
                numbers = [next(rows) for _ in range(batch.num_rows)]
                yield RowBatch(reader, CellBatch(numbers, batch))


def _with_last(chunks: Iterator[list[ScoredRow]]) -> Iterator[tuple[bool, list[ScoredRow]]]:
    """Yield each item with whether it is the last; there is at least one."""
    before = next(chunks)
    for chunk in chunks:
        yield False, before
        before = chunk
    yield True, before


_ready: dict[tuple[str, str, tuple[str, ...]], FileScorer] = {}


def _file_scorer(dataset: Dataset, scorers: tuple[str, ...]) -> FileScorer:
    key = dataset.name, dataset.sha256, scorers
    if key not in _ready:
        chosen = [get_scorer(name) for name in scorers]
        _ready[key] = FileScorer(dataset.problems, dataset.name, chosen)
    return _ready[key]


def packed(rows: Sequence[ScoredRow]) -> bytes:
    """Return completions as a compressed Arrow stream that stores each word once."""
    import pyarrow as arrow
    from pyarrow import ipc

    kinds: Mapping[str, Any] = {
        "row": arrow.int64(),
        "sample": arrow.int64(),
        "digest": arrow.uint64(),
        "outcomes": arrow.binary(),
        "notes": arrow.binary(),
    }
    columns = list(zip(*rows, strict=True)) or [()] * len(ScoredRow._fields)
    arrays = []
    for name, values in zip(ScoredRow._fields, columns, strict=True):
        array = arrow.array(values, kinds.get(name, arrow.string()))
        is_word = array.type in (arrow.string(), arrow.binary())
        arrays.append(array.dictionary_encode() if is_word else array)
    batch = arrow.record_batch(arrays, names=list(ScoredRow._fields))
    sink = arrow.BufferOutputStream()
    options = ipc.IpcWriteOptions(compression="lz4")
    with ipc.new_stream(sink, batch.schema, options=options) as stream:
        stream.write_batch(batch)
    whole: bytes = sink.getvalue().to_pybytes()
    return whole


def unpacked(whole: bytes) -> list[ScoredRow]:
    """Return the completions from the output of `packed`."""
    from pyarrow import ipc

    with ipc.open_stream(whole) as stream:
        batch = stream.read_next_batch()
    columns = [_values(column) for column in batch.columns]
    return [ScoredRow._make(values) for values in zip(*columns, strict=True)]


def _values(column: Any) -> list[Any]:
    import pyarrow as arrow

    if not arrow.types.is_dictionary(column.type):
        plain: list[Any] = column.to_pylist()
        return plain
    words = [*column.dictionary.to_pylist(), None]
    return [words[place] for place in column.indices.fill_null(-1).to_numpy().tolist()]


SUFFIX = ".parquet"
WILD = re.compile(r"[*\[]")
# Tasks return about a megabyte each: Ray need not store many before they are counted.
BLOCK_BYTES = 8 * 2**20
STORE_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True)
class ClusterSource:
    """One table in Parquet files.

    parts: absolute paths or addresses (s3://, gs://, hdfs://). shown: their names in messages.
    """

    name: str
    parts: tuple[str, ...]
    shown: tuple[str, ...]
    run: str
    dataset: Dataset
    options: ReadOptions


def cluster_sources(names: Sequence[str], options: ReadOptions) -> list[ClusterSource]:
    """Return the tables of these names: Parquet files, folders of them, or patterns.

    Raises InputError for files of other formats, DataError, MissingExtraError.
    """
    tables = [
        _remote(name, each) if "://" in name else _local(name, each)
        for number, name in enumerate(names)
        for each in [options.for_file(number, len(names))]
    ]  # fmt: skip
    for source in tables:
        for part in source.parts:
            if not part.endswith(SUFFIX):
                raise InputError(f"--engine ray reads Parquet files, not {part!r}; convert it")
    return tables


def _local(name: str, options: ReadOptions) -> ClusterSource:
    [source] = open_sources([name], options, lambda _: None)
    parts = tuple(str(part.absolute()) for part in source.parts)
    return ClusterSource(
        name, parts, tuple(map(str, source.parts)), source.run, source.dataset, options
    )


def _remote(name: str, options: ReadOptions) -> ClusterSource:
    """List the files of an address whose last part may be a pattern, or that is a folder."""
    require_packages("--engine ray", "cluster", "pyarrow")
    from pyarrow import ArrowException, fs

    scheme = name.partition("://")[0]
    try:
        system, folder, pattern = _listing(name)
        listed = system.get_file_info(fs.FileSelector(folder))
    except (ArrowException, OSError, ValueError) as error:
        raise InputError(f"cannot list {name!r}: {error}") from error
    parts = sorted(entry.path for entry in listed if fnmatch(entry.base_name, pattern))
    if not parts:
        raise InputError(f"no file matches {name!r}; correct it")
    run = folder.rpartition("/")[2] if len(parts) > 1 else Path(parts[0]).stem
    addresses = tuple(f"{scheme}://{part}" for part in parts)
    problems = load_dataset(options.dataset or DEFAULT_DATASET)
    return ClusterSource(name, addresses, addresses, run, problems, options)


def _listing(name: str) -> tuple[Any, str, str]:
    """Return the file system of an address, the folder in it, and the pattern of its files."""
    from pyarrow import fs

    base, _, last = name.rpartition("/")
    if WILD.search(last):  # not allowed in an address
        return *fs.FileSystem.from_uri(base), last
    system, path = fs.FileSystem.from_uri(name)
    if system.get_file_info(path).type == fs.FileType.Directory:
        return system, path, f"*{SUFFIX}"
    folder, _, file = path.rpartition("/")
    return system, folder, file


def score_on_ray(tables: Sequence[ClusterSource], scorers: Sequence[Scorer]) -> Iterator[Part]:
    """Yield the scored rows of every completion, in the order of the files.

    Raises InputError if a file cannot be read, MissingExtraError without ray, and GradeschoolError
    if Ray fails.
    """
    names = tuple(scorer.name for scorer in scorers)
    divided = [row_ranges(source.parts) for source in tables]
    with ray_session(object_store_memory=STORE_BYTES) as ray, _quiet():
        number = 1
        for source, parts in zip(tables, divided, strict=True):
            chunks = _scored_chunks(
                ray, OnRay(source.dataset, names, source.run, parts, source.options)
            )
            yield from parts_of(in_order(chunks), source, parts, number)
            number += len(source.parts)


@contextmanager
def _quiet() -> Iterator[None]:
    """Make Ray return small blocks in about the order of the tasks, without progress bars."""
    require_packages("--engine ray", "cluster", "ray", "pyarrow")
    import ray.data as ray_data

    context = ray_data.DataContext.get_current()
    options = context.execution_options
    before = options.preserve_order, context.enable_progress_bars, context.target_max_block_size
    options.preserve_order, context.enable_progress_bars = True, False
    context.target_max_block_size = BLOCK_BYTES
    log = logging.getLogger("ray.data")
    level = log.level
    log.setLevel("ERROR")
    try:
        yield
    finally:
        log.setLevel(level)
        options.preserve_order, context.enable_progress_bars, context.target_max_block_size = before


def _scored_chunks(ray: Any, work: OnRay) -> Iterator[Chunk]:
    """Yield the results of the tasks, one task for each row range."""
    tasks = len(work.ranges)
    if not tasks:
        return
    numbers = ray.data.range(tasks, override_num_blocks=tasks)
    judged = numbers.map_batches(work, batch_size=1, batch_format="pyarrow")
    for table in judged.iter_batches(batch_size=None, batch_format="pyarrow"):
        yield from (Chunk(**row) for row in table.to_pylist())


def in_order(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Yield chunks range by range, whatever the order in which ranges arrive.

    The chunks of one range arrive in order. A chunk that is early waits, packed.
    """
    early: defaultdict[int, list[Chunk]] = defaultdict(list)
    due = 0
    for chunk in chunks:
        early[chunk.row_range].append(chunk)
        while due in early:
            waiting = early.pop(due)
            yield from waiting
            due += waiting[-1].last


def parts_of(
    chunks: Iterable[Chunk], source: ClusterSource, ranges: Sequence[RowGroupRange], number: int
) -> Iterator[Part]:
    """Yield the completions of chunks in order; number: of the source's first file among all."""
    for chunk in chunks:
        part = ranges[chunk.row_range].part
        place = FilePlace("", source.name, source.shown[part], number + part)
        yield Part(place, unpacked(chunk.packed))
