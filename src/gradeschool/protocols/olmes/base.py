"""`olmes/gsm8k`: gsm8k::olmes, 8 shots as one text, for base models.

The task configuration was read in goodfire-ai/olmes @ acbb7467, tasks.py; the prompt's form in four
independent ports of allenai/olmes oe_eval/tasks/oe_eval_tasks/gsm8k.py (SOURCE.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradeschool.completion import Decoding, Prompt
from gradeschool.problem import Problem
from gradeschool.prompts.rendering import rationale, shots_as_text
from gradeschool.protocol import Protocol

SOURCE = "allenai/olmes gsm8k::olmes (tasks.py as in goodfire-ai/olmes @ acbb7467)"
STOPS = ("Question:", "</s>", "<|im_end|>", "\n\n")


def prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render STD:GSM8k: the questions and rationales of Wei et al., "So the answer is N."."""
    examples = [
        (f"Question: {shot.question}\nAnswer:", f"{rationale(shot)} So the answer is {shot.gold}.")
        for shot in shots
    ]
    for problem in problems:
        yield Prompt(text=shots_as_text(examples, f"Question: {problem.question}\nAnswer:"))


BASE = Protocol(
    name="olmes/gsm8k",
    summary="8 shots as one text, Question/Answer, greedy, 512 tokens, stops at a blank line",
    source=SOURCE,
    render=prompts,
    decoding=Decoding(temperature=0.0, max_tokens=512, stop=STOPS),
    scorers=("olmes/gsm8k-tulu",),
    shots="wei2022",
    shot_count=8,
)
