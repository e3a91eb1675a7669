r"""UK AISI inspect_ai: match(numeric=True) in four eras, math(); inspect_evals' GSM8K, MGSM, AIME.

`inspect/match-numeric`, with location "end": up to 0.3.220 a number need only end with the gold;
since 0.3.221 (commit 660c48251) numbers are compared; since 0.3.253 an escaped "\$20" is one; since
0.3.261 "(42)" and "42!" are.
`inspect/gsm8k`: ten shots in one system message, the answer on a last line "ANSWER: N"; with
`-T fewshot=5` and `-T fewshot=0`. `inspect/aime2025`: the last line that contains more than marks,
without its box, then the match of inspect_ai; it fits GSM8K as well. `inspect/math`: inspect_ai's
scorer of expressions itself.
"""

import math
import re
import string
from collections.abc import Callable, Iterator
from functools import lru_cache
from unicodedata import digit, numeric

from gradeschool.answers.search import last_number_word, last_place, once_per_text
from gradeschool.protocols.extractions import Extract
from gradeschool.scorer import Answer, ScorerFailure

ESCAPED = re.compile(r"\\([$,£€*_])")
DROPPED = str.maketrans("", "", "$,£€*_")
PERIOD = re.compile(r"\.(?=\s|$|\D)")
PUNCTUATION = string.whitespace + string.punctuation
NEAR_END = 16  # words, which contain most last numbers
LONGEST = 1000  # characters returned of an extracted answer
TRIMMED = "!?:;()[]{}'\"`"
ASCII_DIGIT = re.compile(r"[0-9]")
# An ASCII word with one of these is not a number in any version of inspect_ai.
NO_NUMBER = re.compile(r"[A-DF-Za-df-z/<=>%^&|~#@]")


def last_number(text: str, value_of: Callable[[str], str | None], how: str) -> Answer | None:
    """Extract the last word that has a value under one version of inspect_ai."""
    last = last_possible_number(text)
    if last is None:
        return None
    if (value := value_of(last[0])) is not None:  # as of nearly every text
        return Answer(last[0], value, last[1], how)
    for behind, word in possible_numbers(text):
        if (value := value_of(word)) is not None:
            return Answer(word, value, _span(text, word, behind), how)
    return None


def possible_numbers(text: str) -> Iterator[tuple[int, str]]:
    """Yield the words that may be a number in some version, from the end.

    Each has the number of words behind it.
    """
    for most in (NEAR_END, -1):
        words = text.rsplit(None, most)
        for behind, word in enumerate(reversed(words[1:] if len(words) > most > 0 else words)):
            if not word.isascii() or (ASCII_DIGIT.search(word) and not NO_NUMBER.search(word)):
                yield behind, word


@once_per_text
def last_possible_number(text: str) -> tuple[str, tuple[int, int]] | None:
    """Return the first of `possible_numbers` with its span, None for none."""
    start, word, _ = last_number_word(text)
    if word.isprintable() and text.isascii() and word and not NO_NUMBER.search(word):
        return word, (start, start + len(word))  # the same, found once for all scorers
    found = next(possible_numbers(text), None)
    return found and (found[1], _span(text, found[1], found[0]))


def _span(text: str, word: str, behind: int) -> tuple[int, int]:
    """Return the span of a word with so many words behind it."""
    end = len(text.rsplit(None, behind)[0]) if behind else len(text.rstrip())
    return end - len(word), end


def without_punctuation(word: str) -> str:
    """Remove currency, emphasis and commas, and periods that no digit follows."""
    word = word.translate(DROPPED)
    return PERIOD.sub("", word) if "." in word else word


def finite(word: str) -> float | None:
    """Return the finite number that a cleaned word spells.

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


def match_by_value(unescape: bool, trimmed: str) -> tuple[Extract, Callable[[str, str], bool]]:
    r"""Return the extraction and the comparison of versions that compare numbers.

    unescape: write "\$20" as "$20". trimmed: characters that may enclose a number.
    """

    def cleaned(word: str) -> str:
        word = ESCAPED.sub(r"\1", word) if unescape and "\\" in word else word
        return without_punctuation(word)

    @lru_cache(1024)
    def value_of(word: str) -> str | None:
        number = finite(cleaned(word.casefold()).strip(trimmed))
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


extract_bare, compare_bare = match_by_value(False, "")
extract_unescaped, compare_unescaped = match_by_value(True, "")
extract_trimmed, compare_trimmed = match_by_value(True, TRIMMED)


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
    if answer is not None or not (words := text.rsplit(None, 1)):
        return answer
    how = "no word of digits: the last word, by its end"
    value = without_punctuation(words[-1].casefold())
    return Answer(words[-1], value, _span(text, words[-1], 0), how)


def compare_0_3_220(value: str, gold: str) -> bool:
    """Compare by `endswith`: "711" matches the gold "11"."""
    target = _target_0_3_220(gold)
    return value.endswith(gold.strip().casefold().strip(PUNCTUATION) if target is None else target)


MARKS_ALONE = re.compile(r"^[\$\*\-#\s]*$")
BOX = "\\boxed{"


def extract_aime(text: str, gold: str) -> Answer | None:
    """Extract the last word that is a number of the last line, of marks alone only if all are.

    A box is opened up to the last brace of the line.
    """
    lines = text.strip().splitlines()[::-1]
    line = next((line for line in lines if not MARKS_ALONE.match(line)), lines[0] if lines else "")
    start, end = line.find(BOX), line.rfind("}")
    inside = start + len(BOX)
    if start >= 0 and end > inside:
        line = line[:start] + line[inside:end] + line[end + 1 :]
    answer = extract_trimmed(line, gold) if line else None
    if answer is None:
        return None
    word, value, _, how = answer
    return Answer(word, value, last_place(text, word), f"the last line: {how}")


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


# Numbers as inspect_ai parses them: all scripts, vulgar fractions, superscripts, Chinese numerals.
# Two parsers, both with floats as upstream: `unicode_number` has the verdicts of
# src/inspect_ai/scorer/_unicode.py (0.3.220 and 0.3.285 alike), `superscript_number` those of
# str_to_float in src/inspect_ai/_util/text.py (0.3.220).

MINUS, PLUS = "-−﹣－负負", "+＋﹢正"
EXPONENT_MINUS, EXPONENT_PLUS = "-−﹣－", "+＋﹢"
SUPERSCRIPT_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
SUPERSCRIPTS = str.maketrans(SUPERSCRIPT_DIGITS + "⁻⁺", "0123456789-+")
DECIMAL_POINTS = "٫．"
GROUPING = ",，﹐、٬ \u00a0\u202f\u2009\u2007\u2008'’ʼ＇"
SPACES = "".join(char for char in map(chr, range(0x3001)) if char.isspace())

DIGITS = {
    **dict(zip("零〇○一二三四五六七八九", (0, 0, *range(10)), strict=True)),
    **dict(zip("壹贰貳叁參肆伍陆陸柒捌玖", (1, 2, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9), strict=True)),
    **dict(zip("两兩幺", (2, 2, 1), strict=True)),
}
TENS = {"廿": 20, "卅": 30, "卌": 40}
SMALL_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
LARGE_UNITS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}
POINT_WORDS = "点點"
UNIT = re.compile(f"[{''.join((*SMALL_UNITS, *LARGE_UNITS, *TENS))}]")
CHINESE = re.compile(f"{UNIT.pattern[:-1]}{''.join(DIGITS)}{POINT_WORDS}负負正]")
FRACTIONS = {char: numeric(char) for char in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒"}
LONGEST_PART = 400  # decimals: the next ones are below the smallest float
LEADING_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


def superscript_number(text: str) -> float:
    """Return the number of a word such as "18", "1.5", "½", "5²", "2½".

    Raises ValueError if it is not a number and OverflowError if a power is too large.
    """
    if text in FRACTIONS:
        return FRACTIONS[text]
    base = text if text.isascii() else re.split(f"[{SUPERSCRIPT_DIGITS}]", text, maxsplit=1)[0]
    exponent = text[len(base) :]
    fractions = [] if base.isascii() else [char for char in base if char in FRACTIONS]
    if len(fractions) > 1 or not text:
        raise ValueError(f"no number: {text[:40]!r}")
    digits = base.replace(fractions[0], "") if fractions else base
    value = 0.0 if fractions else 1.0
    if digits:
        match = LEADING_NUMBER.match(digits)
        if match is None:
            raise ValueError(f"no number: {text[:40]!r}")
        value = float(match.group())
    if fractions:
        value += -FRACTIONS[fractions[0]] if value < 0 else FRACTIONS[fractions[0]]
    power: float = value ** int(exponent.translate(SUPERSCRIPTS)) if exponent else value
    return power


def unicode_number(text: str) -> float:
    """Return the number that a word spells. Raises ValueError if it is not a number."""
    text = text.strip()
    rest = text.lstrip(MINUS + PLUS + SPACES)
    minuses = sum(char in MINUS for char in text[: len(text) - len(rest)])
    sign = -1 if minuses % 2 else 1
    value = numeric(rest, None) if len(rest) == 1 else None  # "½", "Ⅻ", "²", "七"
    if value is not None:
        return sign * value
    base, exponent = rest.strip(), None
    body = rest.rstrip(SPACES + GROUPING)
    start = len(body.rstrip(SUPERSCRIPT_DIGITS))
    if start < len(body):
        start -= body[start - 1 : start] in ("⁻", "⁺")
        if before := body[:start].rstrip():
            base, exponent = before, int(body[start:].translate(SUPERSCRIPTS))
    value = sign * _mixed(base)
    if exponent is None:
        return value
    try:
        return float(value**exponent)
    except (ArithmeticError, TypeError) as error:  # overflow, 0 to a negative power
        raise ValueError(str(error)) from error


def _mixed(text: str) -> float:
    """Return a number that may end in one vulgar fraction ("2½")."""
    places = [] if text.isascii() else [at for at, c in enumerate(text) if 0 < numeric(c, 0) < 1]
    if not places:
        return _core(text)
    place = places[0]
    if len(places) > 1 or text[place + 1 :].strip(SPACES + GROUPING):
        raise ValueError(f"no number: {text[:40]!r}")
    head = text[:place].strip()
    return (_core(head) if head else 0.0) + numeric(text[place])


def _core(text: str) -> float:
    text = text.strip()
    value = _chinese(text) if CHINESE.search(text) else None
    value = _digits_of_any_script(text) if value is None else value
    value = numeric(text, None) if value is None and len(text) == 1 else value
    if value is None:
        raise ValueError(f"no number: {text[:40]!r}")
    return value


def _digits_of_any_script(text: str) -> float | None:
    """Read digits with grouping marks, one decimal mark and an ASCII exponent."""
    point, comma = text.rfind("."), text.rfind(",")
    decimal = "." if point > comma else "," if point >= 0 else ""
    if not decimal and comma >= 0 and len("".join(map(_digit, text[comma + 1 :]))) in (1, 2, 3):
        decimal = ","

    def meaning(char: str) -> str:
        if char in DECIMAL_POINTS or char == decimal:
            return "."
        if char in GROUPING or char.isspace() or (decimal and char in ",."):
            return ""
        return _digit(char) or "?"

    head, *tails = re.split("[eE]", text, maxsplit=1)
    written = "".join(map(meaning, head))
    for tail in tails:
        if not written:
            return None
        sign = tail[:1] if tail and tail[0] in EXPONENT_MINUS + EXPONENT_PLUS else ""
        written += "e-" if sign and sign in EXPONENT_MINUS else "e"
        written += "".join(map(meaning, tail[len(sign) :]))
    try:
        return None if "?" in written or written.count(".") > 1 else float(written)
    except ValueError:
        return None


def _digit(char: str) -> str:
    value = digit(char, DIGITS.get(char))
    return "" if value is None else str(value)


def _chinese(text: str) -> float | None:
    """Read a Chinese numeral: digit by digit, or with units; "点" and points start the decimals."""
    mark = next((mark for mark in (*POINT_WORDS, "．", ".") if mark in text), None)
    whole, _, decimals = text.partition(mark) if mark else (text, "", "")
    digits, after = (
        "".join("" if char.isspace() else _digit(char) or "?" for char in part)
        for part in (whole, decimals)
    )
    if UNIT.search(whole):
        value = _with_units(whole)
    else:
        value = None if "?" in digits else int(digits or "0")
    if value is None or "?" in after:
        return None
    part, place = 0.0, 0.1
    for number in after[:LONGEST_PART]:
        part += int(number) * place
        place /= 10.0
    return float(value) + part


def _with_units(text: str) -> int | None:
    total = section = number = 0
    for char in text:
        if small := SMALL_UNITS.get(char):
            section += (number or 1) * small
            number = 0
        elif large := LARGE_UNITS.get(char):
            total += (section + number) * large
            section = number = 0
        elif char in TENS:
            section += TENS[char]
        elif not char.isspace() and char not in "零〇○":
            if not (written := _digit(char)):
                return None
            number = int(written)
    return total + section + number
