"""`*_samples.jsonl` of Every Eval Ever (schema 0.3): one row for each sample, or several outputs.

A file may hold the rows of several results (scorers) over the same outputs: those of the first are
read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gradeschool.formats.samples import (
    FileSample,
    Reference,
    faulty,
    finish_of,
    shown,
    whole_number,
)
from gradeschool.tables import Row

SAMPLES = "_samples.jsonl"
RESULT_FIELDS = ("evaluation_result_id", "evaluation_name")


def is_every_eval_ever(fields: Mapping[str, object]) -> bool:
    """Tell whether a row is an instance of Every Eval Ever."""
    named = "evaluation_id" in fields  # cheaper, and asked of every row of any file
    return named and {"model_id", "sample_id", "interaction_type"} <= fields.keys()


class EveryEvalEverSamples:
    """Reads rows in order; `result` is the first row's, once that has been seen."""

    def __init__(self, path: Path) -> None:
        self.run = _model_beside(path)
        self.result: tuple[object, ...] | None = None

    def read(self, row: Row) -> Iterator[FileSample]:
        """Yield the outputs of a row of the file's first result."""
        fields = row.fields
        result = tuple(fields.get(name) for name in RESULT_FIELDS)
        self.result = self.result or result
        if result != self.result:
            return
        run = self.run or str(fields["model_id"])
        facts = _mapping(fields.get("metadata"))
        sample = whole_number(facts.get("sample"))
        reference = _reference(fields)
        outputs = _mapping(fields.get("output")).get("raw")
        texts = outputs if isinstance(outputs, list) else []
        if not texts and fields.get("error"):
            yield FileSample(row.number, run, reference, "", sample, error=str(fields["error"]))
        elif not texts:
            yield faulty(row.number, run, "has no 'raw' text in its 'output'")
        finish = finish_of(facts.get("finish"))
        for at, text in enumerate(texts):
            if not isinstance(text, str):
                yield faulty(row.number, run, f"has the output {shown(text)}; give a text")
                continue
            number = sample if len(texts) == 1 else (sample or 0) + at
            yield FileSample(row.number, run, reference, text, number, finish, model=run)


def _reference(fields: Mapping[str, Any]) -> Reference:
    asked = _mapping(fields.get("input"))
    question, golds = asked.get("raw"), asked.get("reference")
    gold = golds[0] if isinstance(golds, list) and golds else None
    id = fields.get("sample_id")
    if isinstance(question, str) and isinstance(gold, str):
        return Reference(question=question, answer=gold)
    return Reference(id=str(id), question=question if isinstance(question, str) else None)


def _model_beside(path: Path) -> str:
    """Return the model's own name, which `UUID.json` beside `UUID_samples.jsonl` holds."""
    stem = path.name.removesuffix(SAMPLES)
    if stem == path.name:
        return ""
    try:
        aggregate = json.loads(path.with_name(f"{stem}.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return ""
    name = _mapping(_mapping(aggregate).get("model_info")).get("name")
    return name if isinstance(name, str) else ""


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
