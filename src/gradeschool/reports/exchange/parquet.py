"""Parquet: a row for each sample, with its text, facts about it, and a column for every scorer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, BinaryIO

from gradeschool import __version__
from gradeschool.completion import NO_USAGE
from gradeschool.errors import MissingExtraError
from gradeschool.reports.exchange.bundle import Bundle, Item
from gradeschool.reports.exchange.files import File, storable

ROW_GROUP = 16_384
TEXTS = ("run", "problem_id", "question", "gold", "completion", "finish", "error", "cause", "read")


def parquet_files(bundle: Bundle) -> list[File]:
    """Return the table. Raises MissingExtraError without pyarrow."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtraError("writing Parquet", "parquet") from None
    return [File("", lambda file: _write(bundle, file))]


def _write(bundle: Bundle, file: BinaryIO) -> None:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    scorers = [storable(scorer.name) for scorer in bundle.scorers]
    word, number = arrow.dictionary(arrow.int32(), arrow.string()), arrow.int64()
    kinds = {name: arrow.string() for name in TEXTS} | {"run": word, "finish": word, "cause": word}
    numbers = ("sample", "prompt_tokens", "completion_tokens")
    schema = arrow.schema(
        [
            *kinds.items(),
            *((name, number) for name in numbers),
            *((scorer, word) for scorer in scorers),
        ],
        metadata={"gradeschool": json.dumps(_about(bundle))},
    )
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for at in range(0, len(bundle.items), ROW_GROUP):
            rows = [_row(bundle, item) for item in bundle.items[at : at + ROW_GROUP]]
            columns = [
                arrow.array([row[name] for row in rows], schema.field(name).type)
                for name in schema.names
            ]
            writer.write_batch(arrow.record_batch(columns, schema=schema))


def _about(bundle: Bundle) -> dict[str, Any]:
    return {
        "version": __version__,
        "protocol": bundle.task,
        "dataset": bundle.dataset,
        "created": bundle.begun.isoformat(),
        "surrogates": "lone surrogates are written as U+FFFD",
    }


def _row(bundle: Bundle, item: Item) -> dict[str, Any]:
    verdicts = item.verdicts
    answer = verdicts[0].answer if verdicts else None
    usage = item.stored.usage if item.stored else NO_USAGE
    words = (
        *(bundle.model, item.problem.id, item.problem.question, item.problem.gold),
        *(item.text, item.finish, item.error, item.cause, answer.value if answer else None),
    )
    return {
        **{name: _text(word) for name, word in zip(TEXTS, words, strict=True)},
        "sample": item.sample,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        **_outcomes(bundle, item),
    }


def _outcomes(bundle: Bundle, item: Item) -> dict[str, str]:
    names: Sequence[str] = [storable(scorer.name) for scorer in bundle.scorers]
    if not item.verdicts:
        return dict.fromkeys(names, "error")
    return {name: one.outcome.value for name, one in zip(names, item.verdicts, strict=True)}


def _text(word: str | None) -> str | None:
    return None if word is None else storable(word)
