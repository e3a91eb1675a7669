r"""UK AISI inspect_ai: match(numeric=True) in four eras, math(); inspect_evals' GSM8K, MGSM, AIME.

`inspect/match-numeric`, with location "end": up to 0.3.220 a number need only end with the gold;
since 0.3.221 (commit 660c48251) numbers are compared; since 0.3.253 an escaped "\$20" is one; since
0.3.261 "(42)" and "42!" are.
`inspect/gsm8k`: ten shots in one system message, the answer on a last line "ANSWER: N"; with
`-T fewshot=5` and `-T fewshot=0`. `inspect/aime2025`: the last line that contains more than marks,
without its box, then the match of inspect_ai; it fits GSM8K as well. `inspect/math`: inspect_ai's
scorer of expressions itself.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from gradeschool.answers.search import NO_DIGITS, once_per_text
from gradeschool.protocols.extractions import Extract
from gradeschool.protocols.inspect_ai.unicode_numbers import superscript_number, unicode_number
from gradeschool.scorer import ScorerFailure
from gradeschool.verdict import Answer, make_answer

ESCAPED = re.compile(r"\\([$,£€*_])")
DROPPED = str.maketrans("", "", "$,£€*_")
PERIOD = re.compile(r"\.(?=\s|$|\D)")
PUNCTUATION = string.whitespace + string.punctuation
NEAR_END, NEAR_CHARACTERS = 16, 128  # words and characters, which contain most last numbers
LONGEST = 1000  # characters returned of an extracted answer
TRIMMED = "!?:;()[]{}'\"`"
ASCII_DIGIT = re.compile(r"[0-9]")
# An ASCII word with one of these is not a number in any version of inspect_ai.
NO_NUMBER = re.compile(r"[A-DF-Za-df-z/<=>%^&|~#@]")


class NumericWord(NamedTuple):
    """A word of a text, where it begins, and its value."""

    text: str
    start: int
    value: str


def last_number(text: str, value_of: Callable[[str], str | None], how: str) -> Answer | None:
    """Extract the last word that has a value under one version of inspect_ai."""
    number = last_possible_number(text)
    value = None if number is None else value_of(number.text)
    if number is not None and value is None:
        number = last_word_with(text, lambda word: None if is_no_number(word) else value_of(word))
        value = number and number.value
    if number is None or value is None:
        return None
    word, start, _ = number
    return make_answer((word, value, (start, start + len(word)), how))


@once_per_text
def last_possible_number(text: str) -> NumericWord | None:
    """Return the last word that may be a number in some version, without its value."""
    tail = text[-NEAR_CHARACTERS:]
    start, before = len(tail) if tail.isascii() else 0, len(text) - len(tail)
    while end := len(tail[:start].rstrip(NO_DIGITS)):  # the words with a digit
        start = max(tail.rfind(" ", 0, end), tail.rfind("\n", 0, end)) + 1
        word = tail[start:].split(None, 1)[0]
        cut = before and not start
        if cut or len(word) < end - start or not tail.startswith(word, start):  # other white space
            break
        if not NO_NUMBER.search(word):
            return NumericWord(word, before + start, "")
    return last_word_with(text, lambda word: None if is_no_number(word) else "")


def is_no_number(word: str) -> bool:
    """Return whether a word is a number in no version: ASCII without a digit, or with letters."""
    return word.isascii() and (not ASCII_DIGIT.search(word) or bool(NO_NUMBER.search(word)))


def last_word_with(text: str, value_of: Callable[[str], str | None]) -> NumericWord | None:
    """Return the last word that has a value."""
    for most in (NEAR_END, -1):
        words = text.rsplit(None, most)
        refused = None
        for behind, word in enumerate(reversed(words[1:] if len(words) > most > 0 else words)):
            value = None if word == refused else value_of(word)
            if value is not None:
                end = len(text.rsplit(None, behind)[0]) if behind else len(text.rstrip())
                return NumericWord(word, end - len(word), value)
            refused = word
    return None


def without_punctuation(word: str) -> str:
    """Remove currency, emphasis and commas, and periods that no digit follows."""
    word = word.translate(DROPPED)
    return PERIOD.sub("", word) if "." in word else word


def finite(word: str) -> float | None:
    """Return the finite number that a cleaned word spells, as 0.3.261 and later parse it."""
    return finite_untrimmed(word.strip(TRIMMED))


def finite_untrimmed(word: str) -> float | None:
    """Return the finite number that a cleaned word spells, without stripping its punctuation.

    Raises ScorerFailure on Chinese numerals past the range of floats, where upstream raises.
    """
    for parse in (float, unicode_number):
        try:
            number = parse(word)
        except ValueError:
            continue
        except OverflowError as error:
            raise ScorerFailure(f"OverflowError on {word[:40]!r}") from error
        if math.isfinite(number):
            return number
        if word.isascii():
            return None  # infinite for both, and `superscript_number` is slow on long words
    return None


def five_digits(number: float) -> str:
    """Write a number with 5 significant digits: 131254 and 131250 become the same."""
    return format(number, ".5g")


def _whole_text(text: str) -> Answer:
    value = text.strip().casefold().strip(PUNCTUATION)
    return Answer(text, value, (0, len(text)), "the whole text, by its end")


def match_by_value(
    unescape: bool, parse: Callable[[str], float | None]
) -> tuple[Extract, Callable[[str, str], bool]]:
    r"""Return the extraction and the comparison of versions that compare numbers.

    unescape: write "\$20" as "$20". parse: returns the finite number of a cleaned word.
    """

    def cleaned(word: str) -> str:
        word = ESCAPED.sub(r"\1", word) if unescape and "\\" in word else word
        return without_punctuation(word)

    @lru_cache(1024)
    def value_of(word: str) -> str | None:
        number = parse(cleaned(word.casefold()))
        return None if number is None else five_digits(number)

    def extract(text: str, gold: str) -> Answer | None:
        """Extract the last word that is a number; the whole text if the gold is not a number."""
        if value_of(gold.strip()) is None:
            return _whole_text(text)
        return last_number(text, value_of, "the last word that is a number")

    def compare(value: str, gold: str) -> bool:
        """Compare 5 significant digits; golds that are not numbers match at the end of the text."""
        target = value_of(gold.strip())
        if target is None:  # upstream strips currency and commas from the gold alone here
            return value.endswith(cleaned(gold.strip().casefold()).strip(PUNCTUATION))
        return value == target

    return extract, compare


extract_bare, compare_bare = match_by_value(False, finite_untrimmed)
extract_unescaped, compare_unescaped = match_by_value(True, finite_untrimmed)
extract_trimmed, compare_trimmed = match_by_value(True, finite)


@lru_cache(1024)
def digits_0_3_220(word: str) -> str | None:
    """Return a word of digits with 5 significant digits, None for other words."""
    word = without_punctuation(word.casefold())
    if not word.replace(".", "").isnumeric():
        return None
    try:
        try:
            return five_digits(superscript_number(word))
        except ValueError:
            return five_digits(unicode_number(word))
    except (ValueError, ArithmeticError) as error:
        raise ScorerFailure(f"{type(error).__name__} on {word[:40]!r}") from error


def _target_0_3_220(gold: str) -> str | None:
    gold = gold.strip().casefold()
    return digits_0_3_220(gold) if gold.isnumeric() else None


def extract_0_3_220(text: str, gold: str) -> Answer | None:
    """Extract the last word of digits, else the last word; golds with "-" or "," match as text."""
    if _target_0_3_220(gold) is None:
        return _whole_text(text)
    answer = last_number(text, digits_0_3_220, "the last word of digits, by its end")
    if answer is not None:
        return answer
    word = last_word_with(text, lambda word: without_punctuation(word.casefold()))
    if word is None:
        return None
    span = (word.start, word.start + len(word.text))
    return Answer(word.text, word.value, span, "no word of digits: the last word, by its end")


def compare_0_3_220(value: str, gold: str) -> bool:
    """Compare by `endswith`: "711" matches the gold "11"."""
    target = _target_0_3_220(gold)
    return value.endswith(gold.strip().casefold().strip(PUNCTUATION) if target is None else target)


MARKS_ALONE = re.compile(r"^[\$\*\-#\s]*$")
BOX = "\\boxed{"


def last_line(text: str) -> str:
    """Return the last line with more than "$", "*", "-", "#" and space; else the last line."""
    text = text.strip()
    start, last = len(text) + 1, None
    while start > 0:
        end = start - 1
        start = text.rfind("\n", 0, end) + 1
        for line in reversed(text[start:end].splitlines()):
            if line[:1].isalnum() or not MARKS_ALONE.match(line):
                return line
            last = line if last is None else last
    return last or ""


def extract_aime(text: str, gold: str) -> Answer | None:
    """Extract the last word of the last line that is a number.

    A box is opened up to the last brace of the line.
    """
    line = last_line(text)
    start, end = line.find(BOX), line.rfind("}")
    inside = start + len(BOX)
    if start >= 0 and end > inside:
        line = line[:start] + line[inside:end] + line[end + 1 :]
    answer = extract_trimmed(line, gold) if line else None
    if answer is None:
        return None
    word, value, _, how = answer
    start = text.rfind(word)
    span = None if start < 0 else (start, start + len(word))
    return make_answer((word, value, span, f"the last line: {how}"))


def judge_by_math(text: str, gold: str) -> tuple[str | None, bool]:
    """Judge as `math()`, in a child process with the extra `inspect-ai`.

    `math` calls these two functions one after the other in a thread, with a time limit for each,
    which the limit of the worker replaces. Raises ValueError on a gold that it cannot parse.
    """
    from inspect_ai.scorer._math import _parse_targets_worker, _score_answer_worker

    targets, error = _parse_targets_worker((gold,))
    if error is not None:
        raise ValueError(f"Could not parse any mathematical target: {error}.")
    score = _score_answer_worker(text, targets)
    return score.answer and score.answer[:LONGEST], score.status == "correct"
