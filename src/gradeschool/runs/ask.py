"""Asking for many samples at once: connections, retries, one place that records failures."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from gradeschool.completion import Completion, Finish
from gradeschool.errors import FatalModelError, ModelError, TransientError
from gradeschool.models.base import Model, Request

TRIES = 6
FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0
# A server that was never reached is not worth six tries for each of a thousand samples.
UNREACHED_TRIES = 3

Record = Callable[[Request, Completion], None]
Event = Callable[[str], None]


class Asker:
    """Asks a model for requests, `connections` at a time, and records each as it comes.

    record: called once for each request that ended, with its completion or its error.
    event: told "retry" for each further try. `stop()` lets what is in flight end and asks no more.
    """

    def __init__(
        self, model: Model, connections: int, record: Record, event: Event, run: str
    ) -> None:
        self.model = model
        self.connections = connections
        self.record = record
        self.event = event
        self.run = run
        self.stopping = asyncio.Event()
        self.fatal: FatalModelError | None = None
        self._reached = False

    def stop(self) -> None:
        """Ask for nothing more; requests in flight are still recorded."""
        self.stopping.set()

    async def ask_all(self, requests: Sequence[Request]) -> None:
        """Ask for all requests; returns when done or stopped.

        Raises FatalModelError, and whatever `record` raises (StoreError).
        """
        pending = iter(requests)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.connections, len(requests))):
                    group.create_task(self._work(pending))
        except ExceptionGroup as several:
            raise several.exceptions[0] from None
        if self.fatal is not None:
            raise self.fatal

    async def _work(self, pending: Iterator[Request]) -> None:
        for request in pending:  # one iterator, shared by all workers
            if self.stopping.is_set():
                return
            completion = await self._completion(request)
            if completion is None:
                return
            self.record(request, completion)

    async def _completion(self, request: Request) -> Completion | None:
        """Return the completion, or the error as one; None where the run stops first."""
        tries = 0
        while True:
            tries += 1
            try:
                reply = await self.model.answer(request)
            except TransientError as error:
                self._reached |= error.cause != "cannot connect"
                if tries >= self._tries_for(error):
                    return self._failed(request, error)
                self.event("retry")
                if not await self._pause(wait_before(tries, error.retry_after)):
                    return None
            except FatalModelError as error:
                self._give_up(error)
                return None
            except ModelError as error:
                self._reached = True
                return self._failed(request, error)
            else:
                self._reached = True
                return Completion(
                    key=request.key,
                    problem_id=request.problem.id,
                    sample=request.sample,
                    text=reply.text,
                    finish=reply.finish,
                    usage=reply.usage,
                    model=reply.model,
                    reasoning=reply.reasoning,
                    run=self.run,
                    deviations=reply.deviations,
                )

    def _tries_for(self, error: TransientError) -> int:
        unreached = error.cause == "cannot connect" and not self._reached
        return UNREACHED_TRIES if unreached else TRIES

    def _failed(self, request: Request, error: ModelError) -> Completion | None:
        if error.cause == "cannot connect" and not self._reached:
            self._give_up(FatalModelError(error.cause, f"{error}; is the server running?"))
            return None
        return Completion(
            key=request.key,
            problem_id=request.problem.id,
            sample=request.sample,
            text="",
            finish=Finish.UNKNOWN,
            error=f"{error.cause}: {error}",
            run=self.run,
        )

    def _give_up(self, error: FatalModelError) -> None:
        self.fatal = self.fatal or error
        self.stop()

    async def _pause(self, seconds: float) -> bool:
        """Wait before another try; False where the run is stopped meanwhile."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stopping.wait(), timeout=seconds)
        return not self.stopping.is_set()


def wait_before(tries: int, retry_after: float | None) -> float:
    """Return the seconds to wait after `tries` failures: the server's wish, else doubling."""
    if retry_after is not None:
        return retry_after
    longest = min(FIRST_WAIT * 2.0 ** (tries - 1), LONGEST_WAIT)
    return longest * random.uniform(0.5, 1.0)  # noqa: S311  (spreads load, guards nothing)
