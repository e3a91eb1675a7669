"""Published definitions that no program at hand runs, written down as directly as they are stated.

Oracles for our rules, which find the same in linear time and other words: each takes a completion
and a gold and returns [verdict, extracted string]. Slow on long texts, as the definitions are.
"""

from __future__ import annotations

import re
from collections.abc import Callable

Said = list[bool | str | None]

# The common multi-pattern parser: the last match of the first pattern that matches.
MULTI_PATTERN = (
    r"####\s*([\d,.\-]+)",
    r"\\boxed\{([^}]+)\}",
    r"[Tt]he\s+(?:final\s+)?answer\s+is[:\s]*\$?([\d,.\-]+)",
    r"(?i)answer\s*:\s*\$?([\d,.\-]+)",
    r"(-?[\d,]+\.?\d*)",
)
# Numeric equality: the last number behind "ANSWER:", else the last number.
NUMERIC_EQUALITY = (r"(?i)answer\s*:\s*\$?(-?\d[\d,]*\.?\d*)", r"(-?\d[\d,]*\.?\d*)")


def last_of_first(patterns: tuple[str, ...], text: str) -> str | None:
    """Return the last match of the first of the patterns that matches at all."""
    every = (re.findall(pattern, text) for pattern in patterns)
    return next((found[-1] for found in every if found), None)


def normal(number: str) -> str:
    """Drop commas and trailing periods; write what floats call whole as an integer."""
    bare = number.strip().replace(",", "").rstrip(".")
    try:
        return str(int(float(bare))) if float(bare) == int(float(bare)) else bare
    except ValueError:
        return bare


def close(one: str, other: str) -> bool:
    """Tell whether two numbers are equal as strings, or as floats within 1e-6."""
    try:
        return one == other or abs(float(one) - float(other)) < 1e-6
    except ValueError:
        return False


def multi_pattern(completion: str, gold: str) -> Said:
    """Judge by the documented multi-pattern parser, which an infinite float makes fail."""
    found = last_of_first(MULTI_PATTERN, completion)
    if found is None:
        return [False, None]
    try:
        value = normal(found)
    except OverflowError as error:
        return ["error", type(error).__name__]
    return [close(value, normal(gold)), value]


def numeric_equality(completion: str, gold: str) -> Said:
    """Judge by the proposal of PostTrainBench #44."""
    found = last_of_first(NUMERIC_EQUALITY, completion)
    if found is None:
        return [False, None]
    try:
        value = normal(found)
    except OverflowError as error:
        return ["error", type(error).__name__]
    return [value == normal(gold), value]


DEFINITIONS: dict[str, Callable[[str, str], Said]] = {
    "multi-pattern": multi_pattern,
    "numeric-equality": numeric_equality,
}
