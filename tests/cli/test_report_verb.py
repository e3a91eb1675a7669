"""Check what `gradeschool report` prints, refuses to overwrite and counts as unusable."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.exports import run as run  # a fixture
from tests.support.report_page import run_folder as run_folder  # a fixture


def test_report_names_what_it_wrote(gradeschool: Command, run: Path, tmp_path: Path) -> None:
    target = tmp_path / "table.md"
    written = gradeschool("report", run, "-o", target, "--json").json()
    assert written == {
        "report": {"file": str(target), "bytes": target.stat().st_size, "completions": 48}
    }


def test_a_file_is_not_overwritten_unasked(
    gradeschool: Command, run_folder: Path, tmp_path: Path
) -> None:
    """Exit 2 and the file as it was; --force replaces it; a folder cannot be replaced."""
    path = tmp_path / "page.html"
    path.write_text("mine")
    refused = gradeschool("report", run_folder, "-o", path)
    assert refused.status == 2
    assert "--force" in refused.err
    assert path.read_text() == "mine"
    assert gradeschool("report", run_folder, "-o", path, "--force").status == 0
    assert gradeschool("report", run_folder, "-o", tmp_path).status == 2
    nowhere = gradeschool("report", run_folder, "-o", tmp_path / "no" / "page.html")
    assert nowhere.status == 2
    assert "cannot write" in nowhere.err


def test_rows_that_cannot_be_used_are_told(gradeschool: Command, tmp_path: Path) -> None:
    """The page is written, the fault is counted in it, the exit status is 3."""
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"index": 0, "completion": "600"}\n{"index": 99999, "completion": "1"}\n')
    result = gradeschool("report", answers, "-d", "sample", "-o", tmp_path / "page.html")
    assert result.status == 3
    assert "1 row could not be used" in result.err
    page = (tmp_path / "page.html").read_text()
    assert re.search(r"errors, not counted as wrong</dt><dd>1<", page)
