"""Notes on completions besides the verdicts: their form, and verdicts under other labels.

Notes are bytes: first the form (1, 2, 4, 8 for its fields; NO_FORM if there is no text), then
the changes of GSM8K-Platinum: REMOVED, or the outcomes under its gold, or nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from gradeschool.answers.regions import NAMES, TextForm

NO_FORM = 255
REMOVED = b"\xff"
Noted = Mapping[tuple[str, bytes, bytes], int]  # completions by problem, outcomes and notes
Counts = Counter[tuple[str, bytes]]


class Forms(NamedTuple):
    """Counts of completions by form; n: those whose form is known. One may have several forms."""

    n: int
    empty: int
    truncated: int
    run_on: int
    thinking: int

    def named(self) -> list[tuple[str, int]]:
        """Return the name and count of each form that occurs."""
        return [(name, n) for name, n in zip(NAMES, self[1:], strict=True) if n]

    def as_json(self) -> dict[str, int]:
        """Return the counts under their names."""
        return self._asdict()


def notes_of(form: TextForm | None, other: bytes | None) -> bytes:
    """Write notes; other: outcomes under another gold, b"" if there is none, None if removed."""
    bits = NO_FORM
    if form is not None:
        bits = form.empty + 2 * form.truncated + 4 * form.ran_on + 8 * form.thinking
    return bytes([bits]) + (REMOVED if other is None else other)


def words_of(notes: bytes) -> str:
    """Write the form in words for a table: "truncated, run-on", or "unknown"."""
    if not notes or notes[0] == NO_FORM:
        return "unknown"
    return ", ".join(name for index, name in enumerate(NAMES) if notes[0] >> index & 1)


def notes_from(words: str) -> bytes:
    """Parse the output of `words_of`. Raises ValueError for other words."""
    if words == "unknown":
        return b""
    named = words.split(", ") if words else []
    return bytes([sum(1 << NAMES.index(name) for name in named)])


def forms_of(counts: Noted) -> Forms | None:
    """Count forms; None if no form is known, as in tables of verdicts."""
    by_form: Counter[int] = Counter()
    for (_, _, notes), count in counts.items():
        if notes and notes[0] != NO_FORM:
            by_form[notes[0]] += count
    if not by_form:
        return None
    each = (
        sum(n for bits, n in by_form.items() if bits >> index & 1) for index in range(len(NAMES))
    )
    return Forms(by_form.total(), *each)


def official(counts: Noted) -> Counts:
    """Return the completions of each (problem, outcomes) under the original labels."""
    completions: Counts = Counter()
    for (problem, outcomes, _), count in counts.items():
        completions[problem, outcomes] += count
    return completions


def platinum(counts: Noted) -> Counts | None:
    """Return the same under the labels of GSM8K-Platinum; None if it changes nothing."""
    completions: Counts = Counter()
    changed = False
    for (problem, outcomes, notes), count in counts.items():
        changed = changed or len(notes) > 1
        if notes[1:] != REMOVED:
            completions[problem, notes[1:] or outcomes] += count
    return completions if changed else None
