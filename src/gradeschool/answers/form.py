"""The outer form of a completion: empty, cut off, run on, a refusal, nothing but code."""

from __future__ import annotations

import re
from typing import NamedTuple

from gradeschool.answers.regions import Region, committed_region

LENGTH = "length"
UNTOLD = (None, "", "unknown")  # finish reasons that say nothing
REFUSAL = re.compile(
    r"(?i)\b(?:I\s(?:can(?:no|['’])t|am\s(?:not\sable|unable)\sto|won['’]t|will\snot)"
    r"|I['’]m\s(?:sorry|unable|not\sable)|as\san\sAI\b)"
)
# A refusal stands at the beginning.
REFUSAL_WITHIN = 400
CODE = re.compile(
    r"(?m)^[ \t]{0,12}(?:def [a-z_]\w*\(|import [a-z]|print\(|return\b|from [a-z]+ import)"
)
# A text that ends in one of these ends in the middle of a step.
OPEN_END = "=+-−*/×÷<({[,&"
SENTENCE_END = re.compile(r"[.!?:][\s\"')\]*]|\n")
WORD = re.compile(r"[^\W\d_]+")
DIGIT = re.compile(r"\d")
# Behind a result come its units: so many words without a number are more than that.
LONGEST_UNIT = 4
TAIL = 400


class Form(NamedTuple):
    """What can be seen of a completion without its problem.

    empty: no text. truncated: the server says that the limit ended it, or, where no finish reason
    is known, it ends in the middle of a sentence or a step. ran_on: it goes on with another
    question or turn. thinking: thinking was begun and never closed.
    """

    empty: bool
    truncated: bool
    ran_on: bool
    thinking: bool


NAMES = ("empty", "truncated", "run-on", "unfinished thinking")  # of the fields above


def to_bits(form: Form) -> int:
    """Write a form as a number: 1, 2, 4, 8 for its fields in order."""
    return sum(1 << at for at, there in enumerate(form) if there)


def form_of(text: str, finish: str | None = None, question: str = "") -> Form:
    """Return the form of a completion. Linear in its length; never raises."""
    region = committed_region(text, question)
    truncated = finish == LENGTH or (finish in UNTOLD and looks_cut(text))
    return Form(not text.strip(), truncated, region.ran_on, region.thinking)


def looks_cut(text: str) -> bool:
    """Tell whether a text ends in the middle of a sentence or a step.

    A number at the end may be whole or not: it counts as whole. So do a few words behind a number
    ("570 employees") and an end in any punctuation.
    """
    tail = text[-TAIL:].rstrip()
    if not tail:
        return False
    if tail[-1] in OPEN_END:
        return not tail.endswith("**")
    if not tail[-1].isalpha():
        return False
    begin = 0
    for end in SENTENCE_END.finditer(tail):
        begin = end.end()
    digits = [found.end() for found in DIGIT.finditer(tail, begin)]
    words = len(WORD.findall(tail, digits[-1] if digits else begin))
    return words > LONGEST_UNIT or (not digits and begin > 0 and tail[begin - 1] == " ")


def is_refusal(region: Region) -> bool:
    """Tell whether a reply declines to answer."""
    start = region.start
    return REFUSAL.search(region.text, start, min(region.end, start + REFUSAL_WITHIN)) is not None


def is_code(text: str, region: Region) -> bool:
    """Tell whether a reply is a program without a word about its result."""
    if region.coded:
        return len(WORD.findall(region.text[region.start : region.end])) <= LONGEST_UNIT
    return len(CODE.findall(text, region.start, region.end)) > 1
