"""Check what `gradeschool finetune` refuses, and that it leaves other folders alone."""

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch, which make test-all installs")
pytest.importorskip("transformers")

from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.trainees import write_problems

QUICK = ("--vocabulary", 300, "--batch", 8, "--quiet")
SHORT = ("--epochs", 2)
PROBLEMS = 48


@pytest.fixture(scope="module")
def problems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_problems(tmp_path_factory.mktemp("data") / "sums.jsonl", PROBLEMS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-m", "no/such/folder"), r"'no/such/folder' contains no model"),
        (("-m", "new:7B"), r"no size of a new model is called '7B'.*0\.2M"),
        (("-d", "no-such-data"), r"no dataset is called 'no-such-data'"),
        (("-n", 4, "--batch", 2, "--processes", 2), r"2 processes were requested, 1 started"),
        (("--vocabulary", 100), r"vocabulary of 100 tokens is too small; give 259"),
    ],
)
def test_bad_input_is_an_error_in_words(
    options: tuple[Any, ...], message: str, problems: Path, gradeschool: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    options_by_name = {"-m": "new:0.2M", "-d": problems, "-o": folder}
    options_by_name |= dict(zip(options[::2], options[1::2], strict=True))
    ended = gradeschool(
        "finetune", *(part for pair in options_by_name.items() for part in pair), "--quiet"
    )
    assert ended.status == 2
    assert re.search(message, ended.err), ended.err
    assert "Traceback" not in ended.err
    assert not (folder / "model.safetensors").exists()


def test_a_folder_with_something_else_is_left_alone(
    problems: Path, gradeschool: Command, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    ended = gradeschool(
        "finetune", "-m", "new:0.2M", "-d", problems, "-o", tmp_path, *SHORT, *QUICK
    )
    assert ended.status == 2
    assert "contains no training of gradeschool; nothing was written" in ended.err
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_a_folder_in_use_is_refused(problems: Path, gradeschool: Command, tmp_path: Path) -> None:
    from gradeschool.atomic import FolderLock

    (tmp_path / "out" / "training").mkdir(parents=True)
    with FolderLock(tmp_path / "out" / "training"):
        ended = gradeschool("finetune", "-m", "new:0.2M", "-d", problems, "-o", tmp_path / "out")
    assert ended.status == 2
    assert "in use by another process" in ended.err
