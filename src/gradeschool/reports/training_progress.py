"""A training while it goes: a bar in a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress

PLAIN_SECONDS, LIVE_SECONDS = 10.0, 0.25
RECENT = 50  # updates whose mean is shown
BETWEEN = " · "


class Update(Protocol):
    """What an update of a training tells."""

    @property
    def number(self) -> int:
        """The number of the update, from 1."""
        ...

    @property
    def of(self) -> int:
        """How many there are."""
        ...

    @property
    def losses(self) -> Mapping[str, float]:
        """The losses by name."""
        ...

    @property
    def tokens(self) -> int:
        """The tokens of the update."""
        ...

    @property
    def seconds(self) -> float:
        """How long it took."""
        ...


class TrainingProgress:
    """Shows the losses, the speed and the rest of a training."""

    def __init__(self, quiet: bool, live: Progress | None) -> None:
        self.quiet, self.live = quiet, live
        self.updates = 0
        self.recent: deque[Update] = deque(maxlen=RECENT)
        self._told = time.monotonic()
        self._task = None if live is None else live.add_task("", total=None, figures="starting")

    def note(self, text: str) -> None:
        """Say something."""
        if self.quiet:
            return
        if self.live is not None:
            self.live.console.print(text, markup=False, highlight=False)
        else:
            print(text, file=sys.stderr, flush=True)

    def update(self, update: Update) -> None:
        """Learn of an update."""
        self.updates += 1
        self.recent.append(update)
        every = PLAIN_SECONDS if self.live is None else LIVE_SECONDS
        if time.monotonic() - self._told > every or update.number == update.of:
            self._tell(update)

    def row(self, row: Mapping[str, Any]) -> None:
        """Say what a measurement found."""
        shown = (f"{name} {value}" for name, value in row.items() if name != "update")
        self.note(BETWEEN.join(shown))

    def figures(self) -> str:
        """Return the mean losses of the last updates, the speed and the time left."""
        last = self.recent[-1]
        means = [
            f"{name} {sum(one.losses[name] for one in self.recent) / len(self.recent):.4f}"
            for name in last.losses
        ]
        seconds = sum(one.seconds for one in self.recent) or 1e-9
        speed = sum(one.tokens for one in self.recent) / seconds
        left = (last.of - last.number) * seconds / len(self.recent)
        return BETWEEN.join([*means, f"{speed:,.0f} tokens/s", f"{left:,.0f} s left"])

    def _tell(self, update: Update) -> None:
        self._told = time.monotonic()
        if self.live is None or self._task is None:
            self.note(f"{update.number}/{update.of}{BETWEEN}{self.figures()}")
            return
        self.live.update(
            self._task, total=update.of, completed=update.number, figures=self.figures()
        )
        self.live.refresh()


@contextmanager
def training_progress(quiet: bool) -> Iterator[TrainingProgress]:
    """Yield what shows a training on stderr: live in a terminal, plain lines elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield TrainingProgress(quiet, None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    live = Progress(
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[figures]}", markup=False),
        console=Console(stderr=True),
        auto_refresh=False,
    )
    with live:
        yield TrainingProgress(quiet, live)
