r"""Parses one answer from a text with commonly used patterns, tried in order.

The order and the pitfalls are those of the common GSM8K evaluation guides. Their regexes miss some
answers (nested boxes, "$" before the number, overflow on long numbers), which this module finds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

from gradeschool.answers import search
from gradeschool.answers.numbers import normalize, parse_decimal, plain
from gradeschool.problem import MARKER

# A sign counts if no word, digit or bracket precedes it: "16-18" contains 16 and 18.
NUMBER = (
    r"(?:(?<![\w).])[-+−])?(?:[$€£]\s{0,4})?(?:(?<=[$€£])[-+−])?(?:\d[\d,]*+(?:\.\d++|(?!\.\d))"
    r"|(?<!\w)\.\d++)"
)
# Characters between a marker and its number: white space, emphasis, currency, brackets.
LEAD = r"[\s*_`$€£:=\\(\[{]{0,40}?"
HASHES = re.compile(rf"{MARKER}{LEAD}({NUMBER})")
ANSWER_IS = re.compile(
    r"(?i)\banswer\s{1,20}is(?:\s{1,20}(?:equal\s{1,20}to|approximately|about|exactly))?"
    rf"{LEAD}({NUMBER})"
)
ANSWER_COLON = re.compile(rf"(?i)\banswer\s{{0,20}}(?:\*\*)?:{LEAD}({NUMBER})")
ANY_NUMBER = re.compile(NUMBER)
# The 2 of "386 m^2" and of "10^{-2}" is not a number that a text ends with.
LOOSE_NUMBER = re.compile(rf"(?<![\^\d])(?<!\d\.)(?<!\^[{{−-])(?<!\^\{{[−-]){NUMBER}")
# After the number of a marker: "= N" ends an equation; "/ N", ":NN" and "thousand" change it.
SIDE = r"[ \t\d.,$€£%+*/x×÷()−-]*+="
RESULT = re.compile(rf"(?:{SIDE})+(?!{SIDE}){LEAD}({NUMBER})")
OVER = re.compile(r"[ \t]?/[ \t]?(\d{1,40})(?!\d)")
CLOCK = re.compile(r":\d\d(?!\d)")
SCALE = re.compile(r"(k)\b|[ \t]{1,4}(thousand|million|billion|trillion)s?\b", re.I | re.A)
POWERS = {"k": 3, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
# "#### 1. Count the eggs" is a heading, "Answer:\n1. Count the eggs" a list: not answers.
ITEM = re.compile(r"[.)][ \t*]{1,4}[A-Za-z]")
BOLD = re.compile(r"\*\*((?:[^*\n]++|\*(?!\*))+)\*\*")
LABEL = re.compile(r":(?!\d)|=")
ORNAMENT = re.compile(r"[$€£\s]")
FRACTION = re.compile(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")
TEXT_COMMAND = re.compile(r"\\(?:text|textbf|mathrm|mbox)\{[^{}]*\}")
# After these, a model that was not stopped writes its own next question.
RUN_ON = re.compile(r"\n[ \t]{0,8}(?:Question|Q)[ \t]?:")
CURRENCY = re.compile(r"[$€£]")
THOUGHT_END = "</think>"
LAST_NUMBER = "the last number"


class ParsedAnswer(NamedTuple):
    """An answer: its normalised value, its place in the text, and how it was found."""

    value: str
    start: int
    end: int
    how: str


def parse_gsm8k_answer(text: str) -> str | None:
    r"""Return the final answer that a completion states, normalised; None without a number.

    Tries in this order, each time taking the last match: `#### N`, `\boxed{N}`, "The answer is N",
    "Answer: N", a bold number on the last line, the last number in the text. Text before
    "</think>", and text after a run-on "Question:" or "Q:", counts only if the rest contains no
    number. Keeps the sign; drops currency, commas, trailing periods and zero decimals. The result
    of an equation after the marker is returned; "thousand" multiplies a number after "####" and
    "answer". A fraction that is not a whole number and a time of day stay as text ("8/3", "2:30").
    Linear in the length of the text; never raises.
    """
    read = read_answer(text)
    return None if read is None else read.value


def read_answer(text: str) -> ParsedAnswer | None:
    """Return the answer of `parse_gsm8k_answer`, with its place and the way it was found."""
    start, end = _answer_span(text)
    read = _read(text[start:end])
    if read is None:
        return _read(text) if end - start < len(text) else None
    return read._replace(start=start + read.start, end=start + read.end) if start else read


def _read(text: str) -> ParsedAnswer | None:
    read = hashed_answer(text) or _in_box(text)
    if read is None and search.mentions_answer(text):
        how = "the last 'the answer is N'", "the last 'answer: N'"
        read = _behind("answer", ANSWER_IS, text, how[0])
        read = read or _behind("answer", ANSWER_COLON, text, how[1])
    if read := read or _in_bold(text):
        return read
    start = search.last_number_start(text)
    parted = CURRENCY.search(text, max(start - 6, 0), start)  # a sign that belongs to the number
    last = search.last_match(LOOSE_NUMBER, text, 0 if parted else start)
    last = last or search.last_match(LOOSE_NUMBER, text)
    return None if last is None else ParsedAnswer(_clean(last[0]), *last.span(), LAST_NUMBER)


def hashed_answer(text: str) -> ParsedAnswer | None:
    """Return the number after the last "####" that a number follows, else None."""
    return _behind(MARKER, HASHES, text, "the last '#### N'") if MARKER[0] in text else None


def answer_part(text: str) -> str:
    """Return a text without the thinking before "</think>" and without a run-on question."""
    start, end = _answer_span(text)
    return text[start:end]


def majority_vote(answers: Sequence[str | None]) -> str | None:
    """Return the most frequent answer; None counts as no vote; in a tie, the first answer wins.

    None if there is no vote at all. (lm-evaluation-harness counts "[invalid]" as a vote; to
    reproduce that, pass the string.)
    """
    votes = Counter(answer for answer in answers if answer is not None)
    return votes.most_common(1)[0][0] if votes else None


def _answer_span(text: str) -> tuple[int, int]:
    thought = text.rfind(THOUGHT_END) if THOUGHT_END[0] in text else -1
    start = 0 if thought < 0 else thought + len(THOUGHT_END)
    run_on = RUN_ON.search(text, start) if "Q" in text else None
    return start, len(text) if run_on is None else run_on.start()


def _behind(literal: str, marker: re.Pattern[str], text: str, how: str) -> ParsedAnswer | None:
    """Return the number after the last marker, or the value of the equation or fraction there.

    literal: the start of the marker, in lower case. The number of a list item is none.
    """
    low, index = text if literal == MARKER else search.lowered(text), len(text)
    while (index := low.rfind(literal, 0, index)) >= 0:
        match = marker.match(text, index)
        if match is None:
            continue
        (start, end), number = match.span(1), _clean(match[1])
        opens_line = literal == MARKER or "\n" in text[index:start]
        if opens_line and ITEM.match(text, end):
            continue
        if result := RESULT.match(text, end):
            return ParsedAnswer(_clean(result[1]), *result.span(1), how)
        if over := OVER.match(text, end):
            return ParsedAnswer(_ratio(number, over[1]), start, over.end(), how)
        if clock := CLOCK.match(text, end):
            return ParsedAnswer(number + clock[0], start, clock.end(), how)
        if scale := SCALE.match(text, end):  # "1.5 thousand" is 1500
            product = parse_decimal(f"{number}e{POWERS[(scale[1] or scale[2]).lower()]}")
            written = None if product is None else plain(product, len(number))
            return ParsedAnswer(written or number, start, scale.end(), how)
        return ParsedAnswer(number, start, end, how)
    return None


def _in_box(text: str) -> ParsedAnswer | None:
    box = search.last_box(text)
    value = None if box is None else _only_number(box.text)
    if box is None or value is None:
        return None
    return ParsedAnswer(value, box.start, box.end, r"the last \boxed{N}")


@search.remembered
def _only_number(content: str) -> str | None:
    """Return the only number or fraction in the content of a box, after its last "="."""
    content = content.replace("{,}", ",")
    for command, plain_form in (("\\,", ""), ("\\!", ""), ("\\$", "$")):
        content = content.replace(command, plain_form)
    content = FRACTION.sub(r"\1/\2", content).rpartition("=")[2]
    for inside in (TEXT_COMMAND.sub("", content), content):
        numbers = list(islice(ANY_NUMBER.finditer(inside), 3))
        over = OVER.match(inside, numbers[0].end()) if len(numbers) == 2 else None
        if len(numbers) == 1 or over:
            number = _clean(numbers[0][0])
            return _ratio(number, over[1]) if over else number
    return None


def _in_bold(text: str) -> ParsedAnswer | None:
    """Return the number in the last bold words on the last line, after their last ":" or "="."""
    if "*" not in text:
        return None
    end = len(text.rstrip())
    start = text.rfind("\n", 0, end) + 1
    if text.find("**", start) < 0:
        return None
    for bold in reversed([match.span(1) for match in BOLD.finditer(text, start, end)]):
        label = search.last_match(LABEL, text[slice(*bold)])
        number = ANY_NUMBER.search(text, bold[0] + (label.end() if label else 0), bold[1])
        if number is not None:
            return ParsedAnswer(_clean(number.group()), *number.span(), "the last in bold")
    return None


def _ratio(number: str, divisor: str) -> str:
    """Return a fraction of two short whole numbers in lowest terms, any other as text."""
    whole = number.lstrip("-").isdecimal() and len(number) <= 40
    return str(Fraction(int(number), int(divisor))) if whole and int(divisor) else number


@search.remembered
def _clean(number: str) -> str:
    return normalize(ORNAMENT.sub("", number).replace("−", "-").lstrip("+"))
