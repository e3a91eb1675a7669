"""Scorers that look for the last number from the end find what their pattern finds in the whole."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gradeschool.answers.search import last_match
from gradeschool.protocols.helm import gsm as helm
from gradeschool.protocols.verl import gsm8k as verl

PIECES = ["18", "7", "-", ",", ".", " ", "  ", "\n", "a", "ab", "é", "١", "3:30", "1 8", "..", "\t"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@given(TEXTS)
def test_helm_reads_the_last_match(text: str) -> None:
    match = last_match(helm.NUMBER, text)
    number = match.group().replace(",", "") if match else ""
    answer = helm.read_final_number(text, "")
    if match is None or not number:
        assert answer is None
    else:
        assert answer is not None
        assert (answer.value, answer.span) == (number, match.span())


@given(TEXTS)
def test_verl_reads_the_last_run_that_is_more_than_a_period(text: str) -> None:
    end = text[-verl.CLIP :]
    runs = [match.group() for match in verl.NUMBER.finditer(end)]
    longer = [run for run in runs if run != "."]
    expected = next(reversed(longer or runs), None)
    answer = verl.read_flexible(text, "")
    assert (answer.value if answer else None) == expected
