"""The program in the child process: calls the audited function with a completion and a gold.

The parent asks `gradeschool.worker` for the function "gradeschool.auditing.child:<target>", where
<target> is a `Target` as JSON. This module's `__getattr__` imports the audited function, once for
each child and outside the time limit of a row.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import math
import os
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from json import loads  # bound here: the audited code may replace those of json
from pathlib import Path
from typing import Any

from gradeschool.auditing.target import Call, arguments, calls_of
from gradeschool.worker_main import MEMORY, Channel, Raised, attempt

# Wall time, for a function that waits; the worker stops one that computes too long.
WAIT_SECONDS = 20.0
TIMED_OUT = "no answer within"  # the worker uses these words too
OWN_SCORER = "ScorerError: "  # prefix for an exception of the published code in a built-in scorer
DESCRIBE = "?"  # in place of a way to call: requests the list of ways


def __getattr__(name: str) -> Callable[..., Any]:
    """Import the audited function; return the function that answers the parent's rows."""
    if not name.startswith("{"):
        raise AttributeError(name)
    target = loads(name)
    # A library called by a built-in scorer has its own limits.
    limit = _Limits(watched="scorer" not in target)
    function = _loaded(target)
    limit.begin()
    return partial(_answer, function, limit)


def _loaded(target: dict[str, str]) -> Callable[..., Any]:
    if "scorer" in target:
        return _scorer(target["scorer"])
    if target["file"]:
        module = _from_file(Path(target["file"]))
    else:
        # Last: a json.py beside the module must not replace the standard library's.
        sys.path.append(str(Path.cwd()))
        module = importlib.import_module(target["module"])
    function: Any = module
    for part in target["function"].split("."):
        function = getattr(function, part)
    if not callable(function):
        raise TypeError(f"{target['function']} is not callable")
    return function  # type: ignore[no-any-return]


def _from_file(path: Path) -> Any:
    sys.path.append(str(path.resolve().parent))  # last, as for a module
    taken = path.stem in sys.modules or path.stem in sys.stdlib_module_names
    name = f"audited_{path.stem}" if taken else path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class ScorerError(Exception):
    """A built-in scorer has the outcome `error`, for the reason that the published code gives."""


def _scorer(name: str) -> Callable[[str, str], bool]:
    from gradeschool.problem import Problem
    from gradeschool.protocols.registry import get_usable_scorer
    from gradeschool.verdict import Outcome

    scorer = get_usable_scorer(name)

    def accepts(completion: str, gold: str) -> bool:
        verdict = scorer.judge(completion, Problem.from_gold(gold))
        if verdict.outcome is Outcome.ERROR:
            raise ScorerError(verdict.reason)
        return verdict.correct

    return accepts


class _Limits:
    """Limits memory above that of the import, and watches for calls that wait without computing."""

    def __init__(self, watched: bool) -> None:
        self._watched = watched
        self._deadline: float | None = None
        self._lock = threading.Lock()
        _set_memory(None)

    def begin(self) -> None:
        """Limit the memory of calls from now on."""
        try:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            _set_memory(pages * os.sysconf("SC_PAGE_SIZE") + MEMORY)
        except (OSError, ValueError):  # not Linux
            pass
        if self._watched:
            threading.Thread(target=self._watch, daemon=True).start()

    def wait_until(self, deadline: float | None) -> None:
        """Set the time by which the call must end (time.monotonic), None between calls."""
        with self._lock:
            self._deadline = deadline

    def _watch(self) -> None:
        while True:
            time.sleep(0.5)
            with self._lock:
                late = self._deadline is not None and time.monotonic() > self._deadline
                if late and Channel.current is not None:
                    Channel.current.leave(f"{TIMED_OUT} {WAIT_SECONDS:g} s")


def _set_memory(size: int | None) -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = hard if size is None else size
    if hard != resource.RLIM_INFINITY and size is not None:
        soft = min(size, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _answer(
    function: Callable[..., Any], limits: _Limits, completion: str, gold: str, call: str
) -> dict[str, Any]:
    """Return the function's result: a score with its printed form, or the exception."""
    if call == DESCRIBE:
        return {"calls": [list(way) for way in calls_of(function)]}
    positional, named = arguments(Call(*loads(call)), completion, gold)
    limits.wait_until(time.monotonic() + WAIT_SECONDS)
    start = time.process_time()
    value = attempt(lambda: _finished(function(*positional, **named)))
    seconds = time.process_time() - start
    limits.wait_until(None)
    if isinstance(value, Raised):
        return {"raised": str(value), "seconds": seconds}
    score = attempt(lambda: _score(value))
    shown = attempt(lambda: repr(value)[:80])
    return {
        "score": None if isinstance(score, Raised) else score,
        "shown": str(shown),
        "seconds": seconds,
    }


def _finished(value: Any) -> Any:
    """Wait for the result of an `async def`."""
    return asyncio.run(_awaited(value)) if inspect.isawaitable(value) else value


async def _awaited(value: Any) -> Any:
    return await value


def _score(value: Any) -> float | None:
    """Return the number that a function returned; None if it is not a finite number.

    A batch of one counts as its element, a dictionary as its "score" (verl).
    """
    if isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        value = value.get("score")
    if value is None or isinstance(value, str | bytes):
        return None
    score = float(value)
    return score if math.isfinite(score) else None
