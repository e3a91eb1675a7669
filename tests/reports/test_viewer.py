"""Check the rows and pages that a viewer makes of the runs of a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradeschool.errors import InputError
from gradeschool.reports.viewer import MOST_RUNS, RunViewer, _stamp
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.recorded_run import accuracy
from tests.support.recorded_run import run as run  # a fixture


def test_a_file_that_is_gone_does_not_hide_a_run(tmp_path: Path) -> None:
    """A link to nothing fails as a temporary file does that was renamed in the meantime."""
    (tmp_path / "completions.jsonl").write_bytes(b"12345")
    (tmp_path / "results.json.tmp").symlink_to(tmp_path / "renamed")
    size, time = _stamp(tmp_path)
    assert size == 5
    assert time == (tmp_path / "completions.jsonl").stat().st_mtime_ns


def test_a_row_of_the_leaderboard_follows_its_run(run: Path) -> None:
    viewer = RunViewer(run.parent)
    (row,) = viewer.state()
    assert (row["name"], row["protocol"], row["scorer"]) == (
        "chat", "zero-shot/chat", "gradeschool/reader",
    )  # fmt: skip
    assert (row["answered"], row["planned"], row["failed"]) == (48, 48, 0)
    assert f"{100 * row['accuracy']:.2f} %" == accuracy(run)
    assert row["interval"][0] < row["accuracy"] < row["interval"][1]
    stored = run / "completions.jsonl"
    stored.write_bytes(b"".join(stored.read_bytes().splitlines(keepends=True)[:20]))
    (row,) = viewer.state()
    assert (row["answered"], row["planned"]) == (20, 48)


def test_a_run_that_cannot_be_read_is_a_row_with_its_fault(run: Path) -> None:
    (run / "run.json").write_text("{")
    (row,) = RunViewer(run.parent).state()
    assert set(row) == {"name", "error"}
    assert (row["name"], "run.json" in row["error"]) == ("chat", True)


def test_a_page_is_made_of_runs_below_the_folder_alone(run: Path) -> None:
    viewer = RunViewer(run.parent)
    for names in (["chat"], ["chat", "chat"]):
        page = viewer.report(names)
        assert "of 48</span> correct over 48 problems" in page
        assert "Differences are from the first run" not in page
    for names in ([], ["absent"], ["../runs/chat"], ["chat", "absent"]):
        with pytest.raises(InputError, match="no such runs"):
            viewer.report(names)
    with pytest.raises(InputError, match=f"at most {MOST_RUNS} runs on one page"):
        viewer.report([str(number) for number in range(MOST_RUNS + 1)])
    with pytest.raises(InputError, match="is not a folder"):
        RunViewer(run / "absent")
