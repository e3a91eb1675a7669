"""Few-shot examples as text and as chat turns."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool import Problem, load_dataset
from gradeschool.completion import Message
from gradeschool.prompts.rendering import format_chat, rationale, shots_as_text, shots_as_turns

WEI = "8891624983ad7951218788c6e80ea96393295ebbe2b89848c286d91e20129aec"


@pytest.mark.official
def test_the_exemplars_of_wei_are_the_canonical_copy(data: object) -> None:
    pairs = [
        [shot.question, f"{rationale(shot)} The answer is {shot.gold}."]
        for shot in load_dataset("wei2022").problems
    ]
    assert hashlib.sha256(json.dumps(pairs).encode()).hexdigest() == WEI


PAIRS = st.lists(st.tuples(st.text(), st.text()), max_size=4)


@given(PAIRS, st.text())
def test_shots_as_text_keeps_every_character_and_adds_only_joiners(
    shots: list[tuple[str, str]], question: str
) -> None:
    text = shots_as_text(shots, question)
    assert text == "".join(f"{user} {assistant}\n\n" for user, assistant in shots) + question


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
    assert shots_as_turns(shots, question) == tuple(Message(**turn) for turn in turns)


@given(st.text(st.sampled_from("ab\n#. "), max_size=30), st.integers())
def test_rationale_is_the_solution_without_its_last_line(text: str, gold: int) -> None:
    problem = Problem("0", "?", str(gold), f"{text}\n#### {gold}")
    assert rationale(problem) == text
