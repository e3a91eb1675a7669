"""Questions that a scorer fails on, and findings: one for each kind, with its smallest example."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from gradeschool.auditing.asking import Asker, Question, Reply
from gradeschool.auditing.hostile import Hostile
from gradeschool.auditing.kinds import Case
from gradeschool.auditing.report import Fault, Finding

EXCEPTION = re.compile(r"\b(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*(?:Error|Exception|Exit|Interrupt))\b")
ON_LONG_TEXTS = " on long texts"
SHORT_EXAMPLE = 60  # characters
# Seconds of computing that a text may take: one, and five for a million characters.
SECONDS, SECONDS_PER_CHARACTER = 1.0, 5e-6


class Failure(NamedTuple):
    """A question with what is wrong about the reply, and where it comes from.

    case: where it is of the suite; hostile: where it is a hostile text.
    """

    fault: Fault
    kind: str
    why: str
    question: Question
    got: str
    case: Case | None = None
    hostile: Hostile | None = None

    @property
    def recipe(self) -> str:
        """The completion as a Python expression."""
        return self.hostile.recipe() if self.hostile else repr(self.question.completion)

    @property
    def size(self) -> tuple[int, bool, str, str]:
        """What makes an example smaller than another."""
        return size_of(*self.question)


def size_of(completion: str, gold: str) -> tuple[int, bool, str, str]:
    """Return what examples are ranked by: their length; about zero there are many truths."""
    return len(completion) + len(gold), gold == "0", completion, gold


def failure_of_case(case: Case, reply: Reply, asker: Asker) -> Failure | None:
    """Return what is wrong about a reply to a case, None where it is as it should be."""
    question = Question(case.completion, case.gold)
    found = trouble(question, reply)
    if found is not None:
        loose = case.kind.loose and found.fault in (Fault.CRASH, Fault.ODD_RETURN)
        return None if loose else found._replace(case=case)
    if reply.given_up or asker.accepts(reply) is case.kind.right:
        return None
    fault = Fault.FALSE_REJECT if case.kind.right else Fault.FALSE_ACCEPT
    return Failure(fault, case.kind.name, case.kind.why, question, reply.shown, case)


def failure_of_hostile(text: Hostile, question: Question, reply: Reply) -> Failure | None:
    """Return what is wrong about a reply to a hostile text, whatever the verdict."""
    found = trouble(question, reply)
    if found is None:
        return None
    kind = text.name if found.fault is Fault.SLOW else found.kind
    if found.fault is Fault.CRASH and text.times > 1:
        kind += ON_LONG_TEXTS
    return found._replace(hostile=text, kind=kind)


def trouble(question: Question, reply: Reply) -> Failure | None:
    """Return what no question may bring about: an exception, a long wait, an odd value."""
    if reply.given_up:
        return None
    length = len(question.completion)
    if reply.hung or reply.seconds > allowed_seconds(length):
        return Failure(Fault.SLOW, "hang" if reply.hung else "slow", _slowness(reply, length),
                       question, _slowness(reply, length))  # fmt: skip
    if reply.raised:
        why = "a text must not raise"
        return Failure(Fault.CRASH, exception(reply.raised), why, question, reply.raised)
    if reply.score is None:
        why = "a verdict is True, False or a finite number"
        return Failure(Fault.ODD_RETURN, reply.shown[:20], why, question, reply.shown)
    return None


def allowed_seconds(length: int) -> float:
    """Return the seconds of computing that a text of this length may take."""
    return max(SECONDS, SECONDS_PER_CHARACTER * length)


def exception(raised: str) -> str:
    """Return the name of an exception in its message, or how the process ended."""
    found = EXCEPTION.search(raised)
    return found[1] if found else raised[:60]


def _slowness(reply: Reply, length: int) -> str:
    if reply.hung:
        return f"stopped: {reply.raised} ({length:,} characters)"
    return f"{reply.seconds:.1f} s of computing for {length:,} characters"


def findings(
    failures: Iterable[Failure], tried: Mapping[str, int], questions: int
) -> list[tuple[Finding, list[Failure]]]:
    """Return a finding for each kind of failure, with the failures that it stands for.

    tried: the cases of each kind; of what is no kind of case, all `questions` were tried.
    """
    groups: defaultdict[tuple[Fault, str], list[Failure]] = defaultdict(list)
    for failure in failures:
        groups[failure.fault, failure.kind].append(failure)
    order = {fault: at for at, fault in enumerate(Fault)}
    kinds = list(tried)
    ranked = sorted(
        groups.items(),
        key=lambda group: (order[group[0][0]], _place(kinds, group[0][1]), group[0][1]),
    )
    return [(_finding(group, tried.get(kind, questions)), group) for (_, kind), group in ranked]


def _place(kinds: list[str], kind: str) -> int:
    return kinds.index(kind) if kind in kinds else len(kinds)


def _finding(group: list[Failure], tried: int) -> Finding:
    example = min(group, key=lambda one: one.size)
    shapes = Counter(one.case.shape for one in group if one.case)
    return with_example(
        Finding(example.fault, example.kind, example.why, "", "", "", "", len(group), tried,
                tuple(shapes)),
        example,
    )  # fmt: skip


def with_example(finding: Finding, example: Failure) -> Finding:
    """Return a finding with another, smaller example."""
    return replace(
        finding,
        why=example.why,
        completion=example.question.completion,
        recipe=example.recipe,
        gold=example.question.gold,
        got=example.got,
    )


def merged(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings without "on long texts" where the smallest example turned out to be short."""
    known: dict[tuple[Fault, str], Finding] = {}
    for one in found:
        kind = one.kind
        if len(one.completion) <= SHORT_EXAMPLE:
            kind = kind.removesuffix(ON_LONG_TEXTS)
        other = known.get((one.fault, kind))
        if other is not None:
            one = replace(other, failed=other.failed + one.failed)
        known[one.fault, kind] = replace(one, kind=kind)
    return tuple(known.values())
