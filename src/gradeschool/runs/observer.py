"""Whoever watches a run."""

from __future__ import annotations

from gradeschool.completion import Completion
from gradeschool.runs.ask import Live
from gradeschool.runs.cost import Purse
from gradeschool.verdict import Outcome


class Observer:
    """Told of a run's size, of each sample that ends, of each retry; this one ignores it all."""

    def watch(self, live: Live, purse: Purse | None, left_by: str) -> None:
        """Get the run's own counters, to look at any time.

        purse: what it costs, None without a price. left_by: the process that died in this folder.
        """

    def begin(self, total: int, stored: int, quarantined: int) -> None:
        """Learn how many samples the run has and how many of them are stored already."""

    def ended(self, completion: Completion, outcome: Outcome) -> None:
        """Learn of one sample that ended; `outcome` is by the headline scorer."""

    def retry(self) -> None:
        """Learn that a request is tried again."""

    def stopping(self) -> None:
        """Learn that no more is asked, and that what is in flight is waited for."""

    def note(self, text: str) -> None:
        """Learn of something in words: a batch was submitted, or how it stands."""
