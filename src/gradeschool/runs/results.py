"""The results of a run: results.json, and the answers files of published scripts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gradeschool.completion import Completion
from gradeschool.datasets.platinum import disputed
from gradeschool.formats.own_run import COMPLETIONS_FILE, RESULTS_FILE, fingerprint, slug
from gradeschool.formats.samples import Sample
from gradeschool.models.base import Request
from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_usable_scorer
from gradeschool.runs.plan import RunPlan
from gradeschool.runs.store import RunStore
from gradeschool.scoring.causes import count_headline_causes, label_changes
from gradeschool.scoring.samples import Run
from gradeschool.scoring.score import RunScore, score_table
from gradeschool.scoring.table import ScoredTable, ScorerSet

if TYPE_CHECKING:
    from gradeschool.runs.cost import Budget
    from gradeschool.scoring.at_k import AtK


class WrittenResults(NamedTuple):
    """The score of the stored completions, and the curve over k by the headline scorer.

    errors: failed samples by cause, the most frequent first. deviations: completions by how the
    server deviated from the request (see `Completion`).
    """

    score: RunScore
    curve: tuple[AtK, ...]
    errors: Mapping[str, int]
    deviations: Mapping[str, int]


def scorers_of(plan: RunPlan) -> ScorerSet:
    """Return the scorers of a protocol, ready for use; raises MissingExtraError."""
    return ScorerSet([get_usable_scorer(name) for name in plan.protocol.scorers])


def write_results(
    plan: RunPlan,
    name: str,
    store: RunStore,
    requests: Sequence[Request],
    scorers: ScorerSet,
    *,
    budget: Budget | None = None,
    seconds: float = 0.0,
) -> WrittenResults:
    """Score the stored completions; write results.json and the protocol's answers file.

    name: of the run, for people. scorers: see `scorers_of`. seconds: duration of this session.
    """
    run = run_for_scoring(name, requests, store.completions)
    score, curve, fields = summarise(
        run, scorers, requests, store.completions, plan.dataset.problems
    )
    fields["seconds"] = round(seconds, 3)
    if budget is not None:
        fields["cost"] = {"dollars": round(budget.cost, 6), "price": list(budget.price)}
    fields["completions_file"] = fingerprint(store.folder / COMPLETIONS_FILE)
    store.write_json(RESULTS_FILE, fields)
    if plan.protocol.answers_file:
        file, body = answers_file(plan.protocol.answers_file, name, requests, store.completions)
        store.write_file(file, body)
    return WrittenResults(score, tuple(curve), fields["errors"], fields["deviations"])


def run_for_scoring(
    name: str, requests: Sequence[Request], completions: Mapping[str, Completion]
) -> Run:
    """Return the samples of a run for scoring, without unanswered requests."""
    samples = []
    for row, request in enumerate(requests, start=1):
        completion = completions.get(request.key)
        if completion is not None:
            samples.append(
                Sample(
                    row,
                    text=completion.text,
                    sample=request.sample,
                    finish=completion.finish,
                    error=completion.error,
                    problem=request.problem,
                )
            )
    return Run(name, samples)


def summarise(
    run: Run,
    scorers: ScorerSet,
    requests: Sequence[Request],
    completions: Mapping[str, Completion],
    dataset: Sequence[Problem],
) -> tuple[RunScore, list[AtK], dict[str, Any]]:
    """Return the score, the curve over k of the headline scorer, and the fields of results.json.

    scorers: of the protocol, the headline first; they cache verdicts. The curve is empty for one
    sample per problem. `failures` counts the causes under the headline scorer, like `gradeschool
    explain`; `answered_by` counts the model names in replies.
    """
    table = ScoredTable(run, scorers)
    score = score_table(table)
    at_k: list[AtK] = []
    if any(request.sample for request in requests):
        from gradeschool.scoring.at_k import ballots_of, curve

        at_k = curve(ballots_of(table))
    changes = label_changes(run, disputed(dataset, run.problems()))
    rows = [completions[request.key] for request in requests if request.key in completions]
    answers = [completion for completion in rows if not completion.error]
    fields = {
        **score.as_json(),
        "at_k": [point.as_json() for point in at_k],
        "requested": len(requests),
        "failed": len(rows) - len(answers),
        "missing": len(requests) - len(rows),
        "truncated": score.forms.truncated if score.forms else 0,
        "empty": score.forms.empty if score.forms else 0,
        "failures": count_headline_causes(table, changes),
        "errors": dict(Counter(row.cause for row in rows if row.error).most_common()),
        "answered_by": dict(Counter(answer.model for answer in answers if answer.model)),
        "deviations": dict(Counter(text for completion in rows for text in completion.deviations)),
        "prompt_tokens": sum(answer.usage.prompt_tokens or 0 for answer in answers),
        "completion_tokens": sum(answer.usage.completion_tokens or 0 for answer in answers),
    }
    return score, at_k, fields


def answers_file(
    template: str, model: str, requests: Sequence[Request], completions: Mapping[str, Completion]
) -> tuple[str, bytes]:
    """Return the name and content of the answers file of a published script.

    Rows `{"question_id": "0001", "question", "answer"}`, one for each answered problem.
    """
    rows = []
    ids = dict.fromkeys(request.problem.id for request in requests)
    places = {id: place for place, id in enumerate(ids)}
    for request in requests:
        completion = completions.get(request.key)
        if request.sample == 0 and completion is not None and not completion.error:
            number = request.problem.id
            row = {
                "question_id": number.zfill(4) if number.isdecimal() else f"{places[number]:04d}",
                "question": request.problem.question,
                "answer": completion.text.strip(),
            }
            rows.append(json.dumps(row))
    return template.replace("{model}", slug(model)), "".join(f"{row}\n" for row in rows).encode()
