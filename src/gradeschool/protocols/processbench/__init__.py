"""ProcessBench (Zheng et al. 2024): a critic boxes the first wrong step of a solution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from gradeschool.verdict import Answer

BOX = "\\boxed{"  # it ends at the first brace: \\boxed\{([^}]*)\}


def last_box(text: str, reference: str = "") -> Answer | None:
    """Extract the content of the last box, without outer spaces."""
    span, end = None, -1
    while (start := text.find(BOX, end + 1)) >= 0:
        inside = start + len(BOX)
        end = text.find("}", inside)
        if end < 0:  # upstream's regular expression is quadratic here, and finds nothing
            break
        span = (inside, end)
    if span is None:
        return None
    content = text[slice(*span)]
    return Answer(content, content.strip(), span, "the last box")


def parse_index(value: str) -> int | None:
    """Return the integer in a box as Python's int() parses it, None if it is not an integer."""
    try:
        return int(value)
    except ValueError:
        return None


def majority(texts: Iterable[str]) -> int | None:
    """Return the index that most critiques box; None if none boxes one.

    Boxes vote as strings, and the first wins a tie; critiques without a box do not vote.
    """
    boxes = Counter(box.value for text in texts if (box := last_box(text)) is not None)
    return parse_index(boxes.most_common(1)[0][0]) if boxes else None


def compare(value: str, reference: str) -> bool:
    """Compare as integers."""
    return parse_index(value) == parse_index(reference) is not None
