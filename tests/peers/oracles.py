"""Where the verdicts of golden cases come from: what says the truth of each scorer."""

from __future__ import annotations

import string
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

from gradeschool.problem import Problem
from gradeschool.protocols.registry import all_scorers
from tests.peers.functions_worker import compiled

PeerAnswer = list[bool | str | None]
Judge = Callable[[str, Problem], PeerAnswer]


def _scorers(*starts: str, without: tuple[str, ...] = ()) -> list[str]:
    return [
        name for name in all_scorers() if name.startswith(starts) and not name.startswith(without)
    ]


# Environment -> how its verdicts were got, and the scorers for which it speaks.
ENVIRONMENTS: dict[str, tuple[str, list[str]]] = {
    "lm_eval": ("lm-eval 0.4.13, run", _scorers("lm-eval/", without=("lm-eval/gsm8k@",))),
    "inspect_ai": (
        "inspect_ai 0.3.285, run",
        ["inspect/match-numeric@>=0.3.261", "inspect/aime2025", "inspect/math"],
    ),
    "inspect_ai_0_3_260": ("inspect_ai 0.3.260, run", ["inspect/match-numeric@0.3.253-0.3.260"]),
    "inspect_ai_0_3_252": ("inspect_ai 0.3.252, run", ["inspect/match-numeric@0.3.221-0.3.252"]),
    "inspect_ai_0_3_220": ("inspect_ai 0.3.220, run", ["inspect/match-numeric@<=0.3.220"]),
    "functions": (
        "the real functions, compiled alone, run",
        _scorers(
            *("verl/", "oumi/", "helm/", "sglang/", "vllm/", "trl/", "math-verify/"),
            *("opencompass/", "lighteval/mgsm", "nemo-evaluator/gsm8k-answer"),
            *("verifiers/boxed", "verifiers/gsm8k-v1"),
        ),
    ),
    "lighteval": ("lighteval 0.13.0, run", _scorers("lighteval/", without=("lighteval/mgsm",))),
    "evalscope": ("evalscope 1.14.1, run", _scorers("evalscope/")),
    "verifiers": ("verifiers 0.3.0, run", _scorers("verifiers/math-rubric")),
}


def openai(path: Path) -> Judge:
    """Judge with the functions of OpenAI's dataset.py."""
    real = compiled(path, "ANS_RE INVALID_ANS extract_answer is_correct")

    def judge(completion: str, problem: Problem) -> PeerAnswer:
        verdict = real["is_correct"](completion, {"answer": problem.solution})
        return [verdict, real["extract_answer"](completion)]

    return judge


def ai_benchmarks(path: Path) -> Judge:
    """Judge with the class of ai-benchmarks."""
    real = compiled(path, "GSM8KBenchmark", EvaluationResult=SimpleNamespace, BaseBenchmark=object)
    benchmark = object.__new__(real["GSM8KBenchmark"])

    def judge(completion: str, problem: Problem) -> PeerAnswer:
        benchmark._tasks = {"0000": SimpleNamespace(data={"answer": problem.solution})}
        verdict = benchmark.evaluate("0000", completion).score == 1.0
        return [verdict, benchmark._match_answer_number(completion)]

    return judge


def olmes(path: Path) -> Judge:
    """Judge with a public port of oe_eval's gsm8k.py; oe_eval itself was not to be had."""
    import numpy as np

    names = "exact_match_hf GSM8K_REGEXES_TO_IGNORE extract_gsm8k_number"
    real = compiled(path, names, np=np, string=string)
    extract: Callable[[str], str] = real["extract_gsm8k_number"]

    def judge(completion: str, problem: Problem) -> PeerAnswer:
        read, gold = extract(completion), extract(problem.gold)
        ignored = real["GSM8K_REGEXES_TO_IGNORE"]
        verdict = real["exact_match_hf"]([read], [gold], ignored, ignore_case=True) == 1.0
        return [verdict, read if any(map(str.isdecimal, read)) else None]

    return judge


# Scorer -> a file of real code that no registry has, its origin, and what judges with it.
FILES = {
    "openai/2021": (
        "dataset.py", "openai/grade-school-math @ 3101c7d5, grade_school_math/", openai
    ),
    "ai-benchmarks/gsm8k": (
        "gsm8k_benchmark.py", "jaimetcf/ai-benchmarks @ 1dce72b2, benchmarks/gsm8k/", ai_benchmarks
    ),
    "olmes/gsm8k-tulu": (
        "olmes_port.py", "a port of oe_eval/tasks/oe_eval_tasks/gsm8k.py:232-266", olmes
    ),
}  # fmt: skip
