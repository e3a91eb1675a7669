"""`deepseek-math/zero-shot` and `opencompass/gsm8k-0shot-v2`: a box, or what is announced."""

from __future__ import annotations

from gradeschool.scoring.compiled.boxes import NOT_AN_AMOUNT, amount, box_content, has_backslash
from gradeschool.scoring.compiled.case import (
    OPENCOMPASS_V2,
    ZERO_SHOT,
    Case,
    gold_of,
    tell,
)
from gradeschool.scoring.compiled.jit import Places, kernel
from gradeschool.scoring.compiled.letters import (
    BACKSLASH,
    BRACE,
    COLON,
    DOLLAR,
    EQUALS,
    MINUS,
    POINT,
    SLASH,
    ZERO,
    is_digit,
    letters,
    line_end,
    past_spaces,
    stands,
    table_of,
)
from gradeschool.scoring.compiled.marks import (
    DOLLARS,
    FINAL,
    FIRST_ANSWER_IS,
    LAST_BACKSLASH,
    LAST_BOXED,
    LAST_BRACE,
    LAST_HE,
    OUTPUT,
)
from gradeschool.scoring.compiled.numbers import (
    ASK,
    NO_NUMBER,
    UNSURE,
    close_or_hundredfold,
    equal_as_is,
    equal_to,
    number_in,
)
from gradeschool.scoring.compiled.words import (
    BARE_POINT,
    LONGEST_WORD,
    WITH_MINUS,
    last_match,
    last_word_with_digit,
    without_commas,
)
from gradeschool.scoring.families import NO_ANSWER, WRONG

PERCENT = 37
ANSWER_IS_SPACE = letters("answer is ")
# See `opencompass.zero_shot`: characters that stay in every form; behind a "w"; that end a form.
STAYING = table_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZvz()+*")
LASTING = table_of("ABCDEFGHIJKLMNOPQRSTUVWXYZjvxz()+*")
BEHIND_W = table_of(' swidmfhkupcge"\n\r\f')
BEHIND_WA = table_of(" an")
SHORT_NAME = 3


@kernel
def zero_shot(case: Case) -> None:
    """Judge the two scorers of this file."""
    gold = gold_of(case, ZERO_SHOT)
    if gold >= 0:
        tell(case, ZERO_SHOT, _deepseek(case, gold))
    if gold_of(case, OPENCOMPASS_V2) >= 0:
        tell(case, OPENCOMPASS_V2, _opencompass(case))


@kernel
def _deepseek(case: Case, gold: int) -> int:
    buf, end, marks = case.buf, case.end, case.marks
    if marks[FINAL] > 0 and marks[DOLLARS] > 0:
        return ASK  # "final answer is $"
    if marks[LAST_BOXED] >= 0:
        first, stop = box_content(buf, marks[LAST_BOXED], end)
        if first < 0 or (stop + 1 < end and buf[stop + 1] == PERCENT):
            return ASK
        return _amount_in_line(buf, first, stop, gold)
    if marks[LAST_HE] >= 0:
        return _amount_in_line(buf, marks[LAST_HE] + len("he answer is"), end, gold)
    if marks[OUTPUT] >= 0:
        return ASK
    first, stop = last_word_with_digit(buf, case.start, end)
    if first < 0:
        return NO_ANSWER
    if stop - first > LONGEST_WORD:
        return ASK
    size = without_commas(buf, first, stop, case.word)
    first, stop = last_match(case.word, 0, size, WITH_MINUS | BARE_POINT)
    kind, value = number_in(case.word, first, stop, False)
    return ASK if kind == UNSURE else close_or_hundredfold(kind, value, gold)


@kernel
def _amount_in_line(buf: Places, first: int, stop: int, gold: int) -> int:
    """Compare the amount on the first line of a piece; ASK if there is more than an amount."""
    first = past_spaces(buf, first, stop)
    stop = line_end(buf, first, stop)
    while first < stop and buf[first] == COLON:
        first += 1
    if stop > first and buf[stop - 1] == SLASH:
        return ASK
    kind, first, stop = amount(buf, first, stop)
    if kind == NOT_AN_AMOUNT:
        return ASK
    spelled, value = number_in(buf, first, stop, True)
    if spelled in (NO_NUMBER, UNSURE):
        return ASK
    return close_or_hundredfold(spelled, value, gold)


@kernel
def _opencompass(case: Case) -> int:
    buf, start, end = case.buf, case.start, case.end
    group, boxed = case.group[OPENCOMPASS_V2], case.marks[LAST_BOXED]
    place, size = case.places[group], case.sizes[group]
    if boxed >= 0:
        first, stop = box_content(buf, boxed, end)
        if first < 0 or not has_backslash(buf, boxed, start):
            return ASK
        return _as_latex(buf, first, stop, case.refs, place, size)
    first, at = start, case.marks[FIRST_ANSWER_IS]
    if at >= 0:
        first = at
        while first > start and buf[first - 1] != POINT:
            first -= 1
    stop = first
    while stop < end and buf[stop] != POINT:
        stop += 1
    if max(case.marks[LAST_BACKSLASH], case.marks[LAST_BRACE]) >= first:
        for i in range(first, stop):
            if buf[i] == BACKSLASH or buf[i] == BRACE:
                return ASK
    number = _announced_integer(buf, first, stop)
    if number >= 0:
        return equal_as_is(buf, number, stop, case.refs, place, size)
    dollars = 0
    if case.marks[DOLLARS] > 1:
        for i in range(first, stop):
            dollars += buf[i] == DOLLAR
    return _differs(buf, first, stop, dollars, case.refs, place, size)


@kernel
def _as_latex(buf: Places, first: int, stop: int, refs: Places, place: int, size: int) -> int:
    """Compare the amount in a box with digits; zero decimals, commas and "$" do not count."""
    kind, first, stop = amount(buf, first, stop)
    if kind == NOT_AN_AMOUNT:
        return ASK
    point = first
    while point < stop and buf[point] != POINT:
        point += 1
    for i in range(point + 1, stop):
        if buf[i] != ZERO:
            return WRONG
    return equal_to(buf, first, point, refs, place, size, False)


@kernel
def _announced_integer(buf: Places, first: int, stop: int) -> int:
    r"""Return where the number of `[^\\${.]*answer is (-?[0-9]+)` begins; -1 for no match."""
    at = stop
    while at > first and is_digit(buf[at - 1]):
        at -= 1
    if at in (stop, first):
        return -1
    if buf[at - 1] == MINUS:
        at -= 1
    if at - 10 < first or not stands(buf, at - 10, stop, ANSWER_IS_SPACE):
        return -1
    words = 0
    for i in range(first, stop):
        words += buf[i] == 119
        if buf[i] == DOLLAR:
            return -1
    return at if words == 1 else -1


@kernel
def _last_w(buf: Places, first: int, stop: int) -> int:
    r"""Return the last match of `w(?:[ swidmfhkupcge\"\n\r\f]|a[ an]|\Z)`, -1 for none."""
    found, at = -1, first
    while at < stop:
        if buf[at] != 119:
            at += 1
        elif at + 1 == stop:
            found = at
            at += 1
        elif BEHIND_W[buf[at + 1]]:
            found = at
            at += 2
        elif at + 2 < stop and buf[at + 1] == 97 and BEHIND_WA[buf[at + 2]]:
            found = at
            at += 3
        else:
            at += 1
    return found


@kernel
def _cut(buf: Places, first: int, stop: int) -> int:
    """Return what `_last_w` does, from the end."""
    at = stop - 1
    while at >= first:
        if buf[at] == 119 and (
            at + 1 == stop
            or BEHIND_W[buf[at + 1]]
            or (at + 2 < stop and buf[at + 1] == 97 and BEHIND_WA[buf[at + 2]])
        ):
            return _last_w(buf, first, stop) if at > first and buf[at - 1] == 119 else at
        at -= 1
    return -1


@kernel
def _differs(
    buf: Places, first: int, stop: int, dollars: int, refs: Places, place: int, size: int
) -> int:
    """Return WRONG where the forms of a piece are not the gold's digits, else ASK."""
    cut = _cut(buf, first, stop)
    if dollars > 1:
        if cut >= 0:
            return ASK
        first, stop = _between(buf, first, stop, dollars // 2 * 2 - 1)
    kept = _value_of_name(buf, max(first, cut + 1), stop)
    left, at, lasting = size, stop - 1, False
    while at >= kept:
        lasting |= LASTING[buf[at]] != 0
        if is_digit(buf[at]):
            left -= 1
            if left < 0 or refs[place + left] != buf[at]:
                return WRONG
        at -= 1
    if left < size or not lasting:
        return ASK
    for i in range(first, kept):
        if is_digit(buf[i]):
            return ASK
    return WRONG


@kernel
def _between(buf: Places, first: int, stop: int, number: int) -> tuple[int, int]:
    """Return the part of a piece behind its "$" of a number, up to the next one."""
    at = first
    while number > 0:
        number -= buf[at] == DOLLAR
        at += 1
    end = at
    while end < stop and buf[end] != DOLLAR:
        end += 1
    return at, end


@kernel
def _value_of_name(buf: Places, first: int, stop: int) -> int:
    """Return where a piece goes on behind its only "=", if what stands before may be cut off."""
    equals, at, staying = 0, first, 0
    for i in range(first, stop):
        if buf[i] == EQUALS:
            equals += 1
            at = i + 1
        elif equals == 0:
            staying += STAYING[buf[i]]
    return at if equals == 1 and staying < SHORT_NAME else first
