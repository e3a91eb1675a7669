"""Our scorers beside the harnesses themselves: the same verdicts, the same extracted strings."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gradeschool.answers.extractor import extract_final_answer
from gradeschool.datasets.load import load_dataset
from gradeschool.problem import Problem
from gradeschool.prompts import rationale
from gradeschool.protocols import MGSM as LANGUAGES
from gradeschool.protocols.inspect_ai import superscript_number, unicode_number
from gradeschool.protocols.registry import all_scorers, all_votes, get_scorer
from tests.peers.compare import (
    COMPARED,
    EVERY,
    LIBRARY_EVERY,
    SHOWN,
    Asked,
    Case,
    all_recorded,
    assert_none,
    differences,
    localised,
    request,
    with_number_golds,
)
from tests.peers.oracles import ENVIRONMENTS
from tests.peers.peer import Peer
from tests.peers.views import missing_extra

pytestmark = pytest.mark.peers

SCORERS = {name: scorers for name, (_, scorers) in ENVIRONMENTS.items()}
# On other golds these fail upstream, or take nothing for an answer.
OTHER_GOLDS = (
    *("inspect/", "lm-eval/gsm", "lm-eval/mgsm/", "lm-eval/mgsm-en", "lm-eval/mgsm-native"),
    *("trl/", "math-verify/", "verifiers/"),
    *("lighteval/gsm", "lighteval/aime", "evalscope/", "verl/math", "nemo-evaluator/gsm8k-answer"),
)
# 1.0.6 and 1.11 of the LaTeX parser clean "6and" otherwise.
READINGS = {"lighteval": 10}
Start = Callable[[str], Peer]


@pytest.fixture(params=SCORERS)
def peer(request: pytest.FixtureRequest, peers: Start) -> Asked:
    return peers(request.param)


def split(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the scorers of our own code, and those that call a library."""
    usable = [name for name in names if not missing_extra(get_scorer(name))]
    library = [name for name in usable if get_scorer(name).extra]
    return [name for name in usable if name not in library], library


def test_recorded_completions(peer: Asked, data: Path) -> None:
    own, library = split(SCORERS[peer.name])
    cases = all_recorded(data)
    assert_none(
        differences(peer, cases[::EVERY], own, "recorded completions")
        + differences(peer, cases[::LIBRARY_EVERY], library, "recorded completions")
    )


def test_invented_completions(peer: Asked, invented: list[Case]) -> None:
    own, library = split(SCORERS[peer.name])
    every = 12 if EVERY > 1 else 1
    slow = 4 * every if peer.name == "evalscope" else every  # two processes for each
    lines = []
    for names, cases in ((own, invented[::every]), (library, invented[::slow])):
        any_gold = [name for name in names if name.startswith(OTHER_GOLDS)]
        lines += differences(peer, cases, any_gold, "invented completions")
        others = [name for name in names if name not in any_gold]
        lines += differences(peer, with_number_golds(cases), others, "invented completions")
    assert len(lines) <= READINGS.get(peer.name, 0), "\n".join(lines[:SHOWN])


@pytest.mark.parametrize("language", LANGUAGES)
def test_completions_in_eleven_languages(peers: Start, data: Path, language: str) -> None:
    cases = all_recorded(data)
    label = f"{LANGUAGES[language]['label']}:"
    behind = with_number_golds(
        localised(cases, LANGUAGES[language]["lm_eval_pattern"].partition("(")[0])
    )
    of_lm_eval = [name for name in all_scorers() if name.startswith("lm-eval/mgsm")]
    what = "completions in eleven languages"
    assert_none(
        differences(peers("lm_eval"), behind, of_lm_eval, what)
        + differences(
            peers("functions"), localised(cases, label), [f"opencompass/mgsm-{language}"], what
        )
    )


BOX = ("So it is\n\\boxed{{{}}}",)
FINAL = "Final Answer: The final answer is {}. I hope it is correct."
MINERVA = tuple(
    FINAL.format(form)
    for form in (
        "${}$", "{}", "$x = {}$", "$\\boxed{{{}}}$", "${} \\text{{ units}}$", "${}\\,$",
        "$ {} $ cm", "$\\$ {}$", "the ${}$ of it", "\\mbox{{{}}}", "${}^\\circ$", "$0 + {}$",
        "$({})$",
    )
)  # fmt: skip
LIGHTEVAL = ("The final answer is: $\\boxed{{{}}}$. I hope it is correct", "ANSWER: {}",
             "ANSWER: ${}$", "The answer is \\boxed{{{}}}.")  # fmt: skip
SENTENCE = ("So 1 + 1. The answer is {}.\n", "The answer is {}.0\n")
MINERVA_SCORERS = ("lm-eval/minerva-math500", "lm-eval/minerva-math500/math-verify")
GOLDS = [
    ("lm_eval", "math500", MINERVA, MINERVA_SCORERS),
    ("lighteval", "math500", LIGHTEVAL, ("lighteval/math-500",)),
    ("functions", "math500", BOX, ("opencompass/math-verify", "verl/math-reward")),
    ("functions", "math500", ("Answer: {}", "\\boxed{{{}}}"), ("verl/math-dapo",)),
    ("functions", "svamp", SENTENCE, ("opencompass/gsm8k",)),
    ("functions", "gsm-hard", SENTENCE, ("opencompass/gsm-hard",)),
    *(("evalscope", name, BOX, ("evalscope/gsm8k",)) for name in ("math500", "cmath", "mgsm:th")),
    *(("evalscope", name, BOX, ("evalscope/aime",)) for name in ("aime:2024", "aime:2025")),
    ("inspect_ai", "math500", BOX, ("inspect/math",)),
]


@pytest.mark.parametrize(("environment", "dataset", "forms", "names"), GOLDS)
def test_golds_of_other_sets(
    peers: Start, data: Path, environment: str, dataset: str, forms: Sequence[str],
    names: Sequence[str],
) -> None:  # fmt: skip
    """A problem's own gold in one of the forms, the next problem's, and some whole solutions."""
    peer = peers(environment)
    problems = load_dataset(dataset).problems
    problems = problems[:: 1 if len(problems) < 100 else 10 if EVERY > 1 else 2]
    cases = []
    for number, problem in enumerate(problems):
        golds = (problem.gold, problems[(number + 1) % len(problems)].gold)
        texts = [forms[number % len(forms)].format(gold) for gold in golds]
        texts += [rationale(problem)] * (number % 3 == 0)
        cases += [Case(f"{problem.id} {text[:30]}", text, problem) for text in texts]
    assert_none(differences(peer, cases, names, f"golds of {dataset}"))


def test_minerva_reads_a_last_sentence(peers: Start, data: Path) -> None:
    cases = []
    for number, case in enumerate(all_recorded(data)[:: 4 * LIBRARY_EVERY]):
        answer = extract_final_answer(case.completion)
        form = MINERVA[number % len(MINERVA)].format("" if answer is None else answer.value)
        cases.append(case._replace(completion=f"{case.completion}\n{form}"))
    what = "recorded completions with a last sentence"
    assert_none(differences(peers("lm_eval"), cases, MINERVA_SCORERS, what))


def test_the_filters_of_platinum_are_those_of_gsm8k(
    peers: Start, data: Path, invented: list[Case]
) -> None:
    filters = {
        f"gsm8k-platinum{task}/{filter}": f"lm-eval/gsm8k{task}/{filter}"
        for task in ("", "-cot", "-cot-zeroshot", "-cot-llama")
        for filter in ("strict-match", "flexible-extract")
    }
    voted = "-cot-self-consistency/score-first"
    filters[f"gsm8k-platinum{voted}"] = f"lm-eval/gsm8k{voted}"
    cases = [
        *all_recorded(data)[:: 20 * (10 if EVERY > 1 else 1)],
        *invented[:: 80 if EVERY > 1 else 8],
    ]
    assert_none(differences(peers("lm_eval"), cases, filters, "completions as of platinum"))


ELECTIONS = 600 if EVERY == 1 else 150


def elections(data: Path, problems: Sequence[Problem]) -> list[tuple[list[str], Problem]]:
    """Return the samples of problems: what 28 runs wrote of one problem, and short forms."""
    draw = random.Random(64)
    written: dict[str, list[str]] = {}
    for case in all_recorded(data):
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
    peers: Start, data: Path, gsm8k_test: Sequence[Problem], name: str, labels: str
) -> None:
    vote = all_votes()[name]
    scorer = name.removeprefix("lm-eval/").replace("gsm8k", f"gsm8k{labels}")
    cases = elections(data, gsm8k_test)
    rows = [request("", problem, [scorer]) | {"completions": texts} for texts, problem in cases]
    unequal, outcomes = [], set()
    for (texts, problem), answer in zip(cases, peers("lm_eval").ask(rows), strict=True):
        ours = vote.judge(texts, problem)
        outcomes.add(ours.outcome.value)
        read = "[invalid]" if ours.answer is None else ours.answer.text
        if [ours.correct, read] != answer[scorer]:
            unequal.append(f"{name}: ours {ours}, theirs {answer[scorer]}: problem {problem.id}")
    COMPARED["votes of lm_eval"] += len(cases)
    assert_none(unequal)
    assert outcomes == {"correct", "wrong", "no_answer"}


INSPECT = [name for name in ENVIRONMENTS if name.startswith("inspect_ai")]


@pytest.mark.parametrize("environment", INSPECT)
def test_words_are_read_as_the_same_float(peers: Start, words: list[str], environment: str) -> None:
    """From 0.3.221 on the scorer uses the first of the two functions alone."""
    readers = {"unicode": unicode_number}
    if environment == "inspect_ai_0_3_220":
        readers["superscript"] = superscript_number
    peer, unequal = peers(environment), []
    for word, answer in zip(words, peer.ask([{"number": word} for word in words]), strict=True):
        for name, read in readers.items():
            try:
                ours: tuple[str | None, str] = float(read(word)).hex(), ""
            except (ValueError, ArithmeticError) as error:
                ours = None, type(error).__name__
            if ours != tuple(answer[name]):
                unequal.append(f"{name}: {word!r}: ours {ours}, theirs {answer[name]}")
    COMPARED[f"words read by {environment}"] += len(words) * len(readers)
    assert_none(unequal)
