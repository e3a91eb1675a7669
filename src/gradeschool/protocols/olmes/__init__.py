"""The GSM8K tasks of OLMES: prompts and the scorer of Tulu.

`olmes/gsm8k`: 8 shots as one text, for base models; with 8 or 32 samples as for Olmo 3.
`olmes/gsm8k-tulu`: 8 shots as turns, the assistant's answer begun with "Answer:".
`olmes/gsm8k-zs-cot`: zero-shot, and its R1 form.
"""

from __future__ import annotations

import re
from dataclasses import replace

from gradeschool.answers.extractions import extracted_gold, last_number_without_commas
from gradeschool.protocols import Decoding, Protocol, Scorer, Template

SOURCE = "allenai/olmes gsm8k::{} (tasks.py as in goodfire-ai/olmes @ acbb7467)"
# The examples of Wei et al., as AI2's harnesses write them (STD:GSM8k).
CONCLUDED = "{reasoning} So the answer is {gold}."
STOPS = ("Question:", "</s>", "<|im_end|>")
LONGEST = 131_072
# Only decimals keep their sign: integers lose it, on both sides.
NUMBER = re.compile(r"[-+]?\d*\.\d+|\d+")
extract = last_number_without_commas(NUMBER)

SCORERS = (
    Scorer(
        name="olmes/gsm8k-tulu",
        summary="the last number (integers without their sign), exact_match",
        source=SOURCE.format("tulu"),
        reference=lambda problem: extracted_gold(extract, problem),
        extract=extract,
    ),
)
BASE = Protocol(
    name="olmes/gsm8k",
    summary="8 shots as one text, Question/Answer, greedy, 512 tokens, stops at a blank line",
    source=SOURCE.format("olmes"),
    render=Template(question="Question: {question}\nAnswer:", answer=f" {CONCLUDED}"),
    decoding=Decoding(temperature=0.0, max_tokens=512, stop=(*STOPS, "\n\n")),
    scorers=("olmes/gsm8k-tulu",),
    shots="wei2022",
)
TULU = replace(
    BASE,
    name="olmes/gsm8k-tulu",
    summary="8 shots as chat turns, the assistant continues 'Answer:', greedy, 512 tokens",
    source=SOURCE.format("tulu"),
    render=Template(
        question="Question: {question}",
        answer=f"Answer: {CONCLUDED}",
        form="turns",
        prefix="Answer:",
    ),
    decoding=Decoding(temperature=0.0, max_tokens=512, stop=STOPS),
)
ZERO_SHOT = Protocol(
    name="olmes/gsm8k-zs-cot",
    summary="zero-shot chat, Question/Answer in one user message, greedy, 131,072 tokens",
    source=SOURCE.format("zs_cot"),
    render=Template(question="Question: {question}\nAnswer:", form="message"),
    decoding=Decoding(temperature=0.0, max_tokens=LONGEST),
    scorers=BASE.scorers,
)
ZERO_SHOT_R1 = replace(
    ZERO_SHOT,
    name="olmes/gsm8k-zs-cot-r1",
    summary="the same, begun with '<think>', at temperature 0.6",
    source=SOURCE.format("zs_cot_r1"),
    render=replace(ZERO_SHOT.template, prefix="<think>\n"),
    decoding=Decoding(temperature=0.6, max_tokens=LONGEST),
)
# Several samples of each problem; pass@1 is the headline.
SAMPLED = tuple(
    replace(
        BASE,
        name=f"olmes/gsm8k-olmo3-{alias.replace(':', '-')}",
        summary=f"the prompt of olmes/gsm8k, {samples} samples at temperature {temperature:g}, "
        f"top_p {top_p:g}",
        source=SOURCE.format(f"olmo3:{alias}"),
        decoding=replace(BASE.decoding, temperature=temperature, top_p=top_p),
        samples=samples,
    )
    for alias, temperature, top_p, samples in (
        ("n8", 0.8, 0.95, 8),
        ("n8:v2", 0.6, 0.6, 8),
        ("n32", 1.0, 1.0, 32),
    )
)
PROTOCOLS = (TULU, BASE, ZERO_SHOT, ZERO_SHOT_R1, *SAMPLED)
