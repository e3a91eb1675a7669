"""Run folders: verified, listed, repaired; nothing stored is lost, nothing torn read as whole."""

import errno
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradeschool.cli import runs as commands
from gradeschool.completion import Completion, Finish, Usage
from gradeschool.errors import StoreError
from gradeschool.formats.run_folder import digest_of, from_fields, is_changed, open_store, to_line
from gradeschool.runs.folder import find_runs
from tests.support.command import Command
from tests.support.files import jsonl, stored_rows
from tests.support.recorded_run import RECORDED
from tests.support.recorded_run import run as run  # a fixture

Rows = list[dict[str, Any]]


def rewrite(run: Path, change: Callable[[Rows], Rows] = list, tail: bytes = b"") -> None:
    """Change the stored rows of a run, and append bytes."""
    path = jsonl(run / "completions.jsonl", change(stored_rows(run)))
    path.write_bytes(path.read_bytes() + tail)


def with_digest(row: Mapping[str, Any], **changed: object) -> dict[str, Any]:
    fields = {**row, **changed}
    digest = digest_of(fields["key"], fields["completion"], fields["error"])
    return {**fields, "digest": digest}


# A change of the stored rows, and what is said of it.
CHANGED_ROWS: dict[str, tuple[Callable[[Rows], Rows], str]] = {
    "a text was changed": (
        lambda rows: [{**rows[0], "completion": "x"}, *rows[1:]],
        "1 row is damaged (row 1); eval requests what is missing",
    ),
    "a row was removed": (
        lambda rows: rows[1:],
        "results.json counts 48 samples, and 47 are stored",
    ),
    "a key of another request": (
        lambda rows: [{**rows[0], "sample": 1}, *rows[1:]],
        "1 row has a key that does not match its request: problem 0 sample 1",
    ),
    "a problem of another dataset": (
        lambda rows: [{**rows[0], "problem_id": "x"}, *rows[1:]],
        "1 row has a key that does not match its request: problem x sample 0",
    ),
    "two answers for one key": (
        lambda rows: [*rows, with_digest(rows[0], completion="other")],
        "1 sample has several texts",
    ),
}
# A change of another file: its name, the words before and after.
CHANGED_FILES = {
    "another model": ("run.json", "handwritten/chat", "handwritten/cot", "48 rows have a key"),
    "a protocol that changed": (
        "run.json", '"digest": "', '"digest": "00', "the protocol has changed"
    ),
    "no protocol": (
        "run.json", '"protocol"', '"protocols"', "run.json was changed or damaged"
    ),
    "results by another scorer": (
        "results.json", "gradeschool/reader", "openai/2021",
        "results.json has scores by openai/2021, the run's scorers are gradeschool/reader",
    ),
    "a score that was improved": (
        "results.json", '"correct": 43', '"correct": 44',
        "does not match gradeschool/reader: correct 44, not 43",
    ),
    "a later schema": ("run.json", '"schema": 1', '"schema": 9', "run.json has the schema 9"),
}  # fmt: skip


@pytest.mark.parametrize("name", [*CHANGED_ROWS, *CHANGED_FILES])
def test_verify_finds_damage(name: str, gradeschool: Command, run: Path) -> None:
    if name in CHANGED_ROWS:
        change, words = CHANGED_ROWS[name]
        rewrite(run, change)
    else:
        file, old, new, words = CHANGED_FILES[name]
        assert old in (run / file).read_text()
        (run / file).write_text((run / file).read_text().replace(old, new))
    result = gradeschool("runs", "verify", run, "--json")
    faults = [each["text"] for each in result.json()["findings"] if each["fault"]]
    assert result.status == 1
    assert any(words in text for text in faults), faults


def test_verify_finds_nothing_wrong_with_a_new_run(gradeschool: Command, run: Path) -> None:
    result = gradeschool.done("runs", "verify", run)
    assert "48 keys recomputed, all match" in result.out
    assert "results.json has the scores of these 48 samples" in result.out


@pytest.mark.parametrize(
    ("change", "tail", "said"),
    [
        (CHANGED_ROWS["a text was changed"][0], b"", "(row 1)"),
        (lambda rows: rows[2:], b"", ""),
        (list, b'{"schema": 1, "key": "', "(row 49)"),
        (list, b"\0" * 64 + b"\n", "(row 49)"),
    ],
)
def test_eval_names_damaged_rows_and_requests_what_is_missing(
    change: Callable[[Rows], Rows], tail: bytes, said: str, gradeschool: Command, run: Path
) -> None:
    before = {row["key"]: row["completion"] for row in stored_rows(run)}
    rewrite(run, change, tail)
    left = (run / "completions.jsonl").read_bytes().rpartition(b"\n")[0]
    result = gradeschool.done("eval", *RECORDED, "-o", run)
    assert said in result.err
    assert (run / "completions.jsonl").read_bytes().startswith(left)  # damaged rows stay
    gradeschool.done("runs", "verify", run)
    scored = gradeschool("score", run, "-d", "sample", "--scorer", "gradeschool/reader", "--json")
    assert scored.json()["runs"][0]["n"] == len(before)


@pytest.mark.parametrize("name", ["completions.jsonl", "run.json", "results.json"])
def test_a_link_or_pipe_in_a_run_folder_is_not_followed(
    name: str, gradeschool: Command, run: Path, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.write_bytes((run / name).read_bytes())
    for kind in ("link", "pipe"):
        (run / name).unlink()
        if kind == "link":
            (run / name).symlink_to(precious)
        else:
            os.mkfifo(run / name)
        for words in (("runs", "show", run), ("runs", "verify", run)):
            assert "remove it" in gradeschool.refused(*words)
        gradeschool("eval", *RECORDED, "-o", run)
        if (run / name).is_symlink():
            assert precious.read_bytes()


def test_list_survives_a_damaged_and_a_vanishing_run(gradeschool: Command, run: Path) -> None:
    (run.parent / "damaged").mkdir()
    (run.parent / "damaged" / "run.json").write_text("{")
    (run.parent / "outside").symlink_to("/", target_is_directory=True)
    gone = run.parent / "gone"
    gradeschool.monkeypatch.setattr(commands, "find_runs", lambda place: [*find_runs(place), gone])
    result = gradeschool("runs", "list", run.parent)
    assert result.status == 2
    assert "damaged" in result.err and "gone" in result.err
    assert "zero-shot/chat" in result.out
    assert len(list(find_runs(run.parent))) == 2


def test_show_tells_a_run_in_progress(gradeschool: Command, run: Path) -> None:
    (run / "results.json").unlink()
    rewrite(run, lambda rows: rows[:-8], b'{"sch')
    shown = gradeschool("runs", "show", run).out
    assert "48 problems x 1: 40 answered, 0 failed, 1 damaged rows" in shown
    assert gradeschool("runs", "list", run.parent).out.count("40 of 48") == 1


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
        "import sys; from pathlib import Path; from gradeschool.formats import run_folder\n"
        "with run_folder.open_store(Path(sys.argv[1])): pass"
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
