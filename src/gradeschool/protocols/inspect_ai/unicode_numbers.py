"""Numbers as inspect_ai parses them: all scripts, vulgar fractions, superscripts, Chinese numerals.

Two parsers, both with floats as upstream:
`unicode_number` has the verdicts of src/inspect_ai/scorer/_unicode.py (0.3.220 and 0.3.285 alike),
`superscript_number` those of str_to_float in src/inspect_ai/_util/text.py (0.3.220).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from itertools import islice


def spelled(text: str, meaning: Callable[[str], str]) -> str:
    """Return the meanings of the characters (each one ASCII character or nothing), joined."""
    return "".join(map(lru_cache(256)(meaning), text))


MINUS, PLUS = "-−﹣－负負", "+＋﹢正"
EXPONENT_MINUS, EXPONENT_PLUS = "-−﹣－", "+＋﹢"
SUPERSCRIPT_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
SUPERSCRIPTS = tuple(zip(SUPERSCRIPT_DIGITS + "⁻⁺", "0123456789-+", strict=True))
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
UNIT = re.compile(f"[{''.join((*SMALL_UNITS, *LARGE_UNITS, *TENS))}]")
CHINESE = re.compile(f"{UNIT.pattern[:-1]}{''.join(DIGITS)}{POINT_WORDS}负負正]")

FRACTIONS = {char: unicodedata.numeric(char) for char in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒"}
FRACTION = re.compile(f"[{''.join(FRACTIONS)}]")
SUPERSCRIPT = re.compile(f"[{SUPERSCRIPT_DIGITS}]")
EXPONENT = re.compile("[eE]")
LONGEST_PART = 400  # decimals: the next ones are below the smallest float
LEADING_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


def unicode_number(text: str) -> float:
    """Return the number that a word spells. Raises ValueError if it is not a number."""
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

    Raises ValueError if it is not a number and OverflowError if a power is too large.
    """
    if text in FRACTIONS:
        return FRACTIONS[text]
    superscript = None if text.isascii() else SUPERSCRIPT.search(text)
    base = text if superscript is None else text[: superscript.start()]
    exponent = text[len(base) :]
    fractions = [] if base.isascii() else [f.group() for f in islice(FRACTION.finditer(base), 2)]
    if len(fractions) > 1 or not text:
        raise ValueError(f"no number: {text[:40]!r}")
    digits = base.replace(fractions[0], "") if fractions else base
    value = 0.0 if fractions else 1.0
    if digits:
        match = LEADING_NUMBER.match(digits)
        if match is None:
            raise ValueError(f"no number: {text[:40]!r}")
        value = float(match.group())
    if fractions:
        value += -FRACTIONS[fractions[0]] if value < 0 else FRACTIONS[fractions[0]]
    return value ** _plain(exponent) if exponent else value


SPACES = "".join(char for char in map(chr, range(0x3001)) if char.isspace())


def _signs(text: str) -> tuple[str, bool]:
    """Remove the leading signs; each minus flips the sign."""
    if not text or not (text[0] in MINUS + PLUS or text[0].isspace()):
        return text, False
    rest = text.lstrip(MINUS + PLUS + SPACES)
    signs = text[: len(text) - len(rest)]
    return rest, sum(signs.count(minus) for minus in MINUS) % 2 == 1


def _plain(superscripts: str) -> int:
    """Return the number that superscripts write. Raises ValueError."""
    for superscript, digit in SUPERSCRIPTS:
        superscripts = superscripts.replace(superscript, digit)
    return int(superscripts)


def _symbol(text: str) -> float | None:
    """Return the value of a single character: "½", "Ⅻ", "²", "七"."""
    return unicodedata.numeric(text, None) if len(text) == 1 else None


def _superscript(text: str) -> tuple[str, int | None]:
    """Split off a superscript exponent at the end."""
    body = text
    if text and (text[-1].isspace() or text[-1] in GROUPING):
        body = text.rstrip(SPACES + GROUPING)
    start = len(body.rstrip(SUPERSCRIPT_DIGITS))
    if start == len(body):
        return text.strip(), None
    if start and body[start - 1] in "⁻⁺":
        start -= 1
    base = body[:start].rstrip()
    return (base, _plain(body[start:])) if base else (text.strip(), None)


def _mixed(text: str) -> float:
    """Return a number that may end in one vulgar fraction ("2½")."""
    parts = "" if text.isascii() else spelled(text, _is_fraction)
    place = parts.find("1")
    if place < 0:
        return _core(text)
    if parts.find("1", place + 1) >= 0 or text[place + 1 :].strip(SPACES + GROUPING):
        raise ValueError(f"no number: {text[:40]!r}")
    head = text[:place].strip()
    return (_core(head) if head else 0.0) + unicodedata.numeric(text[place])


def _is_fraction(char: str) -> str:
    return "1" if 0.0 < unicodedata.numeric(char, 0.0) < 1.0 else "0"


def _core(text: str) -> float:
    text = text.strip()
    value = _chinese(text) if CHINESE.search(text) else None
    value = _digits_of_any_script(text) if value is None else value
    value = _symbol(text) if value is None else value
    if value is None:
        raise ValueError(f"no number: {text[:40]!r}")
    return value


def _digits_of_any_script(text: str) -> float | None:
    """Read digits with grouping marks, one decimal mark and an ASCII exponent."""
    decimal = _decimal_mark(text)

    def meaning(char: str) -> str:
        if char in DECIMAL_POINTS or char == decimal:
            return "."
        if char in GROUPING or char.isspace() or (decimal and char in ",."):
            return ""
        return _digit(char) or "?"

    exponent = EXPONENT.search(text)
    written = spelled(text if exponent is None else text[: exponent.start()], meaning)
    if exponent is not None:
        if not written:
            return None
        tail = text[exponent.end() :]
        is_sign = bool(tail) and tail[0] in EXPONENT_MINUS + EXPONENT_PLUS
        written += "e-" if is_sign and tail[0] in EXPONENT_MINUS else "e"
        written += spelled(tail[is_sign:], meaning)
    try:
        return None if "?" in written or written.count(".") > 1 else float(written)
    except ValueError:
        return None


def _decimal_mark(text: str) -> str | None:
    point, comma = text.rfind("."), text.rfind(",")
    if point >= 0:
        return "." if point > comma else ","
    if comma >= 0 and len(spelled(text[comma + 1 :], lambda char: _digit(char) or "")) in (1, 2, 3):
        return ","
    return None


def _digit(char: str) -> str | None:
    value = unicodedata.digit(char, DIGITS.get(char))
    return None if value is None else str(value)


def _chinese(text: str) -> float | None:
    """Read a Chinese numeral: digit by digit, or with units; "点" and points start the decimals."""
    mark = next((mark for mark in (*POINT_WORDS, "．", ".") if mark in text), None)
    whole, _, decimals = text.partition(mark) if mark else (text, "", "")
    digits, after = spelled(whole, _digit_or_space), spelled(decimals, _digit_or_space)
    if UNIT.search(whole):
        value = _with_units(whole)
    else:
        value = None if "?" in digits else int(digits or "0")
    if value is None or "?" in after:
        return None
    part, place = 0.0, 0.1
    for digit in after[:LONGEST_PART]:
        part += int(digit) * place
        place /= 10.0
    return float(value) + part


def _digit_or_space(char: str) -> str:
    return "" if char.isspace() else _digit(char) or "?"


def _with_units(text: str) -> int | None:
    total = section = number = 0
    for char in text:
        if small := SMALL_UNITS.get(char):
            section += (number or 1) * small
            number = 0
        elif large := LARGE_UNITS.get(char):
            total += (section + number) * large
            section = number = 0
        elif char in TENS:
            section += TENS[char]
        elif not char.isspace() and char not in "零〇○":
            digit = _digit(char)
            if digit is None:
                return None
            number = int(digit)
    return total + section + number
