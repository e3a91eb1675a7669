"""Runs inside `.venvs/functions`: answers with what verl, oumi, HELM and SGLang themselves say.

Reads one JSON object a line, writes one a line, in the same order:
    {"completion", "solution", "scorers"}  ->  {scorer: [verdict, extracted string]}
The packages cannot be imported without torch and more; the functions named below are compiled from
their files as they stand there. HELM does not hand out what it extracts: that is read once more.
vLLM's wheel has no tests: its function is SGLang's, letter for letter, with the module regex.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import sys
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.peers.opencompass_worker import compiled

PeerAnswer = list[Any]
# What the recipes of verl and oumi take for the ground truth: examples/data_preprocess/gsm8k.py.
TRUTH = re.compile(r"#### (\-?[0-9\.\,]+)")
HELM_NUMBER = re.compile(r"-?[\d,]+(?:.\d+)?")


def file_of(package: str, name: str) -> Path:
    """Return a file of an installed package, which is not imported."""
    return Path(str(distribution(package).locate_file(name)))


def truth(solution: str) -> str:
    """Return the label that a recipe makes of a solution."""
    match = TRUTH.search(solution)
    assert match is not None
    return match.group(1).replace(",", "")


def scorers() -> dict[str, Callable[[str, str], PeerAnswer]]:
    """Return every scorer: (completion, solution) -> its verdict and what it extracts."""
    verl = compiled(
        file_of("verl", "verl/utils/reward_score/gsm8k.py"),
        ("_SOLUTION_CLIP_CHARS", "extract_solution", "compute_score"),
    )
    oumi = compiled(
        file_of("oumi", "oumi/datasets/grpo/rewards/gsm8k_reward.py"),
        ("_extract_solution", "gsm8k_reward"),
    )
    names = ("exact_match", "exact_match_indicator", "final_number_exact_match")
    helm = compiled(
        file_of("crfm-helm", "helm/benchmark/metrics/evaluate_reference_metrics.py"), names
    )

    serving = file_of("sglang", "sglang/test/few_shot_gsm8k.py")

    def by_serving(module: Any) -> Callable[[str, str], PeerAnswer]:
        names = ("INVALID", "get_answer_value")
        space = compiled(serving, names, ast=ast, re=module)
        value = space["get_answer_value"]

        def judge(text: str, solution: str) -> PeerAnswer:
            read, label = value(text), value(solution)
            if label == space["INVALID"]:
                return ["error", "AssertionError"]
            return [read == label, None if read == space["INVALID"] else str(read)]

        return judge

    matches = compiled(
        file_of("lighteval", "lighteval/metrics/metrics_sample.py"),
        ("ExactMatches",),
        SampleLevelComputation=object,
        Callable=Callable,
    )["ExactMatches"](strip_strings=True)

    def by_lighteval(text: str, solution: str) -> PeerAnswer:
        gold = f" {solution.split('####')[-1].strip().replace(',', '')}"
        return [matches.compute_one_item(gold, text) == 1, text.strip()]

    def by_verl(method: str) -> Callable[[str, str], PeerAnswer]:
        def judge(text: str, solution: str) -> PeerAnswer:
            score = verl["compute_score"](text, truth(solution), method=method)
            return [score == 1.0, verl["extract_solution"](text, method)]

        return judge

    def by_oumi(text: str, solution: str) -> PeerAnswer:
        score = oumi["gsm8k_reward"]("", text, truth(solution), {})
        return [score == 1.0, oumi["_extract_solution"](text)]

    def by_helm(metric: str, read: Callable[[str], str]) -> Callable[[str, str], PeerAnswer]:
        def judge(text: str, solution: str) -> PeerAnswer:
            text, gold = text.strip(), as_sentence(solution)
            return [helm[metric](gold, text) == 1.0, read(text)]

        return judge

    return {
        "verl-strict": by_verl("strict"),
        "verl-flexible": by_verl("flexible"),
        "oumi": by_oumi,
        "helm-final-number": by_helm("final_number_exact_match", last_number),
        "lighteval-mgsm": by_lighteval,
        "sglang": by_serving(re),
        "vllm": by_serving(importlib.import_module("regex")),
        "helm-indicator": by_helm("exact_match_indicator", last_token),
    }


def as_sentence(solution: str) -> str:
    """Return the reference as HELM's scenario writes it."""
    return solution.replace("####", "The answer is").replace("\n", " ") + "."


def last_number(text: str) -> str:
    """Return what final_number_exact_match compares."""
    numbers = HELM_NUMBER.findall(text)
    return numbers[-1].replace(",", "") if numbers else ""


def last_token(text: str) -> str:
    """Return what exact_match_indicator compares."""
    return text.split(" ")[-1].strip()


def main() -> None:
    """Answer until the input ends."""
    judges = scorers()
    for line in sys.stdin:
        row = json.loads(line)
        answers: dict[str, PeerAnswer] = {}
        for name in row["scorers"]:
            try:
                answers[name] = judges[name](row["completion"], row["solution"])
            except Exception as error:  # noqa: BLE001  (the harness's failure is the answer)
                answers[name] = ["error", type(error).__name__]
        print(json.dumps(answers), flush=True)


if __name__ == "__main__":
    main()
