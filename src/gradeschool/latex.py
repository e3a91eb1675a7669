r"""Cleaning the LaTeX of answers in linear time; the published patterns are quadratic."""

from __future__ import annotations

import re

# Several harnesses use `(\d+)\.0+([^\d])` and `(\d+)\.0+$`. Here each run of digits is tried only
# once, from its start.
ZERO_DECIMALS = re.compile(r"(?<!\d)(\d++)\.0++(\D)")
ZERO_DECIMALS_AT_END = re.compile(r"(?<!\d)(\d++)\.0++\Z")


def without_zero_decimals(text: str) -> str:
    """Return a text with each "18.00" written as "18"."""
    return ZERO_DECIMALS_AT_END.sub(r"\1", ZERO_DECIMALS.sub(r"\1\2", text))


def without(text: str, opening: str, closing: str) -> str:
    """Remove everything from each opening to the nearest closing."""
    parts: list[str] = []
    position = 0
    while (start := text.find(opening, position)) >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        parts.append(text[position:start])
        position = end + len(closing)
    return "".join([*parts, text[position:]])


def braced_fractions(text: str) -> str:
    r"""Write `\frac12` as `\frac{1}{2}`."""
    head, *tails = text.split("\\frac")
    parts = [head]
    for tail in tails:
        if tail.startswith("{"):
            parts.append(tail)
            continue
        if len(tail) < 2:
            return text
        over, under, rest = tail[0], tail[1], tail[2:]
        parts.append(f"{{{over}}}" + (under if under == "{" else f"{{{under}}}") + rest)
    return "\\frac".join(parts)
