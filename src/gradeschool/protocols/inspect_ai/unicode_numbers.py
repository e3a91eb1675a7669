"""Numbers as inspect_ai parses them: all scripts, vulgar fractions, superscripts, Chinese numerals.

Two parsers, both with floats as upstream:
`unicode_number` has the verdicts of src/inspect_ai/scorer/_unicode.py (0.3.220 and 0.3.285 alike),
`superscript_number` those of str_to_float in src/inspect_ai/_util/text.py (0.3.220).
"""

from __future__ import annotations

import re
from unicodedata import digit, numeric

MINUS, PLUS = "-−﹣－负負", "+＋﹢正"
EXPONENT_MINUS, EXPONENT_PLUS = "-−﹣－", "+＋﹢"
SUPERSCRIPT_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
SUPERSCRIPTS = str.maketrans(SUPERSCRIPT_DIGITS + "⁻⁺", "0123456789-+")
DECIMAL_POINTS = "٫．"
GROUPING = ",，﹐、٬ \u00a0\u202f\u2009\u2007\u2008'’ʼ＇"
SPACES = "".join(char for char in map(chr, range(0x3001)) if char.isspace())

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
FRACTIONS = {char: numeric(char) for char in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒"}
LONGEST_PART = 400  # decimals: the next ones are below the smallest float
LEADING_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


def superscript_number(text: str) -> float:
    """Return the number of a word such as "18", "1.5", "½", "5²", "2½".

    Raises ValueError if it is not a number and OverflowError if a power is too large.
    """
    if text in FRACTIONS:
        return FRACTIONS[text]
    base = text if text.isascii() else re.split(f"[{SUPERSCRIPT_DIGITS}]", text, maxsplit=1)[0]
    exponent = text[len(base) :]
    fractions = [] if base.isascii() else [char for char in base if char in FRACTIONS]
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
    power: float = value ** int(exponent.translate(SUPERSCRIPTS)) if exponent else value
    return power


def unicode_number(text: str) -> float:
    """Return the number that a word spells. Raises ValueError if it is not a number."""
    text = text.strip()
    rest = text.lstrip(MINUS + PLUS + SPACES)
    minuses = sum(char in MINUS for char in text[: len(text) - len(rest)])
    sign = -1 if minuses % 2 else 1
    value = numeric(rest, None) if len(rest) == 1 else None  # "½", "Ⅻ", "²", "七"
    if value is not None:
        return sign * value
    base, exponent = rest.strip(), None
    body = rest.rstrip(SPACES + GROUPING)
    start = len(body.rstrip(SUPERSCRIPT_DIGITS))
    if start < len(body):
        start -= body[start - 1 : start] in ("⁻", "⁺")
        if before := body[:start].rstrip():
            base, exponent = before, int(body[start:].translate(SUPERSCRIPTS))
    value = sign * _mixed(base)
    if exponent is None:
        return value
    try:
        return float(value**exponent)
    except (ArithmeticError, TypeError) as error:  # overflow, 0 to a negative power
        raise ValueError(str(error)) from error


def _mixed(text: str) -> float:
    """Return a number that may end in one vulgar fraction ("2½")."""
    places = [] if text.isascii() else [at for at, c in enumerate(text) if 0 < numeric(c, 0) < 1]
    if not places:
        return _core(text)
    place = places[0]
    if len(places) > 1 or text[place + 1 :].strip(SPACES + GROUPING):
        raise ValueError(f"no number: {text[:40]!r}")
    head = text[:place].strip()
    return (_core(head) if head else 0.0) + numeric(text[place])


def _core(text: str) -> float:
    text = text.strip()
    value = _chinese(text) if CHINESE.search(text) else None
    value = _digits_of_any_script(text) if value is None else value
    value = numeric(text, None) if value is None and len(text) == 1 else value
    if value is None:
        raise ValueError(f"no number: {text[:40]!r}")
    return value


def _digits_of_any_script(text: str) -> float | None:
    """Read digits with grouping marks, one decimal mark and an ASCII exponent."""
    point, comma = text.rfind("."), text.rfind(",")
    decimal = "." if point > comma else "," if point >= 0 else ""
    if not decimal and comma >= 0 and len("".join(map(_digit, text[comma + 1 :]))) in (1, 2, 3):
        decimal = ","

    def meaning(char: str) -> str:
        if char in DECIMAL_POINTS or char == decimal:
            return "."
        if char in GROUPING or char.isspace() or (decimal and char in ",."):
            return ""
        return _digit(char) or "?"

    head, *tails = re.split("[eE]", text, maxsplit=1)
    written = "".join(map(meaning, head))
    for tail in tails:
        if not written:
            return None
        sign = tail[:1] if tail and tail[0] in EXPONENT_MINUS + EXPONENT_PLUS else ""
        written += "e-" if sign and sign in EXPONENT_MINUS else "e"
        written += "".join(map(meaning, tail[len(sign) :]))
    try:
        return None if "?" in written or written.count(".") > 1 else float(written)
    except ValueError:
        return None


def _digit(char: str) -> str:
    value = digit(char, DIGITS.get(char))
    return "" if value is None else str(value)


def _chinese(text: str) -> float | None:
    """Read a Chinese numeral: digit by digit, or with units; "点" and points start the decimals."""
    mark = next((mark for mark in (*POINT_WORDS, "．", ".") if mark in text), None)
    whole, _, decimals = text.partition(mark) if mark else (text, "", "")
    digits, after = (
        "".join("" if char.isspace() else _digit(char) or "?" for char in part)
        for part in (whole, decimals)
    )
    if UNIT.search(whole):
        value = _with_units(whole)
    else:
        value = None if "?" in digits else int(digits or "0")
    if value is None or "?" in after:
        return None
    part, place = 0.0, 0.1
    for number in after[:LONGEST_PART]:
        part += int(number) * place
        place /= 10.0
    return float(value) + part


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
            if not (written := _digit(char)):
                return None
            number = int(written)
    return total + section + number
