"""`--json` of the commands that write files, and the completion of a shell."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.command import SCRIPT, Command
from tests.support.command import gradeschool as gradeschool  # a fixture


@pytest.fixture
def run(gradeschool: Command, tmp_path: Path) -> Path:
    """A run of 48 samples."""
    folder = tmp_path / "run"
    gradeschool("eval", "-m", "recorded/sample#handwritten/chat", "-d", "sample", "-o", folder,
                "--quiet")  # fmt: skip
    return folder


def test_report_names_what_it_wrote(gradeschool: Command, run: Path, tmp_path: Path) -> None:
    target = tmp_path / "table.md"
    written = gradeschool("report", run, "-o", target, "--json").json()
    assert written == {
        "report": {"file": str(target), "bytes": target.stat().st_size, "completions": 48}
    }


def test_export_names_what_it_wrote(gradeschool: Command, run: Path, tmp_path: Path) -> None:
    target = tmp_path / "rows.parquet"
    written = gradeschool("export", run, "--to", "parquet", "-o", target, "--json").json()
    assert written == {
        "files": [str(target)],
        "bytes": target.stat().st_size,
        "completions": 48,
        "failed": 0,
        "scorers": ["gradeschool/reader"],
    }


def test_reproduce_lists_its_commands(gradeschool: Command) -> None:
    plain = gradeschool("reproduce", "--preset", "laptop", "--dry-run")
    commands = gradeschool("reproduce", "--preset", "laptop", "--dry-run", "--json").json()
    assert commands["commands"] == plain.out.splitlines()
    assert all(line.startswith("gradeschool ") for line in commands["commands"])


@pytest.mark.parametrize(
    ("words", "completed"),
    [("gradeschool ev", "eval"), ("gradeschool eval --save", "--save-config")],
)
def test_a_shell_completes_commands_and_options(words: str, completed: str) -> None:
    changes = {
        "_GRADESCHOOL_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    result = subprocess.run(
        [SCRIPT], env=os.environ | changes, capture_output=True, text=True, timeout=60
    )
    assert result.stdout.split() == [f"plain,{completed}"]
