"""Scoring Parquet files on Ray Data: read and judged in Ray's tasks, counted here in file order.

Tasks answer with a few bytes a completion and never with its text. What counts, repeats and is
wrong with a row is decided by the code that decides it for files on one machine, so that the scores
are the same. With a local Ray or one at RAY_ADDRESS, whose machines need gradeschool too.
"""

from __future__ import annotations

import logging
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import groupby
from pathlib import Path
from typing import Any

from gradeschool.datasets.load import Dataset, load_dataset
from gradeschool.errors import GradeschoolError, InputError, MissingExtraError
from gradeschool.protocols.registry import get_rule
from gradeschool.recordings.files import Reader
from gradeschool.recordings.recorded import Recorded
from gradeschool.rule import Rule
from gradeschool.scoring.sources import DEFAULT_DATASET, sources
from gradeschool.scoring.stream import Part
from gradeschool.scoring.table import Place
from gradeschool.scoring.verdicts import Judge, Scored
from gradeschool.tables import BATCH_ROWS, Cells, Row

SUFFIX = ".parquet"
WILD = re.compile(r"[*\[]")
PATH = "path"  # the column that Ray adds
AT_ONCE = 8192  # completions counted at once


@dataclass(frozen=True, slots=True)
class ClusterSource:
    """One table in Parquet files.

    parts: absolute paths or addresses (s3://, gs://, hdfs://). shown: what messages call them.
    """

    name: str
    parts: tuple[str, ...]
    shown: tuple[str, ...]
    run: str
    dataset: Dataset


def cluster_sources(names: Sequence[str], dataset: str | None) -> list[ClusterSource]:
    """Return the tables of these names: Parquet files, folders of them, or patterns.

    Raises InputError for files of other formats, DataError, MissingExtraError.
    """
    found = [
        _remote(name, dataset) if "://" in name else _local(name, dataset)
        for name in names
    ]  # fmt: skip
    for source in found:
        for part in source.parts:
            if not part.endswith(SUFFIX):
                raise InputError(f"--engine ray reads Parquet files, not {part!r}; convert it")
    return found


def _local(name: str, dataset: str | None) -> ClusterSource:
    [source] = sources([name], dataset)
    parts = tuple(str(part.absolute()) for part in source.parts)
    return ClusterSource(name, parts, tuple(map(str, source.parts)), source.run, source.dataset)


def _remote(name: str, dataset: str | None) -> ClusterSource:
    """List the files of an address whose last part may be a pattern, or that is a folder."""
    try:
        from pyarrow import ArrowException, fs
    except ImportError:
        raise MissingExtraError("--engine ray", "cluster") from None
    scheme = name.partition("://")[0]
    try:
        system, folder, pattern = _listing(name)
        listed = system.get_file_info(fs.FileSelector(folder))
    except (ArrowException, OSError, ValueError) as error:
        raise InputError(f"cannot list {name!r}: {error}") from error
    parts = sorted(one.path for one in listed if fnmatch(one.base_name, pattern))
    if not parts:
        raise InputError(f"no file matches {name!r}; correct it")
    run = folder.rpartition("/")[2] if len(parts) > 1 else Path(parts[0]).stem
    addresses = tuple(f"{scheme}://{part}" for part in parts)
    problems = load_dataset(dataset or DEFAULT_DATASET)
    return ClusterSource(name, addresses, addresses, run, problems)


def _listing(name: str) -> tuple[Any, str, str]:
    """Return the file system of an address, the folder in it, and the pattern of its files."""
    from pyarrow import fs

    base, _, last = name.rpartition("/")
    if WILD.search(last):  # which no address may hold
        return *fs.FileSystem.from_uri(base), last
    system, path = fs.FileSystem.from_uri(name)
    if system.get_file_info(path).type == fs.FileType.Directory:
        return system, path, f"*{SUFFIX}"
    folder, _, file = path.rpartition("/")
    return system, folder, file


def score_on_ray(found: Sequence[ClusterSource], rules: Sequence[Rule]) -> Iterator[Part]:
    """Yield what the rules make of every completion, in the order of the files.

    Raises InputError where a file cannot be read, MissingExtraError without ray, GradeschoolError
    where Ray gives up.
    """
    try:
        import ray
        import ray.data
    except ImportError:
        raise MissingExtraError("--engine ray", "cluster") from None
    names = tuple(rule.name for rule in rules)
    with _running(ray):
        number = 1
        for source in found:
            yield from _parts(ray, source, names, number)
            number += len(source.parts)


@contextmanager
def _running(ray: Any) -> Iterator[None]:
    """Join the Ray that runs, or run one on this machine for as long as it takes."""
    ours = not ray.is_initialized()
    if ours:
        local = {} if os.environ.get("RAY_ADDRESS") else {"include_dashboard": False}
        ray.init(log_to_driver=False, logging_level="ERROR", **local)
    log = logging.getLogger("ray.data")
    level = log.level
    log.setLevel("ERROR")
    context = ray.data.DataContext.get_current()
    before = context.execution_options.preserve_order, context.enable_progress_bars
    context.execution_options.preserve_order, context.enable_progress_bars = True, False
    try:
        yield
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, GradeschoolError):
            raise error.cause from None
        raise GradeschoolError(f"a task on Ray failed: {error.cause or error}") from error
    except ray.exceptions.RayError as error:
        raise GradeschoolError(f"Ray gave up: {error}") from error
    finally:
        context.execution_options.preserve_order, context.enable_progress_bars = before
        log.setLevel(level)
        if ours:
            ray.shutdown()


def _parts(ray: Any, source: ClusterSource, rules: tuple[str, ...], number: int) -> Iterator[Part]:
    work = OnRay(source.dataset, rules, source.parts[0], source.run)
    rows = ray.data.read_parquet(list(source.parts), include_paths=True)
    judged = rows.map_batches(work, batch_size=BATCH_ROWS, batch_format="pyarrow")
    tables = judged.iter_batches(batch_size=AT_ONCE, batch_format="pyarrow")
    return parts_of(tables, source, number)


def parts_of(tables: Iterable[Any], source: ClusterSource, number: int) -> Iterator[Part]:
    """Yield the completions of `OnRay`'s tables with the numbers of their rows.

    tables: in the order of the rows. number: the place of the source's first file among all.
    """
    places = {
        _bare(part): Place("", source.name, shown, at)
        for at, (part, shown) in enumerate(zip(source.parts, source.shown, strict=True), number)
    }
    read: Counter[str] = Counter()
    for table in tables:
        columns = [column.to_pylist() for column in table.columns]
        for path, group in groupby(zip(*columns, strict=True), key=lambda row: row[0]):
            scored = list(_numbered(group, read, path))
            yield Part(places[_bare(path)], scored)


def _numbered(group: Iterator[tuple[Any, ...]], read: Counter[str], path: str) -> Iterator[Scored]:
    """Give completions the number of their row in the file, from that in their batch."""
    for _, *values in group:
        at, run, *more = values
        if run is None:  # the end of a batch: how many rows it had
            read[path] += at
        else:
            yield Scored(at + read[path], run, *more)


def _bare(path: str) -> str:
    return path.rpartition("://")[2].lstrip("/")


class OnRay:
    """Judges a batch; each of Ray's processes makes the rules ready once."""

    def __init__(
        self, dataset: Dataset, rules: tuple[str, ...], first: str, default_run: str
    ) -> None:
        self.dataset = dataset
        self.rules = rules
        self.reader = Reader(Path(first), default_run)
        row = _first_row(first)
        if row is not None:
            self.reader.begin(row)

    def __call__(self, table: Any) -> Any:
        """Return a row for each completion; the last of each file has no run and counts rows."""
        judge = _judge(self.dataset, self.rules)
        judged: list[tuple[Any, ...]] = []
        paths = table.column(PATH).to_pylist()
        rest = table.drop_columns([PATH]).combine_chunks().to_batches()
        rows = (row.fields for batch in rest for row in Cells(range(batch.num_rows), batch).rows())
        for path, group in groupby(zip(paths, rows, strict=True), key=lambda pair: pair[0]):
            count = 0
            read: list[Recorded] = []
            for count, (_, fields) in enumerate(group, start=1):
                read += self.reader.read(Row(count, fields))
            judged += ((path, *one) for one in judge.judge(read))
            judged.append((path, count, *[None] * (len(Scored._fields) - 1)))
        return _arrow(judged)


_ready: dict[tuple[str, str, tuple[str, ...]], Judge] = {}


def _judge(dataset: Dataset, rules: tuple[str, ...]) -> Judge:
    key = dataset.name, dataset.sha256, rules
    if key not in _ready:
        chosen = [get_rule(name) for name in rules]
        _ready[key] = Judge(dataset.problems, dataset.name, chosen)
    return _ready[key]


def _arrow(judged: Sequence[tuple[Any, ...]]) -> Any:
    import pyarrow as arrow

    word = arrow.string()
    kinds: Mapping[str, Any] = {
        PATH: word,
        "row": arrow.int64(),
        "run": word,
        "problem": word,
        "gold": word,
        "sample": arrow.int64(),
        "finish": word,
        "digest": arrow.uint64(),
        "error": word,
        "codes": arrow.binary(),
        "notes": arrow.binary(),
    }
    columns = zip(*judged, strict=True) if judged else ((),) * len(kinds)
    arrays = [
        arrow.array(values, kind) for values, kind in zip(columns, kinds.values(), strict=True)
    ]
    return arrow.table(arrays, names=list(kinds))


def _first_row(address: str) -> Row | None:
    import pyarrow as arrow
    from pyarrow import fs, parquet

    try:
        system, path = fs.FileSystem.from_uri(address)
        with parquet.ParquetFile(system.open_input_file(path)) as file:
            batch = next(file.iter_batches(batch_size=1), None)
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{address!r} is not a readable Parquet file: {error}") from error
    return None if batch is None else next(Cells([1], batch).rows(), None)
