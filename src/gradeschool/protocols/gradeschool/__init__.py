"""gradeschool's own scorers and prompts, with examples shipped in the package."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradeschool.completion import Decoding, Prompt
from gradeschool.problem import Problem
from gradeschool.prompts.rendering import rationale, shots_as_text
from gradeschool.protocol import Protocol
from gradeschool.protocols.gradeschool.scorers import PARSE_ANSWER, READER


def prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    r"""Render the examples as "Question: ...\nAnswer: ... #### N", then the open question."""
    examples = [
        (f"Question: {shot.question}\nAnswer:", f"{rationale(shot)}\n#### {shot.gold}")
        for shot in shots
    ]
    for problem in problems:
        yield Prompt(text=shots_as_text(examples, f"Question: {problem.question}\nAnswer:"))


FEW_SHOT = Protocol(
    name="gradeschool/few-shot-cot",
    summary="8 examples of our own with '#### N', greedy; nothing to download",
    source="gradeschool/datasets/sample/exemplars.jsonl",
    render=prompts,
    decoding=Decoding(temperature=0.0, max_tokens=512, stop=("Question:",)),
    scorers=("gradeschool/reader",),
    shots="exemplars",
    shot_count=8,
)


SCORERS = (READER, PARSE_ANSWER)
PROTOCOLS = (FEW_SHOT,)
