"""A run while it goes: a live display in a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from gradeschool.completion import Completion
from gradeschool.scoring.statistics import wilson
from gradeschool.verdict import Outcome

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

PLAIN_SECONDS = 10.0
REFRESH_A_SECOND = 4


class Tally:
    """Counts of a running evaluation."""

    def __init__(self) -> None:
        self.total = self.stored = self.ended = self.failed = self.retries = 0
        self.correct = self.judged = self.tokens = 0
        self.started = time.monotonic()

    def begin(self, total: int, stored: int) -> None:
        """Start counting."""
        self.total, self.stored, self.started = total, stored, time.monotonic()

    def count(self, completion: Completion, outcome: Outcome) -> None:
        """Count one sample that ended."""
        self.ended += 1
        self.failed += bool(completion.error)
        self.tokens += completion.usage.completion_tokens or 0
        if outcome is not Outcome.ERROR:
            self.judged += 1
            self.correct += outcome is Outcome.CORRECT

    def figures(self) -> str:
        """Return failures, retries, tokens, accuracy so far with its interval, time left."""
        elapsed = max(time.monotonic() - self.started, 1e-9)
        rate = self.ended / elapsed
        parts = [f"{self.failed} failed"]
        if self.retries:
            parts.append(f"{self.retries} retries")
        if self.tokens:
            parts.append(f"{self.tokens} tokens ({self.tokens / elapsed:.0f}/s)")
        if self.judged:
            low, high = wilson(self.correct, self.judged)
            share = 100 * self.correct / self.judged
            parts.append(f"accuracy {share:.1f} % [{100 * low:.1f}, {100 * high:.1f}]")
        left = self.total - self.stored - self.ended
        if self.ended and left > 0:
            parts.append(f"{rate:.1f}/s, {_clock(left / rate)} left")
        return " · ".join(parts)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


class PlainProgress:
    """Writes a line to stderr at the start, every ten seconds, and at the end."""

    def __init__(self, quiet: bool = False) -> None:
        self.tally = Tally()
        self.quiet = quiet
        self._told = time.monotonic()

    def __enter__(self) -> PlainProgress:
        """Nothing to set up."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Say how it stands at the end."""
        self._tell()

    def begin(self, total: int, stored: int, quarantined: int) -> None:
        """Learn the size of the run."""
        self.tally.begin(total, stored)
        if quarantined:
            self._say(f"{quarantined} unreadable rows moved to quarantine.jsonl")
        already = f", {stored} stored already" if stored else ""
        self._say(f"{total} samples{already}")

    def ended(self, completion: Completion, outcome: Outcome) -> None:
        """Learn of one sample."""
        self.tally.count(completion, outcome)
        if time.monotonic() - self._told > PLAIN_SECONDS:
            self._tell()

    def retry(self) -> None:
        """Learn of a retry."""
        self.tally.retries += 1

    def _tell(self) -> None:
        self._told = time.monotonic()
        done = self.tally.stored + self.tally.ended
        self._say(f"{done}/{self.tally.total} done · {self.tally.figures()}")

    def _say(self, line: str) -> None:
        if not self.quiet:
            print(line, file=sys.stderr, flush=True)


class LiveProgress:
    """Draws a bar with figures on stderr, refreshed four times a second."""

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self.tally = Tally()
        self.console = console
        self._progress: Progress = Progress(
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[figures]}"),
            console=console,
            auto_refresh=False,
        )
        self._drawn = 0.0

    def __enter__(self) -> LiveProgress:
        """Start drawing."""
        self._progress.start()
        self._task = self._progress.add_task("", total=None, figures="starting")
        return self

    def __exit__(self, *exc: object) -> None:
        """Draw the last state and leave it standing."""
        self._draw()
        self._progress.stop()

    def begin(self, total: int, stored: int, quarantined: int) -> None:
        """Learn the size of the run."""
        self.tally.begin(total, stored)
        if quarantined:
            self.console.print(f"{quarantined} unreadable rows moved to quarantine.jsonl")
        self._progress.update(self._task, total=total)
        self._draw()

    def ended(self, completion: Completion, outcome: Outcome) -> None:
        """Learn of one sample."""
        self.tally.count(completion, outcome)
        if time.monotonic() - self._drawn > 1 / REFRESH_A_SECOND:
            self._draw()

    def retry(self) -> None:
        """Learn of a retry."""
        self.tally.retries += 1

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        done = self.tally.stored + self.tally.ended
        self._progress.update(self._task, completed=done, figures=self.tally.figures())
        self._progress.refresh()
