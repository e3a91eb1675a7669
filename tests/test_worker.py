"""Child processes: bounds, crashes, interrupts, forks, threads, the end of the program."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradeschool import Problem, get_scorer
from gradeschool.scorer import Scorer
from gradeschool.verdict import Outcome
from gradeschool.worker import Child, Pool, WorkerFailure
from tests.peers.views import missing_extra
from tests.support.outcomes import outcomes_of

# What a busy machine may take for a bound of five seconds of computing.
PATIENCE = 120
POSIX = pytest.mark.skipif(os.name != "posix", reason="the bound on computing is of POSIX systems")
FUNCTIONS = """
    import os, signal, sys, time

    calls = 0

    def echo(*texts):
        return list(texts)

    def slow(_):
        time.sleep(0.01)
        return os.getpid()

    def count(_):
        global calls
        calls += 1
        return [calls, os.getpid()]

    def killed_once(note, signal_number):
        if not os.path.exists(note):
            open(note, "w").close()
            os.kill(os.getpid(), signal_number)
        return "alive"

    def act(what):
        if what == "compute":
            while True:
                pass
        if what == "regex":
            import re
            re.match("(a|aa)+$", "a" * 200 + "b")
        if what == "sleep":
            time.sleep(60)
        if what == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if what == "exit":
            sys.exit("enough")
        if what == "raise":
            raise KeyError("what")
        if what == "print":
            print("not an answer")
            print("nor this", file=sys.stderr)
        if what == "take memory":
            return len("x" * (1 << 40))
        if what == "tell":
            return [os.environ["PYTHONHASHSEED"], sys.stdin.isatty()]
        return what
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A module of functions that the children find: they have this process's path."""
    folder = tmp_path_factory.mktemp("functions")
    (folder / "functions_for_worker.py").write_text(textwrap.dedent(FUNCTIONS), "utf-8")
    sys.path.append(str(folder))
    yield "functions_for_worker"
    sys.path.remove(str(folder))


@pytest.fixture
def child(module: str) -> Iterator[Child]:
    """A child process, stopped after the test."""
    child = Child()
    yield child
    child.stop()


def failures(answers: list[object]) -> list[str]:
    """The failures among the answers, in order."""
    return [str(answer) for answer in answers if isinstance(answer, WorkerFailure)]


@pytest.mark.parametrize(
    "text",
    ["", "#### 18", "\0", "\udfff\ud800", "\u2028\x85\r\n", "é½😀", '"\\', "a" * 1_000_000],
)
def test_any_text_arrives_as_it_is(child: Child, module: str, text: str) -> None:
    assert child.answers(f"{module}:echo", [(text, "18")]) == [[text, "18"]]


def test_one_process_serves_many_rows(child: Child, module: str) -> None:
    answers = child.answers(f"{module}:count", [("",)] * 100)
    assert [number for number, _ in answers] == list(range(1, 101))
    assert len({process for _, process in answers}) == 1
    assert child.answers(f"{module}:count", []) == []


@pytest.mark.slow
@POSIX
@pytest.mark.parametrize("what", ["compute", "regex"])
def test_what_computes_too_long_is_killed(child: Child, module: str, what: str) -> None:
    """A regex holds the interpreter's lock: no thread or handler of Python could stop it."""
    start = time.monotonic()
    answers = child.answers(f"{module}:act", [("a",), (what,), ("b",)])
    assert time.monotonic() - start < PATIENCE
    assert (answers[0], answers[2]) == ("a", "b")
    assert failures(answers) == ["no answer within 5 s of computing"]


def test_what_does_nothing_is_killed_too(module: str) -> None:
    child = Child(0.5)
    assert child.answers(f"{module}:echo", [("a",)]) == [["a"]]
    assert failures(child.answers(f"{module}:act", [("sleep",)])) == ["no answer within 0.5 s"]


def test_a_crash_costs_one_row(child: Child, module: str) -> None:
    answers = child.answers(f"{module}:act", [("a",), ("crash",), ("b",), ("crash",), ("c",)])
    assert [answer for answer in answers if not isinstance(answer, WorkerFailure)] == [
        "a",
        "b",
        "c",
    ]
    assert all("the process died with exit status" in why for why in failures(answers))


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM])
def test_a_row_whose_process_somebody_killed_is_tried_again(
    child: Child, module: str, tmp_path: Path, signal_number: signal.Signals
) -> None:
    note = str(tmp_path / "note")
    answers = child.answers(f"{module}:killed_once", [(note, int(signal_number)), (note, 0)])
    assert answers == ["alive", "alive"]


def test_a_child_that_died_meanwhile_is_replaced(child: Child, module: str) -> None:
    [[_, process]] = child.answers(f"{module}:count", [("",)])
    os.kill(process, signal.SIGTERM)
    time.sleep(0.2)
    [[calls, other]] = child.answers(f"{module}:count", [("",)])
    assert (calls, other != process) == (1, True)


def test_an_interrupt_leaves_no_stale_answer(
    child: Child, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while an answer is awaited: the next question must not get that answer."""
    assert child.answers(f"{module}:echo", [("first",)]) == [["first"]]

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Child, "_receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            child.answers(f"{module}:echo", [("second",)])
    assert child.answers(f"{module}:echo", [("third",)]) == [["third"]]


def test_a_pool_keeps_the_order_and_shares_the_rows(module: str) -> None:
    pool = Pool(3)
    try:
        rows = [(str(number),) for number in range(200)]
        assert pool.answers(f"{module}:echo", rows) == [[text] for (text,) in rows]
        assert len(set(pool.answers(f"{module}:slow", rows))) == 3
        few = pool.answers(f"{module}:count", rows[:5])
        assert len({process for _, process in few}) == 1
    finally:
        pool.stop()


def test_many_threads_share_a_pool(module: str) -> None:
    pool, answers = Pool(2), dict[int, object]()

    def ask(number: int) -> None:
        answers[number] = pool.answers(f"{module}:echo", [(str(number),)] * 3)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pool.stop()
    assert answers == {number: [[str(number)]] * 3 for number in range(12)}


def run_program(program: str, module: str, *, check: bool = True) -> str:
    """Run a program that uses the worker in an interpreter of its own."""
    folder = next(entry for entry in sys.path if (Path(entry) / f"{module}.py").is_file())
    start = f"import sys; sys.path.append({folder!r})\n{textwrap.dedent(program)}"
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", start],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=check,
    )
    assert not check or ended.stderr == ""
    return ended.stdout


def has_ended(process: int) -> bool:
    """Wait a while for a process to end."""
    for _ in range(100):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("end", ["", "sys.exit(0)", "raise SystemExit"])
def test_no_process_is_left_behind(module: str, end: str) -> None:
    out = run_program(
        f"""
        from gradeschool.worker import answers
        print([pid for _, pid in answers("{module}:count", [("",)] * 100)])
        {end}
        """,
        module,
    )
    assert all(has_ended(process) for process in set(json.loads(out)))


@pytest.mark.slow
@POSIX
def test_a_killed_parent_takes_its_children_along(module: str) -> None:
    """One child waits for a question, another computes for ever."""
    out = run_program(
        f"""
        import os, signal, threading, time
        from gradeschool.worker import Child
        waiting, busy = Child(), Child()
        for child in (waiting, busy):
            print(child.answers("{module}:count", [("",)])[0][1], flush=True)
        act = lambda: busy.answers("{module}:act", [("compute",)])
        threading.Thread(target=act, daemon=True).start()
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)
        """,
        module,
        check=False,
    )
    processes = [int(line) for line in out.split()]
    assert len(processes) == 2
    deadline = time.monotonic() + PATIENCE
    while not all(has_ended(process) for process in processes):
        assert time.monotonic() < deadline


@POSIX
def test_a_forked_process_has_children_of_its_own(module: str) -> None:
    out = run_program(
        f"""
        import os
        from gradeschool.worker import answers
        ask = lambda: answers("{module}:count", [("",)])[0]
        first = ask()
        process = os.fork()
        if process == 0:
            print("forked", *ask(), flush=True)
            os._exit(0)
        os.waitpid(process, 0)
        print("parent", *first, *ask(), flush=True)
        """,
        module,
    )
    lines = dict(line.split(maxsplit=1) for line in out.splitlines())
    calls, forked = lines["forked"].split()
    first, process, second, again = lines["parent"].split()
    assert (calls, first, second) == ("1", "1", "2")
    assert process == again != forked


def test_an_exception_costs_one_row_and_no_process(child: Child, module: str) -> None:
    answers = child.answers(f"{module}:act", [("raise",), ("print",), ("tell",)])
    assert failures(answers) == ["KeyError: 'what'"]
    assert answers[1:] == ["print", ["0", False]]


@POSIX
def test_memory_is_bounded(child: Child, module: str) -> None:
    [why] = failures(child.answers(f"{module}:act", [("take memory",)]))
    assert "MemoryError" in why


@pytest.mark.parametrize("function", ["no_such_module_here:f", "json:no_such_function"])
def test_a_function_that_does_not_exist_is_a_failure(child: Child, function: str) -> None:
    answers = child.answers(function, [("a",), ("b",)])
    assert len(failures(answers)) == 2
    assert "cannot be used" in failures(answers)[0]


# Scorers on texts that Math-Verify hangs on

needs_library = pytest.mark.skipif(
    bool(missing_extra(get_scorer("math-verify/default"))),
    reason="Math-Verify is not installed: pip install 'gradeschool[math-verify]'",
)
HOSTILE = {
    "a tower of powers": r"\boxed{9^{9^{9^{9}}}}",
    "numbers and spaces": "1 " * 20_000,
    "fractions": "1/" * 15_000,
    "digits": "9" * 1_000_000,
    "surrogates": "\ud800 #### 18 \udfff",
    "NUL": "\0#### 18\0",
}


@pytest.mark.slow
@needs_library
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("scorer", ["math-verify/default", "qwen2.5-math/gsm8k"])
def test_hostile_texts_have_an_outcome_in_bounded_time(name: str, scorer: str) -> None:
    start = time.monotonic()
    outcome = get_scorer(scorer).judge(HOSTILE[name], Problem.from_gold("18")).outcome
    assert time.monotonic() - start < PATIENCE
    assert isinstance(outcome, Outcome)


@pytest.mark.slow
@needs_library
@POSIX
def test_a_hanging_text_is_wrong_and_the_others_go_on() -> None:
    scorer: Scorer = get_scorer("math-verify/default")
    pairs = [(text, "18") for text in ("#### 18", HOSTILE["a tower of powers"], "#### 5", "18")]
    outcomes = outcomes_of(scorer, pairs)
    assert outcomes == [Outcome.CORRECT, Outcome.WRONG, Outcome.WRONG, Outcome.CORRECT]
    reason = scorer.judge(HOSTILE["a tower of powers"], Problem.from_gold("18")).reason
    assert "out of time" in reason
