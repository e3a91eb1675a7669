"""lm-eval 0.4.13's minerva_math500: both metrics, prompts.

No completions of MATH are at hand: golds are written in many forms and judged against their own and
other golds, and one in `EVERY` recorded completions of GSM8K gets a last sentence as Minerva's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gradeschool.answers.extractor import extract_final_answer
from gradeschool.datasets.files import cache_folder
from gradeschool.datasets.load import load_dataset
from gradeschool.problem import Problem
from gradeschool.prompts import rationale
from gradeschool.protocols.lm_eval.math import boxed_solution
from gradeschool.protocols.lm_eval.prompts import MINERVA
from gradeschool.protocols.registry import get_scorer
from tests.peers.compare import COMPARED, Case, assert_none, recorded
from tests.peers.install import packages
from tests.peers.peer import Peer
from tests.peers.views import missing_extra, peer_view, view

pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(
        bool(missing_extra(get_scorer(MINERVA.scorers[0]))),
        reason="Math-Verify is not installed: pip install 'gradeschool[math-verify]'",
    ),
]
EVERY = 40
FINAL = "Final Answer: The final answer is {}. I hope it is correct."
FORMS = (
    "${}$", "{}", "$x = {}$", "$\\boxed{{{}}}$", "${} \\text{{ units}}$", "${}\\,$", "$ {} $ cm",
    "$\\$ {}$", "the ${}$ of it", "\\mbox{{{}}}", "${}^\\circ$", "$0 + {}$", "$({})$",
)  # fmt: skip


@pytest.fixture
def peer(peers: Callable[[str], Peer]) -> Peer:
    return peers("lm_eval_math")


def differences(peer: Peer, cases: Sequence[Case], what: str) -> list[str]:
    """Return a line for each verdict or string read in which a metric and ours differ."""
    rows = [
        {"completion": case.completion, "solution": boxed_solution(case.problem)} for case in cases
    ]
    lines = []
    for case, answers in zip(cases, peer.ask(rows), strict=True):
        for name in MINERVA.scorers:
            theirs = peer_view(name, answers[name.removeprefix("lm-eval/")])
            ours = view(get_scorer(name), case.completion, case.problem)
            if theirs != ours:
                lines.append(f"{name}: ours {ours}, theirs {theirs}: {case.name}, "
                             f"{case.completion[-200:]!r}")  # fmt: skip
    COMPARED[f"{what}: verdicts of minerva_math500"] += len(rows) * len(MINERVA.scorers)
    return lines


def test_golds_in_many_forms_get_the_same_verdicts(peer: Peer, data: Path) -> None:
    problems = load_dataset("math500").problems
    cases = [
        Case(f"{problem.id} {form}", f"So.\n{FINAL.format(form.format(other.gold))}", problem)
        for number, problem in enumerate(problems)
        for other in (problem, problems[(number + 1) % len(problems)])
        for form in (FORMS[number % len(FORMS)], FORMS[0])
    ]
    cases += [Case(f"{problem.id}, solution", rationale(problem), problem) for problem in problems]
    assert_none(differences(peer, cases, "golds of MATH-500"))


def test_recorded_completions_get_the_same_verdicts(
    peer: Peer, data: Path, gsm8k_test: Sequence[Problem]
) -> None:
    cases = []
    for number, case in enumerate(recorded(data, gsm8k_test)[::EVERY]):
        answer = extract_final_answer(case.completion)
        form = FORMS[number % len(FORMS)].format("" if answer is None else answer.value)
        cases.append(case._replace(completion=f"{case.completion}\n{FINAL.format(form)}"))
    assert_none(differences(peer, cases, "recorded completions with a last sentence"))


def test_prompts_are_the_same_to_the_letter(peer: Peer, data: Path) -> None:
    """The examples are those of the wheel, whose file has the digest that we fetch."""
    source = packages("lm_eval") / "lm_eval" / "tasks" / "minerva_math" / "utils.py"
    target = cache_folder() / "exemplars" / "minerva_math.py"
    target.parent.mkdir(parents=True)
    target.write_bytes(source.read_bytes())
    shots, problems = load_dataset(MINERVA.shots).problems, load_dataset("math500").problems
    answer = peer.answer({"questions": [problem.question for problem in problems]})
    assert [prompt.text for prompt in MINERVA.render(problems, shots)] == answer["prompts"]
    assert tuple(answer["until"]) == MINERVA.decoding.stop
    COMPARED["prompts of minerva_math500"] += len(problems)
