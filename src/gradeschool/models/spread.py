"""Several servers of one model: each request goes to the least busy server."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from gradeschool.completion import Decoding, Prompt
from gradeschool.errors import InputError, TransientError
from gradeschool.models.base import Model, Reply, Request
from gradeschool.problem import Problem

# Texts that each server continues greedily: equal models write the same.
PROBES = ("Tom has 3 apples and buys 4 more. How many apples does he have now?\n", "1, 2, 3, 4,")
PROBE_TOKENS = 16
# Seconds without requests to a failed server while others answer; then one request tries it.
QUIET_SECONDS = 20.0


@dataclass(slots=True)
class _Server:
    """A server and its state. suspect: its last request failed."""

    model: Model
    asking: int = 0
    quiet_until: float = 0.0
    suspect: bool = False

    def unfit(self, now: float) -> tuple[bool, int]:
        """Return a sort key: the server with the smallest one gets the next request."""
        return self.quiet_until > now or (self.suspect and self.asking > 0), self.asking


class SpreadModel:
    """Servers of the same model; a context manager that opens them all.

    A server that cannot be reached is left out and reported to `tell`; if none can be reached, the
    first TransientError is raised. The identity contains no address, so that a run can continue on
    other servers of the model: it is the model's name and a digest of its greedy continuations of
    two short texts. Raises InputError if the servers' names or those texts differ, because the
    models are then not the same.
    """

    def __init__(
        self,
        models: Sequence[Model],
        tell: Callable[[str], None] = lambda words: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._servers = [_Server(model) for model in models]
        self._tell = tell
        self._clock = clock
        self._open = AsyncExitStack()
        self._digest = ""

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._servers[0].model.name

    @property
    def identity(self) -> str:
        """Return the model's name and a digest of its greedy texts."""
        return f"{self.name} on several servers {self._digest}"

    @property
    def models(self) -> list[Model]:
        """Return the servers' models."""
        return [server.model for server in self._servers]

    @property
    def shows_its_key(self) -> bool:
        """Whether a key goes to one of the servers unencrypted."""
        return any(getattr(model, "shows_its_key", False) for model in self.models)

    async def __aenter__(self) -> SpreadModel:
        """Open the servers and check that they serve the same model."""
        try:
            opened = await asyncio.gather(*(self._opened(server.model) for server in self._servers))
            failures = [error for error in opened if isinstance(error, TransientError)]
            if len(failures) == len(opened):
                raise failures[0]
            for error in failures:
                self._tell(f"{error}; continuing without it")
            pairs = zip(self._servers, opened, strict=True)
            reached = [(server, texts) for server, texts in pairs if isinstance(texts, list)]
            self._servers = [server for server, _ in reached]
            self._digest = self._compared([texts for _, texts in reached])
        except BaseException:  # including cancellation: `__aexit__` is not called then
            await self._open.aclose()
            raise
        return self

    async def _opened(self, model: Model) -> list[str] | TransientError:
        """Open a server and return its greedy texts, or the error if it cannot be reached."""
        try:
            return await _written(await self._open.enter_async_context(model))
        except TransientError as error:
            return error

    def _compared(self, written: Sequence[Sequence[str]]) -> str:
        """Return a digest of the servers' texts; raise InputError if they are not one model."""
        names = {server.model.name for server in self._servers}
        if len(names) > 1:
            raise InputError(
                f"the servers name different models: {', '.join(map(repr, sorted(names)))}; "
                "give servers of one model, its name after the address"
            )
        for server, texts in zip(self._servers, written, strict=True):
            for text, different in zip(written[0], texts, strict=True):
                if text != different:
                    raise InputError(
                        f"{self._servers[0].model.identity!r} and {server.model.identity!r} do not "
                        f"write the same greedy text: {text!r} and {different!r}; give servers of "
                        "one model, at the same precision"
                    )
        return hashlib.sha256("\0".join(written[0]).encode()).hexdigest()[:12]

    async def __aexit__(self, *exc: object) -> None:
        """Close the servers."""
        await self._open.aclose()

    async def answer(self, request: Request) -> Reply:
        """Return the reply of the least busy server; a failing server is avoided for a while."""
        now = self._clock()
        server = min(self._servers, key=lambda candidate: candidate.unfit(now))
        server.asking += 1
        try:
            reply = await server.model.answer(request)
        except TransientError as error:
            now = self._clock()
            quiet = max(QUIET_SECONDS, error.retry_after or 0.0)
            server.suspect, server.quiet_until = True, now + quiet
            if any(other.quiet_until <= now for other in self._servers):
                error.retry_after = None  # the wait applies to this server only
            raise
        finally:
            server.asking -= 1
        server.suspect = False
        return reply


async def _written(model: Model) -> list[str]:
    """Return the model's continuations of the probes."""
    decoding = Decoding(temperature=0.0, max_tokens=PROBE_TOKENS)
    problem = Problem.from_gold("7")
    return [
        (await model.answer(Request("probe", problem, Prompt(text=text), decoding, 0))).text
        for text in PROBES
    ]
