"""A pytest plugin: the fixture `assert_accuracy`, for tests of a model's answers.

def test_the_model_still_adds(assert_accuracy):
    assert_accuracy(texts, golds, at_least=0.9)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from gradeschool.integrations.python_api import Scores


@pytest.fixture
def assert_accuracy() -> Callable[..., Scores]:
    """Return a function that fails the test if the accuracy is too low."""
    return check


def check(
    texts: Sequence[str], golds: Sequence[object], *, at_least: float, confident: bool = False
) -> Scores:
    """Return the scores by gradeschool/reader, or fail the test with the table and some misses.

    at_least: the required accuracy, from 0 to 1. confident: compare the lower end of the 95 %
    interval instead.
    """
    from gradeschool.errors import InputError
    from gradeschool.integrations.python_api import score
    from gradeschool.printable import percent

    if not 0 <= at_least <= 1:
        raise InputError(f"at_least is {at_least!r}; give an accuracy from 0 to 1")
    scores = score(texts, golds)
    accuracy = scores.ci95[0] if confident else scores.accuracy
    if accuracy < at_least:
        __tracebackhide__ = True
        what = "the lower end of the interval" if confident else "the accuracy"
        misses = "\n".join(f"  {index}: {verdict.reason}" for index, verdict in scores.misses()[:5])
        pytest.fail(f"{what} is {percent(accuracy)}, not {percent(at_least)}\n{scores}\n{misses}")
    return scores
