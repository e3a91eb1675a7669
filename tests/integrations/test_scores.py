"""`gradeschool.score`: completions from Python."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import gradeschool as package
from gradeschool import Scores
from gradeschool.errors import InputError
from gradeschool.models.recorded import SAMPLE_FILE
from gradeschool.scorer import DEFAULT_SCORER

TEXTS = ["so\n#### 18", "ANSWER: 711", "no idea"]


GOLDS = [18, "11", {"question": "?", "answer": "#### 1"}]


def test_score_counts_and_says_why() -> None:
    scores = package.score(TEXTS, GOLDS)
    assert (len(scores), scores.correct, scores.headline.no_answer) == (3, 1, 1)
    assert scores.accuracy == pytest.approx(1 / 3)
    assert scores.ci95[0] < 1 / 3 < scores.ci95[1]
    assert [index for index, _ in scores.misses()] == [1, 2]
    assert "'711' is not '11'" in scores.misses()[0][1].reason
    assert [verdict.scorer for verdict in scores.verdicts] == [DEFAULT_SCORER] * 3


def test_score_takes_several_scorers_and_equal_golds_are_different_problems() -> None:
    scores = package.score(
        ["#### 1", "1", "#### 1", "2"], ["1"] * 4, ["openai/2021", DEFAULT_SCORER]
    )
    assert [item.correct for item in scores.run.scorers] == [2, 3]
    alone = package.score(["#### 1", "1", "#### 1", "2"], ["1"] * 4)
    assert alone.ci95 == package.score(["#### 1", "1", "#### 1", "2"], [1, "1", "#### 1", 1.0]).ci95


def test_a_result_prints_a_table_and_renders_in_a_notebook() -> None:
    scores = package.score(TEXTS, GOLDS, [DEFAULT_SCORER, "inspect/match-numeric@<=0.3.220"])
    head, *lines = str(scores).splitlines()
    assert head.split()[:3] == ["scorer", "correct", "accuracy"]
    assert [line.split()[1] for line in lines] == ["1", "2"]
    page = scores._repr_html_()
    assert page.count("<tr>") == 3
    assert "match-numeric@&lt;=0.3.220" in page


def test_misses_have_the_places_of_the_completions(tmp_path: Path) -> None:
    """A failed sample has no verdict."""
    answers = [{"completion": "", "error": "429"}, {"completion": "7"}, {"completion": "8"}]
    rows = [{"question": f"{index}?", "gold": 7, **row} for index, row in enumerate(answers)]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    scores = package.score(path)
    assert [index for index, _ in scores.misses()] == [2]


@pytest.mark.parametrize(
    ("texts", "golds", "scorer", "said"),
    [
        (["a"], [], DEFAULT_SCORER, "1 texts but 0 golds"),
        ([], [], DEFAULT_SCORER, "no texts"),
        ([3], ["1"], DEFAULT_SCORER, "text 0 is a int: '?3"),
        (["a"], [None], DEFAULT_SCORER, "gold 0: the gold None is missing"),
        (["a"], [" "], DEFAULT_SCORER, "empty"),
        (["a"], ["1"], [], "no scorer"),
        (["a"], ["1"], "openai/2020", "openai/2021"),
    ],
)
def test_score_refuses_what_it_cannot_use(
    texts: list[str], golds: list[object], scorer: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        package.score(texts, golds, scorer)


def test_compare_takes_results_and_paths() -> None:
    golds = [str(number) for number in range(20)]
    texts = [f"#### {gold if int(gold) < 12 else 99}" for gold in golds]
    first, second = package.score(golds, golds), package.score(texts, golds)
    [comparison] = package.compare(first, second)
    assert comparison.n == 20
    assert comparison.difference == pytest.approx(-0.4)
    assert repr(comparison).startswith("<run 2 against run 1: -40.00 (")
    runs = (f"{SAMPLE_FILE}#handwritten/chat", f"{SAMPLE_FILE}#handwritten/cot")
    [comparison] = package.compare(*runs, dataset="sample")
    assert (comparison.n, comparison.run) == (48, "handwritten/cot")
    with pytest.raises(InputError, match="give another"):
        package.compare(first)


# The pytest plugin


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
