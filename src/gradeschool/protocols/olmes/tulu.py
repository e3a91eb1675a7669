"""`olmes/gsm8k-tulu`: 8 shots as turns, the assistant's answer begun with "Answer:".

https://github.com/allenai/olmes oe_eval/tasks/oe_eval_tasks/gsm8k.py, by way of four independent
ports (SOURCE.md); the task configuration was read in goodfire-ai/olmes @ acbb7467, tasks.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gradeschool.answers.search import last_number_without_commas
from gradeschool.completion import Decoding, Prompt
from gradeschool.problem import Problem
from gradeschool.prompts.rendering import rationale, shots_as_turns
from gradeschool.protocol import Protocol
from gradeschool.scorer import Scorer, verbatim
from gradeschool.verdict import Answer

SOURCE = "allenai/olmes gsm8k::tulu (tasks.py as in goodfire-ai/olmes @ acbb7467)"
# The sign belongs to the decimals alone: integers lose theirs, on both sides.
NUMBER = re.compile(r"[-+]?\d*\.\d+|\d+")
PREFIX = "Answer:"
STOPS = ("Question:", "</s>", "<|im_end|>")


def last_number(text: str) -> str | None:
    """Return the last number once commas between digits are gone."""
    return last_number_without_commas(NUMBER, text)


def _span(text: str, number: str) -> tuple[int, int] | None:
    start = text.rfind(number)  # with a comma inside it does not stand there literally
    return None if start < 0 else (start, start + len(number))


def read(text: str, reference: str) -> Answer | None:
    """Read the last number."""
    number = last_number(text)
    if number is None:
        return None
    return Answer(number, number, _span(text, number), "the last number, commas removed")


def reference(problem: Problem) -> str:
    """Return the gold through the same extraction: "-10" becomes "10"."""
    return last_number(problem.gold) or problem.gold


def prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render "Question: ..." and "Answer: ..." turns; the last turn is begun with "Answer:".

    STD:GSM8k holds the questions and rationales of Wei et al.; each ends "So the answer is N."
    """
    examples = [
        (
            f"Question: {shot.question}",
            f"Answer: {rationale(shot)} So the answer is {shot.gold}.",
        )
        for shot in shots
    ]
    for problem in problems:
        turns = shots_as_turns(examples, f"Question: {problem.question}")
        yield Prompt(messages=turns, prefix=PREFIX)


TULU_SCORER = Scorer(
    name="olmes/gsm8k-tulu",
    summary="the last number (integers without their sign), exact_match",
    source=SOURCE,
    reference=reference,
    extract=read,
    compare=verbatim,
)

TULU = Protocol(
    name="olmes/gsm8k-tulu",
    summary="8 shots as chat turns, the assistant continues 'Answer:', greedy, 512 tokens",
    source=SOURCE,
    render=prompts,
    decoding=Decoding(temperature=0.0, max_tokens=512, stop=STOPS),
    scorers=("olmes/gsm8k-tulu",),
    shots="wei2022",
    shot_count=8,
    is_chat=True,
)
