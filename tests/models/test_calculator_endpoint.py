"""The calculator over an endpoint: what a server writes is put right, and gone on from."""

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from gradeschool import Problem
from gradeschool.calculator import evaluate, format_result
from gradeschool.completion import Decoding, Finish, Prompt
from gradeschool.datasets.fresh import fresh_problems
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
    served = answers(choose_model(tiny_url, calculator=True), prompts)
    here = answers(choose_model(f"transformers/{tiny_model}", calculator=True), prompts)
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
    plain = answers(choose_model(tiny_url), prompts)
    assert [reply.text for reply in plain] != [reply.text for reply in served]
