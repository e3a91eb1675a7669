"""The reward, and what its adapters for TRL, verl and OpenRLHF share."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradeschool.completion import completion_text
from gradeschool.errors import InputError, UnknownNameError
from gradeschool.integrations import verl
from gradeschool.integrations.rewards import LONGEST, Grader, Reward, _unreadable
from gradeschool.integrations.trl import reward
from gradeschool.scorer import Outcome

GRADER = Grader()
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["role", "content", "text", "answer", "x"]), inner)
    ),
    max_leaves=6,
)


def chat(content: object) -> list[dict[str, object]]:
    return [{"role": "user", "content": "#### 5"}, {"role": "assistant", "content": content}]


@pytest.mark.parametrize(
    ("completion", "gold", "value", "outcome"),
    [
        ("so\n#### 18", "18", 1.0, Outcome.CORRECT),
        ("so\n#### 18", 18, 1.0, Outcome.CORRECT),
        ("so\n#### 1,250.00", "It is <<5*250=1250>>1250\n#### 1,250", 1.0, Outcome.CORRECT),
        ("so\n#### 18", {"question": "?", "answer": "#### 18"}, 1.0, Outcome.CORRECT),
        ("so\n#### 18", ["18"], 1.0, Outcome.CORRECT),
        ("ANSWER: 711", "11", 0.0, Outcome.WRONG),
        ("ANSWER: 149", "49", 0.0, Outcome.WRONG),
        ("ANSWER: 131254", 131250, 0.0, Outcome.WRONG),
        ("no idea", "18", 0.0, Outcome.NO_ANSWER),
        ("", "18", 0.0, Outcome.NO_ANSWER),
        (None, "18", 0.0, Outcome.NO_ANSWER),
        (chat("#### 18"), "18", 1.0, Outcome.CORRECT),
        (chat([{"type": "text", "text": "#### 18"}]), "18", 1.0, Outcome.CORRECT),
        (chat(None), "5", 0.0, Outcome.NO_ANSWER),
        (b"#### 18", "18", None, Outcome.ERROR),
        ("#### 18", Decimal("18"), 1.0, Outcome.CORRECT),
        ("#### 18", Fraction(18), 1.0, Outcome.CORRECT),
        ([{"role": "tool", "content": "#### 18"}], "18", None, Outcome.ERROR),
        ("#### 18", None, None, Outcome.ERROR),
        ("#### 18", float("nan"), None, Outcome.ERROR),
        ("#### 18", 10**9000, None, Outcome.ERROR),
    ],
    ids=[str(index) for index in range(21)],
)
def test_a_reward_is_1_0_or_none_with_its_outcome(
    completion: object, gold: object, value: float | None, outcome: Outcome
) -> None:
    earned = GRADER.grade(completion, gold)
    assert (earned.value, earned.outcome) == (value, outcome)
    assert earned.correct is (outcome is Outcome.CORRECT)
    assert earned.reason


@settings(max_examples=40)
@given(ANYTHING, ANYTHING)
def test_no_completion_and_no_gold_raises(completion: object, gold: object) -> None:
    earned = Grader(format_credit=0.1).grade(completion, gold)
    assert isinstance(earned, Reward)
    assert earned.value is None or 0 <= earned.value <= 1.1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("so\n#### 18", 1.5),
        ("so\n#### 17", 0.5),
        ("#### 18\nbye", 1.0),
        ("the answer is 18", 1.0),
        ("#### ", 0.0),
    ],
)
def test_format_credit_is_for_the_form_at_the_end(text: str, value: float) -> None:
    assert Grader(format_credit=0.5).grade(text, "18").value == value


@pytest.mark.parametrize("text", ["<think>{} so the total is 18", "{} <think> the total is 18"])
def test_a_long_completion_is_thinking_if_all_of_it_is(text: str) -> None:
    short, long = text.format("word"), text.format("word " * LONGEST)
    assert GRADER.grade(long, "18").outcome is GRADER.grade(short, "18").outcome
    closed = long.replace("<think>", "").replace("word word", "word</think>", 1)
    assert GRADER.grade(closed, "18").value == 1.0


MINUTES = "How many minutes does she need?"
HOURS = "She needs 2 hours (120 minutes)."


def test_the_question_of_a_row_counts() -> None:
    assert GRADER.grade(HOURS, {"question": MINUTES, "answer": "#### 120"}).value == 1.0
    assert GRADER.grade(HOURS, {"question": None, "answer": "#### 120"}).value == 0.0
    assert reward([HOURS], question=[MINUTES], answer=["120"]) == [1.0]
    assert verl.compute_score("", HOURS, "120", {"question": MINUTES})["score"] == 1.0
    rows = verl.compute_scores([""] * 2, [HOURS] * 2, ["120"] * 2, [{"question": MINUTES}, None])
    assert [row["score"] for row in rows] == [1.0, 0.0]
    with pytest.raises(InputError, match="2 completions but 1 extra_infos; give as many"):
        verl.compute_scores([""] * 2, [HOURS] * 2, ["120"] * 2, [{"question": MINUTES}])


@pytest.mark.parametrize("kind", ["reasoning", "thinking", "tool_use"])
def test_a_part_that_is_no_text_is_not_the_reply(kind: str) -> None:
    parts = [{"type": kind, "text": "#### 18"}, {"type": "text", "text": "#### 19"}]
    assert completion_text(chat(parts)) == "#### 19"
    assert completion_text(chat(parts[:1])) == ""


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"scorer": None}, InputError, "None"),
        ({"scorer": ["openai/2021"]}, InputError, "openai/2021"),
        ({"scorer": "openai/2020"}, UnknownNameError, "openai/2021"),
        ({"format_credit": 1.0}, InputError, "from 0 to under 1"),
        ({"format_credit": "much"}, InputError, "'much'"),
    ],
)
def test_bad_graders_are_told(options: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        Grader(**options)


def test_a_text_is_not_a_batch() -> None:
    with pytest.raises(InputError, match="2 completions but 1 golds; give as many"):
        GRADER.grade_all(["a", "b"], ["1"])
    with pytest.raises(InputError, match="give a list of golds, not the text '18'"):
        GRADER.grade_all(["#### 1", "#### 8"], "18")
    with pytest.raises(InputError, match="give a list of completions, not"):
        GRADER.grade_all("18", ["1", "8"])


def test_the_text_of_a_chat_is_its_last_assistant_turn() -> None:
    later = [*chat("first"), {"role": "tool", "content": "9"}]
    assert completion_text(later) == "first"
    assert completion_text([]) == ""
    assert completion_text([3]) is None


def test_the_first_unreadable_gold_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    _unreadable.clear()
    assert reward(["#### 1"] * 3, answer=[r"7\pi", r"8\pi", "1"]) == [None, None, 1.0]
    _unreadable.clear()
    assert reward(["#### 1"], answer=[10**5000]) == [None]
    first, second = (record.getMessage() for record in caplog.records)
    assert "cannot be read, so its reward is None" in first
    assert "pi" in first
    assert "too many digits" in second
