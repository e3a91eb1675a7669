"""What runs in a child process of `gradeschool.worker`: calls functions, answers in JSON lines.

Reads {"function": "package.module:name", "rows": [[text, ...], ...]} and writes one line a row,
{"answer": ...} or {"failure": "..."}; rows null imports the function and answers once.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import sys
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any, TextIO

from gradeschool.signals import ignore_interrupts

CPU_SECONDS = 5  # for one row; the system kills a process that needs more, whatever it runs
MEMORY = 4 << 30  # bytes of address space: a tower of powers must not take the machine's memory


class Raised(Exception):
    """Stands for an exception of the called code: `attempt` returned no value."""


def attempt(call: Callable[[], Any]) -> Any:
    """Return what a call returns, or a Raised in place of whatever exception it raises."""
    try:
        return call()
    except BaseException as error:
        if not isinstance(error, Exception):
            raise
        return Raised(f"{type(error).__name__}: {str(error)[:200]}")


def main() -> None:
    """Answer until the input ends."""
    ignore_interrupts()
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # whatever a library prints must not stand between the answers
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    _limit("RLIMIT_AS", MEMORY)
    _limit("RLIMIT_CORE", 0)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if request["rows"] is None:
            _limit("RLIMIT_CPU", None)
            found = attempt(partial(function_of, request["function"]))
            _tell(answers, found if isinstance(found, Raised) else None)
            continue
        function = function_of(request["function"])
        for row in request["rows"]:
            _limit("RLIMIT_CPU", _cpu_seconds() + CPU_SECONDS + 1)  # whole seconds
            _tell(answers, attempt(partial(function, *row)))


@cache
def function_of(name: str) -> Callable[..., Any]:
    """Return the function of a name "package.module:function"."""
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


def _tell(answers: TextIO, answer: Any) -> None:
    failed = isinstance(answer, Raised)
    answers.write(json.dumps({"failure": str(answer)} if failed else {"answer": answer}) + "\n")
    answers.flush()


def _cpu_seconds() -> int:
    return int(sum(os.times()[:2]))


def _limit(name: str, soft: int | None) -> None:
    """Set a limit of this process where the system has it; None lifts it."""
    try:
        import resource
    except ImportError:  # Windows
        return
    kind = getattr(resource, name, None)
    if kind is None:
        return
    _, hard = resource.getrlimit(kind)
    wanted = resource.RLIM_INFINITY if soft is None else soft
    if hard != resource.RLIM_INFINITY:
        wanted = hard if soft is None else min(soft, hard)
    try:
        resource.setrlimit(kind, (wanted, hard))
    except (OSError, ValueError):  # macOS refuses some
        return
