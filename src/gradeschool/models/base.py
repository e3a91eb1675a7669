"""The interface of a model: an identity, and replies to requests."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from gradeschool.completion import NO_USAGE, Decoding, Finish, Prompt, Usage
from gradeschool.problem import Problem

NO_OPTIONS: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt, from which one sample is requested.

    key: identifies the sample permanently (see `gradeschool.runs.job`). sample: its number among
    those of the problem.
    """

    problem: Problem
    prompt: Prompt
    decoding: Decoding
    key: str
    sample: int


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to a request: the completion's text and facts about it.

    deviations: short descriptions of where the server deviated from the request; corrected if
    possible. requests: number of HTTP requests.
    """

    text: str
    finish: Finish = Finish.UNKNOWN
    usage: Usage = NO_USAGE
    reasoning: str = ""
    model: str = ""
    deviations: tuple[str, ...] = ()
    requests: int = 1


class Model:
    """A source of completions, used as an async context manager around a run.

    name: for people and file names. identity: everything that determines the answers (provider,
    model name, address); it is part of every key, and never contains a secret. connections: the
    number of requests that it takes at a time, None to adapt the number to the server. remark: what
    `facts` found to show before the first request. speaks_openai: whether it is a server with
    OpenAI's requests, batches for instance. sends_key_unencrypted: to a server that is not local.
    """

    name: str
    identity: str
    connections: int | None = None
    remark = ""
    speaks_openai = False
    sends_key_unencrypted = False

    def check_chat(self, protocol: str) -> None:
        """Raise InputError if the protocol is a chat, and the model cannot have any."""

    def set_problems(self, problems: tuple[Problem, ...], dataset: str) -> None:
        """Take the problems of a dataset that will be asked about."""

    async def __aenter__(self) -> Self:
        """Open connections."""
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close connections."""

    async def complete(self, request: Request) -> Reply:
        """Return the reply to a request; raises ModelError."""
        raise NotImplementedError

    async def facts(self) -> dict[str, str]:
        """Return what is known of the engine: engine (its name), version, precision, and so on.

        Never raises: facts that a server does not report are left out.
        """
        return {}

    def stop(self) -> None:
        """Give up the requests in flight if they cost nothing to repeat."""
