"""OpenCompass 0.5.4: verdicts and extracted strings of its GSM8K evaluator, prompts, decoding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from shutil import copy

import pytest

from gradeschool.datasets.files import cache_folder
from gradeschool.datasets.load import load_dataset
from gradeschool.problem import Problem
from gradeschool.protocol import Protocol
from gradeschool.protocols.registry import all_protocols
from tests.peers.compare import (
    COMPARED,
    Case,
    assert_none,
    differences,
    recorded,
    with_number_golds,
)
from tests.peers.install import packages
from tests.peers.oracles import OPENCOMPASS
from tests.peers.peer import Peer
from tests.peers.shared_cases import shared_cases

pytestmark = pytest.mark.peers


@pytest.fixture
def peer(peers: Callable[[str], Peer]) -> Peer:
    return peers("opencompass")


def test_recorded_completions_get_the_same_verdicts(
    peer: Peer, data: Path, gsm8k_test: Sequence[Problem]
) -> None:
    cases = recorded(data, gsm8k_test)
    assert len(cases) == 36_992
    assert_none(differences(peer, cases, OPENCOMPASS, "recorded completions"))


def test_adversarial_completions_get_the_same_verdicts(peer: Peer, data: Path) -> None:
    cases = [shared.case for shared in shared_cases(data)]
    assert_none(differences(peer, cases, OPENCOMPASS, "adversarial completions"))


def test_invented_completions_get_the_same_verdicts(peer: Peer, invented: list[Case]) -> None:
    assert_none(differences(peer, with_number_golds(invented), OPENCOMPASS, "invented completions"))


PROTOCOLS = [
    protocol for name, protocol in all_protocols().items() if name.startswith("opencompass/")
]


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.name)
def test_prompts_are_the_same_to_the_letter(
    peer: Peer, gsm8k_test: Sequence[Problem], protocol: Protocol
) -> None:
    """The shots are those of the wheel, whose file has the digest that we fetch."""
    config = Path(protocol.source.rpartition("/")[2]).stem
    shots: Sequence[Problem] = ()
    if protocol.shots:
        file = packages("opencompass") / "opencompass" / "configs" / "datasets" / "gsm8k"
        (cache_folder() / "exemplars").mkdir(parents=True)
        copy(file / "gsm8k_gen_1d7fe4.py", cache_folder() / "exemplars")
        shots = load_dataset(protocol.shots).problems
    questions = [problem.question for problem in gsm8k_test]
    answer = peer.answer({"prompts": config, "questions": questions})
    ours = [
        [[message.role, message.content] for message in prompt.messages]
        for prompt in protocol.render(gsm8k_test, shots)
    ]
    assert ours == answer["prompts"]
    assert answer["options"]["max_out_len"] == protocol.decoding.max_tokens
    assert tuple(answer["options"].get("stopping_criteria", ())) == protocol.decoding.stop
    COMPARED["prompts of opencompass"] += len(ours)
