"""What the first and the second interrupt do."""

import os
import signal

import pytest

from gradeschool.process import stop_flag


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
