"""Work that may wait until the next requests are on their way."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from gradeschool.completion import Completion
from gradeschool.models.base import Request

Work = Callable[[Request, Completion], None]


class Later:
    """Does something with each completion, one in each turn of the event loop.

    An async context manager around the asking: reading an answer takes longer than sending the next
    request, which must not wait for it. What is left at the end of the block is done there.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._waiting: deque[tuple[Request, Completion]] = deque()
        self._some = asyncio.Event()

    def add(self, request: Request, completion: Completion) -> None:
        """Let the work be done for a completion."""
        self._waiting.append((request, completion))
        self._some.set()

    async def __aenter__(self) -> Later:
        """Start working."""
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Do what is left."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        while self._waiting:
            self._work(*self._waiting.popleft())

    async def _run(self) -> None:
        while True:
            await self._some.wait()
            self._some.clear()
            while self._waiting:
                self._work(*self._waiting.popleft())
                await asyncio.sleep(0)
