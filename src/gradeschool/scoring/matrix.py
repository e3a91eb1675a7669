"""All scorers over many completions: each distinct reading is done once.

Three things make it fast and change no verdict. Scorers that read and compare alike are one group.
A
text is scanned once, and groups that depend on the same short part of it (`scorer.Claim`) are asked
together: what they read in a part is remembered, and so are the outcomes against the references of
a problem. A completion that repeats another one to the letter has its outcomes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gradeschool.problem import Problem
from gradeschool.scan import Scan
from gradeschool.scorer import Scorer
from gradeschool.scoring.families import (
    ALL,
    BITS,
    CORRECT,
    ERROR,
    LONGEST_PART,
    NO_ANSWER,
    NOT_YET,
    OUTCOMES,
    UNSETTLED,
    WRONG,
    Family,
    Group,
    Plan,
    References,
    Step,
    families_of,
    plan_for,
)
from gradeschool.scoring.fast import NOT_TOLD, compiled_for
from gradeschool.verdict import Outcome

if TYPE_CHECKING:
    from gradeschool.scoring.compiled.batch import Batches

__all__ = ["CORRECT", "ERROR", "NO_ANSWER", "OUTCOMES", "UNSETTLED", "WRONG", "Group", "Matrix"]

# Memory is bounded: past these many entries, what is remembered of texts or parts is forgotten.
MOST_TEXTS, MOST_PARTS = 10_000, 200_000


class Known:
    """What is known of problems that the claiming scorers cannot tell apart: readings, outcomes."""

    def __init__(
        self, references: References, kinds: Sequence[object], families: Sequence[Family]
    ) -> None:
        self.references = references
        self.readings = tuple(family.readings(kinds) for family in families)
        self.parts: tuple[dict[str, int], ...] = tuple({} for _ in families)


class Asked:
    """A problem: the references of all groups, its number in batches, the outcomes of its texts."""

    def __init__(self, references: References) -> None:
        self.references = references
        self.number: int | None = None
        self.known: Known | None = None
        self.texts: dict[str, bytes] = {}


class Matrix:
    """Scorers ready to be asked about many completions of one dataset.

    `group_of[i]` is the position in a completion's codes of the i-th scorer.
    """

    def __init__(self, scorers: Sequence[Scorer]) -> None:
        self.scorers = tuple(scorers)
        places: dict[object, int] = {}
        self.group_of = [
            places.setdefault((scorer.read, scorer.same, scorer.reference), len(places))
            for scorer in scorers
        ]
        firsts = (self.group_of.index(place) for place in range(len(places)))
        self.groups = [Group(scorers[first], place) for place, first in enumerate(firsts)]
        self._families = families_of(self.groups)
        referring = {group.scorer.reference: group for group in self.groups}
        self._referring = list(referring.values())
        self._reference_of = [[*referring].index(group.scorer.reference) for group in self.groups]
        self._plans: dict[int, Plan] = {}
        self._problems: dict[str, Asked] = {}
        self._known: dict[tuple[object, ...], Known] = {}
        self._bytes: dict[int, bytes] = {}
        self._texts = self._parts = self._asked_for = 0
        self._batches: Batches | None = None

    def expect(self, pairs: Iterable[tuple[str, Problem]]) -> None:
        """Tell scorers that are faster in batches which completions they will be asked about."""
        batched = [group for group in self.groups if group.scorer.ahead is not None]
        known = list(pairs) if batched else []
        for group in batched:
            asked = (
                (text, self._asked(problem).references[group.place]) for text, problem in known
            )
            assert group.scorer.ahead is not None  # noqa: S101  (for the type checker)
            group.scorer.ahead([(text, gold) for text, gold in asked if gold is not None])

    def codes(self, text: str, problem: Problem) -> bytes:
        """Return the codes of every group's outcome on a completion."""
        asked = self._problems.get(problem.id) or self._asked(problem)
        codes = asked.texts.get(text)
        if codes is None:
            codes = self._remember(text, asked, self._judge(text, asked))
        return codes

    def _remember(self, text: str, asked: Asked, codes: bytes) -> bytes:
        if self._texts >= MOST_TEXTS:
            self._forget()
        self._texts += 1
        asked.texts[text] = codes
        return codes

    def codes_of(self, pairs: Sequence[tuple[str, Problem]]) -> list[bytes]:
        """Return the codes of many completions, by compiled code where that is there and pays."""
        self._asked_for += len(pairs)
        if self._batches is None:
            self._batches = compiled_for(self.scorers, self.group_of, self._asked_for)
        if self._batches is None:
            return [self.codes(text, problem) for text, problem in pairs]
        asked = [self._problems.get(problem.id) or self._asked(problem) for _, problem in pairs]
        known = [one.texts.get(text) for one, (text, _) in zip(asked, pairs, strict=True)]
        new = [row for row, codes in enumerate(known) if codes is None]
        texts, asked = [pairs[row][0] for row in new], [asked[row] for row in new]
        told = iter(self._told(self._batches, texts, asked))
        return [next(told) if codes is None else codes for codes in known]

    def _told(self, kernel: Batches, texts: Sequence[str], asked: Sequence[Asked]) -> list[bytes]:
        """Return the codes of new texts: what the kernel tells, else what scorers say."""
        for one in asked:
            if one.number is None:
                one.number = kernel.add(one.references)
        told, unsettled = kernel.codes(texts, [one.number or 0 for one in asked])
        for row in unsettled:
            told[row] = self._settled(told[row], texts[row], asked[row])
        if self._texts >= MOST_TEXTS:
            self._forget()
        self._texts += len(texts)
        for codes, text, one in zip(told, texts, asked, strict=True):
            one.texts[text] = codes
        return told

    def _settled(self, codes: bytes, text: str, asked: Asked) -> bytes:
        """Return the codes of a completion once the groups that no kernel told are asked."""
        settled = bytearray(codes)
        for group in self.groups:
            if codes[group.place] == NOT_TOLD:
                settled[group.place] = group.code(text, asked.references) >> group.shift
        return bytes(settled)

    def outcomes(self, text: str, problem: Problem) -> list[Outcome]:
        """Return the outcome of every scorer on a completion."""
        codes = self.codes(text, problem)
        return [OUTCOMES[codes[at]] for at in self.group_of]

    def _judge(self, text: str, asked: Asked) -> bytes:
        scan = Scan(text)
        plan = self._plans.get(scan.holds)
        if plan is None:
            plan = plan_for(scan.holds, self.groups, self._families)
            self._plans[scan.holds] = plan
        codes = 0
        known = asked.known or self._known_of(asked)
        parts = known.parts
        for step in plan.steps:
            at, part_of, mask, unsettled, not_yet, _ = step
            part = part_of(scan)
            settled = parts[at].get(part, not_yet) if part is not None else not_yet
            if settled & unsettled:
                codes |= self._settle(step, settled, part, text, known)
            else:
                codes |= settled & mask
        for group in plan.whole:
            codes |= group.code(text, asked.references)
        written = self._bytes.get(codes)
        if written is None:
            written = bytes(codes >> BITS * place & ALL for place in range(len(self.groups)))
            self._bytes[codes] = written
        return written

    def _settle(self, step: Step, settled: int, part: str | None, text: str, known: Known) -> int:
        """Return the codes of a step: asks groups about a part that is new, then about the text."""
        if part is None:
            return sum([told[0].group.code(text, known.references) for told in step.asked])
        codes = 0
        references = known.references
        seen = known.readings[step.family]
        readings = seen.get(part) or self._families[step.family].unread.copy()
        for member, index, place, shift, is_verbatim in step.asked:
            code = settled >> shift & ALL
            if code == NOT_YET:
                reference = references[place]
                reading = readings[index]
                if reading is None:
                    reading = readings[index] = member.read(part, reference)
                if reading.__class__ is int or reference is None:
                    code = ERROR if reference is None else int(reading)
                elif is_verbatim:
                    code = CORRECT if reading == reference else WRONG
                else:
                    code = member.compared(str(reading), reference)
                settled ^= (NOT_YET ^ code) << shift
            if code == UNSETTLED:
                codes |= member.group.code(text, references)
            else:
                codes |= code << shift
        if len(part) <= LONGEST_PART:
            self._parts += 1
            known.parts[step.family][part] = settled
            seen[part] = readings
        return codes

    def _asked(self, problem: Problem) -> Asked:
        """Return what is known of a problem; a reference that cannot be had is None."""
        asked = self._problems.get(problem.id)
        if asked is None:
            told = [group.reference(problem) for group in self._referring]
            references = tuple([told[at] for at in self._reference_of])
            asked = self._problems[problem.id] = Asked(references)
        return asked

    def _known_of(self, asked: Asked) -> Known:
        """Return what is known of problems that no scorer can tell from this one."""
        if asked.known is None:
            references = asked.references
            told = [
                (reference, group.kind(reference)) if group.scorer.claims else (None, None)
                for group, reference in zip(self.groups, references, strict=True)
            ]
            key = tuple(told)
            if key not in self._known:
                kinds = tuple([kind for _, kind in told])
                self._known[key] = Known(references, kinds, self._families)
            asked.known = self._known[key]
        return asked.known

    def _forget(self) -> None:
        """Forget the texts, and the parts if there are many."""
        self._texts = 0
        for asked in self._problems.values():
            asked.texts.clear()
        if self._parts >= MOST_PARTS:
            self._parts = 0
            self._bytes.clear()
            for known in self._known.values():
                for parts, readings in zip(known.parts, known.readings, strict=True):
                    parts.clear()
                    readings.clear()
