"""A GGUF file run here by llama.cpp: transformers' text, a server that ends, bad files."""

import asyncio
import json
import socket
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gradeschool import judge, load_dataset
from gradeschool.errors import GradeschoolError, InputError
from gradeschool.models.choose import choose_model
from gradeschool.models.endpoint import Endpoint
from gradeschool.models.llama_cpp import LlamaCppModel
from tests.support.command import Command
from tests.support.fixtures import SERVER_NEEDS, skip_without
from tests.support.llama_server import GGUF_NAME
from tests.support.model_requests import GREEDY, answers, prompts, requests, texts


def test_greedy_text_is_that_of_transformers(tiny_model: Path) -> None:
    skip_without(SERVER_NEEDS, "a model run by llama.cpp")
    same_requests = requests(prompts("text"), GREEDY)
    here = answers(choose_model(f"llama.cpp/{tiny_model / GGUF_NAME}"), same_requests)
    assert texts(here) == texts(answers(choose_model(f"transformers/{tiny_model}"), same_requests))


def test_the_server_ends_with_the_run_and_the_identity_names_no_port(shipped_gguf: Path) -> None:
    skip_without(SERVER_NEEDS, "a model run by llama.cpp")
    model = LlamaCppModel(shipped_gguf)
    before = model.identity

    async def opened() -> str:
        async with model:
            return model.base

    address = urlsplit(asyncio.run(opened()))
    assert model.identity == before
    assert before.startswith("llama.cpp/tiny ")
    assert str(address.port) not in before
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((address.hostname or "", address.port or 0), timeout=5)


@pytest.mark.parametrize("body", [None, b"", b"a text", b"GGUF and no more"])
def test_a_file_that_is_no_model_is_an_error_in_words(body: bytes | None, tmp_path: Path) -> None:
    skip_without(SERVER_NEEDS, "a model run by llama.cpp")
    file = tmp_path / "broken.gguf"
    if body is not None:
        file.write_bytes(body)

    async def opened() -> None:
        async with LlamaCppModel(file):
            pass

    with pytest.raises(InputError, match=r"broken\.gguf"):
        asyncio.run(opened())


def test_a_library_that_the_system_lacks_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package is installed and cannot be loaded, as in python:3.13-slim."""
    lacking = "libgomp.so.1: cannot open shared object file: No such file or directory"
    (tmp_path / "xllamacpp.py").write_text(f"raise ImportError({lacking!r})")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "xllamacpp", raising=False)
    with pytest.raises(GradeschoolError, match=r"libgomp\.so\.1: .*: apt-get install libgomp1"):
        LlamaCppModel(tmp_path / "any.gguf")


@pytest.mark.slow
def test_the_shipped_model_solves_fresh_problems(tmp_path: Path, gradeschool: Command) -> None:
    skip_without(SERVER_NEEDS, "the built-in model")
    ended = gradeschool("eval", "-m", "tiny", "-d", "fresh:1", "-n", "24", "-o", tmp_path / "run",
                       "--json")  # fmt: skip
    assert ended.status == 0
    manifest = json.loads((tmp_path / "run" / "run.json").read_text())
    assert manifest["protocol"]["name"] == "openai/2021"
    assert "with the calculator" in manifest["model"]
    lines = (tmp_path / "run/completions.jsonl").read_text().splitlines()
    golds = {problem.id: problem.gold for problem in load_dataset("fresh:1").problems}
    rows = [json.loads(line) for line in lines]
    verdicts = [judge(row["completion"], golds[row["problem_id"]], "openai/2021") for row in rows]
    assert len(verdicts) == 24
    assert sum(verdict.correct for verdict in verdicts) >= 6  # 21 of 40 when it was made


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
