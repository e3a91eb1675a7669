"""Plain rows: a problem, a text, and perhaps the name of a run and the number of a sample."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from gradeschool.completion import Finish, finish_of
from gradeschool.formats.samples import (
    UNNAMED,
    WORDY,
    Reference,
    Sample,
    error_of,
    faulty,
    first_of,
    gold_in,
    sample_number,
    shown,
    text_of,
    whole_number,
)
from gradeschool.formats.tables import RUN_FIELDS, Row
from gradeschool.problem import MARKER
from gradeschool.scorer import clip

# "answer" comes last: beside another of these it is the dataset's answer, not the model's.
TEXT_FIELDS = ("completion", "output", "response", "completions", "responses", "answer")
PROBLEM_FIELDS = ("index", "id", "question_id", "problem_id", "question")
ERROR_FIELDS = ("error", "error_message", "exception")
FINISH_FIELDS = ("finish", "finish_reason", "stop_reason")
SEPARATORS = re.compile(r"[^0-9a-z.]+")
NAME_COLUMNS = "; or name them: --columns question=COLUMN,response=COLUMN"
GOLD_FIELDS = ("gold", "ground_truth", "target", "answer")


class NamedColumns(NamedTuple):
    """The columns of a row that have these roles, the first with a value counts."""

    run: tuple[str, ...]
    error: tuple[str, ...]
    finish: tuple[str, ...]


@lru_cache(maxsize=256)
def columns_of(names: tuple[str, ...]) -> NamedColumns:
    """Return the columns among these names by role; capitals and separators do not matter."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(plain_name(name), []).append(name)
    return NamedColumns(*(
        tuple(name for field in fields for name in alike.get(field, ()))
        for fields in (RUN_FIELDS, ERROR_FIELDS, FINISH_FIELDS)
    ))  # fmt: skip


def plain_name(name: str) -> str:
    """Return a column's name in lower case, with "_" for every other character."""
    return SEPARATORS.sub("_", str(name).lower()).strip("_").replace(".", "_")


def run_name(value: object) -> str:
    """Return the name of a run or model in a field, "" for none."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and (inner := first_of(value, ("name", "id"))) is not None:
        return run_name(inner)
    if isinstance(value, bool) or value is None or value != value:
        return ""
    number = whole_number(value)
    return shown(value) if number is None else str(number)


def plain(row: Row, default_run: str, prompts: bool = False) -> list[Sample]:
    """Return the completions of a row: one, or one for each text in a list.

    prompts: a prompt names the problem too, if the row has no question.
    """
    fields = row.fields
    names = columns_of(tuple(fields))
    run = UNNAMED
    for name in names.run:  # a generator takes twice the time
        if run := run_name(fields[name]):
            break
    content = first_of(fields, TEXT_FIELDS)
    texts = [content] if isinstance(content, str) else _texts(content)
    error = error_of(first_of(fields, names.error), bool(texts)) if names.error else ""
    if error and not texts:
        texts = [""]
    reference, fault = _reference(fields, content, prompts)
    if fault or not texts:
        return [faulty(row.number, run, fault or _without_text(fields))]
    sample, model = sample_number(fields.get("sample")), fields.get("model")
    finish = first_of(fields, names.finish)
    first = Sample(
        row.number,
        run or default_run,
        texts[0],
        reference,
        sample,
        Finish.UNKNOWN if finish is None else finish_of(finish),
        error,
        model=model if isinstance(model, str) else "",
    )
    if len(texts) == 1:
        return [first]
    return [
        first._replace(text=text, sample=max(sample, 0) + index) for index, text in enumerate(texts)
    ]


def _texts(content: object) -> list[str]:
    """Return the completions in a field: one, those of a list, or none."""
    if isinstance(content, list) and all(isinstance(text, str) for text in content):
        return content
    if isinstance(content, list) and all(_is_output(text) for text in content):
        return [output["text"] for output in content]
    text = text_of(content)
    return [] if text is None else [text]


def _is_output(value: object) -> bool:
    """Return whether a value is one of several completions; parts of one message have types."""
    return isinstance(value, Mapping) and "type" not in value and isinstance(value.get("text"), str)


def _without_text(fields: Mapping[str, Any]) -> str:
    present = [name for name in TEXT_FIELDS if name in fields]
    if present:
        name = next((name for name in present if fields[name] is not None), present[0])
        value = "null" if fields[name] is None else shown(fields[name])
        return f"has no text: its {name!r} is {value}; give a string"
    names = " or ".join(map(repr, ("completion", "output", "response", "answer")))
    return f"has no text; its columns are {_columns(fields)}, one must be {names}{NAME_COLUMNS}"


def _columns(fields: Mapping[str, Any]) -> str:
    return clip(", ".join(map(repr, fields)), 200) or "none"


def _reference(fields: Mapping[str, Any], content: object, prompts: bool) -> tuple[Reference, str]:
    """Return how a row identifies its problem, and what is wrong with that; content: its text."""
    index = fields.get("index")
    position = None if index is None else whole_number(index)
    if index is not None and position is None:
        return Reference(), f"has the index {shown(index)}, which is not a whole number"
    id = first_of(fields, ("id", "question_id", "problem_id"))
    question = fields.get("question")
    if prompts and question is None:
        question = fields.get("prompt")
    if not isinstance(question, str):
        question = None
    if index is None and id is None and question is None:
        names = " or ".join(map(repr, PROBLEM_FIELDS))
        columns = f"its columns are {_columns(fields)}, one must be {names}"
        return Reference(), f"names no problem; {columns}{NAME_COLUMNS}"
    if id is not None and not isinstance(id, str):
        number = whole_number(id)  # pandas writes 3.0 where an id is missing
        id = shown(id if number is None else number)
    gold = first_of(fields, GOLD_FIELDS)  # "answer" is the gold if another field has the text
    if gold is not None and (gold is content or isinstance(gold, bool) or gold == ""):
        gold = None
    if isinstance(gold, str):
        gold = gold_in(gold) if MARKER not in gold and WORDY.search(gold) else gold
    elif gold is not None:
        gold = gold_in(gold)
    return Reference(position, id, question, gold=gold), ""
