"""The GSM8K tasks of OLMES: prompts and the scorer of Tulu.

`olmes/gsm8k`: gsm8k::olmes, 8 shots as one text, for base models.

The task configuration was read in goodfire-ai/olmes @ acbb7467, tasks.py; the prompt's form in four
independent ports of allenai/olmes oe_eval/tasks/oe_eval_tasks/gsm8k.py (SOURCE.md).

`olmes/gsm8k-tulu`: 8 shots as turns, the assistant's answer begun with "Answer:".

https://github.com/allenai/olmes oe_eval/tasks/oe_eval_tasks/gsm8k.py, by way of four independent
ports (SOURCE.md); the task configuration was read in goodfire-ai/olmes @ acbb7467, tasks.py.

`olmes/gsm8k-zs-cot`, its R1 form, and `gsm8k::olmo3:n8`, `:n8:v2`, `:n32`.

The task configurations were read in goodfire-ai/olmes @ acbb7467, oe_eval/configs/tasks.py.
"""

from __future__ import annotations

import re
from dataclasses import replace

from gradeschool.answers.extractions import extracted_gold, last_number_without_commas
from gradeschool.completion import Decoding
from gradeschool.problem import Problem
from gradeschool.prompts import Template
from gradeschool.protocol import Protocol
from gradeschool.scorer import Scorer, verbatim

BASE_SOURCE = "allenai/olmes gsm8k::olmes (tasks.py as in goodfire-ai/olmes @ acbb7467)"
# The examples of Wei et al., as AI2's harnesses write them (STD:GSM8k).
CONCLUDED = "{reasoning} So the answer is {gold}."
BASE_STOPS = ("Question:", "</s>", "<|im_end|>", "\n\n")


BASE = Protocol(
    name="olmes/gsm8k",
    summary="8 shots as one text, Question/Answer, greedy, 512 tokens, stops at a blank line",
    source=BASE_SOURCE,
    render=Template(question="Question: {question}\nAnswer:", answer=f" {CONCLUDED}"),
    decoding=Decoding(temperature=0.0, max_tokens=512, stop=BASE_STOPS),
    scorers=("olmes/gsm8k-tulu",),
    shots="wei2022",
    shot_count=8,
)


TULU_SOURCE = "allenai/olmes gsm8k::tulu (tasks.py as in goodfire-ai/olmes @ acbb7467)"
# Only decimals keep their sign: integers lose it, on both sides.
NUMBER = re.compile(r"[-+]?\d*\.\d+|\d+")
TULU_STOPS = ("Question:", "</s>", "<|im_end|>")


extract = last_number_without_commas(NUMBER)


def reference(problem: Problem) -> str:
    """Return the gold after the same extraction: "-10" becomes "10"."""
    return extracted_gold(extract, problem)


TULU_SCORER = Scorer(
    name="olmes/gsm8k-tulu",
    summary="the last number (integers without their sign), exact_match",
    source=TULU_SOURCE,
    reference=reference,
    extract=extract,
    compare=verbatim,
)

TULU = Protocol(
    name="olmes/gsm8k-tulu",
    summary="8 shots as chat turns, the assistant continues 'Answer:', greedy, 512 tokens",
    source=TULU_SOURCE,
    render=Template(
        question="Question: {question}",
        answer=f"Answer: {CONCLUDED}",
        form="turns",
        prefix="Answer:",
    ),
    decoding=Decoding(temperature=0.0, max_tokens=512, stop=TULU_STOPS),
    scorers=("olmes/gsm8k-tulu",),
    shots="wei2022",
    shot_count=8,
    is_chat=True,
)


CONFIG = "allenai/olmes {} (tasks.py as in goodfire-ai/olmes @ acbb7467)"
LONGEST = 131_072


zero_shot = Template(question="Question: {question}\nAnswer:", form="message")


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
    render=replace(zero_shot, prefix="<think>\n"),
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
        decoding=Decoding(temperature=temperature, top_p=top_p, max_tokens=512, stop=BASE_STOPS),
        samples=samples,
    )


OLMO3_N8 = _sampled("olmes/gsm8k-olmo3-n8", "gsm8k::olmo3:n8", 0.8, 0.95, 8)
OLMO3_N8_V2 = _sampled("olmes/gsm8k-olmo3-n8-v2", "gsm8k::olmo3:n8:v2", 0.6, 0.6, 8)
OLMO3_N32 = _sampled("olmes/gsm8k-olmo3-n32", "gsm8k::olmo3:n32", 1.0, 1.0, 32)

SCORERS = (TULU_SCORER,)
PROTOCOLS = (TULU, BASE, ZERO_SHOT, ZERO_SHOT_R1, OLMO3_N8, OLMO3_N8_V2, OLMO3_N32)
