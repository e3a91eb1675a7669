r"""Quantities in text: a number in any usual spelling, and its exact value.

Signs, currency, thousands in every spelling ("1,250", "1{,}250", "1 250" with thin spaces,
"1.250.000"), decimals, percent, fractions ("3/4", `\frac{3}{4}`, "½", "2 1/2"), powers of ten,
scale words ("1.5 million"), clock times, digits of any script, number words. A value is a string in
canonical form: "18", "-2.5", "8/3", "3:30"; values are compared as fractions, never as floats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, lru_cache
from typing import NamedTuple

from gradeschool.answers.question import stem

CURRENCY = r"(?:\\?[$€£¥₹]|(?:US|R|A|C|NZ|HK)\$)"
MINUS = "-−–‒﹣－"
# A thousands separator between digits that is not read as punctuation.
THIN = (
    r",\\[!,;:]|[,'’_~\u00a0\u2009\u202f]|\{,\}|\{\\[,; ]\}|\\[,!;: ]|\\(?:space|thinspace)\s?"
    r"|\\text\{ ?,? ?\}"
)
DECIMALS = r"\.\d++|,\d\d?(?![\d,])"
GROUPED = (
    rf"\d{{1,3}}(?:(?:{THIN})\d{{3}}){{1,40}}(?!\d|(?:{THIN})\d{{3}})"  # 1,250 and 1{{,}}250,000
    r"|\d{1,2}(?:,\d\d){1,9},\d{3}(?!\d)"  # 12,34,567
    r"|\d{1,3}(?:\.\d{3}){2,40}(?!\d|\.\d{3})"  # 1.250.000
    r"|\d{1,3}\.\d{3}(?=,\d\d?(?!\d))"  # 1.250,5
    r"|\d++(?:,\d{3,}+)+(?!,\d{3})"  # 1,3200: a slip, still one number
)
QUANTITY = re.compile(
    rf"(?P<sign>(?<![\w)\]}}.%])[{MINUS}](?=[\d.$€£¥₹\\¼½¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]))?"
    rf"(?:{CURRENCY}\s{{0,2}}(?P<inner>[{MINUS}](?=[\d.]))?)?"
    r"(?:(?P<fraction>(?:(?P<mixed>\d{1,9})\s?(?:\\\(|\$)?\s?)?\\[dt]?frac\s?"
    r"(?:\{(?P<over>[^{}\n]{1,40})\}\{(?P<under>[^{}\n]{1,40})\}|(?P<top>\d)(?P<low>\d)))"
    rf"|(?P<whole>{GROUPED}|\d++)(?:(?P<decimals>{DECIMALS})|(?!{DECIMALS}))"
    r"|(?<![\w.])(?P<bare>\.\d++)"
    r"|(?P<vulgar>[¼½¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]))"
)
# A number begins at one of these, or a few characters before it: sign, currency.
NUMERIC = re.compile(r"[\d¼½¾⅐-⅞\\]")
LONGEST_PREFIX = 6
# The common case, "= 18 eggs": no character before or after the digits belongs to them.
DIGITS = (
    r"[1-9][0-9]{0,14}(?=\s(?!\s|(?:and )?[\d¼½¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]|[/×x*$\\]|and a half"
    r"|thousand|million|billion|trillion)|[.,](?!\S)|[)}?!]|\Z)"
)
PLAIN_HERE = re.compile(DIGITS)
PLAIN = re.compile(rf"(?<![^\s(={{])(?<![\^_]{{)(?<![$€£¥₹]\s)(?<![$€£¥₹]\s\s){DIGITS}")
# After a whole number or a decimal.
VULGAR = dict(zip("¼½¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞", (
    "1/4", "1/2", "3/4", "1/3", "2/3", "1/5", "2/5", "3/5", "4/5", "1/6", "5/6", "1/8", "3/8",
    "5/8", "7/8"), strict=True))  # fmt: skip
AFTER = re.compile(
    r"[eE](?P<exp>[+-]?\d{1,40})(?!\w)"
    r"|\s?(?:\\times|\\cdot|×|x|\*)\s?10\s?\^\s?\{?(?P<ten>[+-]?\d{1,3})\}?"
    r"|(?::|\{:\}|\\!:\\!)(?P<clock>\d{1,2})(?!\d|:\d)"
    r"|(?P<kilo>[kKMB])(?!\w)"
    r"|\s?(?P<myriad>[万萬만亿億억])"
    r"|[  ](?:and )?(?P<numer>\d{1,4})/(?P<denom>\d{1,4})(?![\d/])"
    r"|[   ]?(?P<part>[¼½¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])|\s(?P<half>and\sa\shalf)\b"
    r"|\s?/\s?(?P<divisor>\d{1,40})(?!\d|[,./]\d|[eE][+-]?\d|\s?[=×x]|\s?\*(?!\*))"
    r"|(?P<power>\^\{?\d{1,4}(?:\.\d{1,4})?\}?|[⁰¹²³⁴-⁹]{1,2}|\*\*\d{1,9})"
    r"|\s(?P<scale>thousand|million|billion|trillion)s?\b"
)
# "1 250" is one number if a currency, a unit or the end follows, "1 000" everywhere.
SPACED = re.compile(
    r"(?<!\d )[1-9]\d{0,2}(?: \d{3})+"
    r"(?:(?=[ \t]*(?:[.!?*]*\s*$|[.!?]\s|\n|[$}\\€£])|,\d\d?(?!\d)"
    r"| (?!x\b|and\b|or\b|to\b)[^\W\d_]{1,30})"
    r"|(?<= 000)(?!\d|[.,:/ ]\d))(?P<cents>,\d\d?(?!\d))?"
)
# "Week 1 100 pages" is no number of thousands.
LABELLED_NUMBER = re.compile(r"(?:\b[A-Z][a-z]+ |[\d)] ?[-+*/×÷x] ?)$")
# "4 hours and 30 minutes" is one quantity.
SMALLER = {
    "hour": "minute", "minute": "second", "foot": "inch", "pound": "ounce", "week": "day",
    "year": "month", "dollar": "cent", "day": "hour", "meter": "centimeter", "month": "day",
    "gallon": "quart", "kilometer": "meter", "yard": "foot",
}  # fmt: skip
CLOCKED = ("hour", "minute")
HOURS = re.compile(r"(\d{1,9}):(\d{2})")
UNIT_AND_NUMBER = re.compile(r"\s?([A-Za-z]{1,11})\.?,?\s(?:and\s)?(?=\d)")
UNIT = re.compile(r"\s?-?([A-Za-z]{1,11})")
# "$26 and 50 cents"
AND_CENTS = re.compile(r"\sand\s(?=\d{1,2}\scents?\b)")
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
MOST_POWER_DIGITS = 40
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
        plain = PLAIN.match(text, near.start(), stop)
        if plain is not None:
            start = plain.end()
            yield WrittenNumber(plain[0], near.start(), start)
            continue
        match = QUANTITY.search(text, max(start, near.start() - LONGEST_PREFIX), stop)
        if match is None:
            return
        number = _quantity(match, text, stop)
        start = number.end
        if _stands_alone(text, match):
            yield number


def quantity_at(text: str, start: int, end: int) -> WrittenNumber | None:
    """Return the quantity that begins exactly here, else None."""
    plain = PLAIN_HERE.match(text, start, end)
    if plain is not None:
        return WrittenNumber(plain[0], start, plain.end())
    match = QUANTITY.match(text, start, end)
    return None if match is None else _quantity(match, text, end)


def word_quantities(text: str, start: int, end: int) -> Iterator[WrittenNumber]:
    """Yield the numbers that are written in words ("twenty-five", "two hundred")."""
    for match in WORD_NUMBER.finditer(text, start, end):
        value = word_value(match.group())
        if value is not None:
            yield WrittenNumber(str(value), *match.span())
    for match in _foreign_number().finditer(text, start, end):
        if match.group().lower() not in WORD_VALUES:
            yield WrittenNumber(str(FOREIGN_WORDS[match.group().lower()]), *match.span())
    if text.isascii():
        return
    for match in CHINESE_NUMBER.finditer(text, start, end):
        yield WrittenNumber(str(chinese_value(match.group())), *match.span())


def compounds(text: str, numbers: list[WrittenNumber], end: int) -> list[WrittenNumber]:
    """Return numbers with "4 hours and 30 minutes" as one: "4:30", "1 foot 5 inches", "3.5" ($)."""
    merged: list[WrittenNumber] = []
    for number in numbers:
        whole = compound(text, merged[-1], number, end) if merged else None
        if whole is None:
            merged.append(number)
        else:
            merged[-1] = whole
    return merged


def compound(
    text: str, first: WrittenNumber, second: WrittenNumber, end: int
) -> WrittenNumber | None:
    """Return two numbers as one quantity if the second has the next smaller unit, else None."""
    cents = "$" in text[first.start : first.end] and AND_CENTS.match(text, first.end, end)
    if cents and cents.end() == second.start and first.value.isdecimal():
        return WrittenNumber(
            canonical(f"{first.value}.{second.value:0>2}"), first.start, second.end
        )
    units = compound_units(text, first, second, end)
    if units is None:
        return None
    if not (first.value.removeprefix("-").isdecimal() and second.value.isdecimal()):
        return None
    unit, smaller = units
    name = stem(unit[1])
    if name in CLOCKED:
        value = f"{first.value}:{second.value:0>2}"
    elif name == "dollar":
        value = canonical(f"{first.value}.{second.value:0>2}")
    else:
        value = f"{first.value} {unit[1]} {second.value} {smaller[1]}"
    return WrittenNumber(value, first.start, smaller.end())


def compound_units(
    text: str, first: WrittenNumber, second: WrittenNumber, end: int
) -> tuple[re.Match[str], re.Match[str]] | None:
    """Return the units of two adjacent numbers if the second is the next smaller one."""
    unit = UNIT_AND_NUMBER.match(text, first.end, end)
    if unit is None or unit.end() != second.start:
        return None
    smaller = UNIT.match(text, second.end, end)
    if smaller is None or SMALLER.get(stem(unit[1])) != stem(smaller[1]):
        return None
    return unit, smaller


# A compound as it is written, and the number of smaller units in the larger one.
COMPOUND = re.compile(
    r"(?P<first>\d+)\s?-?(?P<unit>[A-Za-z]+),?\s(?:and\s)?(?P<second>\d+)\s?-?(?P<smaller>[A-Za-z]+)"
)
RATIOS = {
    "hour": 60, "minute": 60, "foot": 12, "pound": 16, "week": 7, "year": 12, "day": 24,
    "meter": 100, "gallon": 4, "kilometer": 1000, "yard": 3,
}  # fmt: skip


TEXT_COMMAND = "\\text"
IN_TEXT_COMMAND = re.compile(r"\\text\s?\{([^{}]*)\}")


def without_text_commands(text: str) -> tuple[str, list[int]]:
    r"""Return a text with the words of its \text{} as plain words, and each character's place."""
    characters: list[str] = []
    places: list[int] = []

    def add(start: int, end: int) -> None:
        for place in range(start, end):
            is_space = text[place].isspace()
            if not is_space or (characters and characters[-1] != " "):
                characters.append(" " if is_space else text[place])
                places.append(place)

    place = 0
    for command in IN_TEXT_COMMAND.finditer(text):
        add(place, command.start())
        add(*command.span(1))
        place = command.end()
    add(place, len(text))
    while characters and characters[-1] == " ":
        characters.pop()
    return "".join(characters), places


def in_smaller_unit(written: str, units: frozenset[str]) -> str | None:
    """Return a compound in its smaller unit if only that is asked for: 2 hours 30 minutes are 150.

    units: the stems of the requested units; None if it has another one, or the text is no compound.
    """
    match = COMPOUND.fullmatch(written)
    if match is None:
        return None
    unit, smaller = stem(match["unit"]), stem(match["smaller"])
    if unit not in RATIOS or unit in units or smaller not in units:
        return None
    return str(int(match["first"]) * RATIOS[unit] + int(match["second"]))


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


def exact_form(value: str) -> str:
    """Return the form that all writings of a number share ("18.5": "37/2"); else the value."""
    number = exact(value)
    return value if number is None else str(number)


def is_number(value: str) -> bool:
    """Return whether a value is a number of any length, not a clock time, power or other text."""
    return exact(value) is not None or value.lstrip("-").replace(".", "", 1).isdecimal()


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


def _stands_alone(text: str, match: re.Match[str]) -> bool:
    """Return whether a number is not part of a name ("x2"), a power ("m^2") or a version."""
    before = text[match.start() - 1 : match.start()]
    if not before:
        return True
    if before == "{":
        before = text[match.start() - 2 : match.start() - 1]
        return before not in ("^", "_")
    return not (before in "^_" or (before.isascii() and before.isalpha()))


def _quantity(match: re.Match[str], text: str, stop: int) -> WrittenNumber:
    sign = "-" if match["sign"] or match["inner"] else ""
    if match["fraction"]:
        over, under = match["over"] or match["top"], match["under"] or match["low"]
        return WrittenNumber(sign + _ratio(over, under, match["mixed"]), *match.span())
    if match["vulgar"]:
        return WrittenNumber(sign + VULGAR[match["vulgar"]], *match.span())
    spaced = SPACED.match(text, match.start("whole"), stop) if match["whole"] else None
    if spaced is not None and not LABELLED_NUMBER.search(text[: match.start()][-24:]):
        digits = spaced[0].replace(" ", "").replace(",", ".")
        return WrittenNumber(canonical(sign + digits), match.start(), spaced.end())
    number = canonical(sign + _plain(match))
    after = AFTER.match(text, match.end(), stop)
    if after is None:
        return WrittenNumber(number, *match.span())
    money = any(sign in match.group() for sign in "$€£¥₹")
    value = _extended(number, after, money)
    if value is None:
        return WrittenNumber(number, *match.span())
    return WrittenNumber(value, match.start(), after.end())


def _plain(match: re.Match[str]) -> str:
    """Return the digits of a match, with at most a decimal point."""
    if match["bare"]:
        return "0" + str(match["bare"])
    whole, decimals = match["whole"], match["decimals"] or ""
    if not whole.isdecimal():
        whole = re.sub(r"\D", "", whole)
    return whole + decimals.replace(",", ".")


def _extended(number: str, after: re.Match[str], money: bool) -> str | None:
    """Return the value of a number with the text after it; None if that is not part of it.

    money: a currency sign precedes it, so that "70k" is 70,000; else it stays "70k".
    """
    if places := after["exp"] or after["ten"]:
        written_out = abs(int(places)) <= LONGEST
        return shifted(number, int(places)) if written_out else f"{number}e{places}"
    if after["power"]:
        return _power(number, after["power"])
    if after["scale"]:
        return shifted(number, SCALES[after["scale"]])
    if after["myriad"]:
        return shifted(number, MYRIADS[after["myriad"]])
    if after["kilo"]:
        kilo = after["kilo"]
        return shifted(number, KILOS[kilo]) if money else f"{number}{kilo.lower()}"
    if "." in number:
        return None
    if after["clock"]:
        return f"{number}:{after['clock']}"
    sign, whole = ("-", number[1:]) if number.startswith("-") else ("", number)
    if after["numer"]:
        return sign + _ratio(after["numer"], after["denom"], whole)
    if after["half"]:
        return sign + _ratio("1", "2", whole)
    if after["part"]:
        over, _, under = VULGAR[after["part"]].partition("/")
        return sign + _ratio(over, under, whole)
    return sign + _ratio(whole, after["divisor"], None)


def _power(number: str, written: str) -> str:
    """Return a small whole power ("10^3": "1000"), any other as text, which equals no number."""
    digits = written.translate(SUPERSCRIPTS).strip("^{}*.")
    exponent = int(digits) if digits.isdecimal() and len(digits) < 3 else -1
    if not number.isdecimal() or exponent < 0 or len(number) * exponent > MOST_POWER_DIGITS:
        return number + written
    return str(int(number) ** exponent)


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


def negated(value: str) -> str:
    """Return a value with the opposite sign; 0 has none."""
    if value == "0":
        return value
    return value[1:] if value.startswith("-") else f"-{value}"


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
    rf"(?<![\w-])(?:(?:negative|minus)\s)?{_WORD}(?:(?:[\s-]|\sand\s){_WORD}){{0,11}}"
    r"(?![\w-]|\s(?:halves|thirds|fourths|quarters|fifths|sixths|eighths|tenths|and\sa\shalf)\b)"
)
WORD_NUMBER = re.compile(NUMBER_IN_WORDS, re.I)
WORD_SPLIT = re.compile(r"[\s-]+")


def word_value(words: str) -> int | None:
    """Return the value of number words, or None if they are not one number ("two three")."""
    parts = WORD_SPLIT.split(words.lower())
    negative = parts[0] in ("negative", "minus")
    total = group = 0
    smallest = 1_000_000_000_000  # the next scale must be smaller
    for word in parts[1:] if negative else parts:
        if word == "and":
            continue
        if word == "hundred":
            if not 0 < group < 10:
                return None
            group *= 100
        elif word in WORD_SCALES:
            if not group or WORD_SCALES[word] >= smallest:
                return None
            smallest = WORD_SCALES[word]
            total, group = total + group * smallest, 0
        elif _fits(group, WORD_VALUES[word]):
            group += WORD_VALUES[word]
        else:
            return None
    value = total + group
    return -value if negative else value


def _fits(group: int, value: int) -> bool:
    """Return whether a word may follow the value that a group of three digits has so far."""
    if value >= 10:
        return group % 100 == 0
    return group % 10 == 0 and group % 100 != 10


# Chinese and Japanese numerals: "四十二", "一百零五", "三万".
CHINESE_DIGITS = {"零": 0, "两": 2, "兩": 2} | {
    character: digit for digit, character in enumerate("〇一二三四五六七八九")
}
CHINESE_UNITS = {"十": 10, "百": 100, "千": 1_000}
CHINESE_GROUPS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
CHINESE_NUMBER = re.compile(r"[零〇一二两兩三四五六七八九十百千万萬亿億]{1,24}+")


def chinese_value(numeral: str) -> int:
    """Return the value of a Chinese numeral."""
    total = group = digit = 0
    for character in numeral:
        if character in CHINESE_DIGITS:
            digit = CHINESE_DIGITS[character]
        elif character in CHINESE_UNITS:
            group, digit = group + (digit or 1) * CHINESE_UNITS[character], 0
        else:
            total, group, digit = total + (group + digit or 1) * CHINESE_GROUPS[character], 0, 0
    return total + group + digit


# Number words of three more languages, to 100: used if a sentence contains no digits.
GERMAN = """
    null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn
    sechzehn siebzehn achtzehn neunzehn
    """.split()  # noqa: SIM905
GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert".split()  # noqa: SIM905
SPANISH = """
    cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince
    dieciséis diecisiete dieciocho diecinueve
    """.split()  # noqa: SIM905
SPANISH_TENS = "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien".split()  # noqa: SIM905
FRENCH = """
    zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize
    dix-sept dix-huit dix-neuf
    """.split()  # noqa: SIM905
FRENCH_TENS = "vingt trente quarante cinquante soixante".split()  # noqa: SIM905


def _foreign_words() -> dict[str, int]:
    words: dict[str, int] = {}
    for units, tens in ((GERMAN, GERMAN_TENS), (SPANISH, SPANISH_TENS), (FRENCH, FRENCH_TENS)):
        for ten, word in enumerate(tens, start=2):
            words[word] = 10 * ten
            for unit, name in enumerate(units[1:10], start=1):
                short = name.removesuffix("s") if name == "eins" else name
                joined = f"{short}und{word}" if units is GERMAN else f"{word} y {name}"
                words[joined if units is not FRENCH else f"{word}-{name}"] = 10 * ten + unit
        words |= {word: value for value, word in enumerate(units) if word not in AMBIGUOUS}
    return words


# Also words of other languages: "six", and "once" and "quince" in English.
AMBIGUOUS = frozenset(("uno", "un", "once", "quince", "null", "dos", "elf", "as"))
FOREIGN_WORDS = _foreign_words()


@cache
def _foreign_number() -> re.Pattern[str]:
    """Compile the words of FOREIGN_WORDS on first use, since that takes 10 ms."""
    longest_first = sorted(FOREIGN_WORDS, key=len)[::-1]
    words = "|".join(word.replace(" ", "\\x20") for word in longest_first)
    return re.compile(rf"(?i)(?<![\w-])\b(?:{words})(?![\w-])")
