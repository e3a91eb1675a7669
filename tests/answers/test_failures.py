"""detect_answer_failure: one cause for each completion without a right answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool import Failure, detect_answer_failure
from gradeschool.answers.extractor import extract_final_answer
from gradeschool.answers.failures import cause_of_text, is_right, relation_to_gold
from gradeschool.answers.regions import answer_region

PROGRAM = "```python\ndef eggs():\n    return 16 - 3 - 4\nprint(eggs())\n```"
# Each: text, gold, finish reason.
FAILURES: dict[Failure, list[tuple[str, str | None, str | None]]] = {
    Failure.NO_RESPONSE: [("", "18", None), (" \n", None, "stop"), ("\n", "18", "length")],
    Failure.FILTERED: [("", "18", "content_filter"), ("She has 9", "18", "content_filter")],
    Failure.UNFINISHED_THINKING: [("<think>so she keeps 9", "18", None), ("<think>", None, None)],
    Failure.TRUNCATED: [
        ("She keeps 16 - 3 = 13 eggs and then", "18", "length"),
        ("She keeps 13 eggs", None, "length"),
        ("She keeps some eggs. And then", "18", None),
        ("She keeps some eggs and then she", None, "unknown"),
        ("She has 16 - 3 =", "18", None),
        ("She has 16 eggs. After breakfast there are still some of them", "18", None),
    ],
    Failure.REFUSAL: [
        ("I'm sorry, I can't help with that.", "18", "stop"),
        ("I cannot answer this", None, None),
    ],
    Failure.CODE_ONLY: [(PROGRAM, "18", "stop"), ("import math\nprint(16 - x)", "18", "stop")],
    Failure.NO_NUMBER: [("I do not know", "18", "stop"), ("All of them.", "18", None)],
    Failure.NOT_STATED: [("A) 18\nB) 19\nC) 20\n", "18", "stop")],
    Failure.SIGN_LOST: [("#### 10", "-10", "stop"), ("The answer is -1,234.", "1234", None)],
    Failure.ARITHMETIC_SLIP: [
        ("She has 8 * 4 = 36 eggs.\n#### 36", "32", "stop"),
        ("<<16-3-4=8>> eggs are left.\nA: 8", "9", None),
    ],
    Failure.SCALE: [("#### 1800", "18", None), ("#### 0.18", "18", None), ("18,000", "18", None)],
    Failure.ROUNDING: [("#### 18.4", "18", None), ("#### 3.33", "3", "stop")],
    Failure.WRONG_VALUE: [
        ("#### 19", "18", None),
        ("#### 3/5", "18", None),
        ("8 * 4 = 32. #### 19", "18", None),
        ("#### 19\nQuestion: then", "18", "length"),
    ],
}


@pytest.mark.parametrize("failure", list(FAILURES))
def test_a_cause_is_told_from_its_examples(failure: Failure) -> None:
    for text, gold, finish in FAILURES[failure]:
        assert detect_answer_failure(text, gold, finish) is failure, text


@pytest.mark.parametrize(
    ("text", "gold", "finish"),
    [
        ("#### 18", "18", "stop"),
        ("#### 2,125.00", "2125", None),
        ("#### 2125", "2,125", None),
        ("Forty-two dollars.", "42", None),
        ("#### 18\n\nQuestion: A train", "18", "length"),
        ("I cannot be sure, but 18", "18", None),
        ("#### 18", None, "length"),
        ("18", None, "stop"),
        ("8 * 4 = 36, no matter.\n#### 18", "18", "stop"),
    ],
)
def test_a_right_answer_has_no_failure(text: str, gold: str | None, finish: str | None) -> None:
    assert detect_answer_failure(text, gold, finish) is None


@given(st.text(), st.text(), st.sampled_from([None, "stop", "length", "content_filter", "unknown"]))
def test_no_text_or_gold_makes_it_raise(text: str, gold: str, finish: str | None) -> None:
    failure = detect_answer_failure(text, gold, finish)
    assert (failure is None) is (bool(text.strip()) and is_right(extract_final_answer(text), gold))


def test_the_evidence_of_a_slip_stands_in_the_text() -> None:
    text = "<think>1 + 1 = 3</think>She has 8 * 4 = 36 eggs.\n#### 36"
    cause = cause_of_text(text, extract_final_answer(text), answer_region(text), "32")
    assert cause is not None
    assert cause.span is not None
    assert text[slice(*cause.span)] == "8 * 4 = 36"
    assert cause.evidence == "'8 * 4 = 36', but that is 32"


@pytest.mark.parametrize(
    ("read", "right", "relation"),
    [
        ("$18.00", "18", Failure.UNIT_KEPT),
        ("18.", "18", Failure.UNIT_KEPT),
        ("10", "-10", Failure.SIGN_LOST),
        ("250", "1250", Failure.COMMA_SPLIT),
        ("1", "1,250", Failure.COMMA_SPLIT),
        ("1800", "18", Failure.SCALE),
        ("0.18", "18", Failure.SCALE),
        ("18.4", "18", Failure.ROUNDING),
        ("123457", "123456", Failure.ROUNDING),
        ("711", "11", Failure.AFFIX),
        ("11", "711", Failure.AFFIX),
        ("19", "18", None),
        ("x", "18", None),
        ("", "18", None),
    ],
)
def test_how_a_number_is_near_the_gold(read: str, right: str, relation: Failure | None) -> None:
    assert relation_to_gold(read, right) is relation
