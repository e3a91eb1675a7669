"""Chooses the result among the numbers of a sentence: one weighted decision.

Each number gets the features that apply to it: it follows "=", it is an operand, it has the unit
that the question asks for, and so on. The one with the highest sum of `WEIGHTS` is the result. The
weights were set by hand; `benchmarks/ablation.py` shows what each of them decides.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from gradeschool.answers.assertion import DENIALS, doubt
from gradeschool.answers.quantities import (
    SCALES,
    WrittenNumber,
    quantities,
    quantity_at,
    word_quantities,
)
from gradeschool.answers.regions import COMMON_WORDS
from gradeschool.answers.search import DIGIT, last_match

HOW_MANY = re.compile(
    r"(?i)\b(?:how\s+many|number\s+of|what\s+percent(?:age)?\s+of)\s+((?:[a-z'’-]+\s*){1,6})"
)
IN_UNITS = re.compile(
    r"(?i)\bin\s+(?:total\s+)?(seconds?|minutes?|hours?|days?|weeks?|months?|years?|cents?"
    r"|dollars?|inches|feet|yards|miles|meters|centimeters|kilometers|kilograms|grams|pounds"
    r"|ounces|liters|gallons|cups|percent(?:age)?|kg|km|cm|mm|ml)\b"
)
PERCENT = re.compile(
    r"(?i)\b(?:what|which)\s+(?:is\s+the\s+)?(?:\w+\s+){0,3}percent(?:age)?\b|\b(?:in"
    r"|as\s+an?)\s+percent"
)
MONEY = re.compile(
    r"(?i)\bhow\s+much\s+(?:money|change|profit|cash|more\s+money|(?:\w+\s+){0,8}?(?:cost|pay|paid"
    r"|earn|spend|spent|save|saved|make|made|owe|charge|charged|worth|price))|\b(?:cost|price"
    r"|profit|salary|budget|income|revenue|total\s+amount\s+of\s+money)\b"
)
SHARE = re.compile(r"(?i)fraction|\bpart\b|portion|percent|probability|chance|ratio|share")
COMPARES = re.compile(r"(?i)\b(?:more|less|fewer|differ(?:ence|s)?|further|\w{3,}er|than)\b")
SCALED = re.compile(r"(?i)\b(?:in|how\s+many)\s+(thousand|million|billion|trillion)s?\b")
LONG_WORD = re.compile(r"[A-Za-z]{4,}")
POINT_LANGUAGES = re.compile(
    r"(?i)\b(?:il|elle|en\stout|der|die|das|und|ist|sind|gibt|geben|zusammen|wie|viele?|el|los|las"
    r"|una|por|lo\stanto|es|son|quedan|cuánt[oa]s?|della|sono|totale|uma|são|resposta|é|ele|ela"
    r"|het|een|antwoord|zijn|les|des|est|donc|combien|[а-яё]{2,})\b"
)
ENGLISH = re.compile(r"(?i)\b(?:the|is|of|and|she|he|so|are|how|many|much)\b")
NAME = re.compile(r"\b[A-Z][a-z]{2,}")
NO_NAMES = {
    "How", "What", "Which", "When", "Where", "Calculate", "Find", "Determine", "Given", "After",
    "Before", "The",
}  # fmt: skip
ASKING_EDGE = re.compile(r"[.!?]\s+")
# Words after "how many" that are not the counted thing.
FILLERS = frozenset(
    """
    more less fewer other total additional extra of the a an in is are was were do does did has
    have had will would can could should must her his their its my your each all both different
    whole full many much new old complete times as than to it he she they there left remaining
    on at by with for from into if when after before per now
    """.split()  # noqa: SIM905
)
GIVEN = re.compile(r"(\d[\d,]*(?:\.\d+)?)[ -]?(%|[A-Za-z]+)?")
PLURALS = (("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("sses", "ss"))
SHORT_UNITS = {
    "feet": "foot", "min": "minute", "mins": "minute", "hr": "hour", "hrs": "hour", "h": "hour",
    "sec": "second", "secs": "second", "m": "meter", "metre": "meter", "metres": "meter",
    "litre": "liter", "litres": "liter", "kilometre": "kilometer", "kilometres": "kilometer",
}  # fmt: skip


class QuestionHints(NamedTuple):
    """Facts about a question; words are stems ("dollar", "percent"). An empty one has none.

    units: what the answer counts. givens: the quantities of the question, digits and the next word;
    values: only the digits. scale: the requested power of ten ("in millions of dollars" is 6), else
    0. share: it may ask for a fraction. compares: it may ask how much more. periods: of the rate
    that it asks for ("per week"). words: the longer ones of the sentence that asks. name: the only
    one in that sentence, else "".
    """

    units: frozenset[str]
    givens: frozenset[tuple[str, str]]
    values: frozenset[str]
    scale: int
    share: bool
    compares: bool
    periods: frozenset[str]
    words: frozenset[str]
    name: str


@lru_cache(8192)
def question_hints(question: str) -> QuestionHints:
    """Return the facts about a question. Linear, never raises."""
    last = question[-2_000:]  # it ends in the last question mark, if there is one
    end = last.rfind("?")
    end = len(last) if end < 0 else end
    *_, start = 0, *(stop.end() for stop in ASKING_EDGE.finditer(last, 0, end))
    asking = last[start:end]
    counted = last_match(HOW_MANY, asking)
    if explicit := IN_UNITS.findall(asking):
        units = [stem(explicit[-1])]
    elif PERCENT.search(asking):
        units = ["percent"]
    elif counted and counted[1].startswith("times "):
        units = ["time"]
    elif counted:
        units = [stem(word) for word in counted[1].split() if word.lower() not in FILLERS][:2]
    else:
        units = ["dollar"] if MONEY.search(asking) else []
    pairs = (match.groups("") for match in GIVEN.finditer(question[:8_000]))
    given = [(digits.replace(",", ""), word) for digits, word in pairs]
    scaled = SCALED.search(asking)
    names = set(NAME.findall(asking)) - NO_NAMES
    return QuestionHints(
        units=frozenset(units),
        givens=frozenset((digits, stem(word)) for digits, word in given if word),
        values=frozenset(digits for digits, _ in given),
        scale=SCALES[scaled[1].lower()] if scaled else 0,
        share=SHARE.search(asking) is not None,
        compares=not question or COMPARES.search(asking) is not None,
        periods=frozenset(map(str.lower, RATE.findall(asking))),
        words=frozenset(map(stem, LONG_WORD.findall(asking))),
        name=names.pop() if len(names) == 1 else "",
    )


@lru_cache(8192)
def groups_by_points(text: str) -> bool:
    """Return whether the language of a text writes "5.600" or "5 600" for thousands."""
    count = len(POINT_LANGUAGES.findall(text))
    return count > 0 and count > len(ENGLISH.findall(text))


def restates_question(text: str, question: str, share: float = 0.6) -> bool:
    """Return whether a sentence contains this share of the topic words of the asking sentence."""
    words = question_hints(question).words
    topics = words - COMMON_WORDS if len(words - COMMON_WORDS) >= 3 else words
    found = topics.intersection(map(stem, LONG_WORD.findall(text)))
    return len(topics) >= 3 and len(found) >= share * len(topics)


@lru_cache(8192)
def stem(word: str) -> str:
    """Return a word's stem, accurate enough to distinguish units: "boxes" -> "box"."""
    word = word.lower().strip("'’-")
    if not word.endswith("s"):
        return "cent" if word == "¢" else SHORT_UNITS.get(word, word)
    if word == "cents":
        return "cent"
    for ending, rest in PLURALS:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word[: -len(ending)] + rest
    if word in SHORT_UNITS:
        return SHORT_UNITS[word]
    return word[:-1] if not word.endswith("ss") and len(word) > 3 else word


MOST_NUMBERS, CONTEXT = 60, 48
UNRESOLVED = ""  # the value of an expression without a stated result
# By example, 7 has the feature: setting "After 7 days 9 are left", clause "9 are left when 7 go",
# whole "2 of the 7 eggs", working "She has 9 (2 + 7)", direct "Answer: 7, which is 9 - 2".
WEIGHTS = {
    "result": 3.3, "result word": 2.5, "rounded": 4.0, "verb": 1.0, "setting": -1.5,
    "operand": -4.0, "unit asked": 2.0, "other unit": -2.5, "other thing": -2.0, "given": -2.0,
    "given value": -1.5, "asked name": 1.5, "compared": -2.5, "clause": -2.0, "drawn": 4.0,
    "total": 1.0, "in parentheses": -1.5, "working": -5.0, "reason": -4.5, "whole": -4.0,
    "last": 1.0, "earlier": -1.0, "direct": 3.0,
}  # fmt: skip
EQUALS = re.compile(r"=|≈|\\approx|⇒|→|->|\\Rightarrow|\\rightarrow")
# Characters between a "=" or a marker and its number.
LEAD = re.compile(
    r"(?:~~[^~\n]{1,40}~~|[\s*_`\"'({\[:=≈~]|\\[()\[\],;! ]|\$(?!\s?\.?\d)|\\approx|\\\$"
    r"(?=\s?[−-])|\+(?=\s?\\?[\d$])|[A-Za-z]\s?=(?=\s?[\d$−-])|\\(?:text|textbf|mathbf|mathrm|bf"
    r"|underline)\b\{?|(?i:about|approximately|approx\.?|roughly|around|exactly|just|simply|only"
    r"|equal\sto|a\stotal\sof|that)\b)*"
)
# The end of the text before a number.
AFTER_EQUALS = re.compile(
    r"(?:=|≈|⇒|→|->|\\approx|\\[Rr]ightarrow)(?:[\s*_~({\[$:=%]|\\[()\[\],;! $]"
    r"|\\(?:boxed|text|textbf|mathbf)\{|(?:about|approximately|roughly)\s)*$"
)
APPROXIMATES = re.compile(r"(?:≈|\\approx)[\s$]{0,3}$")
NO_WORD = " \t\r\n\u00a0\u2009\u202f*_($\\"  # between a word and its number
_BEFORE = r"[\s*_(]{1,3}\\?\(?[\s$*]{0,3}$"
AFTER_RESULT_WORD = re.compile(
    r"\b(?i:which\s(?:is|equals|gives|makes|means)|(?:total|sum|answer|result)\s(?:is|was)|equals?"
    r"|equal\sto|gives(?:\s\w+)?|comes\sto|total(?:s|ing|ling)?\s(?:of|to|up\sto)"
    r"|a\stotal\s\w+\sof|totals|that\sis,?|results?\sin|(?:adds\sup|amounts)\sto|left\swith"
    r"|round(?:s|ed)\s(?:(?:it|up|down|off)\s){0,2}to|leav(?:es|ing)(?:\s\w+){0,2}"
    r"|ends\sup\swith)" + _BEFORE
)
AFTER_VERB = re.compile(
    r"\b(?i:is(?:\sworth)?|are|was|were|be|been|ha(?:s|ve|d)|costs?|earn(?:s|ed)?|makes?|made"
    r"|pa(?:y|ys|id)|need(?:s|ed)?|spen[dt]s?|g[eo]ts?|sold|sells?|takes?|took|lasts?|receive[sd]?"
    r"|save[sd]?|owe[sd]?|buys?|bought|eats?|ate|gives?|gave|weighs?|contains?|drinks?|drove"
    r"|r[au]n|runs|(?:will|can|must|should|did)\s\w+|reads?|walks?|travel(?:s|ed)|use[sd]?"
    r"|keeps?)(?i:\s(?:now|still|only|exactly|about|approximately|then|also|just|her|him|them|all"
    r"|over|at\sleast|at\smost|up\sto))?" + _BEFORE
)
SETTING = re.compile(
    r"\b(?i:after|in|during|within|over|every|each|per|first|last|next|past|all|the|these|those"
    r"|other|on|from|between|than|not|by|at|with|his|her|their|step|equation|hour|day|week|month"
    r"|year|problem|part|case|if|when|since|number|original|of|après|nach|después\sde|d['’]ici"
    r"|binnen)(?i:\s(?:the|about|only|a|an|his|her|their|all|of))?(?i:\s(?:first|last|next|other"
    r"|remaining))?[\s*(]{0,3}\$?$"
)
FOR = re.compile(
    r"(?i)\bfor(?:\s(?:the|all|each|every|his|her|their))?(?:\s(?:first|last|next|other))?\s$"
)
OPERAND_BEFORE = re.compile(
    r"(?:[\w)}%¢\]]\s{0,3}\\?[$)]?\s?"
    r"(?:[+×÷·/^]|\\times|\\div|\\cdot|[−–-]|\*)|[\d)%}]\s{0,2}\$?\s?x|\b(?:plus"
    r"|(?<!is\s)(?<!at\s)minus|times|divided\sby|multiplied\sby))\s{0,2}[\\$(]{0,4}\s?$"
)
_UNIT_AFTER = (
    r"(?:\s{0,12}(?:\\?%|\\text\{[^{}]{0,24}\}|[A-Za-z¢]{1,20}+(?<!\btimes)(?<!\bplus)(?<!\bminus)"
    r"|/[a-z]+|\\?[)$}\]])){0,4}\s{0,2}"
)
OPERAND_AFTER = re.compile(
    _UNIT_AFTER + r"(?:[+×÷·^]|\*(?!\*)|/(?=\s?\\?\$?[\d(])|\\(?:times|div|cdot)"
    r"|[−–-](?=\s?\\?\$?[\d(]|\s?[nxyz]\b)|x(?=\s?\\?\$?[\d(])|(?:times|plus|minus|divided\sby"
    r"|multiplied\sby)\s\\?[$(]?\d)"
)
IS_ANSWER = re.compile(r"\sis\s(?:the|our)\s(?:\w+\s)?answer\b|\s=\s[A-Za-z](?!\w)")
REASON = re.compile(
    r"(?i)[\s,(](?:since|because|assuming|given\sthat|having\s[a-z]+|as\sthere\sare|as(?=\s\d))\s"
)
# "4 of the 24 slices"
WHOLE = re.compile(r"\s(?:out\s)?of\s(?:(?:the|these|those|his|her|their|all)\s)?(?:\w+\s)?")

NEGATIVE_BEFORE = re.compile(
    r"(?i)\b(?:is|at|of|was|be|to|equals|a|has|have|had)\s(?:negative|minus)$"
)
# "$-\boxed{18}$", but not "20 - \boxed{18}".
DASHES = frozenset("-−–")
MINUS_BOX = re.compile(r"(?:[=:$(\[]|\bis)\s?[-−–]\s?\\f?boxed\{\\?\$?$")
LIST_ITEM = re.compile(
    r"[\s*>#(-]{0,8}(?:(?:(?i:Step|Part|Case|Equation|Option)\s)?\(?\d{1,3}[.):]"
    r"|[A-Z][a-z]{2,9}\s\d{1,3}:)(?:\*\*)?(?=\s|\*|$)"
)
# The text after one of these adds details to a number before it: "so that 31 are left".
CLAUSE = re.compile(
    r"(?i)\b(?:if|when|while|instead|unless|until|before|after|who|whose|so\sthat"
    r"|i\.e\.,?(?=\s[a-z])(?!\san?\s\$?\Z)|in\sother\swords,?|(?:by|from|for)\s\w+ing"
    r"|(?<!ha[sd] )(?<!have )(?<!need )(?<!needs )to\s(?!get|give|obtain|reach|find|be\b|have\b|\W"
    r"|\d)\w+)\s"
)
DRAWN = re.compile(
    r"(?i)[,;:]\s(?:so|thus|therefore|hence|meaning|which\smeans|(leaving\s\w+\swith))\b"
)
TOTAL_AFTER = re.compile(
    r"(?i)(?:\s\w+){0,3}\s(?:left(?:\sover)?|remain(?:ing|s)?|in\s(?:total|all)|altogether|total)\b"
)
MORE_THAN = re.compile(
    r"(?i)(?:\s\w+){0,2}\s(?:(?:more|less|fewer|(?!(?:oth|rath)er)\w{3,12}er)\sthan\b|(?:did|do"
    r"|does|are|were|is|was|have|has)(?:\snot|n['’]t)\b)"
)
RATE = re.compile(r"(?i)(?:\s\w+)?\s(?:an?|per|each|every)\s(hour|day|week|month|year)\b")
NEXT_WORDS = re.compile(
    r"(?:[\s*$})]|\\[,;:! )\]]|-){0,12}(?:\\?(%|¢)|(?:\\(?:text|mathrm|mbox|textbf)\{\s?)?("
    r"(?:[A-Za-z][A-Za-z'’-]*[\s]?){1,4}))"
)
WITHOUT_DIGITS = re.compile(r"(?i)\b(?:(once|twice|thrice)\b(?!\sas\b)|no\s(?:more\s)?([a-z]+))")
# Units that mean something else if another of them is requested.
MEASURES = frozenset(
    """
    dollar cent percent hour minute second day week month year mile kilometer meter foot inch
    centimeter pound ounce gram kilogram liter gallon cup
    """.split()  # noqa: SIM905
)


def stated_number(text: str, start: int, end: int, question: str) -> WrittenNumber | None:
    """Return the number that a sentence states as its result, None if it contains no number."""
    alone = quantity_at(text, start, end)
    if alone is not None and alone.end == end:  # as in most boxes
        return _signed(text, start, alone)
    numbers = sentence_numbers(text, start, end, question)
    while numbers:
        number = numbers[0]
        if len(numbers) > 1:
            number = best_number(text, start, end, numbers, question)
        if number.value == UNRESOLVED:
            break
        objection = doubt(text, start, end, number, question)
        for other in numbers:
            if objection is None and other.value == number.value and other is not number:
                denied = doubt(text, start, end, other, question)
                objection = denied if denied in DENIALS else None
        if objection is None or objection == "bounded":
            break
        if objection == "would be":  # and so is what its clause supposes
            stop = max(text.rfind(";", start, number.start), start)
            numbers = [other for other in numbers if other.start < stop]
        # "35 % of 120 is 42, but it is 78 and not 42": the first 42 is excluded too.
        numbers = [
            other
            for other in numbers
            if other.start != number.start
            and (objection not in DENIALS or other.value != number.value)
        ]
    if numbers:
        return number
    # 2 for "twice" if a number of times is asked for, 0 for "no quarters" of quarters
    units = question_hints(question).units
    for match in WITHOUT_DIGITS.finditer(text, start, end) if units else ():
        if match[1] and "time" in units:
            value = {"once": "1", "twice": "2", "thrice": "3"}[match[1].lower()]
            return WrittenNumber(value, *match.span())
        if match[2] and stem(match[2]) in units:
            return WrittenNumber("0", *match.span())
    return None


def best_number(
    text: str, start: int, end: int, numbers: list[WrittenNumber], question: str, *,
    direct: bool = False,
) -> WrittenNumber:  # fmt: skip
    """Return the number of a sentence with the highest weight; in a tie, the last one.

    direct: whether the first number comes right after a marker of the answer. Its value is
    UNRESOLVED if the best number is an operand ("24 / 6" is not worked out).
    """
    rows = features(text, start, end, numbers, question)
    counted = any("unit asked" in names for names in rows)
    for number, names in zip(numbers, rows, strict=True):
        if counted and {"unit asked", "other unit", "result"}.isdisjoint(names):
            words = unit_words(text, number, end)
            if words and words[0].lower() not in FILLERS:
                names.append("other thing")
    if direct:
        rows[0].append("direct")
    scores = [sum(map(WEIGHTS.__getitem__, names)) for names in rows]
    best = len(scores) - 1 - scores[::-1].index(max(scores))
    number = numbers[best]
    return number._replace(value=UNRESOLVED) if "operand" in rows[best] else number


def sentence_numbers(text: str, start: int, end: int, question: str) -> list[WrittenNumber]:
    """Return the numbers of a sentence that may be its result, from left to right.

    Excludes the number of a list item and numbers that the sentence rules out or only considers; "4
    hours and 30 minutes" and "17 or 18" are one number each; number words count only if there are
    no digits but those of a working in parentheses or of "After 4 hours" at the beginning.
    """
    item = LIST_ITEM.match(text, start, end)
    begin = start if item is None else item.end()
    numbers = list(islice(quantities(text, begin, end), MOST_NUMBERS))
    if not numbers and item is not None and not text[begin:end].strip(" \n*.)"):
        numbers = list(quantities(text, start, end))  # nothing but "18."
    if not numbers:
        words = list(islice(word_quantities(text, begin, end), MOST_NUMBERS))
        numbers = [word for word in words if word.value != "1"] or words
    elif all(_is_beside(text, begin, number) for number in numbers):
        words = list(islice(word_quantities(text, begin, end), MOST_NUMBERS))
        numbers = [w for w in words if AFTER_VERB.search(text[begin : w.start])] or numbers
    shares = not question or question_hints(question).share
    return [
        _signed(text, start, number)
        for number in numbers
        if not text.startswith(" of ", number.end)  # "4 of which", "1/2 of"
        or number.end + 4 > end
        or not (
            text.startswith(("which", "whom"), number.end + 4)
            or ("/" in number.value and not shares)
        )
    ]


def _is_beside(text: str, start: int, number: WrittenNumber) -> bool:
    """Return whether a number is one of "(3 * 4 + 5)" or of "After 4 hours" at the beginning."""
    opened = text.rfind("(", start, number.start)
    if number.start == start:
        return False
    if opened < 0:
        return SETTING.fullmatch(text, start, number.start) is not None
    close = text.find(")", number.end, number.end + CONTEXT)
    if close < 0 or text.find(")", opened, number.start) > 0 or EQUALS.search(text, opened, close):
        return False
    operand = OPERAND_BEFORE.search(text[opened : number.start])
    return operand is not None or OPERAND_AFTER.match(text, number.end, close) is not None


def _signed(text: str, start: int, number: WrittenNumber) -> WrittenNumber:
    """Return a number with the sign before its box, or given by a word: "minus 8"."""
    if number.value.startswith("-") or number.value == "0":
        return number
    before = text[max(0, number.start - 24) : number.start]
    if (
        "below zero" in text[number.end : number.end + 24]
        or ("boxed{" in before and not DASHES.isdisjoint(before) and MINUS_BOX.search(before))
        or (
            before.rstrip("$ ")[-5:].lower() in ("ative", "minus")
            and NEGATIVE_BEFORE.search(
                text[max(start, number.start - 20) : number.start].rstrip("$ ")
            )
        )
    ):
        return number._replace(value=f"-{number.value}")
    return number


def features(
    text: str, start: int, end: int, numbers: list[WrittenNumber], question: str
) -> list[list[str]]:
    """Return the names of the features of each number of a sentence."""
    hints = question_hints(question)
    units, first, final = hints.units, numbers[0], numbers[-1]
    reason = REASON.search(text, first.end, final.start)
    drawn = DRAWN.search(text, first.end, final.start)
    clause = CLAUSE.search(text, first.end, final.start)
    rows: list[list[str]] = []
    for index, number in enumerate(numbers):
        before = text[max(start, number.start - CONTEXT) : number.start]
        names: list[str] = []
        money = "$" in text[number.start : number.end] or before.endswith("$")
        words = unit_words(text, number, end)
        if units:
            rate = RATE.match(text, number.end, end)
            if rate and hints.periods and rate[1] not in hints.periods:
                names.append("other unit")
            elif ("dollar" in units and money) or not units.isdisjoint(map(stem, words)):
                names.append("unit asked")
            elif money or (words and stem(words[0]) in MEASURES):
                names.append("other unit")
        if words and (number.value, stem(words[0])) in hints.givens:
            names.append("given")
        elif number.value in hints.values:
            names.append("given value")
        more = MORE_THAN.match(text, number.end, end)
        compared = more is not None and not (hints.compares and more[0].endswith("than"))
        compared = compared and "=" not in before[-4:]
        last = before.rstrip(NO_WORD)[-1:]
        if not (last.isalnum() or last == ","):  # an operator or a bracket, no word
            pass
        elif not compared and (after := AFTER_RESULT_WORD.search(before)):
            names.append("rounded" if after[0].startswith("round") else "result word")
        elif SETTING.search(before) or (not money and FOR.search(before)):
            names.append("setting")
        elif AFTER_VERB.search(before):
            names.append("verb")
        if compared:
            names.append("compared")
        if TOTAL_AFTER.match(text, number.end, end):
            names.append("total")
        previous = rows[-1] if rows else []
        if OPERAND_BEFORE.search(before) or OPERAND_AFTER.match(text, number.end, end):
            names.append("operand")
        elif (
            AFTER_EQUALS.search(before)
            or IS_ANSWER.match(text, number.end, end)
            or (before.endswith(" or ") and "unit asked" in names and previous == ["result"])
        ):
            # "8/3 ≈ 2.67": the rounded value is not the result.
            rounds = index and "/" in numbers[index - 1].value and APPROXIMATES.search(before)
            (previous if rounds else names).append("result")
        if (
            reason is not None
            and number.start > reason.start()
            and " is " not in text[reason.start() : number.start]
        ):
            names.append("reason")
        elif clause is not None and number.start > clause.start() and "result" not in names:
            names = [name for name in names if name != "verb"] + ["clause"]
        if drawn is not None and number.start > drawn.start():
            names += ["drawn"] if "unit asked" in names or not units or drawn[1] else []
        if index and WHOLE.fullmatch(text, numbers[index - 1].end, number.start):
            names.append("whole")
            if "unit asked" in names and "clause" not in previous:
                previous.append("unit asked")
        opened = text.rfind("(", start, number.start)
        if opened > text.rfind(")", start, number.start) and text[opened - 1] != "\\":
            works = DIGIT.search(text, opened, number.start) is not None
            names.append("working" if works else "in parentheses")
        since = numbers[index - 1].end if index else start
        if hints.name and hints.name in text[since : number.start]:
            names.append("asked name")
        if text.startswith("-", number.end) and text[number.end + 1 : number.end + 2].isalpha():
            names.append("given value")  # "1 more 12-sided die"
        if number is final:
            names.append("last")
        elif index < len(numbers) - 2:
            names.append("earlier")
        rows.append(names)
    return rows


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
