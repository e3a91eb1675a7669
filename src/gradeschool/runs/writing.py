"""Rows on their way to disk: together in one write what came together, synced once a second."""

from __future__ import annotations

import asyncio
from types import TracebackType

from gradeschool.completion import Completion
from gradeschool.runs.store import RunStore

SYNC_SECONDS = 1.0


class GroupWriter:
    """Appends completions to a store; an async context manager around the asking.

    All that is added while the event loop is busy goes into one write, in the loop's next turn.
    The disk is synced in a thread, so that a slow one holds up no answer. A disk that fails ends
    the block with StoreError.
    """

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._rows: list[tuple[bytes, Completion]] = []
        self._some = asyncio.Event()
        self._tasks = asyncio.TaskGroup()

    def add(self, line: bytes, completion: Completion) -> None:
        """Let a row be written."""
        self._rows.append((line, completion))
        self._some.set()

    async def __aenter__(self) -> GroupWriter:
        """Start writing."""
        await self._tasks.__aenter__()
        self._running = [self._tasks.create_task(work) for work in (self._write(), self._sync())]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write what is left, however the block ended."""
        for task in self._running:
            task.cancel()
        try:
            await self._tasks.__aexit__(kind, error, trace)
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None
        finally:
            self.flush()

    async def _write(self) -> None:
        while True:
            await self._some.wait()
            self._some.clear()
            self.flush()

    async def _sync(self) -> None:
        while True:
            await asyncio.sleep(SYNC_SECONDS)
            await asyncio.to_thread(self._store.sync)

    def flush(self) -> None:
        """Write what was added so far."""
        rows, self._rows = self._rows, []
        if rows:
            lines, completions = zip(*rows, strict=True)
            self._store.append(lines, completions)
