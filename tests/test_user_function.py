"""Functions of the user in a child process: how they are called, what harm they cannot do."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from gradeschool import Problem, judge
from gradeschool.scorer import Outcome
from gradeschool.scoring.causes import explain_verdict, read_text
from gradeschool.user_function import Call, UserFunction
from tests.support import scorers
from tests.support.command import Command
from tests.support.files import jsonl

PATIENCE = 120  # seconds, on a busy machine
LINUX = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
RIGHT, WRONG = ("#### 18", "18", None), ("#### 18", "19", None)


@pytest.fixture
def started() -> Iterator[Callable[..., UserFunction]]:
    """Start functions in children that end with the test."""
    running: list[UserFunction] = []

    def start(function: Callable[..., object] | str, wall: float = 20) -> UserFunction:
        running.append(UserFunction(function, wall=wall))
        return running[-1]

    yield start
    for function in running:
        function.stop()


Start = Callable[..., UserFunction]


def scores(
    target: UserFunction, rows: Sequence[tuple[str, str, Problem | None]], call: Call | None = None
) -> list[float | None]:
    return [target.reply(*row, call).score for row in rows]


@pytest.mark.parametrize(
    ("function", "call"),
    [
        (scorers.by_solution, Call("pair", "solution")),
        (scorers.by_number, Call("pair", "number")),
        (scorers.of_trl, Call("chats", name="answer")),
        (scorers.of_verl, Call("names")),
        (scorers.with_question, Call("names")),
        (scorers.of_openrlhf, Call("openrlhf")),
        (scorers.that_logs, Call("batch", name="answer")),
        (scorers.later, Call("pair")),
        (scorers.Graders.by_end, Call("pair")),
        (scorers.noisy, Call("pair")),
        (scorers.with_problem, Call("problem")),
    ],
)
def test_functions_are_called_by_their_signature(
    function: Callable[..., object], call: Call, started: Start
) -> None:
    target = started(function)
    assert call in target.calls()
    right, wrong = scores(target, [RIGHT, WRONG], call)
    assert right is not None
    assert wrong is not None
    assert right > wrong


def test_a_function_may_return_the_answer_as_text(started: Start, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "def f(completion, gold, problem): return problem.question + completion\n"
        "def g(completion, gold): return float('nan')\n"
    )
    problem = Problem("3", "How many? ", "18", "#### 18")
    assert started(f"{file}:f").reply("18", "18", problem).text == "How many? 18"
    reply = started(f"{file}:g").reply(*RIGHT)
    assert (reply.score, reply.text, reply.shown) == (None, None, "nan")


@pytest.mark.parametrize(
    ("function", "message", "hung"),
    [
        (scorers.sleeps, "no answer within 2 s", True),
        (scorers.dies, "exit status -", False),
        (scorers.writes_to_every_pipe, "the function wrote to the worker's own channel", False),
        (scorers.writes_nonsense, "the function wrote to the worker's own channel", False),
        (scorers.ends_with_status, "the process died with exit status 75", False),
        (scorers.sends_the_signal_of_a_long_computation, "died with exit status -", False),
        (scorers.closes_everything, "the process died with exit status 1", False),
    ],
)
def test_a_function_that_harms_its_process_costs_one_row(
    function: Callable[..., object], message: str, hung: bool, started: Start
) -> None:
    target = started(function, wall=2)
    assert scores(target, [("#### 7", "7", None)]) == [1.0]
    harmed = target.reply(scorers.LONG_RUN, "9", None)
    assert message in harmed.raised
    assert harmed.hung is hung
    assert scores(target, [RIGHT, WRONG, ("8", "8", None)]) == [1.0, 0.0, 1.0]


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
def test_a_function_with_processes_leaves_none_behind(function: Callable[..., object]) -> None:
    start, earlier = time.monotonic(), children()
    target = UserFunction(function)
    rows = [(f"#### {gold}", str(gold), None) for gold in range(8)]
    assert scores(target, [*rows, WRONG]) == [1.0] * 8 + [0.0]
    groups = children() - earlier
    assert len(groups) == 1
    target.stop()
    while any(process.group in groups for process in running()):  # a killed process takes a moment
        assert time.monotonic() - start < PATIENCE
        time.sleep(0.05)


@LINUX
def test_a_process_that_outlives_its_parent_is_killed(tmp_path: Path) -> None:
    note, start = tmp_path / "process", time.monotonic()
    target = UserFunction(scorers.forks_for_ever)
    reply = target.reply(str(note), "18", None)
    assert "exit status 7" in reply.raised
    while int(note.read_text()) in {process.number for process in running()}:
        assert time.monotonic() - start < PATIENCE
        time.sleep(0.05)


def test_a_module_that_calls_gradeschool_when_imported_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(
        "import gradeschool\n"
        "def right(completion, gold): return completion.endswith(gold)\n"
        "print(gradeschool.judge('it is 18', '18', right).correct)\n"
    )
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert "put the calls of gradeschool under `if __name__ == '__main__':`" in ended.stderr
    script.write_text(script.read_text().replace("print(", "if __name__ == '__main__': print("))
    assert subprocess.check_output([sys.executable, script], text=True) == "True\n"


MODULE = """
import os, sys, time

def last(completion, gold):
    if "hang" in completion:
        time.sleep(60)
    if "raise" in completion:
        raise KeyError("no such key")
    if "nan" in completion:
        return float("nan")
    if "float" in completion:
        return float(completion.split()[-1])
    if "print" in completion:
        print("noise", file=sys.stdout)
        print("noise", file=sys.stderr)
        os.write(1, b"noise")
    if "fork" in completion and os.fork() == 0:
        time.sleep(60)
        os._exit(0)
    return completion.split()[-1]
"""
KINDS = ("plain", "hang", "raise", "nan", "print", "fork", "float", "plain again")
FAILED = {"hang", "raise", "nan", "float"}


@pytest.mark.slow
def test_a_scorer_that_misbehaves_harms_no_other_row(gradeschool: Command, tmp_path: Path) -> None:
    gradeschool.monkeypatch.chdir(tmp_path)
    gradeschool.monkeypatch.setattr("gradeschool.user_function.WALL_SECONDS", 1)
    Path("mine.py").write_text(MODULE)
    rows = [
        {"question": f"{kind}: what is 5 + {row}?", "completion": f"{kind}: it is {5 + row}",
         "gold": str(5 + row)} for row, kind in enumerate(KINDS)
    ]  # fmt: skip
    jsonl(Path("rows.jsonl"), rows)
    names = ("mine.py:last", "gradeschool/reader")
    scored = gradeschool("score", "rows.jsonl", "--scorer", *names, "--json", "-o", "out.jsonl")
    assert scored.status == 3, scored.err
    own, reader = (scored.json()["runs"][0]["scorers"][name] for name in names)
    assert (reader["correct"], reader["error"]) == (len(KINDS), 0)
    assert (own["correct"], own["error"]) == (len(KINDS) - len(FAILED), len(FAILED))
    assert "noise" not in scored.out + scored.err
    shown = gradeschool("explain", "rows.jsonl", "--scorer", "mine.py:last").out.splitlines()
    assert [line.partition("the scorer fails: ")[2] for line in shown if line.startswith("A ")] == [
        "no answer within 1 s",
        "KeyError: 'no such key'",
        "returned nan; return a bool, a number or a text",
        "returned 11.0, no score: return True for a right answer, or a text",
    ]


REWARDS = """
import time

def credit(completion, gold):
    return 0.1 + (completion == f"#### {gold}")

def number(completion, gold):
    return float(completion.split()[-1])

def unsure(completions, answer, **_):
    return [None if "18" not in text else 2.0 for text in completions]

def hangs(completion, gold):
    if "hang" in completion:
        time.sleep(60)
    return completion.endswith(gold)
"""


@pytest.fixture
def rewards(tmp_path: Path) -> Path:
    """A file of functions that return numbers."""
    (tmp_path / "rewards.py").write_text(REWARDS)
    return tmp_path / "rewards.py"


def test_a_reward_may_be_any_number_but_no_answer(rewards: Path) -> None:
    reasons = {
        (name, text): judge(text, "18", f"{rewards}:{name}").reason.partition("returned")[2]
        for name, text in (("credit", "#### 18"), ("credit", "18"), ("unsure", "18"),
                           ("number", "18"), ("number", "0"))
    }  # fmt: skip
    assert reasons == {
        ("credit", "#### 18"): " 1.1: accepted",
        ("credit", "18"): " 0.1: rejected",
        ("unsure", "18"): " [2.0]: accepted",
        **{("number", text): f" {text}.0, no score: return True for a right answer, or a text"
           for text in ("18", "0")},
    }  # fmt: skip
    assert judge("19", "18", f"{rewards}:unsure").outcome is Outcome.NO_ANSWER


def test_a_number_has_no_relation_to_the_gold(rewards: Path) -> None:
    problem = Problem.from_gold("18")
    for text, expected in (("It is 18.", "right answer missed: the function's own verdict"),
                           ("#### 19", "wrong value")):  # fmt: skip
        verdict = judge(text, problem, f"{rewards}:credit")
        cause = explain_verdict(read_text(text, problem, None, {}), verdict)
        assert str(cause) == expected
    assert cause is not None


@pytest.mark.slow
def test_score_and_explain_ask_as_many_texts_of_a_function_that_hangs(
    gradeschool: Command, rewards: Path, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    monkeypatch.setattr("gradeschool.user_function.WALL_SECONDS", 1)
    rows = [{"question": f"{row}?", "completion": f"{'hang ' * (row % 2)}{row}", "gold": str(row)}
            for row in range(10)]  # fmt: skip
    file = jsonl(rewards.parent / "rows.jsonl", rows)
    result = gradeschool("score", file, "--scorer", f"{rewards}:hangs", "--json").json()
    counts = result["runs"][0]["scorers"][f"{rewards}:hangs"]
    assert (counts["correct"], counts["error"]) == (3, 7)
    assert "hung on 3 completions and is called no more" in caplog.text
    shown = gradeschool("explain", file, "--scorer", f"{rewards}:hangs").out
    assert "3 of 3 correct" in shown and "7 errors" in shown
