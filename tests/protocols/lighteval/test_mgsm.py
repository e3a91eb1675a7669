"""Tests lighteval's MGSM: its labels, and that the whole text is compared."""

from __future__ import annotations

import pytest

from gradeschool import Problem, Protocol
from gradeschool.protocols.lighteval.mgsm import LABELS, MGSM, MGSM_SCORER, read_whole
from gradeschool.verdict import Outcome


@pytest.mark.parametrize("protocol", MGSM, ids=lambda protocol: protocol.name)
def test_the_question_stands_between_the_labels_of_its_language(protocol: Protocol) -> None:
    [prompt] = protocol.render([Problem.from_row("0", "2 + 2?", "#### 4")], ())
    before, behind = LABELS[protocol.name.removeprefix("lighteval/mgsm-")]
    assert prompt.text == f"{before} 2 + 2?\n{behind}"
    assert protocol.dataset == f"mgsm:{protocol.name[-2:]}"


def test_only_a_text_that_is_the_number_alone_is_right() -> None:
    problem = Problem.from_gold("2,125")
    outcomes = [MGSM_SCORER.judge(text, problem).outcome for text in (
        "\n 2125 ", "2,125", "The answer is 2125", "2125.0", " \n",
    )]  # fmt: skip
    assert outcomes == [Outcome.CORRECT, *[Outcome.WRONG] * 3, Outcome.NO_ANSWER]


def test_the_span_is_that_of_the_text_without_white_space() -> None:
    answer = read_whole("\n 18 \n", "18")
    assert answer is not None
    assert (answer.text, answer.span) == ("18", (2, 4))
