"""`gradeschool.audit`: find what a scorer gets wrong, with the smallest example of each kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gradeschool.auditing.asking import Asker, Question, Reply
from gradeschool.auditing.calling import Call
from gradeschool.auditing.failures import (
    Failure,
    failure_of_case,
    failure_of_hostile,
    findings,
    merged,
    with_example,
)
from gradeschool.auditing.golds import PLAIN
from gradeschool.auditing.hostile import GOLD, LONG, rounds
from gradeschool.auditing.report import AuditReport, Fault
from gradeschool.auditing.shrink import smallest
from gradeschool.auditing.styles import HASHES, STYLES
from gradeschool.auditing.suite import due, every_kind, suite
from gradeschool.auditing.target import Target, scorer_target, target_of
from gradeschool.errors import InputError
from gradeschool.scorer import Scorer

THRESHOLD = 0.5
ENOUGH = 0.75  # of plain golds that must be accepted for a format to count as read
ASKED_AGAIN = 10  # of so many questions one is asked a second time
IN_WORDS = {
    "pair": "f(completion, gold)",
    "names": "f(data_source=, solution_str=, ground_truth=, extra_info=)",
    "batch": "f(completions=[text], {name}=[gold])",
    "chats": "f(completions=[messages], {name}=[gold])",
}
GOLDS_IN_WORDS = {
    "text": "the gold as text",
    "solution": "the gold as a whole solution with '#### N'",
    "number": "the gold as a number",
}


def audit(
    function: str | Callable[..., object] | Scorer,
    *,
    seed: int = 0,
    threshold: float = THRESHOLD,
    longest: int = LONG,
    tell: Callable[[str], None] = lambda phase: None,
) -> AuditReport:
    """Run the conformance suite over a scorer or reward function.

    function: "module:function", "file.py:function", a function at the top of a module, or a Scorer;
    it takes a completion and a gold and gives a bool or a number, which accepts from `threshold`
    on. It runs in a child process of its own, where a text that takes more than five seconds of
    computing or twenty of waiting is given up. seed: draws some of the golds; the same seed asks
    the same questions. longest: characters of the longest hostile text. tell: is told what begins,
    and "" at the end.

    Raises InputError for what cannot be imported, called, or accepts no plain right answer.
    """
    target = scorer_target(function.name) if isinstance(function, Scorer) else target_of(function)
    return audit_target(target, seed=seed, threshold=threshold, longest=longest, tell=tell)


def audit_target(
    target: Target, *, seed: int, threshold: float, longest: int, tell: Callable[[str], None]
) -> AuditReport:
    """Run the suite over what `target` names; see `audit`."""
    try:
        with Asker(target, threshold) as asker:
            return _audited(asker, seed, longest, tell)
    finally:
        tell("")


def _audited(asker: Asker, seed: int, longest: int, tell: Callable[[str], None]) -> AuditReport:
    tell("which formats it reads")
    read = _formats_read(asker)
    tell("right and wrong answers")
    failures, tried = _of_cases(asker, read, seed)
    tell("hostile texts")
    failures += _of_hostile_texts(asker, longest)
    gave_up = asker.given_up
    tell("the smallest examples")
    found = merged(
        with_example(finding, smallest(group, asker, read))
        for finding, group in findings(failures, tried, asker.asked)
    )
    return AuditReport(
        scorer=asker.target.name,
        call=_in_words(asker.call, asker.target),
        read=read,
        unread=tuple(style.shape for style in STYLES if style.shape not in read),
        questions=asker.asked,
        seed=seed,
        findings=found,
        gave_up=gave_up,
    )


def _in_words(call: Call, target: Target) -> str:
    if "scorer" in target.place:
        return "a scorer of gradeschool"
    way = IN_WORDS[call.way].format(name=call.name or "answer")
    return f"{way}, {GOLDS_IN_WORDS[call.gold]}"


# Which formats


def _formats_read(asker: Asker) -> tuple[str, ...]:
    """Choose the way of calling under which most formats are read; return their shapes."""
    best: tuple[str, ...] = ()
    chosen = None
    for call in asker.calls():
        asker.call = call
        read = tuple(style.shape for style in STYLES if _reads(asker, style.write))
        if len(read) > len(best) or chosen is None:
            best, chosen = read, call
    assert chosen is not None  # noqa: S101  (a function that has no way raised in `calls`)
    asker.call = chosen
    if not best:
        reply = asker.reply(Question(HASHES.write(GOLD), GOLD))
        got = f"raises {reply.raised}" if reply.raised else f"gives {reply.shown}"
        raise InputError(
            f"{asker.target.name!r} accepts no right answer in any of {len(STYLES)} formats: "
            f"called with {HASHES.write(GOLD)!r} and the gold {GOLD!r} it {got}; "
            "check what it takes, or --threshold"
        )
    return best


def _reads(asker: Asker, write: Callable[[str], str]) -> bool:
    replies = asker.replies([Question(write(gold), gold) for gold in PLAIN])
    return sum(map(asker.accepts, replies)) >= ENOUGH * len(PLAIN)


# Right and wrong answers


class _OfCases(NamedTuple):
    """What fails, and how many cases of each kind were tried."""

    failures: list[Failure]
    tried: dict[str, int]


def _of_cases(asker: Asker, read: tuple[str, ...], seed: int) -> _OfCases:
    cases = suite(seed)
    plain = list(dict.fromkeys(Question(case.base, case.gold) for case in cases if case.base))
    accepted = {
        question
        for question, reply in zip(plain, asker.replies(plain), strict=True)
        if asker.accepts(reply)
    }
    judged = due(cases, read, accepted)
    questions = [Question(case.completion, case.gold) for case in judged]
    replies = asker.replies(questions)
    found = [failure_of_case(*pair, asker) for pair in zip(judged, replies, strict=True)]
    failures = [failure for failure in found if failure]
    failures += _changing(asker, questions, replies)
    counts = Counter(case.kind.name for case in judged)
    return _OfCases(failures, {kind.name: counts[kind.name] for kind in every_kind()})


def _changing(asker: Asker, questions: list[Question], replies: list[Reply]) -> Iterator[Failure]:
    """Ask some questions again, in the opposite order: a verdict depends on nothing else."""
    some = list(zip(questions, replies, strict=True))[::-ASKED_AGAIN]
    again = asker.replies([question for question, _ in some], again=True)
    for (question, first), second in zip(some, again, strict=True):
        if second.given_up or first.given_up or first.hung or second.hung:
            continue
        if (first.score, bool(first.raised)) != (second.score, bool(second.raised)):
            got = f"{_seen(first)}, then {_seen(second)}"
            why = "the same question has the same answer"
            yield Failure(Fault.CHANGING, "asked twice", why, question, got)


def _seen(reply: Reply) -> str:
    return f"raises {reply.raised[:60]}" if reply.raised else reply.shown


# Hostile texts


def _of_hostile_texts(asker: Asker, longest: int) -> list[Failure]:
    """Ask about ever longer texts; a shape that took too long is not made longer."""
    failures: list[Failure] = []
    for texts in rounds(longest):
        slow = {one.hostile.name for one in failures if one.fault is Fault.SLOW and one.hostile}
        asked = [text for text in texts if text.name not in slow]
        questions = [Question(text.text, GOLD) for text in asked]
        replies = asker.replies(questions)
        found = map(failure_of_hostile, asked, questions, replies)
        failures += [failure for failure in found if failure]
    return failures
