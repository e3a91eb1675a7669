"""`evalscope/gsm8k`: Math-Verify reads the output, then what it read, boxes first.

https://github.com/modelscope/evalscope, PyPI 1.14.1: evalscope/metrics/math/parser.py lines 60-100,
191-308; evalscope/metrics/nlp/metrics.py lines 27-60 (Accuracy, numeric=True).
"""

from __future__ import annotations

from gradeschool.library_scorer import library_scorer

GSM8K = library_scorer(
    "evalscope/gsm8k",
    summary="Math-Verify, first match only, boxes first; the string it reads is parsed once more",
    source="evalscope 1.14.1, evalscope/metrics/math/parser.py and metrics/nlp/metrics.py",
    function=f"{__package__}.library:accuracy",
    how="evalscope's reading by Math-Verify",
)
