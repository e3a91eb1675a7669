"""`opencompass/gsm8k`: four fixed examples as turns, the default gsm8k_gen.

https://github.com/open-compass/opencompass/tree/a5acc4bb/opencompass/configs/datasets/gsm8k

Scored by Gsm8kEvaluator with gsm8k_postprocess:
https://github.com/open-compass/opencompass/blob/a5acc4bb/opencompass/datasets/gsm8k.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gradeschool.answers.extractions import last_number
from gradeschool.completion import Decoding, Prompt
from gradeschool.problem import Problem
from gradeschool.prompts.rendering import rationale, shots_as_turns
from gradeschool.protocol import Protocol
from gradeschool.scorer import Scorer
from gradeschool.verdict import Answer

NUMBER = re.compile(r"\-?\d+\.\d+|\-?\d+")
RUN_ON = "Question:"
last_number_in = last_number(NUMBER, "the last number before 'Question:'")


def extract(text: str, reference: str) -> Answer | None:
    """Extract the last number before a further "Question:"; a thousands comma splits a number."""
    end = text.find(RUN_ON)
    return last_number_in(text if end < 0 else text[:end], reference)


def reference(problem: Problem) -> str:
    """Return what follows the first "#### ", without commas."""
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


CONFIGS = "open-compass/opencompass @ a5acc4bb (PyPI 0.5.4), opencompass/configs/datasets/gsm8k"


def _with_request(problem: Problem) -> str:
    return f"Question: {problem.question}\nLet's think step by step\nAnswer:"


def prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the examples, each answer with its line break at the end, and the question."""
    examples = [
        (_with_request(shot), f"{rationale(shot)}\nThe answer is {shot.gold}\n") for shot in shots
    ]
    for problem in problems:
        yield Prompt(messages=shots_as_turns(examples, _with_request(problem)))


def _protocol(name: str, summary: str, config: str, stop: tuple[str, ...]) -> Protocol:
    return Protocol(
        name=name,
        summary=f"4 fixed shots as turns, {summary}, greedy, 512 tokens",
        source=f"{CONFIGS}/{config}.py",
        render=prompts,
        # Greedy is the default of OpenCompass's local backends; the task sets the rest.
        decoding=Decoding(temperature=0.0, max_tokens=512, stop=stop),
        scorers=(GSM8K.name,),
        shots="opencompass:shots",
        shot_count=4,
        is_chat=True,
    )


FEW_SHOT = _protocol("opencompass/gsm8k", "no stop string", "gsm8k_gen_1d7fe4", ())
FEW_SHOT_STOP = _protocol(
    "opencompass/gsm8k-17d0dc", "stops at 'Question'", "gsm8k_gen_17d0dc", ("Question",)
)
