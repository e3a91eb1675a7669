"""`lm-eval/hrm8k-gsm8k-en`: a box, else between "$", else behind "=", else a number."""

from __future__ import annotations

from gradeschool.scoring.compiled.boxes import box_content, has_backslash
from gradeschool.scoring.compiled.case import HRM8K, Case, gold_of, tell
from gradeschool.scoring.compiled.jit import Places, kernel
from gradeschool.scoring.compiled.letters import (
    BACKSLASH,
    BEYOND_ASCII,
    DOLLAR,
    EQUALS,
    NEW_LINE,
    POINT,
    SPACE,
    TAB,
    is_digit,
    is_word,
    line_start,
)
from gradeschool.scoring.compiled.marks import DOLLARS, LAST_BOXED, LAST_DOLLAR, LAST_EQUALS
from gradeschool.scoring.compiled.numbers import (
    ABOUT,
    ASK,
    MIGHT_SPELL,
    NUMBER,
    UNSURE,
    close,
    number_in,
)
from gradeschool.scoring.compiled.words import last_word_with_digit
from gradeschool.scoring.families import CORRECT, NO_ANSWER, WRONG

LONGEST, PERCENT = 2000, 37


@kernel
def hendrycks(case: Case) -> None:
    """Judge the scorer of this file."""
    gold = gold_of(case, HRM8K)
    if gold < 0:
        return
    tell(case, HRM8K, _outcome(case, gold))


@kernel
def _outcome(case: Case, gold: int) -> int:
    buf, start, end, marks = case.buf, case.start, case.end, case.marks
    boxed = marks[LAST_BOXED]
    if boxed >= 0:
        first, stop = box_content(buf, boxed, end)
        if first < 0 or not has_backslash(buf, boxed, start):
            return ASK
        first = _behind_equals(buf, first, stop)
        if stop - first > 1 and buf[first] == BACKSLASH and buf[first + 1] == DOLLAR:
            first += 2
        if stop - first > 1 and buf[stop - 2] == BACKSLASH and buf[stop - 1] == PERCENT:
            stop -= 2
        return _piece(buf, first, stop, gold, case.word)
    if marks[DOLLARS] > 1:
        first, stop = _between_dollars(buf, start, marks[LAST_DOLLAR])
        if first >= 0:
            first = _behind_equals(buf, first, stop)
            if stop > first:
                return _piece(buf, first, stop, gold, case.word)
    if marks[LAST_EQUALS] >= 0:
        first, stop = marks[LAST_EQUALS] + 1, end
        while first < stop and buf[first] == SPACE:
            first += 1
        while stop > first and buf[stop - 1] == POINT:
            stop -= 1
        return _piece(buf, first, stop, gold, case.word)
    return _last_number(buf, start, end, gold)


@kernel
def _behind_equals(buf: Places, first: int, stop: int) -> int:
    """Return where what stands behind the last "=" begins, without spaces; else the start."""
    at = stop - 1
    while at >= first and buf[at] != EQUALS:
        at -= 1
    if at < first:
        return first
    at += 1
    while at < stop and buf[at] == SPACE:
        at += 1
    return at


@kernel
def _between_dollars(buf: Places, start: int, last: int) -> tuple[int, int]:
    """Return what stands between the outer "$" of the last line with two; -1 without one."""
    while last >= start:
        line = line_start(buf, start, last)
        first = line
        while buf[first] != DOLLAR:
            first += 1
        if first < last:
            return first + 1, last
        last = line - 1
        while last >= start and buf[last] != DOLLAR:
            last -= 1
    return -1, -1


@kernel
def _piece(buf: Places, first: int, stop: int, gold: int, word: Places) -> int:
    r"""Compare a piece without "=" in Hendrycks' form, as a number.

    Without a backslash nothing is removed from it but spaces, line breaks and the "t" or "d" of
    "tfrac", "dfrac": a character that stands in no number stays.
    """
    hard, soft, size = False, stop - first > LONGEST, 0
    for i in range(first, stop):
        char = buf[i]
        if char == BACKSLASH:
            return ASK
        if char in (SPACE, NEW_LINE):
            continue
        if char == TAB or MIGHT_SPELL[char]:
            soft = True
        elif not (is_digit(char) or char == POINT or char == 43 or char == 45):
            hard = True
        soft |= char == POINT and (i == first or buf[i - 1] <= SPACE)
        if not (hard or soft):
            word[size] = char
            size += 1
    if hard:
        return WRONG
    if soft:
        return ASK
    kind, value = number_in(word, 0, size, False)
    if kind == UNSURE:
        return ASK
    if kind == ABOUT:
        return close(kind, value, gold)
    return CORRECT if kind == NUMBER and value == gold else WRONG


@kernel
def _last_number(buf: Places, start: int, end: int, gold: int) -> int:
    r"""Compare the last match of `\$?\d+(?:\.\d+)?(?![\w\d])`; ASK if the last word has none."""
    at, stop = last_word_with_digit(buf, start, end)
    if at < 0:
        return NO_ANSWER
    first = behind = -1
    while at < stop:
        if not is_digit(buf[at]):
            at += 1
            continue
        run = at
        while at < stop and is_digit(buf[at]):
            at += 1
        decimals = at
        if at + 1 < stop and buf[at] == POINT and is_digit(buf[at + 1]):
            decimals = at + 1
            while decimals < stop and is_digit(buf[decimals]):
                decimals += 1
        if decimals < stop and buf[decimals] >= BEYOND_ASCII:
            return ASK
        if decimals == stop or not is_word(buf[decimals]):
            first, behind = run, decimals
            at = decimals
        elif decimals > at:
            first, behind = run, at
    if first < 0:
        return ASK
    if first > start and buf[first - 1] == DOLLAR:
        return WRONG  # the sign stays, and no text with it is a number
    kind, value = number_in(buf, first, behind, False)
    if kind == UNSURE:
        return ASK
    if kind == ABOUT:
        return close(kind, value, gold)
    return CORRECT if value == gold else WRONG
