"""One pass over a text: which markers are in it, and where."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gradeschool.scan import FOLDED
from gradeschool.scoring.compiled.jit import Places, kernel
from gradeschool.scoring.compiled.letters import (
    BACKSLASH,
    BEYOND_ASCII,
    BRACE,
    COLON,
    DOLLAR,
    EQUALS,
    HASH,
    LESS,
    NEW_LINE,
    SPACE,
    STAR,
    TAB,
    TICK,
    letters,
    past_spaces,
    stands,
    stands_in_any_case,
)

# What `scan` finds: a place, -1 for nowhere, or a number.
FIRST_HASHES = 0  # "####"
LAST_BOXED, BOXES = 1, 2  # "boxed"; how many
FIRST_ANSWER, LAST_ANSWER, ANSWERS = 3, 4, 5  # in any case
FIRST_ANSWER_IS = 6  # "answer is" or "final answer" in any case
LAST_HE = 7  # "he answer is"
FIRST_THE, THE_ONES = 8, 9  # "The answer is "
FINAL = 10  # "final answer is"; how many
LAST_CAPITAL = 11  # "Answer"
ANSWER_COLON = 12  # "answer", white space, ":" in any case
FIRST_QUESTION, FIRST_Q, RUN_ON = 13, 14, 15  # "Question:", "Q: ", the line break before either
LAST_EQUALS = 16
LAST_DOLLAR, DOLLARS = 17, 18
THOUGHT, OUTPUT, LAST_BOLD = 19, 20, 21  # "</think>", "```output", "**"
BEYOND = 22  # how many bytes of characters that are not ASCII
LAST_BACKSLASH, LAST_BRACE = 23, 24  # "{"
MARKS = 25
NUMBERS = (BOXES, ANSWERS, THE_ONES, FINAL, ANSWER_COLON, DOLLARS, BEYOND)

BOXED, QUESTION, Q, Q_SPACE = map(letters, ("boxed", "Question", "Q", "Q: "))
QUESTION_COLON, HASHES = letters("Question:"), letters("####")
ANSWER, CAPITAL, HE_IS = letters("answer"), letters("Answer"), letters("he answer is")
THE_IS, FINAL_IS = letters("The answer is "), letters("final answer is")
ANSWER_IS, FINAL_ANSWER = letters("answer is"), letters("final answer")
BOLD, OUTPUT_FENCE, THOUGHT_END = letters("**"), letters("```output"), letters("</think>")
EMPTY = np.array([0 if at in NUMBERS else -1 for at in range(MARKS)], np.int64)
TO_LOOK_AT = np.zeros(256, np.uint8)
TO_LOOK_AT[[*range(32), *b"#bBaAQ=$`<*\\{", *range(127, 256)]] = 1
TO_LOOK_AT[[NEW_LINE, TAB, ord("B")]] = 0
FACES = range(0x1F300, 0x1FB00)  # emoji


@lru_cache(1)
def plain_characters() -> Places:
    """Return for each character of the basic plane whether it means nothing to any scorer.

    It is no digit, number or white space, and no letter that is written in another case or that
    Python takes for an ASCII letter. Kernels look out for signs of currency and minus themselves.
    """
    found = np.zeros(0x10000, np.uint8)
    for code in range(BEYOND_ASCII, 0x10000):
        char = chr(code)
        found[code] = not (
            char.isnumeric()
            or char.isdigit()
            or char.isspace()
            or char.casefold() != char
            or char.upper().isascii()
            or code in FOLDED
            or 0xD800 <= code < 0xE000
        )
    return found


@kernel
def scan(buf: Places, start: int, end: int, plain: Places, marks: Places) -> bool:
    """Fill in the marks of a text; False where a character needs the scorers."""
    for mark in range(MARKS):
        marks[mark] = EMPTY[mark]
    at = start
    while at < end:
        char = buf[at]
        if TO_LOOK_AT[char] == 0:
            at += 1
            continue
        if char >= BEYOND_ASCII:
            size = _plain_size(buf, at, plain)
            if size == 0:
                return False
            marks[BEYOND] += size
            at += size
            continue
        if char < SPACE or char == 127:
            return False
        if char == 97 or char == 65:
            _answer(buf, start, at, end, marks)
        elif char == HASH:
            if marks[FIRST_HASHES] < 0 and stands(buf, at, end, HASHES):
                marks[FIRST_HASHES] = at
        elif char == EQUALS:
            marks[LAST_EQUALS] = at
        elif char == DOLLAR:
            marks[LAST_DOLLAR] = at
            marks[DOLLARS] += 1
        elif char == BACKSLASH:
            marks[LAST_BACKSLASH] = at
        elif char == BRACE:
            marks[LAST_BRACE] = at
        else:
            _rarer(buf, start, at, end, marks)
        at += 1
    return True


@kernel
def _rarer(buf: Places, start: int, at: int, end: int, marks: Places) -> None:
    char = buf[at]
    if char == 98:
        if stands(buf, at, end, BOXED):
            marks[LAST_BOXED] = at
            marks[BOXES] += 1
    elif char == 81:
        _question(buf, start, at, end, marks)
    elif char == STAR:
        if stands(buf, at, end, BOLD):
            marks[LAST_BOLD] = at
    elif char == TICK:
        if stands(buf, at, end, OUTPUT_FENCE):
            marks[OUTPUT] = at
    elif char == LESS and stands(buf, at, end, THOUGHT_END):
        marks[THOUGHT] = at


@kernel
def _plain_size(buf: Places, at: int, plain: Places) -> int:
    """Return the bytes of a plain character that is not ASCII, 0 for one that is not plain."""
    char = buf[at]
    if char < 0xE0:
        code = (char & 31) << 6 | (buf[at + 1] & 63)
        return 2 if plain[code] else 0
    if char < 0xF0:
        code = (char & 15) << 12 | (buf[at + 1] & 63) << 6 | (buf[at + 2] & 63)
        return 3 if plain[code] else 0
    code = (char & 7) << 18 | (buf[at + 1] & 63) << 12 | (buf[at + 2] & 63) << 6
    return 4 if 0x1F300 <= code < 0x1FB00 else 0


@kernel
def _answer(buf: Places, start: int, at: int, end: int, marks: Places) -> None:
    if not stands_in_any_case(buf, at, end, ANSWER):
        return
    if marks[FIRST_ANSWER] < 0:
        marks[FIRST_ANSWER] = at
    marks[LAST_ANSWER] = at
    marks[ANSWERS] += 1
    if stands(buf, at, end, CAPITAL):
        marks[LAST_CAPITAL] = at
    colon = past_spaces(buf, at + 6, end)
    if colon < end and buf[colon] == COLON:
        marks[ANSWER_COLON] += 1
    if at - 3 >= start and stands(buf, at - 3, end, HE_IS):
        marks[LAST_HE] = at - 3
        if at - 4 >= start and stands(buf, at - 4, end, THE_IS):
            if marks[FIRST_THE] < 0:
                marks[FIRST_THE] = at - 4
            marks[THE_ONES] += 1
    if at - 6 >= start and stands(buf, at - 6, end, FINAL_IS):
        marks[FINAL] += 1
    if marks[FIRST_ANSWER_IS] < 0:
        if at - 6 >= start and stands_in_any_case(buf, at - 6, end, FINAL_ANSWER):
            marks[FIRST_ANSWER_IS] = at - 6
        elif stands_in_any_case(buf, at, end, ANSWER_IS):
            marks[FIRST_ANSWER_IS] = at


@kernel
def _question(buf: Places, start: int, at: int, end: int, marks: Places) -> None:
    """Note "Question:", "Q: " and what parse_gsm8k_answer takes for a question that runs on."""
    if marks[FIRST_Q] < 0 and stands(buf, at, end, Q_SPACE):
        marks[FIRST_Q] = at
    if marks[FIRST_QUESTION] < 0 and stands(buf, at, end, QUESTION_COLON):
        marks[FIRST_QUESTION] = at
    if marks[RUN_ON] >= 0:
        return
    behind = at + (8 if stands(buf, at, end, QUESTION) else 1)
    if behind < end and (buf[behind] == SPACE or buf[behind] == TAB):
        behind += 1
    if behind >= end or buf[behind] != COLON:
        return
    before = at
    while before > start and at - before < 8 and buf[before - 1] in (SPACE, TAB):
        before -= 1
    if before > start and buf[before - 1] == NEW_LINE:
        marks[RUN_ON] = before - 1
