"""Math-Verify: parse and verify with their defaults, and its own GSM8K task.

https://github.com/huggingface/Math-Verify, PyPI 0.9.0, src/math_verify/parser.py and grader.py.
"""

from __future__ import annotations

from gradeschool.library_scorer import library_scorer

SOURCE = "math-verify 0.9.0 (huggingface/Math-Verify), src/math_verify/parser.py and grader.py"
HOW = "Math-Verify's reading"

DEFAULT = library_scorer(
    "math-verify/default",
    summary="Math-Verify's parse and verify with their defaults, the gold as it is",
    source=SOURCE,
    function="gradeschool.protocols.by_math_verify:default",
    how=HOW,
)
BOXED_GOLD = library_scorer(
    "math-verify/boxed-gold",
    summary="Math-Verify's parse and verify with their defaults, the gold in a \\boxed{}",
    source=SOURCE,
    function="gradeschool.protocols.by_math_verify:boxed_gold",
    how=HOW,
)


SCORERS = (DEFAULT, BOXED_GOLD)
PROTOCOLS = ()
