"""Math-Verify in four harnesses: verdicts and extracted strings, lighteval's prompts, time taken.

One completion in `EVERY` of the recorded ones is compared: some of the harnesses fork a process for
each, and some completions take any of them a tenth of a second.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from gradeschool.datasets.load import load_dataset
from gradeschool.problem import Problem
from gradeschool.prompts import MGSM as LANGUAGES
from gradeschool.prompts import rationale
from gradeschool.protocols.registry import all_protocols, get_protocol, get_scorer
from tests.peers.compare import COMPARED, SHOWN, Case, assert_none, recorded
from tests.peers.peer import Peer
from tests.peers.shared_cases import shared_cases
from tests.peers.views import missing_extra, peer_view, view
from tests.support.outcomes import outcomes_of

pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(
        bool(missing_extra(get_scorer("math-verify/default"))),
        reason="Math-Verify is not installed: pip install 'gradeschool[math-verify]'",
    ),
]

# environment -> {peer_scorer of the worker: scorer}
SCORERS = {
    "evalscope": {"gsm8k": "evalscope/gsm8k", "aime": "evalscope/aime"},
    "lighteval": {
        "gsm8k": "lighteval/gsm8k",
        "gsm8k-inspect": "lighteval/gsm8k-inspect",
        "gsm-plus": "lighteval/gsm-plus",
        "aime": "lighteval/aime",
    },
    "trl": {"accuracy-reward": "trl/accuracy-reward"},
    "verifiers": {
        "math-rubric": "verifiers/math-rubric",
        "math-rubric-lenient": "verifiers/math-rubric-lenient",
        "default": "math-verify/default",
        "boxed-gold": "math-verify/boxed-gold",
        "gsm8k-v1": "verifiers/gsm8k-v1",
    },
}
EVERY = int(os.environ.get("GRADESCHOOL_EVERY") or 10)  # 1: all 36,992
FORKING = "evalscope"  # two processes a completion: eleven minutes for 12,000 on two cores
# Readings of invented completions: 1.0.6 and 1.11 of the LaTeX parser clean "6and" otherwise.
READINGS = {
    "lighteval/gsm8k": 5,
    "lighteval/gsm8k-inspect": 5,
}
LONGEST = 1000  # characters of a reading that a scorer hands back


@pytest.fixture(params=SCORERS)
def peer(request: pytest.FixtureRequest, peers: Callable[[str], Peer]) -> Peer:
    return peers(request.param)


def differences(peer: Peer, cases: Sequence[Case], what: str) -> tuple[list[str], list[str]]:
    """Return the verdicts and the readings in which a scorer and its peer differ."""
    scorers = {peer_scorer: get_scorer(name) for peer_scorer, name in SCORERS[peer.name].items()}
    for scorer in scorers.values():
        outcomes_of(scorer, [(case.completion, scorer.reference(case.problem)) for case in cases])
    verdicts, readings = [], []
    for case, answers in zip(cases, peer_answers(peer, cases), strict=True):
        for peer_scorer, scorer in scorers.items():
            theirs = peer_view(scorer.name, answers[peer_scorer])
            ours = view(scorer, case.completion, case.problem)
            line = f"{scorer.name}: ours {ours}, theirs {theirs}: {case.name}, {case.completion!r}"
            if theirs.verdict != ours.verdict:
                verdicts.append(line)
            elif (theirs.read or "")[:LONGEST] != (ours.read or "")[:LONGEST]:
                readings.append(line)
    COMPARED[f"{what}: verdicts of {peer.name}"] += len(cases) * len(scorers)
    return verdicts, readings


def peer_answers(
    peer: Peer, cases: Sequence[Case]
) -> Sequence[Mapping[str, list[bool | str | None]]]:
    rows = [
        {
            "completion": case.completion,
            "gold": case.problem.gold,
            "solution": case.problem.solution,
        }
        for case in cases
    ]
    return list(peer.ask(rows))


def test_recorded_completions_get_the_same_verdicts(
    peer: Peer, data: Path, gsm8k_test: Sequence[Problem]
) -> None:
    cases = recorded(data, gsm8k_test)[::EVERY]
    verdicts, readings = differences(peer, cases, "recorded completions")
    assert_none([*verdicts, *readings])


def test_adversarial_completions_get_the_same_verdicts(peer: Peer, data: Path) -> None:
    cases = [shared.case for shared in shared_cases(data)]
    verdicts, readings = differences(peer, cases, "adversarial completions")
    assert_none([*verdicts, *readings])


def test_invented_completions_get_the_same_verdicts(peer: Peer, invented: list[Case]) -> None:
    cases = invented[:: 4 if peer.name == FORKING else 1]
    verdicts, readings = differences(peer, cases, "invented completions")
    assert_none(verdicts)
    allowed = sum(READINGS.get(name, 0) for name in SCORERS[peer.name].values())
    assert len(readings) <= allowed, "\n".join(readings[:SHOWN])


def test_prompts_of_lighteval_are_the_same_to_the_letter(
    peers: Callable[[str], Peer], data: Path, gsm8k_test: Sequence[Problem]
) -> None:
    peer = peers("lighteval")
    answer = peer.answer({"prompts": len(gsm8k_test), "data": str(data / "gsm8k")})
    plain, turns = get_protocol("lighteval/gsm8k"), get_protocol("lighteval/gsm8k+multiturn")
    shots = load_dataset(plain.shots).problems
    queries = [f"Question: {problem.question}\nAnswer:" for problem in gsm8k_test]
    texts = [prompt.text for prompt in plain.render(gsm8k_test, shots)]
    messages = [
        [message._asdict() for message in prompt.messages]
        for prompt in turns.render(gsm8k_test, shots)
    ]
    # The peer's are in the order of evaluation, which is shuffled.
    assert dict(zip(answer["queries"], answer["prompts"], strict=True)) == dict(
        zip(queries, texts, strict=True)
    )
    assert dict(zip(answer["queries"], answer["messages"], strict=True)) == dict(
        zip(queries, messages, strict=True)
    )
    assert answer["queries"] != queries
    assert tuple(answer["stop"]) == plain.decoding.stop == turns.decoding.stop
    assert answer["max_tokens"] == plain.decoding.max_tokens == turns.decoding.max_tokens
    COMPARED["prompts of lighteval"] += 2 * len(texts)


# Protocol -> the benchmark of evalscope, its subset and the columns of its dataset.
BENCHMARKS = {
    "evalscope/gsm8k": ("gsm8k", "main", "question", "golden"),
    "evalscope/math-500": ("math_500", "Level 1", "problem", "answer"),
    "evalscope/aime24": ("aime24", "default", "problem", "answer"),
    "evalscope/aime25": ("aime25", "default", "problem", "answer"),
    "evalscope/cmath": ("cmath", "Grade 1", "question", "golden"),
    **{f"evalscope/mgsm-{code}": ("mgsm", code, "question", "answer_number") for code in LANGUAGES},
}


def evalscope_row(problem: Problem, question: str, gold: str) -> dict[str, object]:
    """Return a problem in the columns of a benchmark's dataset."""
    row = {"solution": "", "unique_id": problem.id, "level": 1, "equation_solution": ""}
    answer = problem.solution if gold == "golden" else rationale(problem)
    return row | {"answer": answer, question: problem.question, gold: problem.gold}


def test_every_prompt_of_evalscope_is_compared() -> None:
    assert set(BENCHMARKS) == {name for name in all_protocols() if name.startswith("evalscope/")}


@pytest.mark.parametrize("name", BENCHMARKS)
def test_prompts_of_evalscope_are_the_same_to_the_letter(
    peers: Callable[[str], Peer], data: Path, name: str
) -> None:
    benchmark, subset, question, gold = BENCHMARKS[name]
    protocol = get_protocol(name)
    problems = load_dataset(protocol.dataset).problems
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    rows = [[evalscope_row(problem, question, gold) for problem in group]
            for group in (problems, shots)]  # fmt: skip
    answer = peers("evalscope").answer(
        {"prompts": benchmark, "subset": subset, "rows": rows[0], "shots": rows[1][:9]}
    )
    ours = [
        [[message.role, message.content] for message in prompt.messages]
        for prompt in protocol.render(problems, shots)
    ]
    assert ours == answer["prompts"]
    assert answer["shot_count"] == protocol.shot_count
    COMPARED["prompts of evalscope"] += len(ours)


def test_golds_of_math_500_get_the_same_verdicts(peers: Callable[[str], Peer], data: Path) -> None:
    """A gold in one form, another problem's in the next, and every third solution as it is."""
    forms = ("The final answer is: $\\boxed{{{}}}$. I hope it is correct", "ANSWER: {}",
             "ANSWER: ${}$", "The answer is \\boxed{{{}}}.")  # fmt: skip
    problems = load_dataset("math500").problems
    cases = []
    for number, problem in enumerate(problems[::3]):
        texts = [
            forms[number % 4].format(problem.gold),
            forms[(number + 1) % 4].format(problems[3 * number + 1].gold)
            if 3 * number + 1 < len(problems)
            else "",
        ]
        texts += [rationale(problem)] if number % 3 == 0 else []
        cases += [Case(f"{problem.id} {text[:20]}", text, problem) for text in texts]
    scorer = get_scorer("lighteval/math-500")
    rows = [{"completion": case.completion, "gold": rationale(case.problem), "solution": "#### 1"}
            for case in cases]  # fmt: skip
    unequal = []
    for case, answers in zip(cases, peers("lighteval").ask(rows), strict=True):
        theirs = peer_view(scorer.name, answers["math-500"])
        ours = view(scorer, case.completion, case.problem)
        if theirs != ours:
            unequal.append(f"ours {ours}, theirs {theirs}: {case.name}")
    COMPARED["golds of MATH-500: verdicts of lighteval"] += len(cases)
    assert_none(unequal)


@pytest.mark.parametrize(
    ("dataset", "every", "name"),
    [("math500", 10, "gsm8k"), ("cmath", 10, "gsm8k"), ("mgsm:th", 10, "gsm8k"),
     ("aime:2024", 1, "aime"), ("aime:2025", 1, "aime")],
)  # fmt: skip
def test_golds_of_other_sets_get_the_verdicts_of_evalscope(
    peers: Callable[[str], Peer], data: Path, dataset: str, every: int, name: str
) -> None:
    """A gold in a box, and the next problem's."""
    problems = load_dataset(dataset).problems[::every]
    texts = [f"So it is\n\\boxed{{{problem.gold}}}" for problem in problems]
    cases = [Case(f"{problem.id} {text}", text, problem)
             for problem, *pair in zip(problems, texts, [*texts[1:], texts[0]], strict=True)
             for text in pair]  # fmt: skip
    scorer = get_scorer(f"evalscope/{name}")
    unequal = [
        f"ours {ours}, theirs {theirs}: {case.name}"
        for case, answers in zip(cases, peer_answers(peers("evalscope"), cases), strict=True)
        if (theirs := peer_view(scorer.name, answers[name]))
        != (ours := view(scorer, case.completion, case.problem))
    ]
    COMPARED["golds of other sets: verdicts of evalscope"] += len(cases)
    assert_none(unequal)
