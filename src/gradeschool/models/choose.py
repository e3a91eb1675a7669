"""Choose the model for `-m PROVIDER/NAME`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from gradeschool.errors import InputError, close_names
from gradeschool.masking import register_key, shown_address
from gradeschool.models.base import Model
from gradeschool.models.gguf_file import TINY_FILE
from gradeschool.problem import Problem

if TYPE_CHECKING:
    from gradeschool.models.endpoint import Endpoint

E = TypeVar("E", bound="Endpoint")
NO_OPTIONS: Mapping[str, Any] = {}
NATIVE = ("anthropic", "gemini", "google")  # providers of `models/native.py`
OPENAI_URL = "https://api.openai.com/v1"
ENDPOINTS = "openai/NAME, http://HOST:PORT/v1, http://HOST:PORT/v1/NAME"
FORMS = (
    f"tiny, {ENDPOINTS}, anthropic/NAME, gemini/NAME, transformers/FOLDER_OR_ID, "
    "vllm/FOLDER_OR_ID, llama.cpp/FILE.gguf, recorded/FILE"
)
# OpenAI-compatible addresses of providers.
COMPATIBLE = {
    "anthropic": "https://api.anthropic.com/v1",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/openai",
    "google": "https://generativelanguage.googleapis.com/v1beta/openai",
    "mistral": "https://api.mistral.ai/v1",
    "deepseek": "https://api.deepseek.com/v1",
    "groq": "https://api.groq.com/openai/v1",
    "together": "https://api.together.xyz/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "fireworks": "https://api.fireworks.ai/inference/v1",
    "xai": "https://api.x.ai/v1",
}
# How the names of well-known models begin, and who serves them.
FAMILIES = {
    **dict.fromkeys(("gpt-", "chatgpt", "o1", "o3", "o4"), "openai"),
    "claude": "anthropic",
    "gemini": "gemini",
}
HUBS = ("hf", "huggingface", "hf.co", "huggingface.co")
# Of GRADESCHOOL_API_KEY: a host with a dot or a port, or localhost, before the key.
KEY_OF_HOST = re.compile(r"(?:^|\s)(localhost|[\w-]+(?:\.[\w-]+)+|[\w.-]+:\d+)=(\S+)")
HOST_AND_PORT = re.compile(r"(?:[\w.-]+|\[[0-9a-fA-F:]+\]):\d+(?:/.*)?\Z|localhost(?:/.*)?\Z")
# The options of `Job.options` that each kind of model takes; "" are servers.
THINKING = ("thinking", "reasoning_effort")
ACCEPTED: Mapping[str, tuple[str, ...]] = {
    "": (*THINKING, "extra_body", "headers"),
    **dict.fromkeys(("llama.cpp", "tiny"), (*THINKING, "extra_body", "engine_args")),
    "vllm": ("engine_args", "thinking"),
    "transformers": ("thinking",),
    **dict.fromkeys(NATIVE, THINKING),
    "recorded": (),
}
# Paths under /v1 that are not names of models.
REQUEST_PATHS = ("chat/completions", "completions", "models")


def choose_model(
    spec: str,
    problems: tuple[Problem, ...],
    dataset: str,
    seconds: float = 600.0,
    calculator: bool = False,
    options: Mapping[str, Any] = NO_OPTIONS,
) -> Model:
    """Return the model named on the command line; raises InputError for an unknown form.

    `openai/NAME` uses OPENAI_BASE_URL (default: OpenAI's address) with OPENAI_API_KEY. A URL is
    used as the base address, with GRADESCHOOL_API_KEY if set, and with the only model that it
    serves unless a name follows. `anthropic/NAME` and `gemini/NAME` use the formats of these
    providers. `transformers/FOLDER_OR_ID`, `vllm/FOLDER_OR_ID` and `llama.cpp/FILE.gguf` run a
    model on this machine; `tiny` is the model shipped with the package. seconds: timeout of one
    request. calculator: insert the results of annotations while the model writes. options: as in
    `Job.options`.
    """
    spec = spec.strip()
    provider, _, name = spec.partition("/")
    accepted = ACCEPTED.get(provider, ACCEPTED[""])
    for option in options:
        if option not in accepted:
            flag = f"--{option.replace('_', '-').removesuffix('s')}"
            raise InputError(f"-m {shown_address(spec)} takes no {flag}; leave it out")
    if calculator and name and provider in (*NATIVE, "recorded"):
        raise InputError(f"{provider}/ models cannot use the calculator; leave out --calculator")
    if spec == "tiny" or (provider == "llama.cpp" and name):
        from gradeschool.models.llama_cpp import LlamaCppModel

        file, label = (TINY_FILE, "tiny") if spec == "tiny" else (Path(name).expanduser(), "")
        return LlamaCppModel(file, label, seconds, options, calculator)
    if provider == "recorded" and name:
        from gradeschool.models.recorded import RecordedModel

        return RecordedModel(name, problems, dataset)
    if provider == "transformers" and name:
        from gradeschool.models.transformers_model import TransformersModel

        return TransformersModel(name, calculator, options.get("thinking"))
    if provider == "vllm" and name:
        from gradeschool.models.vllm_model import VllmModel

        return VllmModel(name, calculator, options.get("engine_args"), options.get("thinking"))
    if provider in NATIVE and name:
        from gradeschool.models.native import NativeModel

        return NativeModel(provider, name, seconds, options)
    from gradeschool.models.endpoint import Endpoint

    return endpoint_of(spec, Endpoint, seconds, options, calculator)


def endpoint_of(spec: str, kind: type[E], *settings: Any) -> E:
    """Return the endpoint named on the command line; raises InputError for an unknown form.

    settings: the other arguments of `kind`, from `seconds` on.
    """
    spec = spec.strip()
    provider, _, name = spec.partition("/")
    if spec.lower().startswith(("http://", "https://")):
        from gradeschool.models.endpoint import address_parts

        if "?" in spec or "#" in spec:
            address_parts(spec)  # raises: a key may be in it
        base, slash, name = spec.partition("/v1/")
        name = name.strip("/")
        if name in REQUEST_PATHS:
            raise InputError(
                f"{shown_address(spec)!r} is the address of requests; give "
                f"{shown_address(base)}/v1 or {shown_address(base)}/v1/NAME"
            )
        base = f"{base}/v1" if slash else spec.rstrip("/")
        return kind(base, name, key_for(base), *settings)
    if provider == "openai" and name:
        base = os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
        key = os.environ.get("OPENAI_API_KEY", "")
        if not key and base == OPENAI_URL:
            raise InputError("OPENAI_API_KEY is not set; export it, or set OPENAI_BASE_URL")
        return kind(base, name, key, *settings)
    is_probe = kind.__name__ == "Probe"
    guesses = " or ".join(_guesses(spec, compatible=is_probe))
    hint = f"did you mean {guesses}?" if guesses else f"give {ENDPOINTS if is_probe else FORMS}"
    raise InputError(f"the model {shown_address(spec)!r} has an unknown form; {hint}")


def key_for(base: str) -> str:
    """Return the API key for an address from GRADESCHOOL_API_KEY, "" for none.

    It is one key, or one for each server, as HOST=KEY or HOST:PORT=KEY with spaces between them.
    """
    from gradeschool.models.endpoint import address_parts

    value, parts = os.environ.get("GRADESCHOOL_API_KEY", ""), address_parts(base)
    keys = dict(KEY_OF_HOST.findall(value))
    if not keys:
        return value
    for key in keys.values():
        register_key(key)
    return keys.get(parts.netloc) or keys.get(parts.hostname or "") or ""


def _guesses(spec: str, compatible: bool) -> list[str]:
    """Return suggestions for a model of an unknown form, the likeliest first.

    compatible: suggest only servers of the OpenAI protocol.
    """
    provider, _, name = spec.partition("/")
    provider, path = provider.lower(), Path(spec)
    if spec.lower().endswith(".gguf"):
        return [f"llama.cpp/{spec}"]
    if path.is_dir():
        return [f"transformers/{spec}"]
    if path.is_file():
        return [f"recorded/{spec}"]
    if HOST_AND_PORT.match(spec):
        base, slash, model = shown_address(spec).rstrip("/").partition("/v1")
        return [f"http://{base}/v1{model if slash else ''}"]
    if provider in HUBS and name:
        return [f"transformers/{name}"]
    if provider == "ollama" and name:
        return [f"http://localhost:11434/v1/{name}"]
    if not name:
        starts = (family for family in FAMILIES if provider.startswith(family))
        provider, name = FAMILIES.get(next(starts, ""), ""), spec
        if provider == "openai":
            return [f"openai/{name}"]
    if provider in NATIVE and not compatible:
        return [f"{provider}/{name}"]
    if provider in COMPATIBLE:
        return [f"openai/{name} with OPENAI_BASE_URL={COMPATIBLE[provider]}"]
    if provider and "/" not in name and ":" not in provider:
        return [f"openai/{spec}", f"transformers/{spec}"]
    return [] if compatible else close_names(spec, ("tiny",))
