"""`gradeschool.audit`: find what a scorer gets wrong, with the smallest example of each kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gradeschool.auditing.asking import AuditedScorer, Question, ScorerReply
from gradeschool.auditing.cases import FORMATS, HASHES, PLAIN
from gradeschool.auditing.failures import (
    CaseFailure,
    failure_of_case,
    failure_of_hostile,
    findings,
    merged,
    smallest,
    with_example,
)
from gradeschool.auditing.hostile import GOLD, LONG, rounds
from gradeschool.auditing.report import AuditReport, Fault
from gradeschool.auditing.suite import due, every_kind, suite
from gradeschool.auditing.target import Call, Target, scorer_target, target_of
from gradeschool.errors import InputError
from gradeschool.scorer import Scorer

THRESHOLD = 0.5
ENOUGH = 0.75  # of plain golds that must be accepted for a format to count as read
ASKED_AGAIN = 10  # of so many questions one is asked a second time
CALLS_IN_WORDS = {
    "pair": "f(completion, gold)",
    "names": "f(data_source=, solution_str=, ground_truth=, extra_info=)",
    "batch": "f(completions=[text], {name}=[gold])",
    "chats": "f(completions=[messages], {name}=[gold])",
}
GOLDS_CALLS_IN_WORDS = {
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
    the same questions. longest: characters of the longest hostile text. tell: called with the
    name of each phase as it begins, and with "" at the end.

    Raises InputError for what cannot be imported, called, or accepts no plain right answer.
    """
    target = scorer_target(function.name) if isinstance(function, Scorer) else target_of(function)
    return audit_target(target, seed=seed, threshold=threshold, longest=longest, tell=tell)


def audit_target(
    target: Target, *, seed: int, threshold: float, longest: int, tell: Callable[[str], None]
) -> AuditReport:
    """Run the suite over what `target` names; see `audit`."""
    try:
        with AuditedScorer(target, threshold) as scorer:
            return _audited(scorer, seed, longest, tell)
    finally:
        tell("")


def _audited(
    scorer: AuditedScorer, seed: int, longest: int, tell: Callable[[str], None]
) -> AuditReport:
    tell("which formats it reads")
    read = _formats_read(scorer)
    tell("right and wrong answers")
    failures, tried = _of_cases(scorer, read, seed)
    tell("hostile texts")
    failures += _of_hostile_texts(scorer, longest)
    gave_up = scorer.given_up
    tell("the smallest examples")
    report = merged(
        with_example(finding, smallest(group, scorer, read))
        for finding, group in findings(failures, tried, scorer.questions)
    )
    return AuditReport(
        scorer=scorer.target.name,
        call=_in_words(scorer.call, scorer.target),
        read=read,
        unread=tuple(form.shape for form in FORMATS if form.shape not in read),
        questions=scorer.questions,
        seed=seed,
        findings=report,
        gave_up=gave_up,
    )


def _in_words(call: Call, target: Target) -> str:
    if "scorer" in target.place:
        return "a scorer of gradeschool"
    way = CALLS_IN_WORDS[call.way].format(name=call.name or "answer")
    return f"{way}, {GOLDS_CALLS_IN_WORDS[call.gold]}"


# Which formats


def _formats_read(scorer: AuditedScorer) -> tuple[str, ...]:
    """Choose the way of calling under which most formats are read; return their shapes."""
    best: tuple[str, ...] = ()
    chosen = None
    for call in scorer.calls():
        scorer.call = call
        read = tuple(form.shape for form in FORMATS if _reads(scorer, form.write))
        if len(read) > len(best) or chosen is None:
            best, chosen = read, call
    assert chosen is not None  # noqa: S101  (a function that has no way raised in `calls`)
    scorer.call = chosen
    if not best:
        reply = scorer.reply(Question(HASHES.write(GOLD), GOLD))
        got = f"raises {reply.raised}" if reply.raised else f"gives {reply.shown}"
        raise InputError(
            f"{scorer.target.name!r} accepts no right answer in any of {len(FORMATS)} formats: "
            f"called with {HASHES.write(GOLD)!r} and the gold {GOLD!r} it {got}; "
            "check what it takes, or --threshold"
        )
    return best


def _reads(scorer: AuditedScorer, write: Callable[[str], str]) -> bool:
    replies = scorer.replies([Question(write(gold), gold) for gold in PLAIN])
    return sum(map(scorer.accepts, replies)) >= ENOUGH * len(PLAIN)


# Right and wrong answers


class _CaseResults(NamedTuple):
    """What fails, and how many cases of each kind were tried."""

    failures: list[CaseFailure]
    tried: dict[str, int]


def _of_cases(scorer: AuditedScorer, read: tuple[str, ...], seed: int) -> _CaseResults:
    cases = suite(seed)
    plain = list(dict.fromkeys(Question(case.base, case.gold) for case in cases if case.base))
    accepted = {
        question
        for question, reply in zip(plain, scorer.replies(plain), strict=True)
        if scorer.accepts(reply)
    }
    judged = due(cases, read, accepted)
    questions = [Question(case.completion, case.gold) for case in judged]
    replies = scorer.replies(questions)
    checked = [failure_of_case(*pair, scorer) for pair in zip(judged, replies, strict=True)]
    failures = [failure for failure in checked if failure]
    failures += _changing(scorer, questions, replies)
    counts = Counter(case.kind.name for case in judged)
    return _CaseResults(failures, {kind.name: counts[kind.name] for kind in every_kind()})


def _changing(
    scorer: AuditedScorer, questions: list[Question], replies: list[ScorerReply]
) -> Iterator[CaseFailure]:
    """Ask some questions again, in the opposite order: a verdict depends on nothing else."""
    some = list(zip(questions, replies, strict=True))[::-ASKED_AGAIN]
    again = scorer.replies([question for question, _ in some], again=True)
    for (question, first), second in zip(some, again, strict=True):
        if second.given_up or first.given_up or first.hung or second.hung:
            continue
        if (first.score, bool(first.raised)) != (second.score, bool(second.raised)):
            got = f"{_verdict_in_words(first)}, then {_verdict_in_words(second)}"
            why = "the same question has the same answer"
            yield CaseFailure(Fault.CHANGING, "asked twice", why, question, got)


def _verdict_in_words(reply: ScorerReply) -> str:
    return f"raises {reply.raised[:60]}" if reply.raised else reply.shown


# Hostile texts


def _of_hostile_texts(scorer: AuditedScorer, longest: int) -> list[CaseFailure]:
    """Ask about ever longer texts; a shape that took too long is not made longer."""
    failures: list[CaseFailure] = []
    for texts in rounds(longest):
        slow = {
            failure.hostile.name
            for failure in failures
            if failure.fault is Fault.SLOW and failure.hostile
        }
        short = [text for text in texts if text.name not in slow]
        questions = [Question(text.text, GOLD) for text in short]
        replies = scorer.replies(questions)
        checked = map(failure_of_hostile, short, questions, replies)
        failures += [failure for failure in checked if failure]
    return failures
