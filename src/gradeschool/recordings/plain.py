"""Plain rows: a problem, a text, and perhaps the name of a run and the number of a sample."""

from __future__ import annotations

from collections.abc import Iterator

from gradeschool.recordings.recorded import (
    Recorded,
    Reference,
    faulty,
    finish_of,
    first_of,
    text_of,
    whole_number,
)
from gradeschool.tables import Row

TEXT_FIELDS = ("completion", "answer", "output", "response", "completions", "responses")
PROBLEM_FIELDS = ("index", "id", "question_id", "problem_id", "question")
RUN_FIELDS = ("run", "model")


def plain(row: Row, default_run: str) -> Iterator[Recorded]:
    """Yield the completions of a row: one, or one for each text where it holds a list."""
    fields = row.fields
    run = str(first_of(fields, RUN_FIELDS) or default_run)
    content = first_of(fields, TEXT_FIELDS)
    error = str(fields.get("error") or "")
    if content is None and error:
        content = ""
    texts = content if _is_list_of_texts(content) else [text_of(content)]
    reference, fault = _reference(row)
    if not fault and None in texts:
        names = " or ".join(map(repr, TEXT_FIELDS[:4]))
        fault = f"has no text; its columns are {_columns(row)}, one must be {names}"
    if fault:
        yield faulty(row.number, run, fault)
        return
    sample = whole_number(fields.get("sample"))
    for at, text in enumerate(texts):
        yield Recorded(
            row=row.number,
            run=run,
            reference=reference,
            text=text,
            sample=sample if len(texts) == 1 else (sample or 0) + at,
            finish=finish_of(first_of(fields, ("finish", "finish_reason"))),
            error=error,
            model=str(fields.get("model") or ""),
        )


def _is_list_of_texts(content: object) -> bool:
    return isinstance(content, list) and all(isinstance(text, str) for text in content)


def _columns(row: Row) -> str:
    return ", ".join(map(repr, row.fields)) or "none"


def _reference(row: Row) -> tuple[Reference, str]:
    fields = row.fields
    index = fields.get("index")
    position = whole_number(index)
    if index is not None and position is None:
        return Reference(), f"has the index {index!r}, which is no whole number"
    id = first_of(fields, ("id", "question_id", "problem_id"))
    question = fields.get("question")
    if index is None and id is None and not isinstance(question, str):
        names = " or ".join(map(repr, PROBLEM_FIELDS))
        return (
            Reference(),
            f"names no problem; its columns are {_columns(row)}, one must be {names}",
        )
    return Reference(
        position=position,
        id=None if id is None else str(id),
        question=question if isinstance(question, str) else None,
    ), ""
