r"""lighteval: GSM8K by its own and by its inspect back end; MGSM, AIME, GSM-Plus, MATH-500.

`lighteval/gsm8k` and `lighteval/gsm8k-inspect`: the metric of the task and its inspect scorer.
`lighteval/mgsm`: the whole completion must be the number.

PyPI 0.13.0: tasks/lighteval_task.py lines 380-396, tasks/prompt_manager.py lines 91-172;
metrics/metrics.py lines 84-110 and 262-276, metrics/dynamic_metrics.py lines 156-262,
metrics/metrics_sample.py lines 81-167 (`ExactMatches` with strip_strings).
"""

from __future__ import annotations

from gradeschool.prompts import draw_rows, rationale
from gradeschool.protocols import Problem, Scorer, library_scorer
from gradeschool.protocols.extractions import gold_as_it_is, gold_without_commas, whole_text

DRAW_SHUFFLED = draw_rows(42, shuffled=True)
METRICS = "lighteval 0.13.0, src/lighteval/metrics/metrics.py"


def labelled_solution(problem: Problem) -> str:
    """Return the label and the reference solution; the gold if the solution has no box."""
    solution = rationale(problem)
    return f"ANSWER: {solution}" if "\\boxed" in solution else f"ANSWER: {problem.gold}"


SCORERS = (
    *(
        library_scorer(
            f"lighteval/{name}",
            summary=summary,
            source=f"{METRICS}, {metric}",
            function=f"{__package__}.library:{function}",
            how="lighteval's reading",
            reference=reference,
        )
        for name, summary, metric, function, reference in (
            (
                "gsm8k",
                "extractive_match: boxes, 'answer ... N', then the last number, read by priority "
                "on both sides; the gold is read out of the whole reference solution",
                "Metrics.expr_gold_metric",
                "extractive_match",
                lambda problem: f" {problem.solution}",
            ),
            (
                "gsm8k-inspect",
                "math_scorer: the value and the characters it was read from are those of the gold",
                "math_scorer",
                "math_scorer",
                gold_as_it_is,
            ),
            (
                "aime",
                "pass@1: 'final answer is N. I hope', boxes, 'answer ... N', the last number, read "
                "by priority on both sides",
                "Metrics.pass_at_k_math",
                "pass_at_1",
                gold_as_it_is,
            ),
            (
                "gsm-plus",
                "extractive_match: boxes, 'answer ... N', then the last number, against the gold "
                "alone",
                "Metrics.expr_gold_metric",
                "extractive_match",
                gold_as_it_is,
            ),
            (
                "math-500",
                "pass@1, as lighteval/aime; the gold is read out of the whole solution",
                "Metrics.pass_at_k_math",
                "pass_at_1_of_solutions",
                labelled_solution,
            ),
        )
    ),
    Scorer(
        name="lighteval/mgsm",
        summary="the whole text without white space at its ends, equal as a string",
        source=f"{METRICS}, Metrics.exact_match",
        reference=lambda problem: gold_without_commas(problem).strip(),
        extract=whole_text(),
        dataset="mgsm",
    ),
)
