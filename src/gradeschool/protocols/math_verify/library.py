"""Runs in a child process (`gradeschool.worker`): needs the extra `math-verify`.

Math-Verify's own time-outs are switched off here; the limit of the worker replaces them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from math_verify import parse, verify

LONGEST = 1000  # characters returned of an extracted answer


def default(text: str, gold: str) -> tuple[str | None, bool]:
    """Compare with the gold as it is."""
    return _judged(text, gold)


def boxed_gold(text: str, gold: str) -> tuple[str | None, bool]:
    r"""Compare with the gold in a \boxed{}."""
    return _judged(text, f"\\boxed{{{gold}}}")


@lru_cache(4096)
def _gold(text: str) -> list[Any]:
    extracted: list[Any] = parse(text, parsing_timeout=None)
    return extracted


def _judged(text: str, gold: str) -> tuple[str | None, bool]:
    extracted = parse(text, parsing_timeout=None)
    equal = verify(_gold(gold), extracted, timeout_seconds=None)
    return shown(extracted), bool(equal)


def shown(extracted: list[Any]) -> str | None:
    """Return the extracted characters as Math-Verify cleaned them; None for nothing."""
    texts = [item for item in extracted if isinstance(item, str)]
    return (texts[0] if texts else str(extracted[0]))[:LONGEST] if extracted else None
