"""Work that waits until requests are on their way: all of it is done, in order, a little a turn."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from gradeschool.completion import Completion, Decoding, Prompt
from gradeschool.models.base import Request
from gradeschool.problem import Problem
from gradeschool.runs import evaluate
from gradeschool.runs.evaluate import DeferredQueue
from gradeschool.runs.store import Answered

REQUEST = Request("key", Problem.from_gold("7"), Prompt(text="?"), Decoding(), 0)
SEVERAL = 10


def answers(count: int) -> list[Answered]:
    return [(REQUEST, Completion("key", "?", sample, "#### 7")) for sample in range(count)]


def samples(answered: Sequence[Answered]) -> list[int]:
    return [completion.sample for _, completion in answered]


def test_what_is_queued_at_the_end_is_handled_there() -> None:
    handled: list[int] = []

    async def use() -> None:
        async with DeferredQueue(lambda answered: handled.extend(samples(answered))) as queue:
            queue.add(answers(SEVERAL))
            assert handled == []

    asyncio.run(use())
    assert handled == list(range(SEVERAL))


def test_others_have_their_turn_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """A queue that handles one completion in a turn."""
    monkeypatch.setattr(evaluate, "PAUSE_SECONDS", 0)
    monkeypatch.setattr(evaluate, "SCORED_A_TURN", 1)
    turns: list[list[int]] = [[]]

    async def use() -> None:
        async with DeferredQueue(lambda answered: turns[-1].extend(samples(answered))) as queue:
            queue.add(answers(SEVERAL))
            while sum(map(len, turns)) < SEVERAL:
                await asyncio.sleep(0)
                turns.append([])

    asyncio.run(use())
    assert [sample for turn in turns for sample in turn] == list(range(SEVERAL))
    assert max(map(len, turns)) == 1
