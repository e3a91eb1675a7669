"""The pytest plugin: `assert_accuracy`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import gradeschool as package
from gradeschool import Scores
from gradeschool.errors import InputError
from gradeschool.integrations import pytest_plugin
from tests.integrations.test_scores import GOLDS, TEXTS


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


def test_the_old_keyword_names_the_scorer() -> None:
    with pytest.warns(DeprecationWarning, match="rule= is now scorer="):
        scores = package.score(["#### 18"], [18], rule="openai/2021")
    assert [item.scorer for item in scores.run.scorers] == ["openai/2021"]
    with pytest.warns(DeprecationWarning):
        pytest_plugin.check(["#### 18"], [18], at_least=1, rule="openai/2021")
