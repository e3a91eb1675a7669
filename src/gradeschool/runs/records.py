"""Completions as JSON lines and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gradeschool.completion import Completion, Finish, Usage
from gradeschool.errors import ModelError
from gradeschool.models.base import Reply, Request

SCHEMA = 1


def completed(request: Request, reply: Reply, run: str) -> Completion:
    """Return the completion that a reply is."""
    return Completion(
        key=request.key,
        problem_id=request.problem.id,
        sample=request.sample,
        text=reply.text,
        finish=reply.finish,
        usage=reply.usage,
        model=reply.model,
        reasoning=reply.reasoning,
        run=run,
        deviations=reply.deviations,
        requests=reply.requests,
    )


def failed(request: Request, error: ModelError, run: str) -> Completion:
    """Return the completion that says why there is none."""
    return Completion(
        key=request.key,
        problem_id=request.problem.id,
        sample=request.sample,
        text="",
        finish=Finish.UNKNOWN,
        error=f"{error.cause}: {error}",
        run=run,
    )


def to_line(completion: Completion, question: str) -> bytes:
    """Return one line of JSON in ASCII: it holds every string, lone surrogates included."""
    fields = {
        "schema": SCHEMA,
        "key": completion.key,
        "problem_id": completion.problem_id,
        "question": question,
        "sample": completion.sample,
        "run": completion.run,
        "model": completion.model,
        "completion": completion.text,
        "finish": completion.finish.value,
        "reasoning": completion.reasoning,
        "prompt_tokens": completion.usage.prompt_tokens,
        "completion_tokens": completion.usage.completion_tokens,
        **({} if completion.requests == 1 else {"requests": completion.requests}),
        "error": completion.error,
        "deviations": list(completion.deviations),
    }
    return json.dumps(fields).encode() + b"\n"


def from_fields(fields: Mapping[str, Any]) -> Completion | None:
    """Return the completion of a parsed line, None where it is not one of ours."""
    key, problem_id, sample = (fields.get(name) for name in ("key", "problem_id", "sample"))
    text = fields.get("completion")
    if not (isinstance(key, str) and isinstance(problem_id, str) and isinstance(text, str)):
        return None
    if isinstance(sample, bool) or not isinstance(sample, int):
        return None
    known = {finish.value for finish in Finish}
    finish = fields.get("finish")
    return Completion(
        key=key,
        problem_id=problem_id,
        sample=sample,
        text=text,
        finish=Finish(finish) if finish in known else Finish.UNKNOWN,
        usage=Usage(fields.get("prompt_tokens"), fields.get("completion_tokens")),
        model=str(fields.get("model") or ""),
        reasoning=str(fields.get("reasoning") or ""),
        error=str(fields.get("error") or ""),
        run=str(fields.get("run") or ""),
        deviations=tuple(map(str, fields.get("deviations") or ())),
        requests=_count(fields.get("requests")),
    )


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 1
