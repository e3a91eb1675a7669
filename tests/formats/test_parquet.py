"""Parquet files that `gradeschool export` writes."""

import json
from pathlib import Path

import pytest

from tests.formats.test_export import CHOSEN
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.exports import answers as answers  # fixtures
from tests.support.exports import export
from tests.support.hostile_report import HOSTILE


def test_parquet(gradeschool: Command, answers: Path, tmp_path: Path) -> None:
    """A row a sample; lone surrogates are U+FFFD, and the file says so."""
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(export(gradeschool, answers, "parquet", tmp_path, *CHOSEN))
    rows = table.to_pylist()
    assert len(rows) == len(HOSTILE) + 3
    assert rows[0]["completion"] == "The total is $600.\n#### 600"
    assert [rows[0][name] for name in ("run", "problem_id", "sample", "gold", "read")] == [
        "org/model-7b", "0", 0, "600", "600",
    ]  # fmt: skip
    assert rows[1]["openai/2021"] == "error"
    assert rows[2]["openai/2021"] == "no_answer"
    assert rows[2]["gradeschool/reader"] == "correct"
    assert "lone \ufffd surrogate #### 5" in {row["completion"] for row in rows}
    about = json.loads(table.schema.metadata[b"gradeschool"])
    assert about["protocol"] is None
    assert about["surrogates"] == "lone surrogates are written as U+FFFD"
