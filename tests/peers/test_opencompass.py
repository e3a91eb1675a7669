"""OpenCompass 0.5.4: verdicts and extracted strings of its GSM8K evaluator, prompts, decoding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gradeschool.datasets.files import cache_folder
from gradeschool.datasets.load import load_dataset
from gradeschool.problem import Problem
from gradeschool.prompts import MGSM as LANGUAGES
from gradeschool.protocol import Protocol
from gradeschool.protocols.registry import all_protocols, get_scorer
from tests.peers.compare import (
    COMPARED,
    Case,
    assert_none,
    differences,
    localised,
    recorded,
    with_number_golds,
)
from tests.peers.install import packages
from tests.peers.oracles import OPENCOMPASS
from tests.peers.peer import Peer
from tests.peers.shared_cases import shared_cases
from tests.peers.views import missing_extra, view

pytestmark = pytest.mark.peers
EVERY = 40  # recorded completions for each that Math-Verify reads


@pytest.fixture
def peer(peers: Callable[[str], Peer]) -> Peer:
    return peers("opencompass")


def test_recorded_completions_get_the_same_verdicts(
    peer: Peer, data: Path, gsm8k_test: Sequence[Problem]
) -> None:
    cases = recorded(data, gsm8k_test)
    assert len(cases) == 36_992
    assert_none(differences(peer, cases, OPENCOMPASS, "recorded completions"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_completions_in_eleven_languages_get_the_same_verdicts(
    peer: Peer, data: Path, gsm8k_test: Sequence[Problem], language: str
) -> None:
    cases = localised(recorded(data, gsm8k_test), f"{LANGUAGES[language][0]}:")
    scorers = {f"mgsm-{language}": f"opencompass/mgsm-{language}"}
    assert_none(differences(peer, cases, scorers, "completions in eleven languages"))


@pytest.mark.skipif(
    bool(missing_extra(get_scorer("opencompass/math-verify"))),
    reason="Math-Verify is not installed: pip install 'gradeschool[math-verify]'",
)
def test_math_verify_gives_the_same_verdicts(
    peer: Peer, data: Path, gsm8k_test: Sequence[Problem]
) -> None:
    """On completions in boxes, and on golds of MATH-500 against their own and other golds."""
    cases = [
        case._replace(completion=f"{case.completion}\nSo \\boxed{{{case.completion[-9:]}}}.")
        for case in recorded(data, gsm8k_test)[::EVERY]
    ]
    problems = load_dataset("math500").problems
    for number, problem in enumerate(problems):
        other = problems[(number + 1) % len(problems)]
        cases += [
            Case(f"{problem.id} {gold}", f"It is $\\boxed{{{gold}}}$.", problem)
            for gold in (problem.gold, other.gold)
        ]
    scorer = get_scorer("opencompass/math-verify")
    rows = [
        {"completion": case.completion, "gold": scorer.reference(case.problem),
         "solution": "#### 1", "scorers": ["math-verify"]}
        for case in cases
    ]  # fmt: skip
    unequal = [
        f"{case.name}: ours {ours}, theirs {answer['math-verify'][0]}: {case.completion[-99:]!r}"
        for case, answer in zip(cases, peer.ask(rows), strict=True)
        if (ours := view(scorer, case.completion, case.problem).verdict) != answer["math-verify"][0]
    ]
    COMPARED["verdicts of opencompass by Math-Verify"] += len(cases)
    assert_none(unequal)


@pytest.mark.parametrize(("dataset", "name"), [("svamp", "gsm8k"), ("gsm-hard", "gsm-hard")])
def test_golds_of_other_sets_get_the_same_verdicts(
    peer: Peer, data: Path, dataset: str, name: str
) -> None:
    """A gold as it is, as Python writes a float, and the next problem's."""
    problems = load_dataset(dataset).problems
    cases = [
        Case(problem.id, f"So 1 + 1. The answer is {gold}.\n", problem)
        for problem, other in zip(problems, [*problems[1:], problems[0]], strict=True)
        for gold in (problem.gold, str(float(problem.gold)), other.gold)
    ]
    scorers = {name: f"opencompass/{name}"}
    assert_none(differences(peer, cases, scorers, "golds of other sets"))


def test_adversarial_completions_get_the_same_verdicts(peer: Peer, data: Path) -> None:
    cases = [shared.case for shared in shared_cases(data)]
    assert_none(differences(peer, cases, OPENCOMPASS, "adversarial completions"))


def test_invented_completions_get_the_same_verdicts(peer: Peer, invented: list[Case]) -> None:
    assert_none(differences(peer, with_number_golds(invented), OPENCOMPASS, "invented completions"))


# Folder of a configuration -> the variable that holds it, and the column of the question.
VARIABLES = {
    "math": {"variable": "math_infer_cfg", "column": "problem"},
    "aime2024": {"variable": "aime2024_infer_cfg"},
    "SVAMP": {"variable": "svamp_infer_cfg"},
    "gsm_hard": {"variable": "gsmhard_infer_cfg"},
}
# The file that we fetch -> its path in the wheel, and what another commit of it says otherwise.
SHOT_FILES = {
    "opencompass:shots": ("gsm8k/gsm8k_gen_1d7fe4.py", "", ""),
    "opencompass:svamp-shots": (
        "SVAMP/svamp_gen_fb25e4.py", "opencompass/SVAMP", "./data/svamp/test.jsonl"
    ),
}  # fmt: skip
PROTOCOLS = [
    protocol for name, protocol in all_protocols().items() if name.startswith("opencompass/")
]


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.name)
def test_prompts_are_the_same_to_the_letter(
    peer: Peer, gsm8k_test: Sequence[Problem], protocol: Protocol
) -> None:
    """The shots are those of the wheel, whose file has the digest that we fetch."""
    *_, folder, config = protocol.source.removesuffix(".py").split("/")
    shots: Sequence[Problem] = ()
    if protocol.shots in SHOT_FILES:
        name, here, there = SHOT_FILES[protocol.shots]
        file = packages("opencompass") / "opencompass" / "configs" / "datasets" / name
        (cache_folder() / "exemplars").mkdir(parents=True)
        text = file.read_text("utf-8").replace(here, there) if here else file.read_text("utf-8")
        (cache_folder() / "exemplars" / file.name).write_text(text, "utf-8")
    if protocol.shots:
        shots = load_dataset(protocol.shots).problems
    problems = shots if protocol.shots == protocol.dataset else gsm8k_test
    questions = [problem.question for problem in problems]
    request = {"prompts": config, "questions": questions, "folder": folder}
    if protocol.shots == protocol.dataset:
        request["answers"] = [str(float(problem.gold)) for problem in problems]
    request["language"] = protocol.dataset.partition(":")[2]
    request |= VARIABLES.get(folder, {})
    answer = peer.answer(request)
    ours = [
        [[message.role, message.content] for message in prompt.messages]
        for prompt in protocol.render(problems, shots)
    ]
    assert ours == answer["prompts"]
    assert answer["options"].get("max_out_len") == protocol.decoding.max_tokens
    assert tuple(answer["options"].get("stopping_criteria", ())) == protocol.decoding.stop
    COMPARED["prompts of opencompass"] += len(ours)
