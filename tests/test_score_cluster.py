"""What runs in Ray's tasks, without Ray: batches cut anywhere give what this machine gives."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from gradeschool.errors import InputError
from gradeschool.scoring.cluster import (
    ClusterSource,
    OnRay,
    cluster_sources,
    parts_of,
)
from gradeschool.scoring.load import choose_rules
from gradeschool.scoring.sources import sources
from gradeschool.scoring.stream import score_sources
from gradeschool.scoring.verdicts import Scored
from tests.support.real_rows import NAMES

RULES = choose_rules(NAMES)
TEXTS = ["#### 13", "It is 13.", "", "é #### 1,000", None]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three files of completions of the sample, one of them empty, some rows unusable."""
    folder = tmp_path_factory.mktemp("parts")
    rows: list[dict[str, Any]] = [
        {"index": at % 60, "sample": at // 60, "model": f"m{at % 2}", "completion": TEXTS[at % 5]}
        for at in range(137)
    ]
    table = arrow.Table.from_pylist(rows)
    for at, (start, size) in enumerate([(0, 90), (0, 0), (90, 47)]):
        parquet.write_table(table.slice(start, size), folder / f"{at}.parquet")
    return folder


def here(name: str) -> list[tuple[str, int, Scored]]:
    parts = score_sources(sources([name], "sample"), RULES)
    return [(place.file, place.part, one) for place, scored in parts for one in scored]


def cut(source: ClusterSource, cuts: Sequence[int]) -> Iterator[Any]:
    """Yield the tables that `OnRay` makes of batches that end anywhere, files mixed in one."""
    work = OnRay(source.dataset, NAMES, source.parts[0], source.run)
    tables = [
        parquet.read_table(part).append_column(
            "path", arrow.array([part.lstrip("/")] * parquet.read_metadata(part).num_rows, "string")
        )
        for part in source.parts
    ]
    whole = arrow.concat_tables(tables)
    ends = sorted({0, whole.num_rows, *(at for at in cuts if at < whole.num_rows)})
    for start, end in pairwise(ends):
        yield work(whole.slice(start, end - start))


@settings(deadline=None)
@given(st.lists(st.integers(1, 136), max_size=8))
def test_batches_cut_anywhere(folder: Path, cuts: list[int]) -> None:
    """Verdicts, faults and the numbers of rows in their files are those of this machine."""
    name = f"{folder}/*.parquet"
    [source] = cluster_sources([name], "sample")
    found = [
        (place.file, place.part, one)
        for place, scored in parts_of(cut(source, cuts), source, 1)
        for one in scored
    ]
    assert found == here(name)
    assert sum(one.problem is None for _, _, one in found) > 20


@pytest.mark.parametrize("name", ["*.parquet", "", "[02].parquet", "2.parquet"])
def test_addresses_are_listed_as_paths_are(folder: Path, name: str) -> None:
    """file:// stands for s3://, gs:// and others: the same files and the same name of the run."""
    [there] = cluster_sources([f"file://{folder}/{name}".rstrip("/")], "sample")
    [local] = cluster_sources([f"{folder}/{name}".rstrip("/")], "sample")
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
        cluster_sources([name.format(folder)], "sample")


def test_a_first_file_that_is_damaged(tmp_path: Path) -> None:
    """It is told before a task starts."""
    (tmp_path / "a.parquet").write_bytes(b"PAR1 no PAR1")
    [source] = cluster_sources([str(tmp_path / "a.parquet")], "sample")
    with pytest.raises(InputError, match="is not a readable Parquet file"):
        OnRay(source.dataset, NAMES, source.parts[0], source.run)


def test_no_row_leaves_the_tasks_with_its_text(folder: Path) -> None:
    """What comes back is small: no column holds the completion."""
    [source] = cluster_sources([str(folder)], "sample")
    [table] = cut(source, [])
    assert "completion" not in table.column_names
    assert table.nbytes / 137 < 250
