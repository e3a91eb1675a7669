"""A scorer or reward function of the user, called in a child process with bounded time and memory.

The way to call it follows from its signature: `f(completion, gold)`, `f(completion, problem)`,
`f(completion, gold, problem)`, and the forms of verl and TRL. The first half of this module runs in
this process, the second half (from `__getattr__`) in the child.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import math
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from json import loads  # bound here: the called code may replace those of json
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.errors import InputError
from gradeschool.problem import MARKER, Problem
from gradeschool.worker import (
    FOREIGN_LINE,
    TIMED_OUT,
    Child,
    ProcessLost,
    Raised,
    WorkerFailure,
    attempt,
)

NAME = re.compile(r"(?P<place>.+):(?P<function>[^\W\d]\w*(?:\.[^\W\d]\w*)*)", re.DOTALL)
MODULE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
EXAMPLE = "give MODULE:FUNCTION or FILE.py:FUNCTION, such as 'rewards.py:score'"
WAIT_SECONDS = 20.0  # for a call that waits without computing
GOLD_FORMS = ("text", "solution", "number")
GOLD_NAMES = ("answer", "solution", "ground_truth", "gold", "target", "label", "answers")
VERL = ("data_source", "solution_str", "ground_truth")


class Call(NamedTuple):
    """A way to call a function.

    way: "pair" f(completion, gold); "problem" with a `gradeschool.Problem` besides or in place of
    the gold; "names" f(data_source, solution_str, ground_truth, extra_info), as verl does; "batch"
    f(completions=[text], answer=[gold]) and "chats" with messages in place of the text, as TRL
    does. gold: one of GOLD_FORMS. name: the keyword for the gold's list in a batch, "" for every
    name in use. prompts: the batch takes prompts too. thread: call it in a second thread.
    """

    way: str
    gold: str = "text"
    name: str = ""
    prompts: bool = False
    thread: bool = False


class CallResult(NamedTuple):
    """What a call returned.

    score: a finite number, or True and False as 1 and 0. text: a string. If neither is given,
    shown: the value as printed, or raised: the exception, or how the process ended. seconds: of
    computing. hung: the call was stopped. lost: its process ended.
    """

    score: float | None = None
    text: str | None = None
    shown: str = ""
    raised: str = ""
    seconds: float = 0.0
    hung: bool = False
    lost: bool = False


class UserFunction:
    """A function by name ("rewards:score", "rewards.py:score") or itself, and its child process.

    Raises InputError for a name without such a file, and for a function that a fresh interpreter
    cannot import: a lambda, a function inside a function, one of an interactive session.
    """

    def __init__(
        self,
        function: str | Callable[..., Any],
        *,
        argument: str | None = None,
        wall: float | None = None,
    ) -> None:
        """argument: the function is a factory, and its result for this argument is called.

        wall: seconds of a call that waits, None for WAIT_SECONDS.
        """
        self.name, place = _locate(function)
        place |= {} if argument is None else {"argument": argument}
        self._place = f"{__name__}:{json.dumps(place)}"
        self._child = Child(WAIT_SECONDS if wall is None else wall)
        self._calls: list[Call] = []

    def calls(self) -> list[Call]:
        """Return the ways to call it; raises InputError if it cannot be imported or called."""
        if not self._calls:
            try:
                answer = self._child.call(self._place, (None, None, None, None))
                self._calls = [Call(*call) for call in answer]
            except (TypeError, LookupError, WorkerFailure) as error:
                reason = str(error).rpartition("cannot be used: ")[2]
                raise InputError(f"{self.name!r} cannot be called: {reason}") from None
        return self._calls

    def replies(
        self, rows: Sequence[tuple[str, str, Problem | None]], call: Call | None = None
    ) -> list[CallResult]:
        """Return the reply for each (completion, gold, problem), called as `call` says.

        Without `call`, the first way that fits the signature. Raises InputError as `calls`.
        """
        way, replies = call or self.calls()[0], []
        for completion, gold, problem in rows:
            fields = problem and [
                *(problem.id, problem.question, problem.gold, problem.solution),
                dict(problem.meta),
            ]
            try:
                answer = self._child.call(self._place, (completion, gold, fields, way))
            except WorkerFailure as failure:
                raised = str(failure)
                hung, lost = raised.startswith(TIMED_OUT), isinstance(failure, ProcessLost)
                replies.append(CallResult(raised=raised, hung=hung, lost=lost))
                continue
            match answer:
                case [float() | None, str() | None, str(), str(), float()]:
                    replies.append(CallResult(*answer))
                case _:
                    replies.append(CallResult(raised=FOREIGN_LINE))
        return replies

    def stop(self) -> None:
        """End the child process; the next call starts another."""
        self._child.stop()


def _locate(function: str | Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return the name of a function for people, and where the child finds it."""
    if isinstance(function, str):
        parts = NAME.fullmatch(function)
        if parts is None:
            raise InputError(f"{function!r} does not name a function; {EXAMPLE}")
        place, name = parts["place"], parts["function"]
        if place.endswith(".py"):
            if not Path(place).is_file():
                raise InputError(f"there is no file {place!r}; {EXAMPLE}")
            return function, {"file": str(Path(place).resolve()), "function": name}
        if not MODULE.fullmatch(place):
            raise InputError(f"{place!r} is not a module name; {EXAMPLE}")
        return function, {"module": place, "function": name}
    module: str = getattr(function, "__module__", None) or ""
    qualified: str = getattr(function, "__qualname__", "")
    owner = sys.modules.get(module)
    found: object = owner
    for part in qualified.split("."):
        found = getattr(found, part, None)
    file = getattr(owner, "__file__", None)
    if (module == "__main__" and not file) or found != function:  # a lambda, a bound method
        raise InputError(
            f"{function!r} cannot be imported by another process; define it at the top of a module"
        )
    name = f"{Path(file).name if file else module}:{qualified}"
    if file is not None and "." not in module and not hasattr(owner, "__path__"):  # a script
        return name, {"file": str(Path(file).resolve()), "function": qualified}
    return name, {"module": module, "function": qualified}


# In the child


def __getattr__(name: str) -> Callable[..., Any]:
    """Import the function that JSON names; return the function that answers the parent's rows.

    The worker imports outside the time limit of a row.
    """
    if not name.startswith("{"):
        raise AttributeError(name)
    place = loads(name)
    # The folder comes last: a json.py beside the module must not replace the standard library's.
    if "file" in place:
        path = Path(place["file"])
        sys.path.append(str(path.parent))
        taken = path.stem in sys.modules or path.stem in sys.stdlib_module_names
        spec = importlib.util.spec_from_file_location(f"user_{path.stem}" if taken else path.stem,
                                                      path)  # fmt: skip
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} is not a Python file")
        function: Any = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = function
        spec.loader.exec_module(function)
    else:
        if not place["module"].startswith("gradeschool."):
            sys.path.append(str(Path.cwd()))
        function = importlib.import_module(place["module"])
    for part in place["function"].split("."):
        function = getattr(function, part)
    if "argument" in place:
        function = function(place["argument"])
    if not callable(function):
        raise TypeError(f"{place['function']} is not callable")
    return partial(_answer, function)


def _answer(
    function: Callable[..., Any],
    completion: str | None,
    gold: str,
    problem: Sequence[Any] | None,
    call: Sequence[Any],
) -> list[Any]:
    """Return the fields of a CallResult; without a completion, the ways to call the function."""
    if completion is None:
        return function_calls(function)
    way = Call(*call)
    known = Problem(*problem) if problem else None
    positional, named = _arguments(function, way, completion, gold, known)

    async def awaited(value: Any) -> Any:
        return await value

    def run() -> Any:
        value = function(*positional, **named)
        if inspect.isawaitable(value):  # of an `async def`
            import asyncio

            value = asyncio.run(awaited(value))
        return value

    start = time.process_time()
    if way.thread:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as threads:
            value = threads.submit(attempt, run).result()
    else:
        value = attempt(run)
    seconds = time.process_time() - start
    if isinstance(value, Raised):
        return [None, None, "", str(value), seconds]
    score = attempt(lambda: _score(value))
    text = str(value) if isinstance(value, str) else None
    shown = str(attempt(lambda: repr(value)[:80]))
    return [None if isinstance(score, Raised) else score, text, shown, "", seconds]


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


def function_calls(function: Callable[..., Any]) -> list[Call]:
    """Return the ways in which a function may be called; raises TypeError if there are none."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # a builtin without a signature
        return [Call("pair", form) for form in GOLD_FORMS]
    kinds = {parameter.name: parameter.kind for parameter in signature.parameters.values()}
    open_ended = inspect.Parameter.VAR_KEYWORD in kinds.values()
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    named = [name for name, kind in kinds.items() if kind not in variable]
    if "completions" in named:
        name = next((name for name in GOLD_NAMES if name in named), "")
        if not name and not open_ended:
            raise TypeError(f"takes no gold: {', '.join(named)}; name it one of {GOLD_NAMES}")
        prompts = "prompts" in named or open_ended
        calls = [Call(way, name=name, prompts=prompts) for way in ("batch", "chats")]
    elif set(VERL) <= set(named):
        calls = [Call("names")]
    elif "problem" in named:
        calls = [Call("problem")]
    else:
        try:
            signature.bind("completion", "gold")
        except TypeError:
            raise TypeError(
                f"takes ({', '.join(named)}); wrap it in a function (completion, gold)"
            ) from None
        calls = [Call("pair")]
    return [call._replace(gold=form) for form in GOLD_FORMS for call in calls]


def _arguments(
    function: Callable[..., Any], call: Call, completion: str, gold: str, problem: Problem | None
) -> tuple[list[Any], Mapping[str, Any]]:
    """Return the positional and the keyword arguments for one completion and its gold."""
    reference: Any = gold
    if call.gold == "solution":
        reference = f"She fills 3 boxes and 4 boxes.\n{MARKER} {gold}"
    elif call.gold == "number":
        reference = math.nan
        for number in (float, int):
            with suppress(ValueError):
                reference = number(gold.replace(",", ""))
    if call.way == "pair":
        return [completion, reference], {}
    if call.way == "problem":
        takes_gold = len(inspect.signature(function).parameters) > 2
        given = [completion, reference] if takes_gold else [completion]
        return given, {"problem": problem or Problem.from_gold(gold)}
    if call.way == "names":
        return [], {**dict(zip(VERL, ("openai/gsm8k", completion, reference), strict=True)),
                    "extra_info": {}}  # fmt: skip
    chat = [{"role": "assistant", "content": completion}]
    columns = {name: [reference] for name in ([call.name] if call.name else GOLD_NAMES)}
    if call.prompts:
        columns["prompts"] = [""]
    return [], {"completions": [chat if call.way == "chats" else completion], **columns}
