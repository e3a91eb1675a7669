"""verl 0.9.1, oumi 0.9, HELM 0.5.16 and SGLang 0.5.23: verdicts and extracted strings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gradeschool.problem import Problem
from tests.peers.compare import Case, assert_none, differences, recorded, with_number_golds
from tests.peers.oracles import FUNCTIONS_OF
from tests.peers.peer import Peer
from tests.peers.shared_cases import shared_cases

pytestmark = pytest.mark.peers


@pytest.fixture
def peer(peers: Callable[[str], Peer]) -> Peer:
    return peers("functions")


def test_recorded_completions_get_the_same_verdicts(
    peer: Peer, data: Path, gsm8k_test: Sequence[Problem]
) -> None:
    cases = recorded(data, gsm8k_test)
    assert len(cases) == 36_992
    assert_none(differences(peer, cases, FUNCTIONS_OF, "recorded completions"))


def test_adversarial_completions_get_the_same_verdicts(peer: Peer, data: Path) -> None:
    cases = [shared.case for shared in shared_cases(data)]
    assert_none(differences(peer, cases, FUNCTIONS_OF, "adversarial completions"))


def test_invented_completions_get_the_same_verdicts(peer: Peer, invented: list[Case]) -> None:
    cases = with_number_golds(invented)
    assert_none(differences(peer, cases, FUNCTIONS_OF, "invented completions"))
