"""What run.json records of the engine, and how `diff` and the result name it."""

import asyncio
import json
from pathlib import Path

from gradeschool.models.endpoint import Endpoint
from gradeschool.models.llama_cpp import LlamaCppModel
from gradeschool.reports.measured import engine_words
from tests.support.command import Command
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


def test_the_words_of_an_engine() -> None:
    assert engine_words({"engine": HERE}) == "llama.cpp, KV cache F32, flash attention off"


def test_diff_names_cache_and_attention(gradeschool: Command, tmp_path: Path) -> None:
    folders = []
    for name, engine in (("here", HERE), ("served", SERVED), ("half", HERE | {"kv_cache": "F16"})):
        folder = tmp_path / name
        words = ("eval", "-m", "recorded/sample#handwritten/chat", "-d", "sample", "-o", folder)
        assert gradeschool(*words).status == 0
        manifest = json.loads((folder / "run.json").read_bytes()) | {"engine": engine}
        (folder / "run.json").write_text(json.dumps(manifest), "utf-8")
        folders.append(folder)
    here, served, half = folders
    shown = gradeschool("why", here, "--expected-run", half).out
    assert "KV cache: F32 | F16" in shown
    assert "KV cache: F32 | not recorded" in gradeschool("why", here, "--expected-run", served).out
