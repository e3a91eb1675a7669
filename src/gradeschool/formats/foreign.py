"""Files of OpenAI, HELM and lighteval: one row for each request or problem.

OpenAI's Batch API: `{"custom_id", "response": {"status_code", "body"}, "error"}`. OpenAI's example
solutions: a row for each problem, with a solution of each system. HELM's `scenario_state.json`:
`{"instance", "request", "result"}`. lighteval's details in Parquet: `{"doc", "model_response",
"metric"}`, before version 0.10 `{"example", "full_prompt", "predictions", "gold", "metrics"}`.
"""

from __future__ import annotations

import ast
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
from gradeschool.formats.tables import LARGEST_LITERAL, LISTS, Row

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


def is_helm(fields: Mapping[str, object]) -> bool:
    """Return whether a row is a request state of HELM."""
    return "input" in mapping(fields["instance"]) and "completions" in mapping(fields["result"])


def helm(row: Row, default_run: str) -> Iterator[Sample]:
    """Yield the completions of one request; the model is the run."""
    instance, result = mapping(row.fields.get("instance")), mapping(row.fields.get("result"))
    question = mapping(instance.get("input")).get("text")
    model = mapping(row.fields.get("request")).get("model")
    run = model if isinstance(model, str) and model else default_run
    if not isinstance(question, str):
        yield faulty(row.number, run, "has no text in 'instance.input'")
        return
    reference = Reference(question=question, gold=instance.get("references"))
    if result.get("success") is False:
        failure = _message(result.get("error")) or "request failed"
        yield Sample(row.number, run, "", reference, error=failure, model=run)
        return
    completions = result.get("completions")
    completions = completions if isinstance(completions, list) else []
    if not completions:
        yield faulty(row.number, run, "has no completion")
    for index, completion in enumerate(completions):
        text = mapping(completion).get("text")
        sample = UNNUMBERED if len(completions) == 1 else index
        if not isinstance(text, str):
            yield faulty(row.number, run, f"has the completion {shown(completion)}; give a text")
            continue
        finish = finish_of(mapping(mapping(completion).get("finish_reason")).get("reason"))
        yield Sample(row.number, run, text, reference, sample, finish, model=run)


def is_lighteval(fields: Mapping[str, object]) -> bool:
    """Return whether a row is a detail of lighteval, as its first versions write it or the last."""
    new = "query" in mapping(fields.get("doc")) and "model_response" in fields
    return new or {"example", "full_prompt", "predictions", "gold"} <= fields.keys()


def lighteval(row: Row, default_run: str) -> Iterator[Sample]:
    """Yield the completions of one document."""
    fields, doc = row.fields, mapping(row.fields.get("doc"))
    if doc:
        question, choices = doc.get("query"), _listed(doc.get("choices"))
        index = next(iter(_listed(doc.get("gold_index"))), 0)
        gold = choices[index] if isinstance(index, int) and -1 < index < len(choices) else None
        texts = _listed(mapping(fields.get("model_response")).get("text"))
    else:
        question, texts = fields.get("example"), _listed(fields.get("predictions"))
        gold = next(iter(_listed(fields.get("gold"))), None)
    if not isinstance(question, str) or not texts:
        yield faulty(row.number, default_run, "has no question or no text")
        return
    scores = list(mapping(fields.get("metric", fields.get("metrics"))).values())
    flag = flag_of(scores[0]) if len(scores) == 1 and len(texts) == 1 else None
    for index, text in enumerate(texts):
        sample = UNNUMBERED if len(texts) == 1 else index
        reference = Reference(question=question, gold=gold)
        yield Sample(row.number, default_run, str(text), reference, sample, flag=flag)


def _listed(value: Any) -> list[Any]:
    """Return a list; lighteval's first versions write it as Python prints it."""
    if isinstance(value, str) and value[:2] in LISTS and len(value) <= LARGEST_LITERAL:
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return [value]
    return value if isinstance(value, list) else [] if value is None else [value]
