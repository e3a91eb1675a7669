"""Child processes for libraries that may hang, crash or use all memory on a model's text.

A function of a module is called in the child with rows of strings, and its results return as JSON.
Text travels as JSON lines over pipes, never pickled, and no process is forked: children are fresh
interpreters with this process's `sys.path`, without the current folder. They start at first use,
serve every thread, and end with this process. A child that uses more than `CPU_SECONDS` of
computing on a row is killed, with every process that it started, and restarted for the next row.
"""

from __future__ import annotations

import atexit
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import Empty, LifoQueue, Queue
from typing import IO, Any

from gradeschool.machine import cores
from gradeschool.worker_main import CPU_SECONDS

# CPU_SECONDS bounds the child's own computing and is enforced by the system, so that a verdict does
# not depend on the load of the machine. This bound on wall time is for a child that does not
# compute at all, and for systems without such limits (Windows).
WALL_SECONDS = 60.0
START_SECONDS = 120.0  # for the imports of a module: allows for a cold disk or a busy machine
END_SECONDS = 5.0  # for a killed process to be reaped and its pipe to close
CHILDREN = min(4, cores())
SHARE = 16  # rows that justify waking another child
LONGEST_LINE = 1 << 26  # bytes of a result; a longer line was not written by the worker
WAITING_LINES = 1024  # result lines buffered for the thread that waits for them
FOREIGN_LINE = "the function wrote to the worker's own channel"

# Python variables that a child may inherit: where its library is, how it writes files. The others
# add folders to the path or run code (PYTHONPATH, PYTHONWARNINGS, PYTHONINSPECT ...).
INHERITED = frozenset(
    {"PYTHONHOME", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"}
)
SET_PATH = "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); "


def python_command(program: str, *arguments: str) -> list[str]:
    """Return the command that runs a program text in a new interpreter.

    It has this process's `sys.path` without the current folder. `python -c` and `python -m` put
    that folder first, so that a json.py beside the user's data would run; -P needs Python 3.11.
    """
    return [sys.executable, "-P", "-c", SET_PATH + program, json.dumps(_search_path()), *arguments]


def python_environment(added: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment for `python_command`, with some variables set."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith("PYTHON") or name.upper() in INHERITED
    }
    return {**kept, **added}


def _search_path() -> list[str]:
    """Return `sys.path` without the current folder, and with the folder of this package."""
    current = os.path.realpath(os.curdir)
    path = [entry for entry in sys.path if entry and os.path.realpath(entry) != current]
    package = str(Path(__file__).resolve().parents[1])
    return path if package in path else [*path, package]


class WorkerFailure(Exception):
    """No result for a row: too slow, the child died, or the function raised (see the message)."""


class ProcessLost(WorkerFailure):
    """No result for a row, and its process no longer exists."""


class _ChildLost(Exception):
    """The child gave no result in time, or no longer exists."""


class _Interpreter:
    """A running child process. Raises _ChildLost if it cannot start, ended or takes too long."""

    def __init__(self) -> None:
        # A fixed hash seed: results of symbolic mathematics depend on the order of sets.
        try:
            self._process = subprocess.Popen(  # noqa: S603  (this interpreter, a constant program)
                python_command("from gradeschool.worker_main import main; main()"),
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=python_environment({"PYTHONHASHSEED": "0"}),
                process_group=0 if OWN_GROUP else None,  # killed with all processes that it starts
            )
        except (OSError, ValueError) as error:
            raise _ChildLost(f"no interpreter at {sys.executable!r}: {error}") from error
        self._pipes = [pipe for pipe in (self._process.stdin, self._process.stdout) if pipe]
        self._lines: Queue[bytes] = Queue(WAITING_LINES)
        self._reader = threading.Thread(
            target=_read, args=(self._pipes[1], self._lines), daemon=True
        )
        self._reader.start()
        self._key = ""
        self._answered = 0
        self.loaded: set[str] = set()

    def alive(self) -> bool:
        """Return whether the process still runs."""
        return self._process.poll() is None

    def send(self, request: dict[str, Any]) -> None:
        """Write a request, with a key that each of its results repeats."""
        self._key, self._answered = secrets.token_hex(16), 0
        unsent = memoryview(json.dumps({**request, "key": self._key}).encode() + b"\n")
        try:
            while unsent:
                unsent = unsent[self._pipes[0].write(unsent) :]
        except OSError as error:
            raise _ChildLost(f"the process died: {error}") from error

    def answer(self, bound: float) -> Any:
        """Return the next result, or a WorkerFailure in its place; bound: seconds of wall time."""
        start = time.monotonic()
        try:
            line = self._lines.get(timeout=bound)
        except Empty:
            raise _ChildLost(f"no answer within {bound:g} s") from None
        if not line:
            raise _ChildLost(self._cause_of_death(time.monotonic() - start))
        answer = _unpacked(line, self._key, self._answered)
        self._answered += 1
        return answer

    def stop(self) -> None:
        """Kill the process and its group, and reap it."""
        self._kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)
        deadline = time.monotonic() + END_SECONDS
        while self._reader.is_alive() and time.monotonic() < deadline:
            with suppress(Empty):  # the reader may be waiting for space in the queue
                self._lines.get(timeout=0.05)
        self._close()

    def abandon(self) -> None:
        """Detach from a process that belongs to the parent of this forked process."""
        self._process.returncode = 0  # the parent's, so not ours to wait for
        for pipe in self._pipes:  # an open copy would keep the child alive when its parent ends
            pipe.close()

    def _kill(self) -> None:
        if OWN_GROUP:
            with suppress(ProcessLookupError, PermissionError):  # macOS: all of them are zombies
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()

    def _close(self) -> None:
        self._pipes[0].close()
        # A process that left the group may keep the pipe open: the reader then still waits on this
        # descriptor, whose number must not be reused.
        if not self._reader.is_alive():
            self._pipes[1].close()

    def _cause_of_death(self, waited: float) -> str:
        try:
            code = self._process.wait(1)  # it closed its output: nothing more can come
        except subprocess.TimeoutExpired:
            self._kill()
            code = self._process.wait()
        # Only the system's limit takes that long; any process can send the signal.
        computed = waited * cores() >= CPU_SECONDS - 1
        if code == -getattr(signal, "SIGXCPU", 0) and computed:
            return f"no answer within {CPU_SECONDS} s of computing"
        return f"the process died with exit status {code}"


OWN_GROUP = hasattr(os, "killpg")


def _read(source: IO[bytes], lines: Queue[bytes]) -> None:
    """Pass lines on until the source ends; an empty line marks the end."""
    buffered = open(source.fileno(), "rb", closefd=False)  # noqa: SIM115
    while line := buffered.readline(LONGEST_LINE):
        lines.put(line)
    lines.put(b"")


def _unpacked(line: bytes, key: str, row: int) -> Any:
    """Return the result for a row. Raises _ChildLost for a line that the worker did not write."""
    try:
        answer = json.loads(line)
        if answer["key"] != key or answer["row"] != row:
            raise _ChildLost(FOREIGN_LINE)
        if "lost" in answer:
            raise _ChildLost(str(answer["lost"]))
        return WorkerFailure(answer["failure"]) if "failure" in answer else answer["answer"]
    except (ValueError, TypeError, LookupError, RecursionError):
        raise _ChildLost(FOREIGN_LINE) from None


class Child:
    """An interpreter that starts at the first request, and again after each that was lost.

    Not thread-safe: the pool lends it to one thread at a time.
    """

    def __init__(self) -> None:
        self._interpreter: _Interpreter | None = None

    def answers(self, function: str, rows: Sequence[Sequence[str]]) -> list[Any]:
        """Return the result for each row: a JSON value, or a WorkerFailure."""
        answers: list[Any] = []
        while len(answers) < len(rows):
            try:
                interpreter = self._ready(function)
            except (_ChildLost, WorkerFailure) as reason:
                failure = WorkerFailure(f"{function} cannot be used: {reason}")
                return answers + [failure] * (len(rows) - len(answers))
            try:
                interpreter.send({"function": function, "rows": rows[len(answers) :]})
                while len(answers) < len(rows):
                    answers.append(interpreter.answer(WALL_SECONDS))
            except _ChildLost as lost:
                self.stop()
                answers.append(ProcessLost(str(lost)))
            except BaseException:  # an interrupt: pending results would be misread as the next ones
                self.stop()
                raise
        return answers

    def stop(self) -> None:
        """Kill the interpreter, if one is running."""
        interpreter, self._interpreter = self._interpreter, None
        if interpreter is not None:
            interpreter.stop()

    def abandon(self) -> None:
        """Detach from an interpreter that belongs to the parent of this forked process."""
        interpreter, self._interpreter = self._interpreter, None
        if interpreter is not None:
            interpreter.abandon()

    def _ready(self, function: str) -> _Interpreter:
        """Return a running interpreter that has imported a function."""
        if self._interpreter is None or not self._interpreter.alive():
            self.stop()
            self._interpreter = _Interpreter()
            atexit.unregister(self.stop)  # registered once, however often it is started
            atexit.register(self.stop)
        interpreter = self._interpreter
        if function not in interpreter.loaded:
            try:
                interpreter.send({"function": function, "rows": None})
                answer = interpreter.answer(START_SECONDS)
            except BaseException:
                self.stop()
                raise
            if isinstance(answer, WorkerFailure):
                raise answer
            interpreter.loaded.add(function)
        return interpreter


class Pool:
    """Children that each serve one thread at a time; the last one used is taken first."""

    def __init__(self, size: int = CHILDREN) -> None:
        self.children = [Child() for _ in range(size)]
        self._free: LifoQueue[Child] = LifoQueue()
        for child in reversed(self.children):
            self._free.put(child)

    def answers(self, function: str, rows: Sequence[Sequence[str]]) -> list[Any]:
        """Return the result for each row, in order; many rows are divided among the children."""
        share = max(SHARE, -(-len(rows) // len(self.children)))
        parts = [rows[start : start + share] for start in range(0, len(rows), share)]
        if len(parts) < 2:
            return self._lent(function, rows)
        with ThreadPoolExecutor(len(parts)) as threads:
            shared = threads.map(lambda part: self._lent(function, part), parts)
            return [answer for part in shared for answer in part]

    def stop(self) -> None:
        """Kill all children; the next request starts new ones."""
        for child in self.children:
            child.stop()

    def _lent(self, function: str, rows: Sequence[Sequence[str]]) -> list[Any]:
        child = self._free.get()
        try:
            return child.answers(function, rows)
        finally:
            self._free.put(child)


_pool = Pool()


def answers(function: str, rows: Sequence[Sequence[str]]) -> list[Any]:
    """Call "package.module:function" in a child with each row's strings; see `Pool.answers`."""
    return _pool.answers(function, rows)


def _forked() -> None:
    """Give a forked process its own children."""
    global _pool
    inherited, _pool = _pool, Pool()
    for child in inherited.children:
        child.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
