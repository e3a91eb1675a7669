"""Math-Verify: parse and verify with their defaults, and its own GSM8K task."""

from gradeschool.protocols import library_scorer

SCORERS = tuple(
    library_scorer(
        f"math-verify/{name}",
        summary=f"Math-Verify's parse and verify with their defaults, {gold}",
        source="math-verify 0.9.0 (huggingface/Math-Verify), src/math_verify/parser.py and "
        "grader.py",
        function=f"gradeschool.protocols.by_math_verify:{name.replace('-', '_')}",
        how="Math-Verify's reading",
    )
    for name, gold in (
        ("default", "the gold as it is"),
        ("boxed-gold", "the gold in a \\boxed{}"),
    )
)
