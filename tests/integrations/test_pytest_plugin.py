"""The pytest plugin: `assert_accuracy`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gradeschool import Scores
from gradeschool.errors import InputError

TEXTS = ["so\n#### 18", "ANSWER: 711", "no idea"]
GOLDS = [18, "11", {"question": "?", "answer": "#### 1"}]


def test_assert_accuracy_returns_the_scores(assert_accuracy: Callable[..., Scores]) -> None:
    assert assert_accuracy(TEXTS, GOLDS, at_least=0.3).correct == 1


def test_assert_accuracy_fails_with_figures_and_reasons(
    assert_accuracy: Callable[..., Scores],
) -> None:
    with pytest.raises(
        pytest.fail.Exception, match=r"the accuracy is 33.33 %, not 50.00 %"
    ) as caught:
        assert_accuracy(TEXTS, GOLDS, at_least=0.5)
    assert "'711' is not '11'" in str(caught.value)
    with pytest.raises(pytest.fail.Exception, match=r"lower end of the interval is 6\.15 %"):
        assert_accuracy(TEXTS, GOLDS, at_least=0.3, confident=True)
    with pytest.raises(InputError, match="at_least is 90"):
        assert_accuracy(TEXTS, GOLDS, at_least=90)
