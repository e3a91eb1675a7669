"""What a sentence says about each of its numbers: that it follows "=", is an operand, and so on.

`features` names what applies to each number; `candidates` weighs the names and chooses.
"""

from __future__ import annotations

import re

from gradeschool.answers.quantities import (
    NUMBER_IN_WORDS,
    WrittenNumber,
    compound_units,
    quantity_at,
)
from gradeschool.answers.question import question_hints, stem
from gradeschool.answers.search import any_of

CONTEXT = 48
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
    r"(?:[\s*_~({\[$:=]|\\[()\[\],;! $]|\\(?:boxed|text|textbf|mathbf)\{"
    r"|(?:about|approximately|roughly)\s)*$"
)
AFTER_RESULT_WORD = re.compile(
    any_of(
        r"which\s(?:is|equals|gives|makes|means) equals? equal\sto gives(?:\s\w+)? comes\sto",
        r"total(?:s|ing|ling)?\s(?:of|to|up\sto) a\stotal\s\w+\sof totals that\sis,? results?\sin",
        r"adds\sup\sto amounts\sto leaving(?:\s\w+){0,2} leaves(?:\s\w+){0,2} left\swith",
        r"ends\sup\swith",
    )
    + r"[\s*_(]{1,3}\\?\(?[\s$*]{0,3}$"
)
AFTER_VERB = re.compile(
    any_of(
        r"is(?:\sworth)? are was were be been has have had costs? earn(?:s|ed)? make[s]? made",
        r"pa(?:y|ys|id) needs? needed spen[dt]s? gets? got sold sells? takes? took lasts?",
        "receives? received saves? saved owes? owed buys? bought eats? ate gives? gave weighs?",
        r"contains? drinks? drove ran runs? will\s\w+ can\s\w+ must\s\w+ should\s\w+ did\s\w+",
        "reads? walks? travel(?:s|ed) uses? used keeps?",
    )
    + r"(?i:\s(?:now|still|only|exactly|about|approximately|then|also|just|her|him|them|all|over"
    r"|at\sleast|at\smost|up\sto))?[\s*_(]{1,3}\\?\(?[\s$*]{0,3}$"
)
# Any other word may also be a verb: "covers 300 miles".
AFTER_WORD = re.compile(
    r"\b(?!(?:and|or|but|then|so|of|for|a|an|plus|minus|times|versus|vs|about|as|to|only|since|because"
    r"|with|that|than|if|also|both|around|roughly|approximately|almost|nearly|exactly)\b)[a-z]{2,20}"
    r"[\s*_]{1,3}\$?$"
)
OPERAND_BEFORE = re.compile(
    r"(?:[\w)}%¢\]]\s{0,3}\\?[$)]?\s?(?:[+×÷·/^]|\\times|\\div|\\cdot|[−–-]|\*)"
    r"|[\d)%}]\s{0,2}\$?\s?x|\b(?:plus|(?<!is\s)(?<!at\s)minus|times|divided\sby|multiplied\sby))\s{0,2}[\\$(]{0,4}\s?$"
)
OPERAND_AFTER = re.compile(
    r"(?:\s?(?:\\?%|\\text\{[^{}]{0,24}\}|[A-Za-z¢]{1,20}+(?<!\btimes)(?<!\bplus)(?<!\bminus)|/[a-z]+|\\?[)$}\]]))"
    r"{0,4}\s{0,2}"
    r"(?:[+×÷·^]|\*(?!\*)|/(?=\s?\\?\$?[\d(])|\\times|\\div|\\cdot|[−–-](?=\s?\\?\$?[\d(]|\s?[nxyz]\b)"
    r"|x(?=\s?\\?\$?[\d(])|(?:times|plus|minus|divided\sby|multiplied\sby)\s\\?[$(]?\d)"
)
EQUALS_AFTER = re.compile(
    r"(?:\s?(?:\\?%|\\text\{[^{}]{0,24}\}|[A-Za-z¢]{1,20}+|/[a-z]+|\\?[)$}\]])){0,4}\s{0,2}"
    r"(?:\\approx|[=≈])\s?(?P<right>[^\n=]{0,12})"
)
SETTING = re.compile(
    any_of(
        "after in during within over every each per first last next past all the these those other",
        "on from between than not by at with his her their step equation day week year problem",
        r"part case if when since number original of après nach después\sde",
    )
    + r"(?i:\s(?:the|about|only|a|an|his|her|their|all|of))?"
    r"(?i:\s(?:first|last|next|other|remaining))?[\s*(]{0,3}\$?$"
)
FOR = re.compile(
    r"(?i)\bfor(?:\s(?:the|all|each|every|his|her|their))?(?:\s(?:first|last|next|other))?\s\$?$"
)
ITEM = re.compile(
    r"[\s*>#(-]{0,8}(?:(?:(?i:Step|Part|Case|Equation|Option)\s)?\(?\d{1,3}[.):]"
    r"|[A-Z][a-z]{2,9}\s\d{1,3}:)(?:\*\*)?(?=\s|\*|$)"
)
BOLD = re.compile(
    r"\*\*((?:[^*\n]|\*(?!\*)){1,200})\*\*|__([^_\n]{1,200})__|\\textbf\{([^{}\n]{1,200})\}"
)
LABEL = re.compile(r":(?!\d)|=")
REASON = re.compile(r"(?i)[\s,(](?:since|because|assuming|given\sthat|as\sthere\sare|as(?=\s\d))\s")
# "Since there are 4 schools, 44 people came."
LEADING = re.compile(
    r"(?i)[\s*]{0,6}(?:(?:so|and|but|now|then|thus|therefore|hence|finally),?\s)?"
    r"(?:since|because|as|if|given|assuming|when|while|although)\b[^,:=\n]{1,160}"
    r"(?:,\d{3}[^,:=\n]{1,80})?,\s"
)
_TOTAL = any_of(r"left(?:\sover)? remain(?:ing|s)? in\s(?:total|all) altogether total")
TOTAL_AFTER = re.compile(rf"(?:\s\w+){{0,3}}\s{_TOTAL}\b")
ALTERNATIVE = re.compile(r"(?i)(?:(?<!\\)\(|\bor\b|\bi\.e\.|\bthat\sis\b)[\s~$(,*]{0,4}$")
APPROXIMATION = re.compile(r"(?:≈|\\approx)\s{0,2}\\?\$?$")
AFTER_ROUNDING = re.compile(
    r"(?i)\bround(?:s|ed|ing)?\s(?:(?:it|this|that|up|down|off)\s){0,2}to\s(?:get\s)?[*_$]{0,3}$"
)
NOT_ROUNDED = re.compile(r"\s(?:decimal|significant|place|digit)")
# The text after one of these adds details to a number before it.
CLAUSE = re.compile(
    r"(?i)\b(?:if|when|while|instead|unless|until|before|after|who|whose"
    r"|i\.e\.,?(?=\s[a-z])|in\sother\swords,?|(?:by|from|for|of)\s\w+ing|to\s(?!get|give|obtain|reach|find|be\b|have\b|\W|\d)\w+)\s"
)
WORD_BEFORE = re.compile(rf"{NUMBER_IN_WORDS}\s$", re.I)
# "4 of the 24 slices"
WHOLE = re.compile(
    r"\s(?:out\s)?of\s(?:the\s|these\s|those\s|his\s|her\s|their\s|all\s)?(?:\w+\s)?"
)
DRAWN = re.compile(r"(?i)[,;:]\s(?:so|thus|therefore|hence|meaning|which\smeans)\b")
PERCENT_OF = re.compile(r"\s?\\?%\sof\s\\?\$?\d")
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
# After a number with one of these, a number in parentheses is not the same amount again.
TELLING = frozenset(("unit asked", "given"))


def features(
    text: str, start: int, end: int, numbers: list[WrittenNumber], question: str
) -> list[list[str]]:
    """Return the names of the features of each number of a sentence."""
    bold = _bold(text, start, end)
    reason = REASON.search(text, numbers[0].end, numbers[-1].start)
    workings = [match.span() for match in WORKING.finditer(text, start, end)]
    last = len(numbers) - 1
    leading = LEADING.match(text, start, numbers[-1].start)
    rows: list[list[str]] = []
    name, units = question_hints(question).name, question_hints(question).units
    drawn = DRAWN.search(text, numbers[0].end, numbers[-1].start)
    clause = CLAUSE.search(text, numbers[0].end, numbers[-1].start)
    for index, number in enumerate(numbers):
        before = text[max(start, number.start - CONTEXT) : number.start]
        if before.endswith(ANNOTATION_END):
            opened = text.rfind("<<", start, number.start)
            before = text[max(start, opened - CONTEXT) : max(start, opened)]
        names = _in_words(text, before, number, end, question)
        names += _in_equation(text, before, number, end, question)
        if bold is not None and bold[0] <= number.start < bold[1]:
            names.append("bold")
        if (
            reason is not None
            and number.start > reason.start()
            and " is " not in text[reason.start() : number.start]
        ):
            names.append("reason")
        elif leading is not None and number.start < leading.end():
            names.append("leading")
        elif clause is not None and number.start > clause.start() and "result" not in names:
            names.append("clause")
        if index and WHOLE.fullmatch(text, numbers[index - 1].end, number.start):
            names.append("whole")
            if "unit asked" in names:
                rows[-1].append("unit asked")
        if ALTERNATIVE.search(before):
            better = "unit asked" in names and rows and not TELLING.intersection(rows[-1])
            names.append("asked alternative" if better else "alternative")
        if drawn is not None and number.start > drawn.start():
            names += ["drawn"] if "unit asked" in names or not units else []
        if index and compound_units(text, numbers[index - 1], number, end):
            names.append("rest")  # the seconds of "9 min and 0.5 s"
        if APPROXIMATION.search(before) and index and "/" in numbers[index - 1].value:
            names.append("approximation")
        if any(opened < number.start < closed for opened, closed in workings):
            names.append("working")
        elif _in_parentheses(text, start, number):
            names.append("in parentheses")
        if name and name in text[numbers[index - 1].end if index else start : number.start]:
            names.append("asked name")
        if index == last:
            names.append("last")
        elif index < last - 1:
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
    if AFTER_EQUALS.search(before):
        names.append("left of equals" if operand else "result")
    equals = EQUALS_AFTER.match(text, number.end, end)
    if equals is not None and not operand:
        right = equals["right"]
        following = quantity_at(text, skip_lead(text, equals.start("right"), end), end)
        if not any(character.isdecimal() for character in right):
            names.append("defined")  # "160 = Y"
        elif following is not None and OPERAND_AFTER.match(text, following.end, end):
            names.append("defined")  # "18 = 9 + 9"
        elif (
            following is not None
            and has_unit(text, number, end, question)
            and not has_unit(text, following, end, question)
            and ("$" in text[following.start : following.end] or unit_words(text, following, end))
        ):
            names.append("asked alternative")  # "10 cents = $0.10"
        else:
            names.append("left of equals")
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
    if AFTER_ROUNDING.search(before) and not NOT_ROUNDED.match(text, number.end, end):
        names.append("rounded")
    elif not compared and AFTER_RESULT_WORD.search(before):
        names.append("result word")
    elif SETTING.search(before):
        names.append("setting")
    elif not money and FOR.search(before):
        names.append("for")
    elif AFTER_VERB.search(before):
        names.append("verb")
    elif AFTER_WORD.search(before):
        names.append("word")
    if before.endswith("boxed{"):
        names.append("boxed")
    if TOTAL_AFTER.match(text, number.end, end):
        names.append("total")
    if NEGATED_AFTER.match(text, number.end, end):
        names.append("negated")
    if "percent" not in hints.units and PERCENT_OF.match(text, number.end, end):
        names.append("share")
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


def _bold(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the last bold words with a digit, without the part up to their last ":" or "="."""
    if (
        text.find("**", start, end) < 0
        and text.find("__", start, end) < 0
        and text.find("textbf", start, end) < 0
    ):
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


def _in_parentheses(text: str, start: int, number: WrittenNumber) -> bool:
    opened = text.rfind("(", start, number.start)
    if opened < 0 or text[opened - 1] == "\\":
        return False
    if text.startswith(")", number.end) and WORD_BEFORE.search(text[:opened][-30:]):
        return False  # "twenty-four (24)"
    return opened > text.rfind(")", start, number.start)
