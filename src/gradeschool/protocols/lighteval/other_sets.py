r"""lighteval's AIME 2024 and 2025, GSM-Plus and MATH-500.

https://github.com/huggingface/lighteval, PyPI 0.13.0: src/lighteval/tasks/tasks/aime.py,
tasks/gsm_plus.py, tasks/math_500.py; metrics/metrics.py, Metrics.pass_at_k_math and
Metrics.expr_gold_metric.
"""

from __future__ import annotations

from dataclasses import replace

from gradeschool.completion import Decoding
from gradeschool.library_scorer import library_scorer
from gradeschool.problem import Problem
from gradeschool.prompts import Template, rationale
from gradeschool.protocol import Protocol

SOURCE = "lighteval 0.13.0, src/lighteval/tasks/tasks"
# Settings that no task defines are left to the server.
DECODING = Decoding(temperature=0.0, top_p=None, max_tokens=None)
# Prompts that define the protocols, verbatim.
AIME_REQUEST = (
    "\nSolve the following math problem efficiently and clearly.  The last line of your response "
    "should be of the following format: 'Therefore, the final answer is: $\\boxed{ANSWER}$. I hope "
    "it is correct' (without quotes) where ANSWER is just the final number or expression that "
    "solves the problem. Think step by step before answering.\n\n{question}\n"
)
MATH_REQUEST = (
    "Solve the following problem. The final line of your response MUST be of the following "
    'format:\n"ANSWER: $ANSWER" (without quotes) where $ANSWER is the final answer. Think step by '
    "step before answering.\n\n{question}"
)


def labelled_solution(problem: Problem) -> str:
    """Return the label and the reference solution; the gold if the solution has no box."""
    solution = rationale(problem)
    return f"ANSWER: {solution}" if "\\boxed" in solution else f"ANSWER: {problem.gold}"


AIME_SCORER = library_scorer(
    "lighteval/aime",
    summary="pass@1: 'final answer is N. I hope', boxes, 'answer ... N', the last number, read by "
    "priority on both sides",
    source="lighteval 0.13.0, src/lighteval/metrics/metrics.py, Metrics.pass_at_k_math",
    function=f"{__package__}.library:pass_at_1",
    how="lighteval's reading",
)
PLUS_SCORER = library_scorer(
    "lighteval/gsm-plus",
    summary="extractive_match: boxes, 'answer ... N', then the last number, against the gold alone",
    source="lighteval 0.13.0, src/lighteval/metrics/metrics.py, Metrics.expr_gold_metric",
    function=f"{__package__}.library:extractive_match",
    how="lighteval's reading",
)
MATH_SCORER = library_scorer(
    "lighteval/math-500",
    summary="pass@1, as lighteval/aime; the gold is read out of the whole solution",
    source="lighteval 0.13.0, src/lighteval/metrics/metrics.py, Metrics.pass_at_k_math",
    function=f"{__package__}.library:pass_at_1_of_solutions",
    how="lighteval's reading",
    reference=labelled_solution,
)
OTHER_SCORERS = (AIME_SCORER, PLUS_SCORER, MATH_SCORER)


def _aime(year: str) -> Protocol:
    return Protocol(
        name=f"lighteval/aime{year}",
        summary="zero-shot chat, 'the final answer is: $\\boxed{N}$. I hope it is correct'",
        source=f"{SOURCE}/aime.py (aime{year})",
        render=Template(question=AIME_REQUEST, form="message"),
        decoding=DECODING,
        scorers=(AIME_SCORER.name,),
        is_chat=True,
        dataset=f"aime:20{year}",
    )


def _plus(name: str, dataset: str) -> Protocol:
    return Protocol(
        name=f"lighteval/{name}",
        summary="zero-shot, Question/Answer, greedy, the server's own length",
        source=f"{SOURCE}/gsm_plus.py",
        render=Template(question="Question: {question}\n\nAnswer:"),
        decoding=DECODING,
        scorers=(PLUS_SCORER.name,),
        dataset=dataset,
    )


MATH_500 = Protocol(
    name="lighteval/math-500",
    summary="zero-shot chat, 'ANSWER: N' on the last line, 32,768 tokens",
    source=f"{SOURCE}/math_500.py",
    render=Template(question=MATH_REQUEST, form="message"),
    decoding=replace(DECODING, max_tokens=32_768),
    scorers=(MATH_SCORER.name,),
    is_chat=True,
    dataset="math500",
)
OTHER_PROTOCOLS = (
    MATH_500,
    _aime("24"),
    _aime("25"),
    _plus("gsm-plus", "gsm-plus"),
    _plus("gsm-plus-mini", "gsm-plus:mini"),
)
