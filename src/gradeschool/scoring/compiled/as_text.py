"""Scorers that compare what they read with the reference as text."""

from __future__ import annotations

from gradeschool.scoring.compiled.announced import (
    first_cot,
    first_ending_in_digit,
    last_final,
    last_flexible,
)
from gradeschool.scoring.compiled.case import (
    AI_BENCHMARKS,
    COT,
    COT_LLAMA,
    COT_ZEROSHOT,
    EXAMPLE_SOLUTIONS,
    FLEXIBLE,
    FLEXIBLE_OF_GOLD,
    HELM_NUMBER,
    HELM_TOKEN,
    LLAMA,
    LM_EVAL_0_3,
    NANOCHAT,
    OFFICIAL,
    OLMO_EVAL,
    OPEN_INSTRUCT,
    OUMI,
    SCORE_FIRST,
    STRICT,
    TULU,
    VERL_FLEXIBLE,
    VERL_STRICT,
    Case,
    tell,
    tell_text,
    tell_without_commas,
    tell_word,
)
from gradeschool.scoring.compiled.hashes import (
    clip_start,
    hashed_class,
    hashed_run,
    last_run_but_points,
    without_period,
)
from gradeschool.scoring.compiled.jit import Places, kernel
from gradeschool.scoring.compiled.letters import (
    BEYOND_ASCII,
    COMMA,
    MINUS,
    NEW_LINE,
    SPACE,
    before_spaces,
    is_digit,
    is_space,
    letters,
    line_start,
    past_spaces,
    stands,
)
from gradeschool.scoring.compiled.marks import (
    BEYOND,
    FINAL,
    FIRST_ANSWER,
    FIRST_HASHES,
    FIRST_THE,
)
from gradeschool.scoring.compiled.numbers import ASK
from gradeschool.scoring.compiled.words import (
    BARE_POINT,
    LONGEST_WORD,
    SIGNED_DECIMALS_ALONE,
    WITH_MINUS,
    WITH_PLUS,
    last_match,
    last_word_with_digit,
    without_commas_between_digits,
)
from gradeschool.scoring.families import CORRECT, NO_ANSWER

A_COLON = letters("A: ")
FARTHEST = 400
LEADING = 0xC0  # the first byte of a character is at least this, where it is not ASCII


@kernel
def hashed(case: Case) -> None:
    """Judge the scorers that read what stands behind "####"."""
    buf, start, end = case.buf, case.marks[FIRST_HASHES], case.end
    first, stop = -1, -1
    if start >= 0:
        first, stop = hashed_run(buf, start, end, False)
    tell_without_commas(case, OFFICIAL, first, stop, False)
    tell_without_commas(case, LM_EVAL_0_3, first, stop, False)
    tell_without_commas(case, NANOCHAT, first, stop, False)
    group = case.group[NANOCHAT]
    if first < 0 and group >= 0 and case.sizes[group] == 0:
        case.codes[group] = CORRECT  # upstream: None == None
    tell_without_commas(case, STRICT, first, without_period(buf, first, stop), False)
    last, last_stop = first, stop
    by_class, class_stop = first, stop
    if start >= 0:
        last, last_stop = hashed_run(buf, start, end, True)
        by_class, class_stop = hashed_class(buf, start, end, False, False)
    tell_without_commas(case, OUMI, last, last_stop, False)
    tell_text(case, AI_BENCHMARKS, by_class, class_stop)
    clip = clip_start(buf, case.start, end, case.marks[BEYOND])
    if 0 <= last < clip + len("#### "):
        last, last_stop = hashed_run(buf, clip, end, True)
    tell_without_commas(case, VERL_STRICT, last, last_stop, False)
    run, run_stop = last_run_but_points(buf, clip, end)
    if run == -2:
        tell(case, VERL_FLEXIBLE, ASK)
    else:
        tell_text(case, VERL_FLEXIBLE, run, run_stop)


@kernel
def announced(case: Case) -> None:
    """Judge lm-eval's scorers of "The answer is" and of the last number, and published flags."""
    buf, start, end, marks = case.buf, case.start, case.end, case.marks
    first, stop = last_flexible(buf, start, end)
    stop = without_period(buf, first, stop)
    tell_without_commas(case, FLEXIBLE, first, stop, True)
    tell_without_commas(case, FLEXIBLE_OF_GOLD, first, stop, True)
    first = stop = digit = digit_stop = -1
    if marks[FIRST_THE] >= 0:
        first, stop = first_cot(buf, marks[FIRST_THE], end)
        digit, digit_stop = first_ending_in_digit(buf, marks[FIRST_THE], end)
    stop = without_period(buf, first, stop)
    tell_without_commas(case, COT, first, stop, False)
    tell_without_commas(case, COT_ZEROSHOT, first, stop, False)
    tell_without_commas(case, SCORE_FIRST, digit, digit_stop, False)
    first = stop = llama = llama_stop = -1
    if marks[FINAL] > 0:
        before = max(start, marks[FIRST_ANSWER] - len("The final "))
        first, stop = last_final(buf, before, end, True)
        llama, llama_stop = last_final(buf, before, end, False)
    tell_without_commas(case, COT_LLAMA, first, without_period(buf, first, stop), True)
    tell_without_commas(case, LLAMA, llama, without_period(buf, llama, llama_stop), False)
    line = line_start(buf, start, end)
    if not stands(buf, line, end, A_COLON):
        tell(case, EXAMPLE_SOLUTIONS, NO_ANSWER)
    else:
        tell_without_commas(case, EXAMPLE_SOLUTIONS, line + len("A: "), end, False)


@kernel
def last_numbers(case: Case) -> None:
    """Judge the scorers of OLMES and HELM."""
    buf, start, end, word = case.buf, case.start, case.end, case.word
    first, stop = last_word_with_digit(buf, start, end)
    if first < 0:
        tell(case, TULU, NO_ANSWER)
        tell(case, OLMO_EVAL, NO_ANSWER)
        # Here the text itself would have to be the gold.
        group = case.group[OPEN_INSTRUCT]
        if group >= 0 and case.golds[group] >= 0:
            tell(case, OPEN_INSTRUCT, NO_ANSWER)
    elif stop - first <= LONGEST_WORD:
        size = without_commas_between_digits(buf, first, stop, word)
        first, stop = last_match(
            word, 0, size, WITH_MINUS | WITH_PLUS | BARE_POINT | SIGNED_DECIMALS_ALONE
        )
        tell_word(case, TULU, first, stop)
        first, stop = last_match(word, 0, size, WITH_MINUS | WITH_PLUS | BARE_POINT)
        tell_word(case, OLMO_EVAL, first, stop)
        tell_word(case, OPEN_INSTRUCT, first, stop)
    _helm(case)


@kernel
def _helm(case: Case) -> None:
    buf = case.buf
    end = before_spaces(buf, case.start, case.end)
    first = end
    while first > case.start and buf[first - 1] != SPACE:
        first -= 1
    first = past_spaces(buf, first, end)
    tell_text(case, HELM_TOKEN, first if first < end else -1, end)
    first, stop = helm_number(buf, case.start, case.end)
    if first == -2:
        tell(case, HELM_NUMBER, ASK)
    elif first >= 0 and only_commas(buf, first, stop):
        tell(case, HELM_NUMBER, NO_ANSWER)
    else:
        tell_without_commas(case, HELM_NUMBER, past_comma_and_space(buf, first, stop), stop, False)


@kernel
def past_comma_and_space(buf: Places, first: int, stop: int) -> int:
    """Return where a match begins once its commas, then outer white space, are gone."""
    at = first
    while at < stop and buf[at] == COMMA:
        at += 1
    return at + 1 if at > first and is_space(buf[at]) else first


@kernel
def only_commas(buf: Places, start: int, end: int) -> bool:
    """Tell whether a piece holds nothing but commas."""
    for i in range(start, end):  # noqa: SIM110
        if buf[i] != COMMA:
            return False
    return True


@kernel
def _is_digit_or_comma(char: int) -> bool:
    return is_digit(char) or char == COMMA


@kernel
def helm_number(buf: Places, start: int, end: int) -> tuple[int, int]:
    r"""Return the last match of `-?[\d,]+(?:.\d+)?`; -1 for none, -2 where it is not certain.

    Matches may touch ("3 4 5"), so the search begins at a run that no match before it reaches.
    """
    at = end
    while at > start and not _is_digit_or_comma(buf[at - 1]):
        at -= 1
    if at == start:
        return -1, -1
    first = at - 1
    while True:
        while first > start and _is_digit_or_comma(buf[first - 1]):
            first -= 1
        if end - first > FARTHEST:
            return -2, -2
        before = first - 1
        while before > start and BEYOND_ASCII <= buf[before] < LEADING:
            before -= 1
        if before > start and before < first - 1 and _is_digit_or_comma(buf[before - 1]):
            return -2, -2
        if first - 2 < start or not _is_digit_or_comma(buf[first - 2]):
            break
        first -= 2
    if first > start and buf[first - 1] == MINUS:
        first -= 1
    return _last_from(buf, first, at, end)


@kernel
def _last_from(buf: Places, at: int, last: int, end: int) -> tuple[int, int]:
    """Return the last match from a place on where one begins; `last`: the end of the last run."""
    first = stop = at
    while at < last:
        body = at + 1 if buf[at] == MINUS else at
        if not _is_digit_or_comma(buf[body]):
            at += 1
            continue
        first, stop = at, body
        while stop < end and _is_digit_or_comma(buf[stop]):
            stop += 1
        if stop < end and buf[stop] >= BEYOND_ASCII:
            return -2, -2
        if stop + 1 < end and buf[stop] != NEW_LINE and is_digit(buf[stop + 1]):
            stop += 2
            while stop < end and is_digit(buf[stop]):
                stop += 1
        at = stop
    return first, stop
