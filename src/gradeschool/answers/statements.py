r"""Explicit statements of an answer: `####`, a box, a tag, "the answer is", "Answer:", "A:"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from gradeschool.answers.candidates import (
    best_number,
    has_equals,
    sentence_numbers,
    stated_number,
)
from gradeschool.answers.features import has_unit, skip_lead
from gradeschool.answers.quantities import (
    CHINESE_NUMBER,
    TEXT_COMMAND,
    WORD_NUMBER,
    WrittenNumber,
    quantity_at,
    without_text_commands,
    word_quantities,
)
from gradeschool.answers.search import any_of, closing_brace

# Maximum number of occurrences of a marker that are tried, from the last one back.
TRIES = 20
# Maximum number of characters of a statement after its marker.
REACH = 400
HASHES, BOX, TAG, TAG_END = "####", "boxed", "<answer>", "</answer>"
# "#### 1. Count the eggs" is a heading, "Answer:\n1. Count the eggs" a list: not answers.
ITEM = re.compile(r"[.)][ \t*]{1,4}[A-Za-z\d$\\(]")
_VERB = any_of(
    r"is are was equals would\sbe should\sbe must\sbe will\sbe comes?\s(?:out\s)?to becomes"
)
# Matched at the second letter of "answer".
ANSWER = re.compile(
    r"(?i)nswers?\b[\"'*_`)\]]{0,4}(?P<words>[^\n.:=?!,;\d\\{}<>]{0,60}?)"
    rf"(?P<verb>{_VERB}"
    r"\b(?!\s(?:not|correct|incorrect|wrong|right)\b)"
    r"|(?=[*_\"'`\s:=→-])(?:[*_\"'`]{0,4}\s?(?::-(?=\s)|[:=→](?!=))|->|[*_]{0,3}[ \t]*\n))"
)
NO_VERBS = frozenset(["", ":", ":-", "=", "→", "->"])
# "To answer this, ..." does not announce an answer.
BEFORE_ANSWERING = frozenset("to can cannot not we will must should".split())  # noqa: SIM905
ARTICLES = frozenset("the our your this my an".split())  # noqa: SIM905
# "You might think the answer is 540", "the wrong answer is 540". Matched before "nswer".
DISOWNED = re.compile(
    r"(?i)\b(?:wrong|incorrect|(?:might|may|could|would|people|students|some|tempting\sto)\s(?:\w+\s){0,2}"
    r"(?:think|say|assume|believe|guess|expect)(?:\sthat)?(?:\sthe)?)\sa$"
)
TASKS = frozenset(
    "express get find give round simplify convert check verify write state make reach".split()  # noqa: SIM905
)
REVERSED = re.compile(r"\bis\s+(?:the|our|your|my)\s+(?:\w+\s){0,2}a$", re.I)
SHORT = re.compile(
    r"(?<![^\s*(])(?:[Aa]ns|ANS|[Ff]inal [Rr]esult|[Rr]esult)[*.]{0,3}\s?[:=]"
    r"|(?<=orrect )(?:option|choice)\s(?:is\b|:)"
)
SHORT_SIGNS = ("ans", "Ans", "ANS", "esult", "orrect option", "orrect choice")
# The same in other languages (MGSM's and a few more), with a verb or a colon after it.
FOREIGN = re.compile(
    r"(?i)(?:antwort|ergebnis|lösung|respuesta|resultado|réponse|reponse|résultat|ответ|jibu|risposta"
    r"|resposta|答案|答え|(?<!解)答|답|উত্তর|సమాధానం|జవాబు|คำตอบ)"
    r"(?P<verb>(?:[^\n\d.:：=]{0,40}?(?:\b(?:ist|lautet|beträgt|(?<!\bno\s)es|est|è|é|ni)\b|は|(?<!不)是|为|為|হল|হলো|คือ|[—–=]))?"
    r"[\s*]{0,3}[:：]?)"
)
FOREIGN_SIGNS = ("ntwort", "rgebnis", "spuesta", "sposta", "eponse", "esultado", "Jibu", "jibu")
# In texts beyond ASCII.
SCRIPT_SIGNS = (
    "答", "답", "твет", "উত্তর", "సమాధానం", "జవాబు", "คำตอบ", "éponse", "ésultat", "ösung",
)  # fmt: skip
STEP = re.compile(r"\d[^\n=]{0,40}=\s?\$?\s?\d")
LINE_A = re.compile(r"\n[ \t>*]{0,4}A[*]{0,2}[ \t]?:")
FIRST_LINE_A = re.compile(LINE_A.pattern.removeprefix("\\n"))
LINE_A_SIGNS = ("A:", "A**:", "A :")
LINE_B = re.compile(r"\n[ \t>*]{0,4}\(?B[*]{0,2}[ \t]?[.:)]")
OPTION = re.compile(r"\s{0,3}(?:option\s)?\(?[A-E](?:[).:,]\s?[-–:]?|\s[-–:=])\s?(?=[\d$])", re.I)
# A line that ends in "=" continues on the next.
SENTENCE_END = re.compile(r"[.!?](?<!\bi\.e\.)(?=[\s\"'*)]|$)|[。！？।]|(?<![=≈])(?<![=≈] )\n")
# Several numbers in a box; "1, 250" may be a slip for 1,250.
LIST = re.compile(r"\s?\$?-?\d+(?:\.\d+)?(?:[,;]\s?(?!\d{3}\b)\$?-?\d+(?:\.\d+)?){1,9}\s?")
MINUS_SIGN = re.compile(r"[-−–][ \t]?(?=\\?[$\d.(\\])|(?i:negative|minus)\s")


# After a number in words, only its unit follows.
COUNTED = re.compile(r"(?:[ -][A-Za-z]{1,14}){0,2} ?(?:[^\w\s$]|\n|\Z)")
DIGIT = re.compile(r"\d")
LINE_ENDS = re.compile(r"(?: ?[A-Za-z%]{1,14}){0,2}[.!*]{0,3}[ \t]*\n")
SAME_AMOUNT = re.compile(r"[^\n=≈\d]{0,40}?\}[\s$\\)*]{0,6}(?:=|or)[\s$*\\(]{0,6}(?=[\d.])")


class Confidence(StrEnum):
    """The certainty of an extracted answer."""

    STATED = "stated"
    CONCLUDED = "concluded"
    GUESSED = "guessed"


class ExtractedAnswer(NamedTuple):
    """The answer that a completion gives.

    value: in canonical form ("18", "-2.5", "8/3", "3:30"). start, end: the extracted characters.
    how: a description. confidence: an explicit statement, a conclusion, or the last number of a
    text without a conclusion.
    """

    value: str
    start: int
    end: int
    how: str
    confidence: Confidence


class AnswerSection(NamedTuple):
    """A piece of text that a marker announces as the answer, longer than one number."""

    start: int
    end: int
    how: str


def last_statement(
    text: str, start: int, end: int, question: str
) -> ExtractedAnswer | AnswerSection | None:
    """Return the last explicit statement of an answer in a piece of text, None without one."""
    last: ExtractedAnswer | AnswerSection | None = None
    for find in (_behind_answer, _in_box, _behind_hashes, _in_tag, _behind_pattern):
        statement = find(text, start if last is None else max(start, last.start - 9), end, question)
        if statement is not None and (last is None or statement.start > last.start):
            last = statement
    return last


def _stated(number: WrittenNumber, how: str) -> ExtractedAnswer:
    return ExtractedAnswer(*number, how, Confidence.STATED)


def _places(text: str, marker: str, start: int, end: int) -> Iterable[int]:
    """Return the places of a marker from the last one back, a bounded number of them."""
    if marker[0] not in text:  # looked for ten times as fast as the whole marker
        return ()
    place = text.rfind(marker, start, end)
    return () if place < 0 else _places_before(text, marker, start, place)


def _places_before(text: str, marker: str, start: int, place: int) -> Iterator[int]:
    for _ in range(TRIES):
        yield place
        place = text.rfind(marker, start, place)
        if place < 0:
            return


def _behind_hashes(text: str, start: int, end: int, question: str) -> ExtractedAnswer | None:
    for place in _places(text, HASHES, start, end):
        begin, stop = place + len(HASHES), min(end, place + REACH)
        line = text.find("\n", begin, stop)
        if line >= 0 and text[begin:line].strip(" #*"):  # else the number is on the next line
            stop = line if not text[begin:line].rstrip().endswith(("=", "≈")) else stop
        number = _direct(text, begin, stop, question)
        opens_line = place == 0 or text[place - 1] in "\n#"
        if number is not None and not (opens_line and ITEM.match(text, number.end, end)):
            return _stated(number, "after the last '####'")
    return None


def _in_box(text: str, start: int, end: int, question: str) -> ExtractedAnswer | None:
    for marker in (BOX, "\\fbox"):
        for place in _places(text, marker, start, end):
            number = _boxed(text, place + len(marker), end, question)
            if number is None:
                continue
            other = _box_beside(text, place, number, start, end, question) or _asked_behind(
                text, number, end, question
            )
            return _stated(other or number, "in the last box")
    return None


def _boxed(text: str, inside: int, end: int, question: str) -> WrittenNumber | None:
    if text[inside : inside + 1] == "{":
        stop = min(end, inside + REACH)
        close = closing_brace(text, inside + 1, stop)
        close = stop if close < 0 else close
        if LIST.fullmatch(text, inside + 1, close):  # several answers, so no number
            return WrittenNumber(text[inside + 1 : close].strip(), inside + 1, close)
        if text.find(TEXT_COMMAND, inside, close) >= 0:
            return _in_words(text, inside + 1, close, question)
        return stated_number(text, inside + 1, close, question)
    return _direct(text, inside, min(end, inside + 40), question)


def _in_words(text: str, start: int, end: int, question: str) -> WrittenNumber | None:
    r"""Return the number of a box with words: "2 \text{ hours and } 30 \text{ minutes}"."""
    words, places = without_text_commands(text[start:end])
    number = stated_number(words, 0, len(words), question)
    if number is None:
        return None
    first, last = start + places[number.start], start + places[number.end - 1] + 1
    return WrittenNumber(number.value, first, last + (text[last : last + 1] == "}"))


def _box_beside(
    text: str, place: int, number: WrittenNumber, start: int, end: int, question: str
) -> WrittenNumber | None:
    """Return the box before this one if both give one amount in two units, else None.

    "4 minutes or 0.067 hours", both boxed: the requested unit decides, or a line after them that
    repeats one of them; otherwise the first counts.
    """
    before = text.rfind(BOX, max(start, place - 120), place)
    if before < 0 or SENTENCE_END.search(text, before, place) or "or" not in text[before:place]:
        return None
    other = _boxed(text, before + len(BOX), place, question)
    if other is None or not text[other.end : place].replace("\\)", "").rstrip("\\( $").endswith(
        " or"
    ):
        return None
    tail = text[number.end : end].rstrip()
    repeated = tail.rpartition("\n")[2].strip() if "\n" in tail else ""
    for box in (number, other):
        if repeated == text[box.start : box.end]:
            return box
    fits = has_unit(text, number, end, question)
    return number if fits and not has_unit(text, other, place, question) else other


def _asked_behind(
    text: str, number: WrittenNumber, end: int, question: str
) -> WrittenNumber | None:
    """Return the 180 of "[3 hours] = 180 minutes" if minutes are asked for; [] is a box."""
    if (
        text.find("=", number.end, min(end, number.end + 60)) < 0
        and text.find(" or ", number.end, min(end, number.end + 60)) < 0
    ):
        return None
    equals = SAME_AMOUNT.match(text, number.end, end)
    if equals is None or has_unit(text, number, equals.end(), question):
        return None
    other = quantity_at(text, equals.end(), end)
    return other if other is not None and has_unit(text, other, end, question) else None


def _in_tag(
    text: str, start: int, end: int, question: str
) -> ExtractedAnswer | AnswerSection | None:
    for place in _places(text, TAG, start, end):
        begin = place + len(TAG)
        close = text.find(TAG_END, begin, end)
        stop = end if close < 0 else close
        lines = text[begin:stop].strip()
        if close < 0 and (number := _whole_line(text, begin, stop)) is not None:
            return _stated(number, "after an open <answer> tag")
        if "\n" in lines or len(lines) > REACH or SENTENCE_END.search(lines, 0, len(lines) - 1):
            return AnswerSection(begin, stop, "between <answer> tags")
        number = stated_number(text, begin, stop, question)
        if number is not None:
            return _stated(number, "between <answer> tags")
    return None


def _whole_line(text: str, start: int, end: int) -> WrittenNumber | None:
    """Return the number that fills the line that begins here, except for its unit."""
    number = quantity_at(text, skip_lead(text, start, end), end)
    return number if number is not None and LINE_ENDS.match(text, number.end, end) else None


def _behind_answer(
    text: str, start: int, end: int, question: str
) -> ExtractedAnswer | AnswerSection | None:
    last: ExtractedAnswer | AnswerSection | None = None
    for marker in ("nswer", "NSWER"):
        for place in _places(text, marker, start if last is None else last.start, end):
            statement = _announced(text, place, start, end, question)
            if statement is not None:
                last = statement
                break
    return last


def _announced(
    text: str, place: int, start: int, end: int, question: str
) -> ExtractedAnswer | AnswerSection | None:
    """Return the answer that "answer" at a place introduces, or closes ("18 is the answer")."""
    cue = ANSWER.match(text, place, end)
    if cue is None or _is_task(text, start, place):
        return _before_answer(text, place, start, question)
    stop = min(end, cue.end() + REACH)
    option = OPTION.match(text, cue.end(), stop)
    begin = cue.end() if option is None else option.end()
    number = _direct(text, begin, stop, question)
    if number is not None:
        item = ITEM.match(text, number.end, end)
        if cue["verb"].strip(" *_\"'`\t\n") in NO_VERBS and _goes_on(text, begin, number, end):
            return AnswerSection(begin, end, "in the closing sentence after 'answer:'")
        opens_list = item and ("\n" in text[place : number.start] or _lists(text, number, stop))
        return None if opens_list else _stated(number, "after the last 'answer'")
    if cue["verb"].strip(" *_\"'`\t\n") in NO_VERBS:
        return AnswerSection(begin, end, "in the closing sentence after 'answer:'")
    close = SENTENCE_END.search(text, begin, stop)
    if close is not None and close.group() == "?":
        return None
    number = stated_number(text, begin, stop if close is None else close.start(), question)
    return None if number is None else _stated(number, "in the sentence of the last 'answer is'")


def _goes_on(text: str, begin: int, number: WrittenNumber, end: int) -> bool:
    """Return whether the text after a marker is a first step, with others worked out after it."""
    if not has_equals(text, begin, number.start):
        return False
    stop = SENTENCE_END.search(text, number.end, end)
    return stop is not None and STEP.search(text, stop.end(), end) is not None


def _is_task(text: str, start: int, place: int) -> bool:
    """Return whether "answer" is a verb, still unknown ("find the answer"), or a wrong one."""
    words = text[max(start, place - 28) : place].lower().split()[-4:]
    if len(words) < 2 or words[-1] != "a":
        return False
    if DISOWNED.search(text[max(start, place - 48) : place]):
        return True
    if words[-2] in BEFORE_ANSWERING:
        return True
    article = -3 if words[-2] == "final" else -2
    return len(words) > -article and words[article] in ARTICLES and words[article - 1] in TASKS


def _lists(text: str, number: WrittenNumber, end: int) -> bool:
    """Return whether a number begins a list: "The answer is 1. Vehicle A", then a line of "2."."""
    return number.value == "1" and text.find("\n2.", number.end, end) >= 0


def _before_answer(text: str, place: int, start: int, question: str) -> ExtractedAnswer | None:
    begin = max(start, place - 60)
    match = REVERSED.search(text[begin:place])
    if match is None:
        return None
    stop = begin + match.start()
    begin = max(begin, text.rfind(". ", begin, stop) + 1, text.rfind("\n", begin, stop) + 1)
    number = stated_number(text, begin, stop, question)
    return None if number is None else _stated(number, "before 'is the answer'")


def _behind_pattern(
    text: str, start: int, end: int, question: str
) -> ExtractedAnswer | AnswerSection | None:
    """Match "Ans: 18", "Result = 18", other languages, and a line "A:" unless "B:" follows."""
    part = text[start:end]
    cue = None
    if "A" in part and _holds(part, LINE_A_SIGNS):
        cue = _last(LINE_A, text, start, end)
        if cue is None and start == 0:
            cue = FIRST_LINE_A.match(text, 0, end)
        if cue is not None and LINE_B.search(text, cue.end(), end):
            return None
    if cue is None and _holds(part, SHORT_SIGNS):
        cue = _last(SHORT, text, start, end)
    if cue is None and (
        _holds(part, FOREIGN_SIGNS) or (not part.isascii() and _holds(part, SCRIPT_SIGNS))
    ):
        cue = _last(FOREIGN, text, start, end)
    if cue is None:
        return None
    option = OPTION.match(text, cue.end(), end)
    begin = cue.end() if option is None else option.end()
    stop = min(end, begin + REACH)
    number = _direct(text, begin, stop, question)
    if number is not None and _goes_on(text, begin, number, end):
        return AnswerSection(begin, end, f"in the closing sentence after {cue.group().strip()!r}")
    if number is None and cue.re is FOREIGN and cue["verb"].strip(" *:：\n"):
        close = SENTENCE_END.search(text, begin, stop)
        number = stated_number(text, begin, stop if close is None else close.start(), question)
    return None if number is None else _stated(number, f"after {cue.group().strip()!r}")


def _holds(text: str, signs: tuple[str, ...]) -> bool:
    """Return whether a text may contain a match of a pattern: a cheap test."""
    for sign in signs:  # noqa: SIM110  (any() takes twice as long)
        if sign in text:
            return True
    return False


def _last(pattern: re.Pattern[str], text: str, start: int, end: int) -> re.Match[str] | None:
    last = None
    for last in pattern.finditer(text, start, end):  # noqa: B007
        pass
    return last


def _direct(text: str, start: int, end: int, question: str) -> WrittenNumber | None:
    """Return the number right after a marker, or the result of the equation that begins there."""
    begin = skip_lead(text, start, end)
    sign = MINUS_SIGN.match(text, begin, end)
    number = quantity_at(text, begin, end)
    negative = False
    if number is None and sign:  # "minus 5", or a list of one item
        number = quantity_at(text, skip_lead(text, sign.end(), end), end)
        negative = not (sign.group()[-1] == " " and "\n" in text[start:begin])
    if number is None:
        words = WORD_NUMBER.match(text, begin, end) or CHINESE_NUMBER.match(text, begin, end)
        if words is None or words[0] == "一":  # an article
            return None
        if not COUNTED.match(text, words.end(), end):  # "Two trips take 40 minutes."
            close = SENTENCE_END.search(text, words.end(), end)
            if DIGIT.search(text, words.end(), end if close is None else close.start()):
                return None
        return next(word_quantities(text, *words.span()), None)
    close = SENTENCE_END.search(text, number.end, end)
    stop = end if close is None else close.start()
    numbers = sentence_numbers(text, number.start, stop, question)
    if not numbers or numbers[0].start > number.start + 1:
        return None
    if negative and not numbers[0].value.startswith("-"):
        numbers[0] = WrittenNumber(f"-{numbers[0].value}", begin, numbers[0].end)
    if len(numbers) == 1:
        return numbers[0]
    return best_number(text, number.start, stop, numbers, question, direct=True)
