"""verifiers: MathRubric, verify_boxed_math_answer, the GSM8K environments of versions 0 and 1.

https://github.com/PrimeIntellect-ai/verifiers: PyPI 0.3.0, verifiers/rubrics/math_rubric.py lines
19-135, utils/data_utils.py lines 21-59 (BOXED_SYSTEM_PROMPT too), parsers/maybe_think_parser.py;
PyPI 0.4.0, verifiers/v1/utils/score.py lines 20-38 and 89-119; git a60a606e,
environments/gsm8k/gsm8k/taskset.py and verify.py. Decoding is left to the caller.
"""

from __future__ import annotations

from gradeschool.completion import Decoding
from gradeschool.library_scorer import library_scorer
from gradeschool.problem import MARKER, Problem
from gradeschool.prompts import Template
from gradeschool.protocol import Protocol

# Prompts that define the protocols, verbatim.
INSTRUCTION = (
    "Solve the grade-school math problem. Reason step by step, then give the final "
    "answer as a single number on the last line, prefixed with '#### ' (e.g. '#### 42')."
)
BOXED_SYSTEM = "Please reason step by step, and put your final answer within \\boxed{}."
SERVERS_OWN = Decoding(temperature=None, top_p=None, max_tokens=None)


V1 = Protocol(
    name="verifiers/gsm8k-v1",
    summary="zero-shot, one user message asks for '#### N' on the last line",
    source="PrimeIntellect-ai/verifiers @ a60a606e, environments/gsm8k/gsm8k/taskset.py",
    render=Template(question=f"{INSTRUCTION}\n\n{{question}}", form="message"),
    decoding=SERVERS_OWN,
    scorers=("verifiers/gsm8k-v1",),
    is_chat=True,
)

LEGACY = Protocol(
    name="verifiers/gsm8k@<=0.3.0",
    summary="zero-shot, a system message asks for a box",
    source="verifiers 0.3.0, environment gsm8k; verifiers/utils/data_utils.py",
    render=Template(question="{question}", form="message", system=BOXED_SYSTEM),
    decoding=SERVERS_OWN,
    scorers=("verifiers/math-rubric",),
    is_chat=True,
)


def first_hash_answer(problem: Problem) -> str:
    """Return the text between the first two "####" of the solution, as `extract_hash_answer`."""
    parts = problem.solution.split(MARKER)
    return parts[1].strip() if len(parts) > 1 else problem.gold


RUBRIC_SOURCE = "verifiers 0.3.0, verifiers/rubrics/math_rubric.py, MathRubric"

MATH_RUBRIC = library_scorer(
    "verifiers/math-rubric",
    summary="the last \\boxed{} after </think>, compared by Math-Verify; no box, no answer",
    source=RUBRIC_SOURCE,
    function="gradeschool.protocols.by_math_verify:verifiers_rubric",
    how="the last \\boxed{}",
    reference=first_hash_answer,
)
MATH_RUBRIC_LENIENT = library_scorer(
    "verifiers/math-rubric-lenient",
    summary="the last \\boxed{} after </think>, else all of it, compared by Math-Verify",
    source=RUBRIC_SOURCE,
    function="gradeschool.protocols.by_math_verify:verifiers_rubric_lenient",
    how="the last \\boxed{}, else the whole reply",
    reference=first_hash_answer,
)
BOXED_MATH_ANSWER = library_scorer(
    "verifiers/boxed-math-answer",
    summary="the last \\boxed{} after thinking that has ended, compared by Math-Verify",
    source="verifiers 0.4.0, verifiers/v1/utils/score.py, verify_boxed_math_answer",
    function="gradeschool.protocols.by_math_verify:verifiers_boxed_answer",
    how="the last \\boxed{}",
)
GSM8K_V1 = library_scorer(
    "verifiers/gsm8k-v1",
    summary="the line after the last '####', else the whole reply, compared by Math-Verify",
    source="PrimeIntellect-ai/verifiers @ a60a606e, environments/gsm8k/gsm8k/verify.py",
    function="gradeschool.protocols.by_math_verify:verifiers_gsm8k_v1",
    how="the line after the last '####', else the whole reply",
)


SCORERS = (MATH_RUBRIC, MATH_RUBRIC_LENIENT, BOXED_MATH_ANSWER, GSM8K_V1)
PROTOCOLS = (LEGACY, V1)
