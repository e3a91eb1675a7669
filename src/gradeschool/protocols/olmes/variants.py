"""`olmes/gsm8k-zs-cot`, its R1 form, and `gsm8k::olmo3:n8`, `:n8:v2`, `:n32`.

The task configurations were read in goodfire-ai/olmes @ acbb7467, oe_eval/configs/tasks.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.problem import Problem
from gradeschool.protocol import Protocol
from gradeschool.protocols.olmes.base import BASE, STOPS

CONFIG = "allenai/olmes {} (tasks.py as in goodfire-ai/olmes @ acbb7467)"
THINKING = "<think>\n"
LONGEST = 131_072


def zero_shot(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render "Question: ...", "Answer:" as one user message."""
    for problem in problems:
        yield Prompt(messages=(Message("user", f"Question: {problem.question}\nAnswer:"),))


def thinking(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the same, the assistant's answer begun with a mark of thinking."""
    for prompt in zero_shot(problems, shots):
        yield replace(prompt, prefix=THINKING)


ZERO_SHOT = Protocol(
    name="olmes/gsm8k-zs-cot",
    summary="zero-shot chat, Question/Answer in one user message, greedy, 131,072 tokens",
    source=CONFIG.format("gsm8k::zs_cot"),
    render=zero_shot,
    decoding=Decoding(temperature=0.0, max_tokens=LONGEST),
    scorers=BASE.scorers,
    is_chat=True,
)

ZERO_SHOT_R1 = Protocol(
    name="olmes/gsm8k-zs-cot-r1",
    summary="the same, begun with '<think>', at temperature 0.6",
    source=CONFIG.format("gsm8k::zs_cot_r1"),
    render=thinking,
    decoding=Decoding(temperature=0.6, max_tokens=LONGEST),
    scorers=BASE.scorers,
    is_chat=True,
)


def _sampled(name: str, alias: str, temperature: float, top_p: float, samples: int) -> Protocol:
    """Return the base prompt with several samples of each problem; pass@1 is the headline."""
    return replace(
        BASE,
        name=name,
        summary=f"the prompt of olmes/gsm8k, {samples} samples at temperature {temperature:g}, "
        f"top_p {top_p:g}",
        source=CONFIG.format(alias),
        decoding=Decoding(temperature=temperature, top_p=top_p, max_tokens=512, stop=STOPS),
        samples=samples,
    )


OLMO3_N8 = _sampled("olmes/gsm8k-olmo3-n8", "gsm8k::olmo3:n8", 0.8, 0.95, 8)
OLMO3_N8_V2 = _sampled("olmes/gsm8k-olmo3-n8-v2", "gsm8k::olmo3:n8:v2", 0.6, 0.6, 8)
OLMO3_N32 = _sampled("olmes/gsm8k-olmo3-n32", "gsm8k::olmo3:n32", 1.0, 1.0, 32)
