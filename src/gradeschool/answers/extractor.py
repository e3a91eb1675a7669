r"""The house reader: the answer that a careful person would say a completion gives.

It reads the part that counts (`regions`), takes the last explicit statement of an answer
(`statements`), honours a different conclusion that comes after it, and where nothing is stated
explicitly reads the closing sentence (`closing`). Deterministic, linear, no model.
"""

from __future__ import annotations

import re
from itertools import chain

from gradeschool.answers.closing import has_equals, skip_lead, stated_number
from gradeschool.answers.quantities import (
    WrittenNumber,
    quantities,
    quantity_at,
    same_value,
    word_quantities,
)
from gradeschool.answers.question import QuestionHints, question_hints
from gradeschool.answers.regions import Region, committed_region
from gradeschool.answers.sentences import Sentence, is_aside, last_sentences
from gradeschool.answers.statements import Confidence, ExtractedAnswer, last_statement

__all__ = ["Confidence", "ExtractedAnswer", "extract_final_answer"]

# A statement with more text than this behind it is not looked at again.
LONGEST_TAIL = 20_000
CONCLUSION = re.compile(
    r"(?i)[\s*>-]{0,6}(?:therefore|thus|hence|so|finally|in\s(?:total|conclusion|summary|all)|"
    r"consequently|accordingly|altogether|overall|this\smeans|that\smeans|as\sa\sresult|∴)\b"
)
DRAWN = re.compile(r"(?i)[,;]\s(?:so|therefore|thus|hence)\b")
REVISION = re.compile(
    r"(?i)\b(?:wait|actually|correction|oops|sorry|mistake|error|incorrect|re-?check|reconsider|"
    r"on\ssecond\sthought|let\s(?:me|us|'s)\sre)\b|\bshould\s(?:actually\s)?be\b"
)
# In the very sentence of another number.
RETRACTION = re.compile(r"(?i)\b(?:wait|correction|oops|should\s(?:actually\s)?be)\b")
# Answers to choose from, not an answer.
CHOICES = re.compile(r"(?:^|\n)[ \t]{0,4}\(?[A-E][.:)][ \t]")
CHECK = re.compile(r"(?i)\b(?:double[-\s])?(?:check|verif(?:y|ication)|proof)\b")
CHECK_LINE = re.compile(
    r"(?i)\n[\s*#>_-]{0,6}(?:to\s|let['’]?s\s)?(?:double[-\s]?)?(?:check|verify|verification)\b"
)
ONE_LINE = re.compile(r"\s{0,9}[^\n]{1,80}\s{0,9}")
BULLET = re.compile(r"[ \t]{0,8}[-*•] (?!.{0,200}(?:=|\*\*))")
TOTAL = re.compile(
    r"(?i)\b(?:total|sum|answer|result|final|remain(?:s|ing|der)?|left|altogether)\b"
)
# A text that ends so was cut off before its result.
DANGLING = re.compile(
    r"(?:[+/×=<(−-]|\s\*|\\times|\\frac(?:\{[^{}]{0,20}(?:\}\{[^{}]{0,20})?)?"
    r"|\b(?:is|are|was|has|have|had|the|an?|of|and|or|by|plus|minus"
    r"|times|with|for|to|from|at|in|on|per|than|every|his|her|their|so))\s*$"
)
# A text that says so gives no answer.
UNKNOWN = re.compile(
    r"(?i)\b(?:(?:cannot|can\snot|can['’]t|impossible\sto)\s(?:be\s)?"
    r"(?:determine|answer|solve|calculate|tell|say|know)[dn]?"
    r"|not\s(?:enough|what)|insufficient|unknown)\b"
)
OUTPUT = re.compile(r"```(?:output|text|plaintext|result)?[ \t]*\n([^`]{1,400})\n?```\s*$")
HEADLINE = re.compile(
    r" ?(?:[A-Za-z%°]{1,14} ?){0,3}[.*_$\\)\]]{0,5}[ \t]*\n[ \t]*\n| (?:[A-Za-z%°]{1,14} ?){1,3}\. "
)
OPERAND = re.compile(r"[\w)}%][\s$]{0,3}[+×÷/][\s$]{0,3}$|[\d)][\s$]{0,3}[−–*-]\s[$]?$")
PROGRAM = re.compile(r"\s*(?:def [a-z_]\w*\(|from \w+ import |import [a-z]+\n)")
DIGIT = re.compile(r"\d")


def extract_final_answer(text: str, question: str = "") -> ExtractedAnswer | None:
    """Return the answer that a completion gives to a question, or None where it gives none.

    question: tells the asked unit from another ("2 hours (120 minutes)") and what was given from
    what was found; without it both are guessed. Never raises; linear in the length of the text.
    """
    hints = question_hints(question)
    region = committed_region(text, question)
    stated = last_statement(region.text, region.start, region.end, hints)
    if stated is not None:
        return _revised(region, stated, hints)
    if region.thinking:
        return None
    concluded = _closing(region, hints)
    if concluded is None and region.coded:
        return _printed(text, region)
    return concluded


def _revised(region: Region, stated: ExtractedAnswer, hints: QuestionHints) -> ExtractedAnswer:
    """Return a statement, or the different conclusion that comes after it.

    A conclusion counts where it is drawn in so many words, where the statement came first and the
    working after it, or where the text takes the statement back.
    """
    text, end = region.text, region.end
    if end - stated.end > LONGEST_TAIL or DIGIT.search(text, stated.end, end) is None:
        return stated
    last = _last_with_number(text, stated.end, end)
    if last is None:
        return stated
    number = stated_number(text, last.start, last.end, hints)
    if number is None or same_value(number.value, stated.value):
        return stated
    worked_out = has_equals(text, max(last.start, number.start - 16), number.start)
    if not worked_out and _mentions(text, last, stated.value):
        return stated
    taken_back = RETRACTION.search(text, last.start, number.start) or (
        REVISION.search(text, stated.end, end) and has_equals(text, stated.end, end)
    )
    in_parentheses = text[number.end : number.end + 1] == ")"
    working_follows = (
        worked_out
        and not in_parentheses
        and last.start > stated.end
        and CHECK.search(text, stated.end, number.start) is None
        and not has_equals(text, region.start, stated.start)
    )
    drawn = CONCLUSION.match(text, last.start, last.end) or DRAWN.search(
        text, last.start, number.start
    )
    if taken_back or working_follows or drawn:
        how = f"concluded after {stated.value} was stated"
        return ExtractedAnswer(*number, how, Confidence.CONCLUDED)
    return stated


def _last_with_number(text: str, start: int, end: int) -> Sentence | None:
    """Return the last sentence that holds a number, None where it only asks or adds something."""
    for sentence in last_sentences(text, start, end):
        if DIGIT.search(text, sentence.start, sentence.end):
            return None if is_aside(text, sentence) else sentence
    return None


def _mentions(text: str, sentence: Sentence, value: str) -> bool:
    span = text, sentence.start, sentence.end
    return any(
        same_value(number.value, value)
        for number in chain(quantities(*span), word_quantities(*span))
    )


def _closing(region: Region, hints: QuestionHints) -> ExtractedAnswer | None:
    """Return what the closing sentence states; None where the text is cut or goes round."""
    text, end = region.text, region.end
    if CHOICES.search(text, max(region.start, end - 300), end) and not ONE_LINE.fullmatch(
        text, region.start, end
    ):
        return None
    if PROGRAM.match(text, region.start, end):
        return None
    end = _before_parts(text, region.start, _before_check(text, region.start, end))
    for sentence in last_sentences(text, region.start, end):
        number = stated_number(text, sentence.start, sentence.end, hints)
        if sentence.cut and not region.ran_on and _breaks_off(text, sentence, number):
            return None
        if number is None or is_aside(text, sentence):
            continue
        if _next_item(text, sentence, end):
            return None
        unfinished = not region.ran_on and DANGLING.search(text, max(region.start, end - 40), end)
        if unfinished or UNKNOWN.search(text, sentence.start, sentence.end):
            return None
        if _goes_round(region, sentence):
            return None
        head = _headline(region, sentence, number, hints)
        if head is not None:
            return ExtractedAnswer(*head, "in the opening line", Confidence.GUESSED)
        concludes = CONCLUSION.match(text, sentence.start, sentence.end) is not None
        whole = region.ran_on or not sentence.cut
        sure = Confidence.CONCLUDED if concludes and whole else Confidence.GUESSED
        return ExtractedAnswer(*number, "in the closing sentence", sure)
    return None


def _before_check(text: str, start: int, end: int) -> int:
    """Return where a check of what was found begins that takes nothing back, else the end."""
    check = CHECK_LINE.search(text, max(start, end - 1_500), end)
    if check is None or REVISION.search(text, check.end(), end):
        return end
    return check.start() if DIGIT.search(text, start, check.start()) else end


def _before_parts(text: str, start: int, end: int) -> int:
    """Return where a closing list begins that only breaks down the bold number before it."""
    begin = max(start, end - 1_500)
    if text.find("**", begin, end) < 0 or text.find("\n", begin, end) < 0:
        return end
    lines = text[begin:end].split("\n")
    listed = 0
    while lines and (not lines[-1].strip() or BULLET.match(lines[-1])):
        line = lines.pop()
        listed += bool(line.strip())
        if TOTAL.search(line):
            return end
    lead = lines[-1].strip() if lines else ""
    states = "**" in lead and DIGIT.search(lead) and not lead.rstrip("* ").endswith(":")
    if listed < 2 or not states or lead.startswith(("#", "-", "*  ")):
        return end
    return begin + len("\n".join(lines))


def _headline(
    region: Region, sentence: Sentence, number: WrittenNumber, hints: QuestionHints
) -> WrittenNumber | None:
    """Return a number that is the whole first line, where the end of the text only explains it."""
    text, end = region.text, region.end
    if has_equals(text, sentence.start, sentence.end) or CONCLUSION.match(text, sentence.start):
        return None
    if skip_lead(text, sentence.start, end) == number.start:  # a list of figures
        return None
    head = quantity_at(text, skip_lead(text, region.start, end), end)
    if head is None or HEADLINE.match(text, head.end, end) is None:
        return None
    if has_equals(text, head.end, end):
        return None
    given = any(digits == head.value for digits, _ in hints.givens)
    return None if given or head.start >= sentence.start else head


def _breaks_off(text: str, sentence: Sentence, number: WrittenNumber | None) -> bool:
    """Tell whether an unfinished last sentence is on its way to something: it has no figure yet."""
    said = text[sentence.start : sentence.end].rstrip()
    ends_in_it = number is not None and number.end >= sentence.start + len(said)
    if number is not None and ends_in_it and OPERAND.search(text, sentence.start, number.start):
        return True
    figure = number is not None and DIGIT.search(text, number.start, number.end)
    return not ends_in_it and not figure and len(said.split()) > 2


def _next_item(text: str, sentence: Sentence, end: int) -> bool:
    """Tell whether a text breaks off behind the number of a list's next item."""
    said = text[sentence.start : sentence.end].strip().rstrip(".)")
    if len(said) > 3 or not said.isdecimal() or text[sentence.end : end].strip():
        return False
    return any(f"\n{int(said) - 1}{mark} " in text[: sentence.start] for mark in ".)")


def _goes_round(region: Region, sentence: Sentence) -> bool:
    """Tell whether a text repeats its last sentence over and over."""
    said = region.text[sentence.start : sentence.end].strip()
    return len(said) > 20 and region.text.count(said, region.start, region.end) >= 4


def _printed(text: str, region: Region) -> ExtractedAnswer | None:
    """Return the number that a program printed at the very end."""
    found = OUTPUT.search(text, max(region.start, region.end - 450), region.end)
    numbers = [] if found is None else list(quantities(text, *found.span(1)))
    return (
        ExtractedAnswer(*numbers[-1], "printed by the program", Confidence.GUESSED)
        if numbers
        else None
    )
