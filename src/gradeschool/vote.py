"""A vote: one verdict from all samples of a problem, counted as a harness counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gradeschool.errors import InputError
from gradeschool.problem import Problem
from gradeschool.scorer import clip
from gradeschool.verdict import Answer, Outcome, Verdict


@dataclass(frozen=True, slots=True)
class Vote:
    """The rule by which a published protocol combines the samples of a problem.

    name: `harness/task/filter`. voters: number of samples that vote, from the first. ballot: the
    string that a completion's text votes for. nothing: the ballot of a text without an answer, a
    candidate like any other. reference: the value that the winner is compared with. compare:
    (winner, reference) -> equal under the protocol. In a tie, the candidate that occurs first
    wins.
    """

    name: str
    summary: str
    source: str
    voters: int
    ballot: Callable[[str], str]
    nothing: str
    reference: Callable[[Problem], str]
    compare: Callable[[str, str], bool]

    def judge(self, texts: Sequence[str], problem: Problem) -> Verdict:
        """Return the verdict on a problem's samples, in order; those after `voters` are ignored.

        Raises InputError if there are fewer samples than voters, as the harnesses do.
        """
        if len(texts) < self.voters:
            raise InputError(
                f"{self.name!r} counts {self.voters} samples of a problem, but problem "
                f"{problem.id!r} has {len(texts)}; sample more, or use a vote over fewer"
            )
        counted = Counter(map(self.ballot, texts[: self.voters]))
        winner, ballots = counted.most_common(1)[0]
        how = f"{ballots} of {self.voters} votes"
        if winner == self.nothing:
            return Verdict(self.name, Outcome.NO_ANSWER, None, f"{how}: no answer was read")
        reference = self.reference(problem)
        right = self.compare(winner, reference)
        relation = "matches" if right else "is not"
        reason = f"{how}: {clip(winner)!r} {relation} {clip(reference)!r}"
        outcome = Outcome.CORRECT if right else Outcome.WRONG
        return Verdict(self.name, outcome, Answer(winner, winner, None, how), reason)
