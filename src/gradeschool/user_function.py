"""Scorers and rewards of the user: how they are named, found, and called in a child process.

The way to call one follows from its signature: `f(completion, gold)`, `f(completion, problem)`,
`f(completion, gold, problem)`, and the forms of verl, TRL and OpenRLHF. `own_scorer` makes one a
scorer: "my.py:f", a function itself, an entry point. `load` and what follows it run in the child
(`worker`).
"""

import importlib.util
import inspect
import json
import logging
import sys
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool import worker
from gradeschool.answers.quantities import WORD_NUMBER, same_answer
from gradeschool.errors import InputError
from gradeschool.problem import MARKER, Problem
from gradeschool.scorer import Answer, LibraryAnswer, ReturnedScore, Scorer, ScorerFailure
from gradeschool.worker import FOREIGN_LINE, Child, Raised, WorkerFailure, attempt

WALL_SECONDS = 20.0  # for a call that waits without computing
EXAMPLE = "give MODULE:FUNCTION or FILE.py:FUNCTION, such as 'rewards.py:score'"
GOLD_FORMS = ("text", "solution", "number")
GOLD_NAMES = ("answer", "solution", "ground_truth", "gold", "target", "label", "answers")
# A function whose first parameter has one of these names takes (gold, completion).
GOLDS_FIRST = {"gold", "ground_truth", "target", "label", "reference", "expected"}
TEXTS_SECOND = {"completion", "response", "prediction", "pred", "output", "text", "generation"}
VERL = ("data_source", "solution_str", "ground_truth")
OPENRLHF = ("queries", "prompts", "labels")
QUESTION = "How many boxes does she fill?\n"  # where the problem is not known
# Completions before and after the judged one in a list of several, with their golds.
BEFORE, AFTER = ("#### 86413", "86413"), ("I do not know.", "97531")
OWN_FUNCTION = "a function of your own"  # summary of each of these scorers
ACCEPTED = 0.5  # the smallest number by which a function accepts an answer
MOST_HANGS = 3  # calls that hang, before a function is called no more
LOGGER = logging.getLogger("gradeschool")
RIGHT = 18  # the gold of TRIALS
# Right answers to 18, by which the way to call a function is found; most functions read one.
TRIALS = ("#### 18", r"The result is $\boxed{18}$.", "The answer is 18", "<answer>18</answer>")


class Call(NamedTuple):
    """A way to call a function.

    way: "pair" f(completion, gold); "problem" with a `gradeschool.Problem` besides or in place of
    the gold; "names" f(data_source, solution_str, ground_truth, extra_info), as verl does; "batch"
    f(completions=[text], answer=[gold]) and "chats" with messages in place of the text, as TRL
    does. "openrlhf" f(queries, prompts, labels), where a query is prompt and text together.
    gold: one of GOLD_FORMS. name: the keyword for the gold's list in a batch, "" for every name in
    use. thread: call it in a second thread. several: give a batch two more completions, with golds
    of their own.
    """

    way: str
    gold: str = "text"
    name: str = ""
    thread: bool = False
    several: bool = False


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

        wall: seconds of a call that waits, None for WALL_SECONDS.
        """
        self.name, place = _locate(function)
        if worker.serving:  # else each process would start the next one
            raise InputError(
                f"{self.name!r} is called by its own module while a process of gradeschool imports "
                "it; put the calls of gradeschool under `if __name__ == '__main__':`"
            )
        place = place if argument is None else {**place, "argument": argument}
        self._load = f"{__name__}:load {json.dumps(place)}"
        self._child = Child(wall or WALL_SECONDS)
        self._calls: list[Call] = []

    def calls(self) -> list[Call]:
        """Return the ways to call it; raises InputError if it cannot be imported or called."""
        if not self._calls:
            try:
                answer = self._child.call(self._load, (None, None, None, None))
                self._calls = [Call(*call) for call in answer]
            except (TypeError, LookupError, WorkerFailure) as error:
                reason = str(error).rpartition("cannot be used: ")[2]
                raise InputError(f"{self.name!r} cannot be called: {reason}") from None
        return self._calls

    def reply(
        self, completion: str, gold: str, problem: Problem | None, call: Call | None = None
    ) -> CallResult:
        """Return the reply for a completion, called as `call` says.

        Without `call`, the first way that fits the signature. Raises InputError as `calls`.
        """
        way = call or self.calls()[0]
        fields = problem and [
            *(problem.id, problem.question, problem.gold, problem.solution), dict(problem.meta)
        ]  # fmt: skip
        try:
            answer = self._child.call(self._load, (completion, gold, fields, way))
        except WorkerFailure as failure:
            hung, lost = failure.end == "time", failure.end != ""
            return CallResult(raised=str(failure), hung=hung, lost=lost)
        match answer:
            case [float() | None, str() | None, str(), str(), float()]:
                return CallResult(*answer)
        return CallResult(raised=FOREIGN_LINE)

    def stop(self) -> None:
        """End the child process; the next call starts another."""
        self._child.stop()


def _locate(function: str | Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return the name of a function for people, and where the child finds it."""
    if isinstance(function, str):
        place, _, name = function.rpartition(":")
        if not place or not all(map(str.isidentifier, name.split("."))):
            hint = f"{'put spaces between names; ' if ',' in function else ''}{EXAMPLE}"
            raise InputError(f"{function!r} does not name a function; {hint}")
        if place.endswith(".py"):
            if not Path(place).is_file():
                raise InputError(f"there is no file {place!r}; {EXAMPLE}")
            return function, {"file": str(Path(place).resolve()), "function": name}
        if not all(map(str.isidentifier, place.split("."))):
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


# As a scorer


class _Gold(str):
    """A gold with its problem, which a function of the user may take."""

    problem: Problem


def _gold_of(problem: Problem) -> str:
    gold = _Gold(problem.gold)
    gold.problem = problem
    return gold


def is_gold(text: str | None, gold: str) -> bool:
    """Return whether the text that a function returned is the gold, as a text or a number."""
    return text is not None and (text.strip() == gold.strip() or same_answer(text, gold))


def has_number(text: str) -> bool:
    """Return whether a text has a digit or a number in words."""
    return any(map(str.isdigit, text)) or WORD_NUMBER.search(text) is not None


def _find_call(called: UserFunction) -> tuple[Call, float | None]:
    """Return the first way to call a function in which it accepts a plain right answer, its score.

    Else the first in which it does not raise, as for a function that reads another format; else the
    first of all. Raises InputError if it cannot be imported or called.
    """
    calls = called.calls()
    usable = []
    for call in calls:
        for text in TRIALS:
            reply = called.reply(text, "18", None, call)
            if (reply.score or 0) >= ACCEPTED or is_gold(reply.text, "18"):
                return call, reply.score
            if reply.raised:
                break
        else:
            usable.append(call)
    return (usable or calls)[0], None


def own_scorer(function: str | Callable[..., Any], name: str = "") -> Scorer:
    """Return a scorer that calls a function of the user in a child process, bounded in time.

    function: "FILE.py:FUNCTION", "MODULE:FUNCTION" or the function itself; takes the completion
    and the gold, the problem or both (`user_function.Call`). True or a number from ACCEPTED on is
    correct, a smaller one wrong; a text is the extracted answer, which is compared with the gold as
    a number; None and an empty text are no answer. Anything else is an error of the row: a text
    without a number that is no part of the completion, or a number that may be the answer itself
    (711 from a function that gave no reward to a plain right answer; its scores are -1 to 1).
    After MOST_HANGS texts that hang, the function is called no more, with a warning.
    """
    called = UserFunction(function)
    try:
        call, reward = _find_call(called)
    except InputError:
        called.stop()
        raise
    most = 1 if reward is None else -1 if reward == RIGHT else inf  # a larger number is no score
    hung: dict[tuple[str, str], str] = {}  # the failures of texts, which may be asked for again

    def extract(text: str, reference: str) -> Answer | None:
        if (row := (text, str(reference))) in hung:
            raise ScorerFailure(hung[row])
        if len(hung) >= MOST_HANGS:
            raise ScorerFailure(f"never asked: it hung on {MOST_HANGS} completions before")
        problem = reference.problem if isinstance(reference, _Gold) else None
        reply = called.reply(*row, problem, call)
        if reply.hung:
            hung[row] = reply.raised
            if len(hung) == MOST_HANGS:
                LOGGER.warning(
                    "gradeschool: %s hung on %d completions and is called no more; those after "
                    "them were never asked and count as errors of the scorer",
                    called.name,
                    MOST_HANGS,
                )
        if reply.raised:
            raise ScorerFailure(reply.raised)
        how = f"{called.name} returned"
        if reply.score is not None:
            if abs(reply.score) > most:
                raise ScorerFailure(
                    f"returned {reply.shown}, no score: return True for a right answer, or a text"
                )
            value = ReturnedScore(reply.shown, reply.score >= ACCEPTED)
            return Answer(reply.shown, value, None, how)
        if reply.text:
            start = text.rfind(reply.text)
            if start < 0 and not has_number(reply.text) and has_number(reference):  # a verdict
                raise ScorerFailure(
                    f"returned {reply.shown}, no number and no part of the text; return True or "
                    "False, or the answer as a text, and None for no answer"
                )
            span = None if start < 0 else (start, start + len(reply.text))
            return Answer(reply.text, reply.text, span, how)
        if reply.text is None and reply.shown not in ("None", "[None]"):
            raise ScorerFailure(f"returned {reply.shown}; return a bool, a number or a text")
        return None

    def compare(value: str, reference: str) -> bool:
        if isinstance(value, LibraryAnswer):
            return value.is_equal
        return is_gold(value, reference)

    weakref.finalize(extract, called.stop)  # its child ends with the scorer
    return Scorer(name or called.name, OWN_FUNCTION, called.name, _gold_of, extract, compare)


# In the child


def load(place: Mapping[str, str]) -> Callable[..., list[Any]]:
    """Return what answers for the function at a place that `_locate` returned."""
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

    def run() -> Any:
        value = function(*positional, **named)
        if inspect.isawaitable(value):  # of an `async def`
            import asyncio

            with asyncio.Runner() as runner:
                return runner.get_loop().run_until_complete(value)
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
    score = attempt(lambda: _score(value, 3 if way.several else 1))
    text = str(value) if isinstance(value, str) else None
    shown = str(attempt(lambda: repr(value)[:80]))
    return [None if isinstance(score, Raised) else score, text, shown, "", seconds]


def _score(value: Any, completions: int = 1) -> float | None:
    """Return the number that a function returned; None if it is not a finite number.

    A list or tensor is one for each of the completions, of which the middle one is judged; a
    dictionary counts as its "rewards" (OpenRLHF) or "score" (verl).
    """
    if isinstance(value, dict) and "rewards" in value:
        value = value["rewards"]
    if hasattr(value, "tolist"):  # of torch or numpy
        value = value.tolist()
    if completions > 1 or isinstance(value, list | tuple):
        value = value[completions // 2] if len(value) == completions else None
    if isinstance(value, dict):
        value = value.get("score")
    if value is None or isinstance(value, str | bytes):
        return None
    score = float(value)
    return score if isfinite(score) else None


def function_calls(function: Callable[..., Any]) -> list[Call]:
    """Return the ways in which a function may be called; raises TypeError if there are none."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # a builtin without a signature
        return [Call("pair", form) for form in GOLD_FORMS]
    kinds = {parameter.name: parameter.kind for parameter in signature.parameters.values()}
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    named = [name for name, kind in kinds.items() if kind not in variable]
    name = ""
    if "completions" in named:
        name = next((name for name in GOLD_NAMES if name in named), "")
        if not name and inspect.Parameter.VAR_KEYWORD not in kinds.values():
            raise TypeError(f"takes no gold: {', '.join(named)}; name it one of {GOLD_NAMES}")
        ways = ["batch", "chats"]
    elif set(VERL) <= set(named):
        ways = ["names"]
    elif set(OPENRLHF) <= set(named):
        ways = ["openrlhf"]
    elif "problem" in named:
        ways = ["problem"]
    else:
        advice = "wrap it in a function (completion, gold)"
        try:
            signature.bind("completion", "gold")
        except TypeError:
            is_named = inspect.Parameter.KEYWORD_ONLY in kinds.values()
            keywords = " by keyword alone" if is_named else ""
            raise TypeError(f"takes ({', '.join(named)}){keywords}; {advice}") from None
        if named[0] in GOLDS_FIRST and named[1:2] and named[1] in TEXTS_SECOND:
            given = "but the completion is given first and then the gold"
            raise TypeError(f"takes ({', '.join(named)}), {given}; {advice}")
        ways = ["pair"]
    return [Call(way, form, name) for form in GOLD_FORMS for way in ways]


def _arguments(
    function: Callable[..., Any], call: Call, completion: str, gold: str, problem: Problem | None
) -> tuple[list[Any], Mapping[str, Any]]:
    """Return the positional and the keyword arguments for one completion and its gold."""

    def in_form(gold: str) -> Any:
        if call.gold == "solution":
            return f"She fills 3 boxes and 4 boxes.\n{MARKER} {gold}"
        if call.gold == "text":
            return gold
        reference: float = nan
        for number in (float, int):
            with suppress(ValueError):
                reference = number(gold.replace(",", ""))
        return reference

    reference = in_form(gold)
    if call.way == "pair":
        return [completion, reference], {}
    parameters = inspect.signature(function).parameters
    if call.way == "problem":
        given = [completion, reference] if len(parameters) > 2 else [completion]
        return given, {"problem": problem or Problem.from_gold(gold)}
    question = problem.question if problem else QUESTION
    if call.way == "names":
        named = dict(zip(VERL, ("openai/gsm8k", completion, reference), strict=True))
        extra = {"split": "test", "index": 0, "question": question, "answer": in_form(gold)}
        return [], {**named, "extra_info": extra}
    rows = [BEFORE, (completion, gold), AFTER] if call.several else [(completion, gold)]
    golds = [in_form(each) for _, each in rows]
    if call.way == "openrlhf":
        queries = [f"{question}{text}" for text, _ in rows]
        return [], dict(zip(OPENRLHF, (queries, [question] * len(rows), golds), strict=True))
    columns: dict[str, Any] = dict.fromkeys([call.name] if call.name else GOLD_NAMES, golds)
    is_open = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    if is_open or "prompts" in parameters:
        columns["prompts"] = [""] * len(rows)
    for name in ("log_extra", "log_metric"):  # of TRL
        if name in parameters:
            columns[name] = lambda *_, **__: None
    chats = [[{"role": "assistant", "content": text}] for text, _ in rows]
    texts = chats if call.way == "chats" else [text for text, _ in rows]
    return [], {"completions": texts, **columns}
