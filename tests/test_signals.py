"""What the first and the second interrupt do, with and without an event loop."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from gradeschool.signals import on_interrupt, stop_flag


def send(number: int) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_interrupt_sets_the_flag_and_the_second_raises(number: int) -> None:
    with stop_flag() as flag:
        before = flag.is_set()
        send(number)
        assert (before, flag.is_set()) == (False, True)
        with pytest.raises(KeyboardInterrupt):
            send(number)


def test_in_an_event_loop_the_loop_calls_the_handler() -> None:
    calls = []

    async def interrupted() -> None:
        with on_interrupt(lambda: calls.append("interrupt")):
            send(signal.SIGTERM)
            await asyncio.sleep(0.05)

    asyncio.run(interrupted())
    assert calls == ["interrupt"]
