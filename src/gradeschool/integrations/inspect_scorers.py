"""Every scorer as a scorer of inspect_ai: `inspect score LOG --scorer gradeschool/reader`.

In inspect, a scorer's name has one prefix "gradeschool/"; "@" and "." in it, which inspect takes
for files, become ":" and "_": `inspect/match-numeric@<=0.3.220` is
`gradeschool/inspect/match-numeric:<=0_3_220`. Written against inspect_ai 0.3.285; 0.3.220, the
oldest that is tested, has no `Score.reason`.
"""

from collections.abc import Callable
from typing import Any

import anyio
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    NOANSWER,
    Score,
    Target,
    accuracy,
    scorer,
    stderr,
)
from inspect_ai.scorer import (
    Scorer as InspectScorer,
)
from inspect_ai.solver import TaskState

from gradeschool.answers.failures import Failure, detect_answer_failure
from gradeschool.completion import finish_of
from gradeschool.problem import MARKER, Problem
from gradeschool.protocols.registry import all_scorers, get_usable_scorer
from gradeschool.scorer import DEFAULT_SCORER, Scorer
from gradeschool.verdict import Outcome, Verdict

NUMERIC_EQUALITY = "numeric-equality"
OWN = "gradeschool/"
VALUES = {
    Outcome.CORRECT: CORRECT,
    Outcome.WRONG: INCORRECT,
    Outcome.NO_ANSWER: NOANSWER,
    Outcome.ERROR: float("nan"),
}
# Of the verdicts on several targets, the first of these counts.
PREFERENCE = (Outcome.CORRECT, Outcome.WRONG, Outcome.NO_ANSWER, Outcome.ERROR)
# inspect's own words where it has them (inspect_ai.scorer.ScoreReason); other causes are ours.
REASONS = {
    Failure.NO_RESPONSE: "no_response",
    Failure.REFUSAL: "refusal",
    Failure.NO_NUMBER: "invalid_response_format",
}
SCORING_FAILED = "scoring_failed"


def scorer_name(name: str) -> str:
    """Return a scorer's name in inspect, without the prefix "gradeschool/"."""
    return name.removeprefix(OWN).replace("@", ":").replace(".", "_")


def score_of(scorer: Scorer, state: TaskState, target: Target) -> Score:
    """Return a scorer's verdict on a sample as inspect's score.

    It is correct if it is correct for any of the targets, else incorrect or NOANSWER; a scorer
    failure, or no target that can be read, leaves the sample unscored (NaN). The reason is the
    cause of a miss; the explanation says what was extracted and where.
    """
    text = state.output.completion
    problems = [problem_of(state, gold) for gold in list(target) or [""]]
    judged = [(scorer.judge(text, problem), problem) for problem in problems]
    verdict, problem = min(judged, key=lambda pair: PREFERENCE.index(pair[0].outcome))
    cause = None
    if verdict.outcome in (Outcome.WRONG, Outcome.NO_ANSWER):
        finish = finish_of(state.output.stop_reason)
        cause = detect_answer_failure(text, problem.gold, finish, problem.question)
    return Score(
        value=VALUES[verdict.outcome],
        answer=verdict.answer.value if verdict.answer else None,
        explanation=verdict.reason if cause is None else f"{verdict.reason} ({cause.value})",
        metadata={"scorer": scorer.name, "outcome": verdict.outcome.value, **_span(verdict)},
        **_reason(verdict, cause),
    )


def problem_of(state: TaskState, gold: str) -> Problem:
    """Return the problem of a sample; its metadata may have a "question" and a "solution"."""
    facts: dict[str, Any] = state.metadata or {}
    question, solution = facts.get("question"), facts.get("solution")
    return Problem(
        id=str(state.sample_id),
        question=question if isinstance(question, str) else state.input_text,
        gold=gold.strip(),
        solution=solution if isinstance(solution, str) else f"{MARKER} {gold.strip()}",
    )


def _span(verdict: Verdict) -> dict[str, list[int]]:
    has_span = verdict.answer is not None and verdict.answer.span is not None
    return {"span": list(verdict.answer.span)} if has_span else {}  # type: ignore[union-attr,arg-type]


def _reason(verdict: Verdict, cause: Failure | None) -> dict[str, str]:
    if "reason" not in Score.model_fields:
        return {}
    if verdict.outcome is Outcome.ERROR:
        return {"reason": SCORING_FAILED}
    return {} if cause is None else {"reason": REASONS.get(cause, cause.value)}


def _scoring(name: str) -> InspectScorer:
    chosen = get_usable_scorer(name)

    async def score(state: TaskState, target: Target) -> Score:
        if chosen.extra:  # runs in another process; waiting for it must not block the event loop
            return await anyio.to_thread.run_sync(score_of, chosen, state, target)
        return score_of(chosen, state, target)

    return score


def _scorer_for(published: str, name: str) -> Callable[..., InspectScorer]:
    @scorer(metrics=[accuracy(), stderr()], name=name)
    def for_scorer() -> InspectScorer:
        return _scoring(published)

    factory: Callable[..., InspectScorer] = for_scorer
    return factory


SCORERS = {name: _scorer_for(name, scorer_name(name)) for name in all_scorers()}
numeric_equality = _scorer_for(NUMERIC_EQUALITY, "numeric_equality")


@scorer(metrics=[accuracy(), stderr()], name="scorer")
def named_scorer(scorer: str = DEFAULT_SCORER) -> InspectScorer:
    """Score by a named scorer: `--scorer gradeschool/scorer -S scorer=openai/2021`."""
    return _scoring(scorer)
