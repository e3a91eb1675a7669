"""Check what `gradeschool export` prints, refuses and counts as unusable."""

import json
from pathlib import Path

from gradeschool.cli.export_verb import NAMES
from gradeschool.reports.exported_run import FORMATS
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.exports import TARGETS
from tests.support.exports import answers as answers  # a fixture
from tests.support.exports import run as run  # a fixture


def test_formats_are_those_of_the_command() -> None:
    assert tuple(FORMATS) == NAMES == tuple(TARGETS)


def test_words_for_what_cannot_be_exported(
    gradeschool: Command, answers: Path, tmp_path: Path
) -> None:
    """Several runs, an ending of another format, nothing but failures, a folder, no run."""
    several = tmp_path / "several.jsonl"
    rows = [{"index": 0, "run": name, "completion": "#### 600"} for name in ("a", "b")]
    several.write_text("".join(json.dumps(row) + "\n" for row in rows))
    failed = tmp_path / "failed.jsonl"
    failed.write_text(json.dumps({"index": 0, "error": "timeout"}) + "\n")
    out = tmp_path / "out.eval"
    for spec, target, output in (
        (several, out, f"'{several}#a', '{several}#b'"),
        (answers, tmp_path / "out.json", "give -o"),
        (failed, out, "1 sample has no completion"),
        (tmp_path / "none", out, "does not exist"),
    ):
        result = gradeschool("export", spec, "--to", "inspect", "-d", "sample", "-o", target)
        assert result.status == 2
        assert output in result.err
        assert "Traceback" not in result.err
    assert not out.exists()
    sample = gradeschool("export", f"{several}#b", "--to", "inspect", "-d", "sample", "-o", out)
    assert sample.status == 0, sample.err


def test_rows_that_cannot_be_used_are_told(gradeschool: Command, tmp_path: Path) -> None:
    """The rest is exported; the exit status is 3."""
    path = tmp_path / "answers.jsonl"
    rows = [{"index": 0, "completion": "#### 600"}, {"index": 99999, "completion": "#### 1"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "out.parquet"
    result = gradeschool("export", path, "--to", "parquet", "-d", "sample", "-o", out)
    assert result.status == 3
    assert "1 row could not be used" in result.err
    assert out.exists()


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
