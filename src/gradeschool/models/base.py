"""The interface of a model: an identity, and replies to requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, Self

from gradeschool.completion import NO_USAGE, Decoding, Finish, Prompt, Usage
from gradeschool.errors import ModelError
from gradeschool.problem import Problem


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


class Model:
    """A source of completions, used as an async context manager around a run.

    name: for people and file names. identity: everything that determines the answers (provider,
    model name, address); it is part of every key, and never contains a secret. connections: the
    number of requests that it takes at a time, None to adapt the number to the server.
    """

    name: str
    identity: str
    connections: int | None = None

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


# Ended requests, each with its reply or its error.
Results = list[tuple[Request, Reply | ModelError]]
# Returns up to this many collected requests without waiting; [] if there are none.
Take = Callable[[int], list[Request]]


class Engine(Protocol):
    """A loaded model that writes many requests at a time."""

    def write(self, take: Take) -> Generator[Results, None, None]:
        """Yield results in any order as they end; return when nothing is left to take or write.

        Each request that was taken ends once. The engine may take more requests
        between two results, and should yield an empty list from time to time: this is where it is
        closed if the run stops.
        """


class Collector(Model):
    """Collects the requests in flight for an engine, which writes them in a thread.

    load: returns the engine; called in the thread before the first request.
    """

    connections = 4096

    def __init__(self, load: Callable[[], Engine]) -> None:
        self._load = load
        self._engine: Engine | None = None
        self._waiting: list[Request] = []
        self._ends: dict[int, asyncio.Future[Reply]] = {}  # by id of the request
        self._writing: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        # One thread: an engine may be bound to the thread that loaded it.
        self._thread = ThreadPoolExecutor(1)

    async def complete(self, request: Request) -> Reply:
        """Return the reply to a request; raises ModelError."""
        end: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._ends[id(request)] = end
        self._waiting.append(request)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        try:
            return await end
        finally:
            del self._ends[id(request)]

    def stop(self) -> None:
        """Give up all requests in flight: `complete` raises CancelledError."""
        self._stopping.set()
        for end in self._ends.values():
            end.cancel()

    async def __aexit__(self, *exc: object) -> None:
        """Stop, wait for the thread, and release the engine."""
        self.stop()
        if self._writing is not None:
            await asyncio.wait([self._writing])
        self._thread.shutdown()
        self._engine = None

    def _take(self, most: int) -> list[Request]:
        taken, self._waiting = self._waiting[:most], self._waiting[most:]
        return taken

    async def _write(self) -> None:
        """Write the waiting requests and those that arrive meanwhile."""
        await asyncio.sleep(0.01)  # requests are sent one after the other
        loop = asyncio.get_running_loop()
        try:
            if self._engine is None:
                self._engine = await loop.run_in_executor(self._thread, self._load)
            while self._waiting and not self._stopping.is_set():
                results = self._engine.write(self._take)
                while (
                    ended := await loop.run_in_executor(self._thread, next, results, None)
                ) is not None:
                    for request, reply in ended:
                        end = self._ends.get(id(request))
                        if end is None or end.done():
                            continue
                        if isinstance(reply, ModelError):
                            end.set_exception(reply)
                        else:
                            end.set_result(reply)
                    if self._stopping.is_set():
                        await loop.run_in_executor(self._thread, results.close)
                        break
                    await asyncio.sleep(0)  # the next requests are sent
        except Exception as error:  # noqa: BLE001  (every request in flight ends with it)
            for end in self._ends.values():
                if not end.done():
                    end.set_exception(error)
