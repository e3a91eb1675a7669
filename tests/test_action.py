"""The GitHub Action: its script is run as a job runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import run_script

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / ".github" / "compare.sh"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two run folders, "cot" (40 of 48 right) and "chat" (43)."""
    folder = tmp_path_factory.mktemp("runs")
    for style in ("cot", "chat"):
        model = f"recorded/sample#handwritten/{style}"
        ended = run_script("eval", "-m", model, "-d", "sample", "-o", folder / style, "--quiet")
        assert ended.status == 0, ended.err
    return folder


def job(runs: Path, folder: Path, **inputs: str) -> tuple[int, str, str, str]:
    """Run the script; return exit status, output, the job's summary and its outputs."""
    summary, outputs = folder / "summary.md", folder / "outputs"
    values = {"NEW": "chat", "OLD": "cot", "MARGIN": "1", "SCORER": "", "DATASET": "", **inputs}
    changes = {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(outputs),
               "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}  # fmt: skip
    ended = subprocess.run(
        ["bash", SCRIPT], cwd=runs, env=os.environ | values | changes, capture_output=True,
        text=True, timeout=120,
    )  # fmt: skip
    return ended.returncode, ended.stdout, summary.read_text(), outputs.read_text()


def test_a_checkpoint_that_is_not_worse_passes(runs: Path, tmp_path: Path) -> None:
    code, shown, summary, outputs = job(runs, tmp_path, MARGIN="20")
    assert (code, outputs) == (0, "status=passed\n")
    assert "met: recorded-handwritten/chat" in shown
    assert summary.startswith("### gradeschool: passed\n\n| run | accuracy |")
    assert "difference excludes a loss of more than the margin (20)." in summary
    assert "met: recorded-handwritten/chat" in summary


@pytest.mark.parametrize(("new", "old"), [("cot", "chat"), ("chat", "cot")])
def test_an_open_margin_fails_as_no_loss(runs: Path, tmp_path: Path, new: str, old: str) -> None:
    """48 problems exclude no loss of 1 point, whichever run has the higher accuracy."""
    code, _, summary, outputs = job(runs, tmp_path, NEW=new, OLD=old)
    assert (code, outputs) == (1, "status=not shown\n")
    assert summary.startswith("### gradeschool: not shown\n\n| run | accuracy |")
    assert "neither excludes a loss of more than the margin (1) nor shows a loss" in summary


@pytest.mark.parametrize(
    ("wrong", "margin", "ended", "said"),
    [
        ("completion", "1", (1, "status=worse\n"), "The whole 95 % interval of the difference"),
        ("error", "30", (3, "status=incomplete\n"), "without the problems of which one run has no"),
    ],
)
def test_a_loss_and_missing_completions_are_told_apart(
    runs: Path, tmp_path: Path, wrong: str, margin: str, ended: tuple[int, str], said: str
) -> None:
    """All answers wrong are a loss; one failed request makes a passed job incomplete."""
    rows = list(map(json.loads, (runs / "chat" / "completions.jsonl").read_text().splitlines()))
    kept = [{"id": row["problem_id"], "completion": row["completion"]} for row in rows]
    if wrong == "error":
        kept[0] = {"id": kept[0]["id"], "error": "http 500"}
    else:
        kept = [{"id": row["id"], "completion": "#### 987654321"} for row in kept]
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(json.dumps(row) + "\n" for row in kept))
    inputs = {"NEW": str(answers), "DATASET": "sample", "SCORER": "gradeschool/reader"}
    code, _, summary, outputs = job(runs, tmp_path, **inputs, MARGIN=margin)
    assert ((code, outputs), said in summary) == (ended, True)


def test_bad_input_is_an_error_and_nothing_is_run_by_a_name(runs: Path, tmp_path: Path) -> None:
    code, shown, summary, outputs = job(runs, tmp_path, NEW="$(touch owned)", DATASET="sample")
    assert (code, outputs) == (2, "status=error\n")
    assert "does not exist" in shown
    assert "does not exist" in summary
    assert not list(runs.rglob("owned"))
