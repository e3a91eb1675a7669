"""The progress callbacks of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from gradeschool.completion import Completion
from gradeschool.runs.dispatch import InFlight
from gradeschool.verdict import Outcome

if TYPE_CHECKING:
    from gradeschool.runs.cost import Budget


class EndedSample(NamedTuple):
    """A sample that was answered or failed, and its outcome by the headline scorer."""

    completion: Completion
    outcome: Outcome


class RunProgress:
    """Called during a run; this class ignores all calls."""

    def watch(self, in_flight: InFlight, budget: Budget | None, died: str) -> None:
        """Set the run's counters, which may be read at any time.

        budget: None without a price. died: the process that died in this folder before, or "".
        """

    def begin(self, total: int, stored: int, repairs: Sequence[str]) -> None:
        """Set the number of samples in the run, and how many are already stored.

        repairs: what was wrong with the folder; the samples are requested again.
        """

    def ended(self, samples: Sequence[EndedSample]) -> None:
        """Count finished samples."""

    def retry(self) -> None:
        """Count a retried request."""

    def stopping(self) -> None:
        """Note that no more requests are sent and that those in flight are awaited."""

    def note(self, text: str) -> None:
        """Show a message: a batch was submitted, or its status."""


class SeveralProgress(RunProgress):
    """Calls several progress callbacks in order."""

    def __init__(self, *callbacks: RunProgress) -> None:
        self.callbacks = callbacks

    def watch(self, in_flight: InFlight, budget: Budget | None, died: str) -> None:
        """Call all."""
        for callback in self.callbacks:
            callback.watch(in_flight, budget, died)

    def begin(self, total: int, stored: int, repairs: Sequence[str]) -> None:
        """Call all."""
        for callback in self.callbacks:
            callback.begin(total, stored, repairs)

    def ended(self, samples: Sequence[EndedSample]) -> None:
        """Call all."""
        for callback in self.callbacks:
            callback.ended(samples)

    def retry(self) -> None:
        """Call all."""
        for callback in self.callbacks:
            callback.retry()

    def stopping(self) -> None:
        """Call all."""
        for callback in self.callbacks:
            callback.stopping()

    def note(self, text: str) -> None:
        """Call all."""
        for callback in self.callbacks:
            callback.note(text)
