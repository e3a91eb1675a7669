"""Work that waits until requests are on their way: all of it is done, in order, a little a turn."""

from __future__ import annotations

import asyncio
from itertools import count

import pytest

from gradeschool.completion import Completion, Decoding, Prompt
from gradeschool.models.base import Request
from gradeschool.problem import Problem
from gradeschool.runs import evaluate
from gradeschool.runs.evaluate import DeferredQueue

REQUEST = Request("key", Problem.from_gold("7"), Prompt(text="?"), Decoding(), 0)
SEVERAL = 10


def answer(sample: int) -> Completion:
    return Completion("key", "?", sample, "#### 7")


def test_what_is_left_at_the_end_is_done_there() -> None:
    handled: list[int] = []

    async def use() -> None:
        async with DeferredQueue(lambda _, completion: handled.append(completion.sample)) as queue:
            for sample in range(SEVERAL):
                queue.add(REQUEST, answer(sample))
            assert handled == []

    asyncio.run(use())
    assert handled == list(range(SEVERAL))


def test_others_have_their_turn_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that says that a turn is over after one piece of work."""
    monkeypatch.setattr(evaluate, "PAUSE_SECONDS", 0)
    clock = count()
    monkeypatch.setattr(evaluate, "monotonic", lambda: next(clock) * 0.75 * evaluate.TURN_SECONDS)
    turns: list[list[int]] = [[]]

    async def use() -> None:
        async with DeferredQueue(
            lambda _, completion: turns[-1].append(completion.sample)
        ) as queue:
            for sample in range(SEVERAL):
                queue.add(REQUEST, answer(sample))
            while sum(map(len, turns)) < SEVERAL:
                await asyncio.sleep(0)
                turns.append([])

    asyncio.run(use())
    assert [sample for turn in turns for sample in turn] == list(range(SEVERAL))
    assert max(map(len, turns)) == 1
