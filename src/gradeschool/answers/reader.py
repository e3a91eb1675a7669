r"""The house reader: the answer that a careful person would say a completion gives.

It reads the part that counts (`regions`), takes the last explicit statement of an answer
(`statements`), honours a different conclusion that comes after it, and where nothing is stated
explicitly reads the closing sentence (`closing`). Deterministic, linear, no model.
"""

from __future__ import annotations

import re

from gradeschool.answers.asked import Asked, asked_of
from gradeschool.answers.closing import (
    Sentence,
    has_equals,
    is_aside,
    last_sentences,
    stated_number,
)
from gradeschool.answers.quantities import quantities, same_value
from gradeschool.answers.regions import Region, committed_region
from gradeschool.answers.statements import Confidence, Reading, last_statement

__all__ = ["Confidence", "Reading", "read_completion"]

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
# Answers to choose from, not an answer.
CHOICES = re.compile(r"(?:^|\n)[ \t]{0,4}\(?[A-E][.:)][ \t]")
# A text that ends so was cut off before its result.
DANGLING = re.compile(
    r"(?:[+/×=<(−-]|\s\*|\\times|\\frac\{?[^{}]{0,20}|\b(?:is|are|was|has|have|had|the|an?|of|and"
    r"|or|by|plus|minus|times|with|for|to|from|at|in|on|per|than|each|every|his|her|their|so))\s*$"
)
# A text that says so gives no answer.
UNKNOWN = re.compile(
    r"(?i)\b(?:(?:cannot|can\snot|can['’]t|impossible\sto)\s(?:be\s)?"
    r"(?:determine|answer|solve|calculate|tell|say|know)[dn]?"
    r"|not\s(?:enough|what)|insufficient|unknown)\b"
)
OUTPUT = re.compile(r"```(?:output|text|plaintext|result)?[ \t]*\n([^`]{1,400})\n?```\s*$")
DIGIT = re.compile(r"\d")


def read_completion(text: str, question: str = "") -> Reading | None:
    """Return the answer that a completion gives to a question, or None where it gives none.

    question: tells the asked unit from another ("2 hours (120 minutes)") and what was given from
    what was found; without it both are guessed. Never raises; linear in the length of the text.
    """
    asked = asked_of(question)
    region = committed_region(text, question)
    stated = last_statement(region.text, region.start, region.end, asked)
    if stated is not None:
        return _revised(region, stated, asked)
    if region.thinking:
        return None
    concluded = _closing(region, asked)
    if concluded is None and region.coded:
        return _printed(text, region)
    return concluded


def _revised(region: Region, stated: Reading, asked: Asked) -> Reading:
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
    number = stated_number(text, last.start, last.end, asked)
    if number is None or same_value(number.value, stated.value):
        return stated
    worked_out = has_equals(text, last.start, number.start)
    if not worked_out and _mentions(text, last, stated.value):
        return stated
    taken_back = REVISION.search(text, stated.end, end) and has_equals(text, stated.end, end)
    in_parentheses = text[number.end : number.end + 1] == ")"
    working_follows = (
        worked_out
        and not in_parentheses
        and last.start > stated.end
        and not has_equals(text, region.start, stated.start)
    )
    drawn = CONCLUSION.match(text, last.start, last.end) or DRAWN.search(
        text, last.start, number.start
    )
    if taken_back or working_follows or drawn:
        how = f"concluded after {stated.value} was stated"
        return Reading(*number, how, Confidence.CONCLUDED)
    return stated


def _last_with_number(text: str, start: int, end: int) -> Sentence | None:
    """Return the last sentence that holds a number, None where it only asks or adds something."""
    for sentence in last_sentences(text, start, end):
        if DIGIT.search(text, sentence.start, sentence.end):
            return None if is_aside(text, sentence) else sentence
    return None


def _mentions(text: str, sentence: Sentence, value: str) -> bool:
    numbers = quantities(text, sentence.start, sentence.end)
    return any(same_value(number.value, value) for number in numbers)


def _closing(region: Region, asked: Asked) -> Reading | None:
    """Return what the closing sentence states; None where the text is cut or goes round."""
    text, end = region.text, region.end
    if CHOICES.search(text, max(region.start, end - 300), end):
        return None
    for sentence in last_sentences(text, region.start, end):
        number = stated_number(text, sentence.start, sentence.end, asked)
        if number is None or is_aside(text, sentence):
            continue
        if _next_item(text, sentence):
            return None
        unfinished = not region.ran_on and DANGLING.search(text, max(region.start, end - 40), end)
        if unfinished or UNKNOWN.search(text, sentence.start, sentence.end):
            return None
        if _goes_round(region, sentence):
            return None
        concludes = CONCLUSION.match(text, sentence.start, sentence.end) is not None
        whole = region.ran_on or not sentence.cut
        sure = Confidence.CONCLUDED if concludes and whole else Confidence.GUESSED
        return Reading(*number, "in the closing sentence", sure)
    return None


def _next_item(text: str, sentence: Sentence) -> bool:
    """Tell whether a text breaks off behind the number of a list's next item."""
    said = text[sentence.start : sentence.end].strip()
    if len(said) > 3 or not said.isdecimal():
        return False
    return f"\n{int(said) - 1}. " in text[: sentence.start]


def _goes_round(region: Region, sentence: Sentence) -> bool:
    """Tell whether a text repeats its last sentence over and over."""
    said = region.text[sentence.start : sentence.end].strip()
    return len(said) > 20 and region.text.count(said, region.start, region.end) >= 4


def _printed(text: str, region: Region) -> Reading | None:
    """Return the number that a program printed at the very end."""
    found = OUTPUT.search(text, max(region.start, region.end - 450), region.end)
    numbers = [] if found is None else list(quantities(text, *found.span(1)))
    return Reading(*numbers[-1], "printed by the program", Confidence.GUESSED) if numbers else None
