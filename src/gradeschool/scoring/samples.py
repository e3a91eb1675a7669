"""Samples with their problems, the basis of every score, and messages about unusable rows."""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from gradeschool.datasets.sources import OWN_PROBLEMS
from gradeschool.errors import InputError
from gradeschool.formats.samples import UNNUMBERED, Sample
from gradeschool.problem import Problem

if TYPE_CHECKING:
    from gradeschool.scoring.matching import Matcher

Warn = Callable[[str], None]
SHOWN = 5
UNUSABLE = "cannot be used"


@dataclass(slots=True)
class _Kind:
    """Messages of one kind about one run; `first` contains the earliest, with their order."""

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
        """Note something about a row of a run; the message is formatted only if it may be shown.

        unnumbered: the row has no sample number, so that `tell` may skip the message.
        """
        runs = self._kinds.setdefault(kind, defaultdict(_Kind))
        notes = runs[run, unnumbered]
        notes.count += 1
        self._order += 1
        if len(notes.first) < SHOWN:
            notes.first.append((self._order, message()))

    def only_fault(self, source: str) -> InputError:
        """Return the error for a file without a usable row: the fault of the first row."""
        groups = self._kinds.get(UNUSABLE, {}).values()
        count = sum(group.count for group in groups)
        if not count:
            return InputError(f"no row of {source!r} can be used: it has none")
        _, message = min(message for group in groups for message in group.first)
        message = message.replace(f" of {source!r}", "", 1)
        others = f"; {count - 1} more rows are like it" if count > 1 else ""
        return InputError(f"no row of {source!r} can be used: {message}{others}")

    def tell(self, warn: Warn, sampled: Collection[str] = ()) -> None:
        """Pass on the first messages of each kind, and the number of the others.

        sampled: runs whose rows without a number are samples, which need no message.
        """
        for kind, runs in self._kinds.items():
            groups = [
                notes
                for (run, unnumbered), notes in runs.items()
                if not (unnumbered and run in sampled)
            ]
            first = sorted(message for notes in groups for message in notes.first)[:SHOWN]
            for _, message in first:
                warn(message)
            if (more := sum(notes.count for notes in groups) - len(first)) > 0:
                warn(f"... and {more} more rows of this kind ({kind})")


GAP = 1024  # larger gaps between sample numbers are stored in a dictionary
SORTED = 2**16  # more texts of one problem than this are stored in a set


class Placement(NamedTuple):
    """The number of a sample, or that of the earlier sample with exactly the same text."""

    number: int
    repeats: bool


FIRST = Placement(0, False)


class Repeats:
    """The samples of a file so far: the digests of their texts by run, problem and number."""

    def __init__(self) -> None:
        # Of a problem with no other sample than number 0: its digest, and whether it is numbered.
        self._single: dict[tuple[str, str], tuple[int, bool]] = {}
        self._several: dict[tuple[str, str], _Samples] = {}

    def place(self, run: str, problem: str, sample: int, digest: int) -> Placement:
        """Return where a completion belongs, and remember it.

        If another text already has its number, it gets the next free number. A row without a number
        is tried as number 0.
        """
        key = run, problem
        samples = self._several.get(key)
        if samples is None:
            if sample <= 0 and key not in self._single:
                self._single[key] = digest, sample == 0
                return FIRST
            samples = self._several[key] = _Samples()
            if key in self._single:
                first, is_numbered = self._single.pop(key)
                samples.place(0, first)
                samples.unnumbered += not is_numbered
        samples.unnumbered += sample < 0
        return samples.place(max(sample, 0), digest)

    def sampled_runs(self) -> set[str]:
        """Return the runs whose samples have no numbers and that have several of most problems.

        Their samples may repeat each other: a model may give the same text twice.
        """
        several: dict[str, list[bool]] = defaultdict(list)
        for (run, _), (_, is_numbered) in self._single.items():
            if not is_numbered:
                several[run].append(False)
        for (run, _), samples in self._several.items():
            if samples.unnumbered:
                several[run].append(samples.unnumbered > 1)
        return {run for run, repeated in several.items() if sum(repeated) > len(repeated) / 2}

    def tell_copies(self, warn: Warn, source: str) -> None:
        """Warn of sampled runs that have each text of a problem equally often, and no other."""
        counts: dict[str, set[int]] = defaultdict(set)
        for run, _ in self._single:
            counts[run].add(1)
        for (run, _), samples in self._several.items():
            is_one_text = len(samples.texts) == 1 and not samples.far
            counts[run].add(samples.unnumbered if is_one_text else 0)
        for run, numbers in counts.items():
            times = max(numbers)
            if len(numbers) == 1 and times > 1:
                warn(
                    f"every completion of run {run or 'without a name'!r} in {source!r} stands "
                    f"{times} times, with the same text; counted as {times} samples of each "
                    "problem. If the file was written twice, remove the copies"
                )


class _Samples:
    """The samples of one problem in one run. A digest of 0 marks a free number."""

    __slots__ = ("digests", "ends", "far", "texts", "unnumbered")

    def __init__(self) -> None:
        self.texts = array("Q")
        self.far: dict[int, int] | None = None  # beyond the array, and negative numbers
        self.digests: array[int] | set[int] | None = None  # all digests, once a number was taken
        self.ends: dict[int, int] | None = None  # the first free number after a taken one
        self.unnumbered = 0

    def place(self, number: int, digest: int) -> Placement:
        if number == len(self.texts) and self.digests is None and self.far is None:
            self.texts.append(digest)  # the usual case
            return Placement(number, False)
        taken = self._at(number)
        if not taken:
            self._put(number, digest)
            return Placement(number, False)
        if taken == digest:
            return Placement(number, True)
        end = self._end(number)
        earlier = self._find(digest, number, end) if self._knows(digest) else None
        if earlier is None:
            self._put(end, digest)
        return Placement(end if earlier is None else earlier, earlier is not None)

    def _at(self, number: int) -> int:
        near = self.texts[number] if 0 <= number < len(self.texts) else 0
        return near or (self.far.get(number, 0) if self.far else 0)

    def _find(self, digest: int, start: int, end: int) -> int | None:
        """Return the number in [start, end) of a text."""
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
        if isinstance(self.digests, set):
            self.digests.add(digest)
        elif self.digests is not None:
            self.digests.insert(bisect_left(self.digests, digest), digest)
            if len(self.digests) > SORTED:
                self.digests = set(self.digests)

    def _knows(self, digest: int) -> bool:
        if self.digests is None:
            self.digests = array(
                "Q", sorted(filter(None, (*self.texts, *(self.far or {}).values())))
            )
        if isinstance(self.digests, set):
            return digest in self.digests
        index = bisect_left(self.digests, digest)
        return index < len(self.digests) and self.digests[index] == digest

    def _end(self, number: int) -> int:
        """Return the first free number after a taken one."""
        self.ends = self.ends or {}
        end = self.ends.get(number, number + 1)
        while self._at(end):
            end += 1
        self.ends[number] = end
        return end


@dataclass(slots=True)
class Run:
    """The samples of one run, in the order of the file; `faults` counts unusable rows.

    dataset: the name of the dataset of its problems, OWN_PROBLEMS for the file's own, "" if
    unknown.
    """

    name: str
    samples: list[Sample] = field(default_factory=list)
    faults: int = 0
    dataset: str = ""

    def problems(self) -> Iterator[Problem | None]:
        """Yield the problem of each sample, None for a row without one."""
        return (sample.problem for sample in self.samples)


def collect(recordings: Iterable[Sample], matcher: Matcher, source: str, warn: Warn) -> list[Run]:
    """Group stored completions by run and find their problems.

    An unusable row is a sample with an error, and its row number is passed to `warn`. A row that
    repeats another exactly is counted once; a row that gives the same sample another text is kept
    as a further sample. Rows without sample numbers may repeat each other if most problems of their
    run have several. Raises InputError if no row is usable.
    """
    return collect_matched(map(matcher.match, recordings), matcher.name, source, warn)


def collect_matched(matched: Iterable[Sample], dataset: str, source: str, warn: Warn) -> list[Run]:
    """Do the same for samples with their problems; dataset: the name of their dataset."""
    notes, repeats = Notes(), Repeats()
    runs: dict[str, Run] = {}
    places: list[tuple[Run, Sample, Placement | None]] = []
    for sample in matched:
        run = runs.setdefault(sample.run, Run(sample.run))
        row, problem = sample.row, sample.problem
        if problem is None:
            run.faults += 1
            notes.add(UNUSABLE, partial("row {} of {!r} {}".format, row, source, sample.fault))
            places.append((run, sample._replace(sample=0, text="", error=sample.fault), None))
            continue
        place = repeats.place(run.name, problem.id, sample.sample, digest(sample.text))
        if place.repeats or place.number != max(sample.sample, 0):
            note_place(notes, place, run.name, problem.id, sample.sample, row, source)
        places.append((run, sample, place))
    if all(sample.problem is None for _, sample, _ in places):
        raise notes.only_fault(source)
    sampled = repeats.sampled_runs()
    notes.tell(warn, sampled)
    repeats.tell_copies(warn, source)
    _fill(places, sampled)
    for run in runs.values():
        problems = (sample.problem for sample in run.samples if sample.problem)
        run.dataset = (
            OWN_PROBLEMS
            if all(problem.meta.get("dataset") == OWN_PROBLEMS for problem in problems)
            else dataset
        )
    return list(runs.values())


def _fill(places: Iterable[tuple[Run, Sample, Placement | None]], sampled: Collection[str]) -> None:
    """Put the samples into their runs; repeated texts are kept only if a run is sampled."""
    counters: dict[tuple[str, str], Iterator[int]] = defaultdict(count)
    for run, sample, place in places:
        if place is None:
            run.samples.append(sample)
        elif sample.problem is not None and sample.sample == UNNUMBERED and run.name in sampled:
            number = next(counters[run.name, sample.problem.id])
            run.samples.append(sample._replace(sample=number))
        elif not place.repeats:
            run.samples.append(sample._replace(sample=place.number))


def digest(text: str) -> int:
    """Return 64 bits of a text's SHA-256, never 0: equal texts of a problem have equal digests."""
    whole = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(whole[:8], "little") or 1


def note_place(
    notes: Notes, place: Placement, run: str, problem: str, sample: int, row: int, file: str
) -> None:
    """Note that a completion repeats another, or is not the sample that its row says."""

    def message() -> str:
        if place.repeats:
            text = f"repeats sample {place.number} of problem {problem!r} exactly; counted once"
        else:
            text = (
                f"contains problem {problem!r} of run {run!r} again, with another text; "
                f"counted as sample {place.number}"
            )
        return f"row {row} of {file!r} {text}"

    kind = "repeats a row" if place.repeats else "a further sample"
    notes.add(kind, message, run, sample < 0)
