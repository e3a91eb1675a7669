r"""Runs in a child process (`gradeschool.worker`): needs sympy and antlr, of extra `math-verify`.

Upstream allows five seconds for a comparison and counts a longer one as wrong; here the limit of
the worker makes it an error. sympy's LaTeX parser builds expressions and executes no text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from sympy import simplify
from sympy.parsing.latex import _parse_latex_antlr as latex_parser

from gradeschool.latex import (
    MINERVA_REMOVED,
    MINERVA_REWRITTEN,
    MINERVA_SUBSTITUTIONS,
    replaced,
    spaced_box,
)
from gradeschool.worker import Raised, attempt

# sympy asks for antlr 4.11; the serialised grammar is the same from 4.10 to 4.13.
latex_parser.version = lambda _: "4.11"

ANNOUNCED = re.compile(r"Final Answer: The final answer is(.*?). I hope it is correct.")
HOPE, INVALID = "I hope it is correct.", "[invalidanswer]"
WORDS = tuple(word for word in MINERVA_REMOVED if word.isalpha())
WHOLE_WORDS = tuple(re.compile(rf"(?<!\\)\b{word}\b") for word in WORDS)
COMMAND = re.compile(r"(\\[a-zA-Z]+)")
ROOTS = (
    (re.compile(r"(sqrt)(\[[^\]]*\])(\w)"), r"\1\2{\3}"),
    (re.compile(r"(sqrt)(?!\[)([^{])"), r"sqrt{\2}"),
)
GROUPED = re.compile(r"-?\d{1,3}(,\d{3})+")


def exact_match(text: str, solution: str) -> tuple[str | None, bool]:
    """Judge as `exact_match`; solution: the reference solution, its answer in the last box."""
    announced = ANNOUNCED.search(text + HOPE)
    answer = normal_form(announced.group(1).strip() if announced else INVALID)
    gold = _gold(solution)
    equal = (answer == gold != "") or _is_zero(answer, gold)
    return (answer or None) if announced else None, equal


@lru_cache(4096)
def _gold(solution: str) -> str:
    box = spaced_box(solution)
    if box is None:
        raise ValueError(f"the solution has no box: {solution[-60:]!r}")
    return normal_form(box.text)


def normal_form(answer: str) -> str:
    """Return the normal form of an answer (Lewkowycz et al. 2022, appendix D)."""
    answer = answer.split("=")[-1]
    for word in WHOLE_WORDS:
        answer = word.sub("", answer)
    answer = replaced(answer, MINERVA_SUBSTITUTIONS)
    for expression in MINERVA_REMOVED:
        if expression.isalpha():  # not within a command: the "ft" of "\left" stays
            parts = COMMAND.split(answer)
            parts[::2] = [part.replace(expression, "") for part in parts[::2]]
            answer = "".join(parts)
        else:
            answer = answer.replace(expression, "")
    for pattern, replacement in (*MINERVA_REWRITTEN, *ROOTS):
        answer = pattern.sub(replacement, answer)
    answer = answer.replace("$", "")
    return answer.replace(",", "") if GROUPED.fullmatch(answer) else answer


def _is_zero(answer: str, gold: str) -> bool:
    """Return whether sympy simplifies the difference to 0; False if it cannot parse one of them."""

    def vanishes() -> Any:
        return simplify(_parsed(answer) - _parsed(gold)) == 0

    result = attempt(vanishes)
    return not isinstance(result, Raised) and bool(result)


def _parsed(latex: str) -> Any:
    return latex_parser.parse_latex(latex)
