"""One of two results: its completions, the settings that its records hold, and its prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gradeschool.completion import Prompt
from gradeschool.scoring.samples import Run

# What can be recorded of a result, in the order in which it is shown.
MODEL, ANSWERED_BY, ADDRESS, ENGINE = "model", "answered by", "address", "engine"
VERSIONS, PRECISION, PROTOCOL = "versions", "precision", "protocol"
FORM, SYSTEM, PROMPT = "prompt form", "system message", "prompt"
SHOTS, SHOT_COUNT, TEMPLATE = "few-shot source", "few-shot examples", "chat template"
BOS, PROMPT_TOKENS = "BOS token", "prompt tokens"
TEMPERATURE, TOP_P, SEED = "temperature", "top-p", "seed"
STOP, LIMIT, SAMPLES = "stop strings", "max tokens", "samples a problem"
DATASET, DIGEST, LABELS, SCORER = "dataset", "dataset SHA-256", "labels", "scorer"
SETTINGS = (
    *(MODEL, ANSWERED_BY, ADDRESS, ENGINE, VERSIONS, PRECISION, PROTOCOL, FORM, SYSTEM, PROMPT),
    *(SHOTS, SHOT_COUNT, TEMPLATE, BOS, PROMPT_TOKENS, TEMPERATURE, TOP_P, SEED, STOP, LIMIT),
    *(SAMPLES, DATASET, DIGEST, LABELS, SCORER),
)

# What may change every text, and acts on no text that can be told from another.
EVERYWHERE = (
    *(
        MODEL,
        ANSWERED_BY,
        ADDRESS,
        ENGINE,
        VERSIONS,
        PRECISION,
        TEMPLATE,
        BOS,
        PROMPT_TOKENS,
        TEMPERATURE,
        TOP_P,
        SEED,
    ),
)


class Asked(NamedTuple):
    """How one completion was asked for; None where that is not recorded."""

    prompt: Prompt | None = None
    prompt_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One result of two.

    kind: what it was read from, in words. settings: by the names of SETTINGS; a name that is not
    in it is not recorded. asked: by the row of a completion. scorer: the name of the scorer that
    gave its published number, "" where nothing says it.
    """

    run: Run
    kind: str
    settings: Mapping[str, Any]
    asked: Mapping[int, Asked] = field(default_factory=dict)
    scorer: str = ""

    @property
    def stops(self) -> tuple[str, ...]:
        """Return the stop strings, none where they are not recorded."""
        return tuple(self.settings.get(STOP) or ())


def mapping(value: object) -> Mapping[str, Any]:
    """Return a JSON value that is an object, an empty one for any other."""
    return value if isinstance(value, Mapping) else {}


def address_of(url: object) -> str | None:
    """Return a server's address without the route that a tool appends to it."""
    if not isinstance(url, str) or not url:
        return None
    return url.removesuffix("/").removesuffix("/chat/completions").removesuffix("/completions")


def known(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without those that are None: they are not recorded."""
    return {name: value for name, value in settings.items() if value is not None}


def as_messages(value: object) -> Prompt | None:
    """Return the prompt that a JSON list of {"role", "content"} is, None for anything else."""
    from gradeschool.completion import Message
    from gradeschool.formats.samples import text_of

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
