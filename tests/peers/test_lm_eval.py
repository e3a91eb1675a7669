"""lm-evaluation-harness 0.4.13: verdicts, extracted strings, prompts, decoding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gradeschool.completion import Prompt
from gradeschool.datasets.load import load_dataset
from gradeschool.problem import Problem
from gradeschool.protocols.registry import all_protocols, get_protocol
from tests.peers.compare import (
    COMPARED,
    Case,
    assert_none,
    differences,
    recorded,
    with_number_golds,
)
from tests.peers.oracles import lm_eval_scorers
from tests.peers.peer import Peer
from tests.peers.shared_cases import shared_cases

pytestmark = pytest.mark.peers

ALL_PROTOCOLS = [
    name for name in all_protocols() if name.startswith("lm-eval/") and "@" not in name
]
SCORERS = lm_eval_scorers()
HRM8K = "hrm8k-gsm8k-en"
DEFAULT_MAX_TOKENS = 256  # of every model class of the harness, where a task sets none


@pytest.fixture
def peer(peers: Callable[[str], Peer]) -> Peer:
    return peers("lm_eval")


def test_recorded_completions(peer: Peer, data: Path, gsm8k_test: Sequence[Problem]) -> None:
    cases = recorded(data, gsm8k_test)
    assert len(cases) == 36_992
    assert_none(differences(peer, cases, SCORERS, "recorded completions"))


def test_adversarial_completions(peer: Peer, data: Path) -> None:
    cases = [shared.case for shared in shared_cases(data)]
    assert_none(differences(peer, cases, SCORERS, "adversarial completions"))


def test_invented_completions(peer: Peer, invented: list[Case]) -> None:
    scorers = {scorer: name for scorer, name in SCORERS.items() if scorer != HRM8K}
    assert_none(differences(peer, invented, scorers, "invented completions"))


def test_invented_completions_of_hrm8k(peer: Peer, invented: list[Case]) -> None:
    cases = with_number_golds(invented)
    assert len(cases) > 1000
    assert_none(differences(peer, cases, {HRM8K: SCORERS[HRM8K]}, "invented completions"))


@pytest.mark.parametrize("name", ALL_PROTOCOLS)
def test_prompts(peer: Peer, data: Path, gsm8k_test: Sequence[Problem], name: str) -> None:
    protocol = get_protocol(name)
    plain, _, form = name.partition("+")
    answer = peer.one(
        {
            "prompts": plain.removeprefix("lm-eval/"),
            "data": str(data / "gsm8k"),
            "form": form or "plain",
        }
    )
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    ours = [_sent(prompt) for prompt in protocol.render(gsm8k_test, shots)]
    unequal = [i for i, (a, b) in enumerate(zip(ours, answer["prompts"], strict=True)) if a != b]
    assert not unequal, (
        f"{len(unequal)} prompts differ, first {ours[unequal[0]]!r}, "
        f"theirs {answer['prompts'][unequal[0]]!r}"
    )
    COMPARED["prompts of lm_eval"] += len(ours)
    generation, decoding = answer["generation"], protocol.decoding
    assert tuple(generation["until"]) == decoding.stop
    assert generation.get("temperature", 0.0) == decoding.temperature
    assert generation.get("max_gen_toks", DEFAULT_MAX_TOKENS) == decoding.max_tokens


def _sent(prompt: Prompt) -> str | list[list[str]] | None:
    """Return a prompt in the form of the worker's answers."""
    if prompt.is_chat:
        return [[message.role, message.content] for message in prompt.messages]
    return prompt.text
