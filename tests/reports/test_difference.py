"""Check which accuracies and settings are printed of two results."""

from __future__ import annotations

from pathlib import Path

from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.differences import STRICT
from tests.support.report_page import rows


def test_recorded_files_and_two_scorers_of_one_file(gradeschool: Command, tmp_path: Path) -> None:
    path = rows(tmp_path / "both.jsonl", [
        {"index": i, "run": run, "completion": f"It is {2 * i}{'.' if run == 'a' else ''}"}
        for run in ("a", "b\x1b[31m") for i in range(3)])  # fmt: skip
    problems = rows(tmp_path / "p.jsonl", [{"question": f"{i}?", "answer": str(2 * i)}
                                           for i in range(3)])  # fmt: skip
    ended = gradeschool("diff", f"{path}#a", f"{path}#a", "-d", problems, "--scorer-a", STRICT)
    assert "scorer" in ended.out
    assert "+100.00" in ended.out
    many = gradeschool("diff", path, path, "-d", problems)
    assert many.status == 0
    assert "\x1b[31m" not in many.out
    assert "no recorded setting differs" in many.out


def test_failed_samples_are_not_among_the_completions_of_an_accuracy(
    gradeschool: Command, tmp_path: Path
) -> None:
    """Of golds 600 and 13, one is right in A, where the other failed, and both are in B."""
    right = {"index": 0, "completion": "#### 600"}
    a = rows(tmp_path / "a.jsonl", [right, {"index": 29, "error": "http 500"}])
    b = rows(tmp_path / "b.jsonl", [right, {"index": 29, "completion": "#### 13"}])
    shown = gradeschool("diff", a, b, "-d", "sample").out
    assert "A  a (recorded completions): 100.00 % of 1 completion by" in shown
    assert "B  b (recorded completions): 100.00 % of 2 completions by" in shown
