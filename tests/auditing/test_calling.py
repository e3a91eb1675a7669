"""Calling a scorer in a child process: hangs, and the processes that it starts."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from gradeschool.auditing.calling import AuditedScorer, Question
from gradeschool.auditing.target import target_of
from tests.support import scorers


def test_a_scorer_that_hangs_too_often_is_asked_no_further() -> None:
    with AuditedScorer(target_of(scorers.never), 0.5) as scorer:
        scorer.hangs = 12
        assert scorer.replies([Question("18", "18")])[0].given_up
        assert scorer.reply(Question("18", "18")).score == 0.0


PATIENCE = 120  # seconds, on a busy machine


LINUX = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")


class Process(NamedTuple):
    """A process that runs, by Linux's list of them."""

    number: int
    parent: int
    group: int


def running() -> list[Process]:
    """All processes but those that ended and were not reaped."""
    processes = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent, group = stat.read_text().rpartition(")")[2].split()[:3]
            if state != "Z":
                processes.append(Process(int(stat.parent.name), int(parent), int(group)))
    return processes


def children() -> set[int]:
    """The processes that this one started."""
    return {process.number for process in running() if process.parent == os.getpid()}


@LINUX
@pytest.mark.parametrize("function", [scorers.by_executor, scorers.by_pool, scorers.forks])
def test_a_scorer_with_processes_is_judged_and_leaves_none_behind(
    function: Callable[..., object],
) -> None:
    start, earlier = time.monotonic(), children()
    with AuditedScorer(target_of(function), 0.5) as scorer:
        questions = [Question(f"#### {gold}", str(gold)) for gold in range(8)]
        assert all(map(scorer.accepts, scorer.replies(questions)))
        assert scorer.reply(Question("#### 18", "19")).score == 0.0
        groups = children() - earlier
        members = [process for process in running() if process.group in groups]
        assert len(groups) == 1
        assert len(members) > 1 or function is scorers.forks  # whose processes end by themselves
    while any(process.group in groups for process in running()):  # a killed process takes a moment
        assert time.monotonic() - start < PATIENCE
        time.sleep(0.05)


@LINUX
def test_a_process_that_outlives_the_one_that_started_it_is_killed(tmp_path: Path) -> None:
    note, start = tmp_path / "process", time.monotonic()
    with AuditedScorer(target_of(scorers.forks_for_ever), 0.5) as scorer:
        assert "exit status 7" in scorer.reply(Question(str(note), "18")).raised
        while int(note.read_text()) in {process.number for process in running()}:
            assert time.monotonic() - start < PATIENCE
            time.sleep(0.05)
