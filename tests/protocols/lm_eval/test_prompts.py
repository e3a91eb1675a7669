"""Tests the bytes of lm-evaluation-harness's prompts, and how their shots are drawn."""

import hashlib
import random
from collections.abc import Iterable, Sequence

import pytest

from gradeschool import Problem, load_dataset
from gradeschool.protocols.lm_eval.prompts import SEED
from tests.support.prompts import render, text_of

Problems = Sequence[Problem]
# SHA-256 over the prompts of all 1,319 problems, each followed by a NUL byte.
ALL_PROMPTS = {
    "lm-eval/gsm8k": "90c166d5c3e3026061cfa63a694800e2cc31cdc12da84ff0fea81cccf9c93092",
    "lm-eval/gsm8k-cot": "531b35535c8ccd654e81497d889db7a41079b14c041ff938f598948279beb4d4",
}
FIRST_COT_PROMPT = "901fead9abd2535b6d0610c3c90125f38cad81678c4b2b98ec8fb818e3948bde"
FIRST_DRAWS = (
    [6374, 3610, 957, 61, 742],
    [7462, 6610, 4769, 286, 5501],
    [5677, 687, 806, 6279, 2905],
    [1939, 142, 252, 6461, 129],
)
# The same over the 1,209 problems of GSM8K-Platinum: lm-eval 0.4.13's, by tests/peers.
PLATINUM_PROMPTS = {
    "lm-eval/gsm8k-platinum": "d7f5f98ffc9774a6bdbb601c48691a024a4741e9dded0dac654c300d9d76f58e",
    "lm-eval/gsm8k-platinum-cot-llama": (
        "c09aa7b273ba3654f3fcb5166edb01b56181179e9ca412b2a3f3656cee318df6"
    ),
}
FIRST_PLATINUM_DRAW = [902, 239, 15, 185, 1192]  # of the 1,209; the sixth, 71, is left over


def digest_of(texts: Iterable[str]) -> str:
    """SHA-256 of texts in UTF-8, each followed by a NUL byte."""
    return hashlib.sha256(b"".join(text.encode() + b"\0" for text in texts)).hexdigest()


@pytest.mark.official
@pytest.mark.parametrize("name", PLATINUM_PROMPTS)
def test_all_1209_prompts_are_those_of_the_real_harness(name: str, data: object) -> None:
    prompts = render(name, load_dataset("gsm8k-platinum").problems)
    assert digest_of(map(text_of, prompts)) == PLATINUM_PROMPTS[name]


def test_platinum_draws_its_shots_from_the_test_split_and_never_the_problem_itself(
    data: object,
) -> None:
    problems = load_dataset("gsm8k-platinum").problems
    prompts = [text_of(prompt) for prompt in render("lm-eval/gsm8k-platinum", problems)]
    assert all(prompt.count("Question: ") == 6 for prompt in prompts)
    assert all(
        prompt.count(problem.question) == 1
        for prompt, problem in zip(prompts, problems, strict=True)
    )
    places = [prompts[0].index(problems[row].question) for row in FIRST_PLATINUM_DRAW]
    assert places == sorted(places)


@pytest.mark.official
@pytest.mark.parametrize("name", ALL_PROMPTS)
def test_all_1319_prompts_are_those_of_the_real_harness(name: str, gsm8k_test: Problems) -> None:
    assert digest_of(map(text_of, render(name, gsm8k_test))) == ALL_PROMPTS[name]


@pytest.mark.official
def test_the_first_cot_prompt_has_its_2427_characters(gsm8k_test: Problems) -> None:
    text = text_of(render("lm-eval/gsm8k-cot", gsm8k_test[:1])[0])
    assert len(text) == 2_427
    assert hashlib.sha256(text.encode()).hexdigest() == FIRST_COT_PROMPT


def test_the_first_draws_of_the_stream_are_the_published_ones() -> None:
    assert SEED == 1234
    stream = random.Random(SEED)
    assert tuple(stream.sample(range(7_473), 5) for _ in FIRST_DRAWS) == FIRST_DRAWS


def test_each_problem_gets_the_next_draw_of_the_stream(
    gsm8k_test: Problems, gsm8k_train: Problems
) -> None:
    for prompt, draw in zip(render("lm-eval/gsm8k", gsm8k_test[:4]), FIRST_DRAWS, strict=True):
        blocks = text_of(prompt).split("\n\nQuestion: ")
        questions = [block.removeprefix("Question: ").partition("\nAnswer:")[0] for block in blocks]
        assert questions[:5] == [gsm8k_train[row].question for row in draw]


def test_a_prefix_of_the_problems_sees_the_same_shots_and_another_order_does_not(
    gsm8k_test: Problems,
) -> None:
    ten = render("lm-eval/gsm8k", gsm8k_test[:10])
    assert render("lm-eval/gsm8k", gsm8k_test[:4]) == ten[:4]
    assert render("lm-eval/gsm8k", gsm8k_test[1:2])[0] != ten[1]
