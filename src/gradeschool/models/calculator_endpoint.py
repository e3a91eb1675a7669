"""Use the calculator with any `/v1/completions`: insert its result into each annotation.

Requests have the stop string ">>". The text after the "=" of the open annotation is replaced by the
calculator's result, and the next request continues from there: one request more than there are
annotations. The stop string is ">>" and not "=", because every other "=" is outside an annotation
("5 * 3 = <<5*3=15>>15"), and no field that all servers send distinguishes a stop at "=" from the
end of the text. An open annotation is certain.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from gradeschool.calculator import CLOSE, OPEN, annotation_end
from gradeschool.completion import Finish, Prompt, Usage
from gradeschool.errors import ModelError
from gradeschool.models.base import Reply, Request
from gradeschool.models.endpoint import Endpoint
from gradeschool.models.llama_cpp import LlamaCppModel

# Per completion; GSM8K's solutions have 4 annotations on average and 15 at most.
MOST_REQUESTS = 64
# Each request of a sample has its own seed.
SEED_STEP = 1_000_003


class AnnotatedText(NamedTuple):
    """A text with its last annotation closed. ended: nothing follows it."""

    text: str
    ended: bool


class CalculatorEndpoint(Endpoint):
    """An endpoint that writes completions with the calculator; for completion prompts only."""

    @property
    def identity(self) -> str:
        """Return model, address and "with the calculator", which changes the answers."""
        return f"{super().identity} with the calculator"

    @property
    def name(self) -> str:
        """Return the model's name and "+calculator"."""
        return f"{super().name}+calculator"

    async def complete(self, request: Request) -> list[Reply]:
        """Return the reply to the first sample, with the usage of all HTTP requests."""
        request = request.part(0, 1)
        text, closed, spent = "", 0, Usage(0, 0)
        for number in range(MOST_REQUESTS):
            part = _continuation(request, text, spent, number)
            try:
                (reply,) = await super().complete(part)
            except ModelError as error:
                error.usage = _sum(spent, Usage(*(count or 0 for count in error.usage)))
                raise
            spent = _sum(spent, reply.usage)
            text, ended = annotated(text + reply.text, closed, reply.finish)
            closed = len(text)
            if ended or _left(request, spent) == 0:
                finish = reply.finish if ended else Finish.LENGTH
                return [replace(reply, text=text, finish=finish, usage=spent, requests=number + 1)]
        endless = ModelError(
            "too many annotations", f"more than {MOST_REQUESTS} requests a completion"
        )
        endless.usage = spent
        raise endless


class CalculatorLlamaCpp(CalculatorEndpoint, LlamaCppModel):
    """A llama.cpp model in this process that writes with the calculator."""


def annotated(text: str, closed: int, finish: Finish) -> AnnotatedText:
    """Insert the result into the open annotation at the end of a text, and close it.

    closed: length of the text up to the last closed annotation. finish: why the server stopped.
    """
    start = text.rfind(OPEN, closed)
    if start < 0:
        return AnnotatedText(text, ended=True)
    equals = text.find("=", start)
    if equals >= 0 and (result := annotation_end(text[: equals + 1])):
        return AnnotatedText(text[: equals + 1] + result, ended=finish is Finish.LENGTH)
    return (
        AnnotatedText(text + CLOSE, False) if finish is Finish.STOP else AnnotatedText(text, True)
    )


def _continuation(request: Request, text: str, spent: Usage, number: int) -> Request:
    decoding = request.decoding
    seed = None if decoding.seed is None else decoding.seed + number * SEED_STEP
    limits = replace(
        decoding, max_tokens=_left(request, spent), stop=(*decoding.stop, CLOSE), seed=seed
    )
    return replace(request, prompt=Prompt(text=(request.prompt.text or "") + text), decoding=limits)


def _left(request: Request, spent: Usage) -> int | None:
    limit = request.decoding.max_tokens
    return None if limit is None else max(0, limit - (spent.completion_tokens or 0))


def _sum(usage: Usage, addition: Usage) -> Usage:
    """Add the usage of two requests; counts that a server does not send remain unknown."""
    prompt, completion = (
        None if a is None or b is None else a + b for a, b in zip(usage, addition, strict=True)
    )
    return Usage(prompt, completion)
