"""Scorers that read what stands behind "The answer is" or "answer:"."""

from __future__ import annotations

from gradeschool.scoring.compiled.hashes import is_of_run, signed_run
from gradeschool.scoring.compiled.jit import Places, kernel
from gradeschool.scoring.compiled.letters import (
    COLON,
    COMMA,
    DOLLAR,
    MINUS,
    NEW_LINE,
    POINT,
    is_digit,
    is_space,
    letters,
    next_word,
    past_spaces,
    stands,
    stands_in_any_case,
)
from gradeschool.scoring.compiled.marks import ANSWER, THE_IS

THE_FINAL_IS = letters("The final answer is ")
FINAL_IS_SPACE = letters("final answer is ")
IS, FINAL_WORD, THE = letters("is"), letters("final"), letters("he")


@kernel
def first_cot(buf: Places, start: int, end: int) -> tuple[int, int]:
    r"""Return the first match of group 1 of `The answer is (\-?[0-9\.\,]+).`; -1 for none."""
    at = next_word(buf, start, end, THE_IS)
    while at >= 0:
        inside = at + len(THE_IS)
        stop = signed_run(buf, inside, end)
        if stop >= 0:
            if stop < end and buf[stop] != NEW_LINE:
                return inside, stop
            if stop - 1 > inside and is_of_run(buf[stop - 2]):
                return inside, stop - 1  # the last of the run is the one more character
        at = next_word(buf, inside, end, THE_IS)
    return -1, -1


@kernel
def first_ending_in_digit(buf: Places, start: int, end: int) -> tuple[int, int]:
    r"""Return the first match of group 1 of `The answer is (\-?[0-9\.\,]*[0-9]+)`; -1 for none."""
    at = next_word(buf, start, end, THE_IS)
    while at >= 0:
        inside = at + len(THE_IS)
        stop = signed_run(buf, inside, end)
        while stop > inside and not is_digit(buf[stop - 1]):
            stop -= 1
        if stop > inside:
            return inside, stop
        at = next_word(buf, inside, end, THE_IS)
    return -1, -1


@kernel
def flexible_at(buf: Places, at: int, end: int) -> int:
    r"""Return where a match of `-?[$0-9.,]{2,}|-?[0-9]+` that begins here ends; -1 for none."""
    body = at + 1 if at < end and buf[at] == MINUS else at
    stop = body
    while stop < end and (is_of_run(buf[stop]) or buf[stop] == DOLLAR):
        stop += 1
    if stop - body > 1 or (stop > body and is_digit(buf[body])):
        return stop
    return -1


@kernel
def last_flexible(buf: Places, start: int, end: int) -> tuple[int, int]:
    """Return the last match of the same pattern in a text; -1 for none."""
    stop = end
    while stop > start:
        if not (is_of_run(buf[stop - 1]) or buf[stop - 1] == DOLLAR):
            stop -= 1
            continue
        first = stop - 1
        while first > start and (is_of_run(buf[first - 1]) or buf[first - 1] == DOLLAR):
            first -= 1
        if stop - first > 1 or is_digit(buf[first]):
            return (first - 1 if first > start and buf[first - 1] == MINUS else first), stop
        stop = first
    return -1, -1


@kernel
def last_final(buf: Places, start: int, end: int, flexible: bool) -> tuple[int, int]:
    """Return the last number behind "The final answer is" or, not flexible, "final answer is"."""
    first, behind = -1, -1
    word = THE_FINAL_IS if flexible else FINAL_IS_SPACE
    at = next_word(buf, start, end, word)
    while at >= 0:
        at += len(word)
        stop = flexible_at(buf, at, end) if flexible else signed_run(buf, at, end)
        if stop >= 0:
            first, behind = at, stop
        at = next_word(buf, at, end, word)
    return first, behind


@kernel
def last_the_answer_is(buf: Places, start: int, first: int, end: int) -> tuple[int, int]:
    r"""Return group 1 of the last `[Tt]he\s+(?:final\s+)?answer\s+is[:\s]*\$?([\d,.\-]+)`.

    first: where "answer" stands first; (-1, -1) without a match.
    """
    found, behind, at = -1, -1, first
    while at >= 0:
        if stands(buf, at, end, ANSWER) and _the_before(buf, start, at):
            inside, stop = _after_answer_is(buf, at + 6, end)
            if stop > inside:
                found, behind = inside, stop
        at = next_word(buf, at + 1, end, ANSWER)
    return found, behind


@kernel
def _the_before(buf: Places, start: int, at: int) -> bool:
    r"""Tell whether `[Tt]he\s+(?:final\s+)?` ends at a place."""
    before = at
    while before > start and is_space(buf[before - 1]):
        before -= 1
    if before == at:
        return False
    if before - 5 >= start and stands(buf, before - 5, before, FINAL_WORD):
        final = before = before - 5
        while before > start and is_space(buf[before - 1]):
            before -= 1
        if before == final:
            return False
    return (
        before - 3 >= start
        and stands(buf, before - 2, before, THE)
        and (buf[before - 3] == 84 or buf[before - 3] == 116)
    )


@kernel
def _after_answer_is(buf: Places, at: int, end: int) -> tuple[int, int]:
    r"""Return group 1 of `\s+is[:\s]*\$?([\d,.\-]+)` at a place; an empty one for no match."""
    spaces = past_spaces(buf, at, end)
    if spaces == at or not stands(buf, spaces, end, IS):
        return at, at
    inside = spaces + 2
    while inside < end and (is_space(buf[inside]) or buf[inside] == COLON):
        inside += 1
    return past_dollar(buf, inside, end)


@kernel
def past_dollar(buf: Places, at: int, end: int) -> tuple[int, int]:
    r"""Return group 1 of `\$?([\d,.\-]+)` at a place; an empty one for no match."""
    if at < end and buf[at] == DOLLAR:
        at += 1
    stop = at
    while stop < end and (is_of_run(buf[stop]) or buf[stop] == MINUS):
        stop += 1
    return at, stop


@kernel
def last_answer_colon(buf: Places, first: int, end: int, numeric: bool) -> tuple[int, int]:
    r"""Return group 1 of the last `(?i)answer\s*:\s*\$?([\d,.\-]+)`; -1 for none.

    numeric: the group is `(-?\d[\d,]*\.?\d*)`. first: where "answer" stands first.
    """
    found, behind = -1, -1
    for at in range(max(first, 0), end - 6):
        if buf[at] | 32 != 97 or not stands_in_any_case(buf, at, end, ANSWER):
            continue
        colon = past_spaces(buf, at + 6, end)
        if colon >= end or buf[colon] != COLON:
            continue
        inside = past_spaces(buf, colon + 1, end)
        if numeric:
            inside, stop = _number_at(buf, inside, end)
        else:
            inside, stop = past_dollar(buf, inside, end)
        if stop > inside:
            found, behind = inside, stop
    return found, behind


@kernel
def _number_at(buf: Places, at: int, end: int) -> tuple[int, int]:
    r"""Return group 1 of `\$?(-?\d[\d,]*\.?\d*)` at a place; an empty one for no match."""
    if at < end and buf[at] == DOLLAR:
        at += 1
    body = at + 1 if at < end and buf[at] == MINUS else at
    if body >= end or not is_digit(buf[body]):
        return at, at
    stop = body
    while stop < end and (is_digit(buf[stop]) or buf[stop] == COMMA):
        stop += 1
    if stop < end and buf[stop] == POINT:
        stop += 1
        while stop < end and is_digit(buf[stop]):
            stop += 1
    return at, stop
