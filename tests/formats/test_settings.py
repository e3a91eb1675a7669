"""Settings that files of results record, under the same names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradeschool.completion import Message, Prompt
from gradeschool.errors import InputError
from gradeschool.formats.settings import base_address, mapping_in, messages_prompt, read_object


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://h/v1/chat/completions", "http://h/v1"),
        ("http://h/v1/completions/", "http://h/v1"),
        ("http://h/v1", "http://h/v1"),
        ("", None),
        (7, None),
    ],
)
def test_an_address_is_that_of_the_server(url: object, address: str | None) -> None:
    assert base_address(url) == address


@pytest.mark.parametrize("text", ["[1]", "{", "", "[" * 100_000, "\udcff"])
def test_what_is_no_object_is_empty_or_an_error_with_the_advice(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(text, errors="surrogateescape")
    assert mapping_in(path) == mapping_in(tmp_path / "none.json") == {}
    with pytest.raises(InputError, match=r"run\.json' cannot be read .*; copy it again"):
        read_object(path, "copy it again")
    path.write_text('{"seed": 0}')
    assert read_object(path, "") == mapping_in(path) == {"seed": 0}


def test_messages_are_a_prompt_if_each_has_a_role_and_a_text() -> None:
    turns = [{"role": "system", "content": "Be brief."},
             {"role": "user", "content": [{"type": "text", "text": "2 + 2?"}]}]  # fmt: skip
    assert messages_prompt(turns) == Prompt(
        messages=(Message("system", "Be brief."), Message("user", "2 + 2?"))
    )
    broken: list[Any] = [
        [], "text", [{"role": "user"}], [{"content": "x"}], [{"role": 1, "content": ""}],
    ]  # fmt: skip
    assert [messages_prompt(each) for each in broken] == [None] * 5
