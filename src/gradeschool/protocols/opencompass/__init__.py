r"""OpenCompass: the evaluators and prompts of its GSM8K configurations, and other sets.

`opencompass/gsm8k` and `opencompass/svamp`: four fixed examples as turns, the default tasks; scored
by Gsm8kEvaluator with gsm8k_postprocess. `opencompass/gsm8k-0shot-v2`: the last box, else an
announced answer; MATHEvaluator v2. `opencompass/mgsm-LANG`: the last number after the last label,
equal to the gold as a string. `opencompass/gsm-hard`: the first number after "The answer is", else
the last number, equal as a string to the gold as Python writes a float: "18" is not "18.0".
`opencompass/math-verify`: Math-Verify extracts LaTeX from the completion, boxes first.

https://github.com/open-compass/opencompass/tree/a5acc4bb/opencompass/configs/datasets/gsm8k
https://github.com/open-compass/opencompass/tree/a5acc4bb/opencompass/configs/datasets/SVAMP
https://github.com/open-compass/opencompass/blob/a5acc4bb/opencompass/datasets/gsm8k.py
https://github.com/open-compass/opencompass/blob/a5acc4bb/opencompass/datasets/math.py
https://github.com/open-compass/opencompass/blob/a5acc4bb/opencompass/datasets/mgsm.py
https://github.com/open-compass/opencompass/blob/a5acc4bb/opencompass/datasets/mathbench.py
https://github.com/open-compass/opencompass/blob/a5acc4bb/opencompass/evaluator/math_evaluator.py
Quadratic patterns of upstream are linear scans here.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from gradeschool.answers.extractions import last_number, last_number_behind
from gradeschool.answers.search import (
    TextMatch,
    last_match,
    lowered,
    match_of,
    math_box,
    mentions_answer,
)
from gradeschool.completion import Decoding
from gradeschool.library_scorer import library_scorer
from gradeschool.problem import Problem
from gradeschool.prompts import MGSM, Template, mgsm_message, rationale
from gradeschool.protocol import Protocol
from gradeschool.protocols.opencompass.forms import hendrycks, minerva
from gradeschool.scorer import Scorer, ScorerFailure, verbatim
from gradeschool.verdict import Answer, answer_of

SOURCE = "open-compass/opencompass @ a5acc4bb (PyPI 0.5.4)"
CONFIGS = f"{SOURCE}, opencompass/configs/datasets"
PLAIN_NUMBER = re.compile(r"\-?\d+\.\d+|\-?\d+")
RUN_ON = "Question:"
last_number_in = last_number(PLAIN_NUMBER, "the last number before 'Question:'")


def extract_last(text: str, reference: str) -> Answer | None:
    """Extract the last number before a further "Question:"; a thousands comma splits a number."""
    end = text.find(RUN_ON) if RUN_ON[0] in text else -1
    return last_number_in(text if end < 0 else text[:end], reference)


def reference(problem: Problem) -> str:
    """Return the text after the first "#### ", without commas."""
    parts = problem.solution.split("#### ")
    return (parts[1] if len(parts) > 1 else problem.gold).replace(",", "")


def compare_numbers(value: str, reference: str) -> bool:
    """Compare as strings, then as float against int with a tolerance of 1e-6."""
    try:
        return value == reference or abs(float(value) - int(reference)) < 1e-6
    except (ValueError, OverflowError):  # upstream: except Exception
        return False


GSM8K = Scorer(
    name="opencompass/gsm8k",
    summary="the last number before 'Question:' (a comma splits it), equal within 1e-6",
    source="open-compass/opencompass @ a5acc4bb (PyPI 0.5.4), opencompass/datasets/gsm8k.py",
    reference=reference,
    extract=extract_last,
    compare=compare_numbers,
)


def _turns(conclusion: str) -> Template:
    """Return examples as turns, with a conclusion after each answer."""
    question = "Question: {question}\nLet's think step by step\nAnswer:"
    return Template(question=question, answer="{reasoning}" + conclusion, form="turns")


FEW_SHOT = Protocol(
    name="opencompass/gsm8k",
    summary="4 fixed shots as turns, no stop string, greedy, 512 tokens",
    source=f"{CONFIGS}/gsm8k/gsm8k_gen_1d7fe4.py",
    render=_turns("\nThe answer is {gold}\n"),
    # Greedy is the default of OpenCompass's local backends; the task sets the rest.
    decoding=Decoding(temperature=0.0, max_tokens=512),
    scorers=(GSM8K.name,),
    shots="opencompass:shots",
    shot_count=4,
    is_chat=True,
)
FEW_SHOT_STOP = replace(
    FEW_SHOT,
    name="opencompass/gsm8k-17d0dc",
    summary="4 fixed shots as turns, stops at 'Question', greedy, 512 tokens",
    source=f"{CONFIGS}/gsm8k/gsm8k_gen_17d0dc.py",
    decoding=replace(FEW_SHOT.decoding, stop=("Question",)),
)
SVAMP = replace(
    FEW_SHOT,
    name="opencompass/svamp",
    source=f"{CONFIGS}/SVAMP/svamp_gen_fb25e4.py",
    render=_turns(" The answer is {gold}.\n"),
    shots="opencompass:svamp-shots",
    dataset="svamp",
)


BOXED = "the last box"
LONGEST_REMEMBERED = 400
PLAIN_GOLD = re.compile(r"-?[0-9]+\Z")
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


def extract_v2(text: str, reference: str) -> Answer | None:
    """Extract the last box, else the piece that announces an answer, else the first piece."""
    box = last_box(text)
    if box is not None and box.text:
        content, start, end = box
        return answer_of((content, content, (start, end), BOXED))
    piece, start, end = announcing_piece(text)
    value = minerva(piece)
    return answer_of((piece, value, (start, end), "a piece between periods")) if value else None


class AnswerForms(NamedTuple):
    """The forms of an answer that are compared; None if upstream's function raises."""

    hendrycks: str | None
    minerva_of_hendrycks: str | None
    minerva: str


@lru_cache(1024)
def forms(answer: str) -> AnswerForms:
    """Return the forms of an answer."""
    try:
        form = hendrycks(answer)
    except ValueError:  # "a/b": upstream goes on with the next comparison
        return AnswerForms(None, None, minerva(answer))
    whole = minerva(answer)
    return AnswerForms(form, whole if form == answer else minerva(form), whole)


def compare_v2(value: str, reference: str) -> bool:
    """Compare Hendrycks' forms, their Minerva forms, the Minerva forms, the strings."""
    if PLAIN_GOLD.match(reference):
        if PLAIN_GOLD.match(value):
            return value == reference  # each form of such a number is the number
        if not set(reference) <= {*value, "0", "-"}:
            return False  # no form adds a digit, except 0 before a period
    first, second = forms(value), forms(reference)
    if first.hendrycks is not None and second.hendrycks is not None:
        if first.hendrycks == second.hendrycks:
            return True
        if first.minerva_of_hendrycks == second.minerva_of_hendrycks:
            return True
    return first.minerva == second.minerva or value == reference


V2_SCORER = Scorer(
    name="opencompass/gsm8k-0shot-v2",
    summary="the last box, else the sentence with 'answer is'; equal as LaTeX strings",
    source=f"{SOURCE}, opencompass/datasets/math.py: math_postprocess_v2, MATHEvaluator v2",
    reference=reference,
    extract=extract_v2,
    compare=compare_v2,
)


def _zero_shot(
    name: str,
    config: str,
    scorer: str,
    max_tokens: int | None,
    summary: str,
    template: str = REASON,
    dataset: str = "gsm8k",
) -> Protocol:
    length = f"{max_tokens} tokens" if max_tokens else "the model's own length"
    return Protocol(
        name=f"opencompass/{name}",
        summary=f"zero-shot chat, {summary}, greedy, {length}",
        source=f"{CONFIGS}/{config}.py",
        render=Template(question=template, form="message"),
        # Greedy is the default of OpenCompass's local backends; the task sets only the length.
        decoding=Decoding(temperature=0.0, max_tokens=max_tokens),
        scorers=(f"opencompass/{scorer}",),
        is_chat=True,
        dataset=dataset,
    )


HARD_NUMBER = re.compile(r"-?\d*\.?/?\d+|\d+")
DIGITS_OF_MGSM = re.compile(r"\d+\.?\d*")
COMMA = re.compile(r"(\d),(\d)")
MARK = "The answer is"
FIRST_ROWS = 5  # of GSM-Hard itself, which are evaluated too
BOX_REQUEST = "{question}\nRemember to put your final answer within \\boxed{}."


def extract_gsm_hard(text: str, reference: str) -> Answer | None:
    """Extract the first number after the first "The answer is", else the last number, else all."""
    _, mark, behind_mark = text.partition(MARK)
    piece = COMMA.sub(r"\1\2", behind_mark.partition(MARK)[0].strip() if mark else text)
    match = HARD_NUMBER.search(piece) if mark else last_match(HARD_NUMBER, piece)
    value = piece if match is None else match.group()
    if not value:
        return None
    start = text.find(value, text.find(MARK)) if mark else text.rfind(value)
    span = None if start < 0 else (start, start + len(value))
    return Answer(value, value, span, "the number after 'The answer is', else the last")


def float_gold(problem: Problem) -> str:
    """Return the gold as Python writes a float, as in the published file."""
    try:
        return str(float(problem.gold))
    except ValueError:
        raise ScorerFailure(f"no number: {problem.gold[:60]!r}") from None


def _float_fields(problem: Problem) -> dict[str, str]:
    with suppress(ScorerFailure):
        return {"question": problem.question, "gold": float_gold(problem)}
    return {"question": problem.question, "gold": problem.gold}


def boxed_gold(problem: Problem) -> str:
    """Return the last box of the reference solution, else the gold."""
    box = last_box(rationale(problem))
    return problem.gold if box is None else box.text


GSM_HARD_SCORER = Scorer(
    name="opencompass/gsm-hard",
    summary="the first number after 'The answer is', else the last; equal as a string to a float",
    source=f"{SOURCE}, opencompass/datasets/mathbench.py: mathbench_postprocess, AccEvaluator",
    reference=float_gold,
    extract=extract_gsm_hard,
    compare=verbatim,
    dataset="gsm-hard",
)
MATH_VERIFY_SCORER = library_scorer(
    "opencompass/math-verify",
    summary="Math-Verify reads LaTeX alone, boxes first; the gold is the box of the solution",
    source=f"{SOURCE}, opencompass/evaluator/math_evaluator.py: MATHVerifyEvaluator",
    function="gradeschool.protocols.by_math_verify:opencompass",
    how="Math-Verify's reading of LaTeX",
    reference=boxed_gold,
)


GSM_HARD = Protocol(
    name="opencompass/gsm-hard",
    summary="the first 5 rows as turns, with answers alone, greedy, 512 tokens",
    source=f"{CONFIGS}/gsm_hard/gsmhard_gen_8a1400.py",
    # Answers as Python writes floats.
    render=Template(
        question="Question: {question}\nAnswer:",
        answer=f"{MARK} {{gold}}",
        form="turns",
        count=FIRST_ROWS,
        fields=_float_fields,
    ),
    decoding=Decoding(temperature=0.0, max_tokens=512),
    scorers=(GSM_HARD_SCORER.name,),
    shots="gsm-hard",
    shot_count=FIRST_ROWS,
    is_chat=True,
    dataset="gsm-hard",
)


def _mgsm_scorer(language: str) -> Scorer:
    label = MGSM[language][0]
    return Scorer(
        name=f"opencompass/mgsm-{language}",
        summary=f"the last number (no sign) after the last {label!r}, equal as a string",
        source=f"{SOURCE}, opencompass/datasets/mgsm.py: mgsm_postprocess, MGSM_Evaluator",
        reference=lambda problem: problem.gold,
        extract=last_number_behind(DIGITS_OF_MGSM, label),
        compare=verbatim,
        dataset=f"mgsm:{language}",
    )


def _mgsm(language: str) -> Protocol:
    return Protocol(
        name=f"opencompass/mgsm-{language}",
        summary=f"zero-shot chat, '{MGSM[language][0]}:' on the last line, 512 tokens",
        source=f"{CONFIGS}/mgsm/mgsm_gen_d967bc.py",
        render=mgsm_message(language),
        decoding=Decoding(temperature=0.0, max_tokens=512),
        scorers=(f"opencompass/mgsm-{language}",),
        is_chat=True,
        dataset=f"mgsm:{language}",
    )


SCORERS = (GSM8K, V2_SCORER, *map(_mgsm_scorer, MGSM), GSM_HARD_SCORER, MATH_VERIFY_SCORER)
V2, BOX = "gsm8k-0shot-v2", "a box is asked for"
PROTOCOLS = (
    FEW_SHOT, FEW_SHOT_STOP, SVAMP,
    _zero_shot("gsm8k-0shot", "gsm8k/gsm8k_0shot_gen_a58960", "gsm8k", 512,
               f"{BOX}, the last number is read"),
    _zero_shot(V2, "gsm8k/gsm8k_0shot_v2_gen_a58960", V2, 512, "the answer in a box"),
    _zero_shot("gsm8k-0shot-v2-2048", "gsm8k/gsm8k_0shot_v2_gen_6e39a4", V2, 2048,
               "the answer in a box"),
    _zero_shot("gsm8k-0shot-nocot", "gsm8k/gsm8k_0shot_nocot_gen_6cbf22", V2, 512,
               "a box without asking for reasoning", ANSWER_ALONE),
    *map(_mgsm, MGSM),
    GSM_HARD,
    _zero_shot("math-500", "math/math_500_gen", "math-verify", None, BOX, dataset="math500"),
    _zero_shot("aime2024", "aime2024/aime2024_0shot_nocot_gen_5e9f4f", V2, None, BOX, BOX_REQUEST,
               "aime:2024"),
)  # fmt: skip
