"""What runs in Ray's tasks, without Ray: row ranges of files give what this machine gives."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from gradeschool.errors import InputError
from gradeschool.formats.samples import ReadOptions
from gradeschool.scoring.cluster import (
    Chunk,
    ClusterSource,
    OnRay,
    RowGroupRange,
    cluster_sources,
    in_order,
    packed,
    parts_of,
    row_ranges,
    unpacked,
)
from gradeschool.scoring.sources import choose_scorers, open_sources
from gradeschool.scoring.stream import Part, score_sources
from gradeschool.scoring.table import ScoredRow
from tests.support.real_rows import NAMES

SCORERS = choose_scorers(NAMES)
TEXTS = ["#### 13", "It is 13.", "", "é #### 1,000", None]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three files of completions of the sample, one of them empty, some rows unusable."""
    folder = tmp_path_factory.mktemp("parts")
    rows: list[dict[str, Any]] = [
        {
            "index": index % 60,
            "sample": index // 60,
            "model": f"m{index % 2}",
            "completion": TEXTS[index % 5],
        }
        for index in range(137)
    ]
    table = arrow.Table.from_pylist(rows)
    for index, (start, size) in enumerate([(0, 90), (0, 0), (90, 47)]):
        parquet.write_table(
            table.slice(start, size), folder / f"{index}.parquet", row_group_size=20
        )
    return folder


SAMPLE = ReadOptions(dataset="sample")


def here(name: str) -> list[tuple[str, int, ScoredRow]]:
    return placed(score_sources(open_sources([name], SAMPLE, print), SCORERS))


def chunks(source: ClusterSource, ranges: Sequence[RowGroupRange]) -> Iterator[Chunk]:
    """Yield what `OnRay` answers for each row_range by itself."""
    work = OnRay(source.dataset, NAMES, source.run, ranges)
    for number in range(len(ranges)):
        for table in work(arrow.table({"id": [number]})):
            [values] = zip(*[column.to_pylist() for column in table.columns], strict=True)
            yield Chunk(*values)


def placed(parts: Iterator[Part]) -> list[tuple[str, int, ScoredRow]]:
    return [(place.file, place.part, row) for place, scored in parts for row in scored]


@settings(deadline=None)
@given(size=st.integers(1, 100), chunk=st.integers(1, 40), batch=st.integers(1, 30))
def test_stretches_of_any_size(folder: Path, size: int, chunk: int, batch: int) -> None:
    """Verdicts, faults and the numbers of rows in their files are those of this machine."""
    [source] = cluster_sources([f"{folder}/*.parquet"], SAMPLE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gradeschool.scoring.cluster.CHUNK_ROWS", chunk)
        patch.setattr("gradeschool.scoring.cluster.BATCH_ROWS", batch)
        divided = row_ranges(source.parts, size)
        scored_rows = placed(parts_of(chunks(source, divided), source, divided, 1))
    assert scored_rows == here(f"{folder}/*.parquet")
    assert sum(row.problem is None for _, _, row in scored_rows) > 20


@given(lasts=st.lists(st.integers(0, 4), max_size=8), data=st.data())
def test_chunks_in_any_order(lasts: list[int], data: st.DataObject) -> None:
    """Row ranges come in their order, however their chunks are mixed on the way."""
    whole = [
        [Chunk(number, index == last, bytes([number, index])) for index in range(last + 1)]
        for number, last in enumerate(lasts)
    ]
    queues, mixed = [list(reversed(group)) for group in whole], []
    while any(queues):
        mixed.append(data.draw(st.sampled_from([group for group in queues if group])).pop())
    assert list(in_order(mixed)) == [chunk for group in whole for chunk in group]


def test_packed_completions_come_back() -> None:
    """None, the empty text and bytes that are no UTF-8 too."""
    some = [
        ScoredRow(2**40, "m", "0", "é", None, "stop", 2**64 - 1, "", b"\xff\x00", b""),
        ScoredRow(1, "", None, "", -3, "", 1, "no text", b"", b"\x01"),
    ]
    assert unpacked(packed(some)) == some
    assert unpacked(packed([])) == []


@pytest.mark.parametrize("name", ["*.parquet", "", "[02].parquet", "2.parquet"])
def test_addresses_are_listed_as_paths_are(folder: Path, name: str) -> None:
    """file:// stands for s3://, gs:// and others: the same files and the same name of the run."""
    [there] = cluster_sources([f"file://{folder}/{name}".rstrip("/")], SAMPLE)
    [local] = cluster_sources([f"{folder}/{name}".rstrip("/")], SAMPLE)
    assert [part.removeprefix("file://") for part in there.parts] == list(local.parts)
    assert there.run == local.run


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("file://{}/none/*.parquet", "cannot list 'file://"),
        ("file://{}/*.csv", "no file matches"),
        ("nowhere://a/b", "cannot list 'nowhere://a/b'"),
        ("{}/*.csv", "no file matches the pattern"),
        ("{}/none.parquet", "does not exist"),
    ],
)
def test_addresses_of_nothing(folder: Path, name: str, message: str) -> None:
    """Each is an error that shows the address."""
    with pytest.raises(InputError, match=message.replace("*", r"\*")):
        cluster_sources([name.format(folder)], SAMPLE)


def test_a_file_that_is_damaged(folder: Path, tmp_path: Path) -> None:
    """It is told before a task starts, with its name, wherever it stands among the others."""
    (tmp_path / "a.parquet").write_bytes(b"PAR1 no PAR1")
    with pytest.raises(InputError, match=r"a\.parquet' is not a readable Parquet file"):
        row_ranges([str(folder / "0.parquet"), str(tmp_path / "a.parquet")])


def test_no_row_leaves_the_tasks_with_its_text(folder: Path) -> None:
    """What comes back is small: the bytes of a completion's verdicts."""
    [source] = cluster_sources([str(folder)], SAMPLE)
    sent = list(chunks(source, row_ranges(source.parts)))
    assert sum(len(unpacked(chunk.packed)) for chunk in sent) == 137
    assert not any(b"####" in chunk.packed for chunk in sent)
    assert sum(len(chunk.packed) for chunk in sent) / 137 < 120
