"""Where the verdicts of golden cases come from: for every package, what says the truth."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Protocol

from gradeschool.problem import Problem
from gradeschool.prompts import MGSM as LANGUAGES
from gradeschool.protocols.registry import all_scorers
from tests.peers.definitions import DEFINITIONS, PeerAnswer
from tests.peers.install import missing
from tests.peers.opencompass_worker import compiled
from tests.peers.peer import Peer

Judge = Callable[[str, Problem], dict[str, PeerAnswer]]  # a completion and its problem, by scorer


class EnterContext(Protocol):
    """What keeps a peer running until the cases are judged: `ExitStack.enter_context`."""

    def __call__(self, peer: Peer, /) -> Peer: ...


Maker = Callable[[EnterContext, Path | None], Judge]


class Needs(LookupError):
    """The oracle is not at hand; says what it needs."""


def harness(name: str, peer_scorers: Mapping[str, str]) -> Maker:
    """Return the maker of a judge that asks a peer; scorer of the worker -> scorer."""

    def make(enter: EnterContext, files: Path | None) -> Judge:
        if reason := missing(name):
            raise Needs(reason)
        peer = enter(Peer(name))

        def judge(completion: str, problem: Problem) -> dict[str, PeerAnswer]:
            row = {"completion": completion, "gold": problem.gold, "solution": problem.solution}
            answers = peer.answer(row | {"scorers": list(peer_scorers)})
            return {scorer: answers[peer_scorer] for peer_scorer, scorer in peer_scorers.items()}

        return judge

    return make


def definition(name: str) -> Maker:
    """Return the maker of a judge by a definition written down in definitions.py."""

    def make(enter: EnterContext, files: Path | None) -> Judge:
        return lambda completion, problem: {name: DEFINITIONS[name](completion, problem.gold)}

    return make


def _file(files: Path | None, name: str, origin: str) -> Path:
    if files is None or not (files / name).is_file():
        raise Needs(f"needs {name} from {origin} in the folder that --files names")
    return files / name


def openai(enter: EnterContext, files: Path | None) -> Judge:
    """Judge with the functions of OpenAI's dataset.py."""
    path = _file(files, "dataset.py", "openai/grade-school-math @ 3101c7d5, grade_school_math/")
    real = compiled(path, ("ANS_RE", "INVALID_ANS", "extract_answer", "is_correct"))

    def judge(completion: str, problem: Problem) -> dict[str, PeerAnswer]:
        verdict = real["is_correct"](completion, {"answer": problem.solution})
        return {"openai/2021": [verdict, real["extract_answer"](completion)]}

    return judge


def ai_benchmarks(enter: EnterContext, files: Path | None) -> Judge:
    """Judge with the class of ai-benchmarks."""
    path = _file(
        files, "gsm8k_benchmark.py", "jaimetcf/ai-benchmarks @ 1dce72b2, benchmarks/gsm8k/"
    )
    real = compiled(
        path, ("GSM8KBenchmark",), EvaluationResult=SimpleNamespace, BaseBenchmark=object
    )
    benchmark = object.__new__(real["GSM8KBenchmark"])

    def judge(completion: str, problem: Problem) -> dict[str, PeerAnswer]:
        benchmark._tasks = {"0000": SimpleNamespace(data={"answer": problem.solution})}
        verdict = benchmark.evaluate("0000", completion).score == 1.0
        return {"ai-benchmarks/gsm8k": [verdict, benchmark._match_answer_number(completion)]}

    return judge


def olmes(enter: EnterContext, files: Path | None) -> Judge:
    """Judge with a public port of oe_eval's gsm8k.py; oe_eval itself was not to be had."""
    import numpy as np

    path = _file(files, "olmes_port.py", "a port of oe_eval/tasks/oe_eval_tasks/gsm8k.py:232-266")
    names = ("exact_match_hf", "GSM8K_REGEXES_TO_IGNORE", "extract_gsm8k_number")
    real = compiled(path, names, np=np, string=string)
    extract: Callable[[str], str] = real["extract_gsm8k_number"]

    def judge(completion: str, problem: Problem) -> dict[str, PeerAnswer]:
        read, gold = extract(completion), extract(problem.gold)
        ignored = real["GSM8K_REGEXES_TO_IGNORE"]
        verdict = real["exact_match_hf"]([read], [gold], ignored, ignore_case=True) == 1.0
        return {"olmes/gsm8k-tulu": [verdict, read if any(map(str.isdecimal, read)) else None]}

    return judge


def lm_eval_scorers() -> dict[str, str]:
    """Return the scorers for which lm-eval 0.4.13 speaks; peer_scorer of the worker -> scorer."""
    names = [
        name
        for name in all_scorers()
        if name.startswith("lm-eval/") and "@" not in name and "minerva" not in name
    ]
    return {name.removeprefix("lm-eval/"): name for name in names}


# Filter of a gsm8k_platinum task -> the scorer of gsm8k that it is to the letter.
PLATINUM = {
    f"gsm8k-platinum{task}/{filter}": f"lm-eval/gsm8k{task}/{filter}"
    for task in ("", "-cot", "-cot-zeroshot", "-cot-llama")
    for filter in ("strict-match", "flexible-extract")
} | {
    "gsm8k-platinum-cot-self-consistency/score-first": (
        "lm-eval/gsm8k-cot-self-consistency/score-first"
    )
}

# environment -> {peer_scorer of the worker: scorer}; each version is the last of its era
INSPECT: dict[str, dict[str, str]] = {
    "inspect_ai": {"match": "inspect/match-numeric@>=0.3.253", "aime": "inspect/aime2025"},
    "inspect_ai_0_3_260": {"match": "inspect/match-numeric@0.3.253-0.3.260"},
    "inspect_ai_0_3_252": {"match": "inspect/match-numeric@0.3.221-0.3.252"},
    "inspect_ai_0_3_220": {"match": "inspect/match-numeric@<=0.3.220"},
}
LIGHTEVAL = {name: f"lighteval/{name}" for name in ("gsm-plus", "aime", "math-500")}
MINERVA = {name: f"lm-eval/{name}" for name in ("minerva-math500", "minerva-math500/math-verify")}
OPENCOMPASS = {
    "gsm8k": "opencompass/gsm8k",
    "gsm8k-0shot-v2": "opencompass/gsm8k-0shot-v2",
    "gsm-hard": "opencompass/gsm-hard",
    **{f"mgsm-{language}": f"opencompass/mgsm-{language}" for language in LANGUAGES},
}
FUNCTIONS_OF = {
    "verl-strict": "verl/gsm8k/strict",
    "verl-flexible": "verl/gsm8k/flexible",
    "oumi": "oumi/gsm8k",
    "helm-final-number": "helm/gsm/final-number",
    "helm-indicator": "helm/gsm/exact-match-indicator",
    "lighteval-mgsm": "lighteval/mgsm",
    "sglang": "sglang/gsm8k-few-shot",
    "vllm": "vllm/gsm8k",
}
FUNCTIONS = "the real functions, compiled alone, run"


def _only(peer_scorers: Mapping[str, str], *starts: str) -> dict[str, str]:
    return {
        peer_scorer: scorer
        for peer_scorer, scorer in peer_scorers.items()
        if scorer.startswith(starts)
    }


# package -> [(how the verdict was got, maker of the judge), ...]
ORACLES: dict[str, list[tuple[str, Maker]]] = {
    "lm_eval": [
        ("lm-eval 0.4.13, run", harness("lm_eval", lm_eval_scorers())),
        ("lm-eval 0.4.13, run", harness("lm_eval_math", MINERVA)),
    ],
    "evalscope": [("evalscope 1.14.1, run", harness("evalscope", {"aime": "evalscope/aime"}))],
    "pal": [("the published comparison, run", definition("pal/gsm-hard"))],
    "inspect_ai": [
        ("the last inspect_ai of each era, run", harness(name, peer_scorers))
        for name, peer_scorers in INSPECT.items()
    ],
    "opencompass": [
        (
            f"OpenCompass 0.5.4: {FUNCTIONS}",
            harness("opencompass", OPENCOMPASS | {"math-verify": "opencompass/math-verify"}),
        )
    ],
    **{
        package: [
            (
                f"the wheel's functions: {FUNCTIONS}",
                harness("functions", _only(FUNCTIONS_OF, f"{package}/")),
            )
        ]
        for package in ("verl", "oumi", "helm")
    },
    "lighteval": [
        (
            f"lighteval 0.13.0: {FUNCTIONS}",
            harness("functions", {"lighteval-mgsm": "lighteval/mgsm"}),
        ),
        ("lighteval 0.13.0, run", harness("lighteval", LIGHTEVAL)),
    ],
    "serving": [
        (
            f"sglang 0.5.23: {FUNCTIONS}",
            harness("functions", _only(FUNCTIONS_OF, "vllm/", "sglang/")),
        )
    ],
    "openai": [(f"dataset.py of 2021: {FUNCTIONS}", openai)],
    "ai_benchmarks": [(f"gsm8k_benchmark.py: {FUNCTIONS}", ai_benchmarks)],
    "olmes": [(f"a public port of oe_eval: {FUNCTIONS}", olmes)],
    "multi_pattern": [("the documented definition, run", definition("multi-pattern"))],
    "numeric_equality": [("the proposed definition, run", definition("numeric-equality"))],
}
