"""DeepSeek-Math's evaluation of GSM8K: zero-shot for instruction models, few-shot for base models.

https://github.com/deepseek-ai/DeepSeek-Math/blob/b8b0f8ce093d80bf8e9a641e44142f06d092c305/evaluation/:
prompts in infer/run_cot_eval.py and few_shot_prompts/cot_gsm_8_shot.py, scorers in
data_processing/answer_extraction.py and eval/eval_script.py.
"""

from __future__ import annotations

import re
from math import isclose

from gradeschool.answers.extractions import (
    gold_without_commas,
    last_number,
)
from gradeschool.answers.search import (
    TextMatch,
    closing_brace,
    last_match_in_words,
    last_plain_box,
    match_of,
    mentions_answer,
)
from gradeschool.completion import Decoding
from gradeschool.problem import Problem
from gradeschool.prompts import Template
from gradeschool.protocol import Protocol
from gradeschool.protocols.deepseek_math.latex_reader import number_in, stripped
from gradeschool.scorer import Scorer
from gradeschool.verdict import Answer, answer_of

SOURCE = "deepseek-ai/DeepSeek-Math @ b8b0f8ce, evaluation"
# A prompt that defines the protocol, verbatim.
REQUEST = "{question}\nPlease reason step by step, and put your final answer within \\boxed{}."
# The end-of-text token of DeepSeek's tokenizer, at which upstream stops.
EOS = "<｜end▁of▁sentence｜>"
MAX_TOKENS = 1024


def stripped_question(problem: Problem) -> dict[str, str]:
    """Return the question as upstream sends it: without white space before it."""
    return {"question": problem.question.lstrip()}


ZERO_SHOT = Protocol(
    name="deepseek-math/zero-shot",
    summary="for the instruction models: User/Assistant text, a box is asked for, greedy",
    source=f"{SOURCE}/infer/run_cot_eval.py, prompt_format sft",
    render=Template(question=f"User: {REQUEST}\n\nAssistant:", fields=stripped_question),
    decoding=Decoding(temperature=0.0, top_p=1.0, max_tokens=MAX_TOKENS, stop=(EOS,)),
    scorers=("deepseek-math/zero-shot",),
)

ZERO_SHOT_CHAT = Protocol(
    name="deepseek-math/zero-shot+chat",
    summary="the question and the request for a box as one user message, greedy",
    source=f"{SOURCE}/infer/run_cot_eval.py, prompt_format sft",
    render=Template(question=REQUEST, form="message", fields=stripped_question),
    decoding=Decoding(temperature=0.0, top_p=1.0, max_tokens=MAX_TOKENS),
    scorers=("deepseek-math/zero-shot",),
    is_chat=True,
)

FEW_SHOT_COT = Protocol(
    name="deepseek-math/few-shot-cot",
    summary="for base models: the 8 exemplars of Wei et al., Q/A, greedy, 1024 tokens",
    source=f"{SOURCE}/few_shot_prompts/cot_gsm_8_shot.py",
    render=Template(
        question="Q: {question}\nA:",
        answer=" {reasoning} The answer is {gold}.",
        joiner="\n\n\n",
    ),
    decoding=Decoding(temperature=0.0, top_p=1.0, max_tokens=MAX_TOKENS, stop=(EOS, "\nQ:")),
    scorers=("deepseek-math/few-shot-cot",),
    shots="wei2022",
    shot_count=8,
)


HOPE = ("final answer is $", "$. I hope")
BOX = "boxed{"
ANNOUNCED = "he answer is"
OUTPUT, FENCE = "```output", "```"
NUMBER = re.compile(r"-?\d*\.?\d+")
FEW_SHOT_NUMBER = re.compile(r"-?\d+\.?\d*")
NEXT_QUESTION = "Q: "
last_number_in = last_number(FEW_SHOT_NUMBER, "the last number before 'Q: '")
TOLERANCE = 1e-3


def find_answer(text: str) -> tuple[TextMatch, str] | None:
    """Return the piece of text that upstream takes as the answer, and how it was found."""
    start, stop = HOPE
    is_announced = mentions_answer(text)
    if is_announced and start in text and stop in text:
        inside = text.index(start) + len(start)
        end = text.find(stop, inside)
        return _piece(text, inside, len(text) if end < 0 else end), f"after {start!r}"
    box = last_plain_box(text)
    if box is not None and not text.startswith("%", box.end + 1):
        return box, "the last closed box"
    if box is not None or "boxed" in text:
        box = _last_closed_box(text)
        return None if box is None else (box, "the last closed box")
    place = text.rfind(ANNOUNCED) if is_announced else -1
    if place >= 0:
        return _piece(text, place + len(ANNOUNCED), len(text)), f"after the last {ANNOUNCED!r}"
    place = text.rfind(OUTPUT) if OUTPUT[0] in text else -1
    if place >= 0:
        inside = place + len(OUTPUT)
        end = text.find(FENCE, inside)
        output = _piece(text, inside, len(text) if end < 0 else end)
        if output.text.strip():
            return output, "the last program output"
    match = last_match_in_words(NUMBER, text.replace(",", ""))
    if match is None:
        return None
    number = match[0]
    place = text.rfind(number)  # -1 for a number with a comma, which is not literally in the text
    return match_of((number, place, place + len(number))), "the last number, commas removed"


def _piece(text: str, start: int, end: int) -> TextMatch:
    return match_of((text[start:end], start, end))


def _last_closed_box(text: str) -> TextMatch | None:
    r"""Return the last `boxed{...}` that closes before the next begins, with a "%" after it.

    With the "%", upstream keeps the closing brace and loses the "%".
    """
    limit = len(text)
    while (start := text.rfind(BOX, 0, limit)) >= 0:
        inside = start + len(BOX)
        close = closing_brace(text, inside, limit)
        if close >= 0:
            percent = text.startswith("%", close + 1, limit)
            return _piece(text, inside, close + 1 if percent else close)
        limit = start
    return None


def extract_zero_shot(text: str, reference: str) -> Answer | None:
    """Extract "final answer is $..$. I hope", a box, "he answer is", output, or the last number."""
    answer = find_answer(text)
    if answer is None:
        return None
    (piece, start, end), how = answer
    value = _stripped_line(piece)
    return answer_of((piece, value, None if start < 0 else (start, end), how)) if value else None


def _stripped_line(piece: str) -> str:
    return stripped(piece.strip().partition("\n")[0].lstrip(":").rstrip(".").rstrip("/"))


def extract_few_shot(text: str, reference: str) -> Answer | None:
    """Extract the last number before a further "Q: "; a thousands comma splits a number."""
    end = text.find(NEXT_QUESTION) if NEXT_QUESTION[0] in text else -1
    return last_number_in(text if end < 0 else text[:end], reference)


def compare(value: str, reference: str) -> bool:
    """Compare within 1e-3, also with a hundredth and a hundred times the gold.

    Upstream calls sympy if one of the two is not a plain number; see `number_in`.
    """
    if value == reference:
        return True
    answer, gold = _plain_number(value), _plain_number(reference)
    if answer is not None and gold is not None:
        return (
            isclose(gold, answer, abs_tol=TOLERANCE)
            or isclose(gold / 100, answer, abs_tol=TOLERANCE)
            or isclose(gold * 100, answer, abs_tol=TOLERANCE)
        )
    name, equals, rest = value.partition("=")
    if equals and "=" not in rest + reference and len(name.strip()) <= 2:
        return compare(rest, reference)
    answer, gold = number_in(value), number_in(reference)
    return answer is not None and gold is not None and isclose(answer, gold, abs_tol=TOLERANCE)


def _plain_number(text: str) -> float | None:
    """Return the float that a text spells without its commas; a final "%" divides it by 100."""
    text = text.replace(",", "")
    try:
        return float(text)
    except ValueError:
        pass
    if not text.endswith("%"):
        return None
    try:
        return float(text[:-1].removesuffix("\\")) / 100
    except ValueError:
        return None


ZERO_SHOT_SCORER = Scorer(
    name="deepseek-math/zero-shot",
    summary="the last box, else after 'he answer is', else the last number; gold*100 counts too",
    source=f"{SOURCE}: extract_last_single_answer, eval_last_single_answer",
    reference=gold_without_commas,
    extract=extract_zero_shot,
    compare=compare,
)

FEW_SHOT_SCORER = Scorer(
    name="deepseek-math/few-shot-cot",
    summary="the last number before 'Q: ' (a comma splits it); gold*100 counts too",
    source=f"{SOURCE}: extract_gsm_few_shot_cot_answer, eval_last_single_answer",
    reference=gold_without_commas,
    extract=extract_few_shot,
    compare=compare,
)


SCORERS = (ZERO_SHOT_SCORER, FEW_SHOT_SCORER)
PROTOCOLS = (ZERO_SHOT, ZERO_SHOT_CHAT, FEW_SHOT_COT)
