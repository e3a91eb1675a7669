"""Scorers that are asked together: groups with equal outcomes, families that share a part.

The outcomes of a completion are one integer, three bits a group: a part that was judged before
costs a look-up and an "or".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gradeschool.problem import Problem
from gradeschool.scan import Scan
from gradeschool.scorer import Claim, Scorer, ScorerFailure, verbatim
from gradeschool.verdict import Outcome

# A code is an index into this; UNSETTLED stands where a part of the text alone does not decide.
OUTCOMES = (Outcome.CORRECT, Outcome.WRONG, Outcome.NO_ANSWER, Outcome.ERROR)
CORRECT, WRONG, NO_ANSWER, ERROR, UNSETTLED = range(5)
# A group that was not asked yet; UNSETTLED's bit is set in both, and in no outcome.
NOT_YET = 6
CODES = {outcome: code for code, outcome in enumerate(OUTCOMES)}
BITS = 3
ALL = (1 << BITS) - 1

# Longer parts are not remembered: they will hardly come again.
LONGEST_PART = 120

# What a group reads in a part: a value, or the code of the outcome that needs none.
Reading = str | int
# By part, what each member of a family reads in it, None where it was not asked.
Readings = dict[str, list[Reading | None]]
References = tuple[str | None, ...]
Part = Callable[[Scan], str | None]


class Group:
    """Scorers that read, compare and refer alike, and so have the same outcome on every text."""

    def __init__(self, scorer: Scorer, place: int) -> None:
        self.scorer = scorer
        self.place = place
        self.shift = BITS * place
        self.is_verbatim = scorer.same is verbatim
        self._at_once = scorer.at_once

    def reference(self, problem: Problem) -> str | None:
        """Return the scorer's reference; None where the scorer fails on the problem."""
        try:
            return self.scorer.reference(problem)
        except ScorerFailure:
            return None

    def kind(self, reference: str | None) -> object:
        """Return what of the reference the scorer looks at when it reads a text."""
        try:
            return reference is not None and self.scorer.depends(reference)
        except ScorerFailure as failure:
            return str(failure)  # reading fails on it as well

    def code(self, text: str, references: References) -> int:
        """Return the outcome's code on a whole text, in the group's bits."""
        reference = references[self.place]
        if reference is None:
            return ERROR << self.shift
        seen = None if self._at_once is None else self._at_once(text, reference)
        return CODES[seen or self.scorer.outcome(text, reference)] << self.shift


class Member:
    """A group and its claim to a part; `index` is its place in the part's readings."""

    def __init__(self, group: Group, claim: Claim, index: int) -> None:
        self.group = group
        self.index = index
        self.settles = claim.settles

    def read(self, part: str, reference: str | None) -> Reading:
        """Return what the group reads in a part, as far as the part settles it."""
        if reference is None:
            return ERROR
        try:
            answer = self.group.scorer.read(part, reference)
        except ScorerFailure:
            return UNSETTLED
        if not self.settles(part, answer):
            return UNSETTLED
        return NO_ANSWER if answer is None else answer.value

    def compared(self, reading: str, reference: str) -> int:
        """Return the outcome's code for a value that was read."""
        try:
            return CORRECT if self.group.scorer.same(reading, reference) else WRONG
        except ScorerFailure:
            return ERROR


class Family:
    """The groups that claim the same part; `not_yet`: their bits before any was asked."""

    def __init__(self, part: Part, claims: Sequence[tuple[Group, Claim]]) -> None:
        self.part = part
        self.members = tuple(Member(*claim, index) for index, claim in enumerate(claims))
        self.not_yet = sum(NOT_YET << member.group.shift for member in self.members)
        self.unread: list[Reading | None] = [None] * len(self.members)
        self._readings: dict[tuple[object, ...], Readings] = {}

    def readings(self, kinds: Sequence[object]) -> Readings:
        """Return what was read in parts; `kinds`: what of its reference each group looks at."""
        own = tuple(kinds[member.group.place] for member in self.members)
        return self._readings.setdefault(own, {})


class Step(NamedTuple):
    """What to ask of a text: a part of it, for the groups whose bits are in the mask."""

    family: int
    part: Part
    mask: int
    open: int  # of the mask, the bits that are set where a group is not settled
    not_yet: int
    asked: tuple[tuple[Member, int, int, int, bool], ...]  # index, place, shift, is_verbatim


class Plan(NamedTuple):
    """How texts that hold the same markers are judged; `whole` are read from start to end."""

    steps: tuple[Step, ...]
    whole: tuple[Group, ...]


def families_of(groups: Sequence[Group]) -> list[Family]:
    """Return the families of all parts that the groups claim."""
    claimed: dict[Part, list[tuple[Group, Claim]]] = {}
    for group in groups:
        for claim in group.scorer.claims:
            claimed.setdefault(claim.part, []).append((group, claim))
    return [Family(part, claims) for part, claims in claimed.items()]


def plan_for(holds: int, groups: Sequence[Group], families: Sequence[Family]) -> Plan:
    """Return the plan for texts that hold these markers."""
    claimed: dict[Part, list[Group]] = {}
    whole: list[Group] = []
    for group in groups:
        claim = next((claim for claim in group.scorer.claims if claim.holds(holds)), None)
        if claim is None:
            whole.append(group)
        else:
            claimed.setdefault(claim.part, []).append(group)
    steps = [
        _step(at, family, claimed[family.part])
        for at, family in enumerate(families)
        if family.part in claimed
    ]
    return Plan(tuple(steps), tuple(whole))


def _step(at: int, family: Family, asked: Sequence[Group]) -> Step:
    mask = sum(ALL << group.shift for group in asked)
    unsettled = sum(UNSETTLED << group.shift for group in asked)
    members = [member for member in family.members if member.group in asked]
    told = tuple(
        [
            (one, one.index, one.group.place, one.group.shift, one.group.is_verbatim)
            for one in members
        ]
    )
    return Step(at, family.part, mask, unsettled, family.not_yet, told)
