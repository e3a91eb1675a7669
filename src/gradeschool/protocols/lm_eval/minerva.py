r"""minerva_math500: the four examples of Lewkowycz et al. 2022, their normal form, sympy.

`lm-eval/minerva-math500`: the text in "Final Answer: The final answer is ... I hope it is
correct.", equal to the gold in the normal form of the Minerva paper (appendix D), else as parsed by
sympy's LaTeX parser. `lm-eval/minerva-math500/math-verify`: the task's second metric.

https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/minerva_math/utils.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradeschool.completion import Decoding, Prompt
from gradeschool.library_scorer import library_scorer
from gradeschool.problem import Problem
from gradeschool.prompts.rendering import rationale, shots_as_text
from gradeschool.protocol import Protocol
from gradeschool.protocols.lm_eval.prompts import MAX_TOKENS

SOURCE = "EleutherAI/lm-evaluation-harness @ 4e7e0d47, lm_eval/tasks/minerva_math"


def prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the examples with their solutions, and the problem."""
    examples = [(_question(shot), rationale(shot)) for shot in shots]
    for problem in problems:
        yield Prompt(text=shots_as_text(examples, _question(problem)))


def _question(problem: Problem) -> str:
    return f"Problem:\n{problem.question}\n\nSolution:"


def boxed_solution(problem: Problem) -> str:
    r"""Return the reference solution; if it has no box, the gold in a box."""
    solution = rationale(problem)
    return solution if "\\boxed" in solution else f"\\boxed{{{problem.gold}}}"


EXACT = library_scorer(
    "lm-eval/minerva-math500",
    summary="the first 'Final Answer: The final answer is N. I hope it is correct.', Minerva's "
    "normal form, else equal by sympy",
    source=f"{SOURCE}/utils.py, process_results: exact_match",
    function=f"{__package__}.minerva_library:exact_match",
    how="between 'The final answer is' and 'I hope it is correct'",
    reference=boxed_solution,
)
MATH_VERIFY = library_scorer(
    "lm-eval/minerva-math500/math-verify",
    summary="Math-Verify's parse and verify of the whole solution and the whole completion",
    source=f"{SOURCE}/utils.py, process_results: math_verify",
    function="gradeschool.protocols.math_verify.library:default",
    how="Math-Verify's reading",
    reference=boxed_solution,
)
MINERVA_SCORERS = (EXACT, MATH_VERIFY)
MINERVA = Protocol(
    name="lm-eval/minerva-math500",
    summary="the 4 examples of Lewkowycz et al., Problem/Solution, greedy, 256 tokens",
    source=f"{SOURCE}/minerva_math500.yaml (version 3.1)",
    render=prompts,
    decoding=Decoding(temperature=0.0, max_tokens=MAX_TOKENS, stop=("Problem:",)),
    scorers=tuple(scorer.name for scorer in MINERVA_SCORERS),
    shots="minerva:shots",
    shot_count=4,
    dataset="math500",
)
