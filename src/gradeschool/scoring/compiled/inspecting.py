"""The scorers of inspect_ai: the last word that is a number."""

from __future__ import annotations

import string

from gradeschool.scoring.compiled.boxes import BOX
from gradeschool.scoring.compiled.case import (
    AIME,
    INSPECT_220,
    WITH_COMMAS,
    Case,
    gold_of,
    tell,
)
from gradeschool.scoring.compiled.jit import Places, kernel
from gradeschool.scoring.compiled.letters import (
    BACKSLASH,
    BEYOND_ASCII,
    CLOSING,
    COMMA,
    DOLLAR,
    HASH,
    MINUS,
    PLUS,
    POINT,
    STAR,
    before_spaces,
    is_digit,
    is_space,
    line_start,
    next_word,
    table_of,
)
from gradeschool.scoring.compiled.numbers import (
    ASK,
    NO_NUMBER,
    NUMBER,
    UNSURE,
    ends_with_gold,
    equal_as_is,
    equal_in_five_digits,
    number_in,
)
from gradeschool.scoring.families import CORRECT, NO_ANSWER, WRONG

LONGEST_LINE = 3000
# What a version does to a word: 0.3.253 takes a backslash before "$,*_" off, 0.3.261 punctuation
# at the ends; up to 0.3.220 a word must be digits and points.
DIGITS_ALONE, AS_IT_IS, UNESCAPED, TRIMMED = range(4)
# `[A-DF-Za-df-z/<=>%^&|~#@]`: ASCII words with one of these are no numbers.
SPOILS = table_of("ABCDFGHIJKLMNOPQRSTUVWXYZabcdfghijklmnopqrstuvwxyz/<=>%^&|~#@")
PUNCTUATION = table_of(string.whitespace + string.punctuation)
DROPPED = table_of("$,*_")
AT_ENDS = table_of("!?:;()[]{}'\"`")


@kernel
def inspect(case: Case) -> None:
    """Judge the four versions of `match(numeric=True)`, and inspect_evals' AIME scorer.

    The versions are asked about each word from the end until they have found a number.
    """
    waiting = 0
    for version in range(4):
        if gold_of(case, INSPECT_220 + version) >= 0:
            waiting |= 1 << version
    at = case.end
    while waiting:
        state, at, stop = word_before(case.buf, case.start, at)
        if state == UNSURE:
            break
        for version in range(4):
            if waiting >> version & 1 and _told(case, version, state, at, stop):
                waiting ^= 1 << version
    if case.group[INSPECT_220] >= 0 and case.golds[case.group[INSPECT_220]] == WITH_COMMAS:
        tell(case, INSPECT_220, _by_its_end(case))
    _aime(case)


@kernel
def _told(case: Case, version: int, state: int, at: int, stop: int) -> bool:
    """Tell a version's code if a word is a number for it, or if there is no word left."""
    scorer = INSPECT_220 + version
    gold = int(case.golds[case.group[scorer]])
    if state == NO_NUMBER:
        tell(case, scorer, _last_word(case, gold) if version == DIGITS_ALONE else NO_ANSWER)
        return True
    kind, value = _word_number(case.buf, at, stop, version, case.word)
    if kind == NO_NUMBER:
        return False
    if kind != UNSURE:
        code = ends_with_gold(kind, value, gold)
        if version != DIGITS_ALONE:
            code = equal_in_five_digits(kind, value, gold)
        tell(case, scorer, code)
    return True


@kernel
def _by_its_end(case: Case) -> int:
    """Tell whether the text ends with a gold that holds a comma, punctuation left out."""
    buf, group, at = case.buf, case.group[INSPECT_220], case.end
    while at > case.start and PUNCTUATION[buf[at - 1]]:
        at -= 1
    first = at - case.sizes[group]
    if at == case.start or buf[at - 1] >= BEYOND_ASCII:
        return ASK
    if first < case.start:
        return WRONG
    return equal_as_is(buf, first, at, case.refs, case.places[group], case.sizes[group])


@kernel
def _last_word(case: Case, gold: int) -> int:
    """Tell whether the last word ends with the gold, currency and the like left out."""
    buf, group = case.buf, case.group[INSPECT_220]
    at = before_spaces(buf, case.start, case.end)
    left = case.sizes[group]
    if at == case.start or gold >= 100_000:
        return ASK
    while at > case.start and not is_space(buf[at - 1]):
        at -= 1
        char = buf[at]
        if char >= BEYOND_ASCII or char == POINT:
            return ASK
        if DROPPED[char]:
            continue
        left -= 1
        if char != case.refs[case.places[group] + left]:
            return WRONG
        if left == 0:
            return CORRECT
    return ASK


@kernel
def word_before(buf: Places, start: int, at: int) -> tuple[int, int, int]:
    """Return NUMBER, first and end of the last word before a place that may be a number.

    NO_NUMBER if there is none, UNSURE if a word on the way is not ASCII or too long.
    """
    while True:
        while at > start and is_space(buf[at - 1]):
            at -= 1
        if at <= start:
            return NO_NUMBER, start, start
        stop = at
        spoilt, digits, beyond = False, False, False
        while at > start and not is_space(buf[at - 1]):
            at -= 1
            char = buf[at]
            beyond |= char >= BEYOND_ASCII
            spoilt |= SPOILS[char] != 0
            digits |= is_digit(char)
        if beyond or stop - at > LONGEST_LINE:
            return UNSURE, at, stop
        if digits and not spoilt:
            return NUMBER, at, stop


@kernel
def last_number_word(
    buf: Places, start: int, end: int, version: int, out: Places
) -> tuple[int, float]:
    """Return the number that the last word that is one spells; NO_NUMBER without one."""
    at = end
    while True:
        state, at, stop = word_before(buf, start, at)
        if state != NUMBER:
            return state, 0.0
        kind, value = _word_number(buf, at, stop, version, out)
        if kind != NO_NUMBER:
            return kind, value


@kernel
def _word_number(
    buf: Places, start: int, stop: int, version: int, out: Places
) -> tuple[int, float]:
    """Return the number of an ASCII word with a digit and nothing that spoils it."""
    size = 0
    for i in range(start, stop):
        char = buf[i]
        if DROPPED[char]:
            continue
        if char == BACKSLASH and version >= UNESCAPED and i + 1 < stop and DROPPED[buf[i + 1]]:
            continue
        out[size] = char
        size += 1
    kept = 0
    for i in range(size):
        if out[i] == POINT and (i + 1 >= size or not is_digit(out[i + 1])):
            continue
        out[kept] = out[i]
        kept += 1
    if version == DIGITS_ALONE:
        return _digits_and_points(out, kept)
    first = 0
    while version == TRIMMED and first < kept and AT_ENDS[out[first]]:
        first += 1
    while version == TRIMMED and kept > first and AT_ENDS[out[kept - 1]]:
        kept -= 1
    return _number_or_not(out, first, kept)


@kernel
def _digits_and_points(word: Places, size: int) -> tuple[int, float]:
    for i in range(size):
        if not is_digit(word[i]) and word[i] != POINT:
            return NO_NUMBER, 0.0
    kind, value = number_in(word, 0, size, False)
    if kind == NO_NUMBER or not is_digit(word[0]):
        return UNSURE, 0.0
    return kind, value


@kernel
def _number_or_not(word: Places, first: int, size: int) -> tuple[int, float]:
    """Return what `float` or else the reader of all scripts makes of a cleaned word.

    That reader takes "18'" and several signs; another character that is no digit, nor "e", stops
    it. Words with "e" or "'" are left to the scorer.
    """
    body = first
    if body < size and (word[body] == MINUS or word[body] == PLUS):
        body += 1
        if body < size and (word[body] == MINUS or word[body] == PLUS):
            return UNSURE, 0.0
    refused = False
    for i in range(body, size):
        char = word[i]
        if char == 39 or char == 101 or char == 69 or char == COMMA:
            return UNSURE, 0.0
        refused |= not is_digit(char) and char != POINT
    if refused:
        return NO_NUMBER, 0.0
    return number_in(word, first, size, False)


@kernel
def is_of_marks(char: int) -> bool:
    r"""Tell whether a byte is of `[\$\*\-#\s]`."""
    return char in (DOLLAR, STAR, MINUS, HASH) or is_space(char)


@kernel
def _aime(case: Case) -> None:
    gold = gold_of(case, AIME)
    if gold < 0:
        return
    buf = case.buf
    stop = before_spaces(buf, case.start, case.end)
    while True:
        start = line_start(buf, case.start, stop)
        at = start
        while at < stop and is_of_marks(buf[at]):
            at += 1
        if at < stop:
            break
        if start <= case.start:
            return  # marks alone
        stop = start - 1
    if stop - start > LONGEST_LINE:
        return
    kind, value = _line_number(buf, start, stop, case.line, case.word)
    if kind == NO_NUMBER:
        tell(case, AIME, NO_ANSWER)
    elif kind != UNSURE:
        tell(case, AIME, equal_in_five_digits(kind, value, gold))


@kernel
def _line_number(
    buf: Places, start: int, stop: int, line: Places, word: Places
) -> tuple[int, float]:
    r"""Return the number of a line once its `\boxed{...}` is opened."""
    box = next_word(buf, start, stop, BOX)
    closing = stop - 1
    while closing >= start and buf[closing] != CLOSING:
        closing -= 1
    inside = box + len(BOX)
    if box < 0 or closing <= inside:
        return last_number_word(buf, start, stop, TRIMMED, word)
    size = 0
    for i in range(start, stop):
        if not (box <= i < inside or i == closing):
            line[size] = buf[i]
            size += 1
    return last_number_word(line, 0, size, TRIMMED, word)
