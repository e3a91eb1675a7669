"""Ctrl-C: once lets what is in flight end, twice ends at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gradeschool.runs.ask import Asker


@contextmanager
def stopped_by_signals(asker: Asker, told: Callable[[], None]) -> Iterator[None]:
    """Let the first SIGINT or SIGTERM stop the asker and the second cancel what is in flight.

    told: called at the first. Outside the main thread signals do what they did before.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()

    def stop() -> None:
        if asker.stopping.is_set() and task is not None:
            task.cancel()
            return
        asker.stop()
        told()

    signals: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM)
    try:
        for number in signals:
            loop.add_signal_handler(number, stop)
    except (RuntimeError, ValueError, NotImplementedError):  # not in the main thread
        signals = ()
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
