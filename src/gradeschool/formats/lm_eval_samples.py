"""`samples_*.jsonl` of lm-evaluation-harness: one row for each document and filter."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gradeschool.formats.samples import (
    FileSample,
    Reference,
    faulty,
    first_of,
    shown,
    whole_number,
)
from gradeschool.tables import Row

QUESTION_FIELDS = ("question", "problem", "Problem", "prompt", "input")


def is_lm_eval(fields: Mapping[str, object]) -> bool:
    """Tell whether a row is one of lm-eval's samples."""
    return {"doc_id", "doc", "resps"} <= fields.keys()


class LmEvalSamples:
    """Reads rows in order; the rows of further filters repeat the responses and are passed over."""

    def __init__(self, path: Path, default_run: str) -> None:
        self.run = _model_beside(path) or default_run
        self.filter: object = None

    def read(self, row: Row) -> Iterator[FileSample]:
        """Yield the responses of a row of the file's first filter."""
        fields = row.fields
        self.filter = self.filter or fields.get("filter")
        if fields.get("filter") != self.filter:
            return
        doc, responses = fields.get("doc"), fields.get("resps")
        texts = responses[0] if isinstance(responses, list) and responses else None
        if not isinstance(doc, Mapping) or not isinstance(texts, list) or not texts:
            yield faulty(row.number, self.run, "has no 'doc' object or no list of 'resps'")
            return
        reference = _reference(fields, doc)
        for sample, text in enumerate(texts):
            if isinstance(text, str):
                yield FileSample(row.number, self.run, reference, text, sample)
            else:
                yield faulty(row.number, self.run, f"has the response {shown(text)}; give a text")


def _reference(fields: Mapping[str, Any], doc: Mapping[str, Any]) -> Reference:
    """Name the problem by its question; the row of the split alone where there is none."""
    question, answer = first_of(doc, QUESTION_FIELDS), first_of(doc, ("answer",))
    if not isinstance(answer, str):
        answer = fields.get("target")
    return Reference(
        position=whole_number(fields.get("doc_id")),
        question=question if isinstance(question, str) else None,
        answer=answer if isinstance(answer, str) else None,
    )


def _model_beside(path: Path) -> str | None:
    """Return the model that `results_<time>.json` beside `samples_<task>_<time>.jsonl` names."""
    stamp = path.stem.rpartition("_")[2]
    try:
        results = json.loads((path.parent / f"results_{stamp}.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    name = results.get("model_name") if isinstance(results, dict) else None
    return name if isinstance(name, str) and name else None
