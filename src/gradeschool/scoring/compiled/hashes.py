"""Scorers that read what stands behind "####"."""

from __future__ import annotations

from gradeschool.scoring.compiled.jit import Places, kernel
from gradeschool.scoring.compiled.letters import (
    BEYOND_ASCII,
    COMMA,
    DOLLAR,
    HASH,
    MINUS,
    POINT,
    SPACE,
    is_digit,
    past_spaces,
)

CLIP = 300  # characters that verl reads


@kernel
def is_of_run(char: int) -> bool:
    """Tell whether a byte is of `[0-9.,]`."""
    return is_digit(char) or char in (POINT, COMMA)


@kernel
def run_end(buf: Places, at: int, end: int) -> int:
    """Return where a run of `[0-9.,]` ends."""
    while at < end and is_of_run(buf[at]):
        at += 1
    return at


@kernel
def signed_run(buf: Places, at: int, end: int) -> int:
    r"""Return where a match of `\-?[0-9.,]+` that begins here ends; -1 for no match."""
    body = at + 1 if at < end and buf[at] == MINUS else at
    stop = run_end(buf, body, end)
    return stop if stop > body else -1


@kernel
def hashed_run(buf: Places, start: int, end: int, last: bool) -> tuple[int, int]:
    r"""Return the first or the last match of group 1 of `#### (\-?[0-9\.\,]+)`; -1 for none."""
    first, behind, hashes = -1, -1, 0
    for at in range(start, end):
        char = buf[at]
        if char == HASH:
            hashes += 1
            continue
        if char == SPACE and hashes >= 4:
            stop = signed_run(buf, at + 1, end)
            if stop >= 0:
                first, behind = at + 1, stop
                if not last:
                    break
        hashes = 0
    return first, behind


@kernel
def hashed_class(
    buf: Places, start: int, end: int, last: bool, with_commas: bool
) -> tuple[int, int]:
    r"""Return the same of group 1 of `####\s*([\d.\-]+)`, with commas `([\d,.\-]+)`."""
    first, behind, at = -1, -1, start
    while at < end:
        hashes = at
        while at < end and buf[at] == HASH:
            at += 1
        if at - hashes < 4:
            at += 1
            continue
        inside = stop = past_spaces(buf, at, end)
        while stop < end and (
            buf[stop] == MINUS or (is_of_run(buf[stop]) and (with_commas or buf[stop] != COMMA))
        ):
            stop += 1
        if stop > inside:
            first, behind = inside, stop
            if not last:
                break
            at = stop
    return first, behind


@kernel
def without_period(buf: Places, start: int, end: int) -> int:
    """Return where a run ends without a period that is its last character but for "," and "$"."""
    at = end - 1
    while at > start and (buf[at] == COMMA or buf[at] == DOLLAR):
        at -= 1
    return at if at >= start and buf[at] == POINT else end


@kernel
def clip_start(buf: Places, start: int, end: int, beyond: int) -> int:
    """Return where the last 300 characters begin; beyond: whether some are not ASCII."""
    if beyond == 0:
        return max(start, end - CLIP)
    at, left = end, CLIP
    while at > start and left > 0:
        at -= 1
        if buf[at] < BEYOND_ASCII or buf[at] >= 0xC0:
            left -= 1
    return at


@kernel
def last_run_but_points(buf: Places, start: int, end: int) -> tuple[int, int]:
    r"""Return the last match of `\-?[0-9\.\,]+` that is not "."; (-2, -2) if all are, -1: none."""
    stop, found = end, -1
    while stop > start:
        if not is_of_run(buf[stop - 1]):
            stop -= 1
            continue
        first = stop - 1
        while first > start and is_of_run(buf[first - 1]):
            first -= 1
        if first > start and buf[first - 1] == MINUS:
            first -= 1
        if stop - first > 1 or buf[first] != POINT:
            return first, stop
        found = -2
        stop = first
    return found, found
