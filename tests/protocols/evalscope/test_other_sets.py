"""Tests evalscope's prompts for sets other than GSM8K."""

from __future__ import annotations

import pytest

from gradeschool import Problem, get_protocol
from gradeschool.protocols.evalscope.other_sets import OTHER_PROTOCOLS, mgsm_prompts

PROBLEM = Problem.from_row("0", "Wie viele?", "#### 2")
SHOTS = [Problem.from_row(str(n), f"Ist {n}?", f"Es ist {n}.\n#### {n}") for n in range(1, 9)]


def test_mgsm_shows_four_of_eight_exemplars_without_boxes() -> None:
    [prompt] = mgsm_prompts([PROBLEM], SHOTS)
    text = prompt.messages[0].content
    assert [text.count(f"\n\nIst {n}?\n\nReasoning:\nEs ist {n}.\n\nANSWER: {n}\n\n")
            for n in range(1, 9)] == [1, 1, 1, 1, 0, 0, 0, 0]  # fmt: skip
    assert text.endswith(
        "\n\nWie viele?\nPlease reason step by step, and put your final answer within \\boxed{}."
        "\n\n"
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "math-500",
            "Wie viele?\nPlease reason step by step, and put your final answer within \\boxed{}.",
        ),
        (
            "aime24",
            "\nSolve the following math problem step by step. Put your answer inside \\boxed{}.\n\n"
            "Wie viele?\n\nRemember to put your answer inside \\boxed{}.",
        ),
        ("cmath", "Wie viele?\n请一步一步推理，最后将答案放在\\boxed{}中。\n"),
    ],
)
def test_the_other_prompts_are_the_question_and_a_request(name: str, content: str) -> None:
    [prompt] = get_protocol(f"evalscope/{name}").render([PROBLEM], ())
    assert [(message.role, message.content) for message in prompt.messages] == [("user", content)]


def test_integers_are_asked_for_by_aime_alone() -> None:
    scorers = {protocol.name: protocol.scorers for protocol in OTHER_PROTOCOLS}
    of_aime = {name for name, names in scorers.items() if names == ("evalscope/aime",)}
    assert of_aime == {"evalscope/aime24", "evalscope/aime25"}
    assert len(scorers) == 2 + 1 + 1 + 11
