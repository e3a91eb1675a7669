"""Scorers that compare the last number, or the one behind a marker, as a number."""

from __future__ import annotations

from gradeschool.scoring.compiled.announced import last_answer_colon, last_the_answer_is
from gradeschool.scoring.compiled.case import (
    FEW_SHOT,
    MGSM,
    MULTI_PATTERN,
    NUMERIC_EQUALITY,
    OPENCOMPASS,
    Case,
    gold_of,
    tell,
    tell_word,
)
from gradeschool.scoring.compiled.hashes import hashed_class
from gradeschool.scoring.compiled.jit import Places, kernel
from gradeschool.scoring.compiled.letters import (
    BACKSLASH,
    BRACE,
    CLOSING,
    COMMA,
    DOLLAR,
    POINT,
    ZERO,
    before_spaces,
    is_digit,
    letters,
    past_spaces,
    stands,
)
from gradeschool.scoring.compiled.marks import (
    ANSWER_COLON,
    FIRST_ANSWER,
    FIRST_HASHES,
    FIRST_Q,
    FIRST_QUESTION,
    LAST_BOXED,
    LAST_CAPITAL,
)
from gradeschool.scoring.compiled.numbers import (
    ABOUT,
    ASK,
    NO_NUMBER,
    UNSURE,
    close,
    close_or_hundredfold,
    number_in,
)
from gradeschool.scoring.compiled.words import (
    BEGINS_WITH_COMMA,
    LONGEST_WORD,
    OPEN_POINT,
    WITH_COMMAS,
    WITH_MINUS,
    last_match,
    last_word_with_digit,
    without_commas,
    word_end,
    word_start,
)
from gradeschool.scoring.families import CORRECT, NO_ANSWER, WRONG

BOX = letters("\\boxed{")


@kernel
def last_number(buf: Places, start: int, end: int, allowed: int) -> tuple[int, int]:
    """Return the last number of a text, (-1, -1) without one, (-2, -2) where it is too long."""
    first, stop = last_word_with_digit(buf, start, end)
    if first < 0 or stop - first > LONGEST_WORD:
        return (-1, -1) if first < 0 else (-2, -2)
    return last_match(buf, first, stop, allowed)


@kernel
def numbers(case: Case) -> None:
    """Judge the scorers of this file."""
    _opencompass(case)
    _few_shot(case)
    _numeric_equality(case)
    _multi_pattern(case)
    _mgsm(case)


@kernel
def _opencompass(case: Case) -> None:
    gold = gold_of(case, OPENCOMPASS)
    if gold < 0:
        return
    question = case.marks[FIRST_QUESTION]
    end = case.end if question < 0 else question
    first, stop = last_number(case.buf, case.start, end, WITH_MINUS)
    if first == -1:
        tell(case, OPENCOMPASS, NO_ANSWER)
    elif first >= 0:
        kind, value = number_in(case.buf, first, stop, False)
        if kind != UNSURE:
            tell(case, OPENCOMPASS, close(kind, value, gold))


@kernel
def _few_shot(case: Case) -> None:
    gold = gold_of(case, FEW_SHOT)
    if gold < 0:
        return
    question = case.marks[FIRST_Q]
    end = case.end if question < 0 else question
    first, stop = last_number(case.buf, case.start, end, WITH_MINUS | OPEN_POINT)
    if first == -1:
        tell(case, FEW_SHOT, NO_ANSWER)
    elif first >= 0:
        kind, value = number_in(case.buf, first, stop, False)
        if kind != UNSURE:
            tell(case, FEW_SHOT, close_or_hundredfold(kind, value, gold))


@kernel
def _numeric_equality(case: Case) -> None:
    gold = gold_of(case, NUMERIC_EQUALITY)
    if gold < 0:
        return
    first = stop = -1
    if case.marks[ANSWER_COLON] > 0:
        first, stop = last_answer_colon(case.buf, case.marks[FIRST_ANSWER], case.end, True)
    if first < 0:
        allowed = WITH_MINUS | WITH_COMMAS | OPEN_POINT
        first, stop = last_number(case.buf, case.start, case.end, allowed)
    if first == -1:
        tell(case, NUMERIC_EQUALITY, NO_ANSWER)
    elif first >= 0:
        kind, value = number_in(case.buf, first, stop, True)
        if kind == ABOUT:
            tell(case, NUMERIC_EQUALITY, close(kind, value, gold))
        elif kind != UNSURE:
            tell(case, NUMERIC_EQUALITY, CORRECT if value == gold else WRONG)


@kernel
def without_points(buf: Places, start: int, end: int) -> int:
    """Return the end of a piece once its commas, then its last points are gone."""
    while end > start and (buf[end - 1] == POINT or buf[end - 1] == COMMA):
        end -= 1
    return end


@kernel
def _multi_pattern(case: Case) -> None:
    gold = gold_of(case, MULTI_PATTERN)
    if gold < 0:
        return
    buf, marks = case.buf, case.marks
    first = stop = -1
    if marks[FIRST_HASHES] >= 0:
        first, stop = hashed_class(buf, marks[FIRST_HASHES], case.end, True, True)
    if first < 0 and marks[LAST_BOXED] >= 0:
        first, stop = flat_box(buf, case.start, marks[LAST_BOXED] - 1, case.end)
        if first == -2:
            return
        if first >= 0:
            tell(case, MULTI_PATTERN, boxed_number(buf, first, stop, gold))
            return
    if first < 0 and marks[FIRST_ANSWER] >= 0:
        first, stop = last_the_answer_is(buf, case.start, marks[FIRST_ANSWER], case.end)
        if first < 0 and marks[ANSWER_COLON] > 0:
            first, stop = last_answer_colon(buf, marks[FIRST_ANSWER], case.end, False)
    if first < 0:
        first, stop = _last_with_comma(buf, case.start, case.end)
    if first == -1:
        tell(case, MULTI_PATTERN, NO_ANSWER)
    elif first >= 0:
        kind, value = number_in(buf, first, without_points(buf, first, stop), True)
        if kind != UNSURE:
            tell(case, MULTI_PATTERN, WRONG if kind == NO_NUMBER else close(kind, value, gold))


@kernel
def _last_with_comma(buf: Places, start: int, end: int) -> tuple[int, int]:
    r"""Return the last match of `-?[\d,]+\.?\d*`, which commas alone match too."""
    at = end
    while at > start and not (is_digit(buf[at - 1]) or buf[at - 1] == COMMA):
        at -= 1
    if at == start:
        return -1, -1
    first, stop = word_start(buf, start, at), word_end(buf, at, end)
    if stop - first > LONGEST_WORD:
        return -2, -2
    return last_match(buf, first, stop, WITH_MINUS | BEGINS_WITH_COMMA | OPEN_POINT)


@kernel
def flat_box(buf: Places, start: int, box: int, end: int) -> tuple[int, int]:
    r"""Return the last match of group 1 of `\\boxed\{([^}]+)\}`; box: where its backslash stands.

    (-2, -2) where that is not certain: the box is in one that was not closed, or empty, or open.
    """
    if not stands(buf, box, end, BOX) or box < start:
        return -2, -2
    before = box - 1
    while before >= start and buf[before] != CLOSING:
        if buf[before] == BACKSLASH and stands(buf, before, end, BOX):
            return -2, -2
        before -= 1
    first = stop = box + len(BOX)
    while stop < end and buf[stop] != CLOSING:
        stop += 1
    return (first, stop) if first < stop < end else (-2, -2)


@kernel
def boxed_number(buf: Places, first: int, stop: int, gold: int) -> int:
    """Compare what is in a box as `float` reads it without commas."""
    first = past_spaces(buf, first, stop)
    stop = before_spaces(buf, first, stop)
    for i in range(first, stop):
        if buf[i] == BACKSLASH or buf[i] == BRACE or buf[i] == DOLLAR:
            return WRONG  # no text with these is a number
    stop = without_points(buf, first, stop)
    if stop == first or buf[stop - 1] == COMMA or is_space_at_an_end(buf, first, stop):
        return ASK
    kind, value = number_in(buf, first, stop, True)
    if kind == UNSURE:
        return ASK
    return WRONG if kind == NO_NUMBER else close(kind, value, gold)


@kernel
def is_space_at_an_end(buf: Places, first: int, stop: int) -> bool:
    """Tell whether white space is left at an end once points or commas are gone."""
    return bool(buf[stop - 1] <= 32 or buf[first] == COMMA)


@kernel
def _mgsm(case: Case) -> None:
    group = case.group[MGSM]
    if group < 0:
        return
    if case.marks[LAST_CAPITAL] < 0:
        tell(case, MGSM, NO_ANSWER)
        return
    first, stop = last_word_with_digit(case.buf, case.marks[LAST_CAPITAL] + 6, case.end)
    if first < 0:
        tell(case, MGSM, NO_ANSWER)
        return
    if stop - first > LONGEST_WORD:
        return
    word = case.word
    size = without_commas(case.buf, first, stop, word)
    first, stop = last_match(word, 0, size, OPEN_POINT)
    while stop > first and word[stop - 1] == POINT:
        stop -= 1
    for i in range(first, stop):
        if word[i] == POINT:
            while word[stop - 1] == ZERO:
                stop -= 1
            stop -= word[stop - 1] == POINT
            break
    tell_word(case, MGSM, first, stop)
