"""Handling of SIGINT and SIGTERM: what a command does on Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, current_thread, main_thread

NUMBERS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def on_interrupt(handler: Callable[[], None]) -> Iterator[None]:
    """Call `handler` at each SIGINT or SIGTERM during the block.

    Inside a running event loop, the loop calls it between two steps. Otherwise Python calls it, and
    an exception that it raises propagates from the current line. Outside the main thread nothing
    changes, since Python handles no signals there.
    """
    if current_thread() is not main_thread():
        yield
        return
    import asyncio  # not at the top: a worker process starts without it

    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        earlier = {number: signal.getsignal(number) for number in NUMBERS}
        for number in NUMBERS:
            signal.signal(number, lambda *_: handler())
        try:
            yield
        finally:
            for number, previous in earlier.items():
                signal.signal(number, previous)
        return
    for number in NUMBERS:
        loop.add_signal_handler(number, handler)
    try:
        yield
    finally:
        for number in NUMBERS:
            loop.remove_signal_handler(number)


@contextmanager
def keeping_handler(number: signal.Signals) -> Iterator[None]:
    """Restore the handler of a signal after the block, for libraries that replace it."""
    if current_thread() is not main_thread():
        yield
        return
    handler = signal.getsignal(number)
    try:
        yield
    finally:
        signal.signal(number, handler)


def ignore_interrupts() -> None:
    """Ignore SIGINT in a child process: Ctrl-C reaches the whole group, and the parent decides."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def stop_flag() -> Iterator[Event]:
    """Yield a flag that the first interrupt sets; a second one raises KeyboardInterrupt."""
    flag = Event()

    def interrupt() -> None:
        if flag.is_set():
            raise KeyboardInterrupt
        flag.set()

    with on_interrupt(interrupt):
        yield flag
