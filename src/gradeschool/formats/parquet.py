"""Parquet: one row per sample with its text and metadata, and one column per scorer."""

from __future__ import annotations

import json
from typing import Any, BinaryIO

from gradeschool import __version__
from gradeschool.completion import NO_USAGE
from gradeschool.errors import require_packages
from gradeschool.formats.export import ExportedFile, ExportedRun, ExportedSample, storable

ROW_GROUP = 16_384
TEXTS = ("run", "problem_id", "question", "gold", "completion", "finish", "error", "cause", "read")


def parquet_files(run: ExportedRun) -> list[ExportedFile]:
    """Return the table. Raises MissingExtraError without pyarrow."""
    require_packages("writing Parquet", "parquet", "pyarrow")
    return [ExportedFile("", lambda file: _write(run, file))]


def _write(run: ExportedRun, file: BinaryIO) -> None:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    scorers = [storable(score.scorer.name) for score in run.scores]
    word, number = arrow.dictionary(arrow.int32(), arrow.string()), arrow.int64()
    kinds = {name: arrow.string() for name in TEXTS} | {"run": word, "finish": word, "cause": word}
    numbers = ("sample", "prompt_tokens", "completion_tokens")
    schema = arrow.schema(
        [
            *kinds.items(),
            *((name, number) for name in numbers),
            *((scorer, word) for scorer in scorers),
        ],
        metadata={"gradeschool": json.dumps(_about(run))},
    )
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for start in range(0, len(run.samples), ROW_GROUP):
            rows = [_row(run, sample) for sample in run.samples[start : start + ROW_GROUP]]
            columns = [
                arrow.array([row[name] for row in rows], schema.field(name).type)
                for name in schema.names
            ]
            writer.write_batch(arrow.record_batch(columns, schema=schema))


def _about(run: ExportedRun) -> dict[str, Any]:
    return {
        "version": __version__,
        "protocol": run.protocol,
        "dataset": run.dataset,
        "created": run.begun.isoformat(),
        "surrogates": "lone surrogates are written as U+FFFD",
    }


def _row(run: ExportedRun, sample: ExportedSample) -> dict[str, Any]:
    verdicts = sample.verdicts
    answer = verdicts[0].answer if verdicts else None
    usage = sample.stored.usage if sample.stored else NO_USAGE
    words = (
        *(run.model, sample.problem.id, sample.problem.question, sample.problem.gold),
        *(sample.text, sample.finish, sample.error, sample.cause, answer.value if answer else None),
    )
    return {
        **{
            name: None if word is None else storable(word)
            for name, word in zip(TEXTS, words, strict=True)
        },
        "sample": sample.sample,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        **_outcomes(run, sample),
    }


def _outcomes(run: ExportedRun, sample: ExportedSample) -> dict[str, str]:
    names = [storable(score.scorer.name) for score in run.scores]
    if not sample.verdicts:
        return dict.fromkeys(names, "error")
    return {
        name: verdict.outcome.value for name, verdict in zip(names, sample.verdicts, strict=True)
    }
