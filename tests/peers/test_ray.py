"""Scoring on a real Ray Data, in an environment of its own, against scoring here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pyarrow as arrow
import pytest
from pyarrow import parquet

from gradeschool.scoring.verdict_table import FIELDS
from tests.peers.compare import COMPARED
from tests.peers.install import missing, python_of

SOURCE = Path(__file__).parents[2] / "src"
pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(bool(missing("ray")), reason=missing("ray")),
]
PARTS = 5


@pytest.fixture(scope="module")
def parts(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Real completions in files of many row groups, some rows of which cannot be used."""
    rows = []
    for name in ("openai_example", "re2_rereading"):
        lines = (data / "completions" / f"{name}.jsonl").read_text("utf-8").split("\n")
        rows += [json.loads(line) for line in lines[:3000] if line]
    kept = ("model", "index", "sample", "completion")
    rows = [{name: row.get(name) for name in kept} for row in rows]
    rows[5]["index"], rows[2001]["index"], rows[4000]["completion"] = 99_999, None, None
    rows[7], rows[3100]["index"] = dict(rows[11]), rows[3101]["index"]
    folder = tmp_path_factory.mktemp("parts")
    schema = arrow.Table.from_pylist(rows).schema
    size = -(-len(rows) // PARTS)
    for part in range(PARTS):
        table = arrow.Table.from_pylist(rows[part * size : (part + 1) * size], schema=schema)
        parquet.write_table(table, folder / f"{part}.parquet", row_group_size=500)
    return folder


def score(python: Path | str, *words: object) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(SOURCE), "RAY_USAGE_STATS_ENABLED": "0"}
    command = [python, "-m", "gradeschool", "score", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


@pytest.mark.parametrize("names", [("*.parquet",), ("0.parquet", "3.parquet")])
def test_ray_gives_what_this_machine_gives(
    parts: Path, tmp_path: Path, names: Sequence[str]
) -> None:
    """Table on the terminal, messages, exit status and every row of the verdicts are the same."""
    files = [parts / name for name in names]
    tables = tmp_path / "here.parquet", tmp_path / "ray.parquet"
    here = score(sys.executable, *files, "-o", tables[0])
    ray = score(python_of("ray"), *files, "-o", tables[1], "--engine", "ray")
    assert (ray.stdout, ray.stderr, ray.returncode) == (here.stdout, here.stderr, here.returncode)
    assert here.returncode == 3
    assert "row 6 of" in here.stderr
    mine, theirs = map(parquet.read_table, tables)
    assert theirs.to_pylist() == mine.to_pylist()
    assert mine.num_rows > 2000
    COMPARED["verdicts on ray"] += mine.num_rows * (mine.num_columns - len(FIELDS))


def test_an_address(parts: Path) -> None:
    """A folder by its address and some scorers by name: the scores are those of the path."""
    scorers = ("--scorer", "openai/2021", "verl/gsm8k/flexible", "--json")
    here = score(sys.executable, parts, *scorers)
    ray = score(python_of("ray"), f"file://{parts}", *scorers, "--engine", "ray")
    assert (ray.stdout, ray.returncode) == (here.stdout, here.returncode)
    assert here.returncode == 3


def test_a_file_that_ray_cannot_read(parts: Path, tmp_path: Path) -> None:
    """One line and exit status 2."""
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 no PAR1")
    process = score(python_of("ray"), broken, "--engine", "ray")
    assert (process.returncode, process.stdout) == (2, "")
    assert "is not a readable Parquet file" in process.stderr
    assert "Traceback" not in process.stderr
