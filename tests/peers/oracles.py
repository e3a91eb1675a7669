"""Where the verdicts of golden cases come from: what says the truth of each scorer."""

from __future__ import annotations

from gradeschool.protocols.registry import all_scorers


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
