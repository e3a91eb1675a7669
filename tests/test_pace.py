"""How many requests are in flight: more while it helps, half on trouble, always in bounds."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool.runs.pace import MOST, START, Pace


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def served(pace: Pace, clock: Clock, rate: Callable[[int], float], answers: int = 5000) -> None:
    """Let a server answer `rate(requests in flight)` times a second."""
    for _ in range(answers):
        clock.now += 1 / rate(pace.limit)
        pace.answered()


def test_a_number_that_is_given_is_begun_with_and_never_passed() -> None:
    clock = Clock()
    pace = Pace(40, clock)
    assert pace.limit == 40
    served(pace, clock, lambda limit: 10.0 * limit)
    assert pace.limit == 40


def test_without_a_number_it_doubles_while_answers_come_faster() -> None:
    clock = Clock()
    pace = Pace(clock=clock)
    assert pace.limit == START
    served(pace, clock, lambda limit: 10.0 * limit)
    assert pace.limit == MOST


@pytest.mark.parametrize("slots", [4, 16, 40, 64])
def test_it_stays_where_more_does_not_help(slots: int) -> None:
    clock = Clock()
    pace = Pace(clock=clock)
    served(pace, clock, lambda limit: 10.0 * min(limit, slots))
    assert max(START, slots) <= pace.limit <= max(START, 2 * slots)


def test_one_storm_halves_it_once_and_the_next_once_more() -> None:
    clock = Clock()
    pace = Pace(64, clock)
    clock.now = 5.0
    for _ in range(64):
        pace.trouble(sent=4.0)
    assert pace.limit == 32
    clock.now = 6.0
    for _ in range(32):
        pace.trouble(sent=5.5)
    assert pace.limit == 16


def test_it_grows_back_by_an_eighth_a_round_up_to_what_was_given() -> None:
    clock = Clock()
    pace = Pace(64, clock)
    clock.now = 1.0
    pace.trouble(sent=0.5)
    for _ in range(32):
        pace.answered()
    assert pace.limit == 36
    for _ in range(2000):
        pace.answered()
    assert pace.limit == 64


def test_the_servers_wish_sets_when_to_be_quiet_until() -> None:
    clock = Clock()
    pace = Pace(8, clock)
    clock.now = 10.0
    pace.trouble(sent=9.0, retry_after=7.0)
    pace.trouble(sent=9.0, retry_after=2.0)
    assert pace.quiet_until == 17.0


@given(
    most=st.one_of(st.none(), st.integers(1, 500)),
    events=st.lists(st.tuples(st.booleans(), st.floats(0, 10)), max_size=300),
)
def test_it_never_leaves_its_bounds(most: int | None, events: list[tuple[bool, float]]) -> None:
    clock = Clock()
    pace = Pace(most, clock)
    for fine, seconds in events:
        sent = clock.now
        clock.now += seconds
        if fine:
            pace.answered()
        else:
            pace.trouble(sent)
        assert 1 <= pace.limit <= (most or MOST)
