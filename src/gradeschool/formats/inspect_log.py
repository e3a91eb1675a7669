"""Logs of inspect_ai: `.json` (one object) and `.eval` (a ZIP of the same, often zstd).

`reports.export` writes them.
"""

from __future__ import annotations

import importlib
import json
import struct
import zipfile
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from gradeschool.errors import InputError, require_packages
from gradeschool.formats import settings
from gradeschool.formats.settings import (
    RecordedRequest,
    RecordedSettings,
    base_address,
    mapping,
    messages_prompt,
    read_object,
    recorded,
)
from gradeschool.formats.tables import Row
from gradeschool.formats.values import message_of, text_of
from gradeschool.scorer import clip

ZSTD = 93
PROVIDER = "none/"  # inspect's model that is never called; `inspect score` opens the log's model
LARGEST_MEMBER = 8 * 2**20  # bytes of a sample
LARGEST_LOG = 256 * 2**20  # characters of prompts in memory at a time
LOCAL_HEADER = struct.Struct("<26xHH")  # lengths of the name and of the extra field
# Raised for a damaged archive or damaged JSON in it. RuntimeError: a password, an unknown method,
# JSON that is nested too deeply.
DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, OSError, ValueError, EOFError,
          RuntimeError)  # fmt: skip
# The first version of inspect whose `match(numeric=True)` equals each scorer, latest first.
MATCH_SCORERS = (
    ((0, 3, 261), "inspect/match-numeric@>=0.3.261"),
    ((0, 3, 253), "inspect/match-numeric@0.3.253-0.3.260"),
    ((0, 3, 221), "inspect/match-numeric@0.3.221-0.3.252"),
    ((0,), "inspect/match-numeric@<=0.3.220"),
)


def is_inspect(value: Any) -> bool:
    """Return whether a JSON value is a log of inspect."""
    return isinstance(value, Mapping) and isinstance(value.get("samples"), list) and "eval" in value


def inspect_rows(path: Path, log: Mapping[str, Any] | None) -> Generator[Row, None, None]:
    """Yield the samples of a log as they stand there, with the run under "run".

    log: the content of a JSON file, None for an `.eval` archive. Raises InputError for a damaged
    archive, MissingExtraError (zstandard).
    """
    with _opened(path, log) as (header, rows):
        run = str(mapping(header.get("eval")).get("model") or path.stem)
        run = run.removeprefix(PROVIDER) or path.stem
        for number, fields, fault in rows:
            yield Row(number, {"run": run, **fields}, fault)


@contextmanager
def _opened(
    path: Path, log: Mapping[str, Any] | None
) -> Iterator[tuple[Mapping[str, Any], Iterable[Row]]]:
    """Open a log; return its header and its samples, one that cannot be read with its fault."""
    if log is not None:
        yield log, (Row(n, mapping(each)) for n, each in enumerate(log["samples"], 1))
        return
    try:
        with zipfile.ZipFile(path) as archive, path.open("rb") as raw:
            members = {info.filename: info for info in archive.infolist()}
            head = members.get("header.json")
            samples = [info for name, info in members.items() if name.startswith("samples/")]
            rows = (_row(archive, raw, *pair) for pair in enumerate(samples, 1))
            yield {} if head is None else mapping(_member(archive, raw, head)), rows
    except DAMAGE as error:
        reason = clip(str(error), 200)
        raise InputError(f"{str(path)!r} is not a readable inspect archive: {reason}") from error


def _row(archive: zipfile.ZipFile, raw: BinaryIO, number: int, info: zipfile.ZipInfo) -> Row:
    try:
        return Row(number, mapping(_member(archive, raw, info)))
    except DAMAGE as error:
        reason = clip(str(error), 200)
        return Row(number, {}, f"({info.filename}) cannot be read: {reason}")


def _member(archive: zipfile.ZipFile, raw: BinaryIO, info: zipfile.ZipInfo) -> Any:
    if info.file_size > LARGEST_MEMBER:
        raise ValueError(f"{info.filename} is larger than {LARGEST_MEMBER} bytes")
    if info.compress_type != ZSTD:
        return json.loads(archive.read(info))
    require_packages("reading zstd-compressed .eval archives", "inspect-logs", "zstandard")
    zstandard = importlib.import_module("zstandard")
    raw.seek(info.header_offset)
    name, extra = LOCAL_HEADER.unpack(raw.read(LOCAL_HEADER.size))
    raw.seek(info.header_offset + LOCAL_HEADER.size + name + extra)
    packed = raw.read(info.compress_size)
    try:
        return json.loads(zstandard.ZstdDecompressor().stream_reader(packed).read(info.file_size))
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error


def inspect_sample(sample: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the plain row of a sample: the text that inspect's own scorers see.

    The problem is named by its question: inspect numbers samples without an id from 1. Tasks and
    exports of gradeschool have the question in the metadata; their input is the whole prompt.
    """
    facts, epoch = mapping(sample.get("metadata")), sample.get("epoch")
    id, question, gold = None, facts.get("question"), facts.get("solution")
    if not (isinstance(question, str) and isinstance(gold, str)):
        question, gold = sample.get("input"), sample.get("target")
        if isinstance(question, list):  # of messages; the last may begin the model's answer
            turns = [mapping(turn) for turn in question]
            prompts = [turn for turn in turns if turn.get("role") != "assistant"] or turns
            question = text_of(prompts[-1].get("content")) if prompts else None
        if not isinstance(question, str):
            id, question, gold = str(sample.get("id")), None, None
        elif isinstance(gold, list) and len(gold) == 1:
            gold = gold[0]
    output = mapping(sample.get("output"))
    choices = output.get("choices")
    choice = mapping(choices[0]) if isinstance(choices, list) and choices else {}
    text = output.get("completion")
    if not isinstance(text, str) or not text:
        content = mapping(choice.get("message")).get("content")
        text = text_of(content, "\n") if content is not None else text
    error, scores = message_of(sample.get("error")), list(mapping(sample.get("scores")).values())
    return [{
        "id": id, "question": question, "gold": gold if gold != "" else None,
        "run": sample.get("run"), "sample": epoch - 1 if isinstance(epoch, int) else None,
        "response": None if error else text, "finish": choice.get("stop_reason"), "error": error,
        "flag": mapping(scores[0]).get("value") if len(scores) == 1 else None,
    }]  # fmt: skip


# Settings


def inspect_settings(path: Path) -> RecordedSettings:
    """Return the settings in a log's header and the messages of its samples.

    Samples that cannot be read are left out. Raises InputError, MissingExtraError (zstandard).
    """
    log = None if path.suffix == ".eval" else read_object(path, "copy it again")
    requests, size = {}, 0
    with _opened(path, log) as (header, rows):
        for number, sample, _ in rows:
            turns = sample.get("messages")
            turns = turns if isinstance(turns, list) else []
            is_answered = bool(turns) and mapping(turns[-1]).get("role") == "assistant"
            tokens = mapping(mapping(sample.get("output")).get("usage")).get("input_tokens")
            prompt = messages_prompt(turns[:-1] if is_answered else turns)
            size += sum(len(each.content) for each in prompt.messages) if prompt else 0
            if size > LARGEST_LOG:
                raise InputError(f"the prompts in {str(path)!r} have more than {size} characters")
            requests[number] = RecordedRequest(prompt, tokens if isinstance(tokens, int) else None)
    spec, plan = mapping(header.get("eval")), mapping(header.get("plan"))
    version = str(mapping(spec.get("packages")).get("inspect_ai") or "")
    config = {**mapping(spec.get("model_generate_config")), **mapping(plan.get("config"))}
    dataset, arguments = mapping(spec.get("dataset")), mapping(spec.get("task_args"))
    shown = ", ".join(f"{name}={value}" for name, value in arguments.items())
    task = spec.get("task")
    values = {
        settings.MODEL: spec.get("model"),
        settings.ADDRESS: base_address(spec.get("model_base_url")),
        settings.VERSIONS: f"inspect_ai {version}" if version else None,
        settings.PROTOCOL: f"inspect {task}{f' ({shown})' if shown else ''}" if task else None,
        settings.SHOT_COUNT: arguments.get("fewshot"),
        settings.SAMPLES: mapping(spec.get("config")).get("epochs"),
        settings.DATASET: dataset.get("location") or dataset.get("name"),
        settings.TEMPERATURE: config.get("temperature"),
        settings.TOP_P: config.get("top_p"),
        settings.SEED: config.get("seed"),
        settings.STOP: config.get("stop_seqs"),
        settings.LIMIT: config.get("max_tokens"),
    }
    scorers = spec.get("scorers")
    first = mapping(scorers[0]) if isinstance(scorers, list) and scorers else {}
    is_match = str(first.get("name")).rpartition("/")[2] == "match"
    scorer = ""
    if is_match and mapping(first.get("options")).get("numeric"):
        parts = tuple(int(part) for part in version.split(".")[:3] if part.isdecimal())
        scorer = next((name for since, name in MATCH_SCORERS if parts >= since), "")
    return RecordedSettings("inspect log", recorded(values), requests, scorer)
