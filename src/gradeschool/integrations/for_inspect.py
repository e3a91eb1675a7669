"""Our tasks and scorers for inspect_ai, which finds them as `gradeschool/...` by the entry point.

`inspect eval gradeschool/gsm8k -T protocol=olmes/gsm8k-tulu` has the prompts, decoding and scorers
of the protocol; inspect decides what the protocol leaves open (temperature, length), and its
options on the command line override ours. `inspect score LOG --scorer gradeschool/reader`: in
inspect, a scorer's name has one prefix "gradeschool/"; "@" and "." in it, which inspect takes for
files, become ":" and "_": `inspect/match-numeric@<=0.3.220` is
`gradeschool/inspect/match-numeric:<=0_3_220`. Written against inspect_ai 0.3.285; 0.3.220, the
oldest that is tested, has no `Score.reason`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import anyio
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
)
from inspect_ai.scorer import Score, Target, accuracy, scorer, stderr
from inspect_ai.scorer import Scorer as InspectScorer
from inspect_ai.solver import TaskState, generate

from gradeschool.answers.failures import Failure, detect_answer_failure
from gradeschool.completion import CONTINUE, finish_of
from gradeschool.datasets.load import load_dataset
from gradeschool.errors import InputError
from gradeschool.problem import MARKER, Problem
from gradeschool.protocols import registry
from gradeschool.reports.export import INSPECT, VALUES, inspect_score_fields, inspect_scorer_name
from gradeschool.scorer import Outcome, Scorer

__all__ = ["SCORERS", "aime2025", "gsm8k", "numeric_equality"]

NUMERIC_EQUALITY = "numeric-equality"
# inspect's own words where it has them (inspect_ai.scorer.ScoreReason); other causes are ours.
REASONS = {
    Failure.NO_RESPONSE: "no_response",
    Failure.REFUSAL: "refusal",
    Failure.NO_NUMBER: "invalid_response_format",
}


def inspect_score(scorer: Scorer, state: TaskState, target: Target) -> Score:
    """Return a scorer's verdict on a sample as inspect's score.

    It is correct if it is correct for any of the targets, else incorrect or NOANSWER; a scorer
    failure, or no target that can be read, leaves the sample unscored (NaN). The reason is the
    cause of a miss; the explanation says what was extracted and where. The sample's metadata may
    have a "question" and a "solution".
    """
    text, facts = state.output.completion, state.metadata or {}
    question, solution = facts.get("question"), facts.get("solution")
    judged = []
    for gold in (each.strip() for each in list(target) or [""]):
        problem = Problem(
            id=str(state.sample_id),
            question=question if isinstance(question, str) else state.input_text,
            gold=gold,
            solution=solution if isinstance(solution, str) else f"{MARKER} {gold}",
        )
        judged.append((scorer.judge(text, problem), problem))
    verdict, problem = min(judged, key=lambda pair: list(VALUES).index(pair[0].outcome))
    cause, reason = None, "scoring_failed" if verdict.outcome is Outcome.ERROR else None
    if verdict.outcome in (Outcome.WRONG, Outcome.NO_ANSWER):
        finish = finish_of(state.output.stop_reason)
        cause = detect_answer_failure(text, problem.gold, finish, problem.question)
        reason = REASONS.get(cause, cause.value) if cause else None
    fields = inspect_score_fields(verdict, cause.value if cause else "")
    if reason is not None and "reason" in Score.model_fields:
        fields["reason"] = reason
    return Score(**fields)


def _scorer_for(published: str, name: str) -> Callable[..., InspectScorer]:
    @scorer(metrics=[accuracy(), stderr()], name=name)
    def for_scorer() -> InspectScorer:
        chosen = registry.get_usable_scorer(published)

        async def score(state: TaskState, target: Target) -> Score:
            if chosen.extra:  # runs in another process; must not block the event loop
                return await anyio.to_thread.run_sync(inspect_score, chosen, state, target)
            return inspect_score(chosen, state, target)

        return score

    factory: Callable[..., InspectScorer] = for_scorer
    return factory


SCORERS = {
    name: _scorer_for(name, inspect_scorer_name(name).removeprefix(INSPECT))
    for name in registry.all_scorers()
}
numeric_equality = _scorer_for(NUMERIC_EQUALITY, "numeric_equality")
TURNS = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
# inspect_evals 0.26.0, src/inspect_evals/aime2025/aime2025.py
AIME = "hf:math-ai/aime25@563bb8404243c5f09de6ec262f2db674fe5bce9b"


@task
def gsm8k(
    protocol: str = "inspect/gsm8k", dataset: str = "gsm8k", scorers: str | list[str] = ""
) -> Task:
    """GSM8K under a named protocol.

    protocol: a chat protocol from `gradeschool protocols list`. dataset: a name or file as for `-d`
    ("sample" needs no download). scorers: names; by default those of the protocol.
    """
    return _task(protocol, dataset, scorers)


@task
def aime2025(
    protocol: str = "inspect/aime2025",
    dataset: str = AIME,
    scorers: str | list[str] = NUMERIC_EQUALITY,
) -> Task:
    """AIME 2025, scored by numeric equality: 711 is not 11, 149 is not 49.

    Replaces inspect_evals/aime2025. dataset: a name or file as for `-d`, such as one with the
    columns id, problem and answer; by default math-ai/aime25 at the revision of inspect_evals.
    """
    return _task(protocol, dataset, scorers)


def _task(name: str, dataset: str, scorers: str | Sequence[str]) -> Task:
    protocol, problems = registry.get_protocol(name), load_dataset(dataset).problems
    if not protocol.is_chat:
        chat = [protocol.name for protocol in registry.all_protocols().values() if protocol.is_chat]
        raise InputError(f"{name!r} is not a chat protocol; give one of {', '.join(chat)}")
    examples = load_dataset(protocol.shots).problems if protocol.shots else ()
    prompts = list(protocol.render(problems, examples))
    samples = []
    for problem, prompt in zip(problems, prompts, strict=True):
        turns: list[ChatMessage] = [
            TURNS[turn["role"]](content=turn["content"]) for turn in prompt.as_messages()
        ]
        facts = {"question": problem.question, "solution": problem.solution}
        samples.append(Sample(id=problem.id, input=turns, target=problem.gold, metadata=facts))
    decoding = protocol.decoding
    options: dict[str, Any] = {  # None leaves a setting to the provider
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "max_tokens": decoding.max_tokens,
        "stop_seqs": list(decoding.stop) or None,
        "seed": decoding.seed,
        "extra_body": CONTINUE if any(prompt.prefix for prompt in prompts) else None,
    }
    listed = scorers or list(protocol.scorers)
    names = listed.split(",") if isinstance(listed, str) else listed
    return Task(
        dataset=MemoryDataset(samples, name=name),
        solver=generate(),
        scorer=[SCORERS[registry.get_scorer(each.strip()).name]() for each in names],
        config=GenerateConfig(**options),
        version=protocol.digest(),
        metadata={"protocol": name, "protocol_digest": protocol.digest()},
    )
