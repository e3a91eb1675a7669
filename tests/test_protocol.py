"""The digest of a protocol changes with each of its parts; settings that differ are named."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest

from gradeschool.completion import Decoding
from gradeschool.prompts import Template
from gradeschool.protocol import Protocol, overrides

PROTOCOL = Protocol(
    name="made/one",
    summary="the question alone",
    source="this test",
    render=Template(question="{question}"),
    decoding=Decoding(temperature=0.0, max_tokens=256, stop=("\n\n",)),
    scorers=("gradeschool/reader",),
)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "made/two"},
        {"render": Template(question="{question} A:")},
        {"decoding": Decoding(max_tokens=255, stop=("\n\n",))},
        {"scorers": ("openai/2021",)},
        {"shots": "wei2022"},
        {"samples": 8},
        {"votes": ("made/majority",)},
    ],
)
def test_the_digest_changes_with_each_part_that_changes_figures(change: dict[str, Any]) -> None:
    assert replace(PROTOCOL, **change).digest() != PROTOCOL.digest()


def test_the_digest_does_not_change_with_words_about_it() -> None:
    other = replace(PROTOCOL, summary="other words", source="another place")
    assert other.digest() == PROTOCOL.digest()
    assert len(PROTOCOL.digest()) == 12


def test_settings_that_differ_are_named_with_the_usual_value() -> None:
    stored = {**asdict(PROTOCOL.decoding), "stop": ["\n\n"]}
    assert overrides(stored, PROTOCOL) == {}
    assert overrides({**stored, "max_tokens": 512, "stop": []}, PROTOCOL) == {
        "max_tokens": (512, 256),
        "stop": ([], ["\n\n"]),
    }
    assert overrides({}, PROTOCOL) == {}
