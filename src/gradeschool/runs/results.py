"""What a run folder says at the end: results.json, and files that published scripts write."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gradeschool.completion import Completion, Finish
from gradeschool.models.base import Request
from gradeschool.scorer import Scorer
from gradeschool.scoring.at_k import AtK, ballots_of, curve
from gradeschool.scoring.causes import explain_verdict, view
from gradeschool.scoring.samples import Run, Sample
from gradeschool.scoring.score import RunScore, score_table
from gradeschool.scoring.table import ScoredTable, ScorerSet

UNSAFE = re.compile(r"[^A-Za-z0-9._@=+-]+")


def slug(name: str) -> str:
    """Return a name as part of a file name: other characters become "_", at most 80 remain."""
    return UNSAFE.sub("_", name).strip("._")[:80] or "unnamed"


def run_of(name: str, requests: Sequence[Request], completions: Mapping[str, Completion]) -> Run:
    """Return the samples of a run for scoring; requests that are not answered are left out."""
    samples = []
    for row, request in enumerate(requests, start=1):
        completion = completions.get(request.key)
        if completion is not None:
            text, error = completion.text, completion.error
            samples.append(
                Sample(request.problem, request.sample, text, error, row, completion.finish)
            )
    return Run(name, samples)


def summarise(
    run: Run,
    scorers: ScorerSet,
    requests: Sequence[Request],
    completions: Mapping[str, Completion],
    right: Collection[str] = (),
) -> tuple[RunScore, list[AtK], dict[str, Any]]:
    """Return the score, the curve over k of the headline scorer, and the fields of results.json.

    scorers: the protocol's, the headline first; they remember texts that they judged before.
    right: keys that the headline scorer is known to find right. The curve is empty for one sample a
    problem. `failures` counts why the headline scorer's misses are misses; `answered_by` how often
    which model said that it answered.
    """
    table = ScoredTable(run, scorers)
    score = score_table(table)
    several = any(request.sample for request in requests)
    at_k = curve(ballots_of(table)) if several else []
    done = [completions[request.key] for request in requests if request.key in completions]
    answers = [completion for completion in done if not completion.error]
    fields = {
        **score.as_json(),
        "at_k": [one.as_json() for one in at_k],
        "requested": len(requests),
        "failed": len(done) - len(answers),
        "missing": len(requests) - len(done),
        "truncated": sum(completion.finish is Finish.LENGTH for completion in done),
        "empty": sum(not completion.text.strip() for completion in answers),
        "failures": _failures(run, scorers.scorers[0], done, right),
        "errors": dict(Counter(_cause(completion) for completion in done if completion.error)),
        "answered_by": dict(Counter(one.model for one in answers if one.model)),
        "deviations": dict(Counter(word for completion in done for word in completion.deviations)),
        "prompt_tokens": sum(one.usage.prompt_tokens or 0 for one in answers),
        "completion_tokens": sum(one.usage.completion_tokens or 0 for one in answers),
    }
    return score, at_k, fields


def _cause(completion: Completion) -> str:
    return completion.error.partition(":")[0]


def _failures(
    run: Run, headline: Scorer, done: Sequence[Completion], right: Collection[str]
) -> dict[str, int]:
    causes: Counter[str] = Counter()
    for sample, completion in zip(run.samples, done, strict=True):
        if sample.problem is None or sample.error or completion.key in right:
            continue
        verdict = headline.judge(sample.text, sample.problem)
        if not verdict.correct:
            seen = view(sample.text, sample.problem, completion.finish, {})
            causes[str(explain_verdict(seen, verdict))] += 1
    return dict(causes.most_common())


def answers_file(
    template: str, model: str, requests: Sequence[Request], completions: Mapping[str, Completion]
) -> tuple[str, bytes]:
    """Return the name and content of the answers file that a published script writes.

    Rows `{"question_id": "0001", "question", "answer"}`, one for each answered problem.
    """
    rows = []
    for at, request in enumerate(requests):
        completion = completions.get(request.key)
        if request.sample == 0 and completion is not None and not completion.error:
            number = request.problem.id
            row = {
                "question_id": number.zfill(4) if number.isdecimal() else f"{at:04d}",
                "question": request.problem.question,
                "answer": completion.text.strip(),
            }
            rows.append(json.dumps(row))
    return template.replace("{model}", slug(model)), "".join(f"{row}\n" for row in rows).encode()
