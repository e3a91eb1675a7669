"""Runs in a child process (`gradeschool.worker`): needs the extra `math-verify`.

evalscope forks a child for each of the two steps, with a deadline of 30 s each. A step that exceeds
it, or in which Math-Verify raises, leaves the sample out of the score: outcome `error` here.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from itertools import product
from typing import Any

from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify
from math_verify.grader import get_pct_val

EXPONENT = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+")
FORMULA_STARTS = ("$", r"\(", r"\[", r"\boxed", r"\fbox")
LATEX_ONLY = [LatexExtractionConfig()]
BOX_FIRST = [LatexExtractionConfig(boxed_match_priority=0), ExprExtractionConfig()]
LONGEST = 1000  # characters returned of an extracted answer


def accuracy(text: str, reference: str) -> tuple[str | None, bool]:
    """Judge as the metric `acc` with numeric=True: extract the answer, then parse it again."""
    return _judged(text, reference, integers=False)


def integer_accuracy(text: str, reference: str) -> tuple[str | None, bool]:
    """Judge as the AIME benchmarks: the answer must be written as an integer, as the gold is."""
    return _judged(text, reference, integers=True)


def _judged(text: str, reference: str, integers: bool) -> tuple[str | None, bool]:
    _, shown = _read(text, whole_output=True)
    readings, display = _read(shown, whole_output=False)
    golds, gold_display = _gold(reference)
    if not golds or (integers and not _is_integer(gold_display)):
        raise ValueError(f"the reference cannot be parsed: {reference[:60]!r}")
    allowed = not integers or _is_integer(display)
    equal = allowed and any(_same(gold, reading) for gold, reading in product(golds, readings))
    return shown[:LONGEST] or None, equal


def _is_integer(text: str) -> bool:
    try:
        value = Decimal(text.replace(",", "").strip())
    except InvalidOperation:
        return False
    return value.is_finite() and value == value.to_integral_value()


@lru_cache(4096)
def _gold(text: str) -> tuple[list[Any], str]:
    return _read(text, whole_output=False)


def _same(gold: Any, reading: Any) -> bool:
    return bool(verify([gold], [reading], timeout_seconds=None, raise_on_error=True))


def _read(text: str, whole_output: bool) -> tuple[list[Any], str]:
    """Return the values and the text to show; unless `whole_output`, `text` is one formula."""
    text = text.strip()
    if not text:
        return [], ""
    source = text
    number_alone = EXPONENT.fullmatch(text) is not None
    if number_alone:
        source = f"${text.replace('e', 'E')}$"  # a small e would be Euler's number
    if not whole_output and not source.startswith(FORMULA_STARTS):
        source = f"${source}$"
    values, shown = _parsed(source, BOX_FIRST)
    if values and "e" in shown and EXPONENT.fullmatch(shown):
        values, _ = _parsed(f"${shown.replace('e', 'E')}$", LATEX_ONLY)
    if number_alone:
        shown = text
    if len(values) == 1 and "%" not in shown and get_pct_val(values[0]) is not None:
        shown += "%"
    return values, shown


def _parsed(text: str, config: list[Any]) -> tuple[list[Any], str]:
    extracted = parse(text, config, extraction_mode="first_match", parsing_timeout=None)
    texts = [item for item in extracted if isinstance(item, str)]
    return [item for item in extracted if not isinstance(item, str)], texts[0] if texts else ""
