"""Several samples of a problem from a real llama.cpp server: one request for many, topped up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    path = tmp_path / "problems.jsonl"
    rows = [{"question": f"What is {n} + 1?", "answer": f"#### {n + 1}"} for n in range(4)]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def rows(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "completions.jsonl").read_bytes().split(b"\n")
    return [json.loads(line) for line in lines if line]


def test_neutral_values_change_no_greedy_text(
    llama_url: str, problems: Path, tmp_path: Path, gradeschool: Command
) -> None:
    from tests.support.openai_client import complete

    folder = tmp_path / "run"
    result = gradeschool("eval", "-m", f"{llama_url}/tiny", "-p", "openai/2021", "-d", problems,
                       "-o", folder, "--max-tokens", 24)  # fmt: skip
    assert result.status == 0, result.err
    for row in rows(folder):
        plain = complete(llama_url, row["question"] + "\n", max_tokens=24)
        assert row["completion"] == plain["text"]
