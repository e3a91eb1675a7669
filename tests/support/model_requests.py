"""Requests to models, and what they answer."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from gradeschool import Problem
from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.datasets.fresh import fresh_problems
from gradeschool.errors import TransientError
from gradeschool.models.base import Model, Reply, Request

PROMPTS = 20
GREEDY = Decoding(max_tokens=40)
CHAT = Decoding(max_tokens=40, stop=("\n\n",))


def requests(prompts: Sequence[Prompt], decoding: Decoding) -> list[Request]:
    """A request for each prompt."""
    problem = Problem.from_gold("18")
    return [
        Request(problem, prompt, decoding, str(number), 0) for number, prompt in enumerate(prompts)
    ]


def answers(model: Model, requests: Sequence[Request]) -> list[Reply | BaseException]:
    """What a model answers to all requests at once."""

    async def ask() -> list[Reply | BaseException]:
        async with model:
            return list(await asyncio.gather(*map(persistent, requests), return_exceptions=True))

    async def persistent(request: Request) -> Reply:
        """Ask again as a run does: a busy server closes connections that wait."""
        for _ in range(4):
            with suppress(TransientError):
                return await model.complete(request)
        return await model.complete(request)

    return asyncio.run(ask())


def texts(replies: Sequence[Reply | BaseException]) -> list[str]:
    """The texts of replies that are no failures."""
    return [reply.text if isinstance(reply, Reply) else repr(reply) for reply in replies]


def prompts(form: str) -> list[Prompt]:
    """Prompts of uneven length, so that a batch is padded."""
    questions = [problem.question for problem in fresh_problems(1, PROMPTS)]
    if form == "text":
        return [Prompt(text=f"Question: {question}\nAnswer:") for question in questions]
    prefix = "Answer:" if form == "prefix" else None
    return [Prompt(messages=(Message("user", question),), prefix=prefix) for question in questions]
