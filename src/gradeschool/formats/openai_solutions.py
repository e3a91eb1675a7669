"""OpenAI's `example_model_solutions.jsonl`: one row a problem, one solution for each system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gradeschool.formats.samples import FileSample, Reference
from gradeschool.formats.tables import Row


def is_openai_solutions(fields: Mapping[str, object]) -> bool:
    """Tell whether a row holds solutions of several systems beside their ground truth."""
    return "ground_truth" in fields and any(_solutions(fields))


def openai_solutions(row: Row) -> Iterator[FileSample]:
    """Yield the solution of each system; the system's name is the run."""
    question = row.fields.get("question")
    reference = Reference(question=question if isinstance(question, str) else "")
    for system, text in _solutions(row.fields):
        yield FileSample(row.number, system, reference, text, sample=0)


def _solutions(fields: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        text = value.get("solution") if isinstance(value, Mapping) else None
        if isinstance(text, str):
            yield name, text
