"""`samples_*.jsonl` of lm-evaluation-harness: one row for each document and filter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gradeschool.recordings.recorded import Recorded, Reference, faulty, whole_number
from gradeschool.tables import Row


def is_lm_eval(fields: Mapping[str, object]) -> bool:
    """Tell whether a row is one of lm-eval's samples."""
    return {"doc_id", "doc", "resps"} <= fields.keys()


class LmEvalSamples:
    """Reads rows in order; the rows of further filters repeat the responses and are passed over."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.filter: object = None

    def read(self, row: Row) -> Iterator[Recorded]:
        """Yield the responses of a row of the file's first filter."""
        fields = row.fields
        self.filter = self.filter or fields.get("filter")
        if fields.get("filter") != self.filter:
            return
        doc, responses = fields.get("doc"), fields.get("resps")
        texts = responses[0] if isinstance(responses, list) and responses else None
        if not isinstance(doc, Mapping) or not isinstance(texts, list):
            yield faulty(row.number, self.run, "has no 'doc' object or no list of 'resps'")
            return
        question, answer = doc.get("question"), doc.get("answer")
        reference = Reference(
            position=whole_number(fields.get("doc_id")),
            question=question if isinstance(question, str) else None,
            answer=answer if isinstance(answer, str) else None,
        )
        for sample, text in enumerate(texts):
            if isinstance(text, str):
                yield Recorded(row.number, self.run, reference, text, sample)
            else:
                yield faulty(row.number, self.run, f"has the response {text!r}, which is no text")
