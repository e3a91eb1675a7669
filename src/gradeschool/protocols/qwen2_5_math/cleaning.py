r"""`strip_string`: how Qwen2.5-Math cleans an answer before it compares it.

https://github.com/QwenLM/Qwen2.5-Math/blob/a45202bd/evaluation/parser.py, lines 83-330. The regexes
of upstream that are quadratic are linear scans here, with the same result.
"""

from __future__ import annotations

import re
from functools import cache

from gradeschool.protocols.qwen2_5_math.word_numbers import word_number

# In the order of upstream, each also with an "s" behind it; a period stands for any character.
UNITS = (
    *("east", "degree", "mph", "kmph", "ft", "m sqaure", " m east", "sq m", "deg", "mile", "q ."),
    *("monkey", "prime", "ratio", "profit of rs", "rd", "o", "gm", "p . m", "lb", "tile", "per"),
    *("dm", "lt", "gain", "ab", "way", "west", "a .", "b .", "c .", "d .", "e .", "f .", "g ."),
    *("h .", "t", "a", "h", "no change", "men", "soldier", "pie", "bc", "excess", "st", "inches"),
    *("noon", "percent", "by", "gal", "kmh", "c", "acre", "rise", "a . m", "th", "π r 2", "sq"),
    *("mark", "l", "toy", "coin", "sq . m", "gallon", "° f", "profit", "minw", "yr", "women"),
    *("feet", "am", "pm", "hr", "cu cm", "square", "v â € ™", "are", "rupee", "rounds", "cubic"),
    *("cc", "mtr", "s", "ohm", "number", "kmph", "day", "hour", "minute", "min", "second", "man"),
    *("woman", "sec", "cube", "mt", "sq inch", "mp", "∏ cm ³", "hectare", "more", "sec", "unit"),
    *("cu . m", "cm 2", "rs .", "rs", "kg", "g", "month", "km", "m", "cm", "mm", "apple", "liter"),
    *("loss", "yard", "pure", "year", "increase", "decrease", "d", "less", "Surface", "litre"),
    *("pi sq m", "s .", "metre", "meter", "inch"),
)
LETTER = re.compile(r"[^\W\d_]")
# What is replaced, in order, before units are taken out and after.
BEFORE_UNITS = (
    *(("bmatrix", "pmatrix"), ("tfrac", "frac"), ("dfrac", "frac"), ("\\neq", "\\ne")),
    *(("\\leq", "\\le"), ("\\geq", "\\ge"), ("\\left", ""), ("\\right", ""), ("\\{", "{")),
    ("\\}", "}"),
)
SIGNS = (("^{\\circ}", ""), ("^\\circ", ""), ("\\$", ""), ("$", ""), ("\\(", ""), ("\\)", ""))
AFTER_UNITS = (
    *(("x=", ""), ("y=", ""), ("z=", ""), ("x\\in", ""), ("y\\in", ""), ("z\\in", "")),
    *(("x\\to", ""), ("y\\to", ""), ("z\\to", ""), ("\\emptyset", "{}")),
    *(("(-\\infty,\\infty)", "\\mathbb{R}"), ("\\%", ""), ("%", ""), (" .", " 0."), ("{.", "{0.")),
)
# The digits before are not part of the match here: upstream begins with (\d+), which is quadratic.
ZERO_DECIMALS = re.compile(r"(?<=\d)\.0*([^\d])")
ZERO_DECIMALS_AT_THE_END = re.compile(r"(?<=\d)\.0*$")
SQUARE_ROOT = re.compile(r"\\sqrt(\w+)")
FRACTION = "\\frac"


def strip_string(string: str) -> str:
    """Return an answer without units, signs, spaces and LaTeX that changes nothing."""
    text = string.strip().replace("\n", "").rstrip(".").replace("\\!", "")
    text = _cut(text, "\\begin{array}{", "\\begin{pmatrix}")
    text = text.replace("\\end{array}", "\\end{pmatrix}")
    text = _without_units(_without_last_text(_replaced(text, BEFORE_UNITS)))
    text = word_number(_replaced(text, SIGNS))
    text = _cut(text, "\\text{", None)
    text = _replaced(text, AFTER_UNITS)
    text = text.replace("infinity", "\\infty")
    if "\\infty" not in text:
        text = text.replace("inf", "\\infty")
    text = _replaced(text, (("+\\inity", "\\infty"), ("and", ""), ("\\mathbf", "")))
    text = _cut(text, "\\mbox{", "")
    if "j" in text and "i" not in text:
        text = text.replace("j", "i")
    text = ZERO_DECIMALS_AT_THE_END.sub("", ZERO_DECIMALS.sub(r"\1", text))
    if not text:
        return text
    if text[0] == ".":
        text = f"0{text}"
    sides = text.split("=")
    if len(sides) == 2 and len(sides[0]) <= 2:
        text = sides[1]
    text = SQUARE_ROOT.sub(r"\\sqrt{\1}", text).replace(" ", "")
    return _slash_as_fraction(_braced_fractions(text))


def _replaced(text: str, pairs: tuple[tuple[str, str], ...]) -> str:
    for old, new in pairs:
        text = text.replace(old, new)
    return text


def _cut(text: str, opening: str, instead: str | None) -> str:
    """Put `instead` for `opening` up to the next "}"; None keeps what stands between the two."""
    pieces: list[str] = []
    at = 0
    while True:
        start = text.find(opening, at)
        end = text.find("}", start + len(opening)) if start >= 0 else -1
        if end < 0:
            return "".join((*pieces, text[at:]))
        inside = text[start + len(opening) : end]
        pieces += (text[at:start], inside if instead is None else instead)
        at = end + 1


def _without_last_text(text: str) -> str:
    r"""Take out everything from the first `\text{` on if the last character closes a brace."""
    start = text.find("\\text{") if text.endswith("}") else -1
    return (text if start < 0 else text[:start]).strip() or text


def _without_units(text: str) -> str:
    if LETTER.search(text) is None:  # every unit holds a letter
        return text
    for _ in range(2):
        for literal, pattern in _unit_patterns():
            if literal in text:
                text = pattern.sub(r"\1\2", text) or text
    return text


@cache
def _unit_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return each unit's pattern with a piece of text without which it cannot match."""
    units = (*UNITS, *(f"{unit}s" for unit in UNITS))
    return tuple((unit.split(".")[0], re.compile(rf"(^|\W){unit}($|\W)")) for unit in units)


def _braced_fractions(text: str) -> str:
    r"""Turn `\frac12` and `\frac1{2}` into `\frac{1}{2}`; gives up where less than two follow."""
    head, *pieces = text.split(FRACTION)
    fixed = [head]
    for piece in pieces:
        if piece.startswith("{"):
            fixed.append(piece)
        elif len(piece) < 2:
            return text
        elif piece[1] == "{":
            fixed.append(f"{{{piece[0]}}}{piece[1:]}")
        else:
            fixed.append(f"{{{piece[0]}}}{{{piece[1]}}}{piece[2:]}")
    return FRACTION.join(fixed)


def _slash_as_fraction(text: str) -> str:
    """Turn "1/2" into a fraction; both sides must be plain integers, or hold a square root."""
    sides = text.split("/")
    if len(sides) != 2:
        return text
    for side in sides:
        if "sqrt" in side:
            continue
        try:
            if str(int(side)) != side:
                return text
        except ValueError:
            return text
    return f"{FRACTION}{{{sides[0]}}}{{{sides[1]}}}"
