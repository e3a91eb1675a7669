"""A request of aiohttp whose body is on its way before anything else runs."""

from __future__ import annotations

import sys
from collections.abc import Coroutine, Generator
from typing import Any

import aiohttp


class Begun(Generator[Any, Any, None]):
    """A coroutine that ran up to its first wait; to be awaited for the rest, however little."""

    def __init__(self, work: Coroutine[Any, Any, None]) -> None:
        self._work = work
        self._held: list[Any] = []  # what it waits for first, until somebody asks
        self._ended = False
        try:
            self._held.append(work.send(None))
        except StopIteration:
            self._ended = True

    def __await__(self) -> Generator[Any, Any, None]:
        """Go on where the coroutine waits."""
        return self

    def send(self, value: Any) -> Any:
        """Return what the coroutine waits for next."""
        if self._ended:
            raise StopIteration
        return self._held.pop() if self._held else self._work.send(value)

    def throw(self, *error: Any) -> Any:
        """Let the coroutine hear of an error, and return what it waits for next."""
        self._held.clear()
        return self._work.throw(*error)


class _RequestAtOnce(aiohttp.ClientRequest):
    """Writes its body when it is sent.

    aiohttp writes it in a task, which begins at once from Python 3.12 on. Before that it begins
    behind all else that the event loop has to do: when answers come together, no next request left
    before all of them were read, a tenth of the time at a latency of 100 ms.
    """

    def write_bytes(self, *args: Any, **kwargs: Any) -> Coroutine[Any, Any, None]:
        """Write as much as can be written, and return the rest as a coroutine."""
        return _rest(Begun(super().write_bytes(*args, **kwargs)))


async def _rest(begun: Begun) -> None:
    await begun


REQUEST_CLASS = _RequestAtOnce if sys.version_info < (3, 12) else aiohttp.ClientRequest
