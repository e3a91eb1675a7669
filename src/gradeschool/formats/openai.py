"""OpenAI's files: output of the Batch API, and the published solutions of its paper.

Batch: `{"custom_id", "response": {"status_code", "body"}, "error"}`, one row per request.
Solutions: `example_model_solutions.jsonl`, one row per problem with a solution of each system.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gradeschool.completion import finish_of
from gradeschool.formats.columns import finishes_of, is_response, texts_of
from gradeschool.formats.samples import (
    UNNAMED,
    UNNUMBERED,
    Reference,
    Sample,
    faulty,
    flag_of,
    shown,
)
from gradeschool.formats.settings import mapping
from gradeschool.formats.tables import Row

SAMPLE = re.compile(r"[-_:/# ]+sample[-_:/# ]?(\d{1,9})\Z")


def is_batch(fields: Mapping[str, object]) -> bool:
    """Return whether a row is a line of batch output."""
    return "custom_id" in fields and ("response" in fields or "error" in fields)


def batch(row: Row, default_run: str) -> Iterator[Sample]:
    """Yield the choices of one request.

    `custom_id` identifies the problem: its id or "...-INDEX", then "-sample-N" for several samples.
    """
    reference, first = _reference(row.fields["custom_id"])
    response = mapping(row.fields.get("response"))
    body, status = mapping(response.get("body")), response.get("status_code")
    error = row.fields.get("error") or body.get("error")
    if error or status not in (None, 200):
        failure = _message(error) or f"status {shown(status)}"
        yield Sample(row.number, UNNAMED, "", reference, first, error=failure)
        return
    choices = body.get("choices")
    replies = choices if isinstance(choices, list) else [body] if is_response(body) else []
    if not replies:
        yield faulty(row.number, UNNAMED, "has a response without 'choices'")
        return
    model = body.get("model")
    run = model if isinstance(model, str) and model else default_run
    for index, reply in enumerate(replies):
        texts = texts_of(reply)
        if texts is None:
            yield faulty(row.number, run, f"has a choice without a text (choice {index})")
            continue
        sample = first if len(replies) == 1 else max(first, 0) + index
        finish = finish_of(next(iter(finishes_of(reply)), None))
        yield Sample(row.number, run, texts[0], reference, sample, finish, model=run)


def _reference(custom_id: object) -> tuple[Reference, int]:
    name = custom_id if isinstance(custom_id, str) else shown(custom_id)
    match = SAMPLE.search(name)
    if match is None:
        return Reference(id=name), UNNUMBERED
    return Reference(id=name[: match.start()]), int(match.group(1))


def _message(error: Any) -> str:
    if isinstance(error, Mapping):
        error = error.get("message") or error.get("code") or "request failed"
    return error if isinstance(error, str) or not error else shown(error)


def is_openai_solutions(fields: Mapping[str, object]) -> bool:
    """Return whether a row contains solutions of several systems and their ground truth."""
    return "ground_truth" in fields and any(_solutions(fields))


def openai_solutions(row: Row) -> Iterator[Sample]:
    """Yield the solution of each system; the system's name is the run."""
    question = row.fields.get("question")
    reference = Reference(question=question if isinstance(question, str) else "")
    for system, text in _solutions(row.fields):
        flag = flag_of(mapping(row.fields[system]).get("is_correct"))
        yield Sample(row.number, system, text, reference, sample=0, flag=flag)


def _solutions(fields: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        text = mapping(value).get("solution")
        if isinstance(text, str):
            yield name, text
