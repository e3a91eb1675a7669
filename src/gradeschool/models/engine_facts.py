"""Find out what runs a model (engine, versions, precision), to record it in run.json."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Protocol, runtime_checkable

from gradeschool.errors import ModelError
from gradeschool.machine import best_device
from gradeschool.models.base import Model
from gradeschool.models.local import LocalModel, precision_on, weights_of

SECONDS = 5.0  # to wait for a server's facts
LONGEST = 100  # maximum number of characters of a server's fact
# Servers' names for themselves in /v1/models ("owned_by").
LLAMA_CPP = "llama.cpp"
ENGINES = {"llamacpp": LLAMA_CPP, "vllm": "vLLM", "sglang": "SGLang", "library": "Ollama"}
PACKAGES = {"transformers": ("transformers", "torch"), "vllm": ("vllm", "torch")}


@runtime_checkable
class ListingModel(Protocol):
    """A model behind an address that lists what it serves: an `Endpoint`, without its import."""

    model: str

    async def call(self, method: str, path: str, data: None) -> dict[str, Any]:
        """Return the JSON object at an address; raises ModelError."""


async def engine_facts(model: Model) -> dict[str, str]:
    """Return the known facts about the engine of an open model, {} if there are none.

    A model that knows its engine has the facts in `engine`. Keys: engine (its name), version,
    precision (of the weights), and for llama.cpp kv_cache (its type) and flash_attention; both are
    UNKNOWN for a server, which does not report them. Never raises: if a server does not answer,
    there are no further requests.
    """
    if isinstance(model, LocalModel):
        return _local_facts(model)
    own: Mapping[str, str] = getattr(model, "engine", {})
    if not isinstance(model, ListingModel):
        return dict(own)
    facts: dict[str, str] = {}
    with suppress(ModelError, TimeoutError, KeyError, TypeError, ValueError, IndexError):
        async with asyncio.timeout(SECONDS):
            listed = await model.call("GET", "/models", None)
            facts = _server_facts(listed, model.model)
    if not own and facts.get("engine") == LLAMA_CPP:
        from gradeschool.formats.settings import UNKNOWN  # a module for reading other tools' files

        own = {"kv_cache": UNKNOWN, "flash_attention": UNKNOWN}
    first = {name: own[name] for name in ("engine", "version") if name in own}
    return {**first, **facts, **own}


def _server_facts(listed: Mapping[str, Any], name: str) -> dict[str, str]:
    """Return the facts about one model from a server's list of models."""
    entries = [entry for entry in listed["data"] if entry.get("id") == name]
    entry = entries[0]
    owner, meta = str(entry.get("owned_by", "")), entry.get("meta") or {}
    facts = {"engine": ENGINES.get(owner, ""), "precision": str(meta.get("ftype", ""))}
    return {
        key: value.removeprefix("(guessed) ").removeprefix("all ")[:LONGEST]
        for key, value in facts.items()
        if value
    }


def _local_facts(model: LocalModel) -> dict[str, str]:
    library = model.identity.partition("/")[0]
    device = best_device()  # imports torch, which the run loads anyway
    if library == "vllm":
        from gradeschool.models.vllm_model import number_on

        precision = number_on(device)
    else:
        precision = precision_on(device, weights_of(model.folder))
    return {"engine": library, **versions_of(*PACKAGES[library]), "precision": precision}


def versions_of(*packages: str) -> dict[str, str]:
    """Return the versions of these packages as the fact `version`, {} if none is installed."""
    from importlib.metadata import PackageNotFoundError, version

    versions = []
    for package in packages:
        with suppress(PackageNotFoundError):
            versions.append(f"{package} {version(package)}")
    return {"version": ", ".join(versions)} if versions else {}
