"""What runs in the child process: the audited function, called with one completion and one gold.

The parent asks `gradeschool.worker` for the function "gradeschool.auditing.child:<target>", where
<target> is a `Target` as JSON: this module's `__getattr__` imports what is audited, which happens
once for each child and outside the time limit of a row.
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
from json import loads  # the audited code may replace json's own
from pathlib import Path
from typing import Any

from gradeschool.auditing.target import Call, arguments, calls_of
from gradeschool.worker_main import MEMORY, Channel, Raised, attempt

# Of wall time, for a function that waits; one that computes is stopped by the worker.
WAIT_SECONDS = 20.0
TIMED_OUT = "no answer within"  # how the worker says it too
OWN_SCORER = "ScorerError: "  # how a scorer of ours says what the published code raises
DESCRIBE = "?"  # asked in place of a way to call: which ways are there


def __getattr__(name: str) -> Callable[..., Any]:
    """Import what a target names; return the function that the parent's rows are answered by."""
    if not name.startswith("{"):
        raise AttributeError(name)
    target = loads(name)
    # A library that one of our scorers calls has limits of its own.
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
        # Last: a json.py beside the module must not stand in for the library's.
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
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class ScorerError(Exception):
    """A scorer of ours has the outcome `error`; the reason is the published code's."""


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
    """Memory above what the import took, and a watch over calls that wait without computing."""

    def __init__(self, watched: bool) -> None:
        self._watched = watched
        self._deadline: float | None = None
        self._lock = threading.Lock()
        _set_memory(None)

    def begin(self) -> None:
        """Limit what calls may take from now on."""
        try:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            _set_memory(pages * os.sysconf("SC_PAGE_SIZE") + MEMORY)
        except (OSError, ValueError):  # no Linux
            pass
        if self._watched:
            threading.Thread(target=self._watch, daemon=True).start()

    def wait_until(self, deadline: float | None) -> None:
        """Set when the call must have ended (of time.monotonic), None where no call is made."""
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
    """Return what the function gives: a score with how it looks, or what it raised."""
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
    """Wait for what an `async def` promises."""
    return asyncio.run(_awaited(value)) if inspect.isawaitable(value) else value


async def _awaited(value: Any) -> Any:
    return await value


def _score(value: Any) -> float | None:
    """Return the number that a function gave; None where it is no finite number.

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
