"""How many requests are in flight: more while it helps, half on trouble, always in bounds."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool.runs.dispatch import FIRST_LIMIT, HIGHEST_LIMIT, ConcurrencyLimiter


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def served(
    limiter: ConcurrencyLimiter, clock: Clock, rate: Callable[[int], float], answers: int = 5000
) -> None:
    """Let a server answer `rate(requests in flight)` times a second."""
    for _ in range(answers):
        clock.now += 1 / rate(limiter.limit)
        limiter.succeeded()


def test_a_number_that_is_given_is_begun_with_and_never_passed() -> None:
    clock = Clock()
    limiter = ConcurrencyLimiter(40, clock)
    assert limiter.limit == 40
    served(limiter, clock, lambda limit: 10.0 * limit)
    assert limiter.limit == 40


def test_without_a_number_it_doubles_while_answers_come_faster() -> None:
    clock = Clock()
    limiter = ConcurrencyLimiter(clock=clock)
    assert limiter.limit == FIRST_LIMIT
    served(limiter, clock, lambda limit: 10.0 * limit)
    assert limiter.limit == HIGHEST_LIMIT


@pytest.mark.parametrize("slots", [4, 16, 40, 64])
def test_it_stays_where_more_does_not_help(slots: int) -> None:
    clock = Clock()
    limiter = ConcurrencyLimiter(clock=clock)
    served(limiter, clock, lambda limit: 10.0 * min(limit, slots))
    assert max(FIRST_LIMIT, slots) <= limiter.limit <= max(FIRST_LIMIT, 2 * slots)


def test_one_storm_halves_it_once_and_the_next_once_more() -> None:
    clock = Clock()
    limiter = ConcurrencyLimiter(64, clock)
    clock.now = 5.0
    for _ in range(64):
        limiter.overloaded(sent=4.0)
    assert limiter.limit == 32
    clock.now = 6.0
    for _ in range(32):
        limiter.overloaded(sent=5.5)
    assert limiter.limit == 16


def test_it_grows_back_by_an_eighth_a_round_up_to_what_was_given() -> None:
    clock = Clock()
    limiter = ConcurrencyLimiter(64, clock)
    clock.now = 1.0
    limiter.overloaded(sent=0.5)
    for _ in range(32):
        limiter.succeeded()
    assert limiter.limit == 36
    for _ in range(2000):
        limiter.succeeded()
    assert limiter.limit == 64


@given(
    most=st.one_of(st.none(), st.integers(1, 500)),
    events=st.lists(st.tuples(st.booleans(), st.floats(0, 10)), max_size=300),
)
def test_it_never_leaves_its_bounds(most: int | None, events: list[tuple[bool, float]]) -> None:
    clock = Clock()
    limiter = ConcurrencyLimiter(most, clock)
    for fine, seconds in events:
        sent = clock.now
        clock.now += seconds
        if fine:
            limiter.succeeded()
        else:
            limiter.overloaded(sent)
        assert 1 <= limiter.limit <= (most or HIGHEST_LIMIT)
