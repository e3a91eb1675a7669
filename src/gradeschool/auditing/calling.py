"""How a scorer wants to be called: the order and the names of what it takes."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any, NamedTuple

# How the gold is handed over: as text, as a number, as a whole reference solution.
GOLD_FORMS = ("text", "solution", "number")
GOLD_NAMES = ("answer", "solution", "ground_truth", "gold", "target", "label", "answers")


class Call(NamedTuple):
    """A way to call a scorer.

    way: "pair" f(completion, gold); "names" f(data_source, solution_str, ground_truth, extra_info),
    as verl does; "batch" f(completions=[text], answer=[gold]) and "chats" with messages in place of
    the text, as TRL does. gold: one of GOLD_FORMS. name: what the gold's list is called in a batch,
    "" for every name in use. prompts: the batch takes prompts too.
    """

    way: str
    gold: str = "text"
    name: str = ""
    prompts: bool = False


def calls_of(function: Callable[..., Any]) -> list[Call]:
    """Return the ways in which a function may be called; raises TypeError where there is none."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # a builtin that does not tell
        return [Call("pair", form) for form in GOLD_FORMS]
    named = [
        one.name for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    open_ended = any(one.kind is one.VAR_KEYWORD for one in parameters)
    if "completions" in named:
        name = next((name for name in GOLD_NAMES if name in named), "")
        if not name and not open_ended:
            raise TypeError(f"takes no gold: {', '.join(named)}; name it one of {GOLD_NAMES}")
        prompts = "prompts" in named or open_ended
        ways = [Call(way, name=name, prompts=prompts) for way in ("batch", "chats")]
    elif {"data_source", "solution_str", "ground_truth"} <= set(named):
        ways = [Call("names")]
    elif _takes_two(list(parameters)):
        ways = [Call("pair")]
    else:
        raise TypeError(f"takes ({', '.join(named)}); wrap it in a function (completion, gold)")
    return [way._replace(gold=form) for form in GOLD_FORMS for way in ways]


def _takes_two(parameters: list[inspect.Parameter]) -> bool:
    """Tell whether two positional arguments, and no others, can be given."""
    positional = [
        one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]
    rest = any(one.kind is one.VAR_POSITIONAL for one in parameters)
    needed = [
        one
        for one in (*positional[2:], *(one for one in parameters if one.kind is one.KEYWORD_ONLY))
        if one.default is one.empty
    ]
    return (len(positional) >= 2 or rest) and not needed


def arguments(call: Call, completion: str, gold: str) -> tuple[list[Any], dict[str, Any]]:
    """Return the positional and the named arguments for one completion and its gold."""
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
        plain = gold.replace(",", "")
        try:
            return int(plain)
        except ValueError:
            pass
        try:
            return float(plain)
        except ValueError:
            return math.nan
    return gold
