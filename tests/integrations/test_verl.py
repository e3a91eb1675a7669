"""The reward for verl."""

from __future__ import annotations

from typing import Any

import pytest

from gradeschool.errors import InputError
from gradeschool.integrations import verl


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"format_credits": 0.1}, "did you mean format_credit"),
        ({"partial": 0.1}, "did you mean partial_credit"),
        ({"format_credit": [0.1]}, r"format_credit is \[0.1\]"),
        ({"scorer": ["openai/2021"]}, "the scorer is"),
    ],
)
def test_verl_options_that_cannot_be_used_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        verl.compute_score("", "#### 18", "18", **options)


def test_verl_gets_a_score_with_reasons_by_keyword() -> None:
    row = verl.compute_score(
        data_source="openai/gsm8k",
        solution_str="so\n#### 1,250",
        ground_truth="1250",
        extra_info={"num_turns": None},
        reward_router_address="passed over",
        format_credit=0.5,
    )
    assert {key: row[key] for key in ("score", "acc", "pred", "outcome")} == {
        "score": 1.5,
        "acc": True,
        "pred": "1250",
        "outcome": "correct",
    }


def test_verl_batches_have_the_same_keys_in_every_row() -> None:
    rows = verl.compute_scores(["x"] * 3, ["#### 1", "", "#### 1"], ["1", "1", ""])
    assert [row["score"] for row in rows] == [1.0, 0.0, 0.0]
    assert [row["outcome"] for row in rows] == ["correct", "no_answer", "error"]
    assert len({tuple(row) for row in rows}) == 1
