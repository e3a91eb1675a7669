"""Logs of inspect_ai: `.json` (one object) and `.eval` (a ZIP of the same, often zstd)."""

from __future__ import annotations

import importlib
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from gradeschool.errors import InputError, MissingExtraError
from gradeschool.formats.samples import FileSample, Reference, faulty, finish_of, text_of

ZSTD = 93
NEVER_ASKED = "none/"  # before the model of a log that `gradeschool export` wrote
LARGEST_MEMBER = 512 * 2**20
LOCAL_HEADER = struct.Struct("<26xHH")  # lengths of the name and of the extra field
# What a damaged archive, or JSON of a damaged member, raises; NotImplementedError: another method.
DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, OSError, ValueError, EOFError,
          RecursionError, NotImplementedError)  # fmt: skip


def is_inspect(value: Any) -> bool:
    """Tell whether a JSON value is a log of inspect."""
    return isinstance(value, Mapping) and isinstance(value.get("samples"), list)


def inspect_json(log: Mapping[str, Any], path: Path) -> Iterator[FileSample]:
    """Yield the samples of a log in JSON."""
    run = _run_of(log, path)
    for number, sample in enumerate(log["samples"], start=1):
        yield _recorded(number, sample, run)


def inspect_archive(path: Path) -> Iterator[FileSample]:
    """Yield the samples of an `.eval` archive; raises InputError, MissingExtraError (zstandard)."""
    try:
        with zipfile.ZipFile(path) as archive, path.open("rb") as raw:
            members = {info.filename: info for info in archive.infolist()}
            run = path.stem
            if "header.json" in members:
                run = _run_of(_member(archive, raw, members["header.json"]), path)
            samples = [info for name, info in members.items() if name.startswith("samples/")]
            for number, info in enumerate(samples, start=1):
                try:
                    yield _recorded(number, _member(archive, raw, info), run)
                except DAMAGE as error:
                    yield faulty(number, run, f"({info.filename}) cannot be read: {error}")
    except DAMAGE as error:
        raise InputError(f"{str(path)!r} is not a readable inspect archive: {error}") from error


def read_log(path: Path) -> tuple[Mapping[str, Any], list[tuple[int, Any]]]:
    """Return what a log says of itself, and its samples as they are with their numbers from 1.

    Samples that cannot be read are left out. Raises InputError, MissingExtraError (zstandard).
    """
    try:
        if path.suffix != ".eval":
            log = json.loads(path.read_bytes())
            return log, list(enumerate(log["samples"], start=1))
        with zipfile.ZipFile(path) as archive, path.open("rb") as raw:
            members = {info.filename: info for info in archive.infolist()}
            head = members.get("header.json")
            header = _member(archive, raw, head) if head is not None else {}
            samples = [info for name, info in members.items() if name.startswith("samples/")]
            found = []
            for number, info in enumerate(samples, start=1):
                with suppress(*DAMAGE):
                    found.append((number, _member(archive, raw, info)))
            return header if isinstance(header, Mapping) else {}, found
    except DAMAGE as error:
        raise InputError(f"{str(path)!r} is not a readable inspect log: {error}") from error


def _member(archive: zipfile.ZipFile, raw: BinaryIO, info: zipfile.ZipInfo) -> Any:
    if info.file_size > LARGEST_MEMBER:
        raise ValueError(f"{info.filename} is larger than {LARGEST_MEMBER} bytes")
    if info.compress_type != ZSTD:
        return json.loads(archive.read(info))
    raw.seek(info.header_offset)
    name, extra = LOCAL_HEADER.unpack(raw.read(LOCAL_HEADER.size))
    raw.seek(info.header_offset + LOCAL_HEADER.size + name + extra)
    return json.loads(_zstd()(raw.read(info.compress_size), info.file_size))


def _zstd() -> Callable[[bytes, int], bytes]:
    try:
        zstandard = importlib.import_module("zstandard")
    except ImportError:
        raise MissingExtraError("reading zstd-compressed .eval archives", "inspect-logs") from None

    def decompress(data: bytes, size: int) -> bytes:
        try:
            reader = zstandard.ZstdDecompressor().stream_reader(data)
            return bytes(reader.read(size))
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error

    return decompress


def _run_of(log: Any, path: Path) -> str:
    spec = log.get("eval") if isinstance(log, Mapping) else None
    model = spec.get("model") if isinstance(spec, Mapping) else None
    return str(model or path.stem).removeprefix(NEVER_ASKED) or path.stem


def _recorded(number: int, sample: Any, run: str) -> FileSample:
    if not isinstance(sample, Mapping):
        return faulty(number, run, "is no sample object")
    reference = _reference(sample)
    epoch = sample.get("epoch")
    position = epoch - 1 if isinstance(epoch, int) else None
    failure = sample.get("error")
    if failure:
        message = failure.get("message") if isinstance(failure, Mapping) else failure
        return FileSample(number, run, reference, "", position, error=str(message))
    text, finish = _output(sample.get("output"))
    if text is None:
        return faulty(number, run, "has no output text")
    return FileSample(number, run, reference, text, position, finish_of(finish), model=run)


def _reference(sample: Mapping[str, Any]) -> Reference:
    """Name the problem by its question: inspect numbers samples from 1 where they have no id.

    Our own tasks and exports put it into the metadata, for their input is the whole prompt.
    """
    facts = sample.get("metadata")
    if isinstance(facts, Mapping):
        asked, solution = facts.get("question"), facts.get("solution")
        if isinstance(asked, str) and isinstance(solution, str):
            return Reference(question=asked, answer=solution)
    question = sample.get("input")
    if isinstance(question, list) and question and isinstance(question[-1], Mapping):
        question = text_of(question[-1].get("content"))
    target = sample.get("target")
    if isinstance(target, list) and len(target) == 1:
        target = target[0]
    if not isinstance(question, str):
        return Reference(id=str(sample.get("id")))
    return Reference(question=question, answer=target if isinstance(target, str) else None)


def _output(output: Any) -> tuple[str | None, object]:
    """Return the text that inspect's own scorers see, and why the model stopped."""
    if not isinstance(output, Mapping):
        return None, None
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    choice = first if isinstance(first, Mapping) else {}
    text = output.get("completion")
    if not isinstance(text, str) or not text:
        message = choice.get("message")
        content = message.get("content") if isinstance(message, Mapping) else None
        text = text_of(content, "\n") if content is not None else text
    return text if isinstance(text, str) else None, choice.get("stop_reason")
