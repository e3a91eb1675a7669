"""A recipe while it runs: a table that lives in a terminal, a line for each stage elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from gradeschool.reports.printable import printable

if TYPE_CHECKING:
    from rich.live import Live

LIVE_SECONDS = 0.5
TAIL_BYTES = 400


class Named(Protocol):
    """A stage."""

    @property
    def name(self) -> str:
        """Return its name."""
        ...


class Took(Protocol):
    """What a stage took."""

    @property
    def seconds(self) -> float:
        """On the clock."""
        ...

    @property
    def cpu_seconds(self) -> float:
        """Of its process."""
        ...


class Runs(Protocol):
    """A stage that runs."""

    @property
    def stage(self) -> Named:
        """Return the stage."""
        ...

    @property
    def since(self) -> float:
        """When it began, by the monotonic clock."""
        ...

    @property
    def log(self) -> Path:
        """Where it says what it does."""
        ...


class StagesProgress:
    """Shows which stages run, what each said last, and what is done."""

    def __init__(self, live: Live | None) -> None:
        self._live = live
        self._begun = time.monotonic()
        self._told = 0.0
        self._seen: set[str] = set()

    def show(self, running: Sequence[Runs], done: int, of: int) -> None:
        """Show what runs."""
        if self._live is None:
            for one in running:
                if one.stage.name not in self._seen:
                    self._seen.add(one.stage.name)
                    print(f"{one.stage.name} ... ({done}/{of} done)", file=sys.stderr, flush=True)
            return
        if time.monotonic() - self._told >= LIVE_SECONDS:
            self._told = time.monotonic()
            self._live.update(self._table(running, done, of), refresh=True)

    def ended(self, stage: Named, done: Took) -> None:
        """Say what a stage took."""
        line = f"{stage.name}: {done.seconds:,.0f} s, {done.cpu_seconds:,.0f} s of CPU"
        if self._live is None:
            print(line, file=sys.stderr, flush=True)
        else:
            self._live.console.print(line, markup=False, highlight=False)

    def _table(self, running: Sequence[Runs], done: int, of: int) -> Any:
        from rich.table import Table
        from rich.text import Text

        passed = time.monotonic() - self._begun
        table = Table(box=None, show_header=False, pad_edge=False)
        for _ in range(3):
            table.add_column(no_wrap=True, overflow="ellipsis")
        table.add_row(Text(f"{done}/{of} stages", style="bold"), f"{passed:,.0f} s", "")
        for one in running:
            row = (one.stage.name, f"{time.monotonic() - one.since:,.0f} s", last_line(one.log))
            table.add_row(*map(Text, row))
        return table


def last_line(path: Path) -> str:
    """Return the last thing that a log says, as plain text."""
    try:
        with path.open("rb") as log:
            log.seek(max(0, path.stat().st_size - TAIL_BYTES))
            lines = log.read().decode("utf-8", "replace").replace("\r", "\n").split("\n")
    except OSError:
        return ""
    return printable(next((line for line in reversed(lines) if line.strip()), ""))


@contextmanager
def stages_progress() -> Iterator[StagesProgress]:
    """Yield what shows stages on stderr: live in a terminal, plain lines elsewhere."""
    if not sys.stderr.isatty():
        yield StagesProgress(None)
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), auto_refresh=False) as live:
        yield StagesProgress(live)
