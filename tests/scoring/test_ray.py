"""Scoring on a real Ray gives what this machine gives."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pytest
from pyarrow import parquet

from gradeschool.errors import GradeschoolError
from gradeschool.scoring import score
from tests.support.command import run_script
from tests.support.real_rows import NAMES, real_rows

pytestmark = pytest.mark.slow
pytest.importorskip("ray")


@pytest.fixture(scope="module")
def rows(data: Path) -> list[dict[str, Any]]:
    """Real completions; some cannot be used, one is repeated, one stands again."""
    kept = ("model", "index", "sample", "completion")
    rows = [{name: row.get(name) for name in kept} for row in real_rows(data)]
    for row in rows:
        row["completion"] = str(row["completion"]).replace("\ud800", "_")
    return rows


@pytest.fixture(scope="module")
def folder(rows: Sequence[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    lines = [json.dumps(row) for row in rows]
    (folder / "lines.jsonl").write_text("\n".join([*lines[:500], "", "not JSON", *lines[500:]]))
    table = arrow.Table.from_pylist(rows)
    for part, start in enumerate(range(0, len(rows), 700)):
        parquet.write_table(table.slice(start, 700), folder / f"{part}.parquet", row_group_size=100)
    return folder


@pytest.mark.parametrize("name", ["lines.jsonl", "*.parquet"])
def test_ray_gives_the_same_scores(data: Path, folder: Path, tmp_path: Path, name: str) -> None:
    """Output, exit status, messages, every row of the table of verdicts."""
    problems = data / "gsm8k" / "test.jsonl"
    words = ("score", folder / name, "-d", problems, "--scorer", *NAMES, "--json", "-o")
    here = run_script(*words, tmp_path / "here.jsonl")
    ray = run_script(*words, tmp_path / "ray.jsonl", "--engine", "ray")
    assert (ray.status, ray.out) == (here.status, here.out)
    assert sorted(ray.err.splitlines()) == sorted(here.err.splitlines())
    assert here.status == 3
    assert (tmp_path / "ray.jsonl").read_text() == (tmp_path / "here.jsonl").read_text()


def test_one_run_of_a_file(data: Path, folder: Path, rows: Sequence[dict[str, Any]]) -> None:
    file = f"{folder / '0.parquet'}#{rows[0]['model']}"
    words = ("score", file, "-d", data / "gsm8k" / "test.jsonl", "--scorer", *NAMES, "--json")
    assert run_script(*words, "--engine", "ray").json() == run_script(*words).json()


def test_a_format_that_ray_does_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("question,response,gold\nWhat?,#### 5,5\n")
    result = run_script("score", path, "--engine", "ray")
    assert (result.status, "reads Parquet and JSON Lines" in result.err) == (2, True)


def test_a_ray_that_does_not_start_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def init(**options: object) -> None:
        raise Exception("The current node timed out during startup.")

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr("ray.init", init)
    message = r"^cannot start Ray: .*; start it with `ray start"
    with pytest.raises(GradeschoolError, match=message), score._ray_session():
        pass
