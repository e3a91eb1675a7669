"""The published prompts in their words and turns, and the digests of protocols."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool import Problem, Prompt, all_protocols, get_protocol, load_dataset
from gradeschool.datasets.load import is_here
from gradeschool.prompts import Template, format_chat, rationale
from tests.conftest import SHARED
from tests.support.stand_in import protocols_here


def render(name: str, problems: Sequence[Problem]) -> list[Prompt]:
    """The prompts of a protocol with its own shots."""
    protocol = get_protocol(name)
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    return list(protocol.render(problems, shots))


def text_of(prompt: Prompt) -> str:
    """The text of a completion prompt."""
    assert prompt.text is not None
    return prompt.text


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


@pytest.mark.slow
def test_published_protocols_are_frozen() -> None:
    """A protocol that changes is a new name: what it renders, decodes and scores is pinned."""
    pinned = Path(__file__).with_name("digests.txt").read_text("ascii")
    digests = [f"{one.digest()} {name}\n" for name, one in sorted(all_protocols().items())]
    assert "".join(digests) == pinned
    assert len({line.split()[0] for line in digests}) == len(digests)


WEI = "8891624983ad7951218788c6e80ea96393295ebbe2b89848c286d91e20129aec"


@pytest.mark.official
def test_the_exemplars_of_wei_are_the_canonical_copy(data: object) -> None:
    pairs = [
        [shot.question, f"{rationale(shot)} The answer is {shot.gold}."]
        for shot in load_dataset("wei2022").problems
    ]
    assert hashlib.sha256(json.dumps(pairs).encode()).hexdigest() == WEI


PAIRS = st.lists(st.tuples(st.text(), st.text()), max_size=4)


@given(PAIRS, st.text(), st.none() | st.text(), st.none() | st.text())
def test_format_chat_alternates_turns_and_keeps_every_text(
    shots: list[tuple[str, str]], question: str, system: str | None, prefix: str | None
) -> None:
    messages = format_chat(question, system, shots, prefix)
    turns = messages[0 if system is None else 1 : None if prefix is None else -1]
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * len(shots) + ["user"]
    assert [turn["content"] for turn in turns] == [*(t for shot in shots for t in shot), question]
    assert system is None or messages[0] == {"role": "system", "content": system}
    assert prefix is None or messages[-1] == {"role": "assistant", "content": prefix}


@given(st.text(), st.text(), st.text())
def test_a_template_keeps_every_character(question: str, reasoning: str, gold: str) -> None:
    template = Template(question="Q: {question}\nA:", answer=" {reasoning} So {gold} {other}.")
    shot = Problem("0", question, gold, f"{reasoning}\n#### {gold}")
    (prompt,) = template([shot], [shot])
    assert prompt.text == (
        f"Q: {question}\nA: {reasoning} So {gold} {{other}}.\n\nQ: {question}\nA:"
    )
