"""Every annotation computed again, by the calculator that models are given."""

from __future__ import annotations

from fractions import Fraction

from gradeschool import calculator


def check_annotations(line: str) -> None:
    """Compute every annotation of a line again; raises ValueError where one is false."""
    for part in line.split("<<")[1:]:
        annotation, _, after = part.partition(">>")
        expression, _, result = annotation.rpartition("=")
        value = calculator.evaluate(expression)
        if value is None or value != Fraction(result) or calculator.write(value) != result:
            raise ValueError(f"a false annotation: {line!r}")
        shown = after[: len(result)]
        if not (shown == result or shown.startswith(result.split(".")[0])):
            raise ValueError(f"an annotation's result is not repeated: {line!r}")
