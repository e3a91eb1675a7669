"""Extractions that several harnesses share: "#### N", and the last number of a text.

Patterns of numbers match digits and a few signs, so their last match is in one run of these. That
run is found once for all scorers of a text, and the matches of a pattern in it are remembered,
since a dataset has few different answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import NamedTuple

from gradeschool.answers.parse import lowered, mentions_answer
from gradeschool.answers.search import (
    END,
    GROWTH,
    NO_DIGITS,
    NO_NUMBER,
    last_match,
    last_match_behind,
    last_number_start,
)
from gradeschool.answers.shared import LONGEST_WORD, remembered, shared
from gradeschool.problem import Problem
from gradeschool.scorer import ScorerFailure
from gradeschool.verdict import Answer, answer_of

SIGNS = "0123456789.,$+-eE"  # all that number patterns match, except digits of other scripts
SIGNS_AND_LETTER = re.compile(r"[.,$+\-]*\w?")
SEVERAL_SIGNS = re.compile(r",|[.$]{2}|-\.")
DIGIT = re.compile(r"[0-9]")
# Applied once from left to right: "1,2,3" becomes "12,3".
COMMA = re.compile(r"(\d),(\d)")
LAST_NUMBER = "the last number"
# The pattern of the repository that released GSM8K, which other harnesses reuse.
MARKED = re.compile(r"#### (\-?[0-9\.\,]+)")
MARK, HASH = "#### ", "#"  # a search for one character takes a fifth of the time
Extract = Callable[[str, str], Answer | None]


def first_marked(text: str, reference: str = "") -> Answer | None:
    """Extract the first "#### N" without commas; a trailing period stays."""
    match = MARKED.search(text) if HASH in text else None
    if match is None:
        return None
    number = match[1]
    return Answer(number, number.replace(",", ""), match.span(1), "the first '#### N'")


def last_marked(text: str, reference: str = "") -> Answer | None:
    """Extract the last "#### N" without commas; a trailing period stays."""
    match = last_match_behind(MARK, MARKED, text) if HASH in text else None
    if match is None:
        return None
    number = match[1]
    return Answer(number, number.replace(",", ""), match.span(1), "the last '#### N'")


class DigitRun(NamedTuple):
    """Adjacent digits and signs, possibly with other characters between them, and their start."""

    text: str
    start: int


NO_RUN = DigitRun("", 0)
run_of: Callable[[tuple[str, int]], DigitRun] = partial(tuple.__new__, DigitRun)


class Number(NamedTuple):
    """A number in a run: the match of the pattern, the value that is compared, and its place."""

    text: str
    value: str | None
    start: int
    end: int


@remembered
def normalized(number: str) -> str:
    """Return a number without commas, trailing periods and zero decimals, by way of a float.

    Raises ScorerFailure past the range of floats, where the published code overflows.
    """
    cleaned = number.strip().replace(",", "").rstrip(".")
    try:
        value = float(cleaned)
        return str(int(value)) if value == int(value) else cleaned
    except OverflowError as error:
        raise ScorerFailure(f"OverflowError: {error}") from error
    except ValueError:
        return cleaned


def normalized_gold(problem: Problem) -> str:
    """Return the gold, normalised."""
    return normalized(problem.gold)


@shared
def last_run(text: str) -> DigitRun | None:
    """Return the last run of `SIGNS` with a digit, if the last match of every pattern is in it.

    It ends with the signs and a letter behind its last digit, so that few runs differ. None if it
    is long, is next to another script, or is followed by something that may match as a number (a
    comma, "..", "-."): then the text itself must be searched. Shared by all scorers of a text.
    """
    tail = text[-END:]  # most runs begin there
    while True:
        end = len(tail.rstrip(NO_NUMBER))
        rest = tail[end:].lstrip(".+-")
        digits_end = len(tail[:end].rstrip(NO_DIGITS))
        start = len(tail[:digits_end].rstrip(SIGNS))
        if start or len(tail) == len(text):
            break
        tail = text
    behind = tail[digits_end : len(tail) - len(rest) + 1]
    run = tail[start : digits_end + _telling(behind)]
    if ".." in rest or "-." in rest or not (tail[start - 1 : start].isascii() and _is_word(run)):
        return None
    return run_of((run, len(text) - len(tail) + start))


@remembered
def _telling(behind: str) -> int:
    """Return how many of the characters behind the last digit may change what patterns match."""
    signs = SIGNS_AND_LETTER.match(behind)
    length = 0 if signs is None else signs.end()
    is_all = not behind.isascii() or SEVERAL_SIGNS.search(behind, length) is not None
    return len(behind) if is_all else length


@remembered
def _is_word(run: str) -> bool:
    return (
        len(run) <= LONGEST_WORD
        and run.isascii()
        and DIGIT.search(run) is not None
        and len(run.split()) == 1
    )


def last_number(
    pattern: re.Pattern[str], how: str = LAST_NUMBER, clean: Callable[[str], str | None] = str
) -> Extract:
    """Return an extraction of the last match of a pattern.

    pattern: matches only `SIGNS`, looks at most whether a letter follows, and every match contains
    a digit, a comma or two adjacent signs. how: its description in an answer. clean: makes
    the value of a match, None if the match is no answer after all.
    """

    def number_of(match: re.Match[str] | None) -> Number | None:
        return None if match is None else Number(match[0], clean(match[0]), *match.span())

    @remembered
    def in_run(run: str) -> Number | None:
        return number_of(last_match(pattern, run))

    def extract(text: str, reference: str = "") -> Answer | None:
        run, offset = last_run(text) or NO_RUN
        number = in_run(run)
        if number is None:
            number, offset = number_of(last_match_in_words(pattern, text)), 0
            if number is None:
                return None
        shown, value, start, end = number
        if value is None:
            return None
        return answer_of((shown, value, (offset + start, offset + end), how))

    return extract


def last_number_without_commas(pattern: re.Pattern[str]) -> Extract:
    """Return an extraction of the last match after commas between digits are removed.

    pattern: as for `last_number`. The span is that of the number as it is compared, None if the
    text contains it only with commas.
    """

    @remembered
    def in_run(run: str) -> str | None:
        match = last_match(pattern, COMMA.sub(r"\1\2", run))
        return None if match is None else match[0]

    def extract(text: str, reference: str = "") -> Answer | None:
        number = in_run((last_run(text) or NO_RUN).text)
        if number is None and (number := _without_commas(pattern, text)) is None:
            return None
        start = text.rfind(number)
        span = None if start < 0 else (start, start + len(number))
        return answer_of((number, number, span, "the last number, commas removed"))

    return extract


def last_number_behind(pattern: re.Pattern[str], label: str) -> Extract:
    """Return an extraction of the last number after the last such label, commas removed.

    Text between the two is ignored; a period at the end of the number is removed.
    """

    def extract(text: str, reference: str = "") -> Answer | None:
        start = text.rfind(label) if label[0] in text else -1
        if start < 0:
            return None
        match = last_match(pattern, text[start + len(label) :].replace(",", ""))
        if match is None:
            return None
        number = match.group().rstrip(".")
        place = text.rfind(number)  # -1 for a number written with a comma
        span = (place, place + len(number)) if place > start else None
        return Answer(number, number, span, f"the last number after the last {label!r}")

    return extract


def gold_without_commas(problem: Problem) -> str:
    """Return the gold without thousands commas."""
    return problem.gold.replace(",", "")


def extracted_gold(extract: Extract, problem: Problem) -> str:
    """Return the number that an extraction finds in the gold, else the gold unchanged."""
    answer = extract(problem.gold, "")
    return problem.gold if answer is None else answer.value


def marked_gold(problem: Problem) -> str:
    """Return the first "#### N" of a solution without commas; raises ScorerFailure without one."""
    gold = first_marked(problem.solution)
    if gold is None:
        raise ScorerFailure("AssertionError: the solution has no '#### N'")
    return gold.value


def last_behind_answer(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last match of a pattern that begins with "answer" in any case and contains ":"."""
    if ":" not in text or not mentions_answer(text):
        return None
    lower, index = lowered(text), len(text)
    while (index := lower.rfind("answer", 0, index)) >= 0:
        if match := pattern.match(text, index):
            return match
    return None


def last_match_in_words(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the same as `last_match`, for a pattern that matches no space and no line break."""
    for start in chain((last_number_start(text),), ends(text)):
        last = None
        for last in pattern.finditer(text, start):  # noqa: B007  (the loop is for its last value)
            pass
        if last is not None:
            return last
    return None


def _without_commas(pattern: re.Pattern[str], text: str) -> str | None:
    r"""Return the last match after `COMMA` is replaced by `\1\2`; no match contains white space.

    The searched text is the text between the matches, joined with their groups.
    """
    for start in chain((last_number_start(text),), ends(text)):
        end = text[start:] if start else text
        match = last_match(pattern, "".join(COMMA.split(end)) if "," in end else end)
        if match is not None:
            return match.group()
    return None


def ends(text: str) -> Iterator[int]:
    """Yield the starts of longer and longer ends of a text, each at a space or line break; last 0.

    A pattern that matches neither finds the same in an end as at that place in the whole text, so
    the last match of all is in the first end that contains one. All ends together are linear.
    """
    length = END
    while length < len(text):
        limit = len(text) - length
        start = max(text.rfind(" ", 0, limit), text.rfind("\n", 0, limit))
        if start <= 0:
            break
        yield start
        length = GROWTH * (len(text) - start)
    yield 0
