"""From `-m PROVIDER/NAME` to a model."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from gradeschool.errors import InputError
from gradeschool.models.base import Model
from gradeschool.models.recorded import RecordedModel
from gradeschool.problem import Problem

if TYPE_CHECKING:
    from gradeschool.models.endpoint import Endpoint
    from gradeschool.models.transformers_model import Workers

E = TypeVar("E", bound="Endpoint")
OPENAI_URL = "https://api.openai.com/v1"
ENDPOINTS = "openai/NAME, http://HOST:PORT/v1, http://HOST:PORT/v1/NAME"
FORMS = (
    f"tiny, {ENDPOINTS}, transformers/FOLDER_OR_ID, vllm/FOLDER_OR_ID, llama.cpp/FILE.gguf, "
    "recorded/FILE"
)


def choose_model(
    spec: str,
    problems: tuple[Problem, ...],
    dataset: str,
    seconds: float = 600.0,
    calculator: bool = False,
    workers: Workers | None = None,
) -> Model:
    """Return the model that a command line names; raises InputError for another form.

    `openai/NAME` asks OPENAI_BASE_URL (default: OpenAI's own) with OPENAI_API_KEY. A URL is a base
    of its own, asked with GRADESCHOOL_API_KEY if that is set, and with the one model that it serves
    unless a name follows. `transformers/FOLDER_OR_ID`, `vllm/FOLDER_OR_ID` and
    `llama.cpp/FILE.gguf` run a model on this machine; `tiny` is the one that the package ships.
    seconds: how long one request may take. calculator: insert the results of annotations as the
    model writes. workers: the processes in which a `transformers/` model runs.
    """
    provider, _, name = spec.partition("/")
    if workers is not None and provider != "transformers":
        raise InputError(
            f"--engine ray and --processes run a transformers/FOLDER model, not {spec!r}; "
            "leave them out"
        )
    if provider == "recorded" and name:
        if calculator:
            raise InputError("a recorded model writes nothing new; leave out --calculator")
        return RecordedModel(name, problems, dataset)
    if provider == "transformers" and name:
        from gradeschool.models.transformers_model import TransformersModel

        return TransformersModel(name, calculator, workers)
    if provider == "vllm" and name:
        from gradeschool.models.vllm_model import VllmModel

        return VllmModel(name, calculator)
    if spec == "tiny" or (provider == "llama.cpp" and name):
        from gradeschool.models.llama_cpp import TINY_FILE, LlamaCppModel

        llama: type[LlamaCppModel] = LlamaCppModel
        if calculator:
            from gradeschool.models.calculator_endpoint import CalculatorLlamaCpp as llama
        if spec == "tiny":
            return llama(TINY_FILE, "tiny")
        return llama(Path(name).expanduser(), seconds=seconds)
    from gradeschool.models.endpoint import Endpoint

    endpoint: type[Endpoint] = Endpoint
    if calculator:
        from gradeschool.models.calculator_endpoint import CalculatorEndpoint as endpoint
    return endpoint_of(spec, seconds, endpoint)


def endpoint_of(spec: str, seconds: float, kind: type[E]) -> E:
    """Return the endpoint that a command line names; raises InputError for another form."""
    provider, _, name = spec.partition("/")
    if spec.startswith(("http://", "https://")):
        base, name = _split(spec)
        return kind(base, name, os.environ.get("GRADESCHOOL_API_KEY", ""), seconds)
    if provider == "openai" and name:
        base = os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
        key = os.environ.get("OPENAI_API_KEY", "")
        if not key and base == OPENAI_URL:
            raise InputError("OPENAI_API_KEY is not set; export it, or set OPENAI_BASE_URL")
        return kind(base, name, key, seconds)
    forms = ENDPOINTS if kind.__name__ == "Probe" else FORMS
    raise InputError(f"the model {spec!r} is of no known form; give {forms}")


def _split(url: str) -> tuple[str, str]:
    """Split "http://host/v1/NAME" into base and name."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise InputError(f"{url!r} is no address: {error}; give http://HOST:PORT/v1") from None
    if parts.username or parts.password or parts.query:
        raise InputError(
            f"the address of {parts.hostname!r} holds a user name, password or query; "
            "put the key into GRADESCHOOL_API_KEY"
        )
    base, slash, name = url.partition("/v1/")
    return (f"{base}/v1", name.rstrip("/")) if slash else (url.rstrip("/"), "")
