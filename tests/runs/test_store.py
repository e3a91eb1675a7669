"""The run folder: nothing stored is lost, nothing torn is read as whole."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradeschool.completion import Completion, Decoding, Finish, Prompt, Usage
from gradeschool.errors import StoreError
from gradeschool.formats.own_run import from_fields, to_line
from gradeschool.models.base import Request
from gradeschool.problem import Problem
from gradeschool.runs import store as store_module
from gradeschool.runs.store import QUARANTINE_FILE, Answered, GroupWriter, RunStore

REQUEST = Request(Problem.from_gold("7"), Prompt(text="?"), Decoding(), ("key",), (0,))
SEVERAL = 10


def completion(number: int, text: str = "#### 1", error: str = "") -> Completion:
    return Completion(f"key-{number}", str(number), 0, text, Finish.STOP, error=error, run="r")


def stored(folder: Path, *completions: Completion) -> None:
    with RunStore(folder) as store:
        for item in completions:
            store.append([to_line(item, "Q?")], [item])


@given(text=st.text(), reasoning=st.text(), error=st.text(), sample=st.integers(0, 10**6))
def test_every_completion_survives_the_way_to_disk_and_back(
    text: str, reasoning: str, error: str, sample: int
) -> None:
    item = Completion("k", "7", sample, text, Finish.LENGTH, Usage(3, None), "m", reasoning, error)
    assert from_fields(json.loads(to_line(item, "Q?"))) == item


def test_lone_surrogates_and_line_separators_survive(tmp_path: Path) -> None:
    odd = completion(1, "a\ud800b\u2028c\u0085d\x00e")
    stored(tmp_path, odd)
    with RunStore(tmp_path) as store:
        assert store.completions == {odd.key: odd}


def test_a_torn_last_line_is_moved_to_quarantine_and_the_rest_is_kept(tmp_path: Path) -> None:
    stored(tmp_path, completion(1), completion(2))
    whole = (tmp_path / "completions.jsonl").read_bytes()
    (tmp_path / "completions.jsonl").write_bytes(whole[:-7])
    with RunStore(tmp_path) as store:
        assert set(store.completions) == {"key-1"}
        assert store.repairs == ("the last row was incomplete",)
        store.append([to_line(completion(2), "Q?")], [completion(2)])
    assert (tmp_path / "completions.jsonl").read_bytes() == whole
    assert (tmp_path / QUARANTINE_FILE).read_bytes() == whole.splitlines(True)[1][:-7] + b"\n"


@settings(max_examples=60, deadline=None)
@given(cut=st.integers(0, 600), junk=st.binary(max_size=30))
def test_any_cut_and_any_junk_leave_the_rows_before_it_readable(
    tmp_path_factory: pytest.TempPathFactory, cut: int, junk: bytes
) -> None:
    folder = tmp_path_factory.mktemp("run")
    stored(folder, *(completion(number) for number in range(3)))
    path = folder / "completions.jsonl"
    lines = path.read_bytes().splitlines(True)
    cut = min(cut, sum(map(len, lines)))
    path.write_bytes(b"".join(lines)[:cut] + junk)
    intact = sum(sum(map(len, lines[: n + 1])) <= cut for n in range(3))
    with RunStore(folder) as store:
        # Junk that begins with a line break completes no row; a row is whole or it is not there.
        assert {f"key-{n}" for n in range(intact)} <= set(store.completions)


def test_a_failed_sample_is_replaced_by_its_later_completion_and_never_the_reverse(
    tmp_path: Path,
) -> None:
    failed, right = completion(1, "", "timeout: slow"), completion(1)
    stored(tmp_path, failed, right, failed)
    with RunStore(tmp_path) as store:
        assert store.completions["key-1"] == right


def test_a_second_process_is_refused_and_told_who_holds_the_folder(tmp_path: Path) -> None:
    with RunStore(tmp_path):
        code = (
            "import sys; from pathlib import Path; from gradeschool.runs.store import RunStore\n"
            "with RunStore(Path(sys.argv[1])): pass"
        )
        second = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True
        )
    assert second.returncode == 1
    assert f"in use by process {os.getpid()}" in second.stderr
    with RunStore(tmp_path) as store:
        assert store.completions == {}


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match=r"cannot use the run folder .*give another with -o"):
        RunStore(tmp_path / "file" / "run").__enter__()


def test_a_full_disk_is_a_clear_error_and_keeps_what_was_stored(tmp_path: Path) -> None:
    stored(tmp_path, completion(1))
    with RunStore(tmp_path) as store:
        full = Path("/dev/full")
        if not full.exists():
            pytest.skip("this system has no /dev/full")
        assert store._file is not None
        store._file.close()
        store._file = full.open("ab", buffering=0)
        with pytest.raises(StoreError, match="what was stored before is intact"):
            store.append([to_line(completion(2), "Q?")], [completion(2)])
        store._file.close()
        store._file = (tmp_path / "completions.jsonl").open("ab", buffering=0)
    with RunStore(tmp_path) as store:
        assert set(store.completions) == {"key-1"}


def test_files_are_written_whole_and_leave_no_remains(tmp_path: Path) -> None:
    with RunStore(tmp_path) as store:
        store.write_json("a.json", {"x": 1})
        store.write_json("a.json", {"x": 2})
        assert store.read_json("a.json") == {"x": 2}
        assert store.read_json("b.json") is None
    assert not list(tmp_path.glob(".tmp-*"))


def test_a_damaged_manifest_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{")
    with RunStore(tmp_path) as store, pytest.raises(StoreError, match=r"cannot read .*run\.json"):
        store.read_json("run.json")


def test_a_store_whose_folder_was_removed_closes_its_file_all_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    store = RunStore(folder)
    with pytest.raises(StoreError, match="was removed while the run was writing"), store:
        shutil.rmtree(folder)
        store.append([to_line(completion(1), "Q?")], [completion(1)])
    with pytest.raises(ValueError, match="closed"):
        store.append([to_line(completion(2), "Q?")], [completion(2)])


def numbers(answered: Sequence[Answered]) -> list[str]:
    return [item.problem_id for _, item in answered]


def test_rows_that_are_queued_at_the_end_are_stored_and_handed_on(tmp_path: Path) -> None:
    handled: list[str] = []

    async def use() -> None:
        with RunStore(tmp_path) as store:
            async with GroupWriter(store, lambda rows: handled.extend(numbers(rows))) as writer:
                for number in range(SEVERAL):
                    writer.add(REQUEST, completion(number))
                assert handled == []
            assert len(store.completions) == SEVERAL

    asyncio.run(use())
    assert handled == [str(number) for number in range(SEVERAL)]


def test_others_have_their_turn_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that hands on one row in a turn, once the rows are stored."""
    monkeypatch.setattr(store_module, "PAUSE_SECONDS", 0)
    monkeypatch.setattr(store_module, "HANDLED_A_TURN", 1)
    turns: list[list[str]] = [[]]

    async def use() -> None:
        with RunStore(tmp_path) as store:
            async with GroupWriter(store, lambda rows: turns[-1].extend(numbers(rows))) as writer:
                for number in range(SEVERAL):
                    writer.add(REQUEST, completion(number))
                while sum(map(len, turns)) < SEVERAL:
                    assert not turns[-1] or len(store.completions) == SEVERAL
                    await asyncio.sleep(0)
                    turns.append([])

    asyncio.run(use())
    assert [number for turn in turns for number in turn] == [str(n) for n in range(SEVERAL)]
    assert max(map(len, turns)) == 1
