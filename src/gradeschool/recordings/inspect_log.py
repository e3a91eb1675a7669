"""Logs of inspect_ai: `.json` (one object) and `.eval` (a ZIP of the same, often zstd)."""

from __future__ import annotations

import importlib
import json
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gradeschool.errors import InputError, MissingExtraError
from gradeschool.recordings.recorded import Recorded, Reference, faulty, finish_of, text_of

ZSTD = 93
LARGEST_MEMBER = 512 * 2**20
LOCAL_HEADER = struct.Struct("<26xHH")  # lengths of the name and of the extra field


def inspect_json(path: Path) -> Iterator[Recorded]:
    """Yield the samples of a log in JSON; raises InputError where the file is no such log."""
    try:
        log = json.loads(path.read_bytes())
    except (ValueError, RecursionError, OSError) as error:
        raise InputError(f"{str(path)!r} is not readable JSON: {error}") from error
    samples = log.get("samples") if isinstance(log, dict) else None
    if not isinstance(samples, list):
        raise InputError(f"{str(path)!r} holds no 'samples'; give an inspect log, or JSONL rows")
    run = _run_of(log, path)
    for number, sample in enumerate(samples, start=1):
        yield _recorded(number, sample, run)


def inspect_archive(path: Path) -> Iterator[Recorded]:
    """Yield the samples of an `.eval` archive; raises InputError, MissingExtraError (zstandard)."""
    try:
        with zipfile.ZipFile(path) as archive, path.open("rb") as raw:
            names = [info for info in archive.infolist() if info.filename.startswith("samples/")]
            run = path.stem
            if "header.json" in archive.namelist():
                run = _run_of(_member(archive, raw, archive.getinfo("header.json")), path)
            for number, info in enumerate(names, start=1):
                yield _recorded(number, _member(archive, raw, info), run)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} is not a readable inspect archive: {error}") from error


def _member(archive: zipfile.ZipFile, raw: Any, info: zipfile.ZipInfo) -> Any:
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


def _run_of(log: Mapping[str, Any], path: Path) -> str:
    spec = log.get("eval")
    model = spec.get("model") if isinstance(spec, Mapping) else None
    return str(model or path.stem)


def _recorded(number: int, sample: Any, run: str) -> Recorded:
    if not isinstance(sample, Mapping):
        return faulty(number, run, "is no sample object")
    question = sample.get("input")
    if isinstance(question, list) and question and isinstance(question[-1], Mapping):
        question = text_of(question[-1].get("content"))
    target = sample.get("target")
    reference = Reference(
        id=str(sample.get("id")),
        question=question if isinstance(question, str) else None,
        answer=target if isinstance(target, str) else None,
    )
    epoch = sample.get("epoch")
    position = epoch - 1 if isinstance(epoch, int) else None
    failure = sample.get("error")
    if failure:
        message = failure.get("message") if isinstance(failure, Mapping) else failure
        return Recorded(number, run, reference, "", position, error=str(message))
    text, finish = _output(sample.get("output"))
    if text is None:
        return faulty(number, run, "has no output text")
    return Recorded(number, run, reference, text, position, finish_of(finish), model=run)


def _output(output: Any) -> tuple[str | None, object]:
    if not isinstance(output, Mapping):
        return None, None
    choices = output.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        message = choices[0].get("message")
        content = message.get("content") if isinstance(message, Mapping) else None
        return text_of(content), choices[0].get("stop_reason")
    return text_of(output.get("completion")), None
