"""Chooses the result among the numbers of a sentence: one weighted decision.

Each number of a sentence gets the features that apply to it (`features`). The candidate with the
highest sum of `WEIGHTS` is the result. The weights were set by hand; `benchmarks/extractor.py`
compares them with fitted ones (docs/experiments.md).
"""

from __future__ import annotations

import re
from itertools import chain, islice

from gradeschool.answers.features import (
    AFTER_VERB,
    ANNOTATION,
    CONTEXT,
    ITEM,
    OPERAND_BEFORE,
    SETTING,
    features,
    has_unit,
    unit_words,
)
from gradeschool.answers.quantities import (
    PLAIN,
    WrittenNumber,
    compounds,
    negated,
    quantities,
    same_value,
    word_quantities,
)
from gradeschool.answers.question import FILLERS, question_hints, stem

MOST_NUMBERS = 60
UNRESOLVED = ""  # the value of an expression without a stated result
EQUALS = re.compile(r"=|≈|\\approx|⇒|→|->|\\Rightarrow|\\rightarrow")
# A number after one of these is not the result: "more than 5" compares with it, "not 5", "can't be
# 5" and "as opposed to 5" exclude its value.
EXCLUDED = re.compile(
    r"(?i)(?:\b(?:(?P<compared>(?<!\bno\s)(?:more|less|greater|fewer)\sthan|compared\s(?:to|with)"
    r"|exceed(?:s|ing)?)|(?:not|never|no\slonger)(?:\sbe)?"
    r"|(?:(?:other|rather)\sthan|(?:instead|en\slugar|en\svez|em\svez|au\slieu|invece)\s(?:of|d[ei])"
    r"|ao\sinvés\sde|as\sopposed\sto|versus|vs\.?|(?:an)?statt|вместо)(?:\sthe|\sa)?"
    r"|(?:et|y|e)\s(?:non?|não)(?:\s(?:pas|de))?|nicht|no\ses|n['’]est\spas|не)"
    r"|n['’]t(?:\sbe)?|\bcannot(?:\sbe)?|≠|\\neq?|不是|而非)$"
)
# "Because she has 4 schools," as the whole sentence.
REASON_ALONE = re.compile(r"(?i)[\s*]{0,6}(?:because|since)\s[^,=:\n]{1,160}[,.]?\s{0,9}")
PART = re.compile(r"\sof\s(?:which|whom)\b")
BELOW_ZERO = re.compile(
    r"\s?(?:°\s?[CF]?|degrees?)?(?:\s(?:Celsius|Fahrenheit))?\sbelow\s(?:zero|0)\b"
)
NEGATIVE_BEFORE = re.compile(
    r"(?i)\b(?:is|at|of|was|be|to|equals|a|has|have|had)\s(?:negative|minus)$"
)
# "$-\boxed{18}$", but not "20 - \boxed{18}".
MINUS_BOX = re.compile(r"(?:[=:$(\[]|\bis)\s?[-−–]\s?\\f?boxed\{\\?\$?$")
# "Algebra, Three Parts" is a name.
TITLE = re.compile(r"(?<=[a-z,]\s)[A-Z][a-z]+\s[A-Z]")
UNNUMBERED = re.compile(r"(?i)\b(?:(?:once|twice|thrice)\b(?!\sas\b)|no\s(?:more\s)?([a-z]+))")
MONEY = ("money", "change", "profit", "cash")
TIMES_VALUES = {"once": "1", "twice": "2", "thrice": "3"}
FOLLOWED = re.compile(r"\s?\\?[$€£]?-?[\d.]")
OR = re.compile(r"\s{1,3}(?:or|and/or)\s{1,3}|,?\s{1,3}or\s(?:maybe|perhaps|possibly)\s")
RANGE = re.compile(r"\s{1,3}and\s{1,3}")
AND = re.compile(r"(?:\s[A-Za-z-]{2,20}){1,3},?\sand\s")
# Features of the numbers in a sentence that only counts things.
PLAIN_FEATURES = frozenset(
    ("verb", "last", "earlier", "word", "other unit", "asked name", "given", "given value")
)
WEIGHTS = {
    "result": 3.3, "result word": 2.5, "verb": 1.0, "operand": -4.0, "defined": 2.0,
    "unit asked": 2.0, "other unit": -1.5, "bold": 4.0, "boxed": 4.0, "given": -2.0,
    "setting": -1.5, "for": -1.5, "excluded": -4.0, "part": -3.0, "in parentheses": -1.5,
    "working": -5.0, "reason": -4.5, "last": 1.0, "earlier": -1.0, "total": 1.0,
    "alternative": -1.0, "given value": -0.5, "left of equals": -2.0, "rounded": 4.0,
    "approximation": -8.0, "clause": -1.0, "negated": -2.5, "rest": -4.0, "asked alternative": 3.0,
    "drawn": 4.0, "whole": -4.0, "asked name": 1.5, "direct": 3.0,
    "leading": -3.0, "word": 0.5, "compared": -2.5, "share": -2.5,
    "other thing": -2.0, "other rate": -3.0,
}  # fmt: skip


def stated_number(text: str, start: int, end: int, question: str) -> WrittenNumber | None:
    """Return the number that a sentence states as its result, None if it contains no number."""
    plain = PLAIN.match(text, start, end)
    if plain is not None and plain.end() == end:  # a number alone, as in most boxes
        return _signed(text, start, WrittenNumber(plain[0], start, end))
    numbers = sentence_numbers(text, start, end, question)
    if not numbers:
        return _unnumbered(text, start, end, question)
    if len(numbers) > 1:
        number = best_number(text, start, end, numbers, question)
        if number.value == UNRESOLVED:  # "He has seventeen apples (3 x 4 + 5)."
            words = islice(word_quantities(text, start, numbers[0].start), MOST_NUMBERS)
            return next((word for word in words if _follows_verb(text, start, word)), number)
        return number
    number = numbers[0]
    if REASON_ALONE.fullmatch(text, start, end):
        return None
    if "," in text[start : number.start] and not has_unit(text, number, end, question):
        words = islice(word_quantities(text, start, number.start), MOST_NUMBERS)
        for word in words:  # "She keeps eighteen stickers, having given 30 away."
            if _follows_verb(text, start, word) and has_unit(text, word, end, question):
                return word
    if number.value in question_hints(question).values and SETTING.search(
        text[max(start, number.start - CONTEXT) : number.start]
    ):  # "After 4 hours it is minus seven degrees."
        words = islice(word_quantities(text, number.end, end), MOST_NUMBERS)
        return next((word for word in words if _follows_verb(text, number.end, word)), number)
    return number


def _follows_verb(text: str, start: int, number: WrittenNumber) -> bool:
    return AFTER_VERB.search(text[max(start, number.start - CONTEXT) : number.start]) is not None


def _unnumbered(text: str, start: int, end: int, question: str) -> WrittenNumber | None:
    """Return 2 for "twice" if a number of times is asked for, 0 for "no quarters" of quarters."""
    units = question_hints(question).units
    for match in UNNUMBERED.finditer(text, start, end):
        value = TIMES_VALUES.get(match[0].lower())
        if value is None and (stem(match[1]) in units or ("dollar" in units and match[1] in MONEY)):
            return WrittenNumber("0", *match.span())
        if value is not None and "time" in units:
            return WrittenNumber(value, *match.span())
    return None


def best_number(
    text: str,
    start: int,
    end: int,
    numbers: list[WrittenNumber],
    question: str,
    *,
    direct: bool = False,
) -> WrittenNumber:
    """Return the number of a sentence with the highest weight; in a tie, the last one.

    direct: whether the first number comes right after a marker of the answer. Its value is
    UNRESOLVED if the best number is an operand: "5x - 4 cups" and "24 / 6" are not worked out.
    """
    rows = features(text, start, end, numbers, question)
    if any("unit asked" in names for names in rows):
        _mark_others(text, end, numbers, rows)
    if direct:
        rows[0].append("direct")
    scores = [sum(map(WEIGHTS.__getitem__, names)) for names in rows]
    best = len(scores) - 1 - scores[::-1].index(max(scores))
    number = numbers[best]
    unresolved = "operand" in rows[best] or _only_parts(text, end, numbers, rows, question)
    return number._replace(value=UNRESOLVED) if unresolved else number


def _only_parts(
    text: str, end: int, numbers: list[WrittenNumber], rows: list[list[str]], question: str
) -> bool:
    """Return whether a sentence counts two things, neither of which was asked for.

    "They grow 5 arms and 3 legs" gives no number of limbs.
    """
    counted = [
        (number, names)
        for number, names in zip(numbers, rows, strict=True)
        if "setting" not in names  # "after 15 days"
    ]
    if len(counted) != 2 or any(not PLAIN_FEATURES.issuperset(names) for _, names in counted):
        return False
    (first, _), (second, _) = counted
    if AND.fullmatch(text, first.end, second.start) is None:
        return False
    units = [{stem(word) for word in unit_words(text, number, end)} for number in (first, second)]
    question_units = question_hints(question).units
    return bool(question_units) and all(unit and question_units.isdisjoint(unit) for unit in units)


def _mark_others(text: str, end: int, numbers: list[WrittenNumber], rows: list[list[str]]) -> None:
    """Mark numbers that count another thing than requested, if both are counted."""
    for number, names in zip(numbers, rows, strict=True):
        if not {"unit asked", "other unit", "result"}.intersection(names):
            words = unit_words(text, number, end)
            if words and words[0].lower() not in FILLERS:
                names.append("other thing")


def sentence_numbers(text: str, start: int, end: int, question: str) -> list[WrittenNumber]:
    """Return the numbers of a sentence that may be its result, from left to right.

    Excludes the number of a list item and numbers that the sentence rules out; "4 hours and 30
    minutes" and "17 or 18" are one number each; number words count only if there are no digits.
    """
    item = ITEM.match(text, start, end)
    begin = start if item is None else item.end()
    numbers = list(islice(quantities(text, begin, end), MOST_NUMBERS))
    if text.find("<<", begin, end) >= 0:
        numbers = _outside_annotations(text, begin, end, numbers)
    if not numbers and item is not None and not text[begin:end].strip(" \n*.)"):
        return list(quantities(text, start, end))  # nothing but "18."
    if not numbers:
        words = list(islice(word_quantities(text, begin, end), MOST_NUMBERS))
        words = [word for word in words if not TITLE.match(text, word.start)]
        return [word for word in words if word.value != "1"] or words
    if len(numbers) > 1:
        numbers = offered_together(text, compounds(text, numbers, end))
    kept, excluded = [], set[str]()
    for number in numbers:
        if _is_share(text, number, end, question):
            continue
        before = text[max(start, number.start - 24) : number.start].rstrip("$ }")
        exclusion = EXCLUDED.search(before)
        if exclusion is not None:
            if exclusion["compared"] is None:
                excluded.add(number.value)
        else:
            kept.append(_signed(text, start, number))
    # "35 % of 120 is 42, but it is 78 and not 42": the first 42 is excluded too.
    if excluded:
        kept = [number for number in kept if number.value not in excluded] or kept
    return kept


def _is_share(text: str, number: WrittenNumber, end: int, question: str) -> bool:
    """Return whether a number is only a share of the result: "4 of which", "1/2 of"."""
    if not text.startswith(" of ", number.end) or number.end + 4 > end:
        return False
    if PART.match(text, number.end, end):
        return True
    return "/" in number.value and not question_hints(question).share


def _signed(text: str, start: int, number: WrittenNumber) -> WrittenNumber:
    """Return a number with the sign before its box, or given by a word: "minus 8"."""
    boxed = text.rfind("boxed{", max(0, number.start - 8), number.start) >= 0
    if boxed and MINUS_BOX.search(text[max(0, number.start - 24) : number.start]):
        return number._replace(value=negated(number.value))
    before = text[max(start, number.start - 20) : number.start].rstrip("$ ")
    if number.value.startswith("-"):
        return number
    worded = before.endswith(("minus", "negative")) and NEGATIVE_BEFORE.search(before)
    if not worded and (
        text.find("below", number.end, number.end + 40) < 0
        or not BELOW_ZERO.match(text, number.end)
    ):
        return number
    return number._replace(value=f"-{number.value}")


def _outside_annotations(
    text: str, start: int, end: int, numbers: list[WrittenNumber]
) -> list[WrittenNumber]:
    """Return the numbers outside "<<8*2=16>>", or all of them if there are no others."""
    # "10/2 = <<10/2=5>> miles": if no number follows the annotation, the result inside it counts.
    spans = [
        (match.start(), text.rfind("=", match.start(), match.end()))
        if not FOLLOWED.match(text, match.end(), end)
        else match.span()
        for match in ANNOTATION.finditer(text, start, end)
    ]
    outside = [
        number
        for number in numbers
        if not any(opened < number.start < closed for opened, closed in spans)
    ]
    return outside or numbers


def offered_together(text: str, numbers: list[WrittenNumber]) -> list[WrittenNumber]:
    """Return numbers with "17 or 18" as one that equals neither; "$0.10 or 10 cents" stays two.

    So is "between 17 and 18".
    """
    merged: list[WrittenNumber] = []
    for number in numbers:
        last = merged[-1] if merged else None
        if last is not None and _offers_both(text, last, number):
            alike = ("$" in text[slice(*last[1:])]) == ("$" in text[slice(*number[1:])])
            operand = OPERAND_BEFORE.search(text[max(0, last.start - CONTEXT) : last.start])
            if alike and not operand and text[number.end : number.end + 1] not in ("%", "\\"):
                same = same_value(last.value, number.value)
                value = last.value if same else f"{last.value} or {number.value}"
                merged[-1] = WrittenNumber(value, last.start, number.end)
                continue
        merged.append(number)
    return merged


def _offers_both(text: str, first: WrittenNumber, second: WrittenNumber) -> bool:
    if OR.fullmatch(text, first.end, second.start):
        return True
    before = text[max(0, first.start - 12) : first.start].rstrip("$ ")
    return before.endswith("between") and RANGE.fullmatch(text, first.end, second.start) is not None


def has_equals(text: str, start: int, end: int) -> bool:
    """Return whether a piece of text works something out."""
    return EQUALS.search(text, start, end) is not None


def offers_value(text: str, start: int, end: int, value: str) -> bool:
    """Return whether a piece of text contains a value, in digits or in words."""
    span = text, start, end
    return any(
        same_value(number.value, value)
        for number in chain(quantities(*span), word_quantities(*span))
    )
