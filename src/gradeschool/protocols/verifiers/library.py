r"""Runs in a child process (`gradeschool.worker`): needs the extra `math-verify`.

Both sides are put into a \boxed{} and parsed with Math-Verify's defaults; any failure is wrong.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from math_verify import parse, verify

from gradeschool.answers.search import closing_brace
from gradeschool.worker import attempt

BOX = "\\boxed{"
THOUGHT_END = "</think>"
HASH_ANSWER = re.compile(r"####\s*(.+)")
MOST_CHARACTERS = 50_000  # of a response; longer ones are wrong without being parsed
LONGEST = 1000  # characters returned of an extracted answer


def math_rubric(text: str, gold: str) -> tuple[str | None, bool]:
    r"""Judge as MathRubric with the default parser: no \boxed{}, no answer."""
    return _rubric(last_box(_after_thinking(text)) or "", gold)


def math_rubric_lenient(text: str, gold: str) -> tuple[str | None, bool]:
    r"""Judge as MathRubric with a parser that uses the whole reply if there is no \boxed{}."""
    reply = _after_thinking(text)
    box = last_box(reply)
    return _rubric(reply if box is None else box, gold)


def gsm8k_v1(text: str, gold: str) -> tuple[str | None, bool]:
    """Judge as verify.py of the GSM8K environment: the last "#### ...", else the whole reply."""
    extracted = HASH_ANSWER.findall(text)
    response = extracted[-1] if extracted else text
    return response[:LONGEST] or None, _same_boxed(response, gold)


def _after_thinking(text: str) -> str:
    return text.rpartition(THOUGHT_END)[2].strip()


def last_box(text: str) -> str | None:
    r"""Return the content of the last \boxed{}; None if there is none or it is not closed."""
    start = text.rfind(BOX)
    inside = start + len(BOX)
    close = closing_brace(text, inside) if start >= 0 else -1
    return None if close < 0 else text[inside:close]


def _rubric(response: str, gold: str) -> tuple[str | None, bool]:
    readable = 0 < len(response) <= MOST_CHARACTERS
    return response[:LONGEST] or None, readable and _same_boxed(response, gold)


def _same_boxed(response: str, gold: str) -> bool:
    extracted = attempt(lambda: parse(_boxed(response), parsing_timeout=None))
    return attempt(lambda: verify(_gold(gold), extracted, timeout_seconds=None)) is True


@lru_cache(4096)
def _gold(text: str) -> list[Any]:
    extracted: list[Any] = parse(_boxed(text), parsing_timeout=None)
    return extracted


def _boxed(text: str) -> str:
    return f"{BOX}{text}}}"
