"""lm-evaluation-harness 0.4.13: verdicts, extracted strings, votes, prompts, decoding."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gradeschool.completion import Prompt
from gradeschool.datasets.load import is_here, load_dataset
from gradeschool.problem import Problem
from gradeschool.protocols.lm_eval.scorers import MGSM_TASKS as TASKS
from gradeschool.protocols.registry import all_protocols, all_votes, get_protocol
from tests.peers.compare import (
    COMPARED,
    Case,
    assert_none,
    differences,
    localised,
    recorded,
    with_number_golds,
)
from tests.peers.oracles import PLATINUM, lm_eval_scorers
from tests.peers.peer import Peer
from tests.peers.shared_cases import shared_cases

pytestmark = pytest.mark.peers

ALL_PROTOCOLS = [
    name
    for name in all_protocols()
    if name.startswith("lm-eval/") and "@" not in name and "minerva" not in name
]
SCORERS = lm_eval_scorers()
# On other golds these fail upstream, or take nothing for an answer.
NUMBER_GOLDS = ("hrm8k-gsm8k-en", "aime", "hendrycks-math500", "mgsm-direct/remove-whitespace")
PLATINUM_EVERY = 20  # recorded completions for each that the platinum tasks judge too
ELECTIONS = 600
DEFAULT_MAX_TOKENS = 256  # of every model class of the harness, where a task sets none


@pytest.fixture
def peer(peers: Callable[[str], Peer]) -> Peer:
    return peers("lm_eval")


def test_recorded_completions_get_the_same_verdicts(
    peer: Peer, data: Path, gsm8k_test: Sequence[Problem]
) -> None:
    cases = recorded(data, gsm8k_test)
    assert len(cases) == 36_992
    assert_none(differences(peer, cases, SCORERS, "recorded completions"))


def test_adversarial_completions_get_the_same_verdicts(peer: Peer, data: Path) -> None:
    cases = [shared.case for shared in shared_cases(data)]
    assert_none(differences(peer, cases, SCORERS, "adversarial completions"))


def test_invented_completions_get_the_same_verdicts(peer: Peer, invented: list[Case]) -> None:
    scorers = {scorer: name for scorer, name in SCORERS.items() if scorer not in NUMBER_GOLDS}
    assert_none(differences(peer, invented, scorers, "invented completions"))


def test_invented_completions_with_number_golds_get_the_same_verdicts(
    peer: Peer, invented: list[Case]
) -> None:
    cases = with_number_golds(invented)
    assert len(cases) > 1000
    scorers = {scorer: SCORERS[scorer] for scorer in NUMBER_GOLDS}
    assert_none(differences(peer, cases, scorers, "invented completions"))


@pytest.mark.parametrize("language", TASKS)
def test_completions_in_eleven_languages_get_the_same_verdicts(
    peer: Peer, data: Path, gsm8k_test: Sequence[Problem], language: str
) -> None:
    phrase = TASKS[language][3].partition("(")[0]
    cases = with_number_golds(localised(recorded(data, gsm8k_test), phrase))
    scorers = {scorer: name for scorer, name in SCORERS.items() if scorer.startswith("mgsm")}
    assert_none(differences(peer, cases, scorers, "completions in eleven languages"))


def test_the_filters_of_platinum_are_those_of_gsm8k(
    peer: Peer, data: Path, invented: list[Case], gsm8k_test: Sequence[Problem]
) -> None:
    cases = [*recorded(data, gsm8k_test)[::PLATINUM_EVERY], *invented[::8]]
    assert_none(differences(peer, cases, PLATINUM, "completions as of platinum"))


def elections(data: Path, problems: Sequence[Problem]) -> list[tuple[list[str], Problem]]:
    """Return the samples of problems: what 28 runs wrote of one problem, and short forms."""
    draw = random.Random(64)
    written: dict[str, list[str]] = {}
    for case in recorded(data, problems):
        written.setdefault(case.problem.id, []).append(case.completion)
    pairs = []
    for problem in problems[:ELECTIONS]:
        near = (problem.gold, problem.gold.replace(",", ""), "7", "1,000", "1000", "[invalid]")
        short = [f"So.\nThe answer is {draw.choice(near)}{draw.choice(['.', '', ' or so'])}"
                 for _ in range(draw.randint(0, 64))]  # fmt: skip
        texts = [*short, *written[problem.id], *[""] * 64]
        pairs.append((draw.sample(texts[:64], 64), problem))
    return pairs


@pytest.mark.parametrize("name", all_votes())
@pytest.mark.parametrize("labels", ["", "-platinum"])
def test_votes_choose_the_same_answers(
    peer: Peer, data: Path, gsm8k_test: Sequence[Problem], name: str, labels: str
) -> None:
    vote, scorer = (
        all_votes()[name],
        name.removeprefix("lm-eval/").replace("gsm8k", f"gsm8k{labels}"),
    )
    cases = elections(data, gsm8k_test)
    rows = [
        {"completions": texts, "gold": p.gold, "solution": p.solution, "scorers": [scorer]}
        for texts, p in cases
    ]
    unequal = []
    for (texts, problem), answer in zip(cases, peer.ask(rows), strict=True):
        ours = vote.judge(texts, problem)
        read = "[invalid]" if ours.answer is None else ours.answer.text
        if [ours.correct, read] != answer[scorer]:
            unequal.append(f"{name}: ours {ours}, theirs {answer[scorer]}: problem {problem.id}")
    COMPARED["votes of lm_eval"] += len(cases)
    assert_none(unequal)
    judged = [vote.judge(texts, problem) for texts, problem in cases]
    assert {verdict.outcome.value for verdict in judged} == {"correct", "wrong", "no_answer"}


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[str], Path]:
    """A function that writes a dataset as the files train and test, and returns their folder."""

    def write(dataset: str) -> Path:
        for split, name in (("train", "gsm8k:train"), ("test", dataset)):
            rows = [
                {"question": p.question, "answer": p.solution} for p in load_dataset(name).problems
            ]
            lines = "".join(json.dumps(row) + "\n" for row in rows)
            (tmp_path / f"{split}.jsonl").write_text(lines, "utf-8")
        return tmp_path

    return write


@pytest.mark.parametrize("name", ALL_PROTOCOLS)
def test_prompts_are_the_same_to_the_letter(
    peer: Peer, folder: Callable[[str], Path], data: Path, name: str
) -> None:
    protocol = get_protocol(name)
    if not is_here(protocol.dataset):
        pytest.skip(f"{protocol.dataset} is not on this machine")
    plain, _, form = name.partition("+")
    answer = peer.answer(
        {
            "prompts": plain.removeprefix("lm-eval/"),
            "data": str(folder(protocol.dataset)),
            "form": form or "plain",
        }
    )
    problems = load_dataset(protocol.dataset).problems
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    ours = [_sent(prompt) for prompt in protocol.render(problems, shots)]
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
    assert answer["repeats"] == protocol.samples


def _sent(prompt: Prompt) -> str | list[list[str]] | None:
    """Return a prompt in the form of the worker's answers."""
    if prompt.is_chat:
        return [[message.role, message.content] for message in prompt.messages]
    return prompt.text
