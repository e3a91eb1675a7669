"""The settings recorded in files of results, under the same names for all formats."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Message, Prompt
from gradeschool.errors import InputError
from gradeschool.formats.values import text_of

# The settings, in display order.
MODEL, ANSWERED_BY, ADDRESS, ENGINE = "model", "answered by", "address", "engine"
VERSIONS, PRECISION, PROTOCOL = "versions", "precision", "protocol"
KV_CACHE, FLASH_ATTENTION = "KV cache", "flash attention"
UNKNOWN = "unknown"  # value of a setting that an engine does not report
FORM, SYSTEM, PROMPT = "prompt form", "system message", "prompt"
SHOTS, SHOT_COUNT, TEMPLATE = "few-shot source", "few-shot examples", "chat template"
BOS, PROMPT_TOKENS = "BOS token", "prompt tokens"
OPTIONS = "options of the model"
TEMPERATURE, TOP_P, SEED = "temperature", "top-p", "seed"
STOP, LIMIT, SAMPLES = "stop strings", "max tokens", "samples per problem"
DATASET, DIGEST, LABELS, SCORER = "dataset", "dataset SHA-256", "labels", "scorer"
SETTINGS = (
    *(MODEL, ANSWERED_BY, ADDRESS, ENGINE, VERSIONS, PRECISION, KV_CACHE, FLASH_ATTENTION),
    *(PROTOCOL, FORM, SYSTEM, PROMPT),
    *(SHOTS, SHOT_COUNT, TEMPLATE, BOS, PROMPT_TOKENS, OPTIONS, TEMPERATURE, TOP_P, SEED),
    *(STOP, LIMIT),
    *(SAMPLES, DATASET, DIGEST, LABELS, SCORER),
)


class RecordedRequest(NamedTuple):
    """The request for one completion; fields that are not recorded are None."""

    prompt: Prompt | None = None
    prompt_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class RecordedSettings:
    """The settings recorded in a file of results.

    kind: the format, in words. values: by the names in SETTINGS; settings that are not recorded are
    missing. requests: by the row of the completion. scorer: the name of the scorer behind the
    published number, "" if the file does not say.
    """

    kind: str
    values: Mapping[str, Any]
    requests: Mapping[int, RecordedRequest] = field(default_factory=dict)
    scorer: str = ""


def mapping(value: object) -> Mapping[str, Any]:
    """Return a JSON value if it is an object, else an empty object."""
    return value if isinstance(value, Mapping) else {}


def read_object(path: Path, advice: str) -> dict[str, Any]:
    """Return the JSON object in a file; raises InputError, with the advice, if there is none."""
    try:
        fields = json.loads(path.read_bytes())
        if not isinstance(fields, dict):
            raise ValueError("it is not an object")
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{str(path)!r} cannot be read ({error}); {advice}") from error
    return fields


def base_address(url: object) -> str | None:
    """Return a server's address without the route that tools append."""
    if not isinstance(url, str) or not url:
        return None
    return url.removesuffix("/").removesuffix("/chat/completions").removesuffix("/completions")


def recorded(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are not None; None means not recorded."""
    return {name: value for name, value in values.items() if value is not None}


def messages_prompt(value: object) -> Prompt | None:
    """Return the prompt in a JSON list of {"role", "content"}, None for any other value."""
    if not isinstance(value, list) or not value:
        return None
    turns = []
    for turn in value:
        content = text_of(mapping(turn).get("content"))
        role = mapping(turn).get("role")
        if content is None or not isinstance(role, str):
            return None
        turns.append(Message(role, content))
    return Prompt(messages=tuple(turns))
