"""Chooses the result among the numbers of a sentence: one weighted decision.

Each number gets the features that apply to it: it follows "=", it is an operand, it has the unit
that the question asks for, and so on. The one with the highest sum of `WEIGHTS` is the result. The
weights were set by hand; `benchmarks/ablation.py` shows what each of them decides.
"""

from __future__ import annotations

import re
from itertools import chain, islice, pairwise

from gradeschool.answers.assertion import DENIALS, doubt
from gradeschool.answers.quantities import (
    NUMBER_IN_WORDS,
    PLAIN,
    WrittenNumber,
    compounds,
    negated,
    quantities,
    quantity_at,
    same_value,
    word_quantities,
)
from gradeschool.answers.question import FILLERS, question_hints, stem

MOST_NUMBERS, CONTEXT = 60, 48
UNRESOLVED = ""  # the value of an expression without a stated result
WEIGHTS = {
    "result": 3.3, "result word": 2.5, "verb": 1.0, "operand": -4.0, "unit asked": 2.0,
    "other unit": -1.5, "given": -2.0, "given value": -1.5, "setting": -1.5, "in parentheses": -1.5,
    "working": -5.0, "reason": -4.5, "last": 1.0, "earlier": -1.0, "total": 1.0,
    "asked alternative": 3.0, "approximation": -8.0, "clause": -2.0,
    "negated": -2.5, "drawn": 4.0, "whole": -4.0, "asked name": 1.5, "direct": 3.0, "word": 0.5,
    "rounded": 4.0, "leading": -3.0, "compared": -2.5, "other thing": -2.0, "other rate": -3.0,
}  # fmt: skip
EQUALS = re.compile(r"=|≈|\\approx|⇒|→|->|\\Rightarrow|\\rightarrow")
# Characters between a "=" or a marker and its number.
LEAD = re.compile(
    r"(?:~~[^~\n]{1,40}~~|[\s*_`\"'({\[:=≈~]|\\[()\[\],;! ]|\$(?!\s?\.?\d)|\\approx|\\\$(?=\s?[−-])"
    r"|\+(?=\s?\\?[\d$])|[A-Za-z]\s?=(?=\s?[\d$−-])"
    r"|\\(?:text|textbf|mathbf|mathrm|bf|underline)\b\{?"
    r"|(?i:about|approximately|approx\.?|roughly|around|exactly|just|simply|only|equal\sto"
    r"|a\stotal\sof|that)\b)*"
)
# The end of the text before a number.
AFTER_EQUALS = re.compile(
    r"(?:=|≈|⇒|→|->|\\approx|\\[Rr]ightarrow)"
    r"(?:[\s*_~({\[$:=%]|\\[()\[\],;! $]|\\(?:boxed|text|textbf|mathbf)\{"
    r"|(?:about|approximately|roughly)\s)*$"
)
_BEFORE = r"[\s*_(]{1,3}\\?\(?[\s$*]{0,3}$"
AFTER_RESULT_WORD = re.compile(
    r"\b(?i:which\s(?:is|equals|gives|makes|means)|(?:total|sum|answer|result)\s(?:is|was)|equals?|equal\sto|gives(?:\s\w+)?|comes\sto"
    r"|total(?:s|ing|ling)?\s(?:of|to|up\sto)|a\stotal\s\w+\sof|totals|that\sis,?|results?\sin"
    r"|adds\sup\sto|amounts\sto|leav(?:es|ing)(?:\s\w+){0,2}|left\swith|ends\sup\swith)" + _BEFORE
)
AFTER_VERB = re.compile(
    r"\b(?i:is(?:\sworth)?|are|was|were|be|been|ha(?:s|ve|d)|costs?|earn(?:s|ed)?|makes?|made"
    r"|pa(?:y|ys|id)|need(?:s|ed)?|spen[dt]s?|g[eo]ts?|sold|sells?|takes?|took|lasts?|receive[sd]?"
    r"|save[sd]?|owe[sd]?|buys?|bought|eats?|ate|gives?|gave|weighs?|contains?|drinks?|drove|r[au]n"
    r"|runs|(?:will|can|must|should|did)\s\w+|reads?|walks?|travel(?:s|ed)|use[sd]?|keeps?)"
    r"(?i:\s(?:now|still|only|exactly|about|approximately|then|also|just|her|him|them|all|over"
    r"|at\sleast|at\smost|up\sto))?" + _BEFORE
)
# Any other word may also be a verb: "covers 300 miles".
AFTER_WORD = re.compile(
    r"\b(?!(?:and|or|but|then|so|of|for|a|an|plus|minus|times|versus|vs|about|as|to|only|since|because"
    r"|with|that|than|if|also|both|around|roughly|approximately|almost|nearly|exactly)\b)[a-z]{2,20}"
    r"[\s*_]{1,3}\$?$"
)
SETTING = re.compile(
    r"\b(?i:after|in|during|within|over|every|each|per|first|last|next|past|all|the|these|those|other"
    r"|on|from|between|than|not|by|at|with|his|her|their|step|equation|hour|day|week|month|year"
    r"|problem|part|case|if|when|since|number|original|of|après|nach|después\sde|d['’]ici|binnen)"
    r"(?i:\s(?:the|about|only|a|an|his|her|their|all|of))?"
    r"(?i:\s(?:first|last|next|other|remaining))?[\s*(]{0,3}\$?$"
)
FOR = re.compile(
    r"(?i)\bfor(?:\s(?:the|all|each|every|his|her|their))?(?:\s(?:first|last|next|other))?\s$"
)
AFTER_ROUNDING = re.compile(
    r"(?i)\bround(?:s|ed|ing)?\s(?:(?:it|this|that|up|down|off)\s){0,2}to\s(?:get\s)?[*_$]{0,3}$"
)
OPERAND_BEFORE = re.compile(
    r"(?:[\w)}%¢\]]\s{0,3}\\?[$)]?\s?(?:[+×÷·/^]|\\times|\\div|\\cdot|[−–-]|\*)"
    r"|[\d)%}]\s{0,2}\$?\s?x|\b(?:plus|(?<!is\s)(?<!at\s)minus|times|divided\sby|multiplied\sby))\s{0,2}[\\$(]{0,4}\s?$"
)
_UNIT_AFTER = (
    r"(?:\s?(?:\\?%|\\text\{[^{}]{0,24}\}|[A-Za-z¢]{1,20}+(?<!\btimes)(?<!\bplus)(?<!\bminus)"
    r"|/[a-z]+|\\?[)$}\]])){0,4}\s{0,2}"
)
OPERAND_AFTER = re.compile(
    _UNIT_AFTER + r"(?:[+×÷·^]|\*(?!\*)|/(?=\s?\\?\$?[\d(])|\\(?:times|div|cdot)"
    r"|[−–-](?=\s?\\?\$?[\d(]|\s?[nxyz]\b)"
    r"|x(?=\s?\\?\$?[\d(])|(?:times|plus|minus|divided\sby|multiplied\sby)\s\\?[$(]?\d)"
)
EQUALS_AFTER = re.compile(_UNIT_AFTER + r"(?:\\approx|[=≈])\s?(?P<right>[^\n=]{0,12})")
# "Because she has 4 schools," as the whole sentence.
REASON_ALONE = re.compile(r"(?i)[\s*]{0,6}(?:because|since)\s[^,=:\n]{1,160}[,.]?\s{0,9}")
REASON = re.compile(r"(?i)[\s,(](?:since|because|assuming|given\sthat|as\sthere\sare|as(?=\s\d))\s")
# "Since there are 4 schools, 44 people came."
LEADING = re.compile(
    r"(?i)[\s*]{0,6}(?:(?:so|and|but|now|then|thus|therefore|hence|finally),?\s)?"
    r"(?:since|because|as|if|given|assuming|when|while|although)\b[^,:\n]{1,160}"
    r"(?:,\d{3}[^,:\n]{1,80})?,\s"
)
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
UNNUMBERED = re.compile(r"(?i)\b(?:(once|twice|thrice)\b(?!\sas\b)|no\s(?:more\s)?([a-z]+))")
MONEY = ("money", "change", "profit", "cash")
TIMES_VALUES = {"once": "1", "twice": "2", "thrice": "3"}
FOLLOWED = re.compile(r"\s?\\?[$€£]?-?[\d.]")
OR = re.compile(
    r"\s{1,3}(?:or|and/or)\s{1,3}(?:(?:it|there)(?:\sis|\sare|['’]s)\s)?|,?\s{1,3}or\s(?:maybe|perhaps|possibly)\s"
)
RANGING = re.compile(r"(?i)(?:ranges|takes|lasts|costs|between|(?:^|[.!?\n]\s?))\s?from$")
RANGE = re.compile(r"\s{1,3}(?:and|y|et|und|e|и)\s{1,3}")
AND = re.compile(r"(?:\s[A-Za-z-]{2,20}){1,3},?\sand\s")
LISTED = re.compile(r"\s?(?:[,;/|]\s?(?:or\s|and\s)?|\s(?:or|and)\s)\\?\$?")
ITEM = re.compile(
    r"[\s*>#(-]{0,8}(?:(?:(?i:Step|Part|Case|Equation|Option)\s)?\(?\d{1,3}[.):]"
    r"|[A-Z][a-z]{2,9}\s\d{1,3}:)(?:\*\*)?(?=\s|\*|$)"
)
TOTAL_AFTER = re.compile(
    r"(?i)(?:\s\w+){0,3}\s(?:left(?:\sover)?|remain(?:ing|s)?|in\s(?:total|all)|altogether|total)\b"
)
ALTERNATIVE = re.compile(r"(?i)(?:(?<!\\)\(|(?<!\()\b(or\b|i\.e\.|that\sis\b))[\s~$(,*.]{0,4}$")
APPROXIMATION = re.compile(r"(?:≈|\\approx)\s{0,2}\\?\$?$")
# The text after one of these adds details to a number before it: "so that 31 are left".
CLAUSE = re.compile(
    r"(?i)\b(?:if|when|while|instead|unless|until|before|after|who|whose|so\sthat"
    r"|i\.e\.,?(?=\s[a-z])(?!\san?\s\$?\Z)|in\sother\swords,?|(?:by|from|for|of)\s\w+ing"
    r"|to\s(?!get|give|obtain|reach|find|be\b|have\b|\W|\d)\w+)\s"
)
WORD_BEFORE = re.compile(rf"{NUMBER_IN_WORDS}\s$", re.I)
# "4 of the 24 slices"
WHOLE = re.compile(
    r"\s(?:out\s)?of\s(?:the\s|these\s|those\s|his\s|her\s|their\s|all\s)?(?:\w+\s)?"
)
DRAWN = re.compile(
    r"(?i)[,;:]\s(?:so|thus|therefore|hence|meaning|which\smeans|(leaving\s\w+\swith))\b"
)
RATE_AFTER = re.compile(
    r"(?i)[*}$)]{0,3}\s?(?:\w+\s)?(?:(?:a|per|each|every)\s|/\s?)(hour|day|week|month|year)\b"
)
MORE_THAN = re.compile(
    r"(?i)(?:\s\w+){0,2}\s(?:more|less|fewer|(?!(?:oth|rath)er)\w{3,12}er)\sthan\b"
)
NEGATED_AFTER = re.compile(
    r"(?i)(?:\s\w+){0,2}\s(?:did|do|does|are|were|is|was|have|has)(?:\snot|n['’]t)\b"
)
ANNOTATION, ANNOTATION_END = re.compile(r"<<[^<>\n]{1,200}>>"), ">>"
WORKING = re.compile(r"\([^()\n]{0,60}?(?:[÷×+*·]|\d\s?[-−–/]\s?\$?\d)[^()\n]{0,60}\)")
NEXT_WORDS = re.compile(
    r"(?:[\s*$})]|\\[,;:! )\]]|-){0,6}"
    r"(?:\\?(%|¢)|(?:\\(?:text|mathrm|mbox|textbf)\{\s?)?((?:[A-Za-z][A-Za-z'’-]*[\s]?){1,4}))"
)
# Units that mean something else if another of them is requested.
MEASURES = frozenset(
    """
    dollar cent percent hour minute second day week month year mile kilometer meter foot inch
    centimeter pound ounce gram kilogram liter gallon cup
    """.split()  # noqa: SIM905
)
RESULTS = frozenset(("result", "rounded"))
# Features of the numbers in a sentence that only counts things.
PLAIN_FEATURES = frozenset(
    ("verb", "last", "earlier", "word", "other unit", "asked name", "given", "given value")
)


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
    for match in UNNUMBERED.finditer(text, start, end) if units else ():
        if match[1] and "time" in units:
            return WrittenNumber(TIMES_VALUES[match[1].lower()], *match.span())
        if match[2] and (stem(match[2]) in units or ("dollar" in units and match[2] in MONEY)):
            return WrittenNumber("0", *match.span())
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
    UNRESOLVED if the best number is an operand ("24 / 6" is not worked out), one of a list of
    options, or one of two things that were not asked for.
    """
    rows = features(text, start, end, numbers, question)
    if any("unit asked" in names for names in rows):
        _mark_others(text, end, numbers, rows)
    if direct:
        rows[0].append("direct")
    scores = [sum(map(WEIGHTS.__getitem__, names)) for names in rows]
    best = len(scores) - 1 - scores[::-1].index(max(scores))
    number = numbers[best]
    unresolved = (
        "operand" in rows[best]
        or _is_option(text, numbers, best)
        or _only_parts(text, end, numbers, rows, question)
    )
    return number._replace(value=UNRESOLVED) if unresolved else number


def _is_option(text: str, numbers: list[WrittenNumber], index: int) -> bool:
    """Return whether a number is one of three or more that are only listed: "12, 15 or 18"."""
    joined = [
        LISTED.fullmatch(text, left.end, right.start) is not None
        and not same_value(left.value, right.value)  # "3/8, or 0.375" is one answer
        for left, right in pairwise(numbers)
    ]
    before, after = joined[:index], joined[index:]
    count = 0
    for side in (before[::-1], after):
        for is_joined in side:
            if not is_joined:
                break
            count += 1
    return count >= 2


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

    Excludes the number of a list item and numbers that the sentence rules out or only considers; "4
    hours and 30 minutes" and "17 or 18" are one number each; number words count only if there are
    no digits.
    """
    item = ITEM.match(text, start, end)
    begin = start if item is None else item.end()
    numbers = list(islice(quantities(text, begin, end), MOST_NUMBERS))
    if text.find("<<", begin, end) >= 0:
        numbers = _outside_annotations(text, begin, end, numbers)
    if not numbers and item is not None and not text[begin:end].strip(" \n*.)"):
        numbers = list(quantities(text, start, end))  # nothing but "18."
    if not numbers:
        words = list(islice(word_quantities(text, begin, end), MOST_NUMBERS))
        words = [word for word in words if not TITLE.match(text, word.start)]
        numbers = [word for word in words if word.value != "1"] or words
    elif len(numbers) > 1:
        numbers = offered_together(text, compounds(text, numbers, end))
    kept, excluded = [], set[str]()
    for number in numbers:
        if _is_share(text, number, end, question):
            continue
        objection = doubt(text, start, end, number, question)
        if objection is None or objection == "bounded":
            kept.append(_signed(text, start, number))
        elif objection in DENIALS:
            excluded.add(number.value)
    # "35 % of 120 is 42, but it is 78 and not 42": the first 42 is excluded too.
    return [number for number in kept if number.value not in excluded] if excluded else kept


def _is_share(text: str, number: WrittenNumber, end: int, question: str) -> bool:
    """Return whether a number is only a share of the result: "4 of which", "1/2 of"."""
    if not text.startswith(" of ", number.end) or number.end + 4 > end:
        return False
    if PART.match(text, number.end, end):
        return True
    return "/" in number.value and bool(question) and not question_hints(question).share


def _signed(text: str, start: int, number: WrittenNumber) -> WrittenNumber:
    """Return a number with the sign before its box, or given by a word: "minus 8"."""
    if number.value.startswith("-"):
        return number
    boxed = text.rfind("boxed{", max(0, number.start - 8), number.start) >= 0
    before = text[max(0, number.start - 24) : number.start]
    if boxed and MINUS_BOX.search(before):
        return number._replace(value=negated(number.value))
    before = text[max(start, number.start - 20) : number.start].rstrip("$ ")
    named = before[-5:].lower().endswith(("ative", "minus")) and NEGATIVE_BEFORE.search(before)
    if named or (
        text.find("below", number.end, number.end + 24) > 0 and BELOW_ZERO.match(text, number.end)
    ):
        return number._replace(value=negated(number.value))
    return number


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
    if text[first.end : second.start] == " to ":
        before = text[: first.start][-20:].rstrip("$ ")
        return RANGING.search(before) is not None or not before.endswith(("from", "add", "dding"))
    before = text[max(0, first.start - 12) : first.start].rstrip("$ ").lower()
    return (
        before.endswith(("between", "entre", "zwischen", "между"))
        and RANGE.fullmatch(text, first.end, second.start) is not None
    )


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


def features(
    text: str, start: int, end: int, numbers: list[WrittenNumber], question: str
) -> list[list[str]]:
    """Return the names of the features of each number of a sentence."""
    hints = question_hints(question)
    first, final = numbers[0], numbers[-1]
    reason = REASON.search(text, first.end, final.start)
    drawn = DRAWN.search(text, first.end, final.start)
    clause = CLAUSE.search(text, first.end, final.start)
    leading = LEADING.match(text, start, final.start)
    workings = [match.span() for match in WORKING.finditer(text, start, end)]
    rows: list[list[str]] = []
    for index, number in enumerate(numbers):
        before = text[max(start, number.start - CONTEXT) : number.start]
        if before.endswith(ANNOTATION_END):
            opened = text.rfind("<<", start, number.start)
            before = text[max(start, opened - CONTEXT) : max(start, opened)]
        names = _in_words(text, before, number, end, question)
        names += _in_equation(text, before, number, end, question)
        if "result" not in names and NEGATED_AFTER.match(text, number.end, end):
            names.append("negated")
        if (
            reason is not None
            and number.start > reason.start()
            and " is " not in text[reason.start() : number.start]
        ):
            names.append("reason")
        elif leading is not None and number.start < leading.end():
            names.append("leading")
        elif (
            clause is not None and number.start > clause.start() and not RESULTS.intersection(names)
        ):
            names.append("clause")
        if index and WHOLE.fullmatch(text, numbers[index - 1].end, number.start):
            names.append("whole")
            if "unit asked" in names:
                rows[-1].append("unit asked")
        alternative = ALTERNATIVE.search(before)
        if alternative is not None:
            told = index and {"unit asked", "given"}.intersection(rows[-1])
            restates = not question and (alternative[1] or "or").lower() != "or"
            bare = (
                alternative[1]
                and text[number.end : number.end + 1] in ",.;"
                and ":" not in number.value  # "or 2 hours and 40 minutes." has its units
            )
            better = not told and ("unit asked" in names or restates or bare)
            names += ["asked alternative"] if better and index else []
        if drawn is not None and number.start > drawn.start():
            names += ["drawn"] if "unit asked" in names or not hints.units or drawn[1] else []
        if APPROXIMATION.search(before) and index and "/" in numbers[index - 1].value:
            names.append("approximation")
        if any(opened < number.start < closed for opened, closed in workings):
            names.append("working")
        elif _in_parentheses(text, start, number):
            names.append("in parentheses")
        since = numbers[index - 1].end if index else start
        if hints.name and hints.name in text[since : number.start]:
            names.append("asked name")
        if number is final:
            names.append("last")
        elif index < len(numbers) - 2:
            names.append("earlier")
        rows.append(names)
    return rows


def _in_equation(
    text: str, before: str, number: WrittenNumber, end: int, question: str
) -> list[str]:
    """Return the features of a number's place in an equation."""
    names = []
    operand = OPERAND_BEFORE.search(before) or OPERAND_AFTER.match(text, number.end, end)
    if operand:
        names.append("operand")
    elif AFTER_EQUALS.search(before):
        names.append("result")
    equals = EQUALS_AFTER.match(text, number.end, end)
    if equals is not None and not operand:
        following = quantity_at(text, skip_lead(text, equals.start("right"), end), end)
        if (
            following is not None
            and not OPERAND_AFTER.match(text, following.end, end)
            and has_unit(text, number, end, question)
            and not has_unit(text, following, end, question)
            and ("$" in text[following.start : following.end] or unit_words(text, following, end))
        ):
            names.append("asked alternative")  # "10 cents = $0.10"
    return names


def _in_words(text: str, before: str, number: WrittenNumber, end: int, question: str) -> list[str]:
    """Return the features of the words around a number."""
    names = []
    money = "$" in text[number.start : number.end] or before.endswith("$")
    words = unit_words(text, number, end)
    units = {stem(word) for word in words}
    hints = question_hints(question)
    if hints.units:
        if ("dollar" in hints.units and money) or not hints.units.isdisjoint(units):
            names.append("unit asked")
        elif money or (words and stem(words[0]) in MEASURES):
            names.append("other unit")
    if words and (number.value, stem(words[0])) in hints.givens:
        names.append("given")
    elif number.value in hints.values:
        names.append("given value")
    compared = not hints.compares and MORE_THAN.match(text, number.end, end) is not None
    if AFTER_ROUNDING.search(before):
        names.append("rounded")
    elif not compared and AFTER_RESULT_WORD.search(before):
        names.append("result word")
    elif SETTING.search(before) or (not money and FOR.search(before)):
        names.append("setting")
    elif AFTER_VERB.search(before):
        names.append("verb")
    elif AFTER_WORD.search(before):
        names.append("word")
    if TOTAL_AFTER.match(text, number.end, end):
        names.append("total")
    rate = RATE_AFTER.match(text, number.end, end)
    if rate and hints.periods and rate[1] not in hints.periods:
        names.append("other rate")
    if compared:
        names.append("compared")
    return names


def is_given(text: str, number: WrittenNumber, end: int, question: str) -> bool:
    """Return whether the question contains a quantity, with the word after it if there is one."""
    hints = question_hints(question)
    words = unit_words(text, number, end)
    if not words:
        return number.value in hints.values
    return (number.value, stem(words[0])) in hints.givens


def has_unit(text: str, number: WrittenNumber, end: int, question: str) -> bool:
    """Return whether a number has the unit that the question asks for."""
    units = question_hints(question).units
    if not units:
        return False
    if "dollar" in units and "$" in text[max(0, number.start - 1) : number.end]:
        return True
    return not units.isdisjoint(map(stem, unit_words(text, number, end)))


def unit_words(text: str, number: WrittenNumber, end: int) -> list[str]:
    """Return the words after a number, "%" and "¢" as "percent" and "cent"."""
    match = NEXT_WORDS.match(text, number.end, end)
    if match is None:
        return []
    if match.group(1):
        return ["percent" if match.group(1) == "%" else "cent"]
    return str(match.group(2)).split()


def skip_lead(text: str, start: int, end: int) -> int:
    """Return where the text before a number ends: white space, markup, "about", a bracket."""
    lead = LEAD.match(text, start, end)
    return start if lead is None else lead.end()


def _in_parentheses(text: str, start: int, number: WrittenNumber) -> bool:
    opened = text.rfind("(", start, number.start)
    if opened < 0 or text[opened - 1] == "\\":
        return False
    if text.startswith(")", number.end) and WORD_BEFORE.search(text[:opened][-30:]):
        return False  # "twenty-four (24)"
    return opened > text.rfind(")", start, number.start)
