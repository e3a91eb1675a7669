"""The smallest example of a failure: the same kind of case about smaller golds, a shorter text.

A completion whose verdict matters is never cut: another text may mean another answer. What raises
or hangs may be cut anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gradeschool.auditing.asking import Asker, Question
from gradeschool.auditing.failures import (
    ON_LONG_TEXTS,
    Failure,
    failure_of_case,
    failure_of_hostile,
    size_of,
    trouble,
)
from gradeschool.auditing.golds import BEYOND_FLOATS
from gradeschool.auditing.hostile import Hostile
from gradeschool.auditing.report import Fault
from gradeschool.auditing.styles import BARE, BY_SHAPE
from gradeschool.auditing.suite import cases_of

LADDER = (*map(str, range(1, 13)), "18", "20", "100", "101", "1000", "1001", "10000", "100000")
LONGEST_CUT = 600  # characters: a longer text is only made of fewer units
MOST_SHAPES = 6  # of hostile texts that raise alike: each is tried to be the smallest


def smallest(failures: Iterable[Failure], asker: Asker, read: Iterable[str]) -> Failure:
    """Return a failure of the fault and kind of these that is as small as can be found quickly."""
    ranked = sorted(failures, key=lambda one: one.size)
    shapes = {one.hostile.name if one.hostile else "": one for one in reversed(ranked)}
    tried = sorted(shapes.values(), key=lambda one: one.size)[:MOST_SHAPES]
    known = frozenset(read)
    return min((_smaller(one, asker, known) for one in tried), key=lambda one: one.size)


def _smaller(failure: Failure, asker: Asker, read: frozenset[str]) -> Failure:
    if failure.fault in (Fault.FALSE_ACCEPT, Fault.FALSE_REJECT):
        return _smaller_gold(failure, asker, read)
    if failure.hostile is not None:
        failure = _fewer_units(failure, failure.hostile, asker)
    if failure.fault is Fault.CRASH and len(failure.question.completion) <= LONGEST_CUT:
        return _cut(failure, asker)
    return failure


def _smaller_gold(failure: Failure, asker: Asker, read: frozenset[str]) -> Failure:
    case = failure.case
    if case is None or not case.gold.lstrip("-").isdigit() or case.gold == BEYOND_FLOATS:
        return failure
    styles = dict.fromkeys((BY_SHAPE[case.shape], BARE))
    known = [style for style in styles if style.shape in read or not case.kind.right]
    cases = [
        one
        for one in cases_of(case.kind, known, LADDER, bool(case.base))
        if size_of(one.completion, one.gold) < failure.size
    ]
    bases = [Question(one.base, one.gold) for one in cases]
    sound = [
        one
        for one, reply in zip(cases, asker.replies(bases), strict=True)
        if not one.base or asker.accepts(reply)
    ]
    replies = asker.replies([Question(one.completion, one.gold) for one in sound])
    found = (failure_of_case(*pair, asker) for pair in zip(sound, replies, strict=True))
    same = [one for one in found if one and _alike(one, failure)]
    return min([failure, *same], key=lambda one: one.size)


def _alike(one: Failure, other: Failure) -> bool:
    return (one.fault, one.kind) == (other.fault, other.kind)


def _fewer_units(failure: Failure, text: Hostile, asker: Asker) -> Failure:
    """Return the failure with fewer units: the fewest that raise, about the fewest that hang."""

    def failing(shorter: Hostile) -> Failure | None:
        question = Question(shorter.text, failure.question.gold)
        found = failure_of_hostile(shorter, question, asker.reply(question))
        return found if found and found.fault is failure.fault else None

    if failure.fault is Fault.SLOW:  # from few to many: what is not slow costs little
        counts = (1 << power for power in range(text.times.bit_length()))
        slow = (failing(text._replace(times=count)) for count in counts if count < text.times)
        return next((one for one in slow if one), failure)
    for bare in (text._replace(before="", after=""), text._replace(after="")):
        shorter = failing(bare)
        if shorter is not None and _alike(shorter, failure):
            failure, text = shorter, bare
            break
    return _fewest(failure, text, failing)


def _fewest(
    failure: Failure, text: Hostile, failing: Callable[[Hostile], Failure | None]
) -> Failure:
    """Halve the distance between a count that fails and one that does not."""
    low = 0
    while text.times - low > 1:
        middle = text._replace(times=(low + text.times) // 2)
        shorter = failing(middle)
        if shorter is not None and _alike(shorter, failure):
            failure, text = shorter, middle
        else:
            low = middle.times
    return failure


def _cut(failure: Failure, asker: Asker) -> Failure:
    """Return the failure with every piece of its text left out that is not needed to raise."""
    raised = failure.kind.removesuffix(ON_LONG_TEXTS)
    size = len(failure.question.completion)
    while size:
        text, gold = failure.question
        shorter = [text[:at] + text[at + size :] for at in range(0, len(text), size)]
        questions = [Question(one, gold) for one in dict.fromkeys(shorter)]
        found = map(trouble, questions, asker.replies(questions))
        same = (one for one in found if one and (one.fault, one.kind) == (failure.fault, raised))
        cut = next(same, None)
        if cut is None:
            size //= 2
        else:
            failure = cut._replace(kind=failure.kind)
            size = min(size, len(cut.question.completion))
    return failure
