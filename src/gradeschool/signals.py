"""Handling of SIGINT and SIGTERM: what a command does on Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, current_thread, main_thread

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def keeping_handlers(*numbers: signal.Signals) -> Iterator[None]:
    """Restore the handlers of signals after the block, which may replace them.

    Outside the main thread nothing changes, since Python handles no signals there.
    """
    is_main = current_thread() is main_thread()
    handlers = [signal.getsignal(number) for number in numbers] if is_main else []
    try:
        yield
    finally:
        for number, handler in zip(numbers, handlers, strict=False):
            signal.signal(number, handler)


def ignore_interrupts() -> None:
    """Ignore SIGINT in a child process: Ctrl-C reaches the whole group, and the parent decides."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def stop_flag() -> Iterator[Event]:
    """Yield a flag that the first interrupt sets; a second one raises KeyboardInterrupt."""
    flag = Event()

    def interrupt(*_: object) -> None:
        if flag.is_set():
            raise KeyboardInterrupt
        flag.set()

    with keeping_handlers(*SIGNALS):
        if current_thread() is main_thread():
            for number in SIGNALS:
                signal.signal(number, interrupt)
        yield flag
