"""The reward for TRL."""

from __future__ import annotations

from typing import Any

import pytest

from gradeschool.errors import InputError
from gradeschool.integrations.trl import RewardFunction, reward
from tests.integrations.test_rewards import chat


def test_trl_gets_a_float_or_none_for_each_completion() -> None:
    extra: dict[str, list[Any]] = {}
    values = reward(
        prompts=["?"] * 3,
        completions=[chat("#### 1"), "#### 2", "#### 3"],
        answer=["so\n#### 1", "9", ""],
        log_extra=extra.__setitem__,
    )
    assert values == [1.0, 0.0, None]
    assert extra["gradeschool_outcome"] == ["correct", "wrong", "error"]
    assert "'2' is not '9'" in extra["gradeschool_reason"][1]
    assert reward.__name__ == "gradeschool"


def test_trl_is_told_which_column_is_missing() -> None:
    with pytest.raises(InputError, match=r"no column 'gold' or 'answer'.*only \['label'\]"):
        reward(["#### 1"], label=["1"])
    assert RewardFunction(column="label")(["#### 1"], label=["1"]) == [1.0]


def test_trl_columns_are_lists() -> None:
    with pytest.raises(InputError, match="column 'answer' is the text '18'"):
        reward(["#### 1", "#### 8"], answer="18")
    with pytest.raises(InputError, match="2 completions but 1 values in the column 'answer'"):
        reward(["#### 1", "#### 8"], answer=["18"])


def test_trl_takes_the_first_gold_of_each_row() -> None:
    texts, golds = ["#### 1", "#### 2", "#### 3"], [None, "2", None]
    assert reward(texts, gold=golds, answer=["1", "9", None]) == [1.0, 1.0, None]
    assert RewardFunction(column="gold")(texts, gold=golds, answer=["1"] * 3) == [None, 1.0, None]
