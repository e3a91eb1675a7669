"""The calculator over an endpoint: what a server writes is put right, and gone on from."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from gradeschool import Problem
from gradeschool.calculator import evaluate, format_result
from gradeschool.completion import Decoding, Finish, Prompt
from gradeschool.datasets.fresh.generate import fresh_problems
from gradeschool.errors import TransientError
from gradeschool.models.base import Model, Reply, Request
from gradeschool.models.choose import choose_model
from gradeschool.models.endpoint import close_annotation

ANNOTATION = re.compile(r"<<([^<>=]*)=([^<>=]*)>>")
LIMIT = 200


@pytest.mark.parametrize(
    ("text", "closed", "finish", "then"),
    [
        ("He has 48/2=<<48/2=25", 0, Finish.STOP, ("He has 48/2=<<48/2=24>>", False)),
        ("<<48/2=", 0, Finish.LENGTH, ("<<48/2=24>>", True)),
        ("<<1+1=2>>2 and 3", 9, Finish.STOP, ("<<1+1=2>>2 and 3", True)),
        ("<<1+1=2>>2 <<2*2", 9, Finish.STOP, ("<<1+1=2>>2 <<2*2>>", False)),
        ("<<1+1=2>>2 <<2*2", 9, Finish.LENGTH, ("<<1+1=2>>2 <<2*2", True)),
        ("<<x=5", 0, Finish.STOP, ("<<x=5>>", False)),
        ("5 = 5\n#### 5", 0, Finish.STOP, ("5 = 5\n#### 5", True)),
        ("<<2*2=3=1", 0, Finish.STOP, ("<<2*2=4>>", False)),
        ("", 0, Finish.LENGTH, ("", True)),
    ],
)
def test_annotations_are_put_right(
    text: str, closed: int, finish: Finish, then: tuple[str, bool]
) -> None:
    assert close_annotation(text, closed, finish) == then


def answers(model: Model, prompts: Sequence[Prompt]) -> list[Reply]:
    """What a model writes greedily to each prompt."""
    problem, decoding = Problem.from_gold("18"), Decoding(max_tokens=LIMIT)
    requests = [
        Request(problem, prompt, decoding, str(number), 0) for number, prompt in enumerate(prompts)
    ]

    async def ask() -> list[Reply]:
        async with model:
            return await asyncio.gather(*map(persistent, requests))

    async def persistent(request: Request) -> Reply:
        """Ask again as a run does: a busy server closes connections that wait."""
        for _ in range(4):
            with suppress(TransientError):
                return await model.complete(request)
        return await model.complete(request)

    return asyncio.run(ask())


def test_a_server_writes_what_transformers_writes(tiny_model: Path, tiny_url: str) -> None:
    prompts = [Prompt(text=f"{problem.question}\n") for problem in fresh_problems(1, 16)]
    served = answers(choose_model(tiny_url, (), "", calculator=True), prompts)
    here = answers(choose_model(f"transformers/{tiny_model}", (), "", calculator=True), prompts)
    ended = [
        (reply, local)
        for reply, local in zip(served, here, strict=True)
        if local.finish is Finish.STOP
    ]
    assert len(ended) > 8
    assert [reply.text for reply, _ in ended] == [local.text for _, local in ended]
    for reply, _ in ended:
        assert reply.finish is Finish.STOP
        pairs = ANNOTATION.findall(reply.text)
        assert all(
            format_result(left) == right for left, right in pairs if evaluate(left) is not None
        )
        assert reply.requests == reply.text.count(">>") + 1
        assert reply.usage.completion_tokens is not None
        assert reply.usage.prompt_tokens is not None
    assert sum(reply.requests for reply in served) > 30
    plain = answers(choose_model(tiny_url, (), ""), prompts)
    assert [reply.text for reply in plain] != [reply.text for reply in served]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gradeschool", "eval", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.slow
def test_eval_with_the_calculator(llama_url: str, tmp_path: Path) -> None:
    rows = [{"question": f"Tom has {n} apples and {n} eggs. How many?", "answer": f"#### {2 * n}"}
            for n in range(3, 7)]  # fmt: skip
    problems = tmp_path / "problems.jsonl"
    problems.write_text("\n".join(map(json.dumps, rows)))
    arguments = ("-m", llama_url, "-p", "openai/2021", "-d", str(problems), "--max-tokens", "60")
    folder = tmp_path / "run"
    ended = run(*arguments, "--calculator", "-o", str(folder), "--quiet")
    assert ended.returncode == 0, ended.stderr
    stored = [json.loads(line) for line in (folder / "completions.jsonl").read_text().splitlines()]
    assert len(stored) == 4
    assert json.loads((folder / "run.json").read_text())["model"].endswith("with the calculator")
    for row in stored:
        assert row.get("requests", 1) >= len(ANNOTATION.findall(row["completion"]))
    other = run(*arguments, "-o", str(folder), "--quiet")
    assert other.returncode == 2
    assert "contains another run" in other.stderr


@pytest.mark.parametrize(
    "more",
    [("-p", "zero-shot/chat"), ("-p", "openai/2021", "--batch")],
)  # fmt: skip
def test_what_the_calculator_does_not_go_with(more: tuple[str, ...]) -> None:
    ended = run("-m", "http://localhost:1/v1/m", "--calculator", *more)
    assert ended.returncode == 2
    assert "the calculator cannot be used with" in ended.stderr
