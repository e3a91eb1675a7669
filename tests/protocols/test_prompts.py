"""The bytes of the published prompts, proved by digests taken from the real harnesses."""

import hashlib
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest

from gradeschool import Problem, Prompt, Protocol, all_protocols, get_protocol, load_dataset
from gradeschool.completion import Decoding, Message
from gradeschool.datasets.load import is_here
from gradeschool.protocols.inspect_ai.prompts import SHOT_ROWS
from gradeschool.protocols.lm_eval.prompts import SEED
from tests.conftest import SHARED
from tests.support.stand_in import protocols_here

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


def render(name: str, problems: Problems) -> list[Prompt]:
    """The prompts of a protocol with its own shots."""
    protocol = get_protocol(name)
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    return list(protocol.render(problems, shots))


def text_of(prompt: Prompt) -> str:
    """The text of a completion prompt."""
    assert prompt.text is not None
    return prompt.text


def digest_of(texts: Iterable[str]) -> str:
    """SHA-256 of texts in UTF-8, each followed by a NUL byte."""
    return hashlib.sha256(b"".join(text.encode() + b"\0" for text in texts)).hexdigest()


# The same over the 1,209 problems of GSM8K-Platinum: lm-eval 0.4.13's, by tests/peers.
PLATINUM_PROMPTS = {
    "lm-eval/gsm8k-platinum": "d7f5f98ffc9774a6bdbb601c48691a024a4741e9dded0dac654c300d9d76f58e",
    "lm-eval/gsm8k-platinum-cot-llama": (
        "c09aa7b273ba3654f3fcb5166edb01b56181179e9ca412b2a3f3656cee318df6"
    ),
}
FIRST_PLATINUM_DRAW = [902, 239, 15, 185, 1192]  # of the 1,209; the sixth, 71, is left over


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


@pytest.mark.official
def test_the_inspect_system_message_holds_its_5872_characters(
    gsm8k_test: Problems, gsm8k_train: Problems
) -> None:
    prompts = render("inspect/gsm8k", gsm8k_test[:3])
    systems = {prompt.messages[0].content for prompt in prompts}
    assert len(systems) == 1  # the same ten shots for every problem
    system = systems.pop()
    assert len(system) == 5_872
    assert [system.count(gsm8k_train[row].question) for row in SHOT_ROWS] == [1] * 10
    assert prompts[0].messages[1].content.endswith("\n\nReasoning:")


def test_olmes_messages_are_turns_that_end_in_a_user_turn_and_a_prefix(
    gsm8k_test: Problems,
) -> None:
    (prompt,) = render("olmes/gsm8k-tulu", gsm8k_test[:1])
    assert prompt.is_chat
    assert [message.role for message in prompt.messages] == ["user", "assistant"] * 8 + ["user"]
    assert prompt.messages[-1] == Message("user", f"Question: {gsm8k_test[0].question}")
    assert prompt.prefix == "Answer:"
    for user, assistant in zip(prompt.messages[0:16:2], prompt.messages[1:16:2], strict=True):
        assert user.content.startswith("Question: ")
        assert not user.content.rstrip().endswith("Answer:")
        assert assistant.content.startswith("Answer: ")


def test_the_official_prompt_is_the_question_and_a_line_break(gsm8k_test: Problems) -> None:
    assert [text_of(prompt) for prompt in render("openai/2021", gsm8k_test)] == [
        f"{problem.question}\n" for problem in gsm8k_test
    ]


def test_the_ai_benchmarks_prompt_asks_for_a_marked_number(gsm8k_test: Problems) -> None:
    system, user = render("ai-benchmarks/gsm8k", gsm8k_test[:1])[0].messages
    assert system.role == "system"
    assert "append a newline and '#### <response number>'" in system.content
    assert "end your response with '\n#### 42'. Do not add" in system.content
    assert user == Message("user", gsm8k_test[0].question)


@pytest.mark.parametrize("name", list(protocols_here(SHARED)))
def test_every_protocol_renders_each_problem_once_and_in_order(name: str, data: object) -> None:
    sample = load_dataset("sample").problems
    if (shots := get_protocol(name).shots) and not is_here(shots):
        pytest.skip(f"{shots} is not on this machine")
    prompts = render(name, sample)
    assert len(prompts) == len(sample)
    for problem, prompt in zip(sample, prompts, strict=True):
        last = prompt.messages[-1].content if prompt.is_chat else text_of(prompt)
        assert problem.question in last
        assert prompt.is_chat is get_protocol(name).is_chat
        assert prompt.is_chat or not prompt.messages
        everything = text_of(prompt) if not prompt.is_chat else json.dumps(prompt.messages)
        assert problem.solution not in everything  # no prompt gives its own answer away


@pytest.mark.parametrize("name", ["openai/2021", "lm-eval/gsm8k", "inspect/gsm8k", "zero-shot/cot"])
def test_the_digest_of_a_protocol_is_stable_and_changes_with_what_it_does(name: str) -> None:
    protocol = get_protocol(name)
    digest = protocol.digest()
    assert len(digest) == 12
    assert protocol.digest() == digest
    changed: list[Protocol] = [
        replace(protocol, decoding=replace(protocol.decoding, max_tokens=7)),
        replace(protocol, decoding=replace(protocol.decoding, stop=("#",))),
        replace(protocol, scorers=(*protocol.scorers, "another")),
        replace(protocol, render=lambda problems, shots: (Prompt(text="?") for _ in problems)),
    ]
    assert digest not in {other.digest() for other in changed}
    assert replace(protocol, summary="said otherwise").digest() == digest


def test_no_two_protocols_have_the_same_digest() -> None:
    digests = [protocol.digest() for protocol in all_protocols().values()]
    assert len(set(digests)) == len(digests) > 8


def test_a_prompt_is_either_a_text_or_messages() -> None:
    assert not Prompt(text="").is_chat
    assert Prompt(messages=(Message("user", "?"),)).is_chat
    assert Decoding() == Decoding(0.0, 1.0, None, (), None)


def test_gsm_hard_of_opencompass_begins_with_its_first_five_rows() -> None:
    rows = [Problem.from_row(str(row), f"Is {row}?", f"#### {row}") for row in range(9)]
    rows[2] = Problem.from_row("2", "Is a half?", "#### 0.5")
    *_, last = get_protocol("opencompass/gsm-hard").render(rows, rows)
    assert [message.content for message in last.messages[:6]] == [
        "Question: Is 0?\nAnswer:", "The answer is 0.0",
        "Question: Is 1?\nAnswer:", "The answer is 1.0",
        "Question: Is a half?\nAnswer:", "The answer is 0.5",
    ]  # fmt: skip
    assert [message.role for message in last.messages] == ["user", "assistant"] * 5 + ["user"]
    assert last.messages[-1].content == "Question: Is 8?\nAnswer:"


def test_svamp_of_opencompass_ends_each_example_in_a_sentence_and_a_line_break() -> None:
    shot = Problem.from_row("0", "How many?", "1 + 1 = 2.\n#### 2")
    [prompt] = get_protocol("opencompass/svamp").render([shot], [shot])
    assert [message.content for message in prompt.messages] == [
        "Question: How many?\nLet's think step by step\nAnswer:",
        "1 + 1 = 2. The answer is 2.\n",
        "Question: How many?\nLet's think step by step\nAnswer:",
    ]


@pytest.mark.parametrize(
    ("body", "question", "sent"),
    [
        ("Ann has 3 nuts", "Ann has 3 nuts How many?", "Ann has 3 nuts. How many?"),
        ("Ann has 3 nuts.", "Ann has 3 nuts. How many?", "Ann has 3 nuts. How many?"),
        ("", "Ann has 3 nuts How many?", "Ann has 3 nuts How many?"),
    ],
)
def test_svamp_of_qwen_puts_a_period_behind_the_body(body: str, question: str, sent: str) -> None:
    problem = Problem.from_row("0", question, "#### 3", {"body": body})
    [prompt] = get_protocol("qwen2.5-math/svamp+chat").render([problem], ())
    assert prompt.messages[-1].content == sent
