r"""The GSM8K evaluations of serving engines' continuous integration: vLLM's and SGLang's.

Both write the first five examples with their whole solutions and extract the last run of digits
after removing all commas: a sign and the digits after a decimal point are lost, in the gold too.
"""

from __future__ import annotations

import re

from gradeschool.problem import Problem
from gradeschool.protocols.extractions import last_number
from gradeschool.scorer import ScorerFailure

# Matches of `\d+` after commas are removed, located in the original text.
DIGITS = re.compile(r"\d+(?:,+\d+)*")
# `ast.literal_eval` rejects longer integers (sys.set_int_max_str_digits).
MOST_DIGITS = 4300


def integer(digits: str) -> str | None:
    """Return an integer literal without commas, None if Python rejects it."""
    digits = digits.replace(",", "")
    if not digits.strip("0"):
        return "0"
    is_literal = digits.isascii() and digits[0] != "0" and len(digits) <= MOST_DIGITS
    return digits if is_literal else None


last_integer = last_number(DIGITS, "the last run of digits", integer)


def solution_integer(problem: Problem) -> str:
    """Return the last run of digits of the whole reference solution.

    Raises ScorerFailure if there is none: upstream asserts that every gold can be read.
    """
    answer = last_integer(problem.solution, "")
    if answer is None:
        raise ScorerFailure("the reference solution contains no integer literal")
    return answer.value
