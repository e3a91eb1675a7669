"""Check that every progress callback of a run is called, in order and with the same facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradeschool.completion import Completion, Finish
from gradeschool.runs.cost import Budget, Price
from gradeschool.runs.dispatch import InFlight
from gradeschool.runs.progress import EndedSample, RunProgress, SeveralProgress
from gradeschool.verdict import Outcome


class Noted(RunProgress):
    """Remembers its calls in a list that it shares with others."""

    def __init__(self, name: str, calls: list[tuple[Any, ...]]) -> None:
        self.name, self.calls = name, calls

    def watch(self, in_flight: InFlight, budget: Budget | None, died: str) -> None:
        self.calls.append((self.name, "watch", in_flight, budget, died))

    def begin(self, total: int, stored: int, repairs: Sequence[str]) -> None:
        self.calls.append((self.name, "begin", total, stored, repairs))

    def ended(self, samples: Sequence[EndedSample]) -> None:
        self.calls.append((self.name, "ended", samples))

    def retry(self) -> None:
        self.calls.append((self.name, "retry"))

    def stopping(self) -> None:
        self.calls.append((self.name, "stopping"))

    def note(self, text: str) -> None:
        self.calls.append((self.name, "note", text))


def test_all_callbacks_are_called_with_the_same_facts_in_their_order() -> None:
    in_flight, budget = InFlight(1, 2, 3), Budget(Price(1.0, 2.0), 0.5, 5.0, 0.0)
    samples = [EndedSample(Completion("k", "1", 0, "x", Finish.STOP), Outcome.CORRECT)]
    calls: list[tuple[Any, ...]] = []
    several = SeveralProgress(Noted("a", calls), RunProgress(), Noted("b", calls))
    several.watch(in_flight, budget, "process 7")
    several.begin(9, 4, ("torn",))
    several.ended(samples)
    several.retry()
    several.note("a batch")
    several.stopping()
    facts: list[tuple[Any, ...]] = [
        ("watch", in_flight, budget, "process 7"),
        ("begin", 9, 4, ("torn",)),
        ("ended", samples),
        ("retry",),
        ("note", "a batch"),
        ("stopping",),
    ]
    assert calls == [(name, *fact) for fact in facts for name in "ab"]


def test_every_callback_is_passed_on() -> None:
    """A callback that only the base class has would be lost without a word."""
    callbacks = {name for name in vars(RunProgress) if not name.startswith("_")}
    assert callbacks <= vars(SeveralProgress).keys()
