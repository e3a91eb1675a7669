"""Child processes for code that may hang, crash or use all memory on a model's text.

Such code is a library of an extra, or a function of the user (`user_function`). It is called in the
child with a row of JSON values, and its result returns as a line of JSON: nothing is pickled, and
no process is forked. A child is a fresh interpreter with this process's `sys.path`, without the
current folder. It starts at first use and ends with this process. A call that computes longer than
`CPU_SECONDS`, or takes more than a wall time, is killed with every process that it started, and the
next call goes to a new child.

The first half of this module runs in the parent, the second half (from `attempt`) in the child. At
its beginning are the cores and signals of any process.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import secrets
import select
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from json import dumps, loads  # bound here: the called code may replace those of json
from pathlib import Path
from queue import LifoQueue
from threading import Event, Thread, current_thread, main_thread
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def cores() -> int:
    """Return the number of cores that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


@contextmanager
def keeping_handlers(*numbers: signal.Signals) -> Iterator[None]:
    """Restore the handlers of signals after the block, which may replace them.

    Outside the main thread nothing changes, since Python handles no signals there.
    """
    is_main = current_thread() is main_thread()
    handlers = [signal.getsignal(number) for number in numbers] if is_main else []
    try:
        yield
    finally:
        for number, handler in zip(numbers, handlers, strict=False):
            signal.signal(number, handler)


@contextmanager
def stop_flag() -> Iterator[Event]:
    """Yield a flag that the first interrupt sets; a second one raises KeyboardInterrupt."""
    flag = Event()

    def interrupt(*_: object) -> None:
        if flag.is_set():
            raise KeyboardInterrupt
        flag.set()

    with keeping_handlers(*SIGNALS):
        if current_thread() is main_thread():
            for number in SIGNALS:
                signal.signal(number, interrupt)
        yield flag


# Child processes

CPU_SECONDS = 5  # of computing for one call, enforced by the system whatever runs
MEMORY = 4 << 30  # bytes that a call may take beyond those of its imports
WALL_SECONDS = 60.0  # for a call of a library that waits without computing
START_SECONDS = 120.0  # for the imports of a module: allows for a cold disk or a busy machine
CHILDREN = min(4, cores())
LONGEST_LINE = 1 << 26  # bytes of a result; a longer line was not written by the worker
FOREIGN_LINE = "the function wrote to the worker's own channel"

# Python variables that a child may inherit: where its library is, how it writes files. The others
# add folders to the path or run code (PYTHONPATH, PYTHONWARNINGS, PYTHONINSPECT ...).
INHERITED = {"PYTHONHOME", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"}
SET_PATH = "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); "


class WorkerFailure(Exception):
    """A call without a result; the message is what the function raised, or what happened.

    end: of its process: "time" as it took too long, "killed" by SIGKILL or SIGTERM from outside,
    "lost" for another reason; "" if it still runs.
    """

    def __init__(self, reason: str, end: str = "") -> None:
        super().__init__(reason)
        self.end = end


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
        _children.add(self)

    def call(self, function: str, row: Sequence[Any]) -> Any:
        """Return what "package.module:function" returns for a row; raises WorkerFailure.

        A call whose process somebody killed is made once more.
        """
        self._load(function)
        try:
            return self._exchange(function, row, self._wall)
        except WorkerFailure as failure:
            if failure.end != "killed":
                raise
        self._load(function)
        return self._exchange(function, row, self._wall)

    def stop(self, is_ours: bool = True) -> None:
        """Kill the process with all that it started; one that is not ours is let go."""
        process, self._process = self._process, None
        if process is None:
            return
        if is_ours:
            with suppress(ProcessLookupError, PermissionError):  # macOS: all of them are zombies
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()
        else:
            process.returncode = 0  # of the parent of this forked process, so not ours to wait for
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    def _load(self, function: str) -> None:
        """Start the process if none runs, and let it import the function."""
        if self._process is None or self._process.poll() is not None:
            self.stop()
            self._loaded.clear()
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
                raise WorkerFailure(f"no interpreter at {sys.executable!r}: {error}") from error
        if function not in self._loaded:
            try:
                self._exchange(function, None, START_SECONDS)
            except WorkerFailure as failure:
                self.stop()
                raise WorkerFailure(f"{function} cannot be used: {failure}") from None
            self._loaded.add(function)

    def _exchange(self, function: str, row: Sequence[Any] | None, seconds: float) -> Any:
        """Send a request and return its answer; `serve` has the format."""
        process, key = self._process, secrets.token_hex(16)
        assert process is not None and process.stdin is not None  # noqa: S101
        request = json.dumps({"function": function, "row": row, "key": key})
        unsent = memoryview(f"{request}\n".encode())
        try:
            while unsent:
                unsent = unsent[process.stdin.write(unsent) :]
            answer = json.loads(_line(process, seconds))
            if answer["key"] != key:
                raise WorkerFailure(FOREIGN_LINE, "lost")
            failed, result = answer.get("failure"), answer.get("answer")
        except OSError as error:
            self.stop()
            raise WorkerFailure(f"the process died: {error}", "lost") from error
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            self.stop()
            raise WorkerFailure(FOREIGN_LINE, "lost") from None
        except BaseException:  # after an interrupt too: the next call would get this answer
            self.stop()
            raise
        if failed is not None:
            raise WorkerFailure(failed)
        return result


def _line(process: subprocess.Popen[bytes], seconds: float) -> bytes:
    """Return what a process writes, up to the end of a line; raises WorkerFailure."""
    assert process.stdout is not None  # noqa: S101
    source, start, received = process.stdout.fileno(), time.monotonic(), bytearray()
    poll = select.poll()
    poll.register(source, select.POLLIN)
    while not received.endswith(b"\n"):
        left = start + seconds - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            raise WorkerFailure(f"no answer within {seconds:g} s", "time")
        chunk = os.read(source, 1 << 16)
        if not chunk:
            with suppress(subprocess.TimeoutExpired):
                process.wait(1)
            # Only the system's limit takes that long; any process can send the signal.
            waited = (time.monotonic() - start) * cores()
            if process.returncode == -signal.SIGXCPU and waited >= CPU_SECONDS - 1:
                raise WorkerFailure(f"no answer within {CPU_SECONDS} s of computing", "time")
            is_killed = process.returncode in (-signal.SIGKILL, -signal.SIGTERM)
            reason = f"the process died with exit status {process.returncode}"
            raise WorkerFailure(reason, "killed" if is_killed else "lost")
        received += chunk
        if len(received) > LONGEST_LINE:
            raise WorkerFailure(FOREIGN_LINE, "lost")
    return bytes(received)


_children: weakref.WeakSet[Child] = weakref.WeakSet()
serving = False  # whether this process is a child


@cache
def _shared() -> LifoQueue[Child]:
    """Return the children that are not in use; the last one used is taken first."""
    children: LifoQueue[Child] = LifoQueue()
    for _ in range(CHILDREN):
        children.put(Child())
    return children


def call(function: str, row: Sequence[Any]) -> Any:
    """Call a function as `Child.call` does, in one of CHILDREN processes that all threads share."""
    shared = _shared()
    child = shared.get()
    try:
        return child.call(function, row)
    finally:
        shared.put(child)


@atexit.register
def _stop_all(is_ours: bool = True) -> None:
    for child in list(_children):
        child.stop(is_ours)


# A forked process gets its own children.
os.register_at_fork(after_in_child=partial(_stop_all, is_ours=False))
os.register_at_fork(after_in_child=_shared.cache_clear)


# In the child


class Raised(Exception):
    """The exception of the called code, returned by `attempt` in place of a value."""


def attempt(call: Callable[[], Any]) -> Any:
    """Return the result of a call, or a Raised in place of its exception."""
    try:
        return call()
    except BaseException as error:  # noqa: BLE001  (it may call sys.exit)
        return Raised(f"{type(error).__name__}: {str(error)[:200]}")


def holds(test: Callable[[], Any]) -> bool:
    """Return whether a test returns true; a test that raises does not."""
    outcome = attempt(test)
    return not isinstance(outcome, Raised) and bool(outcome)


def serve() -> None:
    """Call the functions that the parent names, until it ends.

    Reads {"function": NAME, "row": [value, ...], "key": K} and writes {"key": K, "answer": ...}, or
    "failure" for a function that raised. With "row": null it imports the function. A key is used
    once, so that a line written to the same pipe by other code is noticed.
    """
    import logging
    import warnings

    global serving
    serving = True
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)  # what prints or reads standard input does not meet the pipes
    os.dup2(2, 1)

    def detach() -> None:
        """Keep a process that the function forks off the pipes; its parent bounds its time."""
        os.dup2(nothing, requests)
        os.dup2(nothing, replies)
        limit("RLIMIT_CPU", None)

    def end_with_parent() -> None:
        """Kill this process with all that it started when the parent ends, also within a call."""
        parent = select.poll()
        parent.register(requests, 0)  # 0: only that the other end was closed
        parent.poll()
        os.killpg(os.getpid(), signal.SIGKILL)

    os.register_at_fork(after_in_child=detach)
    Thread(target=end_with_parent, daemon=True).start()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    limit("RLIMIT_CORE", 0)
    try:
        with open(requests, "rb", closefd=False) as lines:
            for line in lines:
                request = loads(line)
                answer = attempt(partial(_answer, request["function"], request["row"]))
                kind, shown = "answer", answer
                if isinstance(answer, Raised):
                    kind, shown = "failure", dumps(str(answer))
                reply = f'{{"key": "{request["key"]}", "{kind}": {shown}}}\n'
                unwritten = memoryview(reply.encode("ascii"))
                while unwritten:
                    unwritten = unwritten[os.write(replies, unwritten) :]
        os.killpg(os.getpid(), signal.SIGKILL)  # the parent has ended: with all processes of ours
    finally:
        os._exit(1)  # immediately: threads and pools of the function could wait for ever


def _answer(function: str, row: Sequence[Any] | None) -> str:
    """Return the function's result for a row as JSON; without a row, import the function."""
    if row is not None:
        computed = int(sum(os.times()[:2]))
        limit("RLIMIT_CPU", computed + CPU_SECONDS + 1)  # whole seconds
        return dumps(_function(function)(*row))
    limit("RLIMIT_CPU", None)
    limit("RLIMIT_AS", None)
    try:
        _function(function)
    finally:
        with suppress(OSError, ValueError):  # not Linux
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            limit("RLIMIT_AS", pages * os.sysconf("SC_PAGE_SIZE") + MEMORY)
    return "null"


def limit(name: str, soft: int | None) -> None:
    """Set a limit of this process if the system supports it; None lifts it."""
    import resource

    kind = getattr(resource, name)
    _, hard = resource.getrlimit(kind)
    limit = hard if soft is None else soft
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    with suppress(OSError, ValueError):  # macOS refuses some
        resource.setrlimit(kind, (limit, hard))


@cache
def _function(name: str) -> Callable[..., Any]:
    """Import "package.module:function", or make it: "package.module:factory ARGUMENT AS JSON"."""
    place, _, argument = name.partition(" ")
    module, _, attribute = place.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    if argument:
        function = function(loads(argument))
    return function
