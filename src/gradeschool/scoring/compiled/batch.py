"""Batches for the kernel: texts as one buffer, references as arrays, codes by row."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gradeschool.scoring.compiled.case import (
    IGNORING_COMMAS,
    NOT_PLAIN,
    SCORERS,
    UNREADABLE,
    WITH_COMMAS,
)
from gradeschool.scoring.compiled.jit import kept
from gradeschool.scoring.compiled.judge import judge_of
from gradeschool.scoring.compiled.marks import MARKS, plain_characters
from gradeschool.scoring.compiled.numbers import ASK
from gradeschool.scoring.families import References

FEW = 64  # problems that are made room for at first
ROOM = 8192  # bytes of a word or a line that is written anew
# Place, size and number of a reference; and whether its commas count.
Known = dict[tuple[str | None, bool], tuple[int, int, int]]
WHOLE = re.compile(r"0|[1-9][0-9]{0,11}")
WITH_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+")


class Judge(NamedTuple):
    """The kernel over a batch; kept: the file that is there once its machine code is on disk."""

    judge: Callable[..., None]
    kept: Path | None

    @property
    def is_quick(self) -> bool:
        """Tell whether the kernel can be loaded instead of compiled."""
        return self.kept is not None and self.kept.exists()

    def keep(self) -> None:
        """Note that the kernel was compiled, after its first call."""
        if self.kept is not None and not self.kept.exists():
            try:
                self.kept.touch()
            except OSError:  # the folder is another user's: the next process looks again
                return


def stamped_judge() -> Judge:
    """Return the kernel, stamped with the sources of this room and of the codes."""
    sources = sorted(
        [*Path(__file__).parent.glob("*.py"), Path(__file__).parents[1] / "families.py"]
    )
    stamp = zlib.crc32(b"\0".join(source.read_bytes() for source in sources))
    return Judge(*kept(judge_of(stamp), f"judge-{stamp:08x}.kept"))


class Batches:
    """Groups of scorers, ready to be judged in batches.

    names: the scorers of each group.
    """

    def __init__(self, names: Sequence[Sequence[str]], judge: Judge) -> None:
        self.size = len(names)
        self.group = np.full(len(SCORERS), -1, np.int64)
        for place, of_group in enumerate(names):
            for name in {*of_group} & {*SCORERS}:
                self.group[SCORERS.index(name)] = place
        ignoring = {int(self.group[scorer]) for scorer in IGNORING_COMMAS}
        self._ignoring_commas = [place in ignoring for place in range(self.size)]
        self._judge = judge
        self._room = [np.empty(MARKS, np.int64), *(np.empty(ROOM, np.uint8) for _ in range(2))]
        self._refs = bytearray()
        self._table = np.zeros((FEW, 3, self.size), np.int64)
        self._problems = 0

    def add(self, references: References) -> int:
        """Take in the references of a problem; return its number."""
        known: Known = {}
        told = [
            self._told(known, *of) for of in zip(references, self._ignoring_commas, strict=True)
        ]
        if self._problems == len(self._table):
            self._table = np.concatenate([self._table, np.zeros_like(self._table)])
        flat = np.fromiter(chain.from_iterable(told), np.int64, 3 * self.size)
        self._table[self._problems] = flat.reshape(self.size, 3).T
        self._problems += 1
        return self._problems - 1

    def _told(self, known: Known, reference: str | None, ignores: bool) -> tuple[int, int, int]:
        found = known.get((reference, ignores))
        if found is None:
            found = known[reference, ignores] = self._reference(reference, ignores)
        return found

    def _reference(self, reference: str | None, ignores: bool) -> tuple[int, int, int]:
        """Return place, size and number of a reference."""
        if reference is None:
            return 0, UNREADABLE, NOT_PLAIN
        if not reference.isascii():
            return 0, NOT_PLAIN, NOT_PLAIN
        place = len(self._refs)
        self._refs += reference.encode()
        written = reference.replace(",", "") if ignores else reference
        gold = int(written) if WHOLE.fullmatch(written) else NOT_PLAIN
        if gold == NOT_PLAIN and WITH_THOUSANDS.fullmatch(reference):
            gold = WITH_COMMAS
        return place, len(reference), gold

    def codes(self, texts: Sequence[str], problems: Sequence[int]) -> tuple[list[bytes], list[int]]:
        """Return the codes of each text, ASK where a scorer must be asked, and where that is so."""
        whole = "".join(texts)
        written: Sequence[str | bytes] = texts
        if not whole.isascii():
            written = [text.encode("utf-8", "surrogatepass") for text in texts]
        buf = np.frombuffer(whole.encode("utf-8", "surrogatepass") + b"\0", np.uint8)
        bounds = np.fromiter(accumulate(map(len, written), initial=0), np.int64, len(texts) + 1)
        found = np.full((len(texts), self.size), ASK, np.uint8)
        batch = (buf, bounds, np.array(problems, np.int64), plain_characters())
        refs = np.frombuffer(bytes(self._refs) + b"\0", np.uint8)
        self._judge.judge(*batch, refs, self._table, self.group, *self._room, found)
        self._judge.keep()
        flat, size = found.tobytes(), self.size
        rows = [flat[at : at + size] for at in range(0, len(flat), size)]
        return rows, np.flatnonzero((found == ASK).any(axis=1)).tolist()
