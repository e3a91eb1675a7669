"""Calls the audited scorer in a child process, which is killed if a call takes too long."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from gradeschool.auditing.child import DESCRIBE, OWN_SCORER, TIMED_OUT
from gradeschool.auditing.target import Call, Target
from gradeschool.errors import InputError
from gradeschool.worker import FOREIGN_LINE, Child, ProcessLost, WorkerFailure

BATCH = 64
MOST_HANGS = 12  # after that the scorer is no longer called: each hang costs seconds
MOST_ENDS = 100  # of its process, likewise: each costs a new process


class Question(NamedTuple):
    """A completion, and the gold to judge it against."""

    completion: str
    gold: str


class ScorerReply(NamedTuple):
    """The scorer's result: a finite `score`, or None with the reason.

    shown: the value as printed. raised: the exception, or how the process ended. hung: the call was
    stopped. seconds: computing time. given_up: the scorer was not called.
    """

    score: float | None = None
    shown: str = ""
    raised: str = ""
    hung: bool = False
    seconds: float = 0.0
    given_up: bool = False


class AuditedScorer:
    """One scorer with one way to call it."""

    def __init__(self, target: Target, threshold: float) -> None:
        self.target = target
        self.threshold = threshold
        self.call = Call("pair")
        self.questions = 0
        self.hangs = 0
        self.ends = 0
        self._child = Child()
        self._replies: dict[tuple[Question, Call], ScorerReply] = {}

    def __enter__(self) -> AuditedScorer:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.stop()

    def calls(self) -> list[Call]:
        """Return the ways to call it. Raises InputError if it cannot be imported or called."""
        (answer,) = self._child.answers(self.target.worker_function, [("", "", DESCRIBE)])
        if isinstance(answer, WorkerFailure):
            reason = str(answer).rpartition("cannot be used: ")[2]
            raise InputError(f"{self.target.name!r} cannot be called: {reason}")
        try:
            return [Call(*way) for way in answer["calls"]]
        except (TypeError, LookupError):
            raise InputError(f"{self.target.name!r} cannot be called: {FOREIGN_LINE}") from None

    def accepts(self, reply: ScorerReply) -> bool:
        """Return whether a reply accepts the completion."""
        return reply.score is not None and reply.score >= self.threshold

    @property
    def given_up(self) -> bool:
        """True if it hung, or ended its process, too often to be called again."""
        return self.hangs >= MOST_HANGS or self.ends >= MOST_ENDS

    def replies(self, questions: Sequence[Question], again: bool = False) -> list[ScorerReply]:
        """Return the reply to each question; earlier replies are reused, unless `again`."""
        new = [
            question
            for question in dict.fromkeys(questions)
            if again or (question, self.call) not in self._replies
        ]
        fresh: dict[Question, ScorerReply] = {}
        for start in range(0, len(new), BATCH):
            fresh |= self._batch(new[start : start + BATCH])
        if not again:
            self._replies |= {
                (question, self.call): reply
                for question, reply in fresh.items()
                if not reply.given_up and len(question.completion) < 10_000
            }
        return [
            fresh[question] if question in fresh else self._replies[question, self.call]
            for question in questions
        ]

    def reply(self, question: Question) -> ScorerReply:
        """Return the reply to one question, even if calls were given up before."""
        hangs, ends = self.hangs, self.ends
        self.hangs = self.ends = 0
        (reply,) = self.replies([question])
        self.hangs, self.ends = hangs, ends
        return reply

    def _batch(self, questions: Sequence[Question]) -> dict[Question, ScorerReply]:
        if self.given_up:
            return dict.fromkeys(questions, ScorerReply(given_up=True))
        call = json.dumps(self.call)
        rows = [(*question, call) for question in questions]
        answers = self._child.answers(self.target.worker_function, rows)
        replies = [_reply(answer) for answer in answers]
        self.questions += len(replies)
        self.hangs += sum(reply.hung for reply in replies)
        self.ends += sum(isinstance(answer, ProcessLost) for answer in answers)
        return dict(zip(questions, replies, strict=True))


def _reply(answer: Any) -> ScorerReply:
    if isinstance(answer, WorkerFailure):
        return ScorerReply(raised=str(answer), hung=str(answer).startswith(TIMED_OUT))
    match answer:
        case {"raised": str(raised), "seconds": float(seconds)}:
            own = raised.startswith(OWN_SCORER)
            raised = raised.removeprefix(OWN_SCORER)
            return ScorerReply(raised=raised, hung=own and TIMED_OUT in raised, seconds=seconds)
        case {"score": float() | None as score, "shown": str(shown), "seconds": float(seconds)}:
            return ScorerReply(score, shown, seconds=seconds)
    return ScorerReply(raised=FOREIGN_LINE)
