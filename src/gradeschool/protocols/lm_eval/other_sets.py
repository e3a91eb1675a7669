r"""GSM-Plus, ASDiv, MATH-500 and AIME, whose tasks share the filters of GSM8K or those of MATH.

`lm-eval/hendrycks-math500` and `lm-eval/aime`: the text between the first and the last "$", else
the whole text; aime prefers the last box. Hendrycks et al.'s string forms are compared.

https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/gsm_plus/gsm_plus.yaml
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/asdiv/asdiv-cot-llama.yaml
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/hendrycks_math/utils.py
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/aime/utils.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gradeschool.answers.search import TextMatch, math_box
from gradeschool.completion import Decoding, Prompt
from gradeschool.latex import slash_as_fraction
from gradeschool.problem import Problem
from gradeschool.prompts.rendering import question_text
from gradeschool.protocol import Protocol
from gradeschool.protocols.lm_eval.hrm8k import stripped
from gradeschool.protocols.lm_eval.prompts import (
    COT_LLAMA,
    GSM8K,
    MAX_TOKENS,
    PLATINUM,
    cot_llama_spaced_prompts,
)
from gradeschool.scorer import Scorer
from gradeschool.verdict import Answer

SOURCE = "EleutherAI/lm-evaluation-harness @ 4e7e0d47, lm_eval/tasks"
SPACED_BOX = "\\boxed "
AIME_STOPS = ("Question:", "</s>", "<|im_end|>", "<|eot_id|>")

# 5 shots from the set itself, drawn as gsm8k_platinum draws them; its filters are gsm8k's.
GSM_PLUS = replace(
    PLATINUM,
    name="lm-eval/gsm-plus",
    summary="5 shots drawn for each problem from GSM-Plus itself, greedy, 256 tokens",
    source=f"{SOURCE}/gsm_plus/gsm_plus.yaml (version 1.0)",
    scorers=GSM8K.scorers,
    shots="gsm-plus",
    dataset="gsm-plus",
)
GSM_PLUS_MINI = replace(
    GSM_PLUS,
    name="lm-eval/gsm-plus-mini",
    summary="5 shots drawn for each problem from the 2,400 of testmini, greedy, 256 tokens",
    source=f"{SOURCE}/gsm_plus/gsm_plus_mini.yaml (version 1.0)",
    shots="gsm-plus:mini",
    dataset="gsm-plus:mini",
)


def asdiv_prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the prompt of gsm8k_cot_llama 3.0; the examples have no body, so two spaces."""
    examples = [replace(shot, question=f" {shot.question}") for shot in shots]
    return cot_llama_spaced_prompts(problems, examples)


ASDIV = replace(
    COT_LLAMA,
    name="lm-eval/asdiv-cot-llama",
    summary="8 exemplars of Wei et al. ending in 'The final answer is N', one text, 256 tokens",
    source=f"{SOURCE}/asdiv/asdiv-cot-llama.yaml (version 1.0)",
    render=asdiv_prompts,
    dataset="asdiv",
)


def between_dollars(text: str) -> TextMatch:
    """Return the text between the first and the last "$", or the whole text without two of them."""
    first, last = text.find("$"), text.rfind("$")
    start, end = (first + 1, last) if first < last else (0, len(text))
    return TextMatch(text[start:end], start, end)


def last_box(text: str) -> TextMatch | None:
    r"""Return the content of the last box; None if upstream finds none or fails on it.

    If "\boxed " occurs anywhere, its last occurrence counts, up to the next "$".
    """
    if SPACED_BOX in text:
        start = text.rfind(SPACED_BOX) + len(SPACED_BOX)
        end = text.find("$", start)
        end = len(text) if end < 0 else end
        return TextMatch(text[start:end], start, end)
    return math_box(text)


def extract_math(text: str, reference: str) -> Answer | None:
    """Extract the text between dollar signs, or everything."""
    piece = between_dollars(text)
    if not piece.text:
        return None
    return Answer(piece.text, piece.text, (piece.start, piece.end), "between dollar signs or all")


def extract_aime(text: str, reference: str) -> Answer | None:
    """Extract the last box, else the text between dollar signs, or everything."""
    box = last_box(text)
    if box is None or not box.text:
        return None if box is not None else extract_math(text, reference)
    return Answer(box.text, box.text, (box.start, box.end), "the last box")


def compare(value: str, reference: str) -> bool:
    """Compare Hendrycks' string forms, or the texts themselves if a form raises."""
    try:
        return _form(value) == _form(reference)
    except (AssertionError, IndexError, ValueError):
        return value == reference


def _form(text: str) -> str:
    return slash_as_fraction(stripped(text), strict=True)


HENDRYCKS_SCORER = Scorer(
    name="lm-eval/hendrycks-math500",
    summary="between the first and the last '$', else the whole text; Hendrycks' forms",
    source=f"{SOURCE}/hendrycks_math/utils.py, process_results",
    reference=lambda problem: problem.gold,
    extract=extract_math,
    compare=compare,
    dataset="math500",
)
AIME_SCORER = Scorer(
    name="lm-eval/aime",
    summary="the last box, else between '$', else the whole text; Hendrycks' forms",
    source=f"{SOURCE}/aime/utils.py, process_results",
    reference=lambda problem: problem.gold,
    extract=extract_aime,
    compare=compare,
    dataset="aime",
)


HENDRYCKS_MATH500 = Protocol(
    name="lm-eval/hendrycks-math500",
    summary="zero-shot, Problem/Answer, greedy, 256 tokens",
    source=f"{SOURCE}/hendrycks_math/hendrycks_math500.yaml (version 1.0)",
    render=question_text("Problem: {question}\nAnswer:"),
    decoding=Decoding(temperature=0.0, max_tokens=MAX_TOKENS, stop=("Problem:",)),
    scorers=("lm-eval/hendrycks-math500",),
    dataset="math500",
)
AIME24 = Protocol(
    name="lm-eval/aime24",
    summary="zero-shot, Question/Answer, greedy, 32,768 tokens",
    source=f"{SOURCE}/aime/aime24.yaml (version 0.0)",
    render=question_text("Question: {question}\nAnswer:"),
    decoding=Decoding(temperature=0.0, max_tokens=32_768, stop=AIME_STOPS),
    scorers=("lm-eval/aime",),
    dataset="aime:2024",
)
AIME25 = replace(
    AIME24,
    name="lm-eval/aime25",
    source=f"{SOURCE}/aime/aime25.yaml (version 0.0)",
    dataset="aime:2025",
)
OTHER_PROTOCOLS = (GSM_PLUS, GSM_PLUS_MINI, ASDIV, HENDRYCKS_MATH500, AIME24, AIME25)
