r"""The GSM8K evaluations of serving engines' continuous integration: vLLM's and SGLang's.

Both write the first five examples with their whole solutions and extract the last run of digits
after removing all commas: a sign and the digits after a decimal point are lost, in the gold too.

https://github.com/vllm-project/vllm/blob/03e09605209f4dc33df2e3be7b24c05f0e3142cb/tests/evals/gsm8k/gsm8k_eval.py
https://github.com/sgl-project/sglang/blob/109fdd2fd44a5ad38bd328c9eb249210dc5e01f0/python/sglang/test/few_shot_gsm8k.py
"""

from __future__ import annotations

import re
from dataclasses import replace

from gradeschool.answers.extractions import last_number
from gradeschool.completion import Decoding
from gradeschool.problem import Problem
from gradeschool.prompts import Template, as_message
from gradeschool.protocol import Protocol
from gradeschool.scorer import Scorer, ScorerFailure, verbatim

VLLM_SOURCE = "vllm-project/vllm @ 03e09605, tests/evals/gsm8k/gsm8k_eval.py"
SGLANG_SOURCE = "sgl-project/sglang @ 109fdd2f, python/sglang/test/few_shot_gsm8k.py"
SHOTS = 5
STOPS = ("Question", "Assistant:", "<|separator|>")
FEW_SHOT = Template(question="Question: {question}\nAnswer:", answer=" {solution}", count=SHOTS)
# Matches of `\d+` after commas are removed, located in the original text.
DIGITS = re.compile(r"\d+(?:,+\d+)*")
# `ast.literal_eval` rejects longer integers (sys.set_int_max_str_digits).
MOST_DIGITS = 4300


def integer(digits: str) -> str | None:
    """Return an integer literal without commas, None if Python rejects it."""
    digits = digits.replace(",", "")
    if not digits.strip("0"):
        return "0"
    is_literal = digits.isascii() and digits[0] != "0" and len(digits) <= MOST_DIGITS
    return digits if is_literal else None


last_integer = last_number(DIGITS, "the last run of digits", integer)


def solution_integer(problem: Problem) -> str:
    """Return the last run of digits of the whole reference solution.

    Raises ScorerFailure if there is none: upstream asserts that every gold can be read.
    """
    answer = last_integer(problem.solution, "")
    if answer is None:
        raise ScorerFailure("the reference solution contains no integer literal")
    return answer.value


VLLM_SCORER = Scorer(
    name="vllm/gsm8k",
    summary="the last run of digits, commas removed, no sign, equal as an integer",
    source=f"{VLLM_SOURCE}, get_answer_value",
    reference=solution_integer,
    extract=last_integer,
    compare=verbatim,
)

SGLANG_SCORER = replace(
    VLLM_SCORER,
    name="sglang/gsm8k-few-shot",
    source=f"{SGLANG_SOURCE}, get_answer_value",
)

VLLM = Protocol(
    name="vllm/gsm8k",
    summary="the first 5 train problems with their solutions, greedy, 256 tokens, seed 42",
    source=f"{VLLM_SOURCE}, evaluate_gsm8k",
    render=FEW_SHOT,
    decoding=Decoding(temperature=0.0, top_p=None, max_tokens=256, stop=STOPS, seed=42),
    scorers=("vllm/gsm8k",),
    shots="gsm8k:train",
    shot_count=SHOTS,
)

VLLM_CHAT = replace(
    VLLM,
    name="vllm/gsm8k+chat",
    summary="the same text as one user message, the server's own temperature",
    source=f"{VLLM_SOURCE}, --use-chat-completions",
    render=as_message(FEW_SHOT),
    decoding=replace(VLLM.decoding, temperature=None),
    is_chat=True,
)

SGLANG = Protocol(
    name="sglang/gsm8k-few-shot",
    summary="the first 5 test problems with their solutions, then scored too; greedy, 512 tokens",
    source=f"{SGLANG_SOURCE}, run_eval",
    render=FEW_SHOT,
    decoding=Decoding(temperature=0.0, top_p=None, max_tokens=512, stop=STOPS),
    scorers=("sglang/gsm8k-few-shot",),
    shots="gsm8k",
    shot_count=SHOTS,
)

SCORERS = (VLLM_SCORER, SGLANG_SCORER)
PROTOCOLS = (VLLM, VLLM_CHAT, SGLANG)
