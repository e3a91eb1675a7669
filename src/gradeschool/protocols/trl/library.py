"""Runs in a child process (`gradeschool.worker`): needs the extra `math-verify`.

TRL gives Math-Verify 10 s to parse and 5 s to compare; the worker's limit replaces both.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from latex2sympy2_extended import NormalizationConfig
from math_verify import LatexExtractionConfig, parse, verify

LATEX = [
    LatexExtractionConfig(
        normalization_config=NormalizationConfig(units=True),
        boxed_match_priority=0,
        try_extract_without_anchor=False,
    )
]
LONGEST = 1000  # characters returned of an extracted answer


def accuracy_reward(text: str, gold: str) -> tuple[str | None, bool]:
    """Judge as `accuracy_reward`. Raises ValueError on a gold that it would skip."""
    golds = _gold(gold)
    if not golds:
        raise ValueError(f"the solution cannot be parsed, the example is skipped: {gold[:60]!r}")
    extracted = parse(text, LATEX, extraction_mode="first_match", parsing_timeout=None)
    equal = bool(verify(golds, extracted, timeout_seconds=None))
    texts = [item for item in extracted if isinstance(item, str)]
    return (texts[0] if texts else str(extracted[0]))[:LONGEST] if extracted else None, equal


@lru_cache(4096)
def _gold(text: str) -> list[Any]:
    extracted: list[Any] = parse(text, parsing_timeout=None)
    return extracted
