"""All rules over many completions: each distinct reading is done once, whatever the rules share.

Three things make it fast and change no verdict: rules that read and compare alike are one group; a
rule that claims `last_line` is asked about a last line once for all completions of a problem that
end in it; and a completion's outcomes are one object, counted, not a list of thirty numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gradeschool.problem import Problem
from gradeschool.rule import LastLine, Rule, RuleFailure
from gradeschool.verdict import Outcome

# Python's (?i) lets this letter match "s", and lower() keeps it: such texts are read whole.
LONG_S = "ſ"
# Last lines longer than this are not remembered: they will hardly come again.
LONGEST_LINE = 400


class Line(NamedTuple):
    """What the rules make of a last line; `settled` holds None for groups that it does not settle.

    whole: the outcomes, where it settles every group.
    """

    settled: tuple[Outcome | None, ...]
    whole: Outcomes | None


class Outcomes:
    """The outcomes of one completion, one for each group; equal ones are often the same object."""

    __slots__ = ("groups",)

    def __init__(self, groups: tuple[Outcome, ...]) -> None:
        self.groups = groups


class Group:
    """Rules that read, compare and refer alike, and so have the same outcome on every text."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.claim = rule.last_line
        self.references: dict[str, str | None] = {}

    def reference(self, problem: Problem) -> str | None:
        """Return the rule's reference, computed once a problem; None where the rule fails on it."""
        if problem.id not in self.references:
            try:
                self.references[problem.id] = self.rule.reference(problem)
            except RuleFailure:
                self.references[problem.id] = None
        return self.references[problem.id]

    def outcome(self, text: str, problem: Problem) -> Outcome:
        """Return the outcome on a whole text."""
        reference = self.reference(problem)
        return Outcome.ERROR if reference is None else self.rule.outcome(text, reference)

    def settled(self, line: str, problem: Problem, claim: LastLine) -> Outcome | None:
        """Return the outcome on a last line if the line settles it."""
        reference = self.reference(problem)
        if reference is None:
            return Outcome.ERROR
        try:
            answer = self.rule.read(line, reference)
            if not claim.settles(line, answer):
                return None
            if answer is None:
                return Outcome.NO_ANSWER
            right = self.rule.same(answer.value, reference)
        except RuleFailure:
            return None
        return Outcome.CORRECT if right else Outcome.WRONG


class Matrix:
    """Rules ready to be asked about many completions of one dataset."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        groups: dict[object, int] = {}
        self.group_of = [
            groups.setdefault((rule.read, rule.same, rule.reference), len(groups)) for rule in rules
        ]
        self.groups = [Group(rules[self.group_of.index(at)]) for at in range(len(groups))]
        claims = [group.claim for group in self.groups if group.claim]
        self.markers = sorted({marker for claim in claims for marker in claim.markers})
        self._lines: dict[tuple[str, str], Line] = {}

    def outcomes(self, text: str, problem: Problem) -> Outcomes:
        """Return the outcomes of every group on a completion."""
        start = _last_line(text)
        tail = text[start:]
        if len(tail) > LONGEST_LINE:
            return Outcomes(tuple(group.outcome(text, problem) for group in self.groups))
        key = (tail, problem.id)
        line = self._lines.get(key)
        if line is None:
            line = self._lines[key] = self._read_line(tail, problem)
        head = text[:start].lower()
        present = {marker for marker in self.markers if marker in head}
        if line.whole is not None and not present and (text.isascii() or LONG_S not in text):
            return line.whole
        if LONG_S in text:
            return Outcomes(tuple(group.outcome(text, problem) for group in self.groups))
        return Outcomes(tuple(self._each(text, problem, line, present)))

    def _each(
        self, text: str, problem: Problem, line: Line, present: set[str]
    ) -> Iterator[Outcome]:
        for group, settled in zip(self.groups, line.settled, strict=True):
            claim = group.claim
            if settled is None or claim is None or not present.isdisjoint(claim.markers):
                yield group.outcome(text, problem)
            else:
                yield settled

    def _read_line(self, tail: str, problem: Problem) -> Line:
        settled = tuple(
            None if group.claim is None else group.settled(tail, problem, group.claim)
            for group in self.groups
        )
        whole = [outcome for outcome in settled if outcome is not None]
        return Line(settled, Outcomes(tuple(whole)) if len(whole) == len(settled) else None)


def _last_line(text: str) -> int:
    """Return where the last line that is not blank begins, the line break before it included."""
    end = len(text)
    if end and text[-1].isspace():
        end = len(text.rstrip())
    return max(text.rfind("\n", 0, end), 0)
