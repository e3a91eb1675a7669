r"""Explicit statements of an answer: `####`, a box, a tag, "the answer is", "Answer:", "A:"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from gradeschool.answers.closing import (
    OR,
    asked_alternative,
    has_equals,
    offered_together,
    skip_lead,
    stated_number,
)
from gradeschool.answers.quantities import WORD_NUMBER, WrittenNumber, quantity_at, word_quantities
from gradeschool.answers.question import QuestionHints

# So many occurrences of a marker are tried from the last one back; a text has a handful.
TRIES = 20
# A statement is read so far behind its marker.
REACH = 400
HASHES, BOX, TAG, TAG_END = "####", "boxed", "<answer>", "</answer>"
# "#### 1. Count the eggs" is a heading, "Answer:\n1. Count the eggs" a list: no answers.
ITEM = re.compile(r"[.)][ \t*]{1,4}[A-Za-z\d$\\(]")
# Matched at the second letter of "answer".
ANSWER = re.compile(
    r"(?i)nswers?\b[\"'*_`)\]]{0,4}(?P<words>[^\n.:=?!,;\d\\{}<>]{0,60}?)"
    r"(?P<verb>\b(?:is|are|was|equals|(?:would|should|must|will)\sbe|comes?\s(?:out\s)?to|becomes)"
    r"\b(?!\s(?:not|correct|incorrect|wrong|right)\b)"
    r"|(?=[*_\"'`\s:=→-])(?:[*_\"'`]{0,4}\s?(?::-(?=\s)|[:=→](?!=))|->|[*_]{0,3}[ \t]*\n))"
)
NO_VERBS = frozenset(["", ":", ":-", "=", "→", "->"])
# "To answer this, ..." announces none.
TO_ANSWER = re.compile(r"(?i)\b(?:to|can|cannot|not|we|will|must|should)\s{1,3}a$")
REVERSED = re.compile(r"\bis\s+(?:the|our|your|my)\s+(?:\w+\s){0,2}a$", re.I)
SHORT = re.compile(
    r"(?:^|[\s*(])(?:[Aa]ns|ANS|[Ff]inal [Rr]esult|[Rr]esult)[*.]{0,3}\s?[:=]"
    r"|(?<=orrect )(?:option|choice)\s(?:is\b|:)"
)
LINE_A = re.compile(r"(?:^|\n)[ \t>*]{0,4}A[*]{0,2}[ \t]?:")
LINE_B = re.compile(r"\n[ \t>*]{0,4}\(?B[*]{0,2}[ \t]?[.:)]")
OPTION = re.compile(r"\s{0,3}(?:option\s)?\(?[A-E](?:[).:,]\s?[-–:]?|\s[-–:=])\s?(?=[\d$])", re.I)
SENTENCE_END = re.compile(r"[.!?](?<!\bi\.e\.)(?=[\s\"'*)]|$)|\n")
MINUS_SIGN = re.compile(r"[-−–][ \t]?(?=\\?[$\d.(\\])|(?i:negative|minus)\s")
ARITHMETIC = re.compile(
    r"(?:\s?[A-Za-z%]{1,40}+){0,3}(?:\s?(?:[+*×÷^]|/(?=\s?\$?\d)|\\times|\\div|\\cdot|=|≈)"
    r"|\s?[−-]\s?(?=[\d$(])|\sx\s?(?=[\d$])|\s(?:times|plus|minus|divided\sby|multiplied\sby)\b)"
)
AMOUNTS_TO = re.compile(r"\bwhich is\b|\bequals\b|\bi\.e\.|\bthat is\b")


class Confidence(StrEnum):
    """How sure a reading is."""

    STATED = "stated"
    CONCLUDED = "concluded"
    GUESSED = "guessed"


class ExtractedAnswer(NamedTuple):
    """An answer that was read.

    value: in one form ("18", "-2.5", "8/3", "3:30"). start, end: the characters it was read from.
    how: in words, for people. confidence: an explicit statement, a conclusion, or the last number
    of a text that concludes nothing.
    """

    value: str
    start: int
    end: int
    how: str
    confidence: Confidence


def last_statement(text: str, start: int, end: int, hints: QuestionHints) -> ExtractedAnswer | None:
    """Return the last explicit statement of an answer in a piece of text, None without one."""
    last = None
    for find in (_behind_hashes, _in_box, _in_tag, _behind_answer, _behind_pattern):
        reading = find(text, start, end, hints)
        if reading is not None and (last is None or reading.start > last.start):
            last = reading
    return last


def _stated(number: WrittenNumber, how: str) -> ExtractedAnswer:
    return ExtractedAnswer(*number, how, Confidence.STATED)


def _places(text: str, marker: str, start: int, end: int) -> Iterator[int]:
    """Yield where a marker stands, from the last place back, a bounded number of them."""
    at = end
    for _ in range(TRIES):
        at = text.rfind(marker, start, at)
        if at < 0:
            return
        yield at


def _behind_hashes(text: str, start: int, end: int, hints: QuestionHints) -> ExtractedAnswer | None:
    for at in _places(text, HASHES, start, end):
        begin, stop = at + len(HASHES), min(end, at + REACH)
        line = text.find("\n", begin, stop)
        if line >= 0 and text[begin:line].strip(" #*"):  # else the number is on the next line
            stop = line
        number = _direct(text, begin, stop, hints)
        opens_line = at == 0 or text[at - 1] in "\n#"
        if number is not None and not (opens_line and ITEM.match(text, number.end, end)):
            return _stated(number, "behind the last '####'")
    return None


def _in_box(text: str, start: int, end: int, hints: QuestionHints) -> ExtractedAnswer | None:
    for marker in (BOX, "\\fbox"):
        for at in _places(text, marker, start, end):
            inside = at + len(marker)
            if text[inside : inside + 1] == "{":
                close = _closing_brace(text, inside + 1, min(end, inside + REACH))
                number = stated_number(text, inside + 1, close, hints)
            else:
                number = _direct(text, inside, min(end, inside + 40), hints)
            if number is not None:
                return _stated(number, "in the last box")
    return None


def _closing_brace(text: str, at: int, end: int) -> int:
    """Return where the brace that opened before `at` closes, else the end."""
    depth = 1
    for place in range(at, end):
        if text[place] == "{":
            depth += 1
        elif text[place] == "}":
            depth -= 1
            if depth == 0:
                return place
    return end


def _in_tag(text: str, start: int, end: int, hints: QuestionHints) -> ExtractedAnswer | None:
    at = text.rfind(TAG, start, end)
    if at < 0:
        return None
    stop = min(end, at + REACH)
    close = text.find(TAG_END, at, stop)
    number = stated_number(text, at + len(TAG), stop if close < 0 else close, hints)
    return None if number is None else _stated(number, "between <answer> tags")


def _behind_answer(text: str, start: int, end: int, hints: QuestionHints) -> ExtractedAnswer | None:
    last = None
    for marker in ("nswer", "NSWER"):
        for at in _places(text, marker, start, end):
            if last is not None and at < last.start:
                break
            reading = _said(text, at, start, end, hints)
            if reading is not None:
                last = reading
                break
    return last


def _said(text: str, at: int, start: int, end: int, hints: QuestionHints) -> ExtractedAnswer | None:
    """Return what "answer" at a place introduces, or closes ("18 is the answer")."""
    cue = ANSWER.match(text, at, end)
    if cue is None or TO_ANSWER.search(text[max(start, at - 12) : at + 1].removesuffix("n")):
        return _before_answer(text, at, start, hints)
    stop = min(end, cue.end() + REACH)
    option = OPTION.match(text, cue.end(), stop)
    begin = cue.end() if option is None else option.end()
    number = _direct(text, begin, stop, hints)
    if number is not None:
        opens_list = "\n" in text[at : number.start] and ITEM.match(text, number.end, end)
        return None if opens_list else _stated(number, "behind the last 'answer'")
    if cue["verb"].strip(" *_\"'`\t\n") in NO_VERBS:
        return _in_line(text, begin, end, hints)
    close = SENTENCE_END.search(text, begin, stop)
    number = stated_number(text, begin, stop if close is None else close.start(), hints)
    return None if number is None else _stated(number, "in the sentence of the last 'answer is'")


def _in_line(text: str, begin: int, end: int, hints: QuestionHints) -> ExtractedAnswer | None:
    """Read "Answer: Ann has 6 apples": one sentence, and no number after it."""
    stop = min(end, begin + REACH)
    words = begin + len(text[begin:stop]) - len(text[begin:stop].lstrip())
    close = SENTENCE_END.search(text, words, stop)
    sentence_end = stop if close is None else close.start()
    if any(character.isdecimal() for character in text[sentence_end : min(end, stop + REACH)]):
        return None
    number = stated_number(text, begin, sentence_end, hints)
    return None if number is None else _stated(number, "in the sentence behind 'answer:'")


def _before_answer(text: str, at: int, start: int, hints: QuestionHints) -> ExtractedAnswer | None:
    begin = max(start, at - 60)
    found = REVERSED.search(text[begin:at])
    if found is None:
        return None
    stop = begin + found.start()
    begin = max(begin, text.rfind(". ", begin, stop) + 1, text.rfind("\n", begin, stop) + 1)
    number = stated_number(text, begin, stop, hints)
    return None if number is None else _stated(number, "before 'is the answer'")


def _may_be_short(text: str) -> bool:
    """Tell cheaply whether `SHORT` may stand in a text."""
    return (
        "ans" in text
        or "Ans" in text
        or "ANS" in text
        or "esult" in text
        or "orrect option" in text
        or "orrect choice" in text
    )


def _behind_pattern(
    text: str, start: int, end: int, hints: QuestionHints
) -> ExtractedAnswer | None:
    """Read "Ans: 18", "Result = 18" and a line that begins with "A:", unless "B:" follows."""
    found = None
    if "A:" in text or "A :" in text or "A**:" in text:
        for found in LINE_A.finditer(text, start, end):  # noqa: B007
            pass
        if found is not None and LINE_B.search(text, found.end(), end):
            return None
    if found is None and _may_be_short(text):
        for found in SHORT.finditer(text, start, end):  # noqa: B007
            pass
    if found is None:
        return None
    option = OPTION.match(text, found.end(), end)
    begin = found.end() if option is None else option.end()
    number = _direct(text, begin, min(end, begin + REACH), hints)
    return None if number is None else _stated(number, f"behind {found.group().strip()!r}")


def _direct(text: str, at: int, end: int, hints: QuestionHints) -> WrittenNumber | None:
    """Return the number that stands right behind a marker, or the result of what begins there."""
    begin = skip_lead(text, at, end)
    sign = MINUS_SIGN.match(text, begin, end)
    number = quantity_at(text, begin, end)
    if number is None and sign and not (sign.group()[-1] == " " and "\n" in text[at:begin]):
        number = quantity_at(text, skip_lead(text, sign.end(), end), end)
        if number is not None and not number.value.startswith("-"):
            number = number._replace(value=f"-{number.value}", start=begin)
    elif number is None and sign:  # a list of one item
        number = quantity_at(text, skip_lead(text, sign.end(), end), end)
    if number is None:
        words = WORD_NUMBER.match(text, begin, end)
        return next(word_quantities(text, *words.span()), None) if words else None
    second = OR.match(text, number.end, end)
    other = None if second is None else quantity_at(text, second.end(), end)
    if other is not None:
        together = offered_together(text, [number, other])
        if len(together) == 1:
            return together[0]
    return _worked_out(text, number, end, hints)


def _worked_out(text: str, number: WrittenNumber, end: int, hints: QuestionHints) -> WrittenNumber:
    """Return a number, or where it begins an equation, its result."""
    if ARITHMETIC.match(text, number.end, end):
        close = SENTENCE_END.search(text, number.end, end)
        stop = end if close is None else close.start()
        if has_equals(text, number.end, stop) or AMOUNTS_TO.search(text, number.end, stop):
            return stated_number(text, number.start, stop, hints) or number
    return asked_alternative(text, number, min(end, number.end + 60), hints)
