"""The audited function: how a child process imports it, and how to call it."""

from __future__ import annotations

import inspect
import json
import math
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.errors import InputError

NAME = re.compile(r"(?P<place>.+):(?P<function>[^\W\d]\w*(?:\.[^\W\d]\w*)*)", re.DOTALL)
MODULE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
EXAMPLE = "give MODULE:FUNCTION or FILE.py:FUNCTION, such as 'rewards:score'"


@dataclass(frozen=True, slots=True)
class Target:
    """A scorer, and the place to import it from; `name` is how messages call it."""

    name: str
    place: dict[str, str]

    @property
    def worker_function(self) -> str:
        """The name by which `gradeschool.worker` calls it."""
        return f"gradeschool.auditing.child:{json.dumps(self.place)}"


def scorer_target(name: str) -> Target:
    """Return the target for a built-in scorer; raises UnknownNameError or MissingExtraError."""
    from gradeschool.protocols.registry import get_usable_scorer

    return Target(get_usable_scorer(name).name, {"scorer": name})


def target_of(function: str | Callable[..., Any]) -> Target:
    """Return the target for "module:function", "file.py:function" or a function itself.

    Raises InputError for a function that a fresh interpreter cannot import: a lambda, a function
    inside a function, one defined in an interactive session.
    """
    return _named(function) if isinstance(function, str) else _of_callable(function)


def _named(name: str) -> Target:
    parts = NAME.fullmatch(name)
    if parts is None:
        raise InputError(f"{name!r} does not name a function; {EXAMPLE}")
    place, function = parts["place"], parts["function"]
    if place.endswith(".py"):
        if not Path(place).is_file():
            raise InputError(f"there is no file {place!r}; {EXAMPLE}")
        return Target(name, {"file": str(Path(place).resolve()), "function": function})
    if not MODULE.fullmatch(place):
        raise InputError(f"{place!r} is not a module name; {EXAMPLE}")
    return Target(name, {"module": place, "file": "", "function": function})


def _is_found(function: object, module: str, qualified: str) -> bool:
    """Return whether a module has this very function under its name: no lambda, no bound method."""
    holder: object = sys.modules.get(module)
    for part in qualified.split("."):
        holder = getattr(holder, part, None)
    return holder == function


def _of_callable(function: Callable[..., Any]) -> Target:
    module: str = getattr(function, "__module__", None) or ""
    qualified = getattr(function, "__qualname__", "")
    if module == "__main__":
        file = getattr(sys.modules["__main__"], "__file__", None)
        place = {"file": str(Path(file).resolve())} if file else {}
    else:
        place = {"module": module, "file": ""} if module else {}
    if not place or not _is_found(function, module, qualified):
        raise InputError(
            f"{function!r} cannot be imported by another process; define it at the top of a module"
        )
    return Target(f"{module}:{qualified}", {**place, "function": qualified})


# How the gold is passed: as text, as a number, as a whole reference solution.
GOLD_FORMS = ("text", "solution", "number")
GOLD_NAMES = ("answer", "solution", "ground_truth", "gold", "target", "label", "answers")


class Call(NamedTuple):
    """A way to call a scorer.

    way: "pair" f(completion, gold); "names" f(data_source, solution_str, ground_truth, extra_info),
    as verl does; "batch" f(completions=[text], answer=[gold]) and "chats" with messages in place of
    the text, as TRL does. gold: one of GOLD_FORMS. name: the keyword for the gold's list in a
    batch, "" for every name in use. prompts: the batch takes prompts too.
    """

    way: str
    gold: str = "text"
    name: str = ""
    prompts: bool = False


def calls_of(function: Callable[..., Any]) -> list[Call]:
    """Return the ways in which a function may be called; raises TypeError if there are none."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # a builtin without a signature
        return [Call("pair", form) for form in GOLD_FORMS]
    parameters = signature.parameters.values()
    named = [
        parameter.name
        for parameter in parameters
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    open_ended = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    if "completions" in named:
        name = next((name for name in GOLD_NAMES if name in named), "")
        if not name and not open_ended:
            raise TypeError(f"takes no gold: {', '.join(named)}; name it one of {GOLD_NAMES}")
        prompts = "prompts" in named or open_ended
        calls = [Call(way, name=name, prompts=prompts) for way in ("batch", "chats")]
    elif {"data_source", "solution_str", "ground_truth"} <= set(named):
        calls = [Call("names")]
    elif _takes_two(signature):
        calls = [Call("pair")]
    else:
        raise TypeError(f"takes ({', '.join(named)}); wrap it in a function (completion, gold)")
    return [call._replace(gold=form) for form in GOLD_FORMS for call in calls]


def _takes_two(signature: inspect.Signature) -> bool:
    """Return whether exactly two positional arguments can be given."""
    try:
        signature.bind("completion", "gold")
    except TypeError:
        return False
    return True


def arguments(call: Call, completion: str, gold: str) -> tuple[list[Any], dict[str, Any]]:
    """Return the positional and the keyword arguments for one completion and its gold."""
    reference = _gold(gold, call.gold)
    if call.way == "pair":
        return [completion, reference], {}
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
        return f"She fills 3 boxes and 4 boxes.\n#### {gold}"
    if form == "number":
        for number in (int, float):
            with suppress(ValueError):
                return number(gold.replace(",", ""))
        return math.nan
    return gold
