"""A scorer or reward function of the user, called in a child process with bounded time and memory.

The way to call it follows from its signature: `f(completion, gold)`, `f(completion, problem)`,
`f(completion, gold, problem)`, and the forms of verl and TRL. The first half of this module runs in
this process, the second half (from `__getattr__`) in the child.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import json
import math
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from json import loads  # bound here: the called code may replace those of json
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.errors import InputError
from gradeschool.problem import MARKER, Problem
from gradeschool.worker import FOREIGN_LINE, TIMED_OUT, Child, ProcessLost, Raised, attempt
from gradeschool.worker import WorkerFailure as WorkerFailure

NAME = re.compile(r"(?P<place>.+):(?P<function>[^\W\d]\w*(?:\.[^\W\d]\w*)*)", re.DOTALL)
MODULE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
EXAMPLE = "give MODULE:FUNCTION or FILE.py:FUNCTION, such as 'rewards.py:score'"
WAIT_SECONDS = 20.0  # for a call that waits without computing
BATCH = 64
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


class Reply(NamedTuple):
    """What a call returned.

    score: a finite number, or True and False as 1 and 0. text: a string. If neither is given,
    shown: the value as printed, or raised: the exception, or how the process ended. hung: the call
    was stopped. lost: its process ended. seconds: of computing.
    """

    score: float | None = None
    text: str | None = None
    shown: str = ""
    raised: str = ""
    hung: bool = False
    lost: bool = False
    seconds: float = 0.0


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
        if isinstance(function, str):
            self.name, place = _by_name(function)
        else:
            self.name, place = _by_identity(function)
        place |= {} if argument is None else {"argument": argument}
        self._place = f"{__name__}:{json.dumps(place)}"
        self._child = Child(WAIT_SECONDS if wall is None else wall)
        self._calls: list[Call] = []

    def calls(self) -> list[Call]:
        """Return the ways to call it; raises InputError if it cannot be imported or called."""
        if not self._calls:
            (answer,) = self._child.answers(self._place, [(None, None, None, None)])
            if isinstance(answer, WorkerFailure):
                reason = str(answer).rpartition("cannot be used: ")[2]
                raise InputError(f"{self.name!r} cannot be called: {reason}")
            try:
                self._calls = [Call(*call) for call in answer]
            except (TypeError, LookupError):
                raise InputError(f"{self.name!r} cannot be called: {FOREIGN_LINE}") from None
        return self._calls

    def replies(
        self, rows: Sequence[tuple[str, str, Problem | None]], call: Call | None = None
    ) -> list[Reply]:
        """Return the reply for each (completion, gold, problem), called as `call` says.

        Without `call`, the first way that fits the signature. Raises InputError as `calls`.
        """
        way = call or self.calls()[0]
        sent = [(completion, gold, _fields(problem), way) for completion, gold, problem in rows]
        answers: list[Any] = []
        for start in range(0, len(sent), BATCH):
            answers += self._child.answers(self._place, sent[start : start + BATCH])
        return [_reply(answer) for answer in answers]

    def stop(self) -> None:
        """End the child process; the next call starts another."""
        self._child.stop()


def _reply(answer: Any) -> Reply:
    if isinstance(answer, WorkerFailure):
        hung = str(answer).startswith(TIMED_OUT)
        return Reply(raised=str(answer), hung=hung, lost=isinstance(answer, ProcessLost))
    match answer:
        case [float() | None as score, str() | None as text, str(shown), str(raised), float(s)]:
            return Reply(score, text, shown, raised, seconds=s)
    return Reply(raised=FOREIGN_LINE)


def _fields(problem: Problem | None) -> dict[str, Any] | None:
    if problem is None:
        return None
    names = ("id", "question", "gold", "solution")
    return {name: getattr(problem, name) for name in names} | {"meta": dict(problem.meta)}


def _by_name(name: str) -> tuple[str, dict[str, str]]:
    parts = NAME.fullmatch(name)
    if parts is None:
        raise InputError(f"{name!r} does not name a function; {EXAMPLE}")
    place, function = parts["place"], parts["function"]
    if place.endswith(".py"):
        if not Path(place).is_file():
            raise InputError(f"there is no file {place!r}; {EXAMPLE}")
        return name, {"file": str(Path(place).resolve()), "function": function}
    if not MODULE.fullmatch(place):
        raise InputError(f"{place!r} is not a module name; {EXAMPLE}")
    return name, {"module": place, "function": function}


def _by_identity(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    module: str = getattr(function, "__module__", None) or ""
    qualified: str = getattr(function, "__qualname__", "")
    owner = sys.modules.get(module)
    found: object = owner
    for part in qualified.split("."):
        found = getattr(found, part, None)
    file = getattr(owner, "__file__", None)
    is_script = file is not None and "." not in module and not hasattr(owner, "__path__")
    if (module == "__main__" and not file) or found != function:  # a lambda, a bound method
        raise InputError(
            f"{function!r} cannot be imported by another process; define it at the top of a module"
        )
    place = {"file": str(Path(str(file)).resolve())} if is_script else {"module": module}
    name = f"{Path(file).name if file else module}:{qualified}"
    return name, {**place, "function": qualified}


# In the child


def __getattr__(name: str) -> Callable[..., Any]:
    """Import the function that JSON names; return the function that answers the parent's rows.

    The worker imports outside the time limit of a row.
    """
    if not name.startswith("{"):
        raise AttributeError(name)
    place = loads(name)
    module = _from_file(Path(place["file"])) if "file" in place else _by_import(place["module"])
    function: Any = module
    for part in place["function"].split("."):
        function = getattr(function, part)
    if "argument" in place:
        function = function(place["argument"])
    if not callable(function):
        raise TypeError(f"{place['function']} is not callable")
    return partial(_answer, function)


def _by_import(module: str) -> Any:
    if not module.startswith("gradeschool."):
        # Last: a json.py beside the module must not replace the standard library's.
        sys.path.append(str(Path.cwd()))
    return importlib.import_module(module)


def _from_file(path: Path) -> Any:
    sys.path.append(str(path.resolve().parent))  # last, as for a module
    taken = path.stem in sys.modules or path.stem in sys.stdlib_module_names
    name = f"user_{path.stem}" if taken else path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _answer(
    function: Callable[..., Any],
    completion: str | None,
    gold: str | None,
    problem: Mapping[str, Any] | None,
    call: Sequence[Any] | None,
) -> list[Any]:
    """Return the fields of a Reply; without a completion, the ways to call the function."""
    if completion is None or gold is None or call is None:
        return calls_of(function)
    way = Call(*call)
    positional, named = arguments(function, way, completion, gold, problem)

    def run() -> Any:
        return attempt(lambda: _finished(function(*positional, **named)))

    start = time.process_time()
    if way.thread:
        with ThreadPoolExecutor(1) as threads:
            value = threads.submit(run).result()
    else:
        value = run()
    seconds = time.process_time() - start
    if isinstance(value, Raised):
        return [None, None, "", str(value), seconds]
    score = attempt(lambda: _score(value))
    text = str(value) if isinstance(value, str) else None
    shown = str(attempt(lambda: repr(value)[:80]))
    return [None if isinstance(score, Raised) else score, text, shown, "", seconds]


def _finished(value: Any) -> Any:
    """Wait for the result of an `async def`."""

    async def awaited() -> Any:
        return await value

    return asyncio.run(awaited()) if inspect.isawaitable(value) else value


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


def calls_of(function: Callable[..., Any]) -> list[Call]:
    """Return the ways in which a function may be called; raises TypeError if there are none."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # a builtin without a signature
        return [Call("pair", form) for form in GOLD_FORMS]
    parameters = signature.parameters.values()
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    named = [parameter.name for parameter in parameters if parameter.kind not in variable]
    open_ended = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
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


def arguments(
    function: Callable[..., Any],
    call: Call,
    completion: str,
    gold: str,
    problem: Mapping[str, Any] | None = None,
) -> tuple[list[Any], dict[str, Any]]:
    """Return the positional and the keyword arguments for one completion and its gold."""
    reference = _gold(gold, call.gold)
    if call.way == "pair":
        return [completion, reference], {}
    if call.way == "problem":
        known = Problem(**problem) if problem else Problem.from_gold(gold)
        takes_gold = len(inspect.signature(function).parameters) > 2
        return [completion, reference] if takes_gold else [completion], {"problem": known}
    if call.way == "names":
        return [], {
            "data_source": "openai/gsm8k",
            "solution_str": completion,
            "ground_truth": reference,
            "extra_info": {},
        }
    chat = [{"role": "assistant", "content": completion}]
    columns = {name: [reference] for name in ([call.name] if call.name else GOLD_NAMES)}
    if call.prompts:
        columns["prompts"] = [""]
    return [], {"completions": [chat if call.way == "chats" else completion], **columns}


def _gold(gold: str, form: str) -> Any:
    if form == "solution":
        return f"She fills 3 boxes and 4 boxes.\n{MARKER} {gold}"
    if form == "number":
        for number in (int, float):
            with suppress(ValueError):
                return number(gold.replace(",", ""))
        return math.nan
    return gold
