"""The result of an audit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gradeschool.errors import UnknownNameError

LONGEST_SHOWN = 2_000  # characters; in JSON, a longer completion is given only by its recipe
# Classes whose kinds are exceptions, texts or values.
FREELY_NAMED = ("crash/", "slow/", "changing-verdict/", "odd-return/")


class Fault(StrEnum):
    """The faults of a scorer, worst first."""

    FALSE_ACCEPT = "false-accept"
    FALSE_REJECT = "false-reject"
    CRASH = "crash"
    SLOW = "slow"
    CHANGING = "changing-verdict"
    ODD_RETURN = "odd-return"


MEANINGS = {
    Fault.FALSE_ACCEPT: "wrong answers that pass",
    Fault.FALSE_REJECT: "right answers that do not pass, in formats that the scorer reads",
    Fault.CRASH: "texts that it raises on",
    Fault.SLOW: "texts that take it too long",
    Fault.CHANGING: "texts that it judges one way and then the other",
    Fault.ODD_RETURN: "verdicts that are not finite numbers",
}


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """One kind of failure, with its smallest example.

    kind: the family of cases; for a crash, the exception. why: the reasoning of a careful reader.
    completion, gold: the example; recipe: the completion as a Python expression. got: the result of
    the scorer. failed: how many of the `tried` cases fail, in the formats `shapes`.
    """

    fault: Fault
    kind: str
    why: str
    completion: str
    recipe: str
    gold: str
    got: str
    failed: int
    tried: int
    shapes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the finding for `allow`: "false-accept/suffix"."""
        return f"{self.fault.value}/{hyphened(self.kind)}"

    def to_json(self) -> dict[str, Any]:
        """Return JSON values. A long completion is null; its recipe is always given."""
        short = len(self.completion) <= LONGEST_SHOWN
        return {
            "fault": self.fault.value,
            "kind": self.kind,
            "name": self.name,
            "why": self.why,
            "completion": self.completion if short else None,
            "recipe": self.recipe,
            "gold": self.gold,
            "got": self.got,
            "failed": self.failed,
            "tried": self.tried,
            "formats": list(self.shapes),
        }


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The findings about one scorer, worst first.

    call: how it was called, in words. read, unread: the answer formats that it reads, and those in
    which it accepts nothing, so that rejecting a right answer in one of them is not a failure.
    questions: number of calls. gave_up: it hung or ended its process so often that the audit
    stopped calling it.
    """

    scorer: str
    call: str
    read: tuple[str, ...]
    unread: tuple[str, ...]
    questions: int
    seed: int
    findings: tuple[AuditFinding, ...]
    gave_up: bool = False

    @property
    def clean(self) -> bool:
        """True if there are no findings."""
        return not self.findings

    def of(self, fault: Fault) -> tuple[AuditFinding, ...]:
        """Return the findings of one class."""
        return tuple(finding for finding in self.findings if finding.fault is fault)

    def counting(self, allowed: Iterable[str]) -> tuple[AuditFinding, ...]:
        """Return the findings not named in `allowed` (such as "slow", "false-reject/number-words").

        Raises UnknownNameError for a name that is neither a class nor a kind.
        """
        names = set(allowed)
        check_names(names)
        return tuple(
            finding for finding in self.findings if not {finding.fault.value, finding.name} & names
        )

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "scorer": self.scorer,
            "call": self.call,
            "reads": list(self.read),
            "does_not_read": list(self.unread),
            "questions": self.questions,
            "seed": self.seed,
            "gave_up": self.gave_up,
            "clean": self.clean,
            "findings": [finding.to_json() for finding in self.findings],
        }


def check_names(names: Iterable[str]) -> None:
    """Raise UnknownNameError for names that are no class or kind; any exception name is allowed."""
    from gradeschool.auditing.suite import every_kind

    allowed = {fault.value for fault in Fault}
    for kind in every_kind():
        fault = Fault.FALSE_REJECT if kind.right else Fault.FALSE_ACCEPT
        allowed.add(f"{fault.value}/{hyphened(kind.name)}")
    for name in names:
        if name not in allowed and not name.startswith(FREELY_NAMED):
            raise UnknownNameError("class or kind of finding", name, allowed)


def hyphened(kind: str) -> str:
    """Write a kind as one word."""
    return kind.replace(" ", "-")
