"""Runs in a child process (`gradeschool.worker`): needs the extra `math-verify`.

Upstream forks a process for each completion, with a limit of ten seconds. The worker's limit
replaces it, and a completion that exceeds it is an error, not wrong.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from latex2sympy2_extended import NormalizationConfig
from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify

LONGEST = 1000  # characters returned of an extracted answer
OF_GOLDS = [LatexExtractionConfig(), ExprExtractionConfig()]
OF_ANSWERS = [
    LatexExtractionConfig(
        normalization_config=NormalizationConfig(
            nits=False,
            malformed_operators=False,
            basic_latex=True,
            equations=True,
            boxed="all",
            units=True,
        ),
        boxed_match_priority=0,
        try_extract_without_anchor=False,
    )
]


def math_verify(text: str, reference: str) -> tuple[str | None, bool]:
    """Judge as MATHVerifyEvaluator, which passes the completion in the place of the gold."""
    gold = _gold(reference)
    if not gold:
        raise ValueError(f"the reference cannot be parsed: {reference[:60]!r}")
    answer = parse(text, OF_ANSWERS, extraction_mode="first_match", parsing_timeout=None)
    texts = [item for item in answer if isinstance(item, str)]
    shown = (texts[0] if texts else str(answer[0]))[:LONGEST] if answer else None
    return shown, bool(verify(answer, gold, timeout_seconds=None))


@lru_cache(4096)
def _gold(text: str) -> list[Any]:
    extracted: list[Any] = parse(
        f"${text}$", OF_GOLDS, extraction_mode="first_match", parsing_timeout=None
    )
    return extracted
