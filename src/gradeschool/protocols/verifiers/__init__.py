r"""verifiers: MathRubric, verify_boxed_math_answer, the GSM8K environments of versions 0 and 1.

PyPI 0.3.0, verifiers/rubrics/math_rubric.py lines 19-135, utils/data_utils.py lines 21-59
(BOXED_SYSTEM_PROMPT too), parsers/maybe_think_parser.py; PyPI 0.4.0, verifiers/v1/utils/score.py
lines 20-38 and 89-119; git a60a606e, environments/gsm8k/gsm8k/taskset.py and verify.py. Decoding is
left to the caller.
"""

from __future__ import annotations

from gradeschool.problem import MARKER, Problem


def first_hash_answer(problem: Problem) -> str:
    """Return the text between the first two "####" of the solution, as `extract_hash_answer`."""
    parts = problem.solution.split(MARKER)
    return parts[1].strip() if len(parts) > 1 else problem.gold
