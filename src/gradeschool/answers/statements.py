r"""Where a text states an answer: `####`, a box, a tag, "the answer is", "Answer:", "A:"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from gradeschool.answers import candidates
from gradeschool.answers.quantities import WORD_NUMBER, WrittenNumber, quantity_at, word_quantities
from gradeschool.answers.search import DIGIT, closing_brace
from gradeschool.problem import MARKER

TRIES = 20  # occurrences of a marker, from the last one back
REACH = 400  # characters of a statement after its marker
BOX = "boxed"
TAG = re.compile(r"<(?:final_?)?(?:answer|ans)>|<final>|<\|begin_of_box\|>", re.I)
TAG_END = re.compile(r"</(?:final_?)?(?:answer|ans)>|</final>|<\|end_of_box\|>", re.I)
# "#### 1. Count the eggs" is a heading, "Answer:\n1. Count the eggs" a list: not answers.
ITEM = re.compile(r"[.)][ \t*]{1,4}[A-Za-z\d$\\(]")
_VERB = r"\b(?:is|are|was|equals|(?:w|sh)ould\sbe|must\sbe|will\sbe|comes?\s(?:out\s)?to|becomes)"
# Matched at the second letter of "answer".
ANSWER = re.compile(
    r"(?i)nswers?\b[\"'*_`)\]]{0,4}(?P<words>[^\n.:=?!,;\d\\{}<>]{0,60}?)"
    rf"(?P<verb>{_VERB}\b(?!\s(?:not|correct|incorrect|wrong|right)\b)"
    r"|(?=[*_\"'`\s:=→-])(?:[*_\"'`]{0,4}\s?(?::-(?=\s)|[:=→](?!=))|->|[*_]{0,3}[ \t]*\n))"
)
NO_VERBS = frozenset(["", ":", ":-", "=", "→", "->"])
SHORT = re.compile(
    r"(?<![^\s*(])(?:[Aa]ns|ANS|[Ff]inal [Rr]esult|[Rr]esult)[*.]{0,3}\s?[:=]"
    r"|(?<=orrect )(?:option|choice)\s(?:is\b|:)"
)
# The same in other languages (MGSM's and a few more), with a verb or a colon after it.
FOREIGN = re.compile(
    r"(?i)(?:antwort|ergebnis|lösung|respuesta|resultado|réponse|reponse|résultat|ответ|jibu"
    r"|risposta|resposta|答案|答え|(?<!解)答|답|উত্তর|సమాధానం|జవాబు"
    r"|คำตอบ)(?P<verb>(?:[^\n\d.:：=]{0,40}?(?:\b(?:ist|lautet|beträgt|(?<!\bno\s)es|est|è|é|ni)\b"
    r"|は|(?<!不)是|为|為|হল|হলো|คือ|[—–=]))?[\s*]{0,3}[:：]?)"
)
CHINESE_DIGITS, CHINESE_UNITS = "〇一二三四五六七八九", "十百千"
LINE_A = re.compile(r"\n[ \t>*]{0,4}A[*]{0,2}[ \t]?:|\A[ \t>*]{0,4}A[*]{0,2}[ \t]?:")
LINE_B = re.compile(r"(?:\n[ \t>*]{0,4}|[,;]?\s{1,3})B[*]{0,2}[ \t]?:")
# Each with the texts of which one is in whatever it matches; the first that matches counts.
CUES = (
    (LINE_A, ("A:", "A**:", "A :")),
    (SHORT, ("ans", "Ans", "ANS", "esult", "orrect option", "orrect choice")),
    (FOREIGN, (
        "ntwort", "rgebnis", "spuesta", "sposta", "eponse", "esultado", "Jibu", "jibu", "答", "답",
        "твет", "উত্তর", "సమాధానం", "జవాబు", "คำตอบ", "éponse", "ésultat", "ösung",
    )),
)  # fmt: skip
OPTION = re.compile(r"\s{0,3}(?:option\s)?\(?[A-E](?:[).:,]\s?[-–:]?|\s[-–:=])\s?(?=[\d$])", re.I)
# A line that ends in "=" continues on the next.
SENTENCE_END = re.compile(r"[.!?](?<!\bi\.e\.)(?=[\s\"'*)]|$)|[。！？।]|(?<![=≈])(?<![=≈] )\n")
# "1, 800" alone is a slip for 1,800.
COMMA_SLIP = re.compile(r"([1-9]\d{0,2}), (\d{3})(?=[.\s]*(?:\Z|\n)|[}*$])")
MINUS_SIGN = re.compile(r"[-−–][ \t]?(?=\\?[$\d.(\\])|(?i:negative|minus)\s")

# After a statement: a few words, and nothing that could announce another.
PLAIN_TAIL = re.compile(
    r"(?s)(?=[\s\\()\]$.,}{*a-zA-Z']{0,160}\Z)(?:\W*\Z|(?!.*(?i:nswer|ntwort|rgebnis|sp[uo]esta"
    r"|eponse|esult|jibu|hoice|ption|box)))"
)
# Several numbers in a box; "1, 250" may be a slip for 1,250.
LIST = re.compile(
    r"[\s\\{(\[]{0,4}\$?-?\d[\d.]*(?:[,;]\s?(?!\d{3}\b)\$?-?\d[\d.]*){1,9}[\s\\})\]]{0,4}"
)
BESIDE = re.compile(r"\sor[\s$\\(]{0,6}\Z")


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
    confidence: Confidence = Confidence.STATED


def last_statement(text: str, start: int, end: int, question: str) -> ExtractedAnswer | None:
    """Return the last explicit statement of an answer in a piece of text, None without one."""
    last: ExtractedAnswer | None = None
    for find in (_behind_hashes, _in_box, _behind_answer, _in_tag, _behind_pattern):
        statement = find(text, start if last is None else max(start, last.start - 9), end, question)
        if statement is not None and (last is None or statement.start > last.start):
            last = statement
            if PLAIN_TAIL.match(text, last.end, end):
                break
    return last


def _places(text: str, marker: str, start: int, end: int) -> Iterator[int]:
    """Yield the places of a marker from the last one back, a bounded number of them."""
    for _ in range(TRIES if marker[0] in text else 0):  # one character is found much faster
        end = text.rfind(marker, start, end)
        if end < 0:
            return
        yield end


def _sentence_end(text: str, start: int, end: int) -> int:
    """Return where the sentence of a place ends, before its period."""
    close = SENTENCE_END.search(text, start, end)
    return end if close is None else close.start()


def _behind_hashes(text: str, start: int, end: int, question: str) -> ExtractedAnswer | None:
    how = "after the last '####'"
    for place in _places(text, MARKER, start, end):
        begin, stop = place + len(MARKER), min(end, place + REACH)
        line = text.find("\n", begin, stop)
        if line >= 0 and text[begin:line].strip(" #*"):  # else the number is on the next line
            stop = line if not text[begin:line].rstrip().endswith(("=", "≈")) else stop
        if LIST.fullmatch(text, begin, stop):  # several answers, so no number
            return ExtractedAnswer(text[begin:stop].strip(), begin, stop, how)
        number = _direct(text, begin, stop, question)
        opens_line = place == 0 or text[place - 1] in "\n#"
        if number is not None and not (opens_line and ITEM.match(text, number.end, end)):
            return ExtractedAnswer(*number, how)
    return None


def _in_box(text: str, start: int, end: int, question: str) -> ExtractedAnswer | None:
    """Return the last box; of one amount in two units, "4 minutes or 0.067 hours", the first."""
    for marker in (BOX, "\\fbox"):
        for place in _places(text, marker, start, end):
            number = _boxed(text, place + len(marker), end, question)
            if number is None:
                continue
            before = text.rfind(BOX, max(start, place - 120), place)
            other = None if before < 0 else _boxed(text, before + len(BOX), place, question)
            if (
                other
                and BESIDE.search(text, other.end, place)
                and not SENTENCE_END.search(text, before, place)
            ):
                repeated = text[number.end : end].rstrip().rpartition("\n")[2].strip()
                number = number if repeated == text[number.start : number.end] else other
            return ExtractedAnswer(*number, "in the last box")
    return None


def _boxed(text: str, inside: int, end: int, question: str) -> WrittenNumber | None:
    if text[inside : inside + 1] == "{":
        stop = min(end, inside + REACH)
        close = closing_brace(text, inside + 1, stop)
        close = stop if close < 0 else close
        if text.find(",", inside, close) > 0 or text.find(";", inside, close) > 0:
            slip = COMMA_SLIP.fullmatch(text, inside + 1, close)
            if slip is not None:
                return WrittenNumber(slip[1] + slip[2], *slip.span())
            if LIST.fullmatch(text, inside + 1, close):  # several answers, so no number
                return WrittenNumber(text[inside + 1 : close].strip(), inside + 1, close)
        return candidates.stated_number(text, inside + 1, close, question)
    return _direct(text, inside, min(end, inside + 40), question)


def _in_tag(text: str, start: int, end: int, question: str) -> ExtractedAnswer | None:
    for tag in reversed([*TAG.finditer(text, start, end)][-TRIES:]) if "<" in text else ():
        begin = tag.end()
        close = TAG_END.search(text, begin, end)
        stop = end if close is None else close.start()
        lines = text[begin:stop].strip()
        if close is None and 0 < lines.find("\n") < 20:  # the tag stays open
            stop = text.find("\n", text.find(lines, begin), stop)
            lines = text[begin:stop].strip()
        number = candidates.stated_number(text, begin, stop, question)
        if number is not None:
            return ExtractedAnswer(*number, "between answer tags")
        if close is not None and lines:  # "<answer>Answer here</answer>"
            return ExtractedAnswer(candidates.UNRESOLVED, begin, stop, "between answer tags")
    return None


def _behind_answer(text: str, start: int, end: int, question: str) -> ExtractedAnswer | None:
    places = (*_places(text, "nswer", start, end), *_places(text, "NSWER", start, end))
    for place in sorted(places, reverse=True):
        cue = ANSWER.match(text, place, end)
        if cue is None:
            continue
        stop = min(end, cue.end() + REACH)
        option = OPTION.match(text, cue.end(), stop)
        begin = cue.end() if option is None else option.end()
        number = _direct(text, begin, stop, question)
        if number is not None:
            if "\n" not in text[place : number.start] or not ITEM.match(text, number.end, end):
                return ExtractedAnswer(*number, "after the last 'answer'")
        elif cue["verb"].strip(" *_\"'`\t\n") not in NO_VERBS:
            number = candidates.stated_number(
                text, begin, _sentence_end(text, begin, stop), question
            )
            if number is not None:
                return ExtractedAnswer(*number, "in the sentence of the last 'answer is'")
    return None


def _behind_pattern(text: str, start: int, end: int, question: str) -> ExtractedAnswer | None:
    """Match "Ans: 18", "Result = 18", other languages, and a line "A:" unless "B:" follows."""
    part = text[start:end]
    cue: re.Match[str] | None = None
    for pattern, signs in CUES:
        if cue is None and any(map(part.__contains__, signs)):
            *_, cue = None, *pattern.finditer(text, start, end)
    if cue is None or (cue.re is LINE_A and LINE_B.search(text, cue.end(), end)):
        return None
    option = OPTION.match(text, cue.end(), end)
    begin = cue.end() if option is None else option.end()
    stop = min(end, begin + REACH)
    number, how = _direct(text, begin, stop, question), f"after {cue[0].strip()!r}"
    if number is None and cue.re is FOREIGN and cue["verb"].strip(" *:：\n"):
        number = candidates.stated_number(text, begin, _sentence_end(text, begin, stop), question)
    if number is None and cue.re is FOREIGN:
        stop = _sentence_end(text, begin, stop)
        words = text[begin:stop].split()
        if 0 < len(words) <= 6 and not DIGIT.search(text, begin, stop):
            total = digit = 0
            for character in "".join(words).replace("两", "二").replace("零", "〇").rstrip("。"):
                if character in CHINESE_UNITS:
                    unit = 10 ** (1 + CHINESE_UNITS.index(character))
                    total, digit = total + (digit or 1) * unit, 0
                elif character in CHINESE_DIGITS:
                    digit = CHINESE_DIGITS.index(character)
                else:  # a number word of another language
                    return ExtractedAnswer(candidates.UNRESOLVED, begin, stop, how)
            number = WrittenNumber(str(total + digit), begin, stop)
    return None if number is None else ExtractedAnswer(*number, how)


def _direct(text: str, start: int, end: int, question: str) -> WrittenNumber | None:
    """Return the number right after a marker, or the result of the equation that begins there."""
    begin = candidates.skip_lead(text, start, end)
    sign = MINUS_SIGN.match(text, begin, end)
    number = quantity_at(text, begin, end)
    negative = False
    if number is None and sign:  # "minus 5", or a list of one item
        number = quantity_at(text, candidates.skip_lead(text, sign.end(), end), end)
        negative = not (sign.group()[-1] == " " and "\n" in text[start:begin])
    if number is None:
        words = WORD_NUMBER.match(text, begin, end)
        if words is None:
            return None
        if text.startswith(" or ", words.end()):  # "eighteen or 19"
            return WrittenNumber(candidates.UNRESOLVED, *words.span())
        if DIGIT.search(text, words.end(), _sentence_end(text, words.end(), end)):
            return None  # "Two trips take 40 minutes."
        return next(word_quantities(text, *words.span()), None)
    is_heading = "\n" in text[start:begin] or text.endswith(MARKER, 0, start)
    if text.startswith(": ", number.end) and not (negative or is_heading):
        return number  # "The answer is 84: 37 apples and 47 pears"
    stop = _sentence_end(text, number.end, end)
    numbers = candidates.sentence_numbers(text, number.start, stop, question)
    if not numbers or numbers[0].start > number.start + 1:
        return None
    if negative and not numbers[0].value.startswith("-"):
        numbers[0] = WrittenNumber(f"-{numbers[0].value}", begin, numbers[0].end)
    slip = COMMA_SLIP.match(text, number.start, end)
    if slip is not None:
        return WrittenNumber(slip[1] + slip[2], *slip.span())
    if len(numbers) == 1:
        return numbers[0]
    return candidates.best_number(text, number.start, stop, numbers, question, direct=True)
