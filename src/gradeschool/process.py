"""Of this process: cores, device, free memory, and what it does on Ctrl-C and SIGTERM."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, current_thread, main_thread

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def cores() -> int:
    """Return the number of cores that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def best_device() -> str:
    """Return the device for models, as torch names it: a GPU if there is one."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def free_memory() -> int | None:
    """Return the free memory in bytes, None if the system does not report it."""
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if "MemAvailable" in line)
    except (OSError, ValueError, StopIteration):
        return None


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
