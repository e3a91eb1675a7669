"""All rules over many completions: each distinct reading is done once, whatever the rules share.

Three things make it fast and change no verdict: rules that read and compare alike are one group; a
rule that claims `last_line` is asked about a last line once for all completions of a problem that
end in it; and the outcomes of a completion are a few bytes, counted, not a list of forty objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gradeschool.problem import Problem
from gradeschool.rule import LastLine, Rule, RuleFailure
from gradeschool.verdict import Outcome

# A code is an index into this; UNSETTLED stands where a last line alone does not decide.
OUTCOMES = (Outcome.CORRECT, Outcome.WRONG, Outcome.NO_ANSWER, Outcome.ERROR)
CORRECT, WRONG, NO_ANSWER, ERROR, UNSETTLED = range(5)

# Python's (?i) lets this letter match "s", and lower() keeps it: such texts are read whole.
LONG_S = "ſ"
# Last lines longer than this are not remembered: they will hardly come again.
LONGEST_LINE = 400
# Memory for last lines is bounded: past this many, what is remembered is forgotten.
MOST_LINES = 1_000_000


class Line(NamedTuple):
    """What the rules make of a last line: a code for each group, and a bit for each unsettled."""

    codes: bytes
    unsettled: int


class Group:
    """Rules that read, compare and refer alike, and so have the same outcome on every text."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.claim = rule.last_line
        self._references: dict[str, str | None] = {}

    def reference(self, problem: Problem) -> str | None:
        """Return the rule's reference, computed once a problem; None where the rule fails on it."""
        if problem.id not in self._references:
            try:
                self._references[problem.id] = self.rule.reference(problem)
            except RuleFailure:
                self._references[problem.id] = None
        return self._references[problem.id]

    def code(self, text: str, problem: Problem) -> int:
        """Return the outcome's code on a whole text."""
        reference = self.reference(problem)
        if reference is None:
            return ERROR
        try:
            answer = self.rule.read(text, reference)
            if answer is None:
                return NO_ANSWER
            return CORRECT if self.rule.same(answer.value, reference) else WRONG
        except RuleFailure:
            return ERROR

    def line_code(self, line: str, problem: Problem, claim: LastLine | None) -> int:
        """Return the outcome's code on a last line if the line settles it, else UNSETTLED."""
        if claim is None:
            return UNSETTLED
        reference = self.reference(problem)
        if reference is None:
            return ERROR
        try:
            answer = self.rule.read(line, reference)
            if not claim.settles(line, answer):
                return UNSETTLED
            if answer is None:
                return NO_ANSWER
            return CORRECT if self.rule.same(answer.value, reference) else WRONG
        except RuleFailure:
            return UNSETTLED


class Matrix:
    """Rules ready to be asked about many completions of one dataset.

    `group_of[i]` is the position in a completion's codes of the i-th rule.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        groups: dict[object, int] = {}
        self.rules = tuple(rules)
        self.group_of = [
            groups.setdefault((rule.read, rule.same, rule.reference), len(groups)) for rule in rules
        ]
        self.groups = [Group(rules[self.group_of.index(at)]) for at in range(len(groups))]
        # marker -> a bit for each group that may not trust the last line where it stands before it
        self._blocked: dict[str, int] = {}
        for at, group in enumerate(self.groups):
            for marker in group.claim.markers if group.claim else ():
                self._blocked[marker] = self._blocked.get(marker, 0) | 1 << at
        self._positions: dict[int, tuple[int, ...]] = {}
        self._lines: dict[tuple[str, str], Line] = {}

    def expect(self, pairs: Iterable[tuple[str, Problem]]) -> None:
        """Tell rules that are faster in batches which completions they will be asked about."""
        known = list(pairs)
        for group in self.groups:
            if group.rule.ahead is not None:
                asked = ((text, group.reference(problem)) for text, problem in known)
                group.rule.ahead([(text, gold) for text, gold in asked if gold is not None])

    def codes(self, text: str, problem: Problem) -> bytes:
        """Return the codes of every group's outcome on a completion."""
        start = _last_line(text)
        tail = text[start:]
        if len(tail) > LONGEST_LINE or (LONG_S in text and not text.isascii()):
            return bytes(group.code(text, problem) for group in self.groups)
        line = self._line(tail, problem)
        head = text[:start].lower()
        unread = line.unsettled
        for marker, groups in self._blocked.items():
            if marker in head:
                unread |= groups
        if not unread:
            return line.codes
        codes = bytearray(line.codes)
        for at in self._bits(unread):
            codes[at] = self.groups[at].code(text, problem)
        return bytes(codes)

    def outcomes(self, text: str, problem: Problem) -> list[Outcome]:
        """Return the outcome of every rule on a completion."""
        codes = self.codes(text, problem)
        return [OUTCOMES[codes[at]] for at in self.group_of]

    def _line(self, tail: str, problem: Problem) -> Line:
        key = (tail, problem.id)
        line = self._lines.get(key)
        if line is None:
            codes = bytes(group.line_code(tail, problem, group.claim) for group in self.groups)
            unsettled = sum(1 << at for at, code in enumerate(codes) if code == UNSETTLED)
            line = Line(codes, unsettled)
            if len(self._lines) >= MOST_LINES:
                self._lines.clear()
            self._lines[key] = line
        return line

    def _bits(self, mask: int) -> tuple[int, ...]:
        if mask not in self._positions:
            places = range(len(self.groups))
            self._positions[mask] = tuple(at for at in places if mask >> at & 1)
        return self._positions[mask]


def _last_line(text: str) -> int:
    """Return where the last line that is not blank begins, the line break before it included."""
    end = len(text)
    if end and text[-1].isspace():
        end = len(text.rstrip())
    return max(text.rfind("\n", 0, end), 0)
