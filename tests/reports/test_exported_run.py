"""Check standard errors and prompts of the data that an export writes."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from gradeschool import load_dataset
from gradeschool.protocols.registry import get_protocol
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.exports import export
from tests.support.exports import run as run  # a fixture


def test_the_standard_error_is_that_of_the_score(gradeschool: Command, tmp_path: Path) -> None:
    """With unequal numbers of samples too: of the share of completions, clustered by problem."""
    rows = [{"index": 0, "sample": i, "completion": "#### 600"} for i in range(8)]
    rows += [{"index": index, "completion": "#### 987654"} for index in range(1, 5)]
    path = tmp_path / "uneven.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    written = export(gradeschool, path, "every-eval-ever", tmp_path / "export")
    (aggregate,) = written.rglob("*.json")
    for result in json.loads(aggregate.read_text())["evaluation_results"]:
        details = result["score_details"]
        share, right = details["score"], round(12 * details["score"])
        spread = (right - 8 * share) ** 2 + 4 * share**2
        error = details["uncertainty"]["standard_error"]
        assert error["value"] == pytest.approx((spread * 5 / 4) ** 0.5 / 12)
        assert error["method"] == "clustered by problem"


def members(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


def test_prompts_are_there_where_the_key_proves_them(
    gradeschool: Command, run: Path, tmp_path: Path
) -> None:
    """The messages of the protocol; a row with another key has the question alone."""
    path = run / "completions.jsonl"
    lines = path.read_text().split("\n")
    row = json.loads(lines[1])
    lines[1] = json.dumps({**row, "key": "0" * 64})
    path.write_text("\n".join(lines))
    fields = members(export(gradeschool, run, "inspect", tmp_path))
    problems = load_dataset("sample").problems
    prompts = get_protocol("zero-shot/chat").render(problems, ())
    for index, (problem, prompt) in enumerate(zip(problems, prompts, strict=True)):
        sample = fields[f"samples/{index}_epoch_1.json"]
        turns = [{"role": turn.role, "content": turn.content} for turn in prompt.messages]
        assert sample["input"] == (problem.question if index == 1 else turns)
        assert sample["metadata"] == {"question": problem.question, "solution": problem.solution}
