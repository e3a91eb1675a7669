"""The answer extractor: the answer that a careful reader would take from a completion.

It selects the part that counts (`regions`) and takes the last explicit statement of an answer
(`statements`), unless a different conclusion comes after it, else the closing sentence. One
weighted decision chooses among the numbers of a sentence (`candidates`); the sentence must assert
it (`assertion`). Deterministic, linear, no model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from gradeschool.answers.assertion import doubt, is_part_of_expression
from gradeschool.answers.candidates import (
    DASHES,
    EQUALS,
    OPERAND_AFTER,
    OPERAND_BEFORE,
    SETTING,
    UNRESOLVED,
    groups_by_points,
    has_unit,
    question_hints,
    restates_question,
    sentence_numbers,
    skip_lead,
    stated_number,
    stem,
)
from gradeschool.answers.quantities import (
    KILOS,
    WrittenNumber,
    canonical,
    quantities,
    quantity_at,
    same_value,
    shifted,
)
from gradeschool.answers.regions import LONGEST_UNIT, Marks, Region, answer_region
from gradeschool.answers.search import DIGIT, NO_DIGITS
from gradeschool.answers.statements import (
    PLAIN_TAIL,
    TAG,
    Confidence,
    ExtractedAnswer,
    last_statement,
)

__all__ = ["Confidence", "ExtractedAnswer", "extract_final_answer"]

THEREFORE = re.compile(r"(?i)[,;]\s(?:so|therefore|thus|hence)\b")
# Between two numbers: the first is taken back in a sentence of its own.
TAKEN_BACK = re.compile(
    r"(?i)\b(?:(?:that|this|it)(?:['’]s|\sis|\swas)\s(?:wrong|incorrect|not\s(?:right|correct))"
    r"|wait|correction|oops|scratch\sthat|change\smy\sanswer|i\s(?:meant|forgot|miscounted|misread"
    r"|overlooked|made\s(?:a|an)\s(?:mistake|error))|strike\sthat)\b|\n\s{0,3}(?:no|sorry),\s"
    r"|\sis\s(?:wrong|incorrect)[;,.]"
)
# After a number, and before the one that replaces it: "5, sorry, 6", "5 apples, or rather 6".
CORRECTION = re.compile(
    r"(?i)(?: [a-z]{1,14}){0,2}[ *}$]{0,4}[,;.—–-]{0,2} ?(?:or rather|no,(?: wait,)?|sorry|i mean"
    r"|make that|wait|correction)[,:]? (?:it(?:['’]s| is) )?"
)
# After a number that is no answer: "might think it is 12, but it is 15".
CORRECTED = re.compile(r"[^\n\d]{0,80}(?:\bbut\b|[.!?]\s)")
# Options to choose from, not an answer; but a single "A:", or one that begins the text, is a
# speaker's label.
CHOICES = re.compile(r"(?:^|\n)[ \t]{0,4}\(?([A-E])[.:)][ \t](?:[^\n]{0,80}\s\(?(B)[.:)]\s)?")
INLINE_CHOICES = re.compile(
    r"\s{0,9}(?:(?:[Oo]ption|[Cc]hoice)s?:|\(?[AaIi][.:)] .{1,30}\(?(?:[Bb]|ii"
    r"|II)[.:)] ).{1,80}\s{0,9}"
)
# A number that is the whole first line, or sentence, except for its unit.
FIRST_LINE = re.compile(
    r" ?(?:[A-Za-z%°]{1,14} ?){0,3}(?:[.*_$\\)\]]{0,5}[ \t]*\n[ \t]*\n|(?<=[a-z]) ?\. )"
)
BULLET = re.compile(r"[ \t]{0,8}(?:[-*•>]\s|\(\w)")
TOTAL = re.compile(
    r"(?i)\b(?:total|sum|answer|result|final|remain(?:s|ing|der)?|left|altogether|together)\b"
)
ANNOUNCED = ("####", "The answer is", "The answer is:", "The final answer is")
# The end of most texts: a marker, a short number, and no more than a period or the next "Q:" ...
PLAIN_MARKER = re.compile(
    r"(?:(?P<hashes>####)|(?P<line>\nA:)|(?:\A|\n|[.!] |\*)(?:(?:So|Thus|Hence|Therefore),? )?"
    r"[Tt]he (?:final )?answer is:?) ?\$?\Z"
)
# "18", "1,250", "2.5", but not "1.250", which is more in some languages.
PLAIN_NUMBER = re.compile(r"(?:0|[1-9]\d{0,5}|[1-9]\d{0,2},\d{3})(?:\.\d{1,2})?", re.A)
PLAIN_BEHIND = re.compile(r"\.?(?:\n\nQ(?:uestion)?:|\n\s{0,9})?\Z")
# ... or a number in a box, and the words of its sentence.
BOX_BEHIND = re.compile(
    r"\}(?:[$. \n*]|\\[)\]])*"
    r"(?:(?<=[ \n])(?P<words>(?![xyz]{1,3}\b)[A-Za-z]{2,}[A-Za-z ,.'\n]*))?\Z"
)
# A text that contains one of these gives no answer.
UNKNOWN = re.compile(
    r"(?i)\b(?:(?:cannot|can\snot|could\snot|can['’]t|(?:im|not\s)possible\sto"
    r"|unable\sto)\s(?:be\s)?(?:\w+ly\s)?(?:determine|answer|solve|calculate|tell|say|know|find"
    r"|compute|give|provide)[dn]?|(?:not|n['’]t(?:\s\w+)?)\s(?:enough|sufficient|what)"
    r"|insufficient|unknown|(?:problem|question)(?:\s\w+){0,3}\s(?:incorrect|flawed|inconsistent)"
    r"|(?:error|mistake|inconsistency)\sin\sthe\s(?:problem|question))\b"
)
OUTPUT = re.compile(
    r"(?:```(?:output|text|plaintext|result)?[ \t]*\n([^`]{1,400})\n?```(?:\s{0,3}[^\n\d`]{0,80})?"
    r"|\n#(?!#)[ \t]?(?:[Oo]utput|[Rr]esult|[Pp]rints)?:?[ \t]?([^\n]{1,80}))\s*$"
)
# A program that is not run: its last line prints or returns a name.
PROGRAM_END = re.compile(r"\n[ \t]*(?:print\([^\n]{1,200}\)|return [a-z_]\w*)\s{0,9}\Z")
# Two amounts, and how many of the smaller unit are in the larger one.
COMPOUND = re.compile(r"(\d+)[\s-]{0,12}([a-z]+)\.?,?\s+(?:and\s+)?(\d+)[\s-]{0,12}([a-z]+)\.?")
RATIOS = {
    "hour": 60, "minute": 60, "foot": 12, "pound": 16, "week": 7, "year": 12, "day": 24,
    "meter": 100,
}  # fmt: skip
# Of digits: those of a number that may be absurd, and of no answer at all.
FEWEST_ABSURD, MOST_DIGITS = 7, 25
# After a stated number: it answers only a part.
LIMITED = re.compile(
    r"[^\w\n]{0,8}\s{0,3}(?:That|This|It)(?:['’]s| is)(?: only| just)? (?:the \w+ )?(?:for|per|in"
    r"|of|from) (?:one|a|an|each|every|per|only|the first|\w+(?=[.,;]))\b"
)
# "5.600" is a number of thousands in texts of these languages.
THOUSANDS_POINT = re.compile(r"-?\d{1,3}\.\d{3}")
WINDOW = 1_500  # characters at the end of a text in which the closing sentences are searched
# A period after a title, an initial or the number of a list item does not end a sentence.
BOUNDARY = re.compile(
    r"[.!?\n。！？।](?:(?<=\n)\n*|(?<=[。！？।])"
    r"|(?<=[.!?])(?<!\b[A-Z]\.)(?<!\bM[rs]\.|\bDr\.|\bSt\.|\bvs\.|\n\d\.)"
    r"(?<!\bMrs\.|\bi\.e\.|\bhrs\.|\bmin\.|\n\d\d\.)(?<!\bmins\.)(?<!\bapprox\.)"
    r"[)\"'*”\]]{0,3}\s+)"
)
CONCLUSION = re.compile(
    r"(?i)[\s*>✅🎉✓-]{0,6}(?:therefore|thus|hence|so|finally|in\s(?:total|conclusion|summary|all)"
    r"|consequently|accordingly|altogether|overall|this\smeans|that\smeans|as\sa\sresult|∴"
    r"|insgesamt|somit|daher|folglich|por\s(?:lo\s)?tanto|así\sque|entonces|en\stotal|donc"
    r"|au\stotal|ainsi|par\sconséquent|итак|итого|значит|следовательно|таким\sобразом|поэтому"
    r"|(?:kwa\s)?hivyo|kwa\sjumla)\b|[\s*]{0,6}(?:因此|所以|したがって|よって|つまり|সুতরাং|অতএব|তাই|কাজেই"
    r"|కాబట్టి|అందువల్ల|ดังนั้น)"
)
REVISION = re.compile(
    r"(?i)\b(?:wait|actually|correction|oops|sorry|(?<!common )mistake|error|incorrect|re-?check"
    r"|reconsider|on\ssecond\sthought|let\s(?:me|us|'s)\sre)\b|\bshould\s(?:actually\s)?be\b"
)
ASIDE = re.compile(
    r"(?i)[^\w$\\]{0,8}(?:note\b|remember\b|recall\b|(?:just\s)?to\srestate\b|p\.?s\."
    r"|let\sme\sknow|(?:i\s)?hope\b|feel\sfree|because\s|(?:to\s"
    r"|let['’]?s\s)?(?:double-?\s?)?(?:check|verify|verification)\b|\[\d{1,3}\][.\s]*$|(?:date"
    r"|time\staken|confidence|references?|sources?|(?:word|token)\scount|comment|score|rating"
    r"|difficulty)[*_]{0,2}:|rated\b|th(?:is|at)(?:\sis|['’]s)\sbecause\b|if\syou\s(?:have\s(?:any"
    r"|more|other|further)|need|want|would)|happy\sto\b|this\sassumes|assuming(?![^.\n]*,)"
    r"|by\sthe\sway\b|(?:for|in|by)\s(?:comparison|reference|perspective|contrast)\b"
    r"|incidentally\b|as\san\saside\b|fun\sfact\b|similarly\b|to\srecap\b|i\scan\s(?:answer|help"
    r"|also)\b|if\s(?:\w+\s){1,3}had\s(?!\d|an?\b|the\b|no\b)\w+|had\s(?:\w+\s){1,4}been\b"
    r"|\((?:[^()\s]{1,40}\s){2,40}[^()\s]{1,40}\)[.\s]*$|\*\((?:[^()\n]){10,200}\)\*[.\s]*$)"
)
# Phrases that begin a check of the result.
CHECK = re.compile(
    r"(?i)(?:\n|(?<=[.!?*])\s)[\s*#>_(-]{0,6}(?:(?:to|we\scan|you\scan|let\s(?:me|us)|let['’]s"
    r"|i(?:['’]ll|\swill|\scan)?)\s)?(?:just\s|quickly\s|also\s)?(?:double[-\s]?)?(?:check(?:ing)?"
    r"|verif(?:y|ication|ying)|confirm(?:ing)?|sanity\scheck|verifica(?:ção|ción)?|vérification"
    r"|comprobación|probe|kontrolle|проверка)\b|\n\s{0,3}(?:验算|検算)|\n[\s*#]{0,6}(?:references?"
    r"|sources?|citations?)[*_]{0,2}:"
)
CHECK_SIGNS = (
    "heck", "erif", "érif", "onfirm", "eference", "ource", "itation", "HECK", "ERIF", "omprobac",
    "robe", "ontroll", "роверка", "验算", "検算",
)  # fmt: skip
# A text with this end was cut off before its result.
DANGLING = re.compile(
    r"(?:[+/×=<(−-]|(?<=\d),|\s\*|\\times|\\frac(?:\{[^{}]{0,20}(?:\}\{[^{}]{0,20})?)?|\b(?:is|are"
    r"|was|has|have|had|the|an?|of|and|or|by|plus|minus|times|with|for|to|from|at|in|on|per|than"
    r"|every|his|her|their|so|to\s(?:determine|find|get|calculate|compute|obtain|see|figure)))\s*$"
)
# Says what to do next, but not the result.
INSTRUCTION = re.compile(
    r"(?i)[\s*#\d.)-]{0,8}(?:(?:now|then|next|first"
    r"|finally),?\s)?(?:to\s[^,\n=]{4,80},\s)?(?:we\s(?:need\sto\s)?)?(?:add|subtract|multiply"
    r"|divide|calculate|find|determine|compute)\s(?!that\b)(?:(?!\b(?:get|giving|equal|which"
    r"|obtain|yield|so|leav|total))[^=:≈\d]|(?<=[a-z] )\d+)*"
)
UNIT_AT_END = re.compile(r"\d\)?\s?(?:(?:sq|cu)\.?\s)?(?:in|times)\s*$")
# Minimum length of text whose repetition counts as going round; the second for short sentences.
SHORTEST_PERIOD, LONGEST_PERIOD = 20, 60
NEXT_ITEM = re.compile(r"\s*([A-Z][a-z]+ )?(\d{1,3})[.):]?\s*")


def extract_final_answer(
    text: str, question: str = "", marks: Marks = ()
) -> ExtractedAnswer | None:
    """Return the answer that a completion gives to a question, or None if it gives none.

    question: distinguishes the requested unit from others ("2 hours (120 minutes)") and given
    numbers from results; without it both are guessed. marks: pairs of marks of thinking besides the
    known ones (`regions.THINKING_MARKS`). Thinking counts only if there is no reply,
    and then only after a marker. Never raises; linear in the length of the text.
    """
    region = answer_region(text, question, tuple(marks))
    if plain := _plain_ending(region, question):
        return plain
    statement = last_statement(region.text, region.start, region.end, question)
    if statement is not None and _is_absurd(region, statement, question):
        statement = last_statement(region.text, region.start, statement.start, question)
        region = region._replace(end=statement.end if statement else region.text.rfind("\n") + 1)
    answer: ExtractedAnswer | None
    if statement is not None:
        answer = _revised(region, statement, question)
    elif region.thinking:
        return None
    else:
        answer = _closing(region, region.start, region.end, question)
        begin = max(region.start, region.end - 450)
        if answer is None and (printed := OUTPUT.search(text, begin, region.end)):
            *_, last = None, *quantities(text, *printed.span(printed.lastindex or 0))
            answer = last and ExtractedAnswer(*last, "printed by the program", Confidence.GUESSED)
    if answer and (correction := CORRECTION.match(region.text, answer.end, region.end)):
        begin = skip_lead(region.text, correction.end(), region.end)
        other = quantity_at(region.text, begin, region.end)
        if other and not OPERAND_AFTER.match(region.text, other.end, region.end):
            answer = answer._replace(value=other.value, start=other.start, end=other.end)
    reason = answer and _disowned(region, answer, question)
    if reason and answer and statement and CORRECTED.match(region.text, answer.end, region.end):
        answer = _closing(region, answer.end, region.end, question)
        reason = answer and _disowned(region, answer, question)
    if answer and reason == "one of several":
        other = next(quantities(region.text, answer.end, region.end), None)
        return other and answer._replace(value=f"{answer.value} or {other.value}", end=other.end)
    return None if answer is None or reason else _in_convention(region, answer, question)


def _plain_ending(region: Region, question: str) -> ExtractedAnswer | None:
    """Return the answer of a text that ends in a plain statement of it, as most do, else None.

    Then no other statement and no conclusion can replace it: no digit follows. Only the words
    around a box can still deny it, and a sign, a marker or another box near can change it.
    """
    text = region.text
    window = text[max(region.start, region.end - 200) : region.end]
    head = window.rstrip(NO_DIGITS)
    before = head.rstrip("0123456789.,")
    written, behind = head[len(before) :], window[len(head) :]
    value = written if written.isdigit() else canonical(written.replace(",", ""))
    if PLAIN_NUMBER.fullmatch(written) is None or len(value) >= FEWEST_ABSURD:
        return None
    end = region.end - len(behind)
    number = WrittenNumber(value, end - len(written), end)
    if before.endswith("\\boxed{"):
        how, closing = "in the last box", BOX_BEHIND.match(behind)
        if (
            closing is None
            or "boxed" in before[:-7]
            or "####" in before
            or not DASHES.isdisjoint(before[-24:])
            or "below zero" in behind
            or (closing["words"] and ("nswer" in before or PLAIN_TAIL.match(behind) is None))
            or doubt(text, region.start, region.end, number, question, marked=True)
        ):
            return None
    else:
        lead = before[-52:] if before[-1:] in (" ", "$", ":", "#") else ""
        begin = max(0, *map(lead.rfind, ("\n", ". ", "! ", "*", "####")))
        marker = PLAIN_MARKER.match(lead, begin) if lead else None
        if marker is None or PLAIN_BEHIND.match(behind) is None:
            return None
        if "$" in marker[0] and (marker["line"] or "Q" in behind or not written.isdigit()):
            return None
        how = f"after the last {'####' if marker['hashes'] else 'answer'!r}"
        if marker["line"]:
            how = "after 'A:'"
            if "nswer" in window or "NSWER" in window or TAG.search(text, region.start, end):
                return None
    return ExtractedAnswer(*number, how, Confidence.STATED)


def _disowned(region: Region, answer: ExtractedAnswer, question: str) -> str | None:
    """Return why an answer is unresolved, part of an expression, or not asserted, else None."""
    text, number = region.text, WrittenNumber(*answer[:3])
    if answer.value == UNRESOLVED:
        return "unresolved"
    end = number.end + text.startswith(".", number.end)
    line = text[text.rfind("\n", region.start, number.start) + 1 : number.start]
    if text[end : end + 1] in ("", "\n") and line.rstrip(" $").endswith(ANNOUNCED):
        return None  # as most are: a marker and a number, and nothing else in the line
    marked = (
        answer.confidence is Confidence.STATED
        or "####" in line
        or (":" in line and len(line.rpartition(":")[2]) < 24)  # "Answer: up to 15"
    )
    if is_part_of_expression(text, number.start, number.end):
        return "an expression"
    return doubt(text, region.start, region.end, number, question, marked)


def _is_absurd(region: Region, stated: ExtractedAnswer, question: str) -> bool:
    """Return whether a stated number is only digits that a model did not stop writing.

    It is if it has more than MOST_DIGITS, or if it is long, occurs nowhere before, and a far
    shorter one was concluded: "The answer is 2." and then "#### 2611010".
    """
    text, digits = region.text, len(stated.value)
    if digits > MOST_DIGITS:
        return stated.value.isdecimal()
    if digits < FEWEST_ABSURD or stated.value in question or "," in text[stated.start : stated.end]:
        return False
    if stated.value in text[region.start : stated.start].replace(",", ""):
        return False
    place = max(text.rfind("\n", region.start, stated.start), region.start)
    before = last_statement(text, region.start, place, question)
    before = before or _closing(region._replace(end=place), region.start, place, question)
    return before is not None and len(before.value) + 3 < digits


def _revised(region: Region, stated: ExtractedAnswer, question: str) -> ExtractedAnswer:
    """Return a statement, or the different conclusion that comes after it.

    A conclusion counts if it is explicit, if the statement came first and the working after it, or
    if the text takes the statement back.
    """
    text, end = region.text, region.end
    if end - stated.end > 20_000 or DIGIT.search(text, stated.end, end) is None:
        return stated
    sentences = last_sentences(text, stated.end, end)
    first, last = next((span for span in sentences if DIGIT.search(text, *span)), (end, end))
    number = stated_number(text, first, last, question)
    if number is None or number.value in (UNRESOLVED, stated.value) or is_aside(text[first:last]):
        return stated
    worked_out = EQUALS.search(text, max(first, number.start - 16), number.start)
    concludes = CONCLUSION.match(text, first, last) is not None
    restates = restates_question(text[first:last], question)
    limited = LIMITED.match(text, stated.end, number.start) is not None
    total = TOTAL.search(text, first, number.end + 24) is not None
    checks = CHECK.search(text, stated.end, number.start) is not None or (
        not question and "Explanation" in text[stated.end : number.start]
    )
    # "Step 2: \\boxed{30}. The total is 12 + 30 = 42." goes on from what was boxed.
    goes_on = (
        worked_out
        and not checks
        and number.value not in question_hints(question).values
        and any(
            other.value == stated.value
            and (
                OPERAND_AFTER.match(text, other.end, number.start)
                or OPERAND_BEFORE.search(text[max(first, other.start - 8) : other.start])
            )
            for other in quantities(text, first, number.start)
        )
        and (
            total
            or restates
            or limited
            or EQUALS.search(text, max(region.start, stated.start - 12), stated.start)
        )
        and " would " not in text[first : number.start]
    )
    taken_back = TAKEN_BACK.search(text, stated.end, number.start)
    working_follows = (
        worked_out
        and text[number.end : number.end + 1] != ")"
        and not checks
        and not EQUALS.search(text, region.start, stated.start)
        and (total or has_unit(text, number, last, question))
    )
    drawn = concludes or THEREFORE.search(text, first, number.start)
    has_asked_unit = (
        "dollar" not in question_hints(question).units
        and has_unit(text, number, last, question)
        and not has_unit(text, WrittenNumber(*stated[:3]), end, question)
    )
    # Results that the text works out after it stated another; "so he saves $16" is only a remark.
    leads = (skip_lead(text, equals.end(), last)
             for equals in EQUALS.finditer(text, stated.end, number.start))  # fmt: skip
    results = [found.value for lead in leads if (found := quantity_at(text, lead, last))]
    works_out = (
        not EQUALS.search(text, region.start, stated.start)
        and not any(same_value(result, stated.value) for result in results)
        and (TOTAL.search(text, first, number.start) or number.value in results[-1:])
    )
    instead = drawn and (restates or has_asked_unit or works_out)
    if taken_back or goes_on or limited or working_follows or instead:
        how = f"concluded after {stated.value} was stated"
        return ExtractedAnswer(*number, how, Confidence.CONCLUDED)
    return stated


def _closing(region: Region, start: int, end: int, question: str) -> ExtractedAnswer | None:
    """Return the answer of the closing sentence; None if the text is cut or goes round."""
    text = region.text
    whole = region.ran_on or end < region.end
    answer = max(start, text.rfind("nswer", start, end))
    begin = max(start, end - 300, answer if DIGIT.search(text, answer, end) else start)
    choices = [*islice(CHOICES.finditer(text, begin, end), 2)]
    if (
        INLINE_CHOICES.fullmatch(text, start, end)
        or len(choices) > 1
        or (choices and (choices[0][2] or (choices[0][1] != "A" and choices[0].start() > start)))
        or PROGRAM_END.search(text, max(start, end - 240), end)
    ):
        return None
    limit, window = end, max(start, end - WINDOW)
    may_check = any(map(text[window:end].__contains__, CHECK_SIGNS))
    check = CHECK.search(text, window, end) if may_check else None
    behind = text[check.end() : end] if check else ""
    confirms = check and not REVISION.search(behind) and "nswer:" not in behind
    if check and confirms and DIGIT.search(text, start, check.start()):
        end = check.start()  # what only confirms a result is left out
    sentences = list(last_sentences(text, start, end))
    for index, span in enumerate(sentences):
        number = stated_number(text, *span, question)
        written = text[slice(*span)].rstrip()
        is_cut = index == 0 and written[-1].isalnum()
        last = index == 0 and end == limit
        if last and not whole and breaks_off(text, *span, number, question):
            return None
        item = NEXT_ITEM.fullmatch(text, *span) if index == 0 else None
        previous = f"\n{item[1] or ''}{int(item[2]) - 1}" if item else ""
        if item and any(previous + mark in text[: span[0]] for mark in (". ", ") ", ": ")):
            return None  # the text breaks off after the number of a list's next item
        if UNKNOWN.search(text, *span) or (number and number.end - number.start > 60):
            return None
        if number is None or is_aside(text[slice(*span)]):
            works = EQUALS.search(text, region.start, region.end)
            asks = not question or _is_asked(written, question)
            if last and written.endswith("?") and not works and asks:
                return None  # the question again, and nothing else
            continue
        repeated = written.strip().lstrip("0123456789. ")
        if len(repeated) < SHORTEST_PERIOD:
            stop = span[0] + len(written)
            repeated = text[max(region.start, stop - LONGEST_PERIOD) : stop]
        goes_round = len(repeated) >= SHORTEST_PERIOD and (
            text.count(repeated, region.start, region.end) >= 4
        )
        if goes_round and (
            is_cut
            or not restates_question(written, question, share=0.4)
            or number.value in question_hints(question).values
        ):
            return None
        opening = _opening(text, start, span, number, question)
        if opening is not None:
            return ExtractedAnswer(*opening, "in the opening sentence", Confidence.GUESSED)
        listed = _before_items(text, sentences[index:], question)
        if listed is not None:
            return ExtractedAnswer(*listed, "before a list", Confidence.CONCLUDED)
        if _is_asked(written, question):
            continue
        sure = CONCLUSION.match(text, *span) is not None and (whole or not is_cut)
        confidence = Confidence.CONCLUDED if sure else Confidence.GUESSED
        return ExtractedAnswer(*number, "in the closing sentence", confidence)
    return None


def _is_asked(sentence: str, question: str) -> bool:
    """Return whether a sentence only repeats part of the question, except for a pronoun or two."""
    words = sentence.split()
    rest = " ".join(words if DIGIT.search(words[0]) else words[1:])
    return len(rest) > 15 and rest in " ".join(question.split())


def _before_items(
    text: str, sentences: list[tuple[int, int]], question: str
) -> WrittenNumber | None:
    r"""Return the number that a list at the end explains: "**260 sheep**.\n- Toulouse: 160"."""
    hints = question_hints(question)
    for index, span in enumerate(sentences[:6]):
        line = text.rfind("\n", 0, span[0] + 1) + 1
        values = {number.value for number in quantities(text, *span)}
        given = values and hints.values.issuperset(values) and not EQUALS.search(text, *span)
        if not (given or BULLET.match(text, line, span[1])):
            concludes = "**" in text[slice(*span)] or CONCLUSION.match(text, *span)
            if index and concludes:
                return stated_number(text, *span, question)
            if not index or values:
                return None
        elif TOTAL.search(text, *span):
            return None
    return None


def _opening(
    text: str, start: int, closing: tuple[int, int], number: WrittenNumber, question: str
) -> WrittenNumber | None:
    """Return the number that the first line or sentence answers, if the last only explains it.

    "The difference is $200. The first costs $450, while the second costs $250."
    """
    values, (last, stop) = question_hints(question).values, closing
    head = quantity_at(text, skip_lead(text, start, last), last)
    if head is not None and FIRST_LINE.match(text, head.end, stop):
        if CONCLUSION.match(text, last) or head.value in values:
            return None
        works = EQUALS.search(text, head.end, stop) and (
            number.value not in values or f"= {number.value}" in text[head.end : last]
        )
        return None if works or skip_lead(text, last, stop) == number.start else head
    ends = (boundary.end() for boundary in BOUNDARY.finditer(text, start, last))
    end = next((end for end in ends if text[start:end].strip()), None)
    if end is None or EQUALS.search(text, start, stop):
        return None
    if not restates_question(text[start:end], question) or restates_question(
        text[last:stop], question
    ):
        return None
    numbers = sentence_numbers(text, start, end, question)
    opening = numbers[0] if len(numbers) == 1 else None
    if opening is None or opening.value in values or doubt(text, start, end, opening, question):
        return None
    return opening


def _in_convention(region: Region, answer: ExtractedAnswer, question: str) -> ExtractedAnswer:
    """Return an answer by the conventions of its text: "5.600" in German, millions if asked for."""
    text, written = region.text, region.text[answer.start : answer.end]
    if written == answer.value and " " not in written and "." not in written:
        return answer
    if THOUSANDS_POINT.fullmatch(written.lstrip("R$€ ")):
        points = groups_by_points(question)
        words = text[max(region.start, answer.start - 300) : answer.start + 60]
        near = text[max(0, answer.start - 3) : answer.end + 6]
        if points or groups_by_points(words) or "€" in near or "R$" in near or "euro" in near:
            return answer._replace(value=canonical(shifted(answer.value, 3)))
    units = question_hints(question).units
    parts = COMPOUND.fullmatch(written)
    if parts is not None:  # "2 hours 30 minutes" are 150 if only minutes are asked for
        large, small = stem(parts[2]), stem(parts[4])
        if small in units and large not in units and large in RATIOS:
            return answer._replace(value=str(int(parts[1]) * RATIOS[large] + int(parts[3])))
    amount, kilo = answer.value[:-1], answer.value[-1:].upper()
    if kilo in KILOS and "dollar" in units and amount.replace(".", "").isdecimal():
        return answer._replace(value=shifted(amount, KILOS[kilo]))  # "70k" dollars
    scale = question_hints(question).scale
    if scale and written.endswith(("illion", "illions", "housand", "k", "K")):
        return answer._replace(value=canonical(shifted(answer.value, -scale)))
    return answer


def last_sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where the last 16 sentences of a piece of text begin and end, the last one first."""
    begin = max(start, end - WINDOW)
    edges = [begin, *(match.end() for match in BOUNDARY.finditer(text, begin, end))]
    for edge in edges[:-17:-1]:
        if edge < end and not text[edge:end].isspace():
            yield edge, end
        end = edge


def is_aside(sentence: str) -> bool:
    """Return whether a sentence asks something, or adds a note to the text before."""
    asks = sentence[-12:].rstrip(" \n\"'*)").endswith("?")
    return "=" not in sentence and (asks or ASIDE.match(sentence) is not None)


def breaks_off(
    text: str, start: int, end: int, number: WrittenNumber | None, question: str
) -> bool:
    """Return whether an unfinished last sentence leads to a figure that is missing."""
    written = text[start:end].rstrip()
    if INSTRUCTION.fullmatch(written):
        return True
    if DANGLING.search(written[-40:]) and not UNIT_AT_END.search(written[-12:]):
        return True
    if not written[-1].isalnum():
        return False
    words, before = written.split(), text[max(0, start - 8) : start]
    if number is None:
        return len(words) > 2 or (written[:1].isupper() and "\n" not in before)
    stop = start + len(written)
    if "=" not in written and SETTING.search(text[max(start, number.start - 40) : number.start]):
        in_words = number.end >= stop and not DIGIT.search(text, number.start, stop)
        if in_words or "," in text[number.end : stop]:
            return True  # "Dana can travel in six", "Therefore, in 48 hours, the pool"
    display = text.rfind("\\[", max(0, start - LONGEST_PERIOD), stop)
    if display >= 0 and text.find("\\]", display, stop) < 0:
        return True
    if "\n" in before or not before.rstrip().endswith((".", "!", "?")):
        return False  # a line may end without a period
    if number.start == start and len(words) <= LONGEST_UNIT:
        return False  # "Therefore, it takes 3 hours. 3"
    return not (
        CONCLUSION.match(written)
        or "=" in written
        or "nswer" in written
        or restates_question(written, question)
        or has_unit(text, number, stop, question)
    )
