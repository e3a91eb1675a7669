"""Check that a stage ends as its command does, or with its parent process."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from gradeschool.verifier.reproduce.stages import STAGE_PROGRAM
from gradeschool.worker import python_command


def test_a_stage_ends_when_the_one_who_started_it_is_gone(tmp_path: Path) -> None:
    words = ["data", "generate", "-n", "1000000", "-o", str(tmp_path / "long.jsonl")]
    process = subprocess.Popen(
        python_command(STAGE_PROGRAM, *words), stdin=subprocess.PIPE, text=True
    )
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1.0)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(60) == 130
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("words", "status"), [(("data", "list"), 0), (("data", "nothing"), 2)])
def test_a_stage_ends_as_its_command_does(words: Sequence[str], status: int) -> None:
    with subprocess.Popen(
        python_command(STAGE_PROGRAM, *words), stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.wait(60) == status  # though its standard input is open
