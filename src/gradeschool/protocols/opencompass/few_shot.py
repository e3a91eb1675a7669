"""`opencompass/gsm8k` and `opencompass/svamp`: four fixed examples as turns, the default tasks.

https://github.com/open-compass/opencompass/tree/a5acc4bb/opencompass/configs/datasets/gsm8k
https://github.com/open-compass/opencompass/tree/a5acc4bb/opencompass/configs/datasets/SVAMP

Scored by Gsm8kEvaluator with gsm8k_postprocess:
https://github.com/open-compass/opencompass/blob/a5acc4bb/opencompass/datasets/gsm8k.py
"""

from __future__ import annotations

import re
from dataclasses import replace

from gradeschool.answers.extractions import last_number
from gradeschool.completion import Decoding
from gradeschool.problem import Problem
from gradeschool.prompts import Template
from gradeschool.protocol import Protocol
from gradeschool.scorer import Scorer
from gradeschool.verdict import Answer

NUMBER = re.compile(r"\-?\d+\.\d+|\-?\d+")
RUN_ON = "Question:"
last_number_in = last_number(NUMBER, "the last number before 'Question:'")


def extract(text: str, reference: str) -> Answer | None:
    """Extract the last number before a further "Question:"; a thousands comma splits a number."""
    end = text.find(RUN_ON) if RUN_ON[0] in text else -1
    return last_number_in(text if end < 0 else text[:end], reference)


def reference(problem: Problem) -> str:
    """Return the text after the first "#### ", without commas."""
    parts = problem.solution.split("#### ")
    return (parts[1] if len(parts) > 1 else problem.gold).replace(",", "")


def compare(value: str, reference: str) -> bool:
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
    extract=extract,
    compare=compare,
)


CONFIGS = "open-compass/opencompass @ a5acc4bb (PyPI 0.5.4), opencompass/configs/datasets"


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
