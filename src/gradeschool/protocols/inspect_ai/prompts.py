"""`inspect/gsm8k`: ten shots in one system message, the answer on a last line "ANSWER: N".

inspect_evals 0.26.0, src/inspect_evals/gsm8k/gsm8k.py (task version 2-A), with its options
`-T fewshot=5` and `-T fewshot=0`; src/inspect_evals/mgsm/mgsm.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.problem import Problem
from gradeschool.prompts.mgsm import LANGUAGES, instructed
from gradeschool.prompts.rendering import question_message
from gradeschool.protocol import Protocol, Render

# `Dataset.shuffle(seed=42)` of the train split, first ten:
# numpy.random.default_rng(42).permutation(7473)[:10].
SHOT_ROWS = (3082, 2184, 5897, 2437, 6330, 819, 3812, 5878, 5302, 5876)
# A prompt that defines the protocol, verbatim.
TEMPLATE = (
    "Solve the following math problem step by step. The last line of your response should be of "
    'the form "ANSWER: $ANSWER" (without quotes) where $ANSWER is the answer to the problem.\n\n'
    "{question}\n\n"
    'Remember to put your answer on its own line at the end in the form "ANSWER: $ANSWER" '
    "(without quotes) where $ANSWER is the answer to the problem, and you do not need to use a "
    "\\boxed command.\n\nReasoning:"
)
MATCH = "inspect/match-numeric@>=0.3.253"


def few_shot(count: int) -> Render:
    """Return a function that renders this many shots as one system message, and the template."""

    def prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
        examples = "\n\n".join(_example(shots[row]) for row in SHOT_ROWS[:count])
        for prompt in zero_shot(problems, shots):
            yield Prompt(messages=(Message("system", examples), *prompt.messages))

    return prompts


zero_shot = question_message(TEMPLATE)


def _example(shot: Problem) -> str:
    reasoning = shot.solution.rpartition("####")[0].strip()
    return f"{shot.question}\n\nReasoning:\n{reasoning}\n\nANSWER: {shot.gold}"


# The tasks set no temperature, nucleus or length: the provider's defaults apply.
PROVIDERS_OWN = Decoding(temperature=None, top_p=None, max_tokens=None)

GSM8K = Protocol(
    name="inspect/gsm8k",
    summary="10 shots in the system message, 'ANSWER: N' on the last line, the provider's decoding",
    source="inspect-evals 0.26.0, src/inspect_evals/gsm8k/gsm8k.py",
    render=few_shot(10),
    decoding=PROVIDERS_OWN,
    scorers=(MATCH,),
    shots="gsm8k:train",
    shot_count=10,
    is_chat=True,
)

GSM8K_5 = replace(
    GSM8K,
    name="inspect/gsm8k-5shot",
    summary="the same with the first 5 shots (-T fewshot=5)",
    render=few_shot(5),
    shot_count=5,
)

GSM8K_0 = replace(
    GSM8K,
    name="inspect/gsm8k-0shot",
    summary="the same without shots and system message (-T fewshot=0)",
    render=zero_shot,
    shots="",
    shot_count=0,
)


def _mgsm(language: str) -> Protocol:
    """Return MGSM in one language; the instructions are simple-evals'."""
    return Protocol(
        name=f"inspect/mgsm-{language}",
        summary=f"zero-shot chat, the prompt of simple-evals ({language}) read by inspect's match",
        source="inspect-evals 0.26.0, src/inspect_evals/mgsm/mgsm.py",
        render=instructed(language),
        decoding=PROVIDERS_OWN,
        scorers=(MATCH,),
        is_chat=True,
        dataset="gsm8k" if language == "en" else f"mgsm:{language}",
    )


MGSM = tuple(map(_mgsm, LANGUAGES))
