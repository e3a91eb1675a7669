"""Child processes for code that may hang, crash or use all memory on a model's text.

A function is called in the child with rows of JSON values, and its results return as JSON lines:
nothing is pickled, and no process is forked. A child is a fresh interpreter with this process's
`sys.path`, without the current folder. It starts at first use and ends with this process. A call
that computes longer than `CPU_SECONDS`, or takes more than a wall time, is killed with every
process that it started, and the next row goes to a new child.

The first half of this module runs in the parent, the second half (from `serve`) in the child.
"""

from __future__ import annotations

import atexit
import importlib
import json
import logging
import os
import secrets
import signal
import sys
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from json import dumps, loads  # bound here: the called code may replace those of json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradeschool.machine import cores
from gradeschool.signals import ignore_interrupts

if TYPE_CHECKING:
    import subprocess

CPU_SECONDS = 5  # of computing for one row, enforced by the system whatever runs
MEMORY = 4 << 30  # bytes that a call may take beyond those of its imports
WALL_SECONDS = 60.0  # for a call that waits without computing
START_SECONDS = 120.0  # for the imports of a module: allows for a cold disk or a busy machine
END_SECONDS = 5.0  # for a killed process to be reaped
CHILDREN = min(4, cores())
SHARE = 16  # rows that justify waking another child
LONGEST_LINE = 1 << 26  # bytes of a result; a longer line was not written by the worker
TIMED_OUT = "no answer within"
FOREIGN_LINE = "the function wrote to the worker's own channel"

# Python variables that a child may inherit: where its library is, how it writes files. The others
# add folders to the path or run code (PYTHONPATH, PYTHONWARNINGS, PYTHONINSPECT ...).
INHERITED = {"PYTHONHOME", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"}
SET_PATH = "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); "


class WorkerFailure(Exception):
    """No result for a row: too slow, the child died, or the function raised (see the message)."""


class ProcessLost(WorkerFailure):
    """No result for a row, and its process no longer exists; `killed`: by somebody's signal."""

    killed = False


def python_command(program: str, *arguments: str) -> list[str]:
    """Return the command that runs a program text in a new interpreter.

    It has this process's `sys.path` without the current folder: `python -c` and `python -m` put
    that folder first, so that a json.py beside the user's data would run.
    """
    current = os.path.realpath(os.curdir)
    path = [entry for entry in sys.path if entry and os.path.realpath(entry) != current]
    package = str(Path(__file__).resolve().parents[1])
    path += [] if package in path else [package]
    return [sys.executable, "-P", "-c", SET_PATH + program, json.dumps(path), *arguments]


def python_environment(added: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment for `python_command`, with some variables set."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith("PYTHON") or name.upper() in INHERITED
    }
    return {**kept, **added}


class Child:
    """A child process that starts at the first call, and again after each that was lost.

    Serves one thread at a time. wall: seconds that a call may take.
    """

    def __init__(self, wall: float = WALL_SECONDS) -> None:
        self._wall = wall
        self._process: subprocess.Popen[bytes] | None = None
        self._loaded: set[str] = set()
        self._received = bytearray()
        _children.add(self)

    def answers(self, function: str, rows: Sequence[Sequence[Any]]) -> list[Any]:
        """Return the result for each row: a JSON value, or a WorkerFailure.

        function: "package.module:function". A row whose process somebody killed is tried again.
        """
        answers: list[Any] = []
        killed_at = -1
        while len(answers) < len(rows):
            try:
                key = self._load(function)
            except WorkerFailure as reason:
                failure = WorkerFailure(f"{function} cannot be used: {reason}")
                return answers + [failure] * (len(rows) - len(answers))
            try:
                remaining = rows[len(answers) :]
                self._send(function, remaining, key)
                for number in range(len(remaining)):
                    answers.append(self._receive(key, number, self._wall))  # noqa: PERF401
            except ProcessLost as lost:
                self.stop()
                if lost.killed and killed_at != len(answers):
                    killed_at = len(answers)
                else:
                    answers.append(lost)
            except BaseException:  # an interrupt: pending results would be misread as the next ones
                self.stop()
                raise
        return answers

    def stop(self) -> None:
        """Kill the process and its group, if it runs."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError, PermissionError):  # macOS: all of them are zombies
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        _wait(process, END_SECONDS)
        _close(process)

    def abandon(self) -> None:
        """Detach from a process that belongs to the parent of this forked process."""
        process, self._process = self._process, None
        if process is not None:
            process.returncode = 0  # the parent's, so not ours to wait for
            _close(process)

    def _load(self, function: str) -> str:
        """Start the process if none runs, let it import the function; return a new key."""
        import subprocess  # not needed in the child

        if self._process is None or self._process.poll() is not None:
            self.stop()
            self._loaded.clear()
            self._received.clear()
            # A fixed hash seed: results of symbolic mathematics depend on the order of sets.
            try:
                self._process = subprocess.Popen(  # noqa: S603  (this interpreter, our program)
                    python_command("from gradeschool.worker import serve; serve()"),
                    bufsize=0,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=python_environment({"PYTHONHASHSEED": "0"}),
                    process_group=0,  # killed with all processes that it starts
                )
            except (OSError, ValueError) as error:
                raise ProcessLost(f"no interpreter at {sys.executable!r}: {error}") from error
        key = secrets.token_hex(16)
        if function not in self._loaded:
            try:
                self._send(function, None, key)
                answer = self._receive(key, 0, START_SECONDS)
            except BaseException:
                self.stop()
                raise
            if isinstance(answer, WorkerFailure):
                raise answer
            self._loaded.add(function)
        return secrets.token_hex(16)

    def _send(self, function: str, rows: Sequence[Sequence[Any]] | None, key: str) -> None:
        line = json.dumps({"function": function, "rows": rows, "key": key}).encode() + b"\n"
        pipe = self._process.stdin if self._process else None
        unsent = memoryview(line)
        try:
            while unsent and pipe:
                unsent = unsent[pipe.write(unsent) :]
        except OSError as error:
            raise ProcessLost(f"the process died: {error}") from error

    def _receive(self, key: str, number: int, bound: float) -> Any:
        """Return the result of a row, or a WorkerFailure in its place; raises ProcessLost."""
        line = self._line(bound)
        try:
            answer = json.loads(line)
            if answer["key"] != key or answer["row"] != number:
                raise ProcessLost(FOREIGN_LINE)
            return WorkerFailure(answer["failure"]) if "failure" in answer else answer["answer"]
        except (ValueError, TypeError, LookupError, RecursionError):
            raise ProcessLost(FOREIGN_LINE) from None

    def _line(self, bound: float) -> bytes:
        import select

        assert self._process is not None and self._process.stdout is not None  # noqa: S101
        source, start = self._process.stdout.fileno(), time.monotonic()
        poll = select.poll()
        poll.register(source, select.POLLIN)
        seen = 0
        while (end := self._received.find(b"\n", seen)) < 0:
            seen = len(self._received)
            left = start + bound - time.monotonic()
            if left <= 0 or not poll.poll(left * 1000):
                raise ProcessLost(f"{TIMED_OUT} {bound:g} s")
            chunk = os.read(source, 1 << 16)
            if not chunk:
                raise self._loss(time.monotonic() - start)
            if seen > LONGEST_LINE:
                raise ProcessLost(FOREIGN_LINE)
            self._received += chunk
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line

    def _loss(self, waited: float) -> ProcessLost:
        """Return how a process ended that closed its output."""
        assert self._process is not None  # noqa: S101
        code = _wait(self._process, 1)
        # Only the system's limit takes that long; any process can send the signal.
        if code == -signal.SIGXCPU and waited * cores() >= CPU_SECONDS - 1:
            return ProcessLost(f"{TIMED_OUT} {CPU_SECONDS} s of computing")
        lost = ProcessLost(f"the process died with exit status {code}")
        lost.killed = code in (-signal.SIGKILL, -signal.SIGTERM)
        return lost


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """Return the exit status of a process that is about to end, None if it does not."""
    from subprocess import TimeoutExpired

    with suppress(TimeoutExpired):
        return process.wait(seconds)
    return None


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            if pipe is not None:
                pipe.close()


class Pool:
    """Children that each serve one thread at a time; the last one used is taken first."""

    def __init__(self, size: int = CHILDREN) -> None:
        from queue import LifoQueue

        self.children = [Child() for _ in range(size)]
        self._free: LifoQueue[Child] = LifoQueue()
        for child in reversed(self.children):
            self._free.put(child)

    def answers(self, function: str, rows: Sequence[Sequence[Any]]) -> list[Any]:
        """Return the result for each row, in order; many rows are divided among the children."""
        from concurrent.futures import ThreadPoolExecutor

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

    def _lent(self, function: str, rows: Sequence[Sequence[Any]]) -> list[Any]:
        child = self._free.get()
        try:
            return child.answers(function, rows)
        finally:
            self._free.put(child)


_children: weakref.WeakSet[Child] = weakref.WeakSet()
_pools: list[Pool] = []


def answers(function: str, rows: Sequence[Sequence[Any]]) -> list[Any]:
    """Call "package.module:function" in shared children; see `Child.answers` and `Pool`."""
    if not _pools:
        _pools.append(Pool())
    return _pools[0].answers(function, rows)


def _stop_all() -> None:
    for child in list(_children):
        child.stop()


def _forked() -> None:
    """Give a forked process its own children."""
    for child in list(_children):
        child.abandon()
    _pools.clear()


atexit.register(_stop_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


# In the child


class Raised(Exception):
    """The exception of the called code, returned by `attempt` in place of a value."""


def attempt(call: Callable[[], Any]) -> Any:
    """Return the result of a call, or a Raised in place of its exception."""
    try:
        return call()
    except BaseException as error:
        if not isinstance(error, Exception):
            raise
        return Raised(f"{type(error).__name__}: {str(error)[:200]}")


def serve() -> None:
    """Call the functions that the parent names, until it ends or a function ends the process.

    Reads {"function": "package.module:name", "rows": [[value, ...], ...], "key": K} and writes for
    each row {"key": K, "row": number, "answer": ...}, or "failure" for a function that raised. With
    "rows": null it imports the function. A key is used once, so that a line written to the same
    pipe by other code is noticed.
    """
    ignore_interrupts()  # the parent handles Ctrl-C
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)  # what prints or reads standard input does not meet the pipes
    os.dup2(2, 1)

    def detach() -> None:
        """Keep a process that the function forks off the pipes; its parent bounds its time."""
        os.dup2(nothing, requests)
        os.dup2(nothing, replies)
        _limit("RLIMIT_CPU", None)

    os.register_at_fork(after_in_child=detach)
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    _limit("RLIMIT_CORE", 0)
    status = 1
    try:
        with open(requests, "rb", closefd=False) as lines:
            for line in lines:
                request = loads(line)
                for number, answer in enumerate(_results(request)):
                    shown = attempt(partial(dumps, answer))
                    failed = next((v for v in (answer, shown) if isinstance(v, Raised)), None)
                    found = f'"failure": {dumps(str(failed))}' if failed else f'"answer": {shown}'
                    reply = f'{{"key": "{request["key"]}", "row": {number}, {found}}}\n'
                    unwritten = memoryview(reply.encode("ascii"))
                    while unwritten:
                        unwritten = unwritten[os.write(replies, unwritten) :]
        os.killpg(os.getpid(), signal.SIGKILL)  # the parent has ended: with all processes of ours
    except SystemExit as error:
        status = error.code & 255 if isinstance(error.code, int) else int(error.code is not None)
    finally:
        os._exit(status)  # immediately: threads and pools of the function could wait for ever


def _results(request: dict[str, Any]) -> Iterator[Any]:
    """Yield the result of each row, a Raised in place of an exception."""
    if request["rows"] is None:
        _limit("RLIMIT_CPU", None)
        _limit("RLIMIT_AS", None)
        imported = attempt(partial(function_of, request["function"]))
        with suppress(OSError, ValueError):  # not Linux
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            _limit("RLIMIT_AS", pages * os.sysconf("SC_PAGE_SIZE") + MEMORY)
        yield imported if isinstance(imported, Raised) else None
        return
    function = function_of(request["function"])
    for row in request["rows"]:
        computed = int(sum(os.times()[:2]))
        _limit("RLIMIT_CPU", computed + CPU_SECONDS + 1)  # whole seconds
        yield attempt(partial(function, *row))


@cache
def function_of(name: str) -> Callable[..., Any]:
    """Return the function with the name "package.module:function"."""
    module, _, function = name.partition(":")
    imported: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return imported


def _limit(name: str, soft: int | None) -> None:
    """Set a limit of this process if the system supports it; None lifts it."""
    import resource

    kind = getattr(resource, name)
    _, hard = resource.getrlimit(kind)
    limit = hard if soft is None else soft
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    with suppress(OSError, ValueError):  # macOS refuses some
        resource.setrlimit(kind, (limit, hard))
