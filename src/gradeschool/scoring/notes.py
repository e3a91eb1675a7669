"""Messages about rows: the first few of each kind, and how many more there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

Warn = Callable[[str], None]
SHOWN = 5


@dataclass(slots=True)
class _Kind:
    """Messages of one kind about one run; `first` holds the earliest, with their order."""

    count: int = 0
    first: list[tuple[int, str]] = field(default_factory=list)


class Notes:
    """Collects messages in bounded memory."""

    def __init__(self) -> None:
        self._kinds: dict[str, defaultdict[tuple[str, bool], _Kind]] = {}
        self._order = 0

    def add(
        self, kind: str, message: Callable[[], str], run: str = "", unnumbered: bool = False
    ) -> None:
        """Note something about a row of a run; the message is only made where it may be shown.

        unnumbered: the row does not number its sample, so that `tell` may be asked to pass it over.
        """
        runs = self._kinds.setdefault(kind, defaultdict(_Kind))
        notes = runs[run, unnumbered]
        notes.count += 1
        self._order += 1
        if len(notes.first) < SHOWN:
            notes.first.append((self._order, message()))

    def tell(self, warn: Warn, sampled: Collection[str] = ()) -> None:
        """Hand on the first messages of each kind and the number of the others.

        sampled: runs whose rows without a number are samples, of which there is nothing to say.
        """
        for kind, runs in self._kinds.items():
            told = [
                notes
                for (run, unnumbered), notes in runs.items()
                if not (unnumbered and run in sampled)
            ]
            first = sorted(message for notes in told for message in notes.first)[:SHOWN]
            for _, message in first:
                warn(message)
            if (more := sum(notes.count for notes in told) - len(first)) > 0:
                warn(f"... and {more} more rows of this kind ({kind})")
