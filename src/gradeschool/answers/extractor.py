r"""The answer extractor: the answer that a careful reader would take from a completion.

It selects the part that counts (`regions`) and takes the last explicit statement of an answer
(`statements`), unless a different conclusion comes after it. If nothing is stated explicitly, it
reads the closing sentence (`sentences`). One weighted decision chooses the result among the numbers
of a sentence (`candidates`). Deterministic, linear, no model.
"""

from __future__ import annotations

import re
from itertools import islice

from gradeschool.answers.assertion import DENIALS, doubt, is_part_of_expression, is_plainly_stated
from gradeschool.answers.candidates import (
    EQUALS,
    OPERAND_AFTER,
    OPERAND_BEFORE,
    UNRESOLVED,
    has_equals,
    has_unit,
    is_given,
    offers_value,
    sentence_numbers,
    skip_lead,
    stated_number,
)
from gradeschool.answers.quantities import (
    KILOS,
    TEXT_COMMAND,
    WrittenNumber,
    canonical,
    in_smaller_unit,
    is_number,
    quantities,
    quantity_at,
    same_value,
    shifted,
    without_text_commands,
)
from gradeschool.answers.question import (
    FEWEST_WORDS,
    MOST_OF,
    groups_by_points,
    question_hints,
    restated_share,
    restates_question,
    stem,
)
from gradeschool.answers.regions import Marks, Region, committed_region
from gradeschool.answers.statements import (
    CONCLUSION,
    REVISION,
    AnswerSection,
    Confidence,
    ExtractedAnswer,
    Sentence,
    announces_step,
    before_check,
    breaks_off,
    first_sentence_end,
    is_aside,
    is_next_item,
    is_repetitive,
    last_sentences,
    last_statement,
)

__all__ = ["Confidence", "ExtractedAnswer", "extract_final_answer", "rests_on_guess"]

# A statement with more text than this after it is not examined again.
LONGEST_TAIL = 20_000
DRAWN = re.compile(r"(?i)[,;]\s(?:so|therefore|thus|hence)\b")
# After one of these, a text still works something out.
DERIVED = re.compile(
    r"(?i)\b(?:therefore|thus|hence|so|if|to\s(?:find|calculate|determine|get)|first,|need\sto|let)\b"
)
# Within the sentence of another number.
RETRACTION = re.compile(r"(?i)\b(?:wait|correction|oops|should\s(?:actually\s)?be)\b")
# Between two numbers: the first is taken back in a sentence of its own.
TAKEN_BACK = re.compile(
    r"(?i)\b(?:(?:that|this|it)(?:['’]s|\sis|\swas)\s(?:wrong|incorrect|not\s(?:right|correct))|scratch\sthat"
    r"|i\s(?:meant|forgot|miscounted|misread|overlooked|made\s(?:a|an)\s(?:mistake|error))|strike\sthat)\b"
    r"|\n\s{0,3}(?:no|sorry),\s|\sis\s(?:wrong|incorrect)[;,.]"
)
CHECK = re.compile(r"(?i)\b(?:double[-\s])?(?:check|verif(?:y|ication)|proof|confirm)\b")
EXPLANATION = re.compile(r"(?i)\n[\s*#]{0,6}explanation\b")
# "If she had bought 3 more, she would have paid $49."
HYPOTHESIS = re.compile(
    r"(?i)\bif\b|\bshould\s\w+\s|\bhad\s\w+\s|\bwith\b|\bwould(?:\shave|['’]ve)\b"
)
HYPOTHESIS_ASKED = re.compile(r"(?i)\b(?:would|could|if|suppose|assuming)\b")
# Options to choose from, not an answer.
CHOICES = re.compile(r"(?:^|\n)[ \t]{0,4}\(?[A-E][.:)][ \t]")
INLINE_CHOICES = re.compile(
    r"\s{0,9}(?:(?:[Oo]ption|[Cc]hoice)s?:|\(?[Aa][.:)] .{1,30}\(?[Bb][.:)] ).{1,80}\s{0,9}"
)
ONE_LINE = re.compile(r"\s{0,9}[^\n]{1,80}\s{0,9}")
BULLET = re.compile(r"[ \t]{0,8}(?:[-*•>]\s|\(\w)")
LABELLED = re.compile(
    r"(?:[-*•]\s)?[*]{0,2}(?P<label>[A-Za-z][A-Za-z' ]{1,40})[*]{0,2}:[*\s]{0,3}"
    r"\$?[\d.,]++[^\n=:\d]{0,20}"
)
TOTAL = re.compile(
    r"(?i)\b(?:total|sum|answer|result|final|remain(?:s|ing|der)?|left|altogether|together)\b"
)
# A text that contains one of these gives no answer.
UNKNOWN = re.compile(
    r"(?i)\b(?:(?:cannot|can\snot|could\snot|can['’]t|(?:im|not\s)possible\sto|unable\sto)\s(?:be\s)?"
    r"(?:\w+ly\s)?(?:determine|answer|solve|calculate|tell|say|know|find|compute|give|provide)[dn]?"
    r"|(?:not|n['’]t(?:\s\w+)?)\s(?:enough|sufficient|what)|insufficient|unknown"
    r"|(?:problem|question)(?:\s\w+){0,3}\s(?:incorrect|flawed|inconsistent)"
    r"|(?:error|mistake|inconsistency)\sin\sthe\s(?:problem|question))\b"
)
DOUBTS = (
    "not", "’t", "'t", "ossible", "nsufficient", "nknown", "nable", "ncorrect", "nconsistent",
    "flawed", "n the problem", "n the question",
)  # fmt: skip
OUTPUT = re.compile(
    r"(?:```(?:output|text|plaintext|result)?[ \t]*\n([^`]{1,400})\n?```(?:\s{0,3}[^\n\d`]{0,80})?"
    r"|\n#(?!#)[ \t]?(?:[Oo]utput|[Rr]esult|[Pp]rints)?:?[ \t]?([^\n]{1,80}))\s*$"
)
HEADLINE = re.compile(
    r" ?(?:[A-Za-z%°]{1,14} ?){0,3}[.*_$\\)\]]{0,5}[ \t]*\n[ \t]*\n| (?:[A-Za-z%°]{1,14} ?){1,3}\. "
)
# A program, or the body of a function.
PROGRAM = re.compile(
    r"\s*(?:def [a-z_]\w*\(|from \w+ import |import [a-z]+\n)"
    r"|(?:[ \t]*+(?:#[^\n]*+|[a-z_]\w*+ [-+*/]?= [^\n]++)\n){2,80}[ \t]*+return "
)
# A program that is not run: its last line prints or returns a name.
PROGRAM_END = re.compile(r"\n[ \t]*(?:print\([^\n]{1,200}\)|return [a-z_]\w*)\s{0,9}\Z")
# Minimum share of the asked words in a sentence that is repeated over and over, to be an answer.
ANSWERED = 0.4
DIGIT = re.compile(r"\d")
MOST_STRONGER, SHORTEST_REPEATED, MOST_DENIED = 6, 15, 30
# Of digits: those of a number that may be absurd, and of no answer at all.
FEWEST_ABSURD, MOST_DIGITS, MOST_BEFORE = 7, 25, 100
# After a stated number: it answers only a part.
LIMITED = re.compile(
    r"[^\w\n]{0,8}\s{0,3}(?:That|This|It)(?:['’]s| is)(?: only| just)?"
    r" (?:the \w+ )?(?:for|per|in|of|from) "
    r"(?:one|a|an|each|every|per|only|the first|\w+(?=[.,;]))\b"
)
# "5.600" is a number of thousands in texts of these languages.
THOUSANDS_POINT = re.compile(r"-?\d{1,3}\.\d{3}")


def extract_final_answer(
    text: str, question: str = "", marks: Marks = ()
) -> ExtractedAnswer | None:
    """Return the answer that a completion gives to a question, or None if it gives none.

    question: distinguishes the requested unit from others ("2 hours (120 minutes)") and given
    numbers from results; without it both are guessed. marks: pairs of marks of thinking besides the
    known ones (`regions.MARKS`). Thinking counts only if there is no reply,
    and then only after a marker. Never raises; linear in the length of the text.
    """
    region = committed_region(text, question, tuple(marks))
    statement = last_statement(region.text, region.start, region.end, question)
    if isinstance(statement, ExtractedAnswer) and _is_absurd(region, statement, question):
        statement = last_statement(region.text, region.start, statement.start, question)
        region = region._replace(end=statement.end if statement else region.text.rfind("\n") + 1)
    if isinstance(statement, AnswerSection):
        answer = _in_section(region, statement, question)
        statement = answer if isinstance(answer, ExtractedAnswer) else None
    if statement is not None:
        answer = _revised(region, statement, question)
    elif region.thinking:
        return None
    else:
        answer = _closing(region, region.start, region.end, question)
        if answer is None:
            answer = _printed(text, region)
    if answer is None or answer.value == UNRESOLVED:
        return None
    if is_part_of_expression(region.text, answer.start, answer.end) or _is_disowned(
        region, answer, question
    ):
        return None
    return _in_convention(region, answer, question)


def _is_disowned(region: Region, answer: ExtractedAnswer, question: str) -> bool:
    """Return whether the sentence of an answer does not assert it."""
    text, number = region.text, WrittenNumber(*answer[:3])
    if is_plainly_stated(text, number):
        return False
    marked = answer.confidence is Confidence.STATED
    return doubt(text, region.start, region.end, number, question, marked) is not None


def _is_absurd(region: Region, stated: ExtractedAnswer, question: str) -> bool:
    """Return whether a stated number is only digits that a model did not stop writing.

    It is if it has more than MOST_DIGITS, or if it is long, occurs nowhere before, and a far
    shorter one was concluded: "The answer is 2." and then "#### 2611010".
    """
    text, digits = region.text, len(stated.value)
    if digits < FEWEST_ABSURD or not stated.value.isdecimal() or stated.value in question:
        return False
    if digits > MOST_DIGITS:
        return True
    if "," in text[stated.start : stated.end] or region.end - stated.end > digits:
        return False
    if stated.value in text[region.start : stated.start].replace(",", "").replace(" ", ""):
        return False
    before: ExtractedAnswer | AnswerSection | None
    place = text.rfind("\n", region.start, stated.start)
    before = last_statement(text, region.start, max(place, region.start), question)
    if not isinstance(before, ExtractedAnswer):
        before = _closing(region._replace(end=max(place, region.start)), region.start,
                          max(place, region.start), question)  # fmt: skip
    return before is not None and len(before.value) + 3 < digits


def rests_on_guess(answer: ExtractedAnswer | None) -> bool:
    """Return whether an answer is only the last number of a text without a conclusion."""
    return answer is not None and answer.confidence is Confidence.GUESSED


def _in_section(region: Region, section: AnswerSection, question: str) -> ExtractedAnswer | None:
    """Return the answer in a longer piece of text after a marker: a statement or last sentence."""
    text, start, end = region.text, section.start, section.end
    inner = last_statement(text, start, end, question)
    if isinstance(inner, ExtractedAnswer):
        return inner
    answer = _closing(region, start, end, question)
    if answer is None:
        return None
    confidence = answer.confidence if "\n" in text[start:end].strip() else Confidence.STATED
    return answer._replace(how=section.how, confidence=confidence)


def _revised(region: Region, stated: ExtractedAnswer, question: str) -> ExtractedAnswer:
    """Return a statement, or the different conclusion that comes after it.

    A conclusion counts if it is explicit, if the statement came first and the working after it, or
    if the text takes the statement back.
    """
    text, end = region.text, region.end
    if end - stated.end > LONGEST_TAIL or DIGIT.search(text, stated.end, end) is None:
        return stated
    if _is_taken_back(text, stated, end, question):
        return stated._replace(value=UNRESOLVED)
    last = _last_with_number(text, stated.end, end)
    if last is None:
        return stated
    number = stated_number(text, last.start, last.end, question)
    if number is None or number.value == UNRESOLVED or same_value(number.value, stated.value):
        return stated
    worked_out = has_equals(text, max(last.start, number.start - 16), number.start)
    retracted = RETRACTION.search(text, stated.end, number.start)
    concludes = CONCLUSION.match(text, last.start, last.end) is not None
    restates = restates_question(text[last.start : last.end], question)
    limited = LIMITED.match(text, stated.end, number.start) is not None
    total = TOTAL.search(text, last.start, number.end + 24) is not None
    checks = CHECK.search(text, stated.end, number.start) is not None or (
        not question and EXPLANATION.search(text, stated.end, number.start) is not None
    )
    # "Step 2: \\boxed{30}. The total is 12 + 30 = 42." goes on from what was boxed.
    goes_on = (
        worked_out
        and not checks
        and number.value not in question_hints(question).values
        and _is_operand(text, last.start, number.start, stated.value)
        and (
            total
            or restates
            or limited
            or has_equals(text, max(region.start, stated.start - 12), stated.start)
        )
        and HYPOTHESIS.search(text, last.start, number.start) is None
    )
    if (
        not retracted
        and not goes_on
        and not (worked_out and (concludes or restates))
        and offers_value(text, last.start, last.end, stated.value)
    ):
        return stated
    if breaks_off(text, last, number, question):
        return stated
    taken_back = (
        RETRACTION.search(text, last.start, number.start)
        or (REVISION.search(text, stated.end, end) and has_equals(text, stated.end, end))
        or TAKEN_BACK.search(text, stated.end, number.start)
    )
    working_follows = (
        worked_out
        and text[number.end : number.end + 1] != ")"
        and last.start > stated.end
        and not checks
        and not has_equals(text, region.start, stated.start)
        and (restates or total or has_unit(text, number, last.end, question))
    )
    drawn = concludes or DRAWN.search(text, last.start, number.start)
    answers = restates or _answers_instead(region, stated, last, number, question)
    if taken_back or goes_on or limited or working_follows or (drawn and answers):
        how = f"concluded after {stated.value} was stated"
        return ExtractedAnswer(*number, how, Confidence.CONCLUDED)
    return stated


def _is_taken_back(text: str, stated: ExtractedAnswer, end: int, question: str) -> bool:
    """Return whether a later sentence denies the stated number: "No, 15 is wrong"."""
    return any(
        same_value(number.value, stated.value)
        and doubt(text, stated.end, end, number, question) in DENIALS
        for number in islice(quantities(text, stated.end, end), MOST_DENIED)
    )


def _is_operand(text: str, start: int, end: int, value: str) -> bool:
    """Return whether a value is computed with: the 30 of "12 + 30 = 42"."""
    return any(
        same_value(number.value, value)
        and (OPERAND_AFTER.match(text, number.end, end)
             or OPERAND_BEFORE.search(text[max(start, number.start - 8) : number.start]))
        for number in quantities(text, start, end)
    )  # fmt: skip


def _answers_instead(
    region: Region, stated: ExtractedAnswer, last: Sentence, number: WrittenNumber, question: str
) -> bool:
    """Return whether a conclusion after a statement answers the question in its place.

    It does if it has the requested unit and the statement has not, or if the text works out
    another result than it stated first. "This means that he saves $16" is only a remark.
    """
    text = region.text
    if "dollar" not in question_hints(question).units and has_unit(
        text, number, last.end, question
    ):
        written = WrittenNumber(stated.value, stated.start, stated.end)
        if not has_unit(text, written, region.end, question):
            return True
    if has_equals(text, region.start, stated.start):
        return False
    results = []
    for equals in EQUALS.finditer(text, stated.end, number.start):
        result = quantity_at(text, skip_lead(text, equals.end(), last.end), last.end)
        if result is not None:
            results.append(result.value)
    if any(same_value(result, stated.value) for result in results):
        return False
    total = TOTAL.search(text, last.start, number.start) is not None
    return total or bool(results and same_value(results[-1], number.value))


def _last_with_number(text: str, start: int, end: int) -> Sentence | None:
    """Return the last sentence that contains a number, None if it only asks or adds something."""
    for sentence in last_sentences(text, start, end):
        if DIGIT.search(text, sentence.start, sentence.end):
            return None if is_aside(text, sentence) else sentence
    return None


def _closing(region: Region, start: int, end: int, question: str) -> ExtractedAnswer | None:
    """Return the answer of the closing sentence; None if the text is cut or goes round."""
    text = region.text
    whole = region.ran_on or end < region.end
    if INLINE_CHOICES.fullmatch(text, start, end):
        return None
    if CHOICES.search(text, max(start, end - 300), end) and not ONE_LINE.fullmatch(
        text, start, end
    ):
        return None
    if PROGRAM.match(text, start, end) or PROGRAM_END.search(text, max(start, end - 240), end):
        return None
    limit = end
    end = before_check(text, start, end)
    sentences = list(last_sentences(text, start, end))
    repeats = False
    doubts = sentences and any(map(text[sentences[-1].start : end].__contains__, DOUBTS))
    for index, sentence in enumerate(sentences):
        span = sentence.start, sentence.end
        number = stated_number(text, *span, question)
        last = index == 0 and end == limit
        if last and not whole and breaks_off(text, sentence, number, question):
            return None
        if last and announces_step(text, sentence):
            return None
        if (doubts and UNKNOWN.search(text, *span)) or is_next_item(text, sentence, end):
            return None
        if (
            number is None
            or is_aside(text, sentence)
            or _is_hypothetical(text, sentence, number, question)
        ):
            if last and _ends_in_question(region, sentence, question):
                return None
            continue
        if _is_repetitive(region, sentence, number, question):
            return None
        if doubt(text, *span, number, question, _is_marked(text, sentence, number)):
            return None
        head = _headline(text, start, end, sentence, number, question) or _opening(
            text, start, sentence, number, question
        )
        if head is not None:
            return ExtractedAnswer(*head, "in the opening line", Confidence.GUESSED)
        if _is_asked(text, sentence, question) or (repeats and _is_given(text, sentence, question)):
            repeats = True
            continue
        stronger = _stronger(text, sentences[index:], question) or _asked_item(
            text, sentences[index:], question
        )
        if stronger is not None:
            return ExtractedAnswer(*stronger, "in the conclusion", Confidence.CONCLUDED)
        concludes = CONCLUSION.match(text, *span) is not None
        sure = concludes and (whole or not sentence.cut)
        confidence = Confidence.CONCLUDED if sure else Confidence.GUESSED
        return ExtractedAnswer(*number, "in the closing sentence", confidence)
    return None


def _is_marked(text: str, sentence: Sentence, number: WrittenNumber) -> bool:
    """Return whether a sentence announces its number: "#### at least 15", "Answer: up to 15"."""
    before = text[sentence.start : number.start]
    return "####" in before or (":" in before and len(before.rpartition(":")[2]) < 24)


def _is_hypothetical(text: str, sentence: Sentence, number: WrittenNumber, question: str) -> bool:
    """Return whether the number of a sentence is what would be, which the question does not ask."""
    if text.find("would", sentence.start, sentence.end) < 0:
        return False
    return HYPOTHESIS.search(text, sentence.start, number.start) is not None and not (
        CONCLUSION.match(text, sentence.start, sentence.end)
        or has_equals(text, sentence.start, sentence.end)
        or HYPOTHESIS_ASKED.search(question)
    )


def _is_repetitive(
    region: Region, sentence: Sentence, number: WrittenNumber, question: str
) -> bool:
    """Return whether a text repeats a sentence over and over that is no finished answer."""
    if not is_repetitive(region.text, sentence, region.start, region.end):
        return False
    share = restated_share(region.text[sentence.start : sentence.end], question)
    return sentence.cut or share < ANSWERED or number.value in question_hints(question).values


def _stronger(text: str, sentences: list[Sentence], question: str) -> WrittenNumber | None:
    """Return the number of a conclusion that only items, quotes and remarks follow."""
    for index, sentence in enumerate(sentences[:MOST_STRONGER]):
        if CONCLUSION.match(text, sentence.start, sentence.end):
            if index == 0:
                return None
            number = stated_number(text, sentence.start, sentence.end, question)
            if number is not None:
                return number
        line = text.rfind("\n", 0, sentence.start + 1) + 1
        begin = sentence.start if text[line : sentence.start].strip() else line
        if BULLET.match(text, begin, sentence.end) is None:
            bold = "**" in text[sentence.start : sentence.end]
            if index and bold:
                return stated_number(text, sentence.start, sentence.end, question)
            if not _is_given(text, sentence, question):
                return None
        elif TOTAL.search(text, sentence.start, sentence.end):
            return None
    return None


def _asked_item(text: str, sentences: list[Sentence], question: str) -> WrittenNumber | None:
    """Return the figure with the requested label: the 44 of "Girls: 44", then "Boys: 36"."""
    hints = question_hints(question)
    labels = hints.words | hints.units
    for index, sentence in enumerate(sentences[:MOST_STRONGER]):
        item = LABELLED.fullmatch(text[sentence.start : sentence.end].strip())
        if item is None:
            return None
        if not labels.isdisjoint(map(stem, item["label"].split())):
            return stated_number(text, sentence.start, sentence.end, question) if index else None
    return None


def _is_asked(text: str, sentence: Sentence, question: str) -> bool:
    """Return whether a sentence only repeats part of the question, except for a pronoun or two."""
    words = text[sentence.start : sentence.end].split()
    written = " ".join(words)
    if len(written) <= SHORTEST_REPEATED:
        return False
    plain = " ".join(question.split())
    if written in plain:
        return True
    rest = " ".join(words[1:])
    return rest in plain and len(rest) > SHORTEST_REPEATED and not DIGIT.search(words[0])


def _ends_in_question(region: Region, sentence: Sentence, question: str) -> bool:
    """Return whether a text works nothing out and ends by repeating its question."""
    text = region.text
    return (
        text[sentence.start : sentence.end].rstrip().endswith("?")
        and not has_equals(text, region.start, region.end)
        and (not question or _is_asked(text, sentence, question))
    )


def _is_given(text: str, sentence: Sentence, question: str) -> bool:
    """Return whether a sentence has only numbers of the question and works nothing out."""
    if has_equals(text, sentence.start, sentence.end):
        return False
    return all(
        is_given(text, number, sentence.end, question)
        for number in quantities(text, sentence.start, sentence.end)
    )


def _headline(
    text: str, start: int, end: int, sentence: Sentence, number: WrittenNumber, question: str
) -> WrittenNumber | None:
    """Return a number that is the whole first line, if the end of the text only explains it."""
    if has_equals(text, sentence.start, sentence.end) or CONCLUSION.match(text, sentence.start):
        return None
    if skip_lead(text, sentence.start, end) == number.start:  # a list of figures
        return None
    head = quantity_at(text, skip_lead(text, start, end), end)
    if head is None or HEADLINE.match(text, head.end, end) is None:
        return None
    values = question_hints(question).values
    if has_equals(text, head.end, end) and number.value not in values:
        return None
    if re.search(rf"=\s?\$?{re.escape(number.value)}(?![\d.]\d)", text[head.end : sentence.start]):
        return None
    return None if head.value in values or head.start >= sentence.start else head


def _opening(
    text: str, start: int, closing: Sentence, number: WrittenNumber, question: str
) -> WrittenNumber | None:
    """Return the answer of the first sentence, if the closing one only explains it.

    "The difference is $200. The first costs $450, while the second costs $250."
    """
    end = first_sentence_end(text, start, closing.start)
    if end is None or has_equals(text, start, end) or DERIVED.search(text, start, closing.end):
        return None
    if len(text[closing.start : closing.end].split()) < FEWEST_WORDS:
        return None
    share = restated_share(text[start:end], question)
    if share < MOST_OF or restated_share(text[closing.start : closing.end], question) >= share:
        return None
    parentheses = text.rfind("(", closing.start, number.start)
    inside = parentheses > text.rfind(")", closing.start, number.start)
    if has_equals(text, closing.start, number.start) and not inside:
        return None
    numbers = sentence_numbers(text, start, end, question)
    opening = numbers[0] if len(numbers) == 1 else None
    if opening is None or opening.value in question_hints(question).values:
        return None
    return None if offers_value(text, end, closing.start, opening.value) else opening


def _printed(text: str, region: Region) -> ExtractedAnswer | None:
    """Return the number that a program printed at the very end."""
    output = OUTPUT.search(text, max(region.start, region.end - 450), region.end)
    if output is None:
        return None
    numbers = list(quantities(text, *output.span(output.lastindex or 0)))
    if not numbers:
        return None
    return ExtractedAnswer(*numbers[-1], "printed by the program", Confidence.GUESSED)


def _in_convention(region: Region, answer: ExtractedAnswer, question: str) -> ExtractedAnswer:
    """Return an answer by the conventions of its text: "5.600" in German, millions if asked for."""
    text, points = region.text, question_hints(question).points
    written = text[answer.start : answer.end]
    if TEXT_COMMAND in written:
        written, _ = without_text_commands(written)
    if written == answer.value and not points and " " not in written:
        return answer
    if THOUSANDS_POINT.fullmatch(written.lstrip("R$€ ")):
        words = text[max(region.start, answer.start - 300) : answer.start + 60]
        near = text[max(0, answer.start - 3) : answer.end + 6]
        if points or groups_by_points(words) or "€" in near or "R$" in near or "euro" in near:
            return answer._replace(value=canonical(shifted(answer.value, 3)))
    in_unit = in_smaller_unit(written, question_hints(question).units)
    if in_unit is not None:
        return answer._replace(value=in_unit)
    amount, kilo = answer.value[:-1], answer.value[-1:].upper()
    if kilo in KILOS and "dollar" in question_hints(question).units and is_number(amount):
        return answer._replace(value=shifted(amount, KILOS[kilo]))  # "70k" dollars
    scale = question_hints(question).scale
    if scale and written.endswith(("illion", "illions", "housand", "k", "K")):
        return answer._replace(value=canonical(shifted(answer.value, -scale)))
    return answer
