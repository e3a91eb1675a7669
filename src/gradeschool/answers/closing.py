"""The number that a closing sentence states."""

from __future__ import annotations

import re
from itertools import islice

from gradeschool.answers.quantities import WrittenNumber, quantities, quantity_at, word_quantities
from gradeschool.answers.question import QuestionHints, stem

MOST_NUMBERS = 60
# What stands between a "=" or a marker and its number.
LEAD = re.compile(
    r"(?:~~[^~\n]{1,40}~~|[\s*_`\"'({\[:=≈~]|\\[()\[\],;! ]|\$(?!\s?\.?\d)|\\approx|\\\$(?=\s?[−-])"
    r"|\+(?=\s?[\d$])|[A-Za-z]\s?=(?=\s?[\d$−-])"
    r"|\\(?:text|textbf|mathbf|mathrm|bf|underline)\b\{?"
    r"|(?i:about|approximately|approx\.?|roughly|around|exactly|just|simply|only|equal\sto"
    r"|a\stotal\sof|that)\b)*+"
)
EQUALS = re.compile(r"=|≈|\\approx|⇒|→|->|\\Rightarrow|\\rightarrow")
OPERATOR = re.compile(
    r"\s?(?:[+/×÷^]|\*(?!\*)|\\times|\\div|\\cdot|[−-](?=\s?\$?\d)|x(?=\s?\$?\d))"
)
# Numbers behind these tell when, how often or of what, not how many.
SETTING = re.compile(
    r"(?i)\b(?:after|in|during|within|over|every|each|per|first|last|next|past|all|the|these|those"
    r"|other|on|from|between|than|not|by|at|with|his|her|their|step|equation|day|week|year|problem"
    r"|part|case|if|when|since|number|original|après|nach|después\sde)"
    r"(?:\s(?:the|about|only|a|an|his|her|their|all|of))?"
    r"(?:\s(?:first|last|next|other|remaining))?[\s*(]{0,3}$"
)
SETTING_FOR = re.compile(
    r"(?i)\bfor(?:\s(?:the|all|each|every|his|her|their))?(?:\s(?:first|last|next|other))?\s$"
)
# The minutes of "2 hours and 30 minutes".
REST = re.compile(
    r"\d\s?(?:hours?|hrs?|h|minutes?|mins?|feet|foot|days?|weeks?|years?|months?),?\s(?:and\s)?$"
)
ITEM = re.compile(
    r"[\s*>#(-]{0,8}(?:(?:Step|Part|Case|Equation|Option)\s)?\(?\d{1,3}[.):](?:\*\*)?(?=\s|\*|$)",
    re.I,
)
BOLD = re.compile(
    r"\*\*((?:[^*\n]|\*(?!\*)){1,200})\*\*|__([^_\n]{1,200})__|\\textbf\{([^{}\n]{1,200})\}"
)
# What a number is not, or is above, says not what it is.
EXCLUDED = re.compile(
    r"(?i)\b(?:not|(?<!\bno\s)(?:more|less|greater|fewer|other|rather)\sthan|instead\sof"
    r"|compared\s(?:to|with))\s\$?$"
)
# "$60 of which was overtime" is a part of what was found, "(160 + 80)" how it was.
REASON = re.compile(r"(?i)[\s,(](?:since|because|assuming|given\sthat)\s")
PART = re.compile(r"\sof\s(?:which|whom)\b")
# What may stand between a number and "=" behind it, and what before it makes it an operand.
NAME_ONLY = re.compile(r"[A-Za-z\s$\\\\{}%¢]{0,24}")
OPERAND = re.compile(r"[-+−–×÷*/][\s$]*$")
WORKING = re.compile(r"\([^()\n=]{0,60}[÷×+*·][^()\n=]{0,60}\)")
OR = re.compile(r"\s{1,3}(?:or|and/or)\s{1,3}")
LABEL = re.compile(r":(?!\d)|=")
NEXT_WORDS = re.compile(
    r"(?:[\s*$})]|\\[,;:! )\]]){0,6}"
    r"(?:\\?(%|¢)|(?:\\(?:text|mathrm|mbox|textbf)\{\s?)?((?:[A-Za-z][A-Za-z'’-]*[\s]?){1,4}))"
)
# The same amount in another unit: "2 hours (120 minutes)", "1.5 hours or 90 minutes".
ALSO = re.compile(
    r"(?:[ ]?[A-Za-z$%\\{}]{1,20}){0,3}[ ,]{0,2}"
    r"(?:\(|\bor|=|≈|\bwhich\sis|\bi\.e\.,?|\bthat\sis,?|equivalent\sto)\s?"
    r"(?:also\s|about\s|approximately\s|equal\sto\s|equivalent\sto\s|or\s|=\s?)?"
)


def stated_number(text: str, start: int, end: int, hints: QuestionHints) -> WrittenNumber | None:
    """Return the number that a sentence states as its result, None where it holds none.

    In bold, else behind the last "=", else with the unit that was hints, else the last one that
    tells neither when, how often nor of what, and that the question did not give.
    """
    bold = _bold(text, start, end)
    if bold is not None:
        start, end = bold
    numbers = _numbers(text, start, end)
    if not numbers:
        return None
    return _result(text, end, numbers, hints) or _chosen(text, start, end, numbers, hints)


def asked_alternative(
    text: str, first: WrittenNumber, end: int, hints: QuestionHints
) -> WrittenNumber:
    """Return the same amount in the asked unit where it stands right behind a number."""
    if not hints.units or _has_unit(text, first, end, hints):
        return first
    also = ALSO.match(text, first.end, end)
    if also is None:
        return first
    second = quantity_at(text, also.end(), end)
    if second is None or not _has_unit(text, second, end, hints):
        return first
    bracket = text.rfind("(", first.end, second.start)
    return first if bracket >= 0 and WORKING.match(text, bracket, end) else second


def skip_lead(text: str, at: int, end: int) -> int:
    """Return where the lead of a number ends: white space, markup, "about", an opening bracket."""
    lead = LEAD.match(text, at, end)
    return at if lead is None else lead.end()


def has_equals(text: str, start: int, end: int) -> bool:
    """Tell whether something is worked out in a piece of text."""
    return EQUALS.search(text, start, end) is not None


def _bold(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the last bold words with a digit, from behind their last ":" or "=" on."""
    said = text[start:end]
    if "**" not in said and "textbf" not in said and "__" not in said:
        return None
    last = None
    for bold in BOLD.finditer(text, start, end):
        if bold.lastindex and any(character.isdecimal() for character in bold[bold.lastindex]):
            last = bold
    if last is None or last.lastindex is None:
        return None
    begin, stop = last.span(last.lastindex)
    if ITEM.fullmatch(text, begin, stop):
        return None
    for label in LABEL.finditer(text, begin, stop):
        if any(character.isdecimal() for character in text[label.end() : stop]):
            begin = label.end()
    return begin, stop


def _numbers(text: str, start: int, end: int) -> list[WrittenNumber]:
    """Return the quantities of a sentence that may be its result, from left to right."""
    item = ITEM.match(text, start, end)
    begin = start if item is None else item.end()
    numbers = list(islice(quantities(text, begin, end), MOST_NUMBERS))
    if not numbers and item is not None and not text[begin:end].strip(" \n*.)"):
        return list(quantities(text, start, end))  # "18." and nothing else
    if not numbers:
        words = list(islice(word_quantities(text, begin, end), MOST_NUMBERS))
        return [word for word in words if word.value != "1"] or words
    return offered_together(text, _told(text, begin, end, numbers))


def _told(text: str, start: int, end: int, numbers: list[WrittenNumber]) -> list[WrittenNumber]:
    """Return the numbers that are not said to be something else, nor how another was found."""
    kept = [
        one
        for one in numbers
        if not EXCLUDED.search(text[max(start, one.start - 16) : one.start])
        and not PART.match(text, one.end, end)
    ]
    if len(kept) < 2:
        return kept
    reason = REASON.search(text, kept[0].end, kept[-1].start)
    if reason is not None:
        kept = [one for one in kept if one.end <= reason.start() + 1]
    if text.find("(", start, end) < 0:
        return kept
    for working in WORKING.finditer(text, start, end):
        outside = [one for one in kept if not working.start() < one.start < working.end()]
        kept = outside or kept
    return kept


def offered_together(text: str, numbers: list[WrittenNumber]) -> list[WrittenNumber]:
    """Return numbers with "17 or 18" as one, which is neither; "$0.10 or 10 cents" stays two."""
    merged: list[WrittenNumber] = []
    for number in numbers:
        last = merged[-1] if merged else None
        alike = last is not None and ("$" in text[slice(*last[1:])]) == (
            "$" in text[slice(*number[1:])]
        )
        if last is not None and alike and OR.fullmatch(text, last.end, number.start):
            value = last.value if last.value == number.value else f"{last.value} or {number.value}"
            merged[-1] = WrittenNumber(value, last.start, number.end)
        else:
            merged.append(number)
    return merged


def _result(
    text: str, end: int, numbers: list[WrittenNumber], hints: QuestionHints
) -> WrittenNumber | None:
    """Return the number behind the last "=", or a later one in the asked unit."""
    for number in reversed(numbers):
        before = text[max(0, number.start - 40) : number.start]
        sign = None
        for sign in EQUALS.finditer(before):  # noqa: B007
            pass
        if sign is None or skip_lead(before, sign.end(), len(before)) < len(before):
            continue
        if OPERATOR.match(text, number.end, end):  # "18 = 9 + 9"
            left = [one for one in numbers if one.end <= number.start - len(before) + sign.start()]
            return left[-1] if left and EQUALS.search(text, number.end, end) is None else None
        equals = number.start - len(before) + sign.start()
        return _in_asked_unit(text, end, number, equals, numbers, hints)
    return None


def _in_asked_unit(
    text: str,
    end: int,
    number: WrittenNumber,
    equals: int,
    numbers: list[WrittenNumber],
    hints: QuestionHints,
) -> WrittenNumber:
    """Return the number behind a "=", or the same amount in the asked unit beside it.

    Behind it ("= 2 hours, which is 120 minutes") or before it ("160 min = 2 h 40 min").
    """
    fits = _has_unit(text, number, end, hints)
    for one in reversed(numbers):
        if one.start <= number.start:
            break
        between = text[number.start : one.start]
        aside = REST.search(between) or (fits and ("(" in between or " or " in between))
        if not aside and _has_unit(text, one, end, hints):
            return one
    if fits or not (_unit_words(text, number, end) or "$" in text[number.start : number.end]):
        return asked_alternative(text, number, end, hints)
    left = [one for one in numbers if one.end <= equals][-1:]
    for one in left:
        operand = OPERAND.search(text[max(0, one.start - 3) : one.start])
        if operand is None and NAME_ONLY.fullmatch(text, one.end, equals):
            return one if _has_unit(text, one, end, hints) else number
    return asked_alternative(text, number, end, hints)


def _chosen(
    text: str, start: int, end: int, numbers: list[WrittenNumber], hints: QuestionHints
) -> WrittenNumber:
    fresh = [one for one in numbers if not _given(text, one, end, hints)] or numbers
    in_unit = [one for one in fresh if _has_unit(text, one, end, hints)]
    if in_unit:
        told = [one for one in in_unit if not _sets_the_scene(text, start, one)]
        return (told or in_unit)[-1]
    free = [one for one in fresh if not _sets_the_scene(text, start, one)]
    free = [one for one in free if not _in_parentheses(text, start, one)] or free
    return asked_alternative(text, (free or fresh)[-1], end, hints)


def _given(text: str, number: WrittenNumber, end: int, hints: QuestionHints) -> bool:
    """Tell whether a quantity stands in the question with the same word behind it."""
    if not hints.givens:
        return False
    word = _unit_words(text, number, end)[:1]
    return bool(word) and (number.value, stem(word[0])) in hints.givens


def _has_unit(text: str, number: WrittenNumber, end: int, hints: QuestionHints) -> bool:
    if not hints.units:
        return False
    if "dollar" in hints.units and "$" in text[max(0, number.start - 1) : number.end]:
        return True
    units = {stem(word) for word in _unit_words(text, number, end)}
    return not hints.units.isdisjoint(units)


def _unit_words(text: str, number: WrittenNumber, end: int) -> list[str]:
    found = NEXT_WORDS.match(text, number.end, end)
    if found is None:
        return []
    if found.group(1):
        return ["percent" if found.group(1) == "%" else "cent"]
    return str(found.group(2)).split()


def _in_parentheses(text: str, start: int, number: WrittenNumber) -> bool:
    opened = text.rfind("(", start, number.start)
    return opened > text.rfind(")", start, number.start) and text[opened - 1] != "\\"


def _sets_the_scene(text: str, start: int, number: WrittenNumber) -> bool:
    before = text[max(start, number.start - 40) : number.start]
    if SETTING.search(before) or REST.search(before):
        return True
    return "$" not in text[number.start : number.end] and SETTING_FOR.search(before) is not None
