"""Which completions repeat an earlier one, in eight bytes each and linear time."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from typing import NamedTuple

GAP = 1024  # sample numbers that are further ahead than this are kept in a dictionary
SORTED = 2**16  # more texts of one problem than this are kept in a set


class Place(NamedTuple):
    """The number of a sample, or of the earlier sample whose text it repeats to the letter."""

    number: int
    repeats: bool


class Repeats:
    """The samples of a file so far: their texts' digests by run, problem and number."""

    def __init__(self) -> None:
        self._samples: defaultdict[tuple[str, str], _Samples] = defaultdict(_Samples)

    def place(self, run: str, problem: str, sample: int | None, digest: int) -> Place:
        """Return where a completion belongs, and remember it.

        A number that another text has already gives the next one that is free. A row without a
        number is tried as number 0.
        """
        samples = self._samples[run, problem]
        samples.unnumbered += sample is None
        return samples.place(sample or 0, digest)

    def sampled_runs(self) -> set[str]:
        """Return the runs that leave samples without numbers and have several of most problems.

        Their samples may repeat each other: a model that is asked twice may say the same.
        """
        several: dict[str, list[bool]] = defaultdict(list)
        for (run, _), samples in self._samples.items():
            if samples.unnumbered:
                several[run].append(samples.unnumbered > 1)
        return {run for run, found in several.items() if sum(found) > len(found) / 2}


class _Samples:
    """The samples of one problem in one run. A digest of 0 is a number that is free."""

    __slots__ = ("ends", "far", "known", "texts", "unnumbered")

    def __init__(self) -> None:
        self.texts = array("Q")
        self.far: dict[int, int] | None = None  # beyond the array, and negative numbers
        self.known: array[int] | set[int] | None = None  # all digests, once a number was taken
        self.ends: dict[int, int] | None = None  # first free number found behind a taken one
        self.unnumbered = 0

    def place(self, number: int, digest: int) -> Place:
        taken = self._at(number)
        if not taken:
            self._put(number, digest)
            return Place(number, False)
        if taken == digest:
            return Place(number, True)
        end = self._end(number)
        earlier = self._find(digest, number, end) if self._knows(digest) else None
        if earlier is None:
            self._put(end, digest)
        return Place(end if earlier is None else earlier, earlier is not None)

    def _at(self, number: int) -> int:
        near = self.texts[number] if 0 <= number < len(self.texts) else 0
        return near or (self.far.get(number, 0) if self.far else 0)

    def _find(self, digest: int, start: int, end: int) -> int | None:
        """Return the number in [start, end) that has a text."""
        far = self.far.items() if self.far else ()
        for number, text in far:
            if text == digest and start <= number < end:
                return number
        try:
            return self.texts.index(digest, max(start, 0), max(end, 0))
        except ValueError:
            return None

    def _put(self, number: int, digest: int) -> None:
        ahead = number - len(self.texts)
        if number < 0 or ahead > GAP:
            self.far = self.far or {}
            self.far[number] = digest
        elif ahead >= 0:
            self.texts.extend([0] * ahead + [digest])
        else:
            self.texts[number] = digest
        if isinstance(self.known, set):
            self.known.add(digest)
        elif self.known is not None:
            self.known.insert(bisect_left(self.known, digest), digest)
            if len(self.known) > SORTED:
                self.known = set(self.known)

    def _knows(self, digest: int) -> bool:
        if self.known is None:
            self.known = array("Q", sorted(filter(None, (*self.texts, *(self.far or {}).values()))))
        if isinstance(self.known, set):
            return digest in self.known
        at = bisect_left(self.known, digest)
        return at < len(self.known) and self.known[at] == digest

    def _end(self, number: int) -> int:
        """Return the first free number behind a taken one."""
        self.ends = self.ends or {}
        end = self.ends.get(number, number + 1)
        while self._at(end):
            end += 1
        self.ends[number] = end
        return end
