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


def unwrapped(text: str, opening: str, closing: str = "}", instead: str | None = None) -> str:
    """Replace each opening up to the nearest closing; None keeps the text between the two."""
    parts: list[str] = []
    position = 0
    while (start := text.find(opening, position)) >= 0:
        inside = start + len(opening)
        end = text.find(closing, inside)
        if end < 0:
            break
        parts += text[position:start], text[inside:end] if instead is None else instead
        position = end + len(closing)
    return "".join([*parts, text[position:]])


def without_unit(text: str) -> str:
    r"""Cut a text that ends in a brace at its first `\text{`, unless nothing would remain."""
    start = text.find("\\text{") if text.endswith("}") else -1
    return (text if start < 0 else text[:start]).strip() or text


def braced_fractions(text: str, *, strict: bool = False) -> str:
    r"""Write `\frac12` and `\frac1{2}` as `\frac{1}{2}`.

    Returns the text unchanged if less than two parts follow a command. strict: raises IndexError if
    nothing follows it.
    """
    head, *tails = text.split("\\frac")
    parts = [head]
    for tail in tails:
        if tail.startswith("{"):
            parts.append(tail)
            continue
        if len(tail) < 2:
            if strict and not tail:
                raise IndexError("nothing follows \\frac")
            return text
        over, under, rest = tail[0], tail[1], tail[2:]
        parts.append(f"{{{over}}}" + (under if under == "{" else f"{{{under}}}") + rest)
    return "\\frac".join(parts)


def slash_as_fraction(text: str, *, roots: bool = False, strict: bool = False) -> str:
    r"""Write `36/2` as `\frac{36}{2}` if both sides are integers as Python writes them.

    roots: whether a side with "sqrt" is kept as it is. strict: raises ValueError if a side is not
    an integer.
    """
    over, slash, under = text.partition("/")
    if not slash or "/" in under:
        return text
    try:
        sides = [side if roots and "sqrt" in side else int(side) for side in (over, under)]
    except ValueError:
        if strict:
            raise
        return text
    return "\\frac{{{}}}{{{}}}".format(*sides) if text == "{}/{}".format(*sides) else text
