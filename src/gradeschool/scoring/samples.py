"""Runs in memory, and which rows of a file count: repeats, further samples, unusable rows."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count

from gradeschool.datasets.files import OWN_PROBLEMS
from gradeschool.errors import InputError
from gradeschool.formats.samples import UNNUMBERED, Sample
from gradeschool.problem import Problem

Warn = Callable[[str], None]
SHOWN = 5  # messages of one kind
FORGIVEN = 3  # unusable rows; more are refused if their run has no others
UNUSABLE = "cannot be used"


@dataclass(slots=True)
class Run:
    """The samples of one run, in the order of the file; `faults` counts unusable rows.

    dataset: the name of the dataset of its problems, OWN_PROBLEMS for the file's own, "" if
    unknown. notes: remarks on the file, shown with every figure of the run.
    """

    name: str
    samples: list[Sample] = field(default_factory=list)
    faults: int = 0
    dataset: str = ""
    notes: tuple[str, ...] = ()

    def problems(self) -> Iterator[Problem | None]:
        """Yield the problem of each sample, None for a row without one."""
        return (sample.problem for sample in self.samples)


def file_ids(runs: Iterable[Run]) -> dict[str, str]:
    """Return a file's own ids of the problems that it brings, {} if they do not tell them apart."""
    ids: dict[str, str] = {}
    for run in runs:
        for sample in run.samples:
            problem, id = sample.problem, sample.reference.id
            is_own = problem and problem.meta.get("dataset") == OWN_PROBLEMS
            if problem and is_own and id and ids.setdefault(problem.id, id) != id:
                return {}
    return ids if len({*ids.values()}) == len(ids) else {}


def digest(text: str) -> int:
    """Return 64 bits of a text's SHA-256, never 0: equal texts of a problem have equal digests."""
    whole = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(whole[:8], "little") or 1


class _Samples:
    """The digests of one problem's samples in one run, by sample number: 8 bytes for each.

    texts: of the numbers 0, 1, 2, ... far: of numbers after a gap, and negative ones. known: the
    set of all digests, from the first number that two texts have. free: the first number after all.
    """

    __slots__ = ("far", "free", "known", "texts", "unnumbered")

    def __init__(self) -> None:
        self.texts = array("Q")
        self.far: dict[int, int] = {}
        self.known: set[int] | None = None
        self.free = self.unnumbered = 0

    def place(self, number: int, text: int) -> int | None:
        """Return the number that a text gets, None if it repeats an earlier one.

        A text whose number another text has gets the first number after all others.
        """
        taken = self.texts[number] if 0 <= number < len(self.texts) else self.far.get(number)
        if taken == text:
            return None
        if taken is not None:
            if self.known is None:
                self.known = {*self.texts, *self.far.values()}
            if text in self.known:
                return None
            number = self.free
        self.free = max(self.free, number + 1)
        if number == len(self.texts):
            self.texts.append(text)
        else:
            self.far[number] = text
        if self.known is not None:
            self.known.add(text)
        return number


class Numbering:
    """Decides which rows of a source count, and collects messages about the others.

    A row that repeats another exactly is counted once; a row that gives the same sample another
    text is a further sample. Rows without sample numbers may repeat each other if most problems of
    their run have several. Memory grows by 8 bytes a sample, not with the texts.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        # By run and problem. Of a single sample 0 only the digest: negative if it has no number.
        self._samples: dict[tuple[str, str], _Samples | int] = {}
        self._golds: dict[str, str] = {}
        # By kind, run, and whether the row has a sample number: the number and the first messages.
        self._counts = Counter[tuple[str, str, bool]]()
        self._first: defaultdict[tuple[str, str, bool], list[tuple[int, str]]] = defaultdict(list)

    def note(
        self, row: int, run: str, words: str, kind: str = UNUSABLE, numbered: bool = True
    ) -> None:
        """Note what is said of a row, by default why it cannot be used."""
        self._counts[kind, run, numbered] += 1
        if len(first := self._first[kind, run, numbered]) < SHOWN:
            first.append((row, f"row {row} of {self.source!r} {words}"))

    def place(
        self, row: int, run: str, problem: str, gold: str, sample: int, text: int
    ) -> int | None:
        """Return the sample number of a row, None if it repeats an earlier one; remember it.

        sample: its number in the file, UNNUMBERED if it has none. text: the `digest` of its text.
        """
        if (first := self._golds.setdefault(problem, gold)) != gold:
            words = f"gives the gold {gold!r} to a problem that an earlier row gives {first!r}"
            self.note(row, run, words, "gives another gold")
        samples = self._samples.get((run, problem))
        numbered = sample != UNNUMBERED
        if samples is None and (sample == 0 or not numbered):
            self._samples[run, problem] = text if numbered else -text
            return 0
        if not isinstance(samples, _Samples):
            first_text, samples = samples, _Samples()
            self._samples[run, problem] = samples
            if first_text is not None:
                samples.place(0, abs(first_text))
                samples.unnumbered = int(first_text < 0)
        samples.unnumbered += not numbered
        wanted = sample if numbered else 0
        number = samples.place(wanted, text)
        if number is None:
            words = f"repeats a sample of problem {problem!r} exactly; counted once"
            self.note(row, run, words, "repeats a row", numbered)
        elif number != wanted:
            words = f"contains problem {problem!r} of run {run!r} again, with another text"
            words += f"; counted as sample {number}"
            self.note(row, run, words, "a further sample", numbered)
        return number

    def conclude(self, warn: Warn) -> set[str]:
        """Return the sampled runs after the last row, and pass messages to `warn`.

        In a sampled run, rows have no sample numbers and most problems have several: a model may
        give the same text twice, so rows that repeat others count. Raises InputError if no row can
        be used, or none of a run with more than FORGIVEN.
        """
        usable = {run for run, _ in self._samples}
        for (kind, run, _), rows in self._counts.items():
            if not usable or (kind == UNUSABLE and run and run not in usable and rows > FORGIVEN):
                run = run if usable else ""  # "" for all runs
                keys = [key for key in self._counts if key[0] == UNUSABLE and run in ("", key[1])]
                _, said = min(message for key in keys for message in self._first[key])
                number = sum(map(self._counts.__getitem__, keys))
                others = f"; {number - 1} more rows are like it" if number > 1 else ""
                said = said.replace(f" of {self.source!r}", "", 1)
                whose = f"run {run!r} in {self.source!r}" if run else repr(self.source)
                advice = "; give the run a file and --columns of its own" if run else ""
                raise InputError(f"no row of {whose} can be used: {said}{others}{advice}")
        several: defaultdict[str, list[bool]] = defaultdict(list)
        copies: defaultdict[str, set[int]] = defaultdict(set)
        for (run, _), samples in self._samples.items():
            unnumbered = samples < 0 if isinstance(samples, int) else samples.unnumbered
            is_one_text = isinstance(samples, int) or (len(samples.texts), samples.far) == (1, {})
            if unnumbered:
                several[run].append(unnumbered > 1)
            copies[run].add(max(unnumbered, 1) if is_one_text else 0)
        sampled = {run for run, repeated in several.items() if sum(repeated) > len(repeated) / 2}
        for kind in dict.fromkeys(kind for kind, *_ in self._counts):
            keys = [key for key in self._counts
                    if key[0] == kind and (key[2] or key[1] not in sampled)]  # fmt: skip
            first = sorted(message for key in keys for message in self._first[key])[:SHOWN]
            for _, message in first:
                warn(message)
            if (more := sum(self._counts[key] for key in keys) - len(first)) > 0:
                warn(f"... and {more} more rows of this kind ({kind})")
        for run, numbers in copies.items():
            if len(numbers) == 1 and max(numbers) > 1:
                warn(
                    f"every completion of run {run or 'without a name'!r} in {self.source!r} "
                    f"stands {max(numbers)} times, with the same text; counted as {max(numbers)} "
                    "samples of each problem. If the file was written twice, remove the copies"
                )
        return sampled


def collect(samples: Iterable[Sample], dataset: str, source: str, warn: Warn) -> list[Run]:
    """Group the matched samples of a source by run, with their sample numbers.

    dataset: the name of the source's dataset. A row that cannot be used is a sample with an error.
    Raises InputError if no row can be used.
    """
    numbering = Numbering(source)
    runs: dict[str, Run] = {}
    placed: list[tuple[Run, Sample, bool]] = []  # whether it repeats another
    for sample in samples:
        run = runs.setdefault(sample.run, Run(sample.run))
        problem = sample.problem
        if problem is None:
            numbering.note(sample.row, run.name, sample.fault)
            run.faults += 1
            placed.append((run, sample._replace(sample=0, text="", error=sample.fault), False))
            continue
        number = numbering.place(
            sample.row, run.name, problem.id, problem.gold, sample.sample, digest(sample.text)
        )
        if number and sample.sample != UNNUMBERED:
            sample = sample._replace(sample=number)
        placed.append((run, sample, number is None))
    sampled = numbering.conclude(warn)
    further: defaultdict[tuple[str, str], Iterator[int]] = defaultdict(count)
    for run, sample, repeats in placed:
        is_numbered = sample.problem is None or sample.sample != UNNUMBERED
        if repeats and (is_numbered or run.name not in sampled):
            continue
        if sample.problem is not None and not is_numbered:
            sample = sample._replace(sample=next(further[run.name, sample.problem.id]))
        run.samples.append(sample)
    for run in runs.values():
        problems = (sample.problem for sample in run.samples if sample.problem)
        is_own = all(problem.meta.get("dataset") == OWN_PROBLEMS for problem in problems)
        run.dataset = OWN_PROBLEMS if is_own else dataset
    return list(runs.values())
