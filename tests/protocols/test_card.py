"""What is known of protocols and scorers, and how two of them differ."""

import pytest

from gradeschool import Problem, all_protocols, all_scorers
from gradeschool.datasets.files import SOURCES
from gradeschool.protocols.card import (
    describe_protocol,
    describe_scorer,
    find_package,
    prompt_difference,
    prompt_lines,
    protocol_differences,
    read_source,
)
from gradeschool.protocols.registry import packages


def test_every_name_has_a_package_and_its_users() -> None:
    for name in all_scorers():
        users = [one.name for one in all_protocols().values() if name in one.scorers]
        assert sorted(describe_scorer(name)["protocols"]) == sorted(users)
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
        ("zero-shot/chat", None, 0),
    ],
)
def test_where_the_examples_are(name: str, place: str | None, rows: int) -> None:
    card = describe_protocol(all_protocols()[name])
    assert (card["shots"]["place"], len(card["shots"]["rows"])) == (place, rows)
    assert "{question}" in card["prompt"]["question"]
    assert bool(card["prompt"]["shot"]) is bool(rows)
    assert card["shots"]["drawn_for_each_problem"] is name.startswith("lm-eval")


def test_every_package_has_quirks_links_and_versions() -> None:
    sources = [read_source(package) for package in packages()]
    assert sum(len(source.quirks) for source in sources) > 200
    assert sum(bool(source.links) for source in sources) > 18
    assert all(source.verified for source in sources)


def test_chats_are_compared_by_turns() -> None:
    problems = [Problem("0", "How many?", "1", "#### 1")]
    names = ("zero-shot/chat", "verifiers/gsm8k@<=0.3.0")
    cards = [describe_protocol(all_protocols()[name], problems, [], 0, "tiny") for name in names]
    lines = prompt_difference(*cards)
    assert lines[:2] == ["--- zero-shot/chat", "+++ verifiers/gsm8k@<=0.3.0"]
    assert [line[0] for line in lines[3:]] == [" ", "-", "+", " "]
    assert prompt_lines(cards[0]["example"])[2:] == ["[user]", "How many?"]
    assert protocol_differences(cards[0], cards[0]) == {}
