"""inspect_ai's scorer `math()`, run in a child process: needs the extra `inspect-ai`.

src/inspect_ai/scorer/_math.py, `math`, calls these two functions one after the other in a thread,
with a time limit for each, which the limit of the worker replaces.
"""

from __future__ import annotations

from inspect_ai.scorer._math import _parse_targets_worker, _score_answer_worker

LONGEST = 1000  # characters returned of an extracted answer


def math(text: str, gold: str) -> tuple[str | None, bool]:
    """Judge as `math()`. Raises ValueError on a gold that it cannot parse."""
    targets, error = _parse_targets_worker((gold,))
    if error is not None:
        raise ValueError(f"Could not parse any mathematical target: {error}.")
    score = _score_answer_worker(text, targets)
    return score.answer and score.answer[:LONGEST], score.status == "correct"
