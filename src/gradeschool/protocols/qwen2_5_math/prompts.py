r"""The prompts of Qwen2.5-Math's evaluation: for its chat models, for Qwen2, for base models.

https://github.com/QwenLM/Qwen2.5-Math/blob/a45202bd16f1ec06f433442dc1152d0074773465/evaluation/utils.py
https://github.com/QwenLM/Qwen2.5-Math/blob/a45202bd16f1ec06f433442dc1152d0074773465/evaluation/math_eval.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.problem import Problem
from gradeschool.prompts.rendering import rationale, shots_as_text
from gradeschool.protocol import Protocol, Render

SOURCE = "QwenLM/Qwen2.5-Math @ a45202bd, evaluation/utils.py"
# Prompts that define the protocols, verbatim.
BOX = "Please reason step by step, and put your final answer within \\boxed{}."
ASSISTANT = "You are a helpful assistant."
# The four parts of MAWPS, which upstream evaluates as one set.
MAWPS = ("addsub", "multiarith", "singleeq", "singleop")
STOPS = ("</s>", "<|im_end|>", "<|endoftext|>")
GREEDY = Decoding(temperature=0.0, top_p=1.0, max_tokens=2048, stop=STOPS)
SCORERS = ("qwen2.5-math/gsm8k",)


def _qwen25(problem: Problem) -> tuple[Message, Message]:
    return Message("system", BOX), Message("user", problem.question.strip())


def _qwen2(problem: Problem) -> tuple[Message, Message]:
    request = f"{problem.question.strip()}\n{BOX}"
    return Message("system", ASSISTANT), Message("user", request)


def _chatml(messages: tuple[Message, ...]) -> str:
    """Write messages as Qwen's chat template does, and begin the answer."""
    turns = [f"<|im_start|>{role}\n{content}<|im_end|>\n" for role, content in messages]
    return "".join([*turns, "<|im_start|>assistant\n"])


def qwen25_text(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render prompt type qwen25-math-cot as upstream sends it: text with chat marks."""
    for problem in problems:
        yield Prompt(text=_chatml(_qwen25(problem)))


def qwen25_chat(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render prompt type qwen25-math-cot as messages; a Qwen server makes the same text."""
    for problem in problems:
        yield Prompt(messages=_qwen25(problem))


def qwen2_text(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render prompt type qwen-boxed as upstream sends it: text with chat marks."""
    for problem in problems:
        yield Prompt(text=_chatml(_qwen2(problem)))


def qwen2_chat(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render prompt type qwen-boxed as messages."""
    for problem in problems:
        yield Prompt(messages=_qwen2(problem))


def cot_prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render prompt type cot: the 8 exemplars of Wei et al. 2022, two blank lines between."""
    examples = [
        (f"Question: {shot.question}\nAnswer:", f"{rationale(shot)} The answer is {shot.gold}.")
        for shot in shots
    ]
    for problem in problems:
        question = f"Question: {problem.question.strip()}\nAnswer:"
        yield Prompt(text=shots_as_text(examples, question, joiner="\n\n\n"))


QWEN25 = Protocol(
    name="qwen2.5-math/gsm8k",
    summary="for Qwen2.5-Math models: text with chat marks, a box is asked for, greedy",
    source=f"{SOURCE}, prompt type qwen25-math-cot",
    render=qwen25_text,
    decoding=GREEDY,
    scorers=SCORERS,
)

QWEN25_CHAT = Protocol(
    name="qwen2.5-math/gsm8k+chat",
    summary="zero-shot chat, the system message asks for a box, greedy, 2048 tokens",
    source=f"{SOURCE}, prompt type qwen25-math-cot",
    render=qwen25_chat,
    decoding=GREEDY,
    scorers=SCORERS,
    is_chat=True,
)

QWEN2 = Protocol(
    name="qwen2.5-math/gsm8k-qwen-boxed",
    summary="for Qwen2 models: text with chat marks, the user message asks for a box, greedy",
    source=f"{SOURCE}, prompt type qwen-boxed",
    render=qwen2_text,
    decoding=GREEDY,
    scorers=SCORERS,
)

QWEN2_CHAT = Protocol(
    name="qwen2.5-math/gsm8k-qwen-boxed+chat",
    summary="zero-shot chat, the user message asks for a box, greedy, 2048 tokens",
    source=f"{SOURCE}, prompt type qwen-boxed",
    render=qwen2_chat,
    decoding=GREEDY,
    scorers=SCORERS,
    is_chat=True,
)

COT = Protocol(
    name="qwen2.5-math/gsm8k-cot",
    summary="for base models: the 8 exemplars of Wei et al., Question/Answer, greedy",
    source=f"{SOURCE}, prompt type cot with --num_shots 8",
    render=cot_prompts,
    decoding=Decoding(temperature=0.0, top_p=1.0, max_tokens=2048, stop=(*STOPS, "\n\nQuestion:")),
    scorers=SCORERS,
    shots="wei2022",
    shot_count=8,
)


def _with_sentences(render: Render) -> Render:
    """Return a function that renders SVAMP's questions with a period after each body, as upstream.

    evaluation/parser.py, parse_question. Problems of other files stay unchanged.
    """

    def prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
        return render([replace(problem, question=_sentences(problem)) for problem in problems], ())

    return prompts


def _sentences(problem: Problem) -> str:
    body = problem.meta.get("body", "").strip()
    if not body or body.endswith(".") or not problem.question.startswith(body):
        return problem.question
    return f"{body}.{problem.question.removeprefix(body)}"


def _of(name: str, dataset: str) -> tuple[Protocol, Protocol]:
    """Return the two forms of qwen25-math-cot on another set."""
    changes: dict[str, Any] = {"dataset": dataset, "scorers": ("qwen2.5-math/numbers",)}
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
    for protocol in _of(name, dataset)
)
OTHER_PROTOCOLS += tuple(
    replace(protocol, render=_with_sentences(protocol.render)) for protocol in _of("svamp", "svamp")
)
