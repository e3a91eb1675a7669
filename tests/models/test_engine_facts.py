"""What run.json records of the engine, and how `diff` and the result name it."""

import asyncio
from pathlib import Path

from gradeschool.models.endpoint import Endpoint
from gradeschool.models.llama_cpp import LlamaCppModel
from tests.support.command import gradeschool as gradeschool  # a fixture

HERE = {"engine": "llama.cpp", "kv_cache": "F32", "flash_attention": "off"}
SERVED = {"engine": "llama.cpp", "kv_cache": "unknown", "flash_attention": "unknown"}


async def facts_of(model: Endpoint) -> dict[str, str]:
    async with model:
        return await model.facts()


def test_the_engine_in_this_process_and_a_server(shipped_gguf: Path, llama_url: str) -> None:
    here = asyncio.run(facts_of(LlamaCppModel(shipped_gguf)))
    assert here.items() >= HERE.items()
    assert here["version"].startswith("xllamacpp ")
    served = asyncio.run(facts_of(Endpoint(llama_url, "tiny", "")))
    assert served.items() >= SERVED.items()
    assert served["precision"] == here["precision"]
