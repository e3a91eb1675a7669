"""The card of a protocol: quirks, links, package."""

from gradeschool import all_protocols, all_scorers
from gradeschool.datasets.sources import SOURCES
from gradeschool.protocols.card import links, package_of, protocol_card, quirks, scorer_card
from gradeschool.protocols.registry import packages


def test_every_name_has_a_package_and_a_card() -> None:
    for name in all_scorers():
        protocols = [p.name for p in all_protocols().values() if name in p.scorers]
        assert sorted(scorer_card(name).protocols) == sorted(protocols)
    for protocol in all_protocols().values():
        card = protocol_card(protocol)
        assert card.example is None
        assert package_of(protocol.name) in packages()
        assert [vote.name for vote in card.votes] == [*protocol.votes]
        assert protocol.dataset in SOURCES


def test_quirks_and_links_are_read_from_the_packages() -> None:
    assert sum(len(quirks(package)) for package in packages()) > 200
    assert sum(bool(links(package)) for package in packages()) > 18
