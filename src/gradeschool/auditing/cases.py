"""The parts of cases: gold answers, answer formats, and kinds of cases with their verdicts."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from decimal import Context, Decimal
from typing import NamedTuple

# Each has a property that trips some published scorer: one digit, a digit that ends or begins
# another gold, a thousands comma, more than five digits, a sign, zero.
FIXED = (
    *("1", "5", "11", "18", "60", "72", "250", "1000", "2125", "10000", "65960"),
    *("100000", "131250", "2880000", "0", "-1", "-10"),
)
# Golds to probe a scorer with: easy to read and to compare.
PLAIN = ("18", "5", "42", "7", "250", "96", "31", "640")
DECIMALS = ("0.5", "2.5", "17.25")
COMMAS = ("1,000", "2,125", "65,960", "1,450,000")
BEYOND_FLOATS = "9007199254740992"  # 2^53: the next integer has the same float

_EXACT = Context(prec=60)


def golds(seed: int) -> tuple[str, ...]:
    """Return whole golds as a dataset writes them: the fixed ones and those drawn by the seed."""
    return tuple(dict.fromkeys((*FIXED, *drawn(seed))))


def drawn(seed: int) -> tuple[str, ...]:
    """Return the golds drawn by a seed: two to six digits, and a negative one."""
    draw = random.Random(seed)  # noqa: S311
    whole = [str(draw.randrange(10**length, 10 ** (length + 1))) for length in range(1, 6)]
    return (*whole, str(-draw.randrange(2, 100)))


def grouped(digits: str, mark: str = ",") -> str:
    """Write a whole number with a mark between thousands."""
    return f"{int(digits):,}".replace(",", mark)


def times(number: str, factor: str) -> str:
    """Multiply exactly, and write the product without exponent and trailing zeros."""
    product = _EXACT.multiply(Decimal(number), Decimal(factor))
    written = format(product, "f")
    return written.rstrip("0").rstrip(".") if "." in written else written


def plus(number: str, term: int) -> str:
    """Add to a whole number."""
    return str(int(number) + term)


def equal(first: str, second: str) -> bool:
    """Return whether two plainly written numbers are equal."""
    return Decimal(first.replace(",", "")) == Decimal(second.replace(",", ""))


# Not the N of "ANSWER".
PLACE = re.compile(r"(?<![A-Za-z])N(?![A-Za-z])")


class AnswerFormat(NamedTuple):
    r"""One answer format. `shape` shows it with N for the number; `latex`: N is in math mode.

    closed: the number is enclosed, so that a period or a mark after it would be inside.
    """

    shape: str
    latex: bool = False
    closed: bool = False

    def write(self, number: str) -> str:
        """Return a completion that gives a number in this format."""
        return PLACE.sub(lambda _: number, self.shape)


HASHES = AnswerFormat("#### N")
BOX = AnswerFormat(r"The result is $\boxed{N}$.", latex=True, closed=True)
BARE = AnswerFormat("N")
FORMATS = (
    HASHES,
    BOX,
    AnswerFormat("The answer is N."),
    AnswerFormat("So the answer is N."),
    AnswerFormat("The final answer is N"),
    AnswerFormat("ANSWER: N"),
    AnswerFormat("Answer: N"),
    AnswerFormat("**Final Answer:** N"),
    AnswerFormat("Final answer: **N**", closed=True),
    AnswerFormat("<answer>N</answer>", closed=True),
    AnswerFormat("<think>This is easy.</think>\n<answer>N</answer>", closed=True),
    AnswerFormat("A: N"),
    BARE,
    AnswerFormat("In the end that is N."),
    AnswerFormat("Total = N"),
)
BY_SHAPE = {form.shape: form for form in FORMATS}


Numbers = Callable[[str], Iterable[str]]
Texts = Callable[[AnswerFormat, str], Iterable[str]]


class CaseKind(NamedTuple):
    """A family of cases that one fault of a scorer makes fail, and the reason for the verdict.

    texts: (format, gold) -> completions. right: whether they give the gold. loose: the gold itself
    is not a number, so that raising or giving no verdict is as good as rejecting.
    """

    name: str
    right: bool
    why: str
    texts: Texts
    loose: bool = False


class AuditCase(NamedTuple):
    """One completion to judge; `base` is the plain one that it varies, "" for none.

    shape: the format's name.
    """

    kind: CaseKind
    shape: str
    gold: str
    completion: str
    base: str = ""


def right(name: str, why: str, numbers: Numbers) -> CaseKind:
    """Return a kind whose numbers are other spellings of the gold, in every format."""
    return CaseKind(name, True, why, _in_place(numbers))


def wrong(name: str, why: str, numbers: Numbers) -> CaseKind:
    """Return a kind whose numbers are not the gold, in every format."""
    return CaseKind(name, False, why, _in_place(numbers))


def _in_place(numbers: Numbers) -> Texts:
    return lambda form, gold: [form.write(number) for number in numbers(gold)]
