"""What is known of protocols and scorers, and how two of them differ."""

import pytest

from gradeschool import Problem, all_protocols, all_scorers
from gradeschool.datasets.sources import SOURCES
from gradeschool.protocols.card import (
    find_package,
    links,
    prompt_difference,
    prompt_lines,
    protocol_card,
    protocol_differences,
    quirks,
    scorer_card,
    scorer_splits,
    verified,
)
from gradeschool.protocols.registry import packages


def test_every_name_has_a_package_and_a_card() -> None:
    for name in all_scorers():
        users = [one.name for one in all_protocols().values() if name in one.scorers]
        assert sorted(scorer_card(name).protocols) == sorted(users)
    for protocol in all_protocols().values():
        assert find_package(protocol.name) in packages()
        assert protocol.dataset in SOURCES


@pytest.mark.parametrize(
    ("name", "place", "rows"),
    [
        ("lm-eval/gsm8k", "text", 5),
        ("lm-eval/gsm8k+multiturn", "turns", 5),
        ("inspect/gsm8k", "system", 10),
        ("evalscope/gsm8k", "user", 4),
        ("olmes/gsm8k", "text", 8),
        ("zero-shot/chat", "", 0),
    ],
)
def test_a_card_says_where_the_examples_are(name: str, place: str, rows: int) -> None:
    card = protocol_card(all_protocols()[name])
    assert (card.place(), len(card.rows)) == (place, rows)
    parts = card.parts()
    assert "{question}" in str(parts["question"])
    assert bool(parts["shot"]) is bool(rows)
    assert card.redrawn is name.startswith("lm-eval")


def test_every_package_has_quirks_links_and_versions() -> None:
    assert sum(len(quirks(package)) for package in packages()) > 200
    assert sum(bool(links(package.__name__)) for package in packages()) > 18
    assert [package.__name__ for package in packages() if not verified(package)] == []


def test_chats_are_compared_by_turns() -> None:
    problems = [Problem("0", "How many?", "1", "#### 1")]
    names = ("zero-shot/chat", "verifiers/gsm8k@<=0.3.0")
    cards = [protocol_card(all_protocols()[name], problems, [], 0, "tiny") for name in names]
    lines = prompt_difference(*cards)
    assert lines[:2] == ["--- zero-shot/chat", "+++ verifiers/gsm8k@<=0.3.0"]
    assert [line[0] for line in lines[3:]] == [" ", "-", "+", " "]
    assert cards[0].example is not None
    assert prompt_lines(cards[0].example.prompt)[2:] == ["[user]", "How many?"]
    assert protocol_differences(cards[0], cards[0]) == {}


def test_splits_are_where_two_scorers_differ() -> None:
    splits = scorer_splits(scorer_card("openai/2021"), scorer_card("lm-eval/gsm8k/strict-match"))
    assert ("#### 18.", "wrong", "correct") in [(q.completion, a, b) for q, a, b in splits]
    assert all(first != second for _, first, second in splits)
