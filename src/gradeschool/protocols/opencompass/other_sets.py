r"""OpenCompass' MGSM, MATH-500, AIME 2024 and GSM-Hard.

`opencompass/mgsm-LANG`: the last number after the last label, equal to the gold as a string.
`opencompass/gsm-hard`: the first number after "The answer is", else the last number, equal as a
string to the gold as Python writes a float: "18" is not "18.0".
`opencompass/math-verify`: Math-Verify extracts LaTeX from the completion, boxes first.

https://github.com/open-compass/opencompass/blob/a5acc4bb/opencompass/datasets/mgsm.py
https://github.com/open-compass/opencompass/blob/a5acc4bb/opencompass/datasets/mathbench.py
https://github.com/open-compass/opencompass/blob/a5acc4bb/opencompass/evaluator/math_evaluator.py
https://github.com/open-compass/opencompass/tree/a5acc4bb/opencompass/configs/datasets
"""

from __future__ import annotations

import re

from gradeschool.answers.extractions import last_number_behind
from gradeschool.answers.search import last_match
from gradeschool.completion import Decoding
from gradeschool.library_scorer import library_scorer
from gradeschool.problem import Problem
from gradeschool.prompts import MGSM, Template, mgsm_message, rationale
from gradeschool.protocol import Protocol
from gradeschool.protocols.opencompass.zero_shot import REASON, SOURCE, V2_SCORER, last_box
from gradeschool.scorer import Scorer, ScorerFailure, verbatim
from gradeschool.verdict import Answer

CONFIGS = f"{SOURCE}, opencompass/configs/datasets"
NUMBER = re.compile(r"-?\d*\.?/?\d+|\d+")
DIGITS_OF_MGSM = re.compile(r"\d+\.?\d*")
COMMA = re.compile(r"(\d),(\d)")
MARK = "The answer is"
FIRST_ROWS = 5  # of GSM-Hard itself, which are evaluated too
BOXED = "{question}\nRemember to put your final answer within \\boxed{}."


def extract_gsm_hard(text: str, reference: str) -> Answer | None:
    """Extract the first number after the first "The answer is", else the last number, else all."""
    _, mark, behind_mark = text.partition(MARK)
    piece = COMMA.sub(r"\1\2", behind_mark.partition(MARK)[0].strip() if mark else text)
    match = NUMBER.search(piece) if mark else last_match(NUMBER, piece)
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
    try:
        gold = str(float(problem.gold))
    except ValueError:
        gold = problem.gold
    return {"question": problem.question, "gold": gold}


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
    function=f"{__package__}.library:math_verify",
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


def _zero_shot(name: str, config: str, template: str, scorer: str, dataset: str) -> Protocol:
    return Protocol(
        name=f"opencompass/{name}",
        summary="zero-shot chat, a box is asked for, greedy, the model's own length",
        source=f"{CONFIGS}/{config}.py",
        render=Template(question=template, form="message"),
        decoding=Decoding(temperature=0.0, max_tokens=None),
        scorers=(scorer,),
        is_chat=True,
        dataset=dataset,
    )


OTHER_SCORERS = (*map(_mgsm_scorer, MGSM), GSM_HARD_SCORER, MATH_VERIFY_SCORER)
OTHER_PROTOCOLS = (
    *map(_mgsm, MGSM),
    GSM_HARD,
    _zero_shot("math-500", "math/math_500_gen", REASON, MATH_VERIFY_SCORER.name, "math500"),
    _zero_shot("aime2024", "aime2024/aime2024_0shot_nocot_gen_5e9f4f", BOXED, V2_SCORER.name,
               "aime:2024"),
)  # fmt: skip
