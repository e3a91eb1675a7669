"""Ctrl-C in a training: once ends it behind the update that runs, twice ends it at once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType


class Stop:
    """Whether a signal asked the training to end."""

    def __init__(self) -> None:
        self.requested = False

    def receive(self, number: int, frame: FrameType | None) -> None:
        """Take a signal; the second one ends at once."""
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True


@contextmanager
def stopped_by_signals() -> Iterator[Stop]:
    """Let SIGINT and SIGTERM set `asked`; outside the main thread signals do what they did."""
    stop = Stop()
    if current_thread() is not main_thread():
        yield stop
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, stop.receive) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
