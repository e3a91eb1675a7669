"""A file is written whole or not at all."""

import os
from pathlib import Path

import pytest

from gradeschool import masking
from gradeschool.atomic import (
    append_lines,
    open_regular,
    replacing,
    write_file,
    write_json,
    writing_output,
)
from gradeschool.errors import InputError, StoreError

KEY = "sk-atomic-4815162342"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_when_the_block_ends_and_not_before(tmp_path: Path) -> None:
    target = tmp_path / "results.json"
    target.write_text("old")
    with replacing(target) as part:
        assert part.suffix == ".json"
        part.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert names(tmp_path) == ["results.json"]


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_a_block_that_fails_leaves_the_old_file(tmp_path: Path, error: BaseException) -> None:
    target = tmp_path / "results.json"
    target.write_text("old")

    def fail() -> None:
        with replacing(target) as part:
            part.write_text("half")
            raise error

    with pytest.raises(type(error)):
        fail()
    assert target.read_text() == "old"
    assert names(tmp_path) == ["results.json"]


def test_a_pipe_or_device_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="no regular file"), writing_output(pipe), replacing(pipe):
        pass
    with pytest.raises(StoreError, match="no regular file"):
        write_file(pipe, b"text")
    assert pipe.is_fifo()


def test_secrets_are_masked_in_what_is_written_and_appended(tmp_path: Path) -> None:
    masking.register_secret(KEY)
    write_json(tmp_path / "a.json", {"key": KEY})
    append_lines(tmp_path / "a.jsonl", [{"key": KEY}])
    assert KEY not in (tmp_path / "a.json").read_text() + (tmp_path / "a.jsonl").read_text()


def test_rows_are_appended_below_a_line_that_a_killed_process_left(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"n": 1}\n{"n":')
    append_lines(path, [{"n": 2}])
    assert path.read_text().splitlines() == ['{"n": 1}', '{"n":', '{"n": 2}']


def test_a_folder_that_is_missing_is_an_error_with_the_path(tmp_path: Path) -> None:
    target = tmp_path / "no" / "a.json"
    with pytest.raises(StoreError, match=r"cannot write .*a\.json': No such file"):
        write_json(target, 1)
    with pytest.raises(StoreError, match=r"cannot write .*a\.json': No such file"):
        append_lines(target, [{}])

    def write_plainly() -> None:
        with writing_output(target):
            target.write_text("x")

    with pytest.raises(InputError, match=r"cannot write .*a\.json'.*; give another path"):
        write_plainly()


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_only_a_regular_file_is_opened(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "place"
    if kind == "link":
        path.symlink_to(tmp_path / "elsewhere")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(StoreError, match="remove it"):
        open_regular(path, os.O_RDONLY)
    assert not (tmp_path / "elsewhere").exists()
