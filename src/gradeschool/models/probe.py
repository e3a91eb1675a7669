"""A client that tests individual fields of an endpoint, and its findings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from gradeschool.errors import ModelError
from gradeschool.formats.samples import text_of
from gradeschool.models.endpoint import STARTING_WAITS, Endpoint, is_status, with_retries
from gradeschool.models.openai_api import OVERLOADED_STATUSES, classify, object_in

QUESTION = "A box holds 3 rows of 4 eggs. How many eggs are in 5 boxes? Work it out step by step."
TOKENS = 48
CHAT, COMPLETIONS = "/chat/completions", "/completions"


class FindingState(StrEnum):
    """The result of a probe: as requested, different from the request, or unknown."""

    FINE = "fine"
    DEVIATES = "deviates"
    UNKNOWN = "unknown"


class ServerFinding(NamedTuple):
    """The result of one probe: `name` is short and stable, `says` is a sentence for people."""

    name: str
    state: FindingState
    says: str

    @property
    def refuses(self) -> bool:
        """Whether the server does not do what was requested."""
        return self.state is FindingState.DEVIATES


class ProbeAnswer(NamedTuple):
    """One answer of the server: its status and its object (empty unless 200)."""

    status: int
    body: Mapping[str, Any]
    text: str
    finish: str

    @property
    def choices(self) -> int:
        """The number of choices."""
        return len(self.body.get("choices") or ())


class FormAnswers(NamedTuple):
    """The greedy answers of both forms, None if the server does not have the form."""

    chat: ProbeAnswer | None
    completion: ProbeAnswer | None

    @property
    def longer(self) -> ProbeAnswer:
        """The answer with more words: a chat model often ends a plain text immediately."""
        there = [answer for answer in (self.completion, self.chat) if answer is not None]
        return max(there, key=lambda answer: len(answer.text.split()))


def first_choice(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first choice of an answer, {} if there is none."""
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else {}


class Probe(Endpoint):
    """An endpoint for tests of individual fields; counts its requests."""

    requests = 0

    @classmethod
    def like(cls, endpoint: Endpoint) -> Probe:
        """Return a probe of the same server and model."""
        return cls(endpoint.base, endpoint.model, endpoint._key, endpoint.seconds)

    async def __aenter__(self) -> Probe:
        """Open the connections; look up the model's name if none is set."""
        await super().__aenter__()
        return self

    async def ask(self, path: str, **fields: Any) -> ProbeAnswer:
        """Send one body without fields whose value is None. Raises ModelError as `answer` does.

        An overloaded server says nothing about its fields: the request is repeated, and in the end
        TransientError is raised.
        """
        body = {"model": self.model, "max_tokens": TOKENS, "temperature": 0, **fields}
        sent = {name: value for name, value in body.items() if value is not None}

        async def request() -> tuple[int, bytes]:
            self.requests += 1
            status, headers, raw, connection = await self._send(
                "POST", path, json.dumps(sent).encode()
            )
            connection.close()
            if status in OVERLOADED_STATUSES:
                raise classify(status, headers, raw, self.base)
            return status, raw

        status, raw = await with_retries(request, STARTING_WAITS, is_status)
        if status in {401, 403}:
            raise ModelError(f"http {status}", f"{self.base} refuses the API key")
        if status != 200:
            return ProbeAnswer(status, {}, "", "")
        reply = object_in(raw)
        choice = first_choice(reply)
        inside = choice.get("message") or {} if path == CHAT else choice
        text = text_of(inside.get("content" if path == CHAT else "text")) or ""
        return ProbeAnswer(status, reply, text, str(choice.get("finish_reason") or ""))

    async def chat(self, text: str = QUESTION, **fields: Any) -> ProbeAnswer:
        """Request a chat completion of one user message."""
        return await self.ask(CHAT, messages=[{"role": "user", "content": text}], **fields)

    async def complete(self, text: str = QUESTION, **fields: Any) -> ProbeAnswer:
        """Request a completion of a text."""
        return await self.ask(COMPLETIONS, prompt=text, **fields)
