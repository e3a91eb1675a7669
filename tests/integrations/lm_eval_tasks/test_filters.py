"""Filters and metrics of the tasks for lm-eval."""

import re

import pytest

from gradeschool.integrations.lm_eval_tasks import filters


def test_a_filter_gives_a_text_for_each_document() -> None:
    docs = [{"question": "?", "answer": f"so\n#### {gold}"} for gold in ("1,250", "11", "3")]
    resps = [["#### 1250.00", "ignored"], ["ANSWER: 711"], ["no idea"]]
    assert filters.reader(resps, docs) == ["1,250", "711", "[invalid]"]
    assert filters.numeric_equality(resps, docs) == ["1,250", "711", "[invalid]"]


@pytest.mark.parametrize(
    "answer", ["18", 18, "####18", "x = 18\n####18", "#### 18 ", "#### 18\n", "$18", "+18"]
)
def test_a_right_answer_is_the_gold_as_exact_match_compares_it(answer: object) -> None:
    (filtered,) = filters.reader([["#### 18.0"]], [{"answer": answer}])
    assert compared(filtered) == compared(str(answer))
    (wrong,) = filters.reader([["#### 19"]], [{"question": "?", "answer": answer}])
    assert compared(wrong) != compared(str(answer))


def compared(text: str) -> str:
    """What exact_match leaves of a text: `regexes_to_ignore` of the task."""
    for pattern in (",", r"\$", "(?s).*#### ", r"\.$"):
        text = re.sub(pattern, "", text)
    return text


@pytest.mark.parametrize("doc", [{"answer": "eighteen"}, {"answer": None}, {}, {"answer": "####"}])
def test_a_document_without_a_gold_is_invalid(doc: dict[str, object]) -> None:
    with pytest.warns(UserWarning, match="1 document scores 0: the gold"):
        assert filters.reader([["#### 18"]], [doc]) == ["[invalid]"]


def test_numeric_equality_reads_no_part_of_a_gold() -> None:
    with pytest.warns(UserWarning, match="the gold '#### 1,8xx' does not mark its answer"):
        assert filters.numeric_equality([["#### 18"]], [{"answer": "#### 1,8xx"}]) == ["[invalid]"]
