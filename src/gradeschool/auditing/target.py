"""What is audited: a function that a child process can import, or one of our scorers."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradeschool.errors import InputError

NAME = re.compile(r"(?P<place>.+):(?P<function>[^\W\d]\w*(?:\.[^\W\d]\w*)*)", re.DOTALL)
MODULE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
EXAMPLE = "give MODULE:FUNCTION or FILE.py:FUNCTION, such as 'rewards:score'"


@dataclass(frozen=True, slots=True)
class Target:
    """A scorer, by where it is found; `name` is what people call it."""

    name: str
    place: dict[str, str]

    @property
    def worker_function(self) -> str:
        """The name by which `gradeschool.worker` calls it."""
        return f"gradeschool.auditing.child:{json.dumps(self.place)}"


def scorer_target(name: str) -> Target:
    """Return the target for a scorer of ours; UnknownNameError or MissingExtraError says why."""
    from gradeschool.protocols.registry import get_usable_scorer

    return Target(get_usable_scorer(name).name, {"scorer": name})


def target_of(function: str | Callable[..., Any]) -> Target:
    """Return the target for "module:function", "file.py:function" or a function itself.

    Raises InputError for what a fresh interpreter cannot find again: a lambda, a function inside
    a function, one typed into an interactive session.
    """
    return _named(function) if isinstance(function, str) else _of_callable(function)


def _named(name: str) -> Target:
    parts = NAME.fullmatch(name)
    if parts is None:
        raise InputError(f"{name!r} names no function; {EXAMPLE}")
    place, function = parts["place"], parts["function"]
    if place.endswith(".py"):
        if not Path(place).is_file():
            raise InputError(f"there is no file {place!r}; {EXAMPLE}")
        return Target(name, {"file": str(Path(place).resolve()), "function": function})
    if not MODULE.fullmatch(place):
        raise InputError(f"{place!r} is no module; {EXAMPLE}")
    return Target(name, {"module": place, "file": "", "function": function})


def _is_found(function: object, module: str, qualified: str) -> bool:
    """Tell whether a module holds this very function under its name: no lambda, no bound method."""
    found: object = sys.modules.get(module)
    for part in qualified.split("."):
        found = getattr(found, part, None)
    return found == function


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
