"""`gradeschool.audit`: finds what a scorer gets wrong, with the smallest example of each kind.

An example is the shortest of its kind that was tried; a long text is repeated less often as long
as it still raises or hangs.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from math import isfinite
from typing import Any

from gradeschool.auditing import cases
from gradeschool.auditing.cases import GOLD, LONG, HostileText
from gradeschool.errors import InputError, UnknownNameError
from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_usable_scorer
from gradeschool.scorer import Outcome, Scorer
from gradeschool.user_function import BEFORE, Call, CallResult, UserFunction, is_gold

THRESHOLD = 0.5
ENOUGH_GOLDS = 0.75  # the share of plain golds to accept for a format to count as read
ASKED_AGAIN = 10  # every tenth question is repeated
BATCH = 8  # questions between two calls of `show`
USUAL_QUESTIONS = 16_000  # questions to a function that reads most formats
MOST_HANGS = 12  # after that the scorer is no longer called: each hang costs seconds
MOST_ENDS = 100  # of its process, likewise: each costs a new process
LIBRARY_WAIT = 240.0  # seconds for a published scorer, whose library has limits of its own
CALLS_IN_WORDS = {
    "pair": "f(completion, gold)",
    "problem": "f(completion, problem=Problem)",
    "names": "f(data_source=, solution_str=, ground_truth=, extra_info=)",
    "openrlhf": "f(queries=[prompt + text], prompts=[prompt], labels=[gold])",
    "batch": "f(completions=[text], {name}=[gold])",
    "chats": "f(completions=[messages], {name}=[gold])",
}
GOLDS_IN_WORDS = {
    "text": "the gold as text",
    "solution": "the gold as a whole solution with '#### N'",
    "number": "the gold as a number",
}
EXCEPTION = re.compile(r"\b(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*(?:Error|Exception|Exit|Interrupt))\b")
WHY_OF_THREADS = "a reward is called from several threads, where signals do not work"
WHY_OF_SEVERAL = "a trainer gives completions with a gold each, and wants a reward each"
# Seconds of computing allowed for a text: one, plus five for each million characters.
SECONDS, SECONDS_PER_CHARACTER = 1.0, 5e-6
MOST_SHAPES = 6  # number of hostile texts with the same exception that are tried as the smallest
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
    completion, gold: the example; hostile: the hostile text that it is, if any. got: the result of
    the scorer. failed: how many of the `tried` cases fail, in the formats `shapes`.
    """

    fault: Fault
    kind: str
    why: str
    completion: str
    gold: str
    got: str
    failed: int = 1
    tried: int = 0
    shapes: tuple[str, ...] = ()
    hostile: HostileText | None = None

    @property
    def recipe(self) -> str:
        """The completion as a Python expression."""
        return self.hostile.recipe() if self.hostile else repr(self.completion)

    @property
    def size(self) -> tuple[int, bool, str, str]:
        """The key by which examples are ordered from small to large."""
        return len(self.completion) + len(self.gold), self.gold == "0", self.completion, self.gold

    @property
    def name(self) -> str:
        """The name of the finding for `allow`: "false-accept/suffix"."""
        return f"{self.fault.value}/{self.kind.replace(' ', '-')}"

    def to_json(self) -> dict[str, Any]:
        """Return JSON values. A long completion is null; its recipe is always given."""
        fields = asdict(self) | {
            "fault": self.fault.value,
            "name": self.name,
            "recipe": self.recipe,
        }
        fields["formats"] = list(fields.pop("shapes"))
        del fields["hostile"]
        if len(self.completion) > LONGEST_SHOWN:
            fields["completion"] = None
        return fields


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The findings about one scorer, worst first.

    call: how it was called, in words. read, unread: the answer formats that it reads, and those in
    which it accepts nothing, so that rejecting a right answer in one of them is not a failure.
    questions: number of calls. gave_up: it hung or ended its process so often that the audit
    stopped calling it. threshold: the lowest score that accepts. at_threshold: number of wrong
    answers with exactly that score, 0 if no answer has more: it may be a credit for the form.
    """

    scorer: str
    call: str
    read: tuple[str, ...]
    unread: tuple[str, ...]
    questions: int
    seed: int
    findings: tuple[AuditFinding, ...]
    gave_up: bool = False
    threshold: float = THRESHOLD
    at_threshold: int = 0

    @property
    def clean(self) -> bool:
        """True if there are no findings."""
        return not self.findings

    def of(self, fault: Fault) -> tuple[AuditFinding, ...]:
        """Return the findings of one class."""
        return tuple(finding for finding in self.findings if finding.fault is fault)

    def counting(self, *, allow: Iterable[str] = ()) -> tuple[AuditFinding, ...]:
        """Return the findings not named in `allow` (such as "slow", "false-reject/number-words").

        Raises UnknownNameError for a name that is neither a class nor a kind.
        """
        names = set(allow)
        check_names(names)
        return tuple(each for each in self.findings if not {each.fault.value, each.name} & names)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        fields = {name: getattr(self, name) for name in ("scorer", "call", "questions", "seed",
                                                        "threshold", "at_threshold")}  # fmt: skip
        findings = [finding.to_json() for finding in self.findings]
        return {**fields, "reads": list(self.read), "does_not_read": list(self.unread),
                "gave_up": self.gave_up, "clean": self.clean, "findings": findings}  # fmt: skip


def check_names(names: Iterable[str]) -> None:
    """Raise UnknownNameError for names that are no class or kind; any exception name is allowed."""
    allowed = {fault.value for fault in Fault}
    for kind in cases.every_kind():
        fault = Fault.FALSE_REJECT if kind.right else Fault.FALSE_ACCEPT
        allowed.add(f"{fault.value}/{kind.name.replace(' ', '-')}")
    for name in names:
        if name not in allowed and not name.startswith(FREELY_NAMED):
            raise UnknownNameError("class or kind of finding", name, allowed)


def audit(
    function: str | Callable[..., object] | Scorer,
    *,
    seed: int = 0,
    threshold: float = THRESHOLD,
    longest: int = LONG,
    show: Callable[[int, int, int], None] = lambda asked, total, hung: None,
) -> AuditReport:
    """Run the conformance suite over a scorer or reward function.

    function: "module:function", "file.py:function", a function at the top of a module, or a Scorer;
    it takes a completion and a gold and returns a bool or a number, which accepts from `threshold`
    on. It runs in its own child process, and a call with more than five seconds of computing or
    twenty of waiting is stopped. seed: draws some of the golds; the same seed gives the same
    questions. longest: characters of the longest hostile text. show: called with the number of
    questions so far, that of all, which is an estimate until the end, and that of texts that hung.

    Raises InputError if it cannot be imported or called, or accepts no plain right answer, and for
    a threshold that is not finite.
    """
    if not isfinite(threshold):
        raise InputError(f"the threshold is {threshold}; give a number, such as {THRESHOLD}")
    if isinstance(function, Scorer):
        name, published = function.name, f"{__name__}:published_scorer"
        called = UserFunction(published, argument=name, wall=LIBRARY_WAIT)
    else:
        called = UserFunction(function)
        name = called.name
    scorer = AuditedScorer(called, threshold, show)
    try:
        read = _formats_read(scorer, name)
        failures, tried = _try_cases(scorer, read, seed)
        more, counts = _try_as_trainers_call(scorer, read)
        failures, tried = failures + more, tried | counts
        slow: set[str] = set()  # of hostile texts: what took too long is not made longer
        for texts in cases.rounds(longest):
            texts = [text for text in texts if text.name not in slow]
            replies = scorer.replies([(text.text, GOLD) for text in texts])
            for text, reply in zip(texts, replies, strict=True):
                if failure := _trouble((text.text, GOLD), reply, text):
                    failures.append(failure)
                    slow |= {text.name} if failure.fault is Fault.SLOW else set()
        gave_up, questions = scorer.given_up, scorer.questions
        findings = _findings(failures, tried, questions, scorer)
        show(scorer.questions, scorer.questions, scorer.hangs)
    finally:
        called.stop()
    way = CALLS_IN_WORDS[scorer.call.way].format(name=scorer.call.name or "answer")
    call = f"{way}, {GOLDS_IN_WORDS[scorer.call.gold]}"
    call = "a scorer of gradeschool" if isinstance(function, Scorer) else call
    unread = tuple(form.shape for form in cases.FORMATS if form.shape not in read)
    return AuditReport(name, call, read, unread, scorer.questions, seed, findings, gave_up,
                       threshold, scorer.at_threshold)  # fmt: skip


class PublishedCodeError(Exception):
    """A built-in scorer has the outcome `error`, for the reason that the published code gives."""


def published_scorer(name: str) -> Callable[[str, str], bool]:
    """Return a built-in scorer as a function of completion and gold, for the child process."""
    scorer = get_usable_scorer(name)

    def accepts(completion: str, gold: str) -> bool:
        verdict = scorer.judge(completion, Problem.from_gold(gold))
        if verdict.outcome is Outcome.ERROR:
            raise PublishedCodeError(verdict.reason)
        return verdict.correct

    return accepts


Question = tuple[str, str]  # a completion, and the gold to judge it against
NOT_CALLED = CallResult()  # in place of replies of a scorer that hung or ended too often


@dataclass
class AuditedScorer:
    """A scorer with one way to call it; remembers its replies, and when to give up.

    returns_text: it returns the answer that it extracts, which is compared with the gold.
    """

    function: UserFunction
    threshold: float
    show: Callable[[int, int, int], None]
    call: Call = Call("pair")  # noqa: RUF009
    questions: int = 0
    hangs: int = 0
    ends: int = 0
    at_threshold: int = 0
    returns_text: bool = False
    _replies: dict[tuple[Question, Call], CallResult] = field(default_factory=dict)

    @property
    def given_up(self) -> bool:
        """True if it hung, or ended its process, too often to be called again."""
        return self.hangs >= MOST_HANGS or self.ends >= MOST_ENDS

    def accepts(self, reply: CallResult) -> bool:
        """Return whether a reply accepts the completion."""
        return reply.score is not None and reply.score >= self.threshold

    def replies(self, questions: Sequence[Question], again: bool = False) -> list[CallResult]:
        """Return the reply to each question; earlier replies are reused, unless `again`."""
        known = {} if again else self._replies
        new = [q for q in dict.fromkeys(questions) if (q, self.call) not in known]
        fresh: dict[Question, CallResult] = {}
        for start in range(0, len(new), BATCH):
            batch = new[start : start + BATCH]
            if self.given_up:
                fresh |= dict.fromkeys(batch, NOT_CALLED)
                continue
            replies = [self.function.reply(*question, None, self.call) for question in batch]
            self.returns_text |= any(reply.text for reply in replies)
            replies = [_read_reply(reply, question, self.returns_text)
                       for reply, question in zip(replies, batch, strict=True)]  # fmt: skip
            self.questions += len(replies)
            self.hangs += sum(reply.hung for reply in replies)
            self.ends += sum(reply.lost for reply in replies)
            fresh |= dict(zip(batch, replies, strict=True))
            self.show(self.questions, max(self.questions, USUAL_QUESTIONS), self.hangs)
        if not again:
            for question, reply in fresh.items():
                if reply is not NOT_CALLED and len(question[0]) < 10_000:
                    self._replies[question, self.call] = reply
        return [fresh[q] if q in fresh else self._replies[q, self.call] for q in questions]

    def reply(self, question: Question) -> CallResult:
        """Return the reply to one question, even if calls were given up before."""
        self.questions += 1
        reply = self.function.reply(*question, None, self.call)
        return _read_reply(reply, question, self.returns_text)


def _read_reply(reply: CallResult, question: Question, returns_text: bool) -> CallResult:
    """Return a reply as a verdict: a returned answer is compared with the gold.

    The error of a published scorer is given in its own words.
    """
    prefix = f"{PublishedCodeError.__name__}: "
    if reply.raised.startswith(prefix):
        return reply._replace(raised=reply.raised.removeprefix(prefix))
    if returns_text and (reply.text is not None or reply.shown == "None"):
        return reply._replace(score=float(bool(reply.text) and is_gold(reply.text, question[1])))
    return reply


def _formats_read(scorer: AuditedScorer, name: str) -> tuple[str, ...]:
    """Choose the way of calling that reads the most formats; return their shapes."""

    def reads(write: Callable[[str], str]) -> bool:
        replies = scorer.replies([(write(gold), gold) for gold in cases.PROBES])
        return sum(map(scorer.accepts, replies)) >= ENOUGH_GOLDS * len(cases.PROBES)

    tried = []
    for call in scorer.function.calls():
        scorer.call = call
        tried.append((tuple(form.shape for form in cases.FORMATS if reads(form.write)), call))
    best, scorer.call = max(tried, key=lambda result: len(result[0]))
    if not best:
        reply = scorer.reply((cases.HASHES.write(GOLD), GOLD))
        got = f"raises {reply.raised}" if reply.raised else f"gives {reply.shown}"
        advice = "" if reply.raised else ", or --threshold"
        raise InputError(
            f"{name!r} accepts no right answer in any of {len(cases.FORMATS)} formats: "
            f"called with {cases.HASHES.write(GOLD)!r} and the gold {GOLD!r} it {got}; "
            f"check its arguments{advice}"
        )
    return best


def _try_cases(
    scorer: AuditedScorer, read: tuple[str, ...], seed: int
) -> tuple[list[AuditFinding], dict[str, int]]:
    """Return the failures, and the number of cases of each kind that were tried."""
    every, failures, at_threshold = cases.suite(seed), list[AuditFinding](), 0
    plain = list(dict.fromkeys((case.base, case.gold) for case in every if case.base))
    accepted = {question for question, reply in zip(plain, scorer.replies(plain), strict=True)
                if scorer.accepts(reply)}  # fmt: skip
    judged = cases.due(every, read, accepted)
    questions = [(case.completion, case.gold) for case in judged]
    given = scorer.replies(questions)
    for case, question, reply in zip(judged, questions, given, strict=True):
        kind = case.kind
        if trouble := _trouble(question, reply):
            if not (kind.loose and trouble.fault in (Fault.CRASH, Fault.ODD_RETURN)):
                failures.append(replace(trouble, shapes=(case.shape,)))
            if trouble.fault is not Fault.ODD_RETURN:
                continue  # while a value that is no number rewards nothing
        if reply is not NOT_CALLED and scorer.accepts(reply) is not kind.right:
            fault = Fault.FALSE_REJECT if kind.right else Fault.FALSE_ACCEPT
            failures.append(AuditFinding(fault, kind.name, kind.why, *question, reply.shown,
                                         shapes=(case.shape,)))  # fmt: skip
            at_threshold += fault is Fault.FALSE_ACCEPT and reply.score == scorer.threshold
    if any(reply.score is not None and reply.score > scorer.threshold for reply in given):
        scorer.at_threshold = at_threshold
    # Repeat some questions in the opposite order: a verdict must depend on nothing else.
    some = list(zip(questions, given, strict=True))[::-ASKED_AGAIN]
    again = scorer.replies([question for question, _ in some], again=True)
    for (question, first), second in zip(some, again, strict=True):
        if NOT_CALLED in (first, second) or first.hung or second.hung:
            continue
        if (first.score, bool(first.raised)) != (second.score, bool(second.raised)):
            got = ", then ".join(f"raises {reply.raised[:60]}" if reply.raised else reply.shown
                                 for reply in (first, second))  # fmt: skip
            why = "the same question must get the same verdict"
            failures.append(AuditFinding(Fault.CHANGING, "asked twice", why, *question, got))
    counts = Counter(case.kind.name for case in judged)
    return failures, {kind.name: counts[kind.name] for kind in cases.every_kind()}


def _try_as_trainers_call(
    scorer: AuditedScorer, read: tuple[str, ...]
) -> tuple[list[AuditFinding], dict[str, int]]:
    """Ask plain questions again as trainers do; return the failures and the questions of each kind.

    In a second thread `signal.alarm` raises, and what a scorer keeps for each thread is empty. Of
    several completions in a list, each has its own gold and reward.
    """
    write, call = cases.BY_SHAPE[read[0]].write, scorer.call
    questions = [(write(gold), gold) for gold in cases.PROBES]
    questions.append((write(BEFORE[1]), GOLD))
    first, failures = scorer.replies(questions), []
    ways = [("in a second thread", call._replace(thread=True), WHY_OF_THREADS)]
    if call.way in ("batch", "chats", "openrlhf"):
        ways.append(("among other completions", call._replace(several=True), WHY_OF_SEVERAL))
    for kind, way, why in ways:
        scorer.call = way
        second = scorer.replies(questions)
        for question, here, there in zip(questions, first, second, strict=True):
            if NOT_CALLED not in (here, there) and not here.raised and here.score != there.score:
                fault = Fault.CRASH if there.raised else Fault.CHANGING
                fault = Fault.ODD_RETURN if there.score is None and not there.raised else fault
                got = f"{here.shown}, {kind} {there.raised or there.shown}"
                failures.append(AuditFinding(fault, kind, why, *question, got))
    scorer.call = call
    return failures, {kind: len(questions) for kind, *_ in ways}


def _trouble(
    question: Question, reply: CallResult, hostile: HostileText | None = None
) -> AuditFinding | None:
    """Return a failure that any question may show: an exception, a long wait, an odd value."""
    if reply is NOT_CALLED:
        return None
    length = len(question[0])
    if reply.hung or reply.seconds > max(SECONDS, SECONDS_PER_CHARACTER * length):
        slow = f"{reply.seconds:.1f} s of computing for {length:,} characters"
        got = why = f"stopped: {reply.raised} ({length:,} characters)" if reply.hung else slow
        usual = "hang" if reply.hung else "slow"
        fault, kind = Fault.SLOW, hostile.name if hostile else usual
    elif reply.raised:
        found = EXCEPTION.search(reply.raised)
        fault, kind = Fault.CRASH, found[1] if found else reply.raised[:60]
        why, got = "a text must not raise", reply.raised
    elif reply.score is None:
        fault, kind, got = Fault.ODD_RETURN, reply.shown[:20], reply.shown
        why = "a verdict is True, False or a finite number"
    else:
        return None
    return AuditFinding(fault, kind, why, *question, got, hostile=hostile)


def _findings(
    failures: Iterable[AuditFinding], tried: dict[str, int], questions: int, scorer: AuditedScorer
) -> tuple[AuditFinding, ...]:
    """Return one finding for each kind with its smallest example, worst first, then as tried."""
    groups: defaultdict[tuple[Fault, str], list[AuditFinding]] = defaultdict(list)
    for failure in failures:
        groups[failure.fault, failure.kind].append(failure)
    faults, kinds = list(Fault), list(tried)

    def rank(group: tuple[Fault, str]) -> tuple[int, int, str]:
        fault, kind = group
        return faults.index(fault), kinds.index(kind) if kind in kinds else len(kinds), kind

    findings = []
    for fault, kind in sorted(groups, key=rank):
        group = sorted(groups[fault, kind], key=lambda failure: failure.size)
        # The smallest of each shape that can be made smaller still; of the others, the smallest.
        by_shape = {each.hostile.name if each.hostile else "": each for each in reversed(group)}
        example, *_ = sorted(
            (_with_fewer_units(each, scorer)
             for each in sorted(by_shape.values(), key=lambda each: each.size)[:MOST_SHAPES]),
            key=lambda each: each.size,
        )  # fmt: skip
        shapes = tuple(dict.fromkeys(shape for each in group for shape in each.shapes))
        findings.append(replace(example, failed=len(group), tried=tried.get(kind, questions),
                                shapes=shapes))  # fmt: skip
    return tuple(findings)


def _with_fewer_units(failure: AuditFinding, scorer: AuditedScorer) -> AuditFinding:
    """Return the failure on the first text of 1, 2, 4, ... units that fails in the same way."""
    if (text := failure.hostile) is None:
        return failure
    for power in range(text.times.bit_length()):
        for after in dict.fromkeys(("", text.after)):
            shorter = text._replace(times=1 << power, after=after)
            question = (shorter.text, GOLD)
            other = _trouble(question, scorer.reply(question), shorter)
            if other and other.name == failure.name:
                return other
    return failure
