"""Asking for many samples at once: workers as the pace allows, one place that records failures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass

from gradeschool.completion import Completion
from gradeschool.errors import FatalModelError, ModelError, TransientError
from gradeschool.models.base import BulkModel, Model, Reply, Request, SeveralModel
from gradeschool.runs.pace import Pace
from gradeschool.runs.plan import Group, groups
from gradeschool.runs.records import completed, failed
from gradeschool.runs.retries import SAYS_NOTHING_OF_LOAD, Retries, overloaded, wait_before

Record = Callable[[Request, Completion], None]
Event = Callable[[str], None]


@dataclass(slots=True)
class Live:
    """How a run stands at this moment: requests in flight, those that wait, the most allowed."""

    asking: int = 0
    waiting: int = 0
    limit: int = 0


class Asker:
    """Asks a model for requests, as many at a time as `pace` allows, and records each as it comes.

    record: called once for each request that ended, with its completion or its error.
    event: told "retry" for each further try. `stop()` lets what is in flight end and asks no more.
    affordable: asked before each request with how many are in flight; where it says no, that
    request waits for one of them, and with none in flight no more is asked.
    """

    def __init__(
        self,
        model: Model,
        pace: Pace,
        record: Record,
        event: Event,
        run: str,
        affordable: Callable[[int], bool] = lambda in_flight: True,
    ) -> None:
        self.model = model
        self.pace = pace
        self.record = record
        self.event = event
        self.run = run
        self.affordable = affordable
        self.stopping = asyncio.Event()
        self.fatal: FatalModelError | None = None
        self.live = Live(limit=pace.limit)
        self._retries = Retries(0)
        self._workers = 0

    def stop(self) -> None:
        """Ask for nothing more; requests in flight are still recorded."""
        self.stopping.set()

    async def ask_all(self, requests: Sequence[Request], choices: int = 1) -> None:
        """Ask for all requests; returns when done or stopped.

        choices: so many samples of a problem are asked for in one request where nothing tells them
        apart but their number. Raises FatalModelError, and whatever `record` raises (StoreError).
        """
        self._retries = Retries(len(requests))
        several = choices if isinstance(self.model, SeveralModel) else 1
        pending = groups(requests, several)
        try:
            async with asyncio.TaskGroup() as tasks:
                self._hire(tasks, pending, len(requests))
        except ExceptionGroup as group:
            raise group.exceptions[0] from None
        if self.fatal is not None:
            raise self.fatal

    async def ask_at_once(self, model: BulkModel, requests: Sequence[Request]) -> None:
        """Give all requests to a model that answers them in its own order; record each result.

        Returns when done or stopped. Raises FatalModelError, and whatever `record` raises.
        """
        self._retries = Retries(len(requests))
        async with aclosing(model.answer_all(requests)) as batches:
            async for results in batches:
                for request, reply in results:
                    if isinstance(reply, ModelError):
                        completions = self._failed([request], reply)
                    else:
                        self._retries.answered()
                        completions = [completed(request, reply, self.run)]
                    for completion in completions:
                        self.record(request, completion)
                if not self.affordable(0):
                    self.stop()
                if self.stopping.is_set():
                    break
        if self.fatal is not None:
            raise self.fatal

    def _hire(self, tasks: asyncio.TaskGroup, pending: Iterator[Group], most: int) -> None:
        """Start workers until there are as many as the pace allows."""
        self.live.limit = self.pace.limit
        while self._workers < min(self.pace.limit, most) and not self.stopping.is_set():
            self._workers += 1
            tasks.create_task(self._work(tasks, pending, most))

    async def _work(self, tasks: asyncio.TaskGroup, pending: Iterator[Group], most: int) -> None:
        """Ask for one group after another until there is none, or too many are at work."""
        while self._workers <= self.pace.limit and not self.stopping.is_set():
            if not self.affordable(self.live.asking + self.live.waiting):
                if self.live.asking + self.live.waiting == 0:
                    self.stop()
                break  # else whoever is in flight hires again, and knows more
            group = next(pending, ())  # one iterator, shared by all workers
            if not group:
                break
            while group and (ended := await self._ended(group)):
                for request, completion in zip(group, ended, strict=False):
                    self.record(request, completion)
                group = group[len(ended) :]
            self._hire(tasks, pending, most)
        self._workers -= 1

    async def _ended(self, group: Group) -> list[Completion]:
        """Return the completions of the first of a group, or their errors; none if stopped."""
        tries = 0
        while await self._allowed():
            tries += 1
            sent = self.pace.clock()
            try:
                replies = await self._asked(group)
            except TransientError as error:
                if overloaded(error) or (tries == 1 and error.cause not in SAYS_NOTHING_OF_LOAD):
                    self.pace.trouble(sent, error.retry_after)
                if not self._retries.again(error, tries):
                    return self._failed(group, error)
                self.event("retry")
                await self._pause(wait_before(tries, error.retry_after))
            except FatalModelError as error:
                self._give_up(error)
            except ModelError as error:
                return self._failed(group, error)
            else:
                self._retries.answered()
                self.pace.answered()
                pairs = zip(group, replies, strict=False)
                return [completed(request, reply, self.run) for request, reply in pairs]
        return []

    async def _allowed(self) -> bool:
        """Wait as long as the server wants to be left alone; False where the run is stopped."""
        quiet = self.pace.quiet_until - self.pace.clock()
        if quiet > 0:
            await self._pause(wait_before(1, quiet))
        return not self.stopping.is_set()

    async def _asked(self, group: Group) -> list[Reply]:
        self.live.asking += 1
        try:
            if len(group) > 1 and isinstance(self.model, SeveralModel):
                return await self.model.answer_many(group)
            return [await self.model.answer(group[0])]
        finally:
            self.live.asking -= 1

    def _failed(self, group: Group, error: ModelError) -> list[Completion]:
        """Return the error as the completion of each request; none where it ends the run."""
        fatal = self._retries.fatal(group[0], error)
        if fatal is not None:
            self._give_up(fatal)
        if fatal is not None and fatal.cause == "cannot connect":
            return []  # nothing was ever asked of anybody
        return [failed(request, error, self.run) for request in group]

    def _give_up(self, error: FatalModelError) -> None:
        self.fatal = self.fatal or error
        self.stop()

    async def _pause(self, seconds: float) -> None:
        """Wait before another try, or until the run is stopped."""
        self.live.waiting += 1
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stopping.wait(), timeout=seconds)
        self.live.waiting -= 1
