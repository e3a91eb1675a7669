"""`opencompass/gsm8k-0shot-v2`: the last box, else an announced answer; MATHEvaluator v2.

https://github.com/open-compass/opencompass/blob/a5acc4bb/opencompass/datasets/math.py
https://github.com/open-compass/opencompass/tree/a5acc4bb/opencompass/configs/datasets/gsm8k
Quadratic patterns of upstream are linear scans here.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from gradeschool.answers.search import TextMatch, lowered, match_of, math_box, mentions_answer
from gradeschool.completion import Decoding
from gradeschool.prompts import Template
from gradeschool.protocol import Protocol
from gradeschool.protocols.opencompass.few_shot import reference
from gradeschool.protocols.opencompass.forms import hendrycks, minerva
from gradeschool.scorer import Scorer
from gradeschool.verdict import Answer, answer_of

SOURCE = "open-compass/opencompass @ a5acc4bb (PyPI 0.5.4)"
CONFIGS = f"{SOURCE}, opencompass/configs/datasets/gsm8k"
BOXED = "the last box"
LONGEST_REMEMBERED = 400
PLAIN_GOLD = re.compile(r"-?[0-9]+\Z")
DIGITS = re.compile(r"[0-9]+")
ANNOUNCED_INTEGER = re.compile(r"[^\\${.]*answer is (-?[0-9]+)")
# A "w" that an "e" may follow once the phrases that Minerva removes are removed.
MIGHT_ANNOUNCE = re.compile(r"w(?:[ swidmfhkupcge\"\n\r\f]|a[ an]|\Z)")
NO_PIECE = re.compile(r"[\\{.$]")
# Characters that stay in every form; with three of them before "=", nothing is cut there.
STAYING, SHORT_NAME = re.compile(r"[0-9A-Zvz()+*]"), 3
DOUBLE_BRACED = re.compile(r"^\{(.*)\}$")
# Upstream looks for these in each piece between periods, in lower case.
ANNOUNCED = re.compile(r"final answer|answer is", re.IGNORECASE | re.ASCII)
# Prompts that define the protocols, verbatim.
REASON = "{question}\nPlease reason step by step, and put your final answer within \\boxed{}."
ANSWER_ALONE = "{question}\nPlease put your final answer within \\boxed{}."


def last_box(text: str) -> TextMatch | None:
    r"""Return `math_box` without a second pair of braces around the content."""
    box = math_box(text) if "\\" in text else None
    inner = DOUBLE_BRACED.match(box.text) if box is not None and box.text[:1] == "{" else None
    if box is None or inner is None:
        return box
    return TextMatch(inner[1], box.start + inner.start(1), box.start + inner.end(1))


def announcing_piece(text: str) -> TextMatch:
    """Return the first piece between periods that announces an answer, else the first piece."""
    place = _announced(text)
    start = 0 if place < 0 else text.rfind(".", 0, place) + 1
    end = text.find(".", start)
    end = len(text) if end < 0 else end
    return match_of((text[start:end], start, end))


def _announced(text: str) -> int:
    if not text.isascii():
        match = ANNOUNCED.search(text)
        return -1 if match is None else match.start()
    if not mentions_answer(text):
        return -1
    low = lowered(text)
    places = [low.find(phrase) for phrase in ("final answer", "answer is")]
    return min(places) if -1 not in places else max(places)


def extract(text: str, reference: str) -> Answer | None:
    """Extract the last box, else the piece that announces an answer, else the first piece."""
    box = last_box(text)
    if box is not None and box.text:
        content, start, end = box
        return answer_of((content, content, (start, end), BOXED))
    piece, start, end = announcing_piece(text)
    value = minerva_form(piece)
    return answer_of((piece, value, (start, end), "a piece between periods")) if value else None


def minerva_form(answer: str) -> str:
    """Return the Minerva form; fast for "The answer is 18", and short answers are remembered."""
    announced = ANNOUNCED_INTEGER.fullmatch(answer)
    if announced is not None and answer.count("w") == 1:
        return announced.group(1)
    return _minerva(answer) if len(answer) <= LONGEST_REMEMBERED else minerva(answer)


_minerva = lru_cache(1 << 14)(minerva)


class AnswerForms(NamedTuple):
    """The forms of an answer that are compared; None if upstream's function raises."""

    hendrycks: str | None
    minerva_of_hendrycks: str | None
    minerva: str


def _forms(answer: str) -> AnswerForms:
    try:
        form = hendrycks(answer)
    except ValueError:  # "a/b": upstream goes on with the next comparison
        return AnswerForms(None, None, minerva(answer))
    whole = minerva(answer)
    return AnswerForms(form, whole if form == answer else minerva(form), whole)


_remembered = lru_cache(1 << 16)(_forms)


def forms(answer: str) -> AnswerForms:
    """Return the forms of an answer; those of short answers are remembered."""
    return _remembered(answer) if len(answer) <= LONGEST_REMEMBERED else _forms(answer)


def compare(value: str, reference: str) -> bool:
    """Compare Hendrycks' forms, their Minerva forms, the Minerva forms, the strings."""
    if PLAIN_GOLD.match(reference):
        if PLAIN_GOLD.match(value):
            return value == reference  # each form of such a number is the number
        if not NO_PIECE.search(value) and _differs(value, reference):
            return False
    first, second = forms(value), forms(reference)
    if first.hendrycks is not None and second.hendrycks is not None:
        if first.hendrycks == second.hendrycks:
            return True
        if first.minerva_of_hendrycks == second.minerva_of_hendrycks:
            return True
    return first.minerva == second.minerva or value == reference


def _differs(piece: str, gold: str) -> bool:
    """Return whether a piece without backslash, brace and period has no form equal to a plain gold.

    No form loses a digit or a capital after the last "w" of a possible "answer is": forms are cut
    only there, at pairs of "$", and at a single "=" with up to two characters before it. So the
    digits after it must be the last ones of the gold. A piece without any digit differs from the
    gold.
    """
    cut = -1
    for match in MIGHT_ANNOUNCE.finditer(piece):
        cut = match.start()
    if (dollars := piece.count("$")) > 1:
        if cut >= 0:
            return False
        piece = piece.split("$")[dollars // 2 * 2 - 1]
    kept = piece[cut + 1 :]
    name, equals, value = kept.partition("=")
    if equals and "=" not in value and len(STAYING.findall(name)) < SHORT_NAME:
        kept = value
    digits = "".join(DIGITS.findall(kept))
    if digits:
        return not gold.endswith(digits)
    return DIGITS.search(piece) is None


V2_SCORER = Scorer(
    name="opencompass/gsm8k-0shot-v2",
    summary="the last box, else the sentence with 'answer is'; equal as LaTeX strings",
    source=f"{SOURCE}, opencompass/datasets/math.py: math_postprocess_v2, MATHEvaluator v2",
    reference=reference,
    extract=extract,
    compare=compare,
)


def _protocol(
    name: str, summary: str, config: str, scorer: str, max_tokens: int, template: str = REASON
) -> Protocol:
    return Protocol(
        name=name,
        summary=f"zero-shot chat, {summary}, greedy, {max_tokens} tokens",
        source=f"{CONFIGS}/{config}.py",
        render=Template(question=template, form="message"),
        # Greedy is the default of OpenCompass's local backends; the task sets only the length.
        decoding=Decoding(temperature=0.0, max_tokens=max_tokens),
        scorers=(scorer,),
        is_chat=True,
    )


ZERO_SHOT = _protocol(
    "opencompass/gsm8k-0shot",
    "a box is asked for, the last number is read",
    "gsm8k_0shot_gen_a58960",
    "opencompass/gsm8k",
    512,
)
ZERO_SHOT_V2 = _protocol(
    "opencompass/gsm8k-0shot-v2",
    "the answer in a box",
    "gsm8k_0shot_v2_gen_a58960",
    V2_SCORER.name,
    512,
)
ZERO_SHOT_V2_LONG = _protocol(
    "opencompass/gsm8k-0shot-v2-2048",
    "the answer in a box",
    "gsm8k_0shot_v2_gen_6e39a4",
    V2_SCORER.name,
    2048,
)
ZERO_SHOT_NOCOT = _protocol(
    "opencompass/gsm8k-0shot-nocot",
    "a box without asking for reasoning",
    "gsm8k_0shot_nocot_gen_6cbf22",
    V2_SCORER.name,
    512,
    ANSWER_ALONE,
)
