"""Processes that die at any moment, disks that fill, folders that vanish: nothing is lost."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradeschool.errors import StoreError
from gradeschool.formats import run_folder
from tests.support.fault_server import (
    FaultServer,
    ReceivedRequest,
    evaluate_at,
    fault_server,
    hang,
    write_sums,
)
from tests.support.files import stored_rows

PROBLEMS = 100
CONNECTIONS = 8
KILLS = int(os.environ.get("GRADESCHOOL_KILLS", "6"))


def command(server: FaultServer, folder: Path, problems: Path) -> list[str]:
    arguments = ["eval", "-m", f"{server.url}/m", "-d", str(problems), "-o", str(folder)]
    more = ["--connections", str(CONNECTIONS)]
    return [sys.executable, "-m", "gradeschool", *arguments, *more]


def numbers(folder: Path) -> set[int]:
    return {int(row["problem_id"]) for row in stored_rows(folder) if not row["error"]}


def number(request: ReceivedRequest) -> int:
    return int(request.question.split("What is ")[1].split()[0])


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    return write_sums(tmp_path / "problems.jsonl", PROBLEMS)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server(delay=0.01) as running:
        yield running


def finished(server: FaultServer, folder: Path, problems: Path) -> None:
    """Finish a run with the same command, and hold it to everything that it promises."""
    stored, sent = numbers(folder), len(server.requests)
    result = subprocess.run(
        command(server, folder, problems), capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    again = [number(request) for request in server.requests[sent:]]
    assert not stored & set(again)
    assert sorted([*stored, *again]) == list(range(PROBLEMS))
    assert sorted(numbers(folder)) == list(range(PROBLEMS))
    assert len({row["key"] for row in stored_rows(folder)}) == len(stored_rows(folder)) == PROBLEMS
    fields = json.loads((folder / "results.json").read_text())
    assert (fields["n"], fields["missing"], fields["failed"]) == (PROBLEMS, 0, 0)
    assert not list(folder.glob(".tmp-*"))


@pytest.mark.slow
def test_random_kills_lose_nothing(server: FaultServer, problems: Path, tmp_path: Path) -> None:
    """GRADESCHOOL_KILLS=200 for the long form."""
    rng = random.Random(5)
    folder = tmp_path / "run"
    for _ in range(KILLS):
        stored, sent = numbers(folder), len(server.requests)
        process = subprocess.Popen(command(server, folder, problems), stderr=subprocess.DEVNULL)
        while len(server.requests) == sent and process.poll() is None and rng.random() > 0.002:
            time.sleep(0.002)  # now and then it dies before its first request
        time.sleep(rng.uniform(0, 0.2))
        process.kill()
        process.wait()
        again = {number(request) for request in server.requests[sent:]}
        assert not stored & again
        assert stored <= numbers(folder)
        # what was asked is stored, but for what was in flight or on its way to the disk
        assert len(again - numbers(folder)) <= 2 * CONNECTIONS
        if len(numbers(folder)) > PROBLEMS * 3 // 4:
            shutil.rmtree(folder)
    finished(server, folder, problems)


TORN = b'{"schema": 1, "key": "ab'
DEATH = "os.kill(os.getpid(), signal.SIGKILL)"
STAGES = {
    "before the first request": f"Dispatcher.send_all = lambda *a, **k: {DEATH}",
    "a response came, its row is not written": f"RunStore.append = lambda *a: {DEATH}",
    "in the middle of a row": f"""
whole = RunStore.append
def append(store, completion, question):
    if len(store.completions) < 50:
        return whole(store, completion, question)
    os.write(store._file, TORN)
    {DEATH}
RunStore.append = append""",
    "a row is written, not synced": f"""
whole = RunStore.append
def append(store, completion, question):
    whole(store, completion, question)
    if len(store.completions) >= 50: {DEATH}
RunStore.append = append""",
    "in a sync": f"RunStore.sync = lambda *a: {DEATH}",
    "before the results": f"evaluate.summarise = lambda *a, **k: {DEATH}",
    "in the middle of the results": f"""
class Half(type(Path())):
    def replace(self, target):
        if target.name == "results.json": {DEATH}
        return super().replace(target)
whole = atomic.write_file
atomic.write_file = lambda target, body: whole(Half(target), body)""",
}


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_a_process_that_dies_at_a_stage_is_followed_by_one_that_finishes(
    stage: str, server: FaultServer, problems: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    arguments = command(server, folder, problems)
    code = f"""
import os, signal, sys
from pathlib import Path
from gradeschool import atomic
from gradeschool.runs import evaluate
from gradeschool.runs.send import Dispatcher
from gradeschool.formats.run_folder import RunStore
TORN = {TORN!r}
{STAGES[stage]}
from gradeschool.cli import main
main()
"""
    first = subprocess.run(
        [sys.executable, "-c", code, *arguments[3:]], capture_output=True, text=True, timeout=60
    )
    assert first.returncode == -signal.SIGKILL, first.stderr
    torn = not (folder / "completions.jsonl").read_bytes().endswith(b"\n")
    assert torn == (
        stage == "in the middle of a row" or not (folder / "completions.jsonl").stat().st_size
    )
    finished(server, folder, problems)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_two_signals_end_a_run(number: signal.Signals, problems: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with fault_server(lambda request: hang if request.number > 20 else None) as server:
        process = subprocess.Popen(
            command(server, folder, problems), stderr=subprocess.PIPE, text=True
        )
        while len(stored_rows(folder)) < 20 or server.running < CONNECTIONS:
            time.sleep(0.005)
        assert process.stderr is not None
        process.send_signal(number)
        while "press Ctrl-C again to stop now" not in (line := process.stderr.readline()):
            assert process.poll() is None
        assert f"stopping: waiting for {CONNECTIONS} in flight" in line
        process.send_signal(number)
        _, printed = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "completions are kept in" in printed
    assert "Traceback" not in printed
    assert len(numbers(folder)) == 20


def test_a_folder_removed_in_use_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_folder, "SYNC_SECONDS", 0.02)
    folder = tmp_path / "run"

    def choose(request: ReceivedRequest) -> None:
        if request.number == 30:
            shutil.rmtree(folder)

    with (
        fault_server(choose, delay=0.01) as server,
        pytest.raises(StoreError, match="was removed while the run was writing"),
    ):
        evaluate_at(server.url, folder, problems=400)
    assert len(server.requests) < 400
