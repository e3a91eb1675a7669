"""`lighteval/gsm8k` and `lighteval/gsm8k-inspect`: the metric of the task and its inspect scorer.

https://github.com/huggingface/lighteval, PyPI 0.13.0: src/lighteval/tasks/tasks/gsm8k.py,
metrics/metrics.py lines 84-110 and 262-276, metrics/dynamic_metrics.py lines 156-262.
"""

from __future__ import annotations

from gradeschool.library_scorer import library_scorer

GSM8K = library_scorer(
    "lighteval/gsm8k",
    summary="extractive_match: boxes, 'answer ... N', then the last number, read by priority on "
    "both sides; the gold is read out of the whole reference solution",
    source="lighteval 0.13.0, src/lighteval/metrics/metrics.py, Metrics.expr_gold_metric",
    function=f"{__package__}.library:extractive_match",
    how="lighteval's reading",
    reference=lambda problem: f" {problem.solution}",
)
GSM8K_INSPECT = library_scorer(
    "lighteval/gsm8k-inspect",
    summary="math_scorer: the value and the characters it was read from are those of the gold",
    source="lighteval 0.13.0, src/lighteval/metrics/metrics.py, math_scorer",
    function=f"{__package__}.library:math_scorer",
    how="lighteval's reading",
)
