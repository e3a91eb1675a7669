r"""Finds the part of a completion that counts, and the form of the whole.

Excludes the thinking before it and the text after it that a model wrote because nothing stopped it,
and blanks out code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple

from gradeschool.answers.search import DIGIT, once_per_text
from gradeschool.errors import InputError

Marks = Sequence[tuple[str, str]]

# The names that models give to the tags around their thinking: <think>, <seed:think>, <o_think> …
_NAME = (
    r"(?:\w{1,12}[:_-])?(?:think|thinking|thoughts?|reason|reasoning|reflection|analysis|internal"
    r"|scratchpad|deliberation|monologue|cot)(?:[_-]\w{1,12})?"
)
# The marks of thinking. An opening and a closing one belong together; what follows the mark of a
# reply is no thinking, whatever is before it.
THINKING_MARKS: tuple[tuple[str, str], ...] = (
    (rf"<\|?{_NAME}\|?>", rf"<(?:\|?/|/\|?){_NAME}\|?>"),
    (r"◁think▷", r"◁/think▷"),
    (r"\[THINK\]", r"\[/THINK\]"),
    (r"<\|channel>thought", r"<channel\|>"),  # Gemma
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>(?:<\|START_RESPONSE\|>)?|<\|START_RESPONSE\|>"),
    (r"<unused94>(?:thought\n)?", r"<unused95>"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>|<\|begin_of_solution\|>"),
    (r"(?:\A|(?<=\n))Here(?: is|['’]s) my thought process:", r"Here(?: is|['’]s) my response:"),
    (
        r"<\|channel\|>(?:analysis|commentary)[^<\n]{0,40}<\|message\|>",
        r"<\|channel\|>final[^<\n]{0,40}<\|message\|>",
    ),
    # Harmony's words without its marks, as they are decoded without special tokens.
    (r"\A\s{0,9}analysis(?=[A-Z\d\s]).*?(?=assistantfinal)", r"assistantfinal"),
)
# A cheap test before the pattern: a mark has one of THOUGHT_SIGNS, and it begins as TAG_BEGINS or
# has one of OTHER_SIGNS. The "<" of "<<48/2=24>>" begins none.
TAG_BEGINS = re.compile(r"<[^<=\d\s]")
OTHER_SIGNS = ("hink]", "HINK]", "\u25c1", "process:", "assistantfinal")
THOUGHT_SIGNS = (
    "hink", "HINK", "hought", "eason", "eflection", "nalysis", "nternal", "cratchpad", "unused9",
    "channel|>", "_of_", "eliberation", "onologue", "cot", "RESPONSE", "sponse:",
)  # fmt: skip
# The same for the mark of a turn: it has ">" and one of ROLE_SIGNS, or one of OTHER_ROLE_SIGNS.
ROLE_SIGNS = ("|>", "s>", "_turn>", "｜>")
OTHER_ROLE_SIGNS = ("INST]", "user\n", "human\n")


@cache
def _mark_pattern(marks: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    pairs = [*((re.escape(opened), re.escape(closed)) for opened, closed in marks), *THINKING_MARKS]
    opening = "|".join(opened for opened, _ in pairs)
    closing = "|".join(closed for _, closed in pairs)
    return re.compile(rf"(?P<closing>{closing})|(?P<opening>{opening})", re.I | re.S)


def parse_marks(option: str) -> tuple[str, str]:
    """Return the pair of a command-line option "OPEN,CLOSE".

    Raises InputError if it is not two texts with a comma between them.
    """
    opened, comma, closed = option.partition(",")
    if not (comma and opened.strip() and closed.strip()):
        raise InputError(f"{option!r} is no pair of marks; write OPEN,CLOSE, as <plan>,</plan>")
    return opened.strip(), closed.strip()


def thinking_spans(text: str, marks: Marks = ()) -> tuple[list[tuple[int, int]], int | None]:
    """Return the places of closed thinking, with its marks, and where unfinished thinking begins.

    A closing mark without an opening one closes everything before it; nested thinking is one.
    marks: further pairs of literal marks (`parse_marks`).
    """
    spans: list[tuple[int, int]] = []
    opened = None
    if not marks and not (
        (TAG_BEGINS.search(text) or any(map(text.__contains__, OTHER_SIGNS)))
        and any(map(text.__contains__, THOUGHT_SIGNS))
    ):
        return spans, opened
    for mark in _mark_pattern(tuple(marks)).finditer(text):
        if mark["opening"]:
            opened = mark.start() if opened is None else opened
            continue
        start = opened if opened is not None else spans[-1][0] if spans else 0
        if opened is None and spans and not text[mark.end() :].strip():
            spans.append(mark.span())  # a stray mark at the end
            continue
        if opened is None:
            spans.clear()
        spans.append((start, mark.end()))
        opened = None
    return spans, opened


def unfinished_mark(text: str, marks: Marks = ()) -> str:
    """Return the opening mark of thinking that a text begins with and never closes, else ""."""
    spans, opened = thinking_spans(text, marks)
    if opened is None or spans or text[:opened].strip():
        return ""
    mark = _mark_pattern(tuple(marks)).match(text, opened)
    return mark[0] if mark else ""


# A line that begins like this may begin another question; a number makes it one of several.
LABEL = re.compile(
    # Most lines begin with none of these letters.
    r"\n[ \t>*#]{0,8}(?=[A-CE-INPQSUcdipЗВপపคโ问問题題#\[])(?:(?P<plain>"
    r"(?:Question|Q|Problem|Exercise|Example|User|USER|Human|Student|Input)[ \t*]{0,4}[:.)]"
    r"(?=[\s*])"
    r"|\[(?:Question|Problem)\]|(?:Question|Problem|Instruction|Input|Exercise)[ \t:]{0,4}\n"
    r"|(?:Frage|Aufgabe|Pregunta|Problema|Problème|Задача|Вопрос|Swali|প্রশ্ন|ప్రశ్న|โจทย์|คำถาม"
    r"|问题|問題|题目)[ \t*]{0,4}[:：]|Given the following problem\b|Below is an instruction\b"
    r"|(?:Next|Another|New) (?:question|problem)\b[^\n:]{0,20}:)"
    r"|\[?(?P<word>Question|Q|Problem|Exercise|Example)[ \t]?\#?(?P<number>\d{1,4})\b|"
    r"(?P<extra>Follow-up|Bonus|Extra|Challenge)(?: [a-z]{4,9})?(?: \d)?[ \t*]{0,4}:"
    r"|(?P<code>import [a-z]|package [a-z]|class [A-Z]|def [a-z_]{1,40}\(|\#include\b))"
)
FIRST_LABEL = re.compile(r"[\s*#]{0,9}(?:Q|Question|Problem|Exercise|Example) ?#?1\b")
MOST_LABELS = 60
# Minimum share of a labelled question's words that must occur in the question or the text before it
# for it to be part of the same problem; the first if it continues a count.
RELATED, MOSTLY_RELATED = 0.4, 0.6
# A paragraph that asks something, without a label; the second group if an answer line follows.
ASKING = re.compile(
    r"\n\n+(?=((?:[^\n?]{8,200}\n)?[^\n?]{8,400}\?|(?:Solve|Find|Calculate|Compute|Evaluate"
    r"|Simplify|Convert|Write|Explain|Describe|Translate|List|Name"
    r"|The following)\b(?:[^\n?]{4,200}\n)?[^\n?]{4,400}(?=\s{1,3}(?:[>*#]{0,8}\s?)(?:Answer"
    r"|Solution|A):))(?:[ ]|\s{0,3}\n(?:[ \t>*#]{0,8}((?:Answer|Solution|A)[ \t*]{0,4}:))?))"
)
HOW_MUCH = re.compile(r"(?i)\bhow (?:many|much)\b")
WORD_OR_NUMBER = re.compile(r"\d[\d,.]*|[^\W\d_]{4,}")
# Words of a question without information on what it asks for, as stems.
COMMON_WORDS = frozenset(
    """
    about after also answer been before between both can could did does each first following for
    from had has have her here his into its long many more less most much need only other out
    problem question should she step take than that the their them then there these they thi this
    total was were what when where which while will with would you your
    """.split()  # noqa: SIM905
)
STATED = re.compile(r"####|boxed\{|<answer>|[Aa]nswer(?:\s\w+){0,6}\s?(?:is\b|:)|\nA ?:")
# Labels that also occur within a solution.
SOFT = re.compile(
    r"\n[ \t>*#]{0,8}(?:Problem|Exercise|Example|User|Human|Student|Input)\b(?!\s?#?\d)"
)
FINAL = re.compile(r"####|boxed\{|<answer>|[Ff]inal answer")
SECOND_THOUGHT = re.compile(
    r"(?i)[\s*#]{0,4}(?:(?:wait|but|hmm|let|now|so|is|why|then|next|however|step)\b"
    r"|[^.?]{0,30}(?:check|verif|correct|sure|again|recount|recalculat))"
)
PARAGRAPH = 700
# A completion that begins with its own prompt; the last turn counts. Without special tokens, only
# the names of the roles are left: "system\n\n…user\n\n…assistant\n\n…".
PROMPT = re.compile(
    r"\s{0,9}(?:(?:<\|begin_of_text\|>)?<\|(?:im_start|start_header_id)\|>(?:system|user)"
    r"|(?:<s>)?\s?\[INST\]|(?:system|user)\s?\n|(?:<bos>)?<start_of_turn>user|<\|(?:system|user)\|>)"
)
REPLY = re.compile(r"(?:assistant|model)(?:<\|end_header_id\|>)?\s?\n|<\|assistant\|>|\[/INST\]")
ROLES = re.compile(
    r"<\|(?:im_end|im_start|eot_id|end_of_text|endoftext|start_header_id|user|assistant|end)\|>"
    r"|(?<=[.!?\d*})])\n{0,2}(?:user|human)\n"  # a turn of which only the name of its role is left
    r"|</s>|<s>|<eos>|<end_of_turn>|<start_of_turn>|\[/?INST\]|<｜end▁of▁sentence｜>|<\|return\|>"
)
# A fenced block in one of these languages contains an answer, not a program.
PROSE = re.compile(r"(?i)(?:json|markdown|md|latex|tex|math|yaml)[ \t]*\n")


class Region(NamedTuple):
    """The part of a completion that counts.

    text: the completion with its code blanked out, character for character. start, end: the part
    that counts. thinking: that part is unfinished thinking, without a reply. ran_on: another
    question or turn follows it. coded: code was blanked out.
    """

    text: str
    start: int
    end: int
    thinking: bool
    ran_on: bool
    coded: bool


@once_per_text  # for the extractor and for the form of a completion
def answer_region(text: str, question: str = "", marks: Marks = ()) -> Region:
    """Return the part of a completion that may state its answer to this question.

    Thinking is blanked out; the part ends at the first mark after which the model asks itself
    another question or writes another speaker's turn. If the same question is repeated ("Q: ..."
    and its first words), the part after it counts, like a later revision. marks: further pairs of
    marks of thinking (`parse_marks`). Linear; never raises.
    """
    start, end, thinking = 0, len(text), False
    if prompt := PROMPT.match(text):
        for turn in REPLY.finditer(text, prompt.end()):
            start = turn.end()
    spans, opened = thinking_spans(text, marks)
    shown = text
    if spans or opened is not None:
        pieces, place = [], 0
        for first, stop in [*spans, *([] if opened is None else [(opened, len(text))])]:
            pieces += [text[place:first], " " * (stop - first)]
            place = stop
        shown = "".join([*pieces, text[place:]])
        if opened is not None and not shown[start:].strip():  # no reply: thinking is all there is
            shown, thinking = text, not spans
            start = end if spans else opened + len(unfinished_mark(text, marks))
        elif spans and not shown[start : spans[0][0]].strip():
            start = max(start, spans[0][1])
    if (">" in text and any(map(text.__contains__, ROLE_SIGNS))) or any(
        map(text.__contains__, OTHER_ROLE_SIGNS)
    ):
        begin = start
        for role in ROLES.finditer(shown, start):  # the first that follows some text
            if shown[begin : role.start()].strip():
                end = role.start()
                break
            begin = role.end()
    if "\n" in text:
        end = _other_question(shown, start, _run_on(shown, start, end, question), question)
    for _, stop in spans:  # the reply after the last thinking, unless there is none
        if start < stop < end and shown[stop:end].strip():
            start = stop
    pieces = shown[start:end].split("```") if "`" in text else []
    coded = len(pieces) > 1
    if coded:  # line breaks stay, and so does prose; the last block may be open
        for index in range(1, len(pieces) // 2 * 2, 2):
            if not PROSE.match(pieces[index]):
                lines = pieces[index].split("\n")
                pieces[index] = "\n".join([" " * len(line) for line in lines])
        shown = f"{shown[:start]}{'   '.join(pieces)}{shown[end:]}"
    return Region(shown, start, end, thinking, end < len(text), coded)


def _run_on(text: str, start: int, end: int, question: str) -> int:
    """Return where a label begins another question, task or program after an answer, else the end.

    A part of the same problem is not another question: a numbered question that continues the
    count, or one whose words occur before, as in least-to-most and sub-question transcripts.
    """
    spoken = False
    numbers: set[int] = set()
    begin = start
    familiar: set[str] | None = None
    for match in islice(LABEL.finditer(text, start, end), MOST_LABELS):
        label = match.start()
        numbers = numbers or ({0, 1} if FIRST_LABEL.match(text, start) else {0})
        spoken = spoken or DIGIT.search(text, begin, label) is not None
        begin = match.end()
        number = int(match["number"] or 0)
        follows = number > 0 and number - 1 in numbers
        numbers.add(number)
        if not spoken:
            continue
        answered = STATED.search(text, max(start, label - PARAGRAPH), label) is not None
        if match["code"]:
            if answered:
                return label
            continue
        if match["extra"] or SOFT.match(text, label):  # "Extra cost: 3", "Student: 5"
            is_final = not answered or FINAL.search(text, begin, end) is not None
            paragraph = text[begin : min(end, begin + PARAGRAPH)].partition("\n\n")[0]
            if is_final and "?" not in paragraph:
                continue
        opening = text[start : start + 2 * PARAGRAPH]
        divided = (
            len(numbers) > 2 or LABEL.match("\n" + opening.lstrip()) or "first need to" in opening
        )
        if match["extra"] or (answered and not divided):
            return label
        if familiar is None:
            familiar = _words(question + " " + text[start:label][-4 * PARAGRAPH :])
        if follows and not answered:
            continue
        asks = text[begin : min(end, begin + PARAGRAPH)].lstrip(" \t*:.)#")
        line = asks.find("\n")
        words = _words(asks.partition("?")[0] if "?" in asks or line <= 0 else asks[:line])
        is_new = any(word[0].isdigit() and word not in familiar for word in words)
        share = RELATED if follows else MOSTLY_RELATED
        if is_new or not words or len(words & familiar) < share * len(words):
            return label
    return end


def _other_question(text: str, start: int, end: int, question: str) -> int:
    """Return where a paragraph after an answer asks something else, without a label."""
    if "\n\n" not in text or (text.find("?", start, end) < 0 and "nswer:" not in text):
        return end
    for match in islice(ASKING.finditer(text, start, end), MOST_LABELS):
        place, asks = match.start(), match[1]
        if asks in question or SECOND_THOUGHT.match(asks):
            continue
        before = text[max(start, place - PARAGRAPH) : place]
        answered = STATED.search(before.rpartition("\n")[2]) is not None
        if match[2] and HOW_MUCH.search(asks) and not DIGIT.search(asks):
            continue  # a part of the problem
        if not answered and (not match[2] or asks[0].isdigit() or not DIGIT.search(before)):
            continue
        words = _words(asks)
        if not answered:
            words = {word for word in words if word.isalpha()}
        if len(words & _words(f"{question} {before}")) < RELATED * len(words):
            return place
    return end


def _words(text: str) -> set[str]:
    """Return the numbers and the longer words of a text, without common ones."""
    return {
        word.rstrip(".,").removesuffix("s") for word in WORD_OR_NUMBER.findall(text.lower())
    } - COMMON_WORDS


LENGTH = "length"
UNREPORTED_FINISH = (None, "", "unknown")  # finish reasons without information
SENTENCE_END = re.compile(r"[.!?:][\s\"')\]*]|\n")
WORD = re.compile(r"[^\W\d_]+")
# Units follow a result: more words than this without a number are not a unit.
LONGEST_UNIT = 4
# Forms of a completion, visible without its problem: no text, `is_truncated`, `Region.ran_on`,
# `Region.thinking`.
FORM_NAMES = ("empty", "truncated", "run-on", "unfinished thinking")


def is_truncated(text: str, finish: str | None) -> bool:
    """Return whether the limit ended a text; without a finish reason, whether it looks cut."""
    return finish == LENGTH or (finish in UNREPORTED_FINISH and looks_cut(text))


def looks_cut(text: str) -> bool:
    """Return whether a text ends in the middle of a sentence or a step.

    A number at the end may be incomplete, but counts as complete. So do a few words after a number
    ("570 employees") and an end in punctuation, but for an operator, an open bracket or a comma.
    """
    tail = text[-400:].rstrip()
    if not tail:
        return False
    if tail[-1] in "=+-−*/×÷<({[,&":  # in the middle of a step
        return not tail.endswith("**")
    if not tail[-1].isalpha():
        return False
    begin = 0
    for end in SENTENCE_END.finditer(tail):
        begin = end.end()
    digits = [match.end() for match in DIGIT.finditer(tail, begin)]
    words = len(WORD.findall(tail, digits[-1] if digits else begin))
    return words > LONGEST_UNIT or (not digits and begin > 0 and tail[begin - 1] == " ")
