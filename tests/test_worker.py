"""Child processes: bounds, crashes, interrupts, forks, threads, the end of the program."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gradeschool import worker
from gradeschool.worker import CHILDREN, Child, WorkerFailure, call, stop_flag

# What a busy machine may take for a bound of five seconds of computing.
PATIENCE = 120
POSIX = pytest.mark.skipif(os.name != "posix", reason="the bound on computing is of POSIX systems")
FUNCTIONS = """
    import os, re, signal, sys, time

    calls = 0

    def echo(*texts):
        return list(texts)

    def count():
        global calls
        calls += 1
        time.sleep(0.01)
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
    worker._stop_all()  # processes that other tests started have the path of before
    yield "functions_for_worker"
    sys.path.remove(str(folder))


@pytest.fixture
def child(module: str) -> Iterator[Child]:
    child = Child()
    yield child
    child.stop()


def answer(child: Child, function: str, *row: Any) -> Any:
    """The result of a call, or the words of its failure."""
    try:
        return child.call(function, row)
    except WorkerFailure as failure:
        return str(failure)


@pytest.mark.parametrize(
    "text", ["", "\0", "\udfff\ud800", "\u2028\x85\r\n", "é½😀", '"\\', "a" * 1_000_000]
)
def test_any_text_arrives_as_it_is(child: Child, module: str, text: str) -> None:
    assert child.call(f"{module}:echo", (text, "18")) == [text, "18"]


@pytest.mark.parametrize(
    ("what", "failure"),
    [
        pytest.param("compute", "no answer within 5 s of computing", marks=[pytest.mark.slow]),
        # A regex holds the interpreter's lock: no thread or handler of Python could stop it.
        pytest.param("regex", "no answer within 5 s of computing", marks=[pytest.mark.slow]),
        ("sleep", "no answer within 0.5 s"),
        ("crash", "the process died with exit status -11"),
        ("exit", "SystemExit: enough"),
        ("raise", "KeyError: 'what'"),
        ("take memory", "MemoryError: "),
        ("print", "print"),
        ("tell", ["0", False]),
    ],
)
@POSIX
def test_what_goes_wrong_costs_one_call(module: str, what: str, failure: Any) -> None:
    child = Child(0.5 if what == "sleep" else PATIENCE)
    answers = [answer(child, f"{module}:act", word) for word in ("a", what, "b")]
    child.stop()
    assert answers == ["a", failure, "b"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_call_whose_process_somebody_killed_is_made_again(
    child: Child, module: str, tmp_path: Path, number: signal.Signals
) -> None:
    assert child.call(f"{module}:killed_once", (str(tmp_path / "note"), int(number))) == "alive"


def test_an_interrupt_leaves_no_stale_answer(
    child: Child, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while an answer is awaited: the next call must not get that answer."""
    assert child.call(f"{module}:echo", ("first",)) == ["first"]

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("gradeschool.worker._line", interrupted)
        with pytest.raises(KeyboardInterrupt):
            child.call(f"{module}:echo", ("second",))
    assert child.call(f"{module}:echo", ("third",)) == ["third"]


def test_threads_share_the_processes(module: str) -> None:
    with ThreadPoolExecutor(12) as threads:
        counts = list(threads.map(lambda _: call(f"{module}:count", ()), range(60)))
        texts = list(threads.map(lambda n: call(f"{module}:echo", (n,)), range(60)))
    assert len({process for _, process in counts}) == CHILDREN
    assert texts == [[number] for number in range(60)]


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


def still_running(processes: set[int]) -> set[int]:
    """Wait until the processes have ended; return those that do not end."""
    deadline = time.monotonic() + PATIENCE
    while processes and time.monotonic() < deadline:
        time.sleep(0.05)
        for process in list(processes):
            try:
                os.kill(process, 0)
            except ProcessLookupError:
                processes.remove(process)
    return processes


def test_no_process_is_left_behind(module: str) -> None:
    out = run_program(
        f"""
        from gradeschool.worker import call
        print(call("{module}:count", ())[1])
        raise SystemExit
        """,
        module,
    )
    assert still_running({int(out)}) == set()


@pytest.mark.slow
@POSIX
def test_a_killed_parent_takes_its_children_along(module: str) -> None:
    """One child waits for a call, another computes for ever."""
    out = run_program(
        f"""
        import os, signal, threading, time
        from gradeschool.worker import Child
        waiting, busy = Child(), Child()
        for child in (waiting, busy):
            print(child.call("{module}:count", ())[1], flush=True)
        act = lambda: busy.call("{module}:act", ("compute",))
        threading.Thread(target=act, daemon=True).start()
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)
        """,
        module,
        check=False,
    )
    processes = set(map(int, out.split()))
    assert len(processes) == 2
    assert still_running(processes) == set()


@POSIX
def test_a_forked_process_has_children_of_its_own(module: str) -> None:
    out = run_program(
        f"""
        import json, os
        from gradeschool.worker import call
        first = call("{module}:count", ())
        process = os.fork()
        if process == 0:
            print(json.dumps(call("{module}:count", ())), flush=True)
            os._exit(0)
        os.waitpid(process, 0)
        print(json.dumps([first, call("{module}:count", ())]), flush=True)
        """,
        module,
    )
    forked, [first, second] = map(json.loads, out.splitlines())
    assert (forked[0], first[0], second[0]) == (1, 1, 2)
    assert first[1] == second[1] != forked[1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_interrupt_sets_the_flag_and_the_second_raises(number: int) -> None:
    with stop_flag() as flag:
        before = flag.is_set()
        os.kill(os.getpid(), number)
        assert (before, flag.is_set()) == (False, True)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
