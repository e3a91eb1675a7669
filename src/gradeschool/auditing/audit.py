"""`gradeschool.audit`: finds what a scorer gets wrong, with the smallest example of each kind.

An example whose verdict matters is made smaller by smaller golds, and never cut: another text may
mean another answer. A text that raises or hangs may be cut anywhere.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from gradeschool.auditing.calling import AuditedScorer, Question, ScorerReply
from gradeschool.auditing.cases import (
    BARE,
    BEYOND_FLOATS,
    BY_SHAPE,
    FORMATS,
    HASHES,
    PLAIN,
    AuditCase,
)
from gradeschool.auditing.hostile import GOLD, LONG, HostileText, rounds
from gradeschool.auditing.report import AuditFinding, AuditReport, Fault
from gradeschool.auditing.suite import cases_of, due, every_kind, suite
from gradeschool.auditing.target import Call, Target, scorer_target, target_of
from gradeschool.errors import InputError
from gradeschool.scorer import Scorer

THRESHOLD = 0.5
ENOUGH = 0.75  # the share of plain golds to accept for a format to count as read
ASKED_AGAIN = 10  # every tenth question is repeated
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
EXCEPTION = re.compile(r"\b(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*(?:Error|Exception|Exit|Interrupt))\b")
ON_LONG_TEXTS = " on long texts"
SHORT_EXAMPLE = 60  # characters
# Seconds of computing allowed for a text: one, plus five for each million characters.
SECONDS, SECONDS_PER_CHARACTER = 1.0, 5e-6
# Smallest examples
LADDER = (*map(str, range(1, 13)), "18", "20", "100", "101", "1000", "1001", "10000", "100000")
LONGEST_CUT = 600  # characters: of a longer text, only the number of units is reduced
MOST_SHAPES = 6  # number of hostile texts with the same exception that are tried as the smallest


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
    it takes a completion and a gold and returns a bool or a number, which accepts from `threshold`
    on. It runs in its own child process, and a call with more than five seconds of computing or
    twenty of waiting is stopped. seed: draws some of the golds; the same seed gives the same
    questions. longest: characters of the longest hostile text. tell: called with the name of each
    phase as it begins, and with "" at the end.

    Raises InputError if it cannot be imported or called, or accepts no plain right answer.
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
    questions = scorer.questions
    report = merged(
        finding_of(group, smallest(group, scorer, read), tried.get(group[0].kind, questions))
        for group in grouped(failures, list(tried))
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
    """Choose the way of calling that reads the most formats; return their shapes."""
    tried = []
    for call in scorer.calls():
        scorer.call = call
        read = tuple(form.shape for form in FORMATS if _reads(scorer, form.write))
        tried.append((read, call))
    best, scorer.call = max(tried, key=lambda result: len(result[0]))
    if not best:
        reply = scorer.reply(Question(HASHES.write(GOLD), GOLD))
        got = f"raises {reply.raised}" if reply.raised else f"gives {reply.shown}"
        raise InputError(
            f"{scorer.target.name!r} accepts no right answer in any of {len(FORMATS)} formats: "
            f"called with {HASHES.write(GOLD)!r} and the gold {GOLD!r} it {got}; "
            "check its arguments, or --threshold"
        )
    return best


def _reads(scorer: AuditedScorer, write: Callable[[str], str]) -> bool:
    replies = scorer.replies([Question(write(gold), gold) for gold in PLAIN])
    return sum(map(scorer.accepts, replies)) >= ENOUGH * len(PLAIN)


# Right and wrong answers


def _of_cases(
    scorer: AuditedScorer, read: tuple[str, ...], seed: int
) -> tuple[list[CaseFailure], dict[str, int]]:
    """Return the failures, and the number of cases of each kind that were tried."""
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
    return failures, {kind.name: counts[kind.name] for kind in every_kind()}


def _changing(
    scorer: AuditedScorer, questions: list[Question], replies: list[ScorerReply]
) -> Iterator[CaseFailure]:
    """Repeat some questions in the opposite order: a verdict must depend on nothing else."""
    some = list(zip(questions, replies, strict=True))[::-ASKED_AGAIN]
    again = scorer.replies([question for question, _ in some], again=True)
    for (question, first), second in zip(some, again, strict=True):
        if second.given_up or first.given_up or first.hung or second.hung:
            continue
        if (first.score, bool(first.raised)) != (second.score, bool(second.raised)):
            got = f"{_verdict_in_words(first)}, then {_verdict_in_words(second)}"
            why = "the same question must get the same verdict"
            yield CaseFailure(Fault.CHANGING, "asked twice", why, question, got)


def _verdict_in_words(reply: ScorerReply) -> str:
    return f"raises {reply.raised[:60]}" if reply.raised else reply.shown


# Hostile texts


def _of_hostile_texts(scorer: AuditedScorer, longest: int) -> list[CaseFailure]:
    """Try longer and longer texts; a shape that took too long is not made longer."""
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


class CaseFailure(NamedTuple):
    """A question, the fault of its reply, and where it comes from.

    case: the case of the suite, if any; hostile: the hostile text, if any.
    """

    fault: Fault
    kind: str
    why: str
    question: Question
    got: str
    case: AuditCase | None = None
    hostile: HostileText | None = None

    @property
    def recipe(self) -> str:
        """The completion as a Python expression."""
        return self.hostile.recipe() if self.hostile else repr(self.question.completion)

    @property
    def size(self) -> tuple[int, bool, str, str]:
        """The key by which examples are ordered from small to large."""
        return length_order(*self.question)


def length_order(completion: str, gold: str) -> tuple[int, bool, str, str]:
    """Return the key that orders examples by length; a gold of zero comes last."""
    return len(completion) + len(gold), gold == "0", completion, gold


def failure_of_case(
    case: AuditCase, reply: ScorerReply, scorer: AuditedScorer
) -> CaseFailure | None:
    """Return the failure of a reply to a case, None if the reply is right."""
    question = Question(case.completion, case.gold)
    failure = trouble(question, reply)
    if failure is not None:
        loose = case.kind.loose and failure.fault in (Fault.CRASH, Fault.ODD_RETURN)
        return None if loose else failure._replace(case=case)
    if reply.given_up or scorer.accepts(reply) is case.kind.right:
        return None
    fault = Fault.FALSE_REJECT if case.kind.right else Fault.FALSE_ACCEPT
    return CaseFailure(fault, case.kind.name, case.kind.why, question, reply.shown, case)


def failure_of_hostile(
    text: HostileText, question: Question, reply: ScorerReply
) -> CaseFailure | None:
    """Return the failure of a reply to a hostile text, whatever the verdict."""
    failure = trouble(question, reply)
    if failure is None:
        return None
    kind = text.name if failure.fault is Fault.SLOW else failure.kind
    if failure.fault is Fault.CRASH and text.times > 1:
        kind += ON_LONG_TEXTS
    return failure._replace(hostile=text, kind=kind)


def trouble(question: Question, reply: ScorerReply) -> CaseFailure | None:
    """Return the failures that any question may show: an exception, a long wait, an odd value."""
    if reply.given_up:
        return None
    length = len(question.completion)
    if reply.hung or reply.seconds > allowed_seconds(length):
        return CaseFailure(Fault.SLOW, "hang" if reply.hung else "slow", _slowness(reply, length),
                       question, _slowness(reply, length))  # fmt: skip
    if reply.raised:
        why = "a text must not raise"
        return CaseFailure(Fault.CRASH, exception(reply.raised), why, question, reply.raised)
    if reply.score is None:
        why = "a verdict is True, False or a finite number"
        return CaseFailure(Fault.ODD_RETURN, reply.shown[:20], why, question, reply.shown)
    return None


def allowed_seconds(length: int) -> float:
    """Return the seconds of computing allowed for a text of this length."""
    return max(SECONDS, SECONDS_PER_CHARACTER * length)


def exception(raised: str) -> str:
    """Return the name of the exception in a message, or how the process ended."""
    name = EXCEPTION.search(raised)
    return name[1] if name else raised[:60]


def _slowness(reply: ScorerReply, length: int) -> str:
    if reply.hung:
        return f"stopped: {reply.raised} ({length:,} characters)"
    return f"{reply.seconds:.1f} s of computing for {length:,} characters"


def grouped(failures: Iterable[CaseFailure], kinds: list[str]) -> list[list[CaseFailure]]:
    """Return the failures of each kind, in the order of a report; kinds: those of the suite."""
    groups: defaultdict[tuple[Fault, str], list[CaseFailure]] = defaultdict(list)
    for failure in failures:
        groups[failure.fault, failure.kind].append(failure)
    faults = list(Fault)

    def rank(group: tuple[Fault, str]) -> tuple[int, int, str]:
        fault, kind = group
        return faults.index(fault), kinds.index(kind) if kind in kinds else len(kinds), kind

    return [groups[group] for group in sorted(groups, key=rank)]


def finding_of(group: list[CaseFailure], example: CaseFailure, tried: int) -> AuditFinding:
    """Return the finding for failures of one kind; tried: the cases of it, or all questions."""
    return AuditFinding(
        fault=group[0].fault,
        kind=group[0].kind,
        why=example.why,
        completion=example.question.completion,
        recipe=example.recipe,
        gold=example.question.gold,
        got=example.got,
        failed=len(group),
        tried=tried,
        shapes=tuple(dict.fromkeys(failure.case.shape for failure in group if failure.case)),
    )


def merged(every: Iterable[AuditFinding]) -> tuple[AuditFinding, ...]:
    """Return findings without "on long texts" if the smallest example turned out to be short."""
    by_kind: dict[tuple[Fault, str], AuditFinding] = {}
    for finding in every:
        kind = finding.kind
        if len(finding.completion) <= SHORT_EXAMPLE:
            kind = kind.removesuffix(ON_LONG_TEXTS)
        first = by_kind.get((finding.fault, kind))
        failed = finding.failed + (first.failed if first else 0)
        by_kind[finding.fault, kind] = replace(first or finding, kind=kind, failed=failed)
    return tuple(by_kind.values())


def smallest(
    failures: Iterable[CaseFailure], scorer: AuditedScorer, read: Iterable[str]
) -> CaseFailure:
    """Return the smallest failure with the same fault and kind that can be found quickly."""
    ranked = sorted(failures, key=_size)
    by_shape = {
        failure.hostile.name if failure.hostile else "": failure for failure in reversed(ranked)
    }
    tried = sorted(by_shape.values(), key=_size)[:MOST_SHAPES]
    shapes = frozenset(read)
    return min((_smaller(failure, scorer, shapes) for failure in tried), key=_size)


def _size(failure: CaseFailure) -> tuple[int, bool, str, str]:
    return failure.size


def _smaller(failure: CaseFailure, scorer: AuditedScorer, read: frozenset[str]) -> CaseFailure:
    if failure.fault in (Fault.FALSE_ACCEPT, Fault.FALSE_REJECT):
        return _smaller_gold(failure, scorer, read)
    if failure.hostile is not None:
        failure = _fewer_units(failure, failure.hostile, scorer)
    if failure.fault is Fault.CRASH and len(failure.question.completion) <= LONGEST_CUT:
        return _cut(failure, scorer)
    return failure


def _smaller_gold(failure: CaseFailure, scorer: AuditedScorer, read: frozenset[str]) -> CaseFailure:
    case = failure.case
    if case is None or not case.gold.lstrip("-").isdigit() or case.gold == BEYOND_FLOATS:
        return failure
    forms = dict.fromkeys((BY_SHAPE[case.shape], BARE))
    usable = [form for form in forms if form.shape in read or not case.kind.right]
    cases = [
        smaller
        for smaller in cases_of(case.kind, usable, LADDER, bool(case.base))
        if length_order(smaller.completion, smaller.gold) < failure.size
    ]
    bases = [Question(smaller.base, smaller.gold) for smaller in cases]
    sound = [
        smaller
        for smaller, reply in zip(cases, scorer.replies(bases), strict=True)
        if not smaller.base or scorer.accepts(reply)
    ]
    replies = scorer.replies([Question(smaller.completion, smaller.gold) for smaller in sound])
    checked = (failure_of_case(*pair, scorer) for pair in zip(sound, replies, strict=True))
    same = [other for other in checked if other and _alike(other, failure)]
    return min([failure, *same], key=_size)


def _alike(first: CaseFailure, second: CaseFailure) -> bool:
    return (first.fault, first.kind) == (second.fault, second.kind)


def _fewer_units(failure: CaseFailure, text: HostileText, scorer: AuditedScorer) -> CaseFailure:
    """Return the failure with fewer units: the fewest that raise, about the fewest that hang."""

    def failing(shorter: HostileText) -> CaseFailure | None:
        question = Question(shorter.text, failure.question.gold)
        other = failure_of_hostile(shorter, question, scorer.reply(question))
        return other if other and other.fault is failure.fault else None

    if failure.fault is Fault.SLOW:  # from few to many: units that are not slow cost little
        counts = (1 << power for power in range(text.times.bit_length()))
        slow = (failing(text._replace(times=count)) for count in counts if count < text.times)
        return next((shorter for shorter in slow if shorter), failure)
    for bare in (text._replace(before="", after=""), text._replace(after="")):
        shorter = failing(bare)
        if shorter is not None and _alike(shorter, failure):
            failure, text = shorter, bare
            break
    return _fewest(failure, text, failing)


def _fewest(
    failure: CaseFailure, text: HostileText, failing: Callable[[HostileText], CaseFailure | None]
) -> CaseFailure:
    """Find by bisection the fewest units that still fail."""
    low = 0
    while text.times - low > 1:
        middle = text._replace(times=(low + text.times) // 2)
        shorter = failing(middle)
        if shorter is not None and _alike(shorter, failure):
            failure, text = shorter, middle
        else:
            low = middle.times
    return failure


def _cut(failure: CaseFailure, scorer: AuditedScorer) -> CaseFailure:
    """Return the failure without the pieces of its text that are not needed to raise."""
    raised = failure.kind.removesuffix(ON_LONG_TEXTS)
    size = len(failure.question.completion)
    while size:
        text, gold = failure.question
        starts = range(0, len(text), size)
        shorter = dict.fromkeys(text[:start] + text[start + size :] for start in starts)
        questions = [Question(completion, gold) for completion in shorter]
        checked = map(trouble, questions, scorer.replies(questions))
        same = (
            other
            for other in checked
            if other and (other.fault, other.kind) == (failure.fault, raised)
        )
        cut = next(same, None)
        if cut is None:
            size //= 2
        else:
            failure = cut._replace(kind=failure.kind)
            size = min(size, len(cut.question.completion))
    return failure
