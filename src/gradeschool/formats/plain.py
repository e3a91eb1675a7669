"""Plain rows: a problem, a text, and perhaps the name of a run and the number of a sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gradeschool.formats.samples import (
    UNNAMED,
    FileSample,
    Reference,
    faulty,
    finish_of,
    first_of,
    shown,
    text_of,
    whole_number,
)
from gradeschool.formats.tables import Row
from gradeschool.scorer import clip

# "answer" comes last: beside another of these it is the data's own answer and no model's.
TEXT_FIELDS = ("completion", "output", "response", "completions", "responses", "answer")
PROBLEM_FIELDS = ("index", "id", "question_id", "problem_id", "question")
RUN_FIELDS = ("run", "model")
NAME_COLUMNS = "; or name them: --columns question=COLUMN,response=COLUMN"
GOLD_FIELDS = ("gold", "ground_truth", "target", "answer")


def plain(row: Row, default_run: str) -> Iterator[FileSample]:
    """Yield the completions of a row: one, or one for each text where it holds a list."""
    fields = row.fields
    named = first_of(fields, RUN_FIELDS) or UNNAMED
    run = named if isinstance(named, str) else shown(named)
    error = _error(fields.get("error"))
    texts = _texts(first_of(fields, TEXT_FIELDS)) or ([""] if error else [])
    reference, fault = _reference(row)
    if fault or not texts:
        yield faulty(row.number, run, fault or _without_text(row))
        return
    sample, model = whole_number(fields.get("sample")), fields.get("model")
    for index, text in enumerate(texts):
        yield FileSample(
            row=row.number,
            run=run or default_run,
            reference=reference,
            text=text,
            sample=sample if len(texts) == 1 else (sample or 0) + index,
            finish=finish_of(first_of(fields, ("finish", "finish_reason"))),
            error=error,
            model=model if isinstance(model, str) else "",
        )


def _texts(content: object) -> list[str]:
    """Return the completions that a field holds: one, those of a list, or none."""
    if isinstance(content, list) and all(isinstance(text, str) for text in content):
        return content
    text = text_of(content)
    return [] if text is None else [text]


def _error(value: object) -> str:
    if isinstance(value, str):
        return value
    # A missing value is NaN in tables that pandas wrote.
    return shown(value) if value and value == value else ""


def _without_text(row: Row) -> str:
    for name in TEXT_FIELDS:
        value = row.fields.get(name)
        if value is not None:
            return f"has no text: its {name!r} is {shown(value)}; give a string"
    names = " or ".join(map(repr, ("completion", "output", "response", "answer")))
    return f"has no text; its columns are {_columns(row)}, one must be {names}{NAME_COLUMNS}"


def _columns(row: Row) -> str:
    return clip(", ".join(map(repr, row.fields)), 200) or "none"


def _reference(row: Row) -> tuple[Reference, str]:
    fields = row.fields
    index = fields.get("index")
    position = whole_number(index)
    if index is not None and position is None:
        return Reference(), f"has the index {shown(index)}, which is no whole number"
    id = first_of(fields, ("id", "question_id", "problem_id"))
    question = fields.get("question")
    if index is None and id is None and not isinstance(question, str):
        names = " or ".join(map(repr, PROBLEM_FIELDS))
        columns = f"its columns are {_columns(row)}, one must be {names}"
        return Reference(), f"names no problem; {columns}{NAME_COLUMNS}"
    return Reference(
        position=position,
        id=id if isinstance(id, str) or id is None else shown(id),
        question=question if isinstance(question, str) else None,
        gold=_gold(fields),
    ), ""


def _gold(fields: Mapping[str, Any]) -> str | None:
    """Return the row's own gold; "answer" is one where another field holds the text."""
    value = first_of(fields, GOLD_FIELDS)
    if value is None or first_of(fields, TEXT_FIELDS) is value:
        return None
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None
