"""`gradeschool protocols`: lists, and prompts as bytes."""

import hashlib
import json
from pathlib import Path

import pytest

from gradeschool import all_protocols, all_scorers
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.files import jsonl

# All 1,319 prompts, each followed by a NUL byte, as the real harness makes them.
DIGESTS = {
    "lm-eval/gsm8k": "90c166d5c3e3026061cfa63a694800e2cc31cdc12da84ff0fea81cccf9c93092",
    "lm-eval/gsm8k-cot": "531b35535c8ccd654e81497d889db7a41079b14c041ff938f598948279beb4d4",
}


@pytest.mark.parametrize("columns", [80, 120])
def test_the_list_names_everything(gradeschool: Command, columns: int) -> None:
    """Every protocol and scorer, whole, within the width."""
    result = gradeschool("protocols", "list", columns=columns)
    words = {line.strip().partition("  ")[0] for line in result.out.splitlines()}
    assert result.status == 0
    assert max(map(len, result.out.splitlines())) <= columns
    for name in (*all_protocols(), *all_scorers()):
        assert name in words


@pytest.mark.official
@pytest.mark.parametrize("name", DIGESTS)
def test_prompts_to_the_byte(gradeschool: Command, data: Path, name: str) -> None:
    """Every prompt is the harness's own."""
    result = gradeschool("protocols", "prompts", name, "-d", "gsm8k")
    prompts = (json.loads(line)["prompt"] for line in result.out.splitlines())
    whole = "".join(f"{prompt}\0" for prompt in prompts)
    assert hashlib.sha256(whole.encode()).hexdigest() == DIGESTS[name]


def test_prompts_are_json_lines(gradeschool: Command, tmp_path: Path) -> None:
    """A line for each problem, in order, whatever the text holds."""
    questions = ["How many?\nTwo lines", "a\u2028b", "数 é", "\ud800"]
    rows = [
        {"id": f"p{place}", "question": text, "answer": "1"} for place, text in enumerate(questions)
    ]
    path = jsonl(tmp_path / "problems.jsonl", rows)
    lines = gradeschool("protocols", "prompts", "openai/2021", "-d", path).out.splitlines()
    assert [json.loads(line) for line in lines] == [
        {"id": f"p{place}", "prompt": f"{text}\n"} for place, text in enumerate(questions)
    ]
