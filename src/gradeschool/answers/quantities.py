r"""Quantities in text: a number in any usual spelling, and its exact value.

Signs, currency, thousands in every spelling ("1,250", "1{,}250", "1'250", "1 250" with thin
spaces, "1.250.000"), decimals, percent, fractions ("3/4", `\frac{3}{4}`, "½", "2 1/2"), powers of
ten, scale words ("1.5 million"), clock times, digits of any script, number words. A value is a
string in canonical form: "18", "-2.5", "8/3", "3:30"; values are compared as fractions, never as
floats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

CURRENCY = r"(?:\\?[$€£¥₹]|(?:US|R|A|C|NZ|HK)\$)"
MINUS = "-−–‒﹣－"
# What divides thousands between digits: a comma, an apostrophe, a thin space, in LaTeX too.
THOUSANDS_MARK = (
    r",\\[!,;:]|[,'’_~\u00a0\u2009\u202f]|\{,\}|\{\\[,; ]\}|\\[,!;: ]|\\(?:space|thinspace)\s?"
    r"|\\text\{ ?,? ?\}"
)
DECIMALS = r"\.\d++|,\d\d?(?![\d,])"
GROUPED = (
    rf"\d{{1,3}}(?:(?:{THOUSANDS_MARK})\d{{3}}){{1,40}}(?!\d|(?:{THOUSANDS_MARK})\d{{3}})"  # 1,250
    r"|\d{1,2}(?:,\d\d){1,9},\d{3}(?!\d)"  # 12,34,567
    r"|\d{1,3}(?:\.\d{3}){2,40}(?!\d|\.\d{3})"  # 1.250.000
    r"|\d{1,3}\.\d{3}(?=,\d\d?(?!\d))"  # 1.250,5
    r"|\d++(?:,\d{3,}+)+(?!,\d{3})"  # 1,3200: a slip, still one number
)
QUANTITY = re.compile(
    rf"(?P<sign>(?<![\w)\]}}.%])[{MINUS}](?=[\d.$€£¥₹\\¼½¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]))?(?:{CURRENCY}\s{{0,2}}"
    rf"(?P<inner>[{MINUS}](?=[\d.]))?)?"
    r"(?:(?P<fraction>(?:(?P<mixed>\d{1,9})\s?(?:\\\(|\$"
    r"|\\text\{\s?and\s?\})?\s?)?\\[dt]?frac\s?(?:\{(?P<over>[^{}\n]{1,40})\}\{"
    r"(?P<under>[^{}\n]{1,40})\}|(?P<top>\d)(?P<low>\d)))"
    rf"|(?P<whole>{GROUPED}|\d++)(?:(?P<decimals>{DECIMALS})|(?!{DECIMALS}))"
    rf"|(?<![\w.])(?P<bare>\.\d++)|(?P<vulgar>[¼½¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]))"
)
# A number begins at one of these, or a few characters before it: sign, currency.
NUMERIC = re.compile(r"[\d¼½¾⅐-⅞\\]")
# Before digits of a name ("x2") or a power ("m^2").
IN_NAME = re.compile(r"(?:[\^_]\{?|[A-Za-z])\Z")
VULGAR = dict(zip("¼½¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞", (
    "1/4", "1/2", "3/4", "1/3", "2/3", "1/5", "2/5", "3/5", "4/5", "1/6", "5/6", "1/8", "3/8",
    "5/8", "7/8"), strict=True))  # fmt: skip
# After a whole number or a decimal.
AFTER = re.compile(
    r"[eE](?P<exp>[+-]?\d{1,40})(?!\w)|\s?(?:\\times|\\cdot|×|x"
    r"|\*)\s?10\s?\^\s?\{?(?P<ten>[+-]?\d{1,3})\}?|(?::|\{:\}|\\!:\\!)(?P<clock>\d{1,2})(?!\d|:\d)"
    r"|(?P<kilo>[kKMB])(?!\w)|\s?(?P<myriad>[万萬만亿億억])|(?:[  ](?:and )?"
    r"|\s?\\text\{\s?and\s?\}\s?)(?P<numer>\d{1,4})/(?P<denom>\d{1,4})(?![\d/])"
    r"|[   ]?(?P<part>[¼½¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])|\s(?P<half>and\sa\shalf)\b"
    r"|\s?/\s?(?P<divisor>\d{1,40})(?!\d|[,./]\d|[eE][+-]?\d|\s?[=×x]|\s?\*(?!\*))"
    r"|(?P<power>\^\{?\d{1,4}(?:\.\d{1,4})?\}?|[⁰¹²³⁴-⁹]{1,2}|\*\*\d{1,9})|(?:\s{1,9}"
    r"|\s{0,9}\\text\{\s?)(?P<scale>thousand|million|billion|trillion)s?\b|(?:\s{0,12}-?(?:hours?"
    r"|hrs?\.?|minutes?|mins?\.?),?\s{1,12}(?:and\s{1,12})?(?P<sixtieths>\d{1,2})\s{0,12}-?"
    r"(?:minute|min|second|sec)s?\b)|(?P<units>\s(?:foot|feet|pounds?|weeks?|days?|years?"
    r"|meters?),?\s(?:and\s)?\d{1,4}\s(?:inch(?:es)?|ounces?|days?|hours?|months?|centimeters?)\b)"
    r"|(?:\sdollars?,?)?\sand\s(?P<cents>\d{1,2})\scents\b"
)
# "1 250" is one number if a currency, a unit or the end follows, "1 000" everywhere.
SPACED = re.compile(
    r"(?<!\d )[1-9]\d{0,2}(?: \d{3})+(?:(?=[ \t]*(?:[.!?*]*\s*$|[.!?]\s|\n|[$}\\€£])|,\d\d?(?!\d)"
    r"| (?!x\b|and\b|or\b|to\b)[^\W\d_]{1,30})|(?<= 000)(?!\d|[.,:/ ]\d))(?P<cents>,\d\d?(?!\d))?"
)
HOURS = re.compile(r"(\d{1,9}):(\d{2})")
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
KILOS = {"k": 3, "K": 3, "M": 6, "B": 9}
SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
MYRIADS = {"万": 4, "萬": 4, "만": 4, "亿": 8, "億": 8, "억": 8}
# A number with more digits is compared as text: as a fraction it would cost too much.
LONGEST = 400


class WrittenNumber(NamedTuple):
    """A number in a text: its value in canonical form, and its characters."""

    value: str
    start: int
    end: int


def quantities(text: str, start: int = 0, end: int | None = None) -> Iterator[WrittenNumber]:
    """Yield the quantities of a piece of text from left to right, none inside a word or a power."""
    stop = len(text) if end is None else end
    while near := NUMERIC.search(text, start, stop):
        match = QUANTITY.search(text, max(start, near.start() - 6), stop)
        if match is None:
            return
        number = _quantity(match, text, stop)
        start = number.end
        if not IN_NAME.search(text[max(0, match.start() - 2) : match.start()]):
            yield number


def quantity_at(text: str, start: int, end: int) -> WrittenNumber | None:
    """Return the quantity that begins exactly here, else None."""
    match = QUANTITY.match(text, start, end)
    return None if match is None else _quantity(match, text, end)


def word_quantities(text: str, start: int, end: int) -> Iterator[WrittenNumber]:
    """Yield the numbers that are written in words ("twenty-five", "two hundred")."""
    for match in WORD_NUMBER.finditer(text, start, end):
        words = WORD_SPLIT.split(match[0].lower())
        negative = words[0] in ("negative", "minus")
        total = group = 0
        smallest = 1_000_000_000_000  # the next scale must be smaller
        for word in words[negative:]:
            if word == "and":
                continue
            if word == "hundred" and 0 < group < 10:
                group *= 100
            elif WORD_SCALES.get(word, smallest) < smallest and group:
                smallest = WORD_SCALES[word]
                total, group = total + group * smallest, 0
            elif word in WORD_VALUES and (
                group % 100 == 0
                or (WORD_VALUES[word] < 10 and group % 10 == 0 and group % 100 != 10)
            ):
                group += WORD_VALUES[word]
            else:
                break  # not one number: "two three"
        else:
            yield WrittenNumber(str(-total - group if negative else total + group), *match.span())


@lru_cache(8192)
def exact(value: str) -> Fraction | None:
    """Return the exact number of a value; None for a clock time, text or a very long number."""
    if len(value) > LONGEST or not value.replace("/", "").replace(".", "").lstrip("-").isdecimal():
        return None
    try:
        return Fraction(value)
    except (ValueError, ZeroDivisionError):
        return None


def same_value(left: str, right: str) -> bool:
    """Return whether two values are exactly the same number; other texts equal only themselves."""
    if left == right:
        return True
    a = exact(left)
    return a is not None and a == exact(right)


def same_answer(value: str, gold: str) -> bool:
    """Return whether an answer is the gold: the same number, or the same time ("2:30" is 2.5)."""
    if same_value(value, gold):
        return True
    hours = HOURS.fullmatch(value)
    if hours is None:
        return False
    return exact(gold) == int(hours[1]) + Fraction(int(hours[2]), 60)


def canonical_gold(gold: str) -> str:
    """Return a gold answer in the form of a value: "1,250" -> "1250", "12%" -> "12".

    Other text is returned unchanged.
    """
    text = gold.strip()
    number = text.removesuffix("^\\circ").removesuffix("%").removesuffix("\\")
    whole = quantity_at(number, 0, len(number))
    return whole.value if whole is not None and whole.end == len(number) else text


def canonical(number: str) -> str:
    """Write a decimal in canonical form: ASCII digits, no "-0", no leading or trailing zeros."""
    sign = "-" if number.startswith("-") else ""
    if not number.isascii():
        number = "".join(str(int(c)) if c.isdecimal() else c for c in number)
    whole, _, decimals = number.lstrip("-").partition(".")
    whole, decimals = whole.lstrip("0") or "0", decimals.rstrip("0")
    if whole == "0" and not decimals:
        return "0"
    return f"{sign}{whole}.{decimals}" if decimals else sign + whole


def _quantity(match: re.Match[str], text: str, stop: int) -> WrittenNumber:
    """Return the number of a match, with what follows: "million", "/3", ":30", "and a half"."""
    sign = "-" if match["sign"] or match["inner"] else ""
    if match["fraction"]:
        over, under = match["over"] or match["top"], match["under"] or match["low"]
        return WrittenNumber(sign + _ratio(over, under, match["mixed"]), *match.span())
    if match["vulgar"]:
        return WrittenNumber(sign + VULGAR[match["vulgar"]], *match.span())
    spaced = SPACED.match(text, match.start("whole"), stop) if match["whole"] else None
    if spaced is not None:
        digits = spaced[0].replace(" ", "").replace(",", ".")
        return WrittenNumber(canonical(sign + digits), match.start(), spaced.end())
    digits, decimals = match["whole"] or "0", match["decimals"] or match["bare"] or ""
    if not digits.isdecimal():
        digits = re.sub(r"\D", "", digits)
    number = canonical(sign + digits + decimals.replace(",", "."))
    after = AFTER.match(text, match.end(), stop)
    value = _extended(number, after, match.group()) if after else None
    if after is None or value is None:
        return WrittenNumber(number, *match.span())
    return WrittenNumber(value, match.start(), after.end())


def _extended(number: str, after: re.Match[str], written: str) -> str | None:
    """Return the value of a number with the text after it; None if that is not part of it.

    written: the number as its text has it. "$70k" are 70,000; "70k" without a currency stays so.
    """
    if places := after["exp"] or after["ten"]:
        written_out = abs(int(places)) <= LONGEST
        return shifted(number, int(places)) if written_out else f"{number}e{places}"
    if power := after["power"]:  # a small whole one; any other stays text, which equals no number
        digits = power.translate(SUPERSCRIPTS).strip("^{}*.")
        exponent = int(digits) if digits.isdecimal() and len(digits) < 3 else 99
        small = number.isdecimal() and len(number) * exponent <= 40
        return str(int(number) ** exponent) if small else number + power
    if after["scale"]:
        return shifted(number, SCALES[after["scale"]])
    if after["myriad"]:
        return shifted(number, MYRIADS[after["myriad"]])
    if after["kilo"]:
        kilo = after["kilo"]
        money = any(sign in written for sign in "$€£¥₹")
        return shifted(number, KILOS[kilo]) if money else f"{number}{kilo.lower()}"
    if "." in number:
        return None
    if after["clock"]:
        return f"{number}:{after['clock']}"
    if after["sixtieths"]:
        return f"{number}:{after['sixtieths']:0>2}"
    if after["units"]:
        return number + after["units"]
    if after["cents"]:
        return canonical(f"{number}.{after['cents']:0>2}")
    sign, whole = ("-", number[1:]) if number.startswith("-") else ("", number)
    over, under = after["numer"], after["denom"]
    if after["half"] or after["part"]:
        over, _, under = VULGAR[after["part"] or "½"].partition("/")
    if over:
        return sign + _ratio(over, under, whole)
    return sign + _ratio(whole, after["divisor"], None)


def _ratio(over: str, under: str, whole: str | None) -> str:
    """Return a fraction in lowest terms, or as text if it is not one of two whole numbers."""
    over, under = over.strip(), under.strip()
    plain = over.lstrip("-").isdecimal() and under.isdecimal()
    is_long = len(over) + len(under) + len(whole or "") > LONGEST
    if not plain or is_long or int(under) == 0:
        return f"{whole} {over}/{under}" if whole else f"{over}/{under}"
    part = Fraction(int(over), int(under))
    if whole and part >= 1:  # "2 8/3" is a product or a slip
        return f"{whole} {over}/{under}"
    return str(part + int(whole or 0))


def shifted(number: str, places: int) -> str:
    """Return a decimal times a power of ten, by moving its point."""
    sign, digits = ("-", number[1:]) if number.startswith("-") else ("", number)
    whole, _, decimals = digits.partition(".")
    if places >= 0:
        decimals = decimals.ljust(places, "0")
        return canonical(f"{sign}{whole}{decimals[:places]}.{decimals[places:]}")
    whole = whole.rjust(1 - places, "0")
    return canonical(f"{sign}{whole[:places]}.{whole[places:]}{decimals}")


# Numbers in English words: "eighteen", "twenty-five", "two hundred and five thousand".
SMALL = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
    """.split()  # noqa: SIM905
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
WORD_SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
WORD_VALUES = {word: index for index, word in enumerate(SMALL)} | {
    word: 10 * index for index, word in enumerate(TENS, start=2)
}
_WORD = rf"\b(?i:{'|'.join([*SMALL[::-1], *TENS, 'hundred', *WORD_SCALES])})"
# Maximum of a few words: a longer row of them is not one number.
NUMBER_IN_WORDS = (
    rf"(?<![\w-])(?:(?:negative|minus)\s)?{_WORD}(?:(?:[\s-]|\sand\s){_WORD}){{0,11}}(?![\w-]"
    rf"|\s(?:halves|thirds|fourths|quarters|fifths|sixths|eighths|tenths|and\sa\shalf)\b)"
)
WORD_NUMBER = re.compile(NUMBER_IN_WORDS, re.I)
WORD_SPLIT = re.compile(r"[\s-]+")
