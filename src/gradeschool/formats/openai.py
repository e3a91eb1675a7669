"""OpenAI's files: output of the Batch API, and the published solutions of its paper.

Batch: `{"custom_id", "response": {"status_code", "body"}, "error"}`, one row per request.
Solutions: `example_model_solutions.jsonl`, one row per problem with a solution of each system.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gradeschool.completion import finish_of
from gradeschool.formats.samples import (
    UNNAMED,
    FileSample,
    Reference,
    faulty,
    shown,
    text_of,
)
from gradeschool.formats.settings import mapping
from gradeschool.formats.tables import Row

SAMPLE = re.compile(r"[-_:/# ]+sample[-_:/# ]?(\d{1,9})\Z")


def is_batch(fields: Mapping[str, object]) -> bool:
    """Return whether a row is a line of batch output."""
    return "custom_id" in fields and ("response" in fields or "error" in fields)


def batch(row: Row, default_run: str) -> Iterator[FileSample]:
    """Yield the choices of one request.

    `custom_id` identifies the problem: its id or "...-INDEX", then "-sample-N" for several samples.
    """
    reference, first = _reference(row.fields["custom_id"])
    response = mapping(row.fields.get("response"))
    body, status = mapping(response.get("body")), response.get("status_code")
    error = row.fields.get("error") or body.get("error")
    if error or status not in (None, 200):
        failure = _message(error) or f"status {shown(status)}"
        yield FileSample(row.number, UNNAMED, reference, "", first, error=failure)
        return
    texts = _texts(body)
    if not texts:
        yield faulty(row.number, UNNAMED, "has a response without 'choices'")
        return
    model = body.get("model")
    run = model if isinstance(model, str) and model else default_run
    for index, (text, finish) in enumerate(texts):
        if text is None:
            yield faulty(row.number, run, f"has a choice without a text (choice {index})")
            continue
        sample = first if len(texts) == 1 else (first or 0) + index
        yield FileSample(row.number, run, reference, text, sample, finish_of(finish), model=run)


def _reference(custom_id: object) -> tuple[Reference, int | None]:
    name = custom_id if isinstance(custom_id, str) else shown(custom_id)
    match = SAMPLE.search(name)
    if match is None:
        return Reference(id=name), None
    return Reference(id=name[: match.start()]), int(match.group(1))


def _texts(body: Mapping[str, Any]) -> list[tuple[str | None, object]]:
    """Return the text and finish reason of each choice, or of the Responses API's one output."""
    choices = body.get("choices")
    if isinstance(choices, list):
        return [_choice(choice) for choice in choices]
    output = body.get("output")
    if not isinstance(output, list):
        return []
    messages = [item for item in output if isinstance(item, Mapping)]
    turns = [text_of(item.get("content")) for item in messages if item.get("type") == "message"]
    reason = mapping(body.get("incomplete_details")).get("reason")
    return [("".join(turn for turn in turns if turn), reason or body.get("status"))]


def _choice(choice: Any) -> tuple[str | None, object]:
    """Return a choice's text, "" for a message whose content is null (a refusal, a tool call)."""
    if not isinstance(choice, Mapping):
        return None, None
    message = choice.get("message")
    text = text_of(choice.get("text"))
    if isinstance(message, Mapping):
        content = message.get("content")
        text = "" if content is None else text_of(content)
    return text, choice.get("finish_reason")


def _message(error: Any) -> str:
    if isinstance(error, Mapping):
        error = error.get("message") or error.get("code") or "request failed"
    return error if isinstance(error, str) or not error else shown(error)


def is_openai_solutions(fields: Mapping[str, object]) -> bool:
    """Return whether a row contains solutions of several systems and their ground truth."""
    return "ground_truth" in fields and any(_solutions(fields))


def openai_solutions(row: Row) -> Iterator[FileSample]:
    """Yield the solution of each system; the system's name is the run."""
    question = row.fields.get("question")
    reference = Reference(question=question if isinstance(question, str) else "")
    for system, text in _solutions(row.fields):
        yield FileSample(row.number, system, reference, text, sample=0)


def _solutions(fields: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        text = mapping(value).get("solution")
        if isinstance(text, str):
            yield name, text
