r"""Qwen2.5-Math: the evaluation of its technical report, also used by many later reports.

The prompts are for its chat models, for Qwen2, for base models.

https://github.com/QwenLM/Qwen2.5-Math/blob/a45202bd16f1ec06f433442dc1152d0074773465/evaluation/utils.py
https://github.com/QwenLM/Qwen2.5-Math/blob/a45202bd16f1ec06f433442dc1152d0074773465/evaluation/math_eval.py
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gradeschool.completion import Decoding
from gradeschool.problem import Problem
from gradeschool.prompts import Template
from gradeschool.protocol import Protocol
from gradeschool.protocols.qwen2_5_math.grading import GSM8K, OTHER

SOURCE = "QwenLM/Qwen2.5-Math @ a45202bd, evaluation/utils.py"
# Prompts that define the protocols, verbatim.
BOX = "Please reason step by step, and put your final answer within \\boxed{}."
ASSISTANT = "You are a helpful assistant."
# The four parts of MAWPS, which upstream evaluates as one set.
MAWPS = ("addsub", "multiarith", "singleeq", "singleop")
STOPS = ("</s>", "<|im_end|>", "<|endoftext|>")
GREEDY = Decoding(temperature=0.0, top_p=1.0, max_tokens=2048, stop=STOPS)
GSM8K_SCORERS = (GSM8K.name,)


def _chatml(system: str, user: str) -> Template:
    """Return messages as Qwen's chat template writes them, with the answer begun."""
    turns = f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{user}<|im_end|>\n"
    return Template(question=f"{turns}<|im_start|>assistant\n")


def _messages(system: str, user: str) -> Template:
    """Return the same as messages; a Qwen server makes the same text."""
    return Template(question=user, system=system, form="message")


QUESTION = "{stripped question}"


QWEN25 = Protocol(
    name="qwen2.5-math/gsm8k",
    summary="for Qwen2.5-Math models: text with chat marks, a box is asked for, greedy",
    source=f"{SOURCE}, prompt type qwen25-math-cot",
    render=_chatml(BOX, QUESTION),
    decoding=GREEDY,
    scorers=GSM8K_SCORERS,
)

QWEN25_CHAT = Protocol(
    name="qwen2.5-math/gsm8k+chat",
    summary="zero-shot chat, the system message asks for a box, greedy, 2048 tokens",
    source=f"{SOURCE}, prompt type qwen25-math-cot",
    render=_messages(BOX, QUESTION),
    decoding=GREEDY,
    scorers=GSM8K_SCORERS,
    is_chat=True,
)

QWEN2 = Protocol(
    name="qwen2.5-math/gsm8k-qwen-boxed",
    summary="for Qwen2 models: text with chat marks, the user message asks for a box, greedy",
    source=f"{SOURCE}, prompt type qwen-boxed",
    render=_chatml(ASSISTANT, f"{QUESTION}\n{BOX}"),
    decoding=GREEDY,
    scorers=GSM8K_SCORERS,
)

QWEN2_CHAT = Protocol(
    name="qwen2.5-math/gsm8k-qwen-boxed+chat",
    summary="zero-shot chat, the user message asks for a box, greedy, 2048 tokens",
    source=f"{SOURCE}, prompt type qwen-boxed",
    render=_messages(ASSISTANT, f"{QUESTION}\n{BOX}"),
    decoding=GREEDY,
    scorers=GSM8K_SCORERS,
    is_chat=True,
)

COT = Protocol(
    name="qwen2.5-math/gsm8k-cot",
    summary="for base models: the 8 exemplars of Wei et al., Question/Answer, greedy",
    source=f"{SOURCE}, prompt type cot with --num_shots 8",
    render=Template(
        question=f"Question: {QUESTION}\nAnswer:",
        shot="Question: {question}\nAnswer:",
        answer=" {reasoning} The answer is {gold}.",
        joiner="\n\n\n",
    ),
    decoding=Decoding(temperature=0.0, top_p=1.0, max_tokens=2048, stop=(*STOPS, "\n\nQuestion:")),
    scorers=GSM8K_SCORERS,
    shots="wei2022",
    shot_count=8,
)


def svamp_fields(problem: Problem) -> dict[str, str]:
    """Return SVAMP's question with a period after its body, as upstream; others are unchanged.

    evaluation/parser.py, parse_question.
    """
    body, question = problem.meta.get("body", "").strip(), problem.question
    if body and not body.endswith(".") and question.startswith(body):
        question = f"{body}.{question.removeprefix(body)}"
    return {"stripped question": question.strip()}


def _both_forms(name: str, dataset: str) -> tuple[Protocol, Protocol]:
    """Return the two forms of qwen25-math-cot on another set."""
    changes: dict[str, Any] = {"dataset": dataset, "scorers": (OTHER.name,)}
    text = replace(QWEN25, name=f"qwen2.5-math/{name}", **changes)
    return text, replace(QWEN25_CHAT, name=f"qwen2.5-math/{name}+chat", **changes)


OTHER_PROTOCOLS = tuple(
    protocol
    for name, dataset in (
        ("aime24", "aime:2024"),
        ("asdiv", "asdiv"),
        *((f"mawps-{name}", f"mawps:{name}") for name in MAWPS),
        ("cmath", "cmath"),
    )
    for protocol in _both_forms(name, dataset)
)
OTHER_PROTOCOLS += tuple(
    replace(protocol, render=replace(protocol.template, fields=svamp_fields))
    for protocol in _both_forms("svamp", "svamp")
)

SCORERS = (GSM8K, OTHER)
PROTOCOLS = (QWEN25, QWEN25_CHAT, QWEN2, QWEN2_CHAT, COT, *OTHER_PROTOCOLS)
