"""`simple-evals/mgsm-en`: one instruction, the last number behind the last "Answer".

https://github.com/openai/simple-evals/blob/ee3b0318d8d1d9d72755a4120879be65f7c07e9e/mgsm_eval.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gradeschool.answers.search import last_match
from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.problem import Problem
from gradeschool.protocol import Protocol
from gradeschool.scorer import Scorer
from gradeschool.verdict import Answer

SOURCE = "openai/simple-evals @ ee3b0318, mgsm_eval.py"
PREFIX = "Answer"
# No sign: -10 is read as 10.
NUMBER = re.compile(r"\d+\.?\d*")
# A prompt that defines the protocol, to the letter.
TEMPLATE = (
    "Solve this math problem. Give the reasoning steps before giving the final answer on the last "
    'line by itself in the format of "Answer:". Do not add anything other than the integer answer '
    'after "Answer:".\n\n{input}'
)


def extract(text: str, reference: str) -> Answer | None:
    """Read the last number behind the last "Answer", whatever stands between."""
    start = text.rfind(PREFIX)
    if start < 0:
        return None
    match = last_match(NUMBER, text[start + len(PREFIX) :].replace(",", ""))
    if match is None:
        return None
    number = match.group().rstrip(".")
    place = text.rfind(number)  # with a comma inside it does not stand there literally
    span = (place, place + len(number)) if place > start else None
    return Answer(number, number, span, "the last number behind the last 'Answer'")


def compare(value: str, reference: str) -> bool:
    """Compare as strings, zero decimals cut off the answer alone."""
    return (value.rstrip("0").rstrip(".") if "." in value else value) == reference


def prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the instruction and the question as one user message."""
    for problem in problems:
        question = TEMPLATE.replace("{input}", problem.question)
        yield Prompt(messages=(Message("user", question),))


MGSM_SCORER = Scorer(
    name="simple-evals/mgsm-en",
    summary="the last number (no sign) behind the last 'Answer', equal as a string",
    source=f"{SOURCE}, parse_answer and score_mgsm",
    reference=lambda problem: problem.gold.replace(",", ""),
    extract=extract,
    compare=compare,
)

MGSM_EN = Protocol(
    name="simple-evals/mgsm-en",
    summary="zero-shot chat, 'Answer:' on the last line, temperature 0.5, 1024 tokens",
    source=f"{SOURCE}; decoding: sampler/chat_completion_sampler.py",
    render=prompts,
    decoding=Decoding(temperature=0.5, top_p=None, max_tokens=1024),
    scorers=("simple-evals/mgsm-en",),
    is_chat=True,
)
