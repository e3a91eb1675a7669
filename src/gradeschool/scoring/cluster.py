"""Scoring Parquet files on Ray Data: read and judged in Ray's tasks, counted here in file order.

What counts, repeats and is wrong with a row is decided by the code that decides it for files on one
machine, so that the scores are the same. With a local Ray or one at RAY_ADDRESS, whose machines
need gradeschool too.
"""

from __future__ import annotations

import logging
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from gradeschool.datasets.load import Dataset, load_dataset
from gradeschool.errors import GradeschoolError, InputError, MissingExtraError
from gradeschool.scorer import Scorer
from gradeschool.scoring.cluster_tasks import (
    LAST,
    PACKED,
    STRETCH,
    Chunk,
    OnRay,
    Stretch,
    stretches,
    unpacked,
)
from gradeschool.scoring.sources import DEFAULT_DATASET, sources
from gradeschool.scoring.stream import Part
from gradeschool.scoring.table import Place

SUFFIX = ".parquet"
WILD = re.compile(r"[*\[]")
# Tasks answer with about a megabyte each: Ray need not hold many before they are counted.
BLOCK_BYTES = 8 * 2**20
STORE_BYTES = 256 * 2**20


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


def score_on_ray(found: Sequence[ClusterSource], scorers: Sequence[Scorer]) -> Iterator[Part]:
    """Yield what the scorers make of every completion, in the order of the files.

    Raises InputError where a file cannot be read, MissingExtraError without ray, GradeschoolError
    where Ray gives up.
    """
    try:
        import ray
        import ray.data
    except ImportError:
        raise MissingExtraError("--engine ray", "cluster") from None
    names = tuple(scorer.name for scorer in scorers)
    divided = [stretches(source.parts) for source in found]
    with _running(ray):
        number = 1
        for source, parts in zip(found, divided, strict=True):
            chunks = _judged(ray, OnRay(source.dataset, names, source.run, parts))
            yield from parts_of(in_order(chunks), source, parts, number)
            number += len(source.parts)


@contextmanager
def _running(ray: Any) -> Iterator[None]:
    """Join the Ray that runs, or run one on this machine for as long as it takes."""
    ours = not ray.is_initialized()
    if ours:
        here = {"include_dashboard": False, "object_store_memory": STORE_BYTES}
        local = {} if os.environ.get("RAY_ADDRESS") else here
        ray.init(log_to_driver=False, logging_level="ERROR", **local)
    log = logging.getLogger("ray.data")
    level = log.level
    log.setLevel("ERROR")
    try:
        with _quiet(ray.data.DataContext.get_current()):
            yield
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, GradeschoolError):
            raise error.cause from None
        raise GradeschoolError(f"a task on Ray failed: {error.cause or error}") from error
    except ray.exceptions.RayError as error:
        raise GradeschoolError(f"Ray gave up: {error}") from error
    finally:
        log.setLevel(level)
        if ours:
            ray.shutdown()


@contextmanager
def _quiet(context: Any) -> Iterator[None]:
    """Have small blocks come back in about the order of the tasks, without bars of progress."""
    options = context.execution_options
    before = options.preserve_order, context.enable_progress_bars, context.target_max_block_size
    options.preserve_order, context.enable_progress_bars = True, False
    context.target_max_block_size = BLOCK_BYTES
    try:
        yield
    finally:
        options.preserve_order, context.enable_progress_bars, context.target_max_block_size = before


def _judged(ray: Any, work: OnRay) -> Iterator[Chunk]:
    """Yield what the tasks answer, one task for each stretch."""
    tasks = len(work.stretches)
    if not tasks:
        return
    numbers = ray.data.range(tasks, override_num_blocks=tasks)
    judged = numbers.map_batches(work, batch_size=1, batch_format="pyarrow")
    for table in judged.iter_batches(batch_size=None, batch_format="pyarrow"):
        columns = [table.column(name).to_pylist() for name in (STRETCH, LAST, PACKED)]
        yield from map(Chunk._make, zip(*columns, strict=True))


def in_order(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Yield chunks stretch by stretch, whatever the order of the stretches when they come.

    The chunks of one stretch come in their order. What is early waits, packed.
    """
    early: defaultdict[int, list[Chunk]] = defaultdict(list)
    due = 0
    for chunk in chunks:
        early[chunk.stretch].append(chunk)
        while due in early:
            waiting = early.pop(due)
            yield from waiting
            due += waiting[-1].last


def parts_of(
    chunks: Iterable[Chunk], source: ClusterSource, found: Sequence[Stretch], number: int
) -> Iterator[Part]:
    """Yield the completions of chunks in order; number: of the source's first file among all."""
    for chunk in chunks:
        part = found[chunk.stretch].part
        place = Place("", source.name, source.shown[part], number + part)
        yield Part(place, unpacked(chunk.packed))
