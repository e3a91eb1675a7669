"""The program in a child process of `gradeschool.worker`: calls functions, writes JSON lines.

Reads {"function": "package.module:name", "rows": [[text, ...], ...], "key": K}, and writes a line
for each row: {"key": K, "row": number, "answer": ...}, with "failure": "..." instead of the answer
if the function raised. "rows": null imports the function and gets one answer. Each request has a
new key, so that a line written to the same pipe by other code is noticed.
"""

from __future__ import annotations

import importlib
import logging
import os
import signal
import threading
import warnings
from collections.abc import Callable
from functools import cache, partial
from json import dumps, loads  # bound here: the called code may replace those of json
from typing import Any

from gradeschool.signals import ignore_interrupts

CPU_SECONDS = 5  # for one row; the system kills a process that needs more, whatever it runs
MEMORY = 4 << 30  # bytes of address space: a tower of powers must not use all memory of the machine


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


def main() -> None:
    """Serve requests until the input ends, or a function ends the process."""
    ignore_interrupts()  # the parent handles Ctrl-C
    channel = Channel()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    _limit("RLIMIT_AS", MEMORY)
    _limit("RLIMIT_CORE", 0)
    status = 1
    try:
        _serve(channel)
        _end()
    except SystemExit as error:
        status = error.code & 255 if isinstance(error.code, int) else int(error.code is not None)
    finally:
        os._exit(status)  # immediately: threads and pools of the function could wait for ever


def _serve(channel: Channel) -> None:
    while request := channel.request():
        if request["rows"] is None:
            _limit("RLIMIT_CPU", None)
            imported = attempt(partial(function_of, request["function"]))
            channel.answer(0, imported if isinstance(imported, Raised) else None)
            continue
        function = function_of(request["function"])
        for number, row in enumerate(request["rows"]):
            _limit("RLIMIT_CPU", _cpu_seconds() + CPU_SECONDS + 1)  # whole seconds
            channel.row = number
            channel.answer(number, attempt(partial(function, *row)))


class Channel:
    """The pipes to the parent, out of reach of what prints, reads standard input or forks."""

    current: Channel | None = None

    def __init__(self) -> None:
        self._requests, self._answers = os.dup(0), os.dup(1)
        self._lines = open(self._requests, "rb", closefd=False)  # noqa: SIM115
        self._key = ""
        self.row = 0  # the row being processed
        self._write = threading.Lock()
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=partial(self._forked, nothing))
        Channel.current = self

    def request(self) -> dict[str, Any] | None:
        """Return the next request, None if the parent has ended."""
        line = self._lines.readline()
        if not line:
            return None
        request: dict[str, Any] = loads(line)
        self._key, self.row = request["key"], 0
        return request

    def answer(self, row: int, answer: Any) -> None:
        """Write the result of a row: a JSON value, or a Raised."""
        failed = isinstance(answer, Raised)
        self._tell(row, {"failure": str(answer)} if failed else {"answer": answer})

    def leave(self, reason: str) -> None:
        """Report why the row has no result, and end this process, whatever its threads do."""
        self._tell(self.row, {"lost": reason})
        _end()

    def _tell(self, row: int, answer: dict[str, Any]) -> None:
        line = dumps({"key": self._key, "row": row, **answer}).encode("ascii") + b"\n"
        with self._write:
            unwritten = memoryview(line)
            while unwritten:
                unwritten = unwritten[os.write(self._answers, unwritten) :]

    def _forked(self, nothing: int) -> None:
        """Detach a forked process from the pipes; the process that waits for it bounds its time."""
        os.dup2(nothing, self._requests)
        os.dup2(nothing, self._answers)
        _limit("RLIMIT_CPU", None)


def _end() -> None:
    """End this process, and its process group if it leads one."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(0)


@cache
def function_of(name: str) -> Callable[..., Any]:
    """Return the function with the name "package.module:function"."""
    module, _, function = name.partition(":")
    imported: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return imported


def _cpu_seconds() -> int:
    return int(sum(os.times()[:2]))


def _limit(name: str, soft: int | None) -> None:
    """Set a limit of this process if the system supports it; None lifts it."""
    try:
        import resource
    except ImportError:  # Windows
        return
    kind = getattr(resource, name, None)
    if kind is None:
        return
    _, hard = resource.getrlimit(kind)
    limit = resource.RLIM_INFINITY if soft is None else soft
    if hard != resource.RLIM_INFINITY:
        limit = hard if soft is None else min(soft, hard)
    try:
        resource.setrlimit(kind, (limit, hard))
    except (OSError, ValueError):  # macOS refuses some
        return
