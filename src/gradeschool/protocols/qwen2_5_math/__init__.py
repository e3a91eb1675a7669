r"""Qwen2.5-Math: the evaluation of its technical report, also used by many later reports.

The prompts are for its chat models, for Qwen2, for base models. The scorer is `extract_answer` and
`math_equal` on golds that are numbers: evaluation/parser.py, lines 83-330 (`strip_string`), 397-560
and 700-716 (run_execute, which strips a second time), and evaluation/grader.py, lines 85-215.
Quadratic regexes of upstream are linear scans here, with the same result.
"""

import re
from functools import cache
from math import isclose

from gradeschool import latex
from gradeschool.answers.search import closing_brace, last_match, last_place
from gradeschool.problem import MARKER, Problem
from gradeschool.protocols.extractions import gold_as
from gradeschool.scorer import Answer, ScorerFailure, call_library

# Words are read as by `word_to_num` of word2number 1.1 (w2n.py, lines 126-240): words that are not
# numbers are skipped, so that "she has eighteen dollars" is 18.

WORD_NUMBERS_UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SCALES = {"billion": 10**9, "million": 10**6, "thousand": 1000}
POINT = "point"
VALUES = {
    **{word: value for value, word in enumerate(WORD_NUMBERS_UNITS)},
    **{word: 10 * value for value, word in enumerate(TENS, 2)},
    "hundred": 100,
    **SCALES,
}
DIGITS = WORD_NUMBERS_UNITS[:10]


def word_number(text: str) -> str:
    """Return the number that a text spells, as Python writes it, or the text itself."""
    words = text.replace("-", " ").lower()
    if words.isdigit():
        try:
            return str(int(words))
        except ValueError:  # superscripts, or more than 4,300 digits
            return text
    spoken = [word for word in words.split() if word in VALUES or word == POINT]
    if not spoken or any(spoken.count(word) > 1 for word in (*SCALES, POINT)):
        return text
    place = spoken.index(POINT) if POINT in spoken else len(spoken)
    total, after = _whole(spoken[:place]), spoken[place + 1 :]
    if total is None:
        return text
    if after and set(after) <= set(DIGITS):
        return str(total + float("0." + "".join(str(VALUES[word]) for word in after)))
    return str(total)


def _whole(words: list[str]) -> int | None:
    if len(words) < 2:
        return VALUES[words[0]] if words else 0
    places = [words.index(scale) for scale in SCALES if scale in words]
    if places != sorted(places):
        return None
    total, start = 0, 0
    for place in places:
        multiplier = _group(words[start:place])
        if multiplier is None:
            return None
        total += multiplier * VALUES[words[place]]
        start = place + 1
    # A scale at the very end is not treated as one here: "two million three thousand" is 2,004,003,
    # with the last three thousand counted again as 3 + 1000.
    starts = [place + 1 for place in places if place + 1 < len(words)] if places else [0]
    if not starts:
        return total
    rest = _group(words[starts[-1] :])
    return None if rest is None else total + rest


def _group(words: list[str]) -> int | None:
    """Return the value of the words between two scales; from five words on, only the first."""
    values = [VALUES[word] for word in words]
    if len(values) == 4:
        return values[0] * values[1] + values[2] + values[3]
    if len(values) == 3:
        return values[0] * values[1] + values[2]
    if len(values) == 2:
        return values[0] * values[1] if 100 in values else values[0] + values[1]
    return values[0] if values else None


# In the order of upstream, each also with an "s" after it; a period matches any character.
CLEANING_UNITS = (
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
# Replacements, in order, before and after units are removed.
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
    ("infinity", "\\infty"),
)
LAST = (("+\\inity", "\\infty"), ("and", ""), ("\\mathbf", ""))
# The digits before are not part of the match here: upstream begins with (\d+), which is quadratic.
ZERO_DECIMALS = ((re.compile(r"(?<=\d)\.0*([^\d])"), r"\1"), (re.compile(r"(?<=\d)\.0*$"), ""))
SQUARE_ROOT = re.compile(r"\\sqrt(\w+)")


def strip_string(string: str) -> str:
    """Return an answer without units, signs, spaces and LaTeX that makes no difference."""
    text = string.strip().replace("\n", "").rstrip(".").replace("\\!", "")
    text = latex.unwrapped(text, "\\begin{array}{", instead="\\begin{pmatrix}")
    text = text.replace("\\end{array}", "\\end{pmatrix}")
    text = latex.without_unit(latex.replaced(text, BEFORE_UNITS))
    for literal, pattern in _unit_patterns() if LETTER.search(text) else ():
        if literal in text:
            text = pattern.sub(r"\1\2", text) or text
    text = latex.unwrapped(word_number(latex.replaced(text, SIGNS)), "\\text{")
    text = latex.plain_symbols(latex.replaced(text, AFTER_UNITS), LAST, ZERO_DECIMALS)
    text = SQUARE_ROOT.sub(r"\\sqrt{\1}", latex.right_side(text)).replace(" ", "")
    return latex.slash_as_fraction(latex.braced_fractions(text), roots=True)


@cache
def _unit_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return each unit's pattern with a piece of text that every match contains, all twice.

    Every unit contains a letter.
    """
    units = (*CLEANING_UNITS, *(f"{unit}s" for unit in CLEANING_UNITS))
    return 2 * tuple((unit.split(".")[0], re.compile(rf"(^|\W){unit}($|\W)")) for unit in units)


NUMBER = re.compile(r"-?\d*\.?\d+")
LINE_BREAK = re.compile(r"\n\s*")
DROPPED = "\u043a\u0438"
FINAL, HOPE = "final answer is $", "$. I hope"
BOX = "boxed"
ANNOUNCED = ("he answer is", "final answer is")
CHINESE = "答案是"
TOLERANCE = 1e-4


def extract(text: str, reference: str) -> Answer | None:
    """Extract a box, else the text after "the answer is", else the last number, and clean it up."""
    match, how = _find_answer(text)
    answer = LINE_BREAK.sub("", match).removeprefix(":").removesuffix(".").removesuffix("/")
    value = strip_string(strip_string(answer))
    if not value and reference:
        return None
    return Answer(match, value, last_place(text, match), how)


def _find_answer(text: str) -> tuple[str, str]:
    text = text.replace(DROPPED, "")
    if FINAL in text and HOPE in text:
        return text.partition(FINAL)[2].partition(HOPE)[0].strip(), "the final answer in dollars"
    if BOX in text:  # the content of the braces, or the text before the next dollar sign
        tail = text.rpartition(BOX)[2]
        if not tail.startswith("{"):
            return tail.split("$")[0].strip(), "the last box"
        close = closing_brace(tail, 1)
        return tail[1 : None if close < 0 else close], "the last box"
    for words in ANNOUNCED:
        if words in text:
            return text.rpartition(words)[2].strip(), f"all that follows the last {words!r}"
    if CHINESE in text:
        return text.split(CHINESE)[1].strip().split("\n\n")[0].strip(), f"what follows {CHINESE!r}"
    last = last_match(NUMBER, text.replace(",", ""))
    return "" if last is None else last.group(), "the last number"


def reference(problem: Problem) -> str:
    """Return the cleaned gold. Raises ScorerFailure if the solution has not exactly one "####"."""
    parts = problem.solution.split(MARKER)
    if len(parts) != 2:
        raise ScorerFailure(f"{len(parts) - 1} '####' in the solution, where one is expected")
    return strip_string(parts[1])


plain_reference = gold_as(strip_string)  # of a set without solutions


def compare(value: str, reference: str) -> bool:
    """Compare as numbers, also with factors 1/100 and 100, else as symbolic expressions."""
    if value.strip().lower() == reference.strip().lower():
        return True
    number, gold = latex.number_or_percentage(value), latex.number_or_percentage(reference)
    if number is not None and gold is not None:
        golds = (gold / 100, gold, gold * 100)
        return any(isclose(gold, number, rel_tol=TOLERANCE) for gold in golds)
    value, reference = value.strip(), reference.strip()
    if not value:
        return False
    if _without_brackets(value).lower() == _without_brackets(reference).lower():
        return True
    sides = value.split("=")
    if len(sides) == 2 and len(sides[0].strip()) <= 2 and "=" not in reference:
        # Upstream then compares the whole equation, but an equation equals no number.
        return compare(sides[1], reference)
    return bool(call_library("gradeschool.protocols.by_sympy:qwen_equal", (value, reference)))


def _without_brackets(text: str) -> str:
    if (text[:1], text[-1:]) in (("[", "]"), ("(", ")")):
        text = text.strip("[]()")
    for bracket in "{}()":
        text = text.replace(bracket, "")
    return text


def svamp_fields(problem: Problem) -> dict[str, str]:
    """Return SVAMP's question with a period after its body, as upstream; others are unchanged.

    evaluation/parser.py, parse_question.
    """
    body, question = problem.meta.get("body", "").strip(), problem.question
    if body and not body.endswith(".") and question.startswith(body):
        question = f"{body}.{question.removeprefix(body)}"
    return {"stripped question": question.strip()}
