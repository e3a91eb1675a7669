"""Output of the OpenAI Batch API: `{"custom_id", "response": {"status_code", "body"}, "error"}`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gradeschool.recordings.recorded import Recorded, Reference, faulty, finish_of, text_of
from gradeschool.tables import Row


def is_batch(fields: Mapping[str, object]) -> bool:
    """Tell whether a row is a line of batch output."""
    return "custom_id" in fields and ("response" in fields or "error" in fields)


def batch(row: Row, default_run: str) -> Iterator[Recorded]:
    """Yield the choices of one request; `custom_id` names the problem (its id, or "...-INDEX")."""
    fields = row.fields
    reference = Reference(id=str(fields["custom_id"]))
    response = fields.get("response")
    body = response.get("body") if isinstance(response, Mapping) else None
    choices = body.get("choices") if isinstance(body, Mapping) else None
    error = fields.get("error") or (isinstance(body, Mapping) and body.get("error"))
    if error or (isinstance(response, Mapping) and response.get("status_code") != 200):
        yield Recorded(row.number, default_run, reference, "", error=_message(error))
        return
    if not isinstance(body, Mapping) or not isinstance(choices, list) or not choices:
        yield faulty(row.number, default_run, "has a response without 'choices'")
        return
    model = str(body.get("model") or default_run)
    for sample, choice in enumerate(choices):
        message = choice.get("message") if isinstance(choice, Mapping) else None
        content = message.get("content") if isinstance(message, Mapping) else None
        if content is None and isinstance(choice, Mapping):
            content = choice.get("text")
        yield Recorded(
            row=row.number,
            run=model,
            reference=reference,
            text=text_of(content) or "",
            sample=sample if len(choices) > 1 else None,
            finish=finish_of(choice.get("finish_reason") if isinstance(choice, Mapping) else None),
            model=model,
        )


def _message(error: Any) -> str:
    if isinstance(error, Mapping):
        return str(error.get("message") or error.get("code") or "request failed")
    return str(error or "request failed")
