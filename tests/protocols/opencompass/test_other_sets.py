"""Tests OpenCompass's prompts and scorers for sets other than GSM8K."""

import pytest

from gradeschool import Problem, get_protocol, get_scorer
from gradeschool.protocols.opencompass.other_sets import (
    boxed_gold,
    extract_gsm_hard,
    float_gold,
)
from gradeschool.scorer import ScorerFailure
from gradeschool.verdict import Outcome


def test_gsm_hard_of_opencompass_begins_with_its_first_five_rows() -> None:
    rows = [Problem.from_row(str(row), f"Is {row}?", f"#### {row}") for row in range(9)]
    rows[2] = Problem.from_row("2", "Is a half?", "#### 0.5")
    *_, last = get_protocol("opencompass/gsm-hard").render(rows, rows)
    assert [message.content for message in last.messages[:6]] == [
        "Question: Is 0?\nAnswer:", "The answer is 0.0",
        "Question: Is 1?\nAnswer:", "The answer is 1.0",
        "Question: Is a half?\nAnswer:", "The answer is 0.5",
    ]  # fmt: skip
    assert [message.role for message in last.messages] == ["user", "assistant"] * 5 + ["user"]
    assert last.messages[-1].content == "Question: Is 8?\nAnswer:"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 + 3 = 5. The answer is 18.0, not 5.", "18.0"),
        ("2 + 3 = 5, or 18.0", "18.0"),
        ("The answer is 1,250.0", "1250.0"),
        ("The answer is 1,250,000.0", "1250000.0"),
        ("The answer is 3. The answer is 18.0", "3"),
        ("The answer is unknown", "unknown"),
        ("", None),
    ],
)
def test_gsm_hard_reads_the_first_number_behind_its_mark(text: str, value: str | None) -> None:
    answer = extract_gsm_hard(text, "")
    assert (answer and answer.value) == value


def test_gsm_hard_compares_strings_with_a_float() -> None:
    scorer, problem = get_scorer("opencompass/gsm-hard"), Problem.from_gold("18")
    assert float_gold(problem) == "18.0"
    assert scorer.judge("The answer is 18.0", problem).correct
    assert scorer.judge("The answer is 18", problem).outcome is Outcome.WRONG
    with pytest.raises(ScorerFailure, match="no number: 'None'"):
        float_gold(Problem.from_gold("None"))


def test_mgsm_reads_the_last_number_behind_the_label_of_its_language() -> None:
    scorer, problem = get_scorer("opencompass/mgsm-de"), Problem.from_gold("18")
    assert scorer.judge("9 * 2 = 18\nAntwort: 18", problem).correct
    assert scorer.judge("Antwort: 7\nAntwort: 18", problem).correct
    assert not scorer.judge("Answer: 18", problem).correct
    assert not scorer.judge("Antwort: 18.0", problem).correct


def test_the_gold_of_math_is_the_box_of_its_solution() -> None:
    boxed = Problem.from_row("0", "?", "It is $\\boxed{\\frac43}$.\n#### 4/3")
    assert boxed_gold(boxed) == "\\frac43"
    assert boxed_gold(Problem.from_row("0", "?", "It is.\n#### 4/3")) == "4/3"
