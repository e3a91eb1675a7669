"""Rows of OpenAI, HELM and lighteval as plain rows, with the columns of `columns.PLAIN_ROWS`.

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
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradeschool.formats.settings import mapping
from gradeschool.formats.tables import LARGEST_LITERAL, LISTS
from gradeschool.formats.values import is_response, message_of, parse_flag, shown

Fields = Mapping[str, Any]
EVALS = "OpenAI evals log"
SAMPLE = re.compile(r"[-_:/# ]+sample[-_:/# ]?(\d{1,9})\Z")


# OpenAI's Batch API


def batch(fields: Fields) -> list[Fields]:
    """Return one row with the choices of a request.

    `custom_id` identifies the problem: its id or "...-INDEX", then "-sample-N" for several samples.
    """
    name, response = fields.get("custom_id"), mapping(fields.get("response"))
    name = name if isinstance(name, str) else shown(name)
    match = SAMPLE.search(name)
    body, status = mapping(response.get("body")), response.get("status_code")
    error = message_of(fields.get("error") or body.get("error"))
    if not error and status not in (None, 200):
        error = f"status {shown(status)}"
    return [{
        "id": name[: match.start()] if match else name,
        "sample": match[1] if match else None,
        "run": body.get("model"),
        "error": error,
        "response": None if error else body if is_response(body) else body.get("choices"),
    }]  # fmt: skip


# OpenAI's example solutions


def openai_solutions(fields: Fields) -> list[Fields]:
    """Return a row for the solution of each system; the system's name is the run."""
    return [
        {"question": fields.get("question"), "run": system, "sample": 0,
         "response": value["solution"], "flag": value.get("is_correct")}
        for system, value in fields.items() if isinstance(mapping(value).get("solution"), str)
    ]  # fmt: skip


# OpenAI evals


def evals_event(rows: Sequence[Fields]) -> str:
    """Return which events of a log have the texts: "match", with golds and flags, or "sampling"."""
    matches = (mapping(each.get("data")) for each in rows if each.get("type") == "match")
    has_texts = any("sampled" in data and "prompt" in data for data in matches)
    return "match" if has_texts else "sampling"


def evals(fields: Fields, event: str, first: dict[Any, Any]) -> list[Fields]:
    """Return the row of an event; other rows of a log have no texts.

    first: the first such event of each sample, which is added. A later one is that of a judge.
    """
    data = mapping(fields.get("data"))
    if fields.get("type") != event:
        return []
    number = shown(fields.get("event_id"))
    return [] if first.setdefault(shown(fields.get("sample_id")), number) != number else [{
        "question": data.get("prompt"), "response": data.get("sampled"),
        "gold": data.get("expected"), "flag": data.get("correct"),
    }]  # fmt: skip


# HELM


def helm(fields: Fields) -> list[Fields]:
    """Return one row with the completions of a request; the model is the run."""
    instance, result = mapping(fields.get("instance")), mapping(fields.get("result"))
    completions = [
        {"text": mapping(each).get("text"),
         "finish_reason": mapping(mapping(each).get("finish_reason")).get("reason")}
        for each in _listed(result.get("completions"))
    ]  # fmt: skip
    failed = result.get("success") is False
    model = mapping(fields.get("request")).get("model")
    if perturbation := mapping(instance.get("perturbation")).get("name"):
        model = f"{model} ({perturbation})"
    return [{
        "question": mapping(instance.get("input")).get("text"),
        "gold": instance.get("references"),
        "run": model,
        "response": None if failed else completions,
        "error": (message_of(result.get("error")) or "request failed") if failed else None,
    }]  # fmt: skip


# lighteval


def lighteval(fields: Fields) -> list[Fields]:
    """Return one row with the completions of a document."""
    doc = mapping(fields.get("doc"))
    if doc:
        question, choices = doc.get("query"), _listed(doc.get("choices"))
        index = next(iter(_listed(doc.get("gold_index"))), 0)
        gold = choices[index] if isinstance(index, int) and -1 < index < len(choices) else None
        texts = _listed(mapping(fields.get("model_response")).get("text"))
    else:
        question, texts = fields.get("example"), _listed(fields.get("predictions"))
        gold = next(iter(_listed(fields.get("gold"))), None)
    scores = list(mapping(fields.get("metric", fields.get("metrics"))).values())
    flag = parse_flag(scores[0]) if len(scores) == 1 else None
    return [{"question": question, "gold": gold, "response": texts, "flag": flag}]


def _listed(value: Any) -> list[Any]:
    """Return a list; lighteval's first versions write it as Python prints it."""
    if isinstance(value, str) and value[:2] in LISTS and len(value) <= LARGEST_LITERAL:
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return [value]
    return value if isinstance(value, list) else [] if value is None else [value]


# Recognised by the fields of the first row; the plain rows of a row, None for a log of evals.
SIGNATURES: tuple[tuple[str, Callable[[Fields], bool], Any], ...] = (
    ("OpenAI's example solutions", lambda row: "ground_truth" in row and any(
        isinstance(mapping(value).get("solution"), str) for value in row.values()),
     openai_solutions),
    ("OpenAI batch output", lambda row: "custom_id" in row and bool({"response", "error"} & {*row}),
     batch),
    (EVALS, lambda row: "base_eval" in mapping(row.get("spec"))
     or {"run_id", "event_id", "sample_id", "type", "data"} <= {*row}, None),
    ("HELM scenario state", lambda row: "request" in row and "input" in mapping(row.get("instance"))
     and "completions" in mapping(row.get("result")), helm),
    ("lighteval details", lambda row: {"example", "full_prompt", "predictions", "gold"} <= {*row}
     or ("query" in mapping(row.get("doc")) and "model_response" in row), lighteval),
)  # fmt: skip
