"""Reading a gold answer: one reader for judge, rewards, files of samples and files of problems."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from numbers import Number
from unicodedata import numeric

from gradeschool.answers.numbers import parse_decimal, plain
from gradeschool.errors import InputError
from gradeschool.problem import MARKER

PLAIN = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)")  # as GSM8K writes its golds
BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}")
CONCLUSION = re.compile(r"\banswer(?:\s+is|\s*[:=])[:\s]*(\S[^\n]*?)\s*\Z", re.I)
RESULT = re.compile(r"=\s*([^=\n]{1,60}?)\s*\Z")  # "... 9 * 2 = $18 every day."
NAMED = re.compile(r"[A-Za-z]\w{0,7}\s*=\s*(?=[-+\d\\.$])")
WRAPPED = re.compile(
    r"\\(?:text|textbf|mathrm|mathbf|mbox|operatorname)\s*\{([^{}]*)\}(?:\^\{?[23]\}?)?"
)
THOUSANDS = re.compile(r"(?<![\d.])\d{1,3}(?:[ '\u2019\u00a0\u2009\u202f]\d{3})+(?!\d)")
UNIT_POWER = re.compile(r"(?<=[A-Za-z])(?:\^\{?[23]\}?|[\u00b2\u00b3])(?=\.?\s*\Z)")
ATTACHED_UNIT = re.compile(
    r"(?:[cmk]?m|[mk]?g|m?l|L|h|hr|hrs|s|min|ft|in|lbs?|oz|mph|kph|km/h|am|pm|k?W|[kM]B|GB)\b"
)
LATEX = (
    *(("\u2212", "-"), ("\u2013", "-"), ("\\!", ""), ("{,}", ","), ("\\$", "$"), ("\\%", "%")),
    *(("\\,", " "), ("\\;", " "), ("\\ ", " "), ("~", " "), ("^\\circ", " "), ("^{\\circ}", " ")),
    *(("\\left", ""), ("\\right", ""), ("\\dfrac", "\\frac"), ("\\tfrac", "\\frac")),
    *(("\\(", ""), ("\\)", ""), ("\\[", ""), ("\\]", ""), ("**", "")),
)
QUANTITY = re.compile(
    r"""(?P<sign>[-+]?)\s?[$\u20ac\u00a3]?\s?(?P<minus>-?)
    (?: (?:(?P<whole>\d{1,15})\s?)?
        (?: \\frac\s?\{(?P<a>-?\d{1,40})\}\s?\{(?P<b>\d{1,40})\}
          | (?<![\d.])(?P<c>\d{1,40})\s?/\s?(?P<d>\d{1,40}) )
      | (?P<mixed>\d{1,15})?(?P<vulgar>[\u00bc-\u00be\u2150-\u215e])
      | (?P<number>(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)
        (?P<power>[eE][-+]?\d{1,4}(?!\w))? )""",
    re.VERBOSE,
)
MULTIPLIED = re.compile(
    r"(?-i:[kKMB])\b|\s*\(?(?:hundred|thousand|million|billion|trillion|dozen|bn|mil|mio|mrd|lakh"
    r"|crore|tausend|million\w{1,2}|millones|mille|тысяч\w?|миллион\w{0,2})s?\b"
    r"|\s?[万萬만亿億억千천百백]",
    re.I,
)
SIGNS = re.compile(r"[\\^=*+<>|_\u221a\u03c0]|\d\s?[-/]|(?<=\d)-(?=\d)")


def read_gold(gold: object, expressions: bool = False) -> str:
    r"""Return the number that a gold answer states: "18", "1,250", "-0.5", "1/2".

    gold: a number, or a text: the number, with a unit, in LaTeX, in a box or in a sentence, or a
    solution that marks it ("#### 18", "\boxed{18}", "The answer is 18.", "= 18"); or a list of one
    of these. Commas between thousands are kept; a mixed number is a decimal if that is exact.
    expressions: return an expression ("7\pi") as it is written. Raises InputError with the reason
    if the gold is no number, or if it is not certain which.
    """
    if isinstance(gold, list | tuple) and len(gold) == 1:
        gold = gold[0]
    if isinstance(gold, bool):
        raise _refused(gold, "is true or false")
    if isinstance(gold, Number):  # in full, exactly as it prints: 18.0 is "18"
        try:
            text = str(gold)
        except ValueError:  # Python refuses to write integers of more than 4,300 digits
            raise InputError("the gold has too many digits; give it as a text") from None
        if isinstance(gold, Fraction) and "/" in text:
            return text
        decimal = parse_decimal(text)
        written = None if decimal is None else plain(decimal)
        if written is None:
            raise _refused(gold, "is no finite number")
        return written
    if not isinstance(gold, str):
        raise _refused(gold, "is missing" if gold is None else "is no number")
    if PLAIN.fullmatch(gold):  # nearly all
        return gold
    marked, end = gold, gold[-200:]  # the part that it marks as its answer, else all of it
    if MARKER in gold:
        marked = gold.rpartition(MARKER)[2].strip().partition("\n")[0]
        if PLAIN.fullmatch(marked):
            return marked
    elif boxes := BOXED.findall(gold[-2000:]):
        marked = str(boxes[-1])
    elif (match := CONCLUSION.search(end)) or (len(gold) > 20 and (match := RESULT.search(end))):
        marked = match[1]
    text = marked.strip().strip("$ \n").rstrip(".").strip()
    for written, meant in LATEX:
        text = text.replace(written, meant)
    text = WRAPPED.sub(r" \1 ", text).replace("\\text", " ")
    text = NAMED.sub(
        "", THOUSANDS.sub(lambda each: re.sub(r"[\s'\u2019]", "", each[0]), text), count=1
    ).strip("$ ")
    while len(text) > 1 and text[0] + text[-1] in ("()", "[]", "{}", '""', "''"):
        text = text[1:-1].strip("$ ")
    if not text:
        raise _refused(gold, "is empty")
    text = UNIT_POWER.sub("", text)
    found = list(QUANTITY.finditer(text))
    if not found:
        raise _refused(gold, "contains no number")
    if MULTIPLIED.match(text, found[-1].end()):
        raise _refused(gold, "has a word that multiplies it")
    around = f"{text[: found[0].start()]} {text[found[-1].end() :]}"
    if len(found) == 1 and not _is_attached(text, found[0]) and not SIGNS.search(around):
        return _value(gold, found[0])
    if SIGNS.search(text) or any(_is_attached(text, each) for each in found):
        if expressions:
            return marked.strip()
        raise _refused(gold, "is an expression, not a number")
    if len(text) > 200 or marked != gold:
        raise _refused(gold, "does not mark its answer: end it in '#### N'")
    raise _refused(gold, "has several numbers: it is not certain which one is meant")


def read_solution(gold: object, expressions: bool = False) -> tuple[str, str]:
    """Return the number of a gold, and a reference solution that ends in "#### number".

    The solution is the gold itself if it has the mark. Raises what `read_gold` raises.
    """
    number = read_gold(gold, expressions)
    if not isinstance(gold, str) or MARKER not in gold:
        return number, f"{MARKER} {number}"
    start, _, end = gold.rpartition(MARKER)
    return number, gold if end.strip() == number else f"{start}{MARKER} {number}"


def _is_attached(text: str, match: re.Match[str]) -> bool:
    r"""Return whether a letter or a sign makes the number part of a name or expression: "4a"."""
    before, behind = text[: match.start()].rstrip("$ ")[-1:], text[match.end() : match.end() + 8]
    if match["sign"] and match.start() and text[match.start() - 1].isalnum():
        return True  # "x+1"
    letter = behind[:1].isascii() and behind[:1].isalpha()
    name = letter and not behind[:3].isalpha() and not ATTACHED_UNIT.match(behind)
    return name or before in tuple("\\^_{*/+") or behind.startswith(("^", "_", "\\", ":", "/"))


def _value(gold: object, match: re.Match[str]) -> str:
    sign = "-" if (match["sign"] == "-") != (match["minus"] == "-") else ""
    if match["number"]:
        number = match["number"]
        if match["power"]:
            decimal = parse_decimal(number.replace(",", "") + match["power"])
            written = None if decimal is None else plain(decimal)
            if written is None or len(written) > 400:
                raise _refused(gold, "has too many digits")
            return sign + written
        whole, point, decimals = number.partition(".")
        decimals = decimals.rstrip("0")
        return f"{sign}{whole or '0'}.{decimals}" if point and decimals else f"{sign}{whole or '0'}"
    if match["vulgar"]:
        part = Fraction(numeric(match["vulgar"])).limit_denominator(10)
        whole = match["mixed"]
    else:
        above, below = int(match["a"] or match["c"]), int(match["b"] or match["d"])
        if not below:
            raise _refused(gold, "divides by zero")
        whole = match["whole"]
        if whole is None:
            return f"{sign}{above}/{below}"
        part = Fraction(above, below)
    value = int(whole or 0) + part
    decimal = Decimal(value.numerator) / value.denominator
    if Fraction(decimal) == value:
        return sign + str(plain(decimal))
    return f"{sign}{value.numerator}/{value.denominator}"


def _refused(gold: object, reason: str) -> InputError:
    try:
        shown = repr(gold)
    except (ValueError, RecursionError):
        shown = "that is nested too deeply or too long"
    if len(shown) > 60:
        shown = f"{shown[:30]}...{shown[-30:]}"
    return InputError(f"the gold {shown} {reason}; give a number, or a solution with '#### N'")
