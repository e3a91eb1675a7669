"""Extractions that several harnesses share: "#### N", and the last number of a text."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from operator import methodcaller

from gradeschool.answers.search import (
    last_match,
    last_match_in_words,
    last_number_start,
    lowered,
    mentions_answer,
)
from gradeschool.problem import Problem
from gradeschool.protocols import MGSM
from gradeschool.scorer import ScorerFailure
from gradeschool.verdict import Answer, make_answer

# Applied once from left to right: "1,2,3" becomes "12,3".
COMMA = re.compile(r"(\d),(\d)")
LAST_NUMBER = "the last number"
# The pattern of the repository that released GSM8K, which other harnesses reuse.
MARKED = re.compile(r"#### (\-?[0-9\.\,]+)")
MARK, HASH = "#### ", "#"  # a search for one character takes a fifth of the time
Extract = Callable[[str, str], Answer | None]
without_commas: Callable[[str], str] = methodcaller("replace", ",", "")


def extraction(
    find: Callable[[str], re.Match[str] | None],
    how: str,
    clean: Callable[[str], str | None] = str,
    group: int = 1,
) -> Extract:
    """Return an extraction of a group of the match that `find` finds in a text.

    how: its description in an answer. clean: makes the value, None if the match is no answer.
    """

    def extract(text: str, reference: str = "") -> Answer | None:
        match = find(text)
        if match is None:
            return None
        value = clean(match[group])
        if value is None:
            return None
        return make_answer((match[group], value, match.span(group), how))

    return extract


def first_group(
    pattern: re.Pattern[str], how: str, needs: str = "", clean: Callable[[str], str] = str
) -> Extract:
    """Return an extraction of the first match of a pattern; needs: text that every match has."""
    return extraction(lambda text: pattern.search(text) if needs in text else None, how, clean)


def last_match_behind(
    literal: str, pattern: re.Pattern[str], text: str, any_case: bool = False
) -> re.Match[str] | None:
    """Return the last match of a pattern that begins with a literal and overlaps no other match.

    The same as `last_match`, but searched from the end. any_case: of the literal, in lower case.
    """
    searched, index = lowered(text) if any_case else text, len(text)
    while (index := searched.rfind(literal, 0, index)) >= 0:
        if match := pattern.match(text, index):
            return match
    return None


def last_group(
    pattern: re.Pattern[str], how: str, literal: str, clean: Callable[[str], str] = str
) -> Extract:
    """Return an extraction of the last match of a pattern that begins with a literal."""
    return extraction(partial(last_match_behind, literal, pattern), how, clean)


def last_number(
    pattern: re.Pattern[str], how: str = LAST_NUMBER, clean: Callable[[str], str | None] = str
) -> Extract:
    """Return an extraction of the last match of a pattern that matches no white space."""
    return extraction(partial(last_match_in_words, pattern), how, clean, 0)


# Without commas; a trailing period stays.
first_marked = first_group(MARKED, "the first '#### N'", HASH, without_commas)
last_marked = last_group(MARKED, "the last '#### N'", MARK, without_commas)


def whole_text(clean: Callable[[str], str] = str) -> Extract:
    """Return an extraction of the whole text without white space at its ends."""

    def extract(text: str, reference: str = "") -> Answer | None:
        value = text.strip()
        start = text.find(value)
        span = (start, start + len(value))
        return make_answer((value, clean(value), span, "the whole text")) if value else None

    return extract


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


def last_number_without_commas(pattern: re.Pattern[str]) -> Extract:
    """Return an extraction of the last match after commas between digits are removed.

    pattern: as for `last_number`. The span is that of the number as it is compared, None if the
    text contains it only with commas.
    """

    def extract(text: str, reference: str = "") -> Answer | None:
        match = None
        for start in (last_number_start(text), 0):
            tail = text[start:]
            match = last_match(pattern, COMMA.sub(r"\1\2", tail) if "," in tail else tail)
            if match is not None:
                break
        if match is None:
            return None
        number = match[0]
        start = text.rfind(number)
        span = None if start < 0 else (start, start + len(number))
        return make_answer((number, number, span, "the last number, commas removed"))

    return extract


def last_number_behind_labels(pattern: re.Pattern[str]) -> dict[str, Extract]:
    """Return an extraction of the last number after the last label, for each language of MGSM.

    Commas are removed, text between the two is ignored, and a period at the end of the number is
    removed.
    """

    def extract(label: str, text: str, reference: str = "") -> Answer | None:
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

    return {language: partial(extract, words["label"]) for language, words in MGSM.items()}


def gold_as_it_is(problem: Problem) -> str:
    """Return the gold."""
    return problem.gold


def gold_without_commas(problem: Problem) -> str:
    """Return the gold without thousands commas."""
    return problem.gold.replace(",", "")


def extracted_gold(extract: Extract, problem: Problem) -> str:
    """Return the number that an extraction finds in the gold, else the gold unchanged."""
    answer = extract(problem.gold, "")
    return problem.gold if answer is None else answer.value


def marked_gold(problem: Problem) -> str:
    """Return the first "#### N" of a solution without commas; raises ScorerFailure without one."""
    gold = first_marked(problem.solution, "")
    if gold is None:
        raise ScorerFailure("AssertionError: the solution has no '#### N'")
    return gold.value


def last_behind_answer(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last match of a pattern that begins with "answer" in any case and contains ":"."""
    if ":" not in text or not mentions_answer(text):
        return None
    return last_match_behind("answer", pattern, text, any_case=True)
