"""What is recorded of two results, and where their difference comes from."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradeschool.completion import Prompt
from gradeschool.formats.samples import Sample
from gradeschool.formats.settings import RecordedRequest
from gradeschool.problem import Problem
from gradeschool.runs.diff.pairs import DiffSide
from gradeschool.runs.diff.result import RunDifference
from gradeschool.scoring.samples import Run
from tests.support.differences import FLEXIBLE, GOLDS, STRICT, diff, field, side


def steps(delta: RunDifference) -> dict[str, float]:
    return {
        entry.name: entry.points for entry in delta.account.steps if entry.points or entry.texts
    }


TEXTS = st.lists(
    st.sampled_from(["#### 5", "#### 6", "so 7", "7", "", "#### 8\nQ: 9", "#### 8", "So #### 8"]),
    min_size=4,
    max_size=4,
)
PROMPTS = st.lists(
    st.sampled_from(
        [RecordedRequest(), RecordedRequest(Prompt("x")), RecordedRequest(Prompt("y"))]
    ),
    min_size=4,
)
SETTINGS = st.fixed_dictionaries(
    {}, optional={"stop_strings": st.just(["Q:"]), "max_tokens": st.sampled_from([3, 9])}
)


@settings(deadline=None, max_examples=60)  # the first example loads every scorer
@given(TEXTS, TEXTS, PROMPTS, PROMPTS, SETTINGS, SETTINGS, st.permutations(GOLDS))
def test_the_points_of_the_steps_add_up_to_the_difference(
    ours: list[str],
    theirs: list[str],
    request_a: list[RecordedRequest],
    request_b: list[RecordedRequest],
    settings_a: dict[str, Any],
    settings_b: dict[str, Any],
    golds: list[str],
) -> None:
    delta = diff(
        side(ours[:3], requests=request_a, **settings_a),
        side(theirs, golds=golds, requests=request_b, **settings_b),
        STRICT,
        FLEXIBLE,
    )
    assert sum(entry.points for entry in delta.account.steps) == pytest.approx(delta.points)
    replaced = sum(entry.texts for entry in delta.account.steps[1:])
    assert replaced >= sum(a != b for a, b in zip(ours[:3], theirs, strict=False))


def test_a_result_against_itself_has_no_difference() -> None:
    texts = ["#### 5", "#### 5", "", "The answer is 8."]
    delta = diff(side(texts), side(texts))
    assert (delta.points, steps(delta), delta.counts.equal_texts) == (
        0.0,
        {},
        4,
    )


def test_the_scorer_alone_explains_what_it_turns() -> None:
    texts = ["#### 5", "so 6", "so 7 or 70", "#### 8."]
    delta = diff(side(texts), side(texts), STRICT, FLEXIBLE)
    assert steps(delta) == {"scorer": 25.0}
    assert (field(delta, "scorer").explains, delta.account.turned) == (
        1,
        ((1, 0), (0, 1)),
    )


def test_a_stop_string_explains_what_it_would_have_cut() -> None:
    """A has no stop string and runs on; B is the same, cut; the third is another text."""
    whole = ["so 5\nQ: 9", "so 6\nQ: 1", "so 7\nQ: 9", "so 8"]
    cut = ["so 5", "so 6", "so 70", "so 8"]
    delta = diff(side(whole, stop_strings=[]), side(cut, stop_strings=["\nQ:"]), FLEXIBLE)
    assert steps(delta) == {
        "stop strings": 75.0,
        "other texts, prompts not recorded": -25.0,
    }
    assert field(delta, "stop strings").explains == 3
    assert delta.unexplained == -25.0
    back = diff(side(cut, stop_strings=["\nQ:"]), side(whole, stop_strings=[]), FLEXIBLE)
    assert sum(entry.points for entry in back.account.steps) == -delta.points
    assert steps(back)["stop strings"] == -50.0


def test_a_smaller_limit_explains_texts_that_it_cut() -> None:
    short = side(["so #### ", "#### 6", "so 7", "9"], finish="length", max_tokens=4)
    long = side(["so #### 5", "#### 6", "so #### 7", "#### 8"], finish="stop", max_tokens=99)
    delta = diff(short, long)
    assert steps(delta) == {
        "texts cut short": 25.0,
        "other texts, prompts not recorded": 50.0,
    }
    assert field(delta, "max tokens").explains == 1
    assert "A's text is the start of B's 1" in field(delta, "max tokens").words


def test_other_golds_and_problems_of_one_alone_are_counted() -> None:
    texts = ["#### 5", "#### 6", "#### 7", "#### 8"]
    delta = diff(side(texts), side(texts[:3], golds=["5", "60", "7"]))
    assert steps(delta)["labels"] == pytest.approx(-100 / 3)
    assert field(delta, "labels").explains == 1
    assert (field(delta, "labels").state, delta.account.judged) == ("differs", 3)


def test_a_token_more_under_equal_prompts_is_named() -> None:
    """One tokenizer adds a BOS token, the other does not: the texts of the prompts are the same."""
    prompts = [Prompt(text=f"Q{i}?") for i in range(4)]
    ours = side(["a"] * 4, requests=[RecordedRequest(prompt, 10) for prompt in prompts])
    theirs = side(["b"] * 4, requests=[RecordedRequest(prompt, 11) for prompt in prompts])
    delta = diff(ours, theirs)
    assert field(delta, "prompt tokens").explains == 4
    assert "+1 tokens on 4; a BOS token" in field(delta, "prompt tokens").words
    assert delta.possible_causes == ("prompt tokens",)


def test_results_without_a_common_problem_are_refused() -> None:
    ours = side(["#### 5"])
    theirs = DiffSide(
        Run(
            "r",
            [Sample(1, problem=Problem.from_row("0", "Another?", "#### 5"), sample=0, text="5")],
        ),
        "",
        {},
    )
    with pytest.raises(ValueError, match="no sample of the same problem"):
        diff(ours, theirs)
