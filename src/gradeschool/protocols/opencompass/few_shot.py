"""`opencompass/gsm8k`: four fixed examples as turns, the default gsm8k_gen.

https://github.com/open-compass/opencompass/tree/a5acc4bb/opencompass/configs/datasets/gsm8k
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradeschool.completion import Decoding, Prompt
from gradeschool.problem import Problem
from gradeschool.prompts.rendering import rationale, shots_as_turns
from gradeschool.protocol import Protocol
from gradeschool.protocols.opencompass.scorers import GSM8K

CONFIGS = "open-compass/opencompass @ a5acc4bb (PyPI 0.5.4), opencompass/configs/datasets/gsm8k"


def _asked(problem: Problem) -> str:
    return f"Question: {problem.question}\nLet's think step by step\nAnswer:"


def prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the examples, each answer with its line break at the end, and the question."""
    examples = [(_asked(shot), f"{rationale(shot)}\nThe answer is {shot.gold}\n") for shot in shots]
    for problem in problems:
        yield Prompt(messages=shots_as_turns(examples, _asked(problem)))


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
