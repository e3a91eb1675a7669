"""Tests the differences between two protocols or two scorers."""

from itertools import pairwise

from gradeschool import Problem, all_protocols, all_scorers, get_scorer
from gradeschool.protocols.card import protocol_card, scorer_card
from gradeschool.protocols.contrast import (
    prompt_difference,
    prompt_lines,
    protocol_differences,
    scorer_splits,
)


def test_forms_of_a_chat_are_compared_by_turns() -> None:
    problems = [Problem("0", "How many?", "1", "#### 1")]
    cards = [
        protocol_card(all_protocols()[name], problems, [], 0, "tiny")
        for name in ("zero-shot/chat", "verifiers/gsm8k@<=0.3.0")
    ]
    assert all(card.example is not None for card in cards)
    lines = list(prompt_difference(*cards))
    assert lines[:2] == ["--- zero-shot/chat", "+++ verifiers/gsm8k@<=0.3.0"]
    assert [line[0] for line in lines[3:]] == [" ", "-", "+", " "]
    assert cards[0].example is not None
    assert prompt_lines(cards[0].example.prompt)[2:] == ["[user]", "How many?"]
    assert [item.field for item in protocol_differences(cards[0], cards[0])] == []


def test_every_split_is_what_the_scorers_say() -> None:
    names = [name for name, scorer in all_scorers().items() if not scorer.extra][:12]
    for item, other in pairwise(names):
        for split in scorer_splits(scorer_card(item), scorer_card(other)):
            problem = Problem.from_gold(split.quirk.gold)
            text = split.quirk.completion
            assert get_scorer(item).judge(text, problem).outcome == split.first != split.second
            assert get_scorer(other).judge(text, problem).outcome == split.second
