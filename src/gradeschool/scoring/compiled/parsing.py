"""`gradeschool/parse-answer`: what stands behind markers, else the last number, read exactly.

The patterns are those of `answers/parse.py`; names in comments are its constants.
"""

from __future__ import annotations

from gradeschool.scoring.compiled.boxes import (
    NOT_AN_AMOUNT,
    amount,
    box_content,
    has_backslash,
    single_number,
)
from gradeschool.scoring.compiled.case import PARSE_ANSWER, Case, gold_of, tell
from gradeschool.scoring.compiled.jit import Places, kernel
from gradeschool.scoring.compiled.leading import MATCH, NONE, ended, lead_number
from gradeschool.scoring.compiled.letters import (
    BEYOND_ASCII,
    BRACE,
    CARET,
    CLOSING_BRACKET,
    COLON,
    COMMA,
    DOLLAR,
    MINUS,
    PLUS,
    POINT,
    STAR,
    before_spaces,
    is_digit,
    is_space,
    is_word,
    letters,
    line_start,
    stands,
    stands_in_any_case,
)
from gradeschool.scoring.compiled.marks import (
    ANSWER,
    ANSWER_COLON,
    FIRST_ANSWER,
    FIRST_HASHES,
    HASHES,
    LAST_BOLD,
    LAST_BOXED,
    RUN_ON,
    THOUGHT,
)
from gradeschool.scoring.compiled.numbers import ASK, NUMBER, number_in
from gradeschool.scoring.compiled.words import last_digit
from gradeschool.scoring.families import CORRECT, NO_ANSWER, WRONG

IS = letters("is")
MOST_SPACES, NEAR_DOLLAR = 20, 5


@kernel
def parse(case: Case) -> None:
    """Judge the scorer of this file."""
    gold = gold_of(case, PARSE_ANSWER)
    if gold >= 0 and case.marks[THOUGHT] < 0:
        tell(case, PARSE_ANSWER, _outcome(case, gold))


@kernel
def _outcome(case: Case, gold: int) -> int:
    buf, start, end, marks = case.buf, case.start, case.end, case.marks
    if marks[RUN_ON] >= 0:
        end = marks[RUN_ON]
    if 0 <= marks[FIRST_HASHES] < end:
        return _behind_hashes(buf, marks[FIRST_HASHES], end, gold)
    if marks[LAST_BOXED] >= 0:
        return _in_box(buf, start, marks[LAST_BOXED], end, gold)
    if 0 <= marks[FIRST_ANSWER] < end:
        code = _behind_answer(buf, start, marks[FIRST_ANSWER], end, gold, False)
        if code == NO_ANSWER and marks[ANSWER_COLON] > 0:
            code = _behind_answer(buf, start, marks[FIRST_ANSWER], end, gold, True)
        if code != NO_ANSWER:
            return code
    if marks[LAST_BOLD] >= line_start(buf, start, before_spaces(buf, start, end)):
        return ASK
    if last_digit(buf, start, end) < 0:
        return NO_ANSWER if marks[RUN_ON] < 0 else ASK
    return _last_number(buf, start, end, gold)


@kernel
def _compared(buf: Places, first: int, stop: int, gold: int, negative: bool) -> int:
    """Compare a number without a sign with the gold, within 1e-6 as exact numbers."""
    kind, value = number_in(buf, first, stop, True)
    if kind != NUMBER:
        return ASK
    difference = abs((-value if negative else value) - gold)
    if 0.9e-6 < difference < 1.1e-6:
        return ASK
    return CORRECT if difference < 1e-6 else WRONG


@kernel
def _behind_hashes(buf: Places, first: int, end: int, gold: int) -> int:
    """Read behind the last "####"; ASK where no plain number follows."""
    at = end - 4
    while at > first and not stands(buf, at, end, HASHES):
        at -= 1
    state, negative, number, stop = lead_number(buf, at + 4, end)
    if state != MATCH or not ended(buf, stop, end) or _may_be_item(buf, stop, end):
        return ASK
    return _compared(buf, number, stop, gold, negative)


@kernel
def _may_be_item(buf: Places, at: int, end: int) -> bool:
    """Tell whether ITEM may match at a place."""
    return (
        at + 1 < end
        and (buf[at] == POINT or buf[at] == CLOSING_BRACKET)
        and (is_space(buf[at + 1]) or buf[at + 1] == STAR)
    )


@kernel
def _in_box(buf: Places, start: int, boxed: int, end: int, gold: int) -> int:
    if boxed > end or not has_backslash(buf, boxed, start):
        return ASK
    first, stop = box_content(buf, boxed, end)
    if first < 0:
        return ASK
    kind, number, behind = amount(buf, first, stop)
    if kind == NOT_AN_AMOUNT:
        number, behind = single_number(buf, first, stop)
        return ASK if number < 0 else _compared(buf, number, behind, gold, False)
    negative = buf[number] == MINUS
    return _compared(buf, number + 1 if negative else number, behind, gold, negative)


@kernel
def _behind_answer(
    buf: Places, start: int, first: int, end: int, gold: int, with_colon: bool
) -> int:
    """Read behind the last "answer is" or "answer:" that a number follows; else NO_ANSWER."""
    at = end - 6
    while at >= first:
        if not stands_in_any_case(buf, at, end, ANSWER):
            at -= 1
            continue
        state, negative, number, stop = NONE, False, -1, -1
        if at > start and buf[at - 1] >= BEYOND_ASCII:
            return ASK
        if at == start or not is_word(buf[at - 1]):
            inside = _past_colon(buf, at + 6, end) if with_colon else _past_is(buf, at + 6, end)
            if inside == -2:
                return ASK
            if inside >= 0:
                state, negative, number, stop = lead_number(buf, inside, end)
        if state == MATCH:
            is_item = _may_be_item(buf, stop, end) and line_start(buf, start, number) > at
            if is_item or not ended(buf, stop, end):
                return ASK
            return _compared(buf, number, stop, gold, negative)
        if state != NONE:
            return ASK
        at -= 1
    return NO_ANSWER


@kernel
def _past_is(buf: Places, at: int, end: int) -> int:
    r"""Return where `\s{1,20}is` ends; -1 for no match, -2 where ANSWER_IS has more to say."""
    first = at
    while at < end and is_space(buf[at]):
        at += 1
    if at == first or at - first > MOST_SPACES or not stands_in_any_case(buf, at, end, IS):
        return -1
    inside = at = at + 2
    while at < end and is_space(buf[at]):
        at += 1
    # "equal to", "approximately", "about", "exactly"
    if at > inside and at < end and (buf[at] | 32 == 97 or buf[at] | 32 == 101):
        return -2
    return inside


@kernel
def _past_colon(buf: Places, at: int, end: int) -> int:
    r"""Return where `\s{0,20}(?:\*\*)?:` ends; -1 for no match."""
    first = at
    while at < end and is_space(buf[at]):
        at += 1
    if at - first > MOST_SPACES:
        return -1
    if at + 1 < end and buf[at] == STAR and buf[at + 1] == STAR:
        at += 2
    return at + 1 if at < end and buf[at] == COLON else -1


@kernel
def _last_number(buf: Places, start: int, end: int, gold: int) -> int:
    """Read the last LOOSE_NUMBER, from the last digit back."""
    stop = last_digit(buf, start, end) + 1
    first, points, commas = stop, 0, 0
    while first > start:
        char = buf[first - 1]
        if char == COMMA:
            commas += 1
        elif char == POINT:
            points += 1
            between = first - 2 >= start and is_digit(buf[first - 2]) and is_digit(buf[first])
            if commas > 0 or not between:
                return ASK
        elif not is_digit(char):
            break
        first -= 1
    while buf[first] == COMMA:
        first += 1
    if points > 1:
        return ASK
    sign = _sign_before(buf, start, first)
    return ASK if sign == 0 else _compared(buf, first, stop, gold, sign < 0)


@kernel
def _sign_before(buf: Places, start: int, first: int) -> int:
    """Return the sign of a number that begins at a place, 0 where it is not certain."""
    if first == start:
        return 1
    before = buf[first - 1]
    if before in (MINUS, PLUS):
        if first - 2 < start:
            return -1 if before == MINUS else 1
        earlier = buf[first - 2]
        if earlier >= BEYOND_ASCII or earlier in (CARET, BRACE, DOLLAR):
            return 0
        if is_word(earlier) or earlier in (CLOSING_BRACKET, POINT) or before == PLUS:
            return 1
        return -1
    if before in (BRACE, CARET):
        return 0
    at = first - 1
    while at > start and first - at < NEAR_DOLLAR + 1 and is_space(buf[at]):
        at -= 1
    if buf[at] >= BEYOND_ASCII:
        return 0
    if buf[at] == DOLLAR and at > start:
        earlier = buf[at - 1]
        return 0 if earlier >= BEYOND_ASCII or earlier in (MINUS, PLUS, CARET, BRACE) else 1
    return 1
