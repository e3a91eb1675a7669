"""Functions that a child process of `gradeschool.worker` calls, and such a child."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterator

import pytest

from gradeschool.worker import Child, WorkerFailure

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
POSIX = pytest.mark.skipif(os.name != "posix", reason="the bound on computing is of POSIX systems")


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
