"""Tests the examples of OpenCompass's few-shot prompts, and how it reads the last number."""

import pytest

from gradeschool import Problem, get_protocol
from gradeschool.protocols.opencompass.few_shot import GSM8K, extract, reference


def test_svamp_of_opencompass_ends_each_example_in_a_sentence_and_a_line_break() -> None:
    shot = Problem.from_row("0", "How many?", "1 + 1 = 2.\n#### 2")
    [prompt] = get_protocol("opencompass/svamp").render([shot], [shot])
    assert [message.content for message in prompt.messages] == [
        "Question: How many?\nLet's think step by step\nAnswer:",
        "1 + 1 = 2. The answer is 2.\n",
        "Question: How many?\nLet's think step by step\nAnswer:",
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9 * 2 = 18. The answer is 18", "18"),
        ("It is 18.50 dollars.", "18.50"),
        ("It is 1,250.", "250"),
        ("It is -18.", "-18"),
        ("The answer is 18\n\nQuestion: How many are 5?", "18"),
        ("Quite 18", "18"),
        ("none", None),
    ],
)
def test_the_last_number_before_a_further_question_is_read(text: str, value: str | None) -> None:
    answer = extract(text, "18")
    assert (answer and answer.value) == value


@pytest.mark.parametrize(
    ("value", "right"),
    [("18", True), ("18.0", True), ("18.0000001", True), ("18.00001", False), ("-18", False)],
)
def test_a_number_is_equal_within_a_millionth(value: str, right: bool) -> None:
    assert GSM8K.compare(value, "18") is right


def test_a_gold_that_is_no_whole_number_equals_its_own_string_alone() -> None:
    assert GSM8K.compare("0.5", "0.5")
    assert not GSM8K.compare("0.50", "0.5")
    assert reference(Problem.from_row("0", "?", "So.\n#### 1,250")) == "1250"
