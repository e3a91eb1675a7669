r"""DeepSeek-Math's evaluation of GSM8K: zero-shot for instruction models, few-shot for base models.

The normal form of an answer (`strip_string`) has upstream's lists of strings. Its patterns
`\\text{.*?}$`, `(\d+)\.0+$` and `(\\|,|\.)+$` are quadratic where they do not match; the code here
finds the same in linear time.
"""

import re
from math import isclose

from gradeschool import latex
from gradeschool.answers import search
from gradeschool.problem import Problem
from gradeschool.protocols.extractions import last_number
from gradeschool.scorer import Answer, call_library

HOPE = ("final answer is $", "$. I hope")
BOX = "boxed{"
ANNOUNCED = "he answer is"
OUTPUT, FENCE = "```output", "```"
NUMBER = re.compile(r"-?\d*\.?\d+")
TOLERANCE = 1e-3
WITH_UNIT = re.compile(r"-?[\d.]*[a-zA-Z]+")


def find_answer(text: str) -> tuple[search.TextMatch, str] | None:
    """Return the piece of text that upstream takes as the answer, and how it was found."""
    start, stop = HOPE
    is_announced = search.mentions_answer(text)
    if is_announced and start in text and stop in text:
        return _up_to(text, text.index(start) + len(start), stop), f"after {start!r}"
    if "boxed" in text:
        limit = len(text)
        while (place := text.rfind(BOX, 0, limit)) >= 0:
            inside = place + len(BOX)
            close = search.closing_brace(text, inside, limit)
            if close >= 0:  # before a "%", upstream keeps the closing brace and loses the "%"
                end = close + text.startswith("%", close + 1, limit)
                return search.TextMatch(text[inside:end], inside, end), "the last closed box"
            limit = place
        return None
    place = text.rfind(ANNOUNCED) if is_announced else -1
    if place >= 0:
        piece = _up_to(text, place + len(ANNOUNCED), "")
        return piece, f"after the last {ANNOUNCED!r}"
    place = text.rfind(OUTPUT) if OUTPUT[0] in text else -1
    if place >= 0:
        output = _up_to(text, place + len(OUTPUT), FENCE)
        if output.text.strip():
            return output, "the last program output"
    match = search.last_match(NUMBER, text.replace(",", ""))
    if match is None:
        return None
    place = text.rfind(match[0])  # -1 for a number with a comma, which is not literally in the text
    found = search.TextMatch(match[0], place, place + len(match[0]))
    return found, "the last number, commas removed"


def _up_to(text: str, start: int, stop: str) -> search.TextMatch:
    """Return the text from a place to a mark; to the end without one, or for the mark ""."""
    end = text.find(stop, start) if stop else -1
    end = len(text) if end < 0 else end
    return search.TextMatch(text[start:end], start, end)


def extract_zero_shot(text: str, reference: str) -> Answer | None:
    """Extract "final answer is $..$. I hope", a box, "he answer is", output, or the last number."""
    answer = find_answer(text)
    if answer is None:
        return None
    (piece, start, end), how = answer
    value = stripped(piece.strip().partition("\n")[0].lstrip(":").rstrip(".").rstrip("/"))
    return Answer(piece, value, None if start < 0 else (start, end), how) if value else None


# A thousands comma splits a number.
FEW_SHOT_NUMBER = re.compile(r"-?\d+\.?\d*")
extract_few_shot = last_number(FEW_SHOT_NUMBER, before="Q: ")


INTEGER = re.compile(r"-?[0-9]+")
TEXT = "\\text{"
BEFORE_UNITS = (
    ("tfrac", "frac"), ("dfrac", "frac"), ("cfrac", "frac"), ("\\left", ""), ("\\right", ""),
)  # fmt: skip
# Upstream uses the module `regex` for these; its \s is without U+001C to U+001F.
LENGTH = re.compile(r"\{(?:c|m)?m\}(?:\^(?:2|3))?")
AFTERNOON = re.compile(r"p\.m\.\Z")
TONS = re.compile(r"(\d)[^\S\x1c-\x1f]*t\Z")
AFTER_UNITS = (
    ("\\$", ""), ("$", ""), ("x\\in", ""), ("\\%", "%"), (" .", " 0."), ("{.", "{0."),
    ("\\cdot", ""), ("infinity", "\\infty"),
)  # fmt: skip
LAST = (("+\\inity", "\\infty"), ("\\mathbf", ""), ("\\mathrm", ""))
BARE_ARGUMENTS = (
    (re.compile(r"\\sqrt(-?[0-9.a-zA-Z]+)"), r"\\sqrt{\1}"),
    (re.compile(r"\\sqrt\s+(\w+)\Z"), r"\\sqrt{\1}"),
    (re.compile(r"\\tan(-?[0-9.a-zA-Z]+)"), r"\\tan{\1}"),
    (re.compile(r"\\tan\s+(\w+)\Z"), r"\\tan{\1}"),
)


def stripped(answer: str) -> str:
    """Return an answer without units, spaces and LaTeX that makes no difference."""
    if INTEGER.fullmatch(answer):
        return answer
    answer = answer.strip().replace("\n", "").rstrip(".").replace("\\!", "")
    if answer.startswith(TEXT) and answer.endswith("}"):
        answer = answer[len(TEXT) : -1]
    answer = latex.without_unit(latex.replaced(answer, BEFORE_UNITS))
    for degrees in ("^{\\circ}", "^\\circ"):
        answer = answer.replace(degrees, "").strip()
    answer = AFTERNOON.sub("", LENGTH.sub("", answer).strip()).strip()
    answer = latex.plain_symbols(latex.replaced(TONS.sub(r"\1", answer).strip(), AFTER_UNITS), LAST)
    for pattern, braced in BARE_ARGUMENTS:
        answer = pattern.sub(braced, answer)
    answer = latex.braced_fractions(answer.replace(" ", ""))
    return latex.slash_as_fraction(answer, roots=True).rstrip("\\,.")


def compare(value: str, reference: str) -> bool:
    """Compare within 1e-3, also with a hundredth and a hundred times the gold.

    sympy compares if one of the two is not a plain number. Letters are unknowns for it, so that a
    number with a unit ("6hours") equals no number but 0.
    """
    if value == reference:
        return True
    answer, gold = latex.number_or_percentage(value), latex.number_or_percentage(reference)
    if answer is not None and gold is not None:
        golds = (gold, gold / 100, gold * 100)
        return any(isclose(gold, answer, abs_tol=TOLERANCE) for gold in golds)
    name, equals, rest = value.partition("=")
    if equals and "=" not in rest + reference and len(name.strip()) <= 2:
        return compare(rest, reference)
    if gold and WITH_UNIT.fullmatch(value):
        return False  # without a call, which takes milliseconds
    return bool(call_library("gradeschool.protocols.by_sympy:deepseek_equal", (value, reference)))


def without_space_before(problem: Problem) -> dict[str, str]:
    """Return the question without the white space before it, as upstream."""
    return {"question": problem.question.lstrip()}
