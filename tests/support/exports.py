"""Exports for tests: the output of each format, and its file with the samples."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.command import Command
from tests.support.files import jsonl
from tests.support.report_page import HOSTILE

TARGETS = {"lm-eval": "lm_eval", "inspect": "log.eval", "parquet": "rows.parquet"}


def _only(folder: Path, pattern: str) -> Path:
    (path,) = folder.glob(pattern)
    return path


# Formats with samples: their file or folder -> the file for `gradeschool score`.
samples_of: dict[str, Callable[[Path], Path]] = {
    "lm-eval": lambda folder: _only(folder, "*/samples_*.jsonl"),
    "inspect": lambda file: file,
    "parquet": lambda file: file,
}


def export(gradeschool: Command, spec: object, name: str, folder: Path, *more: object) -> Path:
    """Export a run of the shipped problems; return the file or folder that was written."""
    target = folder / TARGETS[name]
    dataset = () if Path(str(spec)).is_dir() else ("-d", "sample")
    result = gradeschool("export", spec, "--to", name, "-o", target, *dataset, *more)
    assert result.status == 0, result.err
    return target


def runs_file(path: Path) -> Path:
    """Write a file of one run on two shipped problems (golds 600 and 13): 3 good, hostile, 1 error.

    Problem 0 has a good and a failed sample, problem 29 the others.
    """
    rows: list[dict[str, object]] = [
        {"index": 0, "sample": 0, "completion": "The total is $600.\n#### 600", "finish": "stop"},
        {"index": 0, "sample": 1, "error": "timeout: the server said nothing"},
        {"index": 29, "sample": 0, "completion": "So \\boxed{13}", "finish": "length"},
    ]
    rows += [
        {"index": 29, "sample": sample, "completion": text}
        for sample, text in enumerate(HOSTILE, start=1)
    ]
    named = [{"run": "org/model-7b", **row} for row in rows]
    return jsonl(path, named)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """The file from `runs_file`."""
    return runs_file(tmp_path / "answers.jsonl")
