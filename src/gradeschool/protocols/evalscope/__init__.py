r"""EvalScope: GSM8K, MATH-500, AIME, MGSM and CMATH; prompts ask for a box, Math-Verify parses it.

`evalscope/gsm8k`: Math-Verify parses the output, then parses the result again, boxes first; the
first four train rows are the examples. `evalscope/aime`: the same, but the answer must be written
as an integer.

evalscope/metrics/math/parser.py lines 60-100, 191-308; evalscope/metrics/nlp/metrics.py lines 27-60
(Accuracy, numeric=True); decoding: evalscope/config.py.
"""

from __future__ import annotations

from gradeschool.protocols import library_scorer

METRICS = "evalscope 1.14.1, evalscope/metrics/math/parser.py"

SCORERS = tuple(
    library_scorer(
        f"evalscope/{name}",
        summary=summary,
        source=source,
        function=f"gradeschool.protocols.by_math_verify:{function}",
        how="evalscope's reading by Math-Verify",
    )
    for name, summary, source, function in (
        (
            "gsm8k",
            "Math-Verify, first match only, boxes first; the string it reads is parsed once more",
            f"{METRICS} and metrics/nlp/metrics.py",
            "evalscope_accuracy",
        ),
        (
            "aime",
            "Math-Verify, boxes first; what it reads must be written as an integer, and equal",
            f"{METRICS}: compare_answers(integer_only=True)",
            "evalscope_integer_accuracy",
        ),
    )
)
