"""Child processes for code that may hang, crash or use all memory on a model's text.

Such code is a library of an extra, or a scorer or reward function of the user. It is called in the
child with a row of JSON values, and its result returns as a line of JSON: nothing is pickled, and
no process is forked. A child is a fresh interpreter with this process's `sys.path`, without the
current folder. It starts at first use and ends with this process. A call that computes longer than
`CPU_SECONDS`, or takes more than a wall time, is killed with every process that it started, and the
next call goes to a new child.

The first half of this module runs in the parent, the second half (from `attempt`) in the child.
"""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import json
import os
import re
import secrets
import signal
import sys
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from json import dumps, loads  # bound here: the called code may replace those of json
from math import isfinite, nan
from pathlib import Path
from queue import LifoQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from gradeschool.errors import InputError
from gradeschool.problem import MARKER, Problem
from gradeschool.process import cores, ignore_interrupts

if TYPE_CHECKING:
    import subprocess

CPU_SECONDS = 5  # of computing for one call, enforced by the system whatever runs
MEMORY = 4 << 30  # bytes that a call may take beyond those of its imports
WALL_SECONDS = 60.0  # for a call of a library that waits without computing
USER_WALL_SECONDS = 20.0  # for one of the user's function
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

    timed_out: it took too long. lost: its process no longer exists. killed: that process was ended
    by SIGKILL or SIGTERM from outside.
    """

    def __init__(
        self, reason: str, *, timed_out: bool = False, lost: bool = False, killed: bool = False
    ) -> None:
        super().__init__(reason)
        self.timed_out, self.lost, self.killed = timed_out, lost, killed


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
            if not failure.killed:
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
        import subprocess  # not needed in the child

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
                raise WorkerFailure(FOREIGN_LINE, lost=True)
            failed, result = answer.get("failure"), answer.get("answer")
        except OSError as error:
            self.stop()
            raise WorkerFailure(f"the process died: {error}", lost=True) from error
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            self.stop()
            raise WorkerFailure(FOREIGN_LINE, lost=True) from None
        except BaseException:  # after an interrupt too: the next call would get this answer
            self.stop()
            raise
        if failed is not None:
            raise WorkerFailure(failed)
        return result


def _line(process: subprocess.Popen[bytes], seconds: float) -> bytes:
    """Return what a process writes, up to the end of a line; raises WorkerFailure."""
    import select
    import subprocess

    assert process.stdout is not None  # noqa: S101
    source, start, received = process.stdout.fileno(), time.monotonic(), bytearray()
    poll = select.poll()
    poll.register(source, select.POLLIN)
    while not received.endswith(b"\n"):
        left = start + seconds - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            raise WorkerFailure(f"no answer within {seconds:g} s", lost=True, timed_out=True)
        chunk = os.read(source, 1 << 16)
        if not chunk:
            with suppress(subprocess.TimeoutExpired):
                process.wait(1)
            # Only the system's limit takes that long; any process can send the signal.
            waited = (time.monotonic() - start) * cores()
            if process.returncode == -signal.SIGXCPU and waited >= CPU_SECONDS - 1:
                reason = f"no answer within {CPU_SECONDS} s of computing"
                raise WorkerFailure(reason, lost=True, timed_out=True)
            killed = process.returncode in (-signal.SIGKILL, -signal.SIGTERM)
            reason = f"the process died with exit status {process.returncode}"
            raise WorkerFailure(reason, lost=True, killed=killed)
        received += chunk
        if len(received) > LONGEST_LINE:
            raise WorkerFailure(FOREIGN_LINE, lost=True)
    return bytes(received)


_children: weakref.WeakSet[Child] = weakref.WeakSet()
_serving = False  # whether this process is a child


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


def _forked() -> None:
    """Give a forked process its own children."""
    _stop_all(is_ours=False)
    _shared.cache_clear()


os.register_at_fork(after_in_child=_forked)


# Functions of the user. The way to call one follows from its signature: `f(completion, gold)`,
# `f(completion, problem)`, `f(completion, gold, problem)`, and the forms of verl and TRL.

NAME = re.compile(r"(?P<place>.+):(?P<function>[^\W\d]\w*(?:\.[^\W\d]\w*)*)", re.DOTALL)
MODULE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
EXAMPLE = "give MODULE:FUNCTION or FILE.py:FUNCTION, such as 'rewards.py:score'"
GOLD_FORMS = ("text", "solution", "number")
GOLD_NAMES = ("answer", "solution", "ground_truth", "gold", "target", "label", "answers")
# Parameters in the other order than that in which a function is called.
GOLDS_FIRST = {"gold", "ground_truth", "target", "label", "reference", "expected"}
TEXTS_SECOND = {"completion", "response", "prediction", "pred", "output", "text", "generation"}
VERL = ("data_source", "solution_str", "ground_truth")
OPENRLHF = ("queries", "prompts", "labels")
QUESTION = "How many boxes does she fill?\n"  # where the problem is not known
# Completions before and after the judged one in a list of several, with their golds.
BEFORE, AFTER = ("#### 86413", "86413"), ("I do not know.", "97531")


class Call(NamedTuple):
    """A way to call a function.

    way: "pair" f(completion, gold); "problem" with a `gradeschool.Problem` besides or in place of
    the gold; "names" f(data_source, solution_str, ground_truth, extra_info), as verl does; "batch"
    f(completions=[text], answer=[gold]) and "chats" with messages in place of the text, as TRL
    does. "openrlhf" f(queries, prompts, labels), where a query is prompt and text together.
    gold: one of GOLD_FORMS. name: the keyword for the gold's list in a batch, "" for every
    name in use. prompts: the batch takes prompts too. thread: call it in a second thread. several:
    give a batch two more completions, with golds of their own.
    """

    way: str
    gold: str = "text"
    name: str = ""
    prompts: bool = False
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
        wall: float = USER_WALL_SECONDS,
    ) -> None:
        """argument: the function is a factory, and its result for this argument is called.

        wall: seconds of a call that waits.
        """
        self.name, place = _locate(function)
        if _serving:  # else each process would start the next one
            raise InputError(
                f"{self.name!r} is called by its own module while a process of gradeschool imports "
                "it; put the calls of gradeschool under `if __name__ == '__main__':`"
            )
        self._place = json.dumps(place if argument is None else {**place, "argument": argument})
        self._child = Child(wall)
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
            answer = self._child.call(self._place, (completion, gold, fields, way))
        except WorkerFailure as end:
            return CallResult(raised=str(end), hung=end.timed_out, lost=end.lost)
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
        parts = NAME.fullmatch(function)
        if parts is None:
            hint = f"{'put spaces between names; ' if ',' in function else ''}{EXAMPLE}"
            raise InputError(f"{function!r} does not name a function; {hint}")
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
    import select
    import warnings
    from threading import Thread

    global _serving
    _serving = True
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
    _limit("RLIMIT_CORE", 0)
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
        _limit("RLIMIT_CPU", computed + CPU_SECONDS + 1)  # whole seconds
        return dumps(_function(function)(*row))
    _limit("RLIMIT_CPU", None)
    _limit("RLIMIT_AS", None)
    try:
        _function(function)
    finally:
        with suppress(OSError, ValueError):  # not Linux
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            _limit("RLIMIT_AS", pages * os.sysconf("SC_PAGE_SIZE") + MEMORY)
    return "null"


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


@cache
def _function(name: str) -> Callable[..., Any]:
    """Import the function "package.module:function", or one of the user that JSON names."""
    if not name.startswith("{"):
        module, _, attribute = name.partition(":")
        imported: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
        return imported
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
    return partial(_user_answer, function)


def _user_answer(
    function: Callable[..., Any],
    completion: str | None,
    gold: str,
    problem: Sequence[Any] | None,
    call: Sequence[Any],
) -> list[Any]:
    """Return the fields of a CallResult; without a completion, the ways to call the function."""
    import inspect

    if completion is None:
        return function_calls(function)
    way = Call(*call)
    known = Problem(*problem) if problem else None
    positional, named = _arguments(function, way, completion, gold, known)

    def run() -> Any:
        value = function(*positional, **named)
        if inspect.isawaitable(value):  # of an `async def`
            import asyncio

            async def awaited() -> Any:
                return await value

            return asyncio.run(awaited())
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
    import inspect

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
    elif set(OPENRLHF) <= set(named):
        calls = [Call("openrlhf")]
    elif "problem" in named:
        calls = [Call("problem")]
    else:
        try:
            signature.bind("completion", "gold")
        except TypeError:
            is_named = inspect.Parameter.KEYWORD_ONLY in kinds.values()
            keywords = " by keyword alone" if is_named else ""
            raise TypeError(
                f"takes ({', '.join(named)}){keywords}; wrap it in a function (completion, gold)"
            ) from None
        if named[0] in GOLDS_FIRST and named[1:2] and named[1] in TEXTS_SECOND:
            raise TypeError(
                f"takes ({', '.join(named)}), but the completion is given first and then the gold; "
                "wrap it in a function (completion, gold)"
            )
        calls = [Call("pair")]
    return [call._replace(gold=form) for form in GOLD_FORMS for call in calls]


def _arguments(
    function: Callable[..., Any], call: Call, completion: str, gold: str, problem: Problem | None
) -> tuple[list[Any], Mapping[str, Any]]:
    """Return the positional and the keyword arguments for one completion and its gold."""
    import inspect

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
    if call.way == "problem":
        takes_gold = len(inspect.signature(function).parameters) > 2
        given = [completion, reference] if takes_gold else [completion]
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
    if call.prompts:
        columns["prompts"] = [""] * len(rows)
    parameters = inspect.signature(function).parameters
    for name in ("log_extra", "log_metric"):  # of TRL
        if name in parameters:
            columns[name] = lambda *_, **__: None
    chats = [[{"role": "assistant", "content": text}] for text, _ in rows]
    texts = chats if call.way == "chats" else [text for text, _ in rows]
    return [], {"completions": texts, **columns}
