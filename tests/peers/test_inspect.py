"""inspect_ai on both sides of its fix, and inspect_evals: verdicts, answers, words, prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gradeschool.datasets.load import load_dataset
from gradeschool.problem import Problem
from gradeschool.protocols.inspect_ai.unicode_numbers import superscript_number, unicode_number
from gradeschool.protocols.registry import get_protocol
from tests.peers.compare import COMPARED, SHOWN, Case, assert_none, differences, recorded
from tests.peers.oracles import INSPECT
from tests.peers.peer import Peer
from tests.peers.shared_cases import shared_cases

pytestmark = pytest.mark.peers

# The functions that read one word. From 0.3.221 on the scorer uses the first alone.
READERS: dict[str, dict[str, Callable[[str], float]]] = {
    name: {"unicode": unicode_number} for name in INSPECT
}
READERS["inspect_ai_0_3_220"]["superscript"] = superscript_number
PROMPTS = {
    name: f"inspect/{name}" for name in ("gsm8k", "gsm8k-5shot", "gsm8k-0shot", "aime2025")
} | {"mgsm": "inspect/mgsm-en"}


@pytest.fixture(params=list(INSPECT))
def peer(request: pytest.FixtureRequest, peers: Callable[[str], Peer]) -> Peer:
    return peers(request.param)


def test_recorded_completions_get_the_same_verdicts(
    peer: Peer, data: Path, gsm8k_test: Sequence[Problem]
) -> None:
    cases = recorded(data, gsm8k_test)
    assert len(cases) == 36_992
    assert_none(differences(peer, cases, INSPECT[peer.name], "recorded completions"))


def test_adversarial_completions_get_the_same_verdicts(peer: Peer, data: Path) -> None:
    cases = [shared.case for shared in shared_cases(data)]
    assert_none(differences(peer, cases, INSPECT[peer.name], "adversarial completions"))


def test_invented_completions_get_the_same_verdicts(peer: Peer, invented: list[Case]) -> None:
    assert_none(differences(peer, invented, INSPECT[peer.name], "invented completions"))


def test_words_are_read_as_the_same_float(peer: Peer, words: list[str]) -> None:
    unequal = []
    readers = READERS[peer.name]
    for word, answer in zip(words, peer.ask([{"number": word} for word in words]), strict=True):
        for name, read in readers.items():
            ours, theirs = _read(read, word), tuple(answer[name])
            if ours != theirs:
                unequal.append(f"{name}: {word!r}: ours {ours}, theirs {theirs}")
    COMPARED[f"words read by {peer.name}"] += len(words) * len(readers)
    assert not unequal, "\n".join([f"{len(unequal)} differences:", *unequal[:SHOWN]])


def _read(read: Callable[[str], float], word: str) -> tuple[str | None, str]:
    try:
        return float(read(word)).hex(), ""
    except (ValueError, ArithmeticError) as error:
        return None, type(error).__name__


@pytest.mark.parametrize("task", PROMPTS)
def test_prompts_are_the_same_to_the_letter(
    peers: Callable[[str], Peer], data: Path, gsm8k_test: Sequence[Problem], task: str
) -> None:
    peer, protocol = peers("inspect_ai"), get_protocol(PROMPTS[task])
    answer = peer.answer({"prompts": task, "data": str(data / "gsm8k")})
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    ours = [
        [[message.role, message.content] for message in prompt.messages]
        for prompt in protocol.render(gsm8k_test, shots)
    ]
    unequal = [i for i, (a, b) in enumerate(zip(ours, answer["prompts"], strict=True)) if a != b]
    assert not unequal, f"{len(unequal)} prompts differ, first {ours[unequal[0]]!r}"
    assert answer["targets"] == [problem.gold for problem in gsm8k_test]
    COMPARED["prompts of inspect_evals"] += len(ours)
