"""The interface of a model: an identity, and a reply to each request."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from gradeschool.completion import NO_USAGE, Decoding, Finish, Prompt, Usage
from gradeschool.errors import ModelError
from gradeschool.problem import Problem


@dataclass(frozen=True, slots=True)
class Request:
    """One sample to request; `key` identifies it permanently (see `gradeschool.runs.plan`)."""

    key: str
    problem: Problem
    prompt: Prompt
    decoding: Decoding
    sample: int


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to a request: the completion's text and facts about it.

    deviations: short descriptions of where the server deviated from the request; corrected if
    possible. requests: number of HTTP requests. logprob: see `Completion`.
    """

    text: str
    finish: Finish = Finish.UNKNOWN
    usage: Usage = NO_USAGE
    reasoning: str = ""
    model: str = ""
    deviations: tuple[str, ...] = ()
    requests: int = 1
    logprob: float | None = None


class Model(Protocol):
    """A source of completions, used as an async context manager around a run.

    `identity`: everything that determines its answers (provider, model name, address); part of
    every key, never contains a secret. `name`: for people and file names.
    """

    @property
    def identity(self) -> str:
        """Return what distinguishes this model's answers from those of others."""

    @property
    def name(self) -> str:
        """Return the model's name."""

    async def __aenter__(self) -> Model:
        """Open connections."""

    async def __aexit__(self, *exc: object) -> None:
        """Close connections."""

    async def answer(self, request: Request) -> Reply:
        """Return the reply to one request; raises ModelError."""


@runtime_checkable
class SeveralModel(Model, Protocol):
    """A model that can return several samples of one prompt in one request."""

    async def answer_many(self, requests: Sequence[Request]) -> list[Reply]:
        """Return the replies to the first of these requests, at least one; raises ModelError.

        The requests differ only in their sample, and have no seed.
        """


# Finished requests, each with its reply or its error.
Results = list[tuple[Request, Reply | ModelError]]


@runtime_checkable
class BulkModel(Model, Protocol):
    """A model that takes all requests of a run in one batch and answers them in its own order."""

    def answer_all(self, requests: Sequence[Request]) -> AsyncGenerator[Results, None]:
        """Yield results as they arrive, and from time to time an empty list if there are none.

        Each request ends once. Close the iterator to stop early: unfinished samples are dropped.
        """
