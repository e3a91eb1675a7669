"""docs/report.md: the examples of exports run, in order; other tools read Parquet."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.peers.pages import run_example, run_python, sections, why_not
from tests.support.command import run_script
from tests.support.exports import runs_file
from tests.support.report_page import HOSTILE

pytestmark = pytest.mark.peers


def test_the_examples_of_the_page_run(tmp_path: Path) -> None:
    """Commands of inspect_ai included."""
    examples = sections("report.md")["Exports"]
    assert len(examples) == 3
    for example in examples:
        if reason := why_not(example.peer):
            pytest.skip(reason)
        output = run_example(example, tmp_path)
        if "gradeschool score" in example.code:
            lines = re.findall(r"^ gradeschool/reader .*89\.58 %", output, re.MULTILINE)
            assert len(lines) == 4, output


@pytest.mark.parametrize("peer", ["lm_eval", "inspect_ai"])
def test_pandas_and_datasets_read_our_parquet(peer: str, tmp_path: Path) -> None:
    """Hostile texts, a failed sample: as many rows, and the same outcomes, in both."""
    if reason := why_not(peer):
        pytest.skip(reason)
    answers = runs_file(tmp_path / "answers.jsonl")
    result = run_script("export", answers, "-d", "sample", "--to", "parquet", "-o",
                      tmp_path / "rows.parquet", "--scorer", "gradeschool/reader")  # fmt: skip
    assert result.status == 0, result.err
    code = """
import json
import pandas
from datasets import load_dataset
frame = pandas.read_parquet("rows.parquet")
rows = load_dataset("parquet", data_files="rows.parquet", split="train")
print(json.dumps([list(map(str, frame["gradeschool/reader"])), rows["gradeschool/reader"][:],
                  int(frame["error"].ne("").sum())]))
"""
    read = run_python(peer, tmp_path, code)
    assert read.returncode == 0, read.stderr[-3000:]
    frame, rows, failed = json.loads(read.stdout.splitlines()[-1])
    assert frame == rows
    assert len(rows) == len(HOSTILE) + 3
    assert failed == rows.count("error") == 1
