"""Numbers as inspect_ai reads them: every script, vulgar fractions, superscripts, Chinese numerals.

Two readers, both in floats as upstream:
`unicode_number` has the verdicts of src/inspect_ai/scorer/_unicode.py (0.3.220 and 0.3.285 alike),
`superscript_number` those of str_to_float in src/inspect_ai/_util/text.py (0.3.220).
"""

from __future__ import annotations

import re
import unicodedata

MINUS, PLUS = "-−﹣－负負", "+＋﹢正"
EXPONENT_MINUS, EXPONENT_PLUS = "-−﹣－", "+＋﹢"
SUPERSCRIPT_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
SUPERSCRIPTS = str.maketrans(SUPERSCRIPT_DIGITS + "⁻⁺", "0123456789-+")
DECIMAL_POINTS = "٫．"
GROUPING = ",，﹐、٬ \u00a0\u202f\u2009\u2007\u2008'’ʼ＇"

DIGITS = {
    **dict(zip("零〇○一二三四五六七八九", (0, 0, *range(10)), strict=True)),
    **dict(zip("壹贰貳叁參肆伍陆陸柒捌玖", (1, 2, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9), strict=True)),
    **dict(zip("两兩幺", (2, 2, 1), strict=True)),
}
TENS = {"廿": 20, "卅": 30, "卌": 40}
SMALL_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
LARGE_UNITS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}
POINT_WORDS = "点點"
CHINESE = {*DIGITS, *TENS, *SMALL_UNITS, *LARGE_UNITS, *POINT_WORDS, *"负負正"}

FRACTIONS = {
    "½": 0.5,
    "⅓": 1 / 3,
    "⅔": 2 / 3,
    "¼": 0.25,
    "¾": 0.75,
    "⅕": 0.2,
    "⅖": 0.4,
    "⅗": 0.6,
    "⅘": 0.8,
    "⅙": 1 / 6,
    "⅚": 5 / 6,
    "⅐": 1 / 7,
    "⅛": 0.125,
    "⅜": 0.375,
    "⅝": 0.625,
    "⅞": 0.875,
    "⅑": 1 / 9,
    "⅒": 0.1,
}
SUPERSCRIPT = re.compile(f"[{SUPERSCRIPT_DIGITS}]")
LEADING_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


def unicode_number(text: str) -> float:
    """Return the number that a word spells. Raises ValueError where it spells none."""
    rest, negative = _signs(text.strip())
    value = _symbol(rest)
    if value is not None:
        return -value if negative else value
    base_text, exponent = _superscript(rest)
    value = _mixed(base_text)
    if negative:
        value = -value
    if exponent is None:
        return value
    try:
        return float(value**exponent)
    except (ArithmeticError, TypeError) as error:  # overflow, 0 to a negative power
        raise ValueError(str(error)) from error


def superscript_number(text: str) -> float:
    """Return the number of a word such as "18", "1.5", "½", "5²", "2½".

    Raises ValueError where it is none and OverflowError where a power is too large.
    """
    if text in FRACTIONS:
        return FRACTIONS[text]
    superscript = None if text.isascii() else SUPERSCRIPT.search(text)
    base = text if superscript is None else text[: superscript.start()]
    exponent = text[len(base) :]
    fractions = [] if base.isascii() else [char for char in base if char in FRACTIONS]
    digits = "".join(char for char in base if char not in FRACTIONS) if fractions else base
    if len(fractions) > 1 or not text:
        raise ValueError(f"no number: {text[:40]!r}")
    value = 0.0 if fractions else 1.0
    if digits:
        found = LEADING_NUMBER.match(digits)
        if found is None:
            raise ValueError(f"no number: {text[:40]!r}")
        value = float(found.group())
    if fractions:
        value += -FRACTIONS[fractions[0]] if value < 0 else FRACTIONS[fractions[0]]
    return value ** int(exponent.translate(SUPERSCRIPTS)) if exponent else value


def _signs(text: str) -> tuple[str, bool]:
    """Take the leading signs off; each minus turns the sign."""
    start, negative = 0, False
    while start < len(text) and (text[start] in MINUS + PLUS or text[start].isspace()):
        negative ^= text[start] in MINUS
        start += 1
    return text[start:], negative


def _symbol(text: str) -> float | None:
    """Return the value of a single character: "½", "Ⅻ", "²", "七"."""
    return unicodedata.numeric(text, None) if len(text) == 1 else None


def _superscript(text: str) -> tuple[str, int | None]:
    """Split off a superscript exponent at the end."""
    end = len(text)
    while end and (text[end - 1].isspace() or text[end - 1] in GROUPING):
        end -= 1
    body = text[:end]
    start = len(body.rstrip(SUPERSCRIPT_DIGITS))
    if start == len(body):
        return text.strip(), None
    if start and body[start - 1] in "⁻⁺":
        start -= 1
    base = body[:start].rstrip()
    return (base, int(body[start:].translate(SUPERSCRIPTS))) if base else (text.strip(), None)


def _mixed(text: str) -> float:
    """Return a number that may end in one vulgar fraction ("2½")."""
    hits = [
        (at, value)
        for at, char in enumerate(text)
        if 0.0 < (value := unicodedata.numeric(char, 0.0)) < 1.0
    ]
    if not hits:
        return _core(text)
    at, fraction = hits[0]
    tail = text[at + 1 :]
    if len(hits) > 1 or any(not char.isspace() and char not in GROUPING for char in tail):
        raise ValueError(f"no number: {text[:40]!r}")
    head = text[:at].strip()
    return (_core(head) if head else 0.0) + fraction


def _core(text: str) -> float:
    text = text.strip()
    value = None
    if any(char in CHINESE for char in text):
        value = _chinese(text)
    if value is None:
        value = _digits_of_any_script(text)
    if value is None:
        value = _symbol(text)
    if value is None:
        raise ValueError(f"no number: {text[:40]!r}")
    return value


def _digits_of_any_script(text: str) -> float | None:
    """Read digits with grouping marks, one decimal mark and an ASCII exponent."""
    decimal = _decimal_mark(text)
    out: list[str] = []
    seen_point = seen_exponent = after_exponent = False
    for char in text:
        if after_exponent and char in EXPONENT_MINUS + EXPONENT_PLUS:
            out.append("-" if char in EXPONENT_MINUS else "+")
            after_exponent = False
            continue
        after_exponent = False
        if char in "eE" and not seen_exponent:
            if not out:
                return None
            out.append(char)
            seen_exponent = after_exponent = True
        elif char in DECIMAL_POINTS or char == decimal:
            if seen_point:
                return None
            out.append(".")
            seen_point = True
        elif char in GROUPING or char.isspace() or (decimal and char in ",."):
            continue
        else:
            digit = _digit(char)
            if digit is None:
                return None
            out.append(digit)
    if all(char in ".eE+-" for char in out):
        return None
    try:
        return float("".join(out))
    except ValueError:
        return None


def _decimal_mark(text: str) -> str | None:
    point, comma = text.rfind("."), text.rfind(",")
    if point >= 0:
        return "." if point > comma else ","
    if comma >= 0 and sum(_digit(char) is not None for char in text[comma + 1 :]) in (1, 2, 3):
        return ","
    return None


def _digit(char: str) -> str | None:
    value = unicodedata.digit(char, None)
    if value is None:
        value = DIGITS.get(char)
    return None if value is None else str(value)


def _chinese(text: str) -> float | None:
    """Read a Chinese numeral: digit by digit, or with units; "点" and points start the decimals."""
    marks = [mark for mark in (*POINT_WORDS, "．", ".") if mark in text]
    whole, _, decimals = text.partition(marks[0]) if marks else (text, "", "")
    if any(char in SMALL_UNITS or char in LARGE_UNITS or char in TENS for char in whole):
        value = _with_units(whole)
    else:
        digits = [_digit(char) for char in whole if not char.isspace()]
        value = None if None in digits else int("".join(map(str, digits)) or "0")
    if value is None:
        return None
    part, place = 0.0, 0.1
    for char in decimals:
        if char.isspace():
            continue
        digit = _digit(char)
        if digit is None:
            return None
        part += int(digit) * place
        place /= 10.0
    return float(value) + part


def _with_units(text: str) -> int | None:
    total = section = number = 0
    for char in text:
        if char in TENS:
            section += TENS[char]
        elif char in SMALL_UNITS:
            section += (number or 1) * SMALL_UNITS[char]
            number = 0
        elif char in LARGE_UNITS:
            total += (section + number) * LARGE_UNITS[char]
            section = number = 0
        elif not char.isspace() and char not in "零〇○":
            digit = _digit(char)
            if digit is None:
                return None
            number = int(digit)
    return total + section + number
