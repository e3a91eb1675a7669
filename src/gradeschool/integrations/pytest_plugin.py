"""A pytest plugin: the fixture `assert_accuracy`, for tests of a model's answers.

def test_the_model_still_adds(assert_accuracy):
    assert_accuracy(texts, golds, at_least=0.9)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from gradeschool.integrations.scores import Scores


@pytest.fixture
def assert_accuracy() -> Callable[..., Scores]:
    """Return a function that fails the test if the accuracy is too low."""
    return check


def check(
    texts: Sequence[str],
    golds: Sequence[object],
    *,
    at_least: float,
    scorer: str = "",
    confident: bool = False,
) -> Scores:
    """Return the scores, or fail the test with the accuracy, its interval and the first misses.

    at_least: the required accuracy, from 0 to 1. scorer: a name; by default gradeschool/reader.
    confident: compare the lower end of the 95 % interval instead.
    """
    from gradeschool.errors import InputError
    from gradeschool.integrations.scores import score
    from gradeschool.percentages import percent
    from gradeschool.scorer import DEFAULT_SCORER

    if not 0 <= at_least <= 1:
        raise InputError(f"at_least is {at_least!r}; give an accuracy from 0 to 1")
    scores = score(texts, golds, scorer or DEFAULT_SCORER)
    accuracy = scores.ci95[0] if confident else scores.accuracy
    if accuracy < at_least:
        __tracebackhide__ = True
        what = "the lower end of the interval" if confident else "the accuracy"
        pytest.fail(
            f"{what} is {percent(accuracy)}, not {percent(at_least)}\n"
            f"{scores}\n{scores.describe_misses()}"
        )
    return scores
