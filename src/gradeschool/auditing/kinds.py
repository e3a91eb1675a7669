"""What a case is: a completion, a gold, and the verdict that a careful reader gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from gradeschool.auditing.styles import Style

Numbers = Callable[[str], Iterable[str]]
Texts = Callable[[Style, str], Iterable[str]]


class Kind(NamedTuple):
    """A family of cases that one fault of a scorer makes fail, and why the verdict is what it is.

    texts: (format, gold) -> completions. right: whether they give the gold. loose: the gold itself
    is none, so that raising or giving no verdict is as good as rejecting.
    """

    name: str
    right: bool
    why: str
    texts: Texts
    loose: bool = False


class Case(NamedTuple):
    """One completion to be judged; `base` is the plain one that it varies, "" for none.

    shape: the format's name.
    """

    kind: Kind
    shape: str
    gold: str
    completion: str
    base: str = ""


def right(name: str, why: str, numbers: Numbers) -> Kind:
    """Return a kind whose numbers are other spellings of the gold, in every format."""
    return Kind(name, True, why, _in_place(numbers))


def wrong(name: str, why: str, numbers: Numbers) -> Kind:
    """Return a kind whose numbers are not the gold, in every format."""
    return Kind(name, False, why, _in_place(numbers))


def _in_place(numbers: Numbers) -> Texts:
    return lambda style, gold: [style.write(number) for number in numbers(gold)]
