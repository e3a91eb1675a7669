"""Files of OpenAI, HELM and lighteval: one row for each request, event or problem.

OpenAI's Batch API: `{"custom_id", "response": {"status_code", "body"}, "error"}`. OpenAI's example
solutions: a row for each problem, with a solution of each system. OpenAI evals: a log of events,
`{"run_id", "event_id", "sample_id", "type", "data"}`, between its specification and final report.
HELM's `scenario_state.json`: `{"instance", "request", "result"}`. lighteval's details in Parquet:
`{"doc", "model_response", "metric"}`, before version 0.10 `{"example", "full_prompt",
"predictions", "gold", "metrics"}`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gradeschool.completion import finish_of
from gradeschool.formats.samples import UNNAMED, UNNUMBERED, Reference, Sample, faulty
from gradeschool.formats.settings import mapping
from gradeschool.formats.tables import LARGEST_LITERAL, LISTS, Row
from gradeschool.formats.values import (
    finish_reasons,
    is_response,
    message_of,
    parse_flag,
    question_texts,
    shown,
    texts_of,
)

SAMPLE = re.compile(r"[-_:/# ]+sample[-_:/# ]?(\d{1,9})\Z")


def is_batch(fields: Mapping[str, object]) -> bool:
    """Return whether a row is a line of batch output."""
    return "custom_id" in fields and ("response" in fields or "error" in fields)


def batch(row: Row, default_run: str) -> Iterator[Sample]:
    """Yield the choices of one request.

    `custom_id` identifies the problem: its id or "...-INDEX", then "-sample-N" for several samples.
    """
    if not is_batch(row.fields):
        yield faulty(row.number, UNNAMED, "is not a line of batch output")
        return
    name = row.fields["custom_id"]
    name = name if isinstance(name, str) else shown(name)
    match = SAMPLE.search(name)
    reference = Reference(id=name[: match.start()] if match else name)
    first = int(match[1]) if match else UNNUMBERED
    response = mapping(row.fields.get("response"))
    body, status = mapping(response.get("body")), response.get("status_code")
    error = row.fields.get("error") or body.get("error")
    if error or status not in (None, 200):
        failure = message_of(error) or f"status {shown(status)}"
        yield Sample(row.number, UNNAMED, "", reference, first, error=failure)
        return
    choices = body.get("choices")
    replies = choices if isinstance(choices, list) else [body] if is_response(body) else []
    if not replies:
        yield faulty(row.number, UNNAMED, "has a response without 'choices'")
    run = _name(body, default_run)
    for index, reply in enumerate(replies):
        texts = texts_of(reply)
        if texts is None:
            yield faulty(row.number, run, f"has a choice without a text (choice {index})")
            continue
        sample = first if len(replies) == 1 else max(first, 0) + index
        finish = finish_of(next(iter(finish_reasons(reply)), None))
        yield Sample(row.number, run, texts[0], reference, sample, finish, model=run)


def is_openai_solutions(fields: Mapping[str, object]) -> bool:
    """Return whether a row contains solutions of several systems and their ground truth."""
    return "ground_truth" in fields and any(
        isinstance(mapping(value).get("solution"), str) for value in fields.values()
    )


def openai_solutions(row: Row, default_run: str) -> Iterator[Sample]:
    """Yield the solution of each system; the system's name is the run."""
    question = row.fields.get("question")
    reference = Reference(question=question if isinstance(question, str) else "")
    for system, value in row.fields.items():
        text = mapping(value).get("solution")
        if isinstance(text, str):
            flag = parse_flag(value.get("is_correct"))
            yield Sample(row.number, system, text, reference, sample=0, flag=flag)


def is_evals(fields: Mapping[str, object]) -> bool:
    """Return whether a row is of a log of OpenAI evals."""
    return "base_eval" in mapping(fields.get("spec")) or (
        {"run_id", "event_id", "sample_id", "type", "data"} <= fields.keys()
    )


def evals_event(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return which events of a log have the texts: "match", with golds and flags, or "sampling"."""
    matches = (mapping(each.get("data")) for each in rows if each.get("type") == "match")
    has_texts = any("sampled" in data and "prompt" in data for data in matches)
    return "match" if has_texts else "sampling"


def evals(row: Row, default_run: str, event: str) -> Iterator[Sample]:
    """Yield the texts of an event; other rows have none."""
    if row.fields.get("type") != event:
        return
    data = mapping(row.fields.get("data"))
    texts, asked = texts_of(data.get("sampled")), question_texts(data.get("prompt"))
    if not texts or not asked:
        yield faulty(row.number, UNNAMED, "has no 'sampled' text or no prompt")
        return
    reference = Reference(question=asked[-1], gold=data.get("expected"), turns=asked[:-1])
    flag = parse_flag(data.get("correct")) if len(texts) == 1 else None
    for index, text in enumerate(texts):
        sample = UNNUMBERED if len(texts) == 1 else index
        yield Sample(row.number, default_run, text, reference, sample, flag=flag)


def is_helm(fields: Mapping[str, object]) -> bool:
    """Return whether a row is a request state of HELM."""
    instance, result = mapping(fields.get("instance")), mapping(fields.get("result"))
    return "request" in fields and "input" in instance and "completions" in result


def helm(row: Row, default_run: str) -> Iterator[Sample]:
    """Yield the completions of one request; the model is the run."""
    instance, result = mapping(row.fields.get("instance")), mapping(row.fields.get("result"))
    question = mapping(instance.get("input")).get("text")
    run = _name(mapping(row.fields.get("request")), default_run)
    if not isinstance(question, str):
        yield faulty(row.number, run, "has no text in 'instance.input'")
        return
    reference = Reference(question=question, gold=instance.get("references"))
    if result.get("success") is False:
        failure = message_of(result.get("error")) or "request failed"
        yield Sample(row.number, run, "", reference, error=failure, model=run)
        return
    completions = _listed(result.get("completions"))
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
    flag = parse_flag(scores[0]) if len(scores) == 1 and len(texts) == 1 else None
    for index, text in enumerate(texts):
        sample = UNNUMBERED if len(texts) == 1 else index
        reference = Reference(question=question, gold=gold)
        yield Sample(row.number, default_run, str(text), reference, sample, flag=flag)


def _name(fields: Mapping[str, Any], default_run: str) -> str:
    model = fields.get("model")
    return model if isinstance(model, str) and model else default_run


def _listed(value: Any) -> list[Any]:
    """Return a list; lighteval's first versions write it as Python prints it."""
    if isinstance(value, str) and value[:2] in LISTS and len(value) <= LARGEST_LITERAL:
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return [value]
    return value if isinstance(value, list) else [] if value is None else [value]
