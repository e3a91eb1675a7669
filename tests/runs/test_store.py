"""The rows of a run folder: nothing stored is lost, nothing torn is read as whole."""

import errno
import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradeschool.completion import Completion, Finish, Usage
from gradeschool.errors import StoreError
from gradeschool.formats.own_run import from_fields, is_changed, open_store, to_line


def completion(number: int, text: str = "#### 1", error: str = "") -> Completion:
    return Completion(f"key-{number}", str(number), 0, text, Finish.STOP, error=error, run="r")


def stored(folder: Path, *completions: Completion) -> None:
    with open_store(folder) as store:
        for item in completions:
            store.append(item, "Q?")


@given(text=st.text(), reasoning=st.text(), error=st.text(), sample=st.integers(0, 10**6))
def test_every_completion_comes_back(text: str, reasoning: str, error: str, sample: int) -> None:
    item = Completion("k", "7", sample, text, Finish.LENGTH, Usage(3, None), "m", reasoning, error)
    fields = json.loads(to_line(item, "Q?"))
    assert from_fields(fields) == item
    assert not is_changed(fields)
    assert is_changed({**fields, "completion": f"{text}!"})


def test_a_changed_row_is_left_out_and_stays(tmp_path: Path) -> None:
    stored(tmp_path, completion(1), completion(2))
    path = tmp_path / "completions.jsonl"
    changed = path.read_bytes().replace(b"#### 1", b"#### 2", 1)
    path.write_bytes(changed)
    with open_store(tmp_path) as store:
        assert set(store.completions) == {"key-2"}
        assert store.damaged.startswith("1 row is damaged (row 1)")
        store.append(completion(1), "Q?")
    assert path.read_bytes().startswith(changed)


@settings(max_examples=60, deadline=None)
@given(cut=st.integers(0, 600), junk=st.binary(max_size=30))
def test_any_cut_and_any_junk_leave_the_rows_before_readable(
    tmp_path_factory: pytest.TempPathFactory, cut: int, junk: bytes
) -> None:
    folder = tmp_path_factory.mktemp("run")
    (folder / "run.json").write_text("{}")
    stored(folder, *(completion(number) for number in range(3)))
    path = folder / "completions.jsonl"
    lines = path.read_bytes().splitlines(True)
    cut = min(cut, sum(map(len, lines)))
    path.write_bytes(b"".join(lines)[:cut] + junk)
    intact = {f"key-{n}" for n in range(3) if sum(map(len, lines[: n + 1])) <= cut}
    with open_store(folder) as store:
        assert intact <= set(store.completions)
        store.append(completion(7), "Q?")
    with open_store(folder) as store:
        assert intact | {"key-7"} <= set(store.completions)


def test_a_failed_sample_is_replaced_by_an_answer_never_the_reverse(tmp_path: Path) -> None:
    failed, right = completion(1, "", "timeout: slow"), completion(1)
    stored(tmp_path, failed, right, completion(1, "other"), failed)
    with open_store(tmp_path) as store:
        assert store.completions["key-1"] == right


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from gradeschool.formats.own_run import open_store\n"
        "with open_store(Path(sys.argv[1])): pass"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with open_store(tmp_path):
        second = subprocess.run(command, capture_output=True, text=True)
    assert second.returncode == 1
    assert "in use by another process" in second.stderr
    assert subprocess.run(command).returncode == 0


def test_a_lack_of_locks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(file: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(StoreError, match=r"cannot use the folder .*: No locks available"):
        open_store(tmp_path).__enter__()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_a_clear_error_and_keeps_what_was_stored(tmp_path: Path) -> None:
    stored(tmp_path, completion(1))
    with open_store(tmp_path) as store:
        own, store._file = store._file, os.open("/dev/full", os.O_WRONLY)
        with pytest.raises(StoreError, match="what was stored before is intact"):
            store.append(completion(2), "Q?")
        os.close(store._file)
        store._file = own
    with open_store(tmp_path) as store:
        assert set(store.completions) == {"key-1"}


def test_a_file_that_is_no_run_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "completions.jsonl"
    path.write_text('{"prompt": "?", "completion": "18"}')
    with pytest.raises(StoreError, match="is not part of a run; give another folder"):
        open_store(tmp_path).__enter__()
    assert path.read_text() == '{"prompt": "?", "completion": "18"}'
