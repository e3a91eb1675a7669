"""What a run folder says at the end: results.json, and files that published scripts write."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from gradeschool.answers.failures import detect_answer_failure
from gradeschool.completion import Completion, Finish
from gradeschool.models.base import Request
from gradeschool.rule import Rule
from gradeschool.scoring.collect import Run, Sample
from gradeschool.scoring.score import RunScore, score_run

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
            samples.append(Sample(request.problem, request.sample, text, error, row))
    return Run(name, samples)


def summarise(
    run: Run,
    rules: Sequence[Rule],
    requests: Sequence[Request],
    completions: Mapping[str, Completion],
    seconds: float,
) -> tuple[RunScore, dict[str, Any]]:
    """Return the score and the fields of results.json.

    `failures` counts why the headline rule's misses are misses; `seconds` is the time of the last
    session alone.
    """
    score = score_run(run, rules)
    done = [completions[request.key] for request in requests if request.key in completions]
    usages = [completion.usage for completion in done if not completion.error]
    return score, {
        **score.as_json(),
        "requested": len(requests),
        "failed": sum(bool(completion.error) for completion in done),
        "missing": len(requests) - len(done),
        "truncated": sum(completion.finish is Finish.LENGTH for completion in done),
        "empty": sum(not completion.text.strip() and not completion.error for completion in done),
        "failures": _failures(
            run, rules, {id(s): c for s, c in zip(run.samples, done, strict=True)}
        ),
        "errors": dict(Counter(_cause(completion) for completion in done if completion.error)),
        "deviations": dict(Counter(word for completion in done for word in completion.deviations)),
        "prompt_tokens": sum(usage.prompt_tokens or 0 for usage in usages),
        "completion_tokens": sum(usage.completion_tokens or 0 for usage in usages),
        "seconds": round(seconds, 3),
    }


def _cause(completion: Completion) -> str:
    return completion.error.partition(":")[0]


def _failures(
    run: Run, rules: Sequence[Rule], completion_of: Mapping[int, Completion]
) -> dict[str, int]:
    causes: Counter[str] = Counter()
    headline = rules[0]
    for sample in run.samples:
        if sample.problem is None or sample.error:
            continue
        if headline.judge(sample.text, sample.problem).correct:
            continue
        finish = completion_of[id(sample)].finish.value
        cause = detect_answer_failure(sample.text, sample.problem.gold, finish)
        causes[cause.value if cause else "format missing"] += 1
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
