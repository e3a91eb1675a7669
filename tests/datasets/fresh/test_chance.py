"""Choices depend on their key alone, on every machine and in every Python."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool.datasets.fresh.chance import Chance

KEYS = st.lists(st.one_of(st.text(), st.integers()), max_size=4)


def test_a_key_has_the_draws_that_it_always_had() -> None:
    """Another sequence would be other problems under the same seed."""
    chance = Chance("1", 7, "test", 0, 0)
    assert [chance.below(1000) for _ in range(5)] == [577, 39, 737, 864, 351]


@given(KEYS, st.integers(-50, 50), st.integers(0, 50))
def test_draws_are_within_their_bounds_and_the_same_again(
    key: list[str | int], low: int, more: int
) -> None:
    first, second = Chance(*key), Chance(*key)
    for _ in range(20):
        number = first.between(low, low + more)
        assert low <= number <= low + more
        assert second.between(low, low + more) == number


@given(KEYS, st.lists(st.integers(), unique=True, max_size=12), st.data())
def test_a_sample_has_different_options_and_leaves_them_as_they_were(
    key: list[str | int], options: list[int], data: st.DataObject
) -> None:
    count = data.draw(st.integers(0, len(options)))
    before = list(options)
    sample = Chance(*key).sample(options, count)
    assert len(set(sample)) == len(sample) == count
    assert set(sample) <= set(options)
    assert options == before
    assert sorted(Chance(*key).shuffled(options)) == sorted(options)


@pytest.mark.parametrize("probability", [0.0, 0.15, 1.0])
def test_an_event_happens_as_often_as_it_should(probability: float) -> None:
    chance = Chance("events")
    share = sum(chance.hit(probability) for _ in range(4_000)) / 4_000
    assert share == pytest.approx(probability, abs=0.03)


def test_all_options_are_equally_likely() -> None:
    chance = Chance("options")
    counts = Counter(chance.pick("abcd") for _ in range(4_000))
    assert set(counts) == set("abcd")
    assert all(850 < count < 1_150 for count in counts.values())
