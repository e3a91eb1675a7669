r"""verifiers: MathRubric, verify_boxed_math_answer, the GSM8K environments of versions 0 and 1.

PyPI 0.3.0, verifiers/rubrics/math_rubric.py lines 19-135, utils/data_utils.py lines 21-59
(BOXED_SYSTEM_PROMPT too), parsers/maybe_think_parser.py; PyPI 0.4.0, verifiers/v1/utils/score.py
lines 20-38 and 89-119; git a60a606e, environments/gsm8k/gsm8k/taskset.py and verify.py. Decoding is
left to the caller.
"""

from __future__ import annotations

from gradeschool.problem import MARKER
from gradeschool.protocols import Problem, library_scorer
from gradeschool.protocols.extractions import gold_as_it_is

GIT = "PrimeIntellect-ai/verifiers @ a60a606e, environments/gsm8k/gsm8k"
RUBRIC = "verifiers 0.3.0, verifiers/rubrics/math_rubric.py, MathRubric"


def first_hash_answer(problem: Problem) -> str:
    """Return the text between the first two "####" of the solution, as `extract_hash_answer`."""
    parts = problem.solution.split(MARKER)
    return parts[1].strip() if len(parts) > 1 else problem.gold


SCORERS = tuple(
    library_scorer(
        f"verifiers/{name}",
        summary=f"{summary}, compared by Math-Verify{no_box}",
        source=source,
        function=f"gradeschool.protocols.by_math_verify:verifiers_{function}",
        how=how,
        reference=reference,
    )
    for name, function, summary, no_box, source, how, reference in (
        ("math-rubric", "rubric", "the last \\boxed{} after </think>", "; no box, no answer",
         RUBRIC, "the last \\boxed{}", first_hash_answer),
        ("math-rubric-lenient", "rubric_lenient",
         "the last \\boxed{} after </think>, else all of it", "", RUBRIC,
         "the last \\boxed{}, else the whole reply", first_hash_answer),
        ("boxed-math-answer", "boxed_answer", "the last \\boxed{} after thinking that has ended",
         "", "verifiers 0.4.0, verifiers/v1/utils/score.py, verify_boxed_math_answer",
         "the last \\boxed{}", gold_as_it_is),
        ("gsm8k-v1", "gsm8k_v1", "the line after the last '####', else the whole reply", "",
         f"{GIT}/verify.py", "the line after the last '####', else the whole reply",
         gold_as_it_is),
    )
)  # fmt: skip
