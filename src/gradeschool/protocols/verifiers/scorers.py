"""`verifiers/math-rubric`, `-lenient` and `verifiers/gsm8k-v1`.

https://github.com/PrimeIntellect-ai/verifiers: PyPI 0.3.0, verifiers/rubrics/math_rubric.py lines
19-135, utils/data_utils.py lines 21-59, parsers/maybe_think_parser.py; git a60a606e,
environments/gsm8k/gsm8k/taskset.py and verify.py.
"""

from __future__ import annotations

from gradeschool.library_scorer import library_scorer
from gradeschool.problem import MARKER, Problem


def first_hash_answer(problem: Problem) -> str:
    """Return what stands between the first two "####" of the solution: `extract_hash_answer`."""
    parts = problem.solution.split(MARKER)
    return parts[1].strip() if len(parts) > 1 else problem.gold


RUBRIC_SOURCE = "verifiers 0.3.0, verifiers/rubrics/math_rubric.py, MathRubric"

MATH_RUBRIC = library_scorer(
    "verifiers/math-rubric",
    summary="the last \\boxed{} behind </think>, compared by Math-Verify; no box, no answer",
    source=RUBRIC_SOURCE,
    function=f"{__package__}.library:math_rubric",
    how="the last \\boxed{}",
    reference=first_hash_answer,
)
MATH_RUBRIC_LENIENT = library_scorer(
    "verifiers/math-rubric-lenient",
    summary="the last \\boxed{} behind </think>, else all of it, compared by Math-Verify",
    source=RUBRIC_SOURCE,
    function=f"{__package__}.library:math_rubric_lenient",
    how="the last \\boxed{}, else the whole reply",
    reference=first_hash_answer,
)
GSM8K_V1 = library_scorer(
    "verifiers/gsm8k-v1",
    summary="the line behind the last '####', else the whole reply, compared by Math-Verify",
    source="PrimeIntellect-ai/verifiers @ a60a606e, environments/gsm8k/gsm8k/verify.py",
    function=f"{__package__}.library:gsm8k_v1",
    how="the line behind the last '####', else the whole reply",
)
