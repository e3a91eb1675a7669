r"""The GSM8K evaluations of serving engines' continuous integration: vLLM's and SGLang's.

Both write the first five examples with their whole solutions and extract the last run of digits
after removing all commas: a sign and the digits after a decimal point are lost, in the gold too.
"""

from __future__ import annotations

import re

from gradeschool.protocols import Problem, Scorer, ScorerFailure
from gradeschool.protocols.extractions import last_number

VLLM_SOURCE = "vllm-project/vllm @ 03e09605, tests/evals/gsm8k/gsm8k_eval.py"
SGLANG_SOURCE = "sgl-project/sglang @ 109fdd2f, python/sglang/test/few_shot_gsm8k.py"
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


SCORERS = tuple(
    Scorer(
        name=name,
        summary="the last run of digits, commas removed, no sign, equal as an integer",
        source=f"{source}, get_answer_value",
        reference=solution_integer,
        extract=last_integer,
    )
    for name, source in (("vllm/gsm8k", VLLM_SOURCE), ("sglang/gsm8k-few-shot", SGLANG_SOURCE))
)
