"""A GGUF file run here by llama.cpp: transformers' text, a server that ends, bad files."""

import asyncio
import json
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gradeschool import judge, load_dataset
from gradeschool.completion import Message, Prompt
from gradeschool.errors import GradeschoolError, InputError
from gradeschool.models.choose import choose_model
from gradeschool.models.endpoint import Endpoint
from gradeschool.models.llama_cpp import LlamaCppModel, check_template, template_in
from gradeschool.models.local import check_thinking, encode_prompt
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


def test_a_lacking_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    gradeschool.done("eval", "-m", "tiny", "-d", "fresh:1", "-n", "24", "-o", tmp_path / "run",
                       "--json")  # fmt: skip
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


gguf = pytest.importorskip("gguf")

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def file_with(template: str | None, path: Path) -> Path:
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_array("tokenizer.ggml.tokens", ["a", "b"])
    writer.add_array("tokenizer.ggml.scores", [0.0, 1.0])
    if template is not None:
        writer.add_chat_template(template)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


@pytest.mark.parametrize("template", [None, CHATML])
def test_a_usual_template_is_read_and_accepted(template: str | None, tmp_path: Path) -> None:
    path = file_with(template, tmp_path / "model.gguf")
    assert template_in(path) == template
    check_template(path)


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{% for i in range(10 ** 12) %}x{% endfor %}", "it has a range"),
        ("{% set r = range(10 ** 12) %}{% for i in r %}{% endfor %}", "it has a range"),
        ("{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}", "macro f calls itself"),
        ("{{ 'x' * 10 ** 10 }}", "512 MB"),
        ("{{ 'x' * 10 ** 7 }}", "far more than its messages"),
        ("{% set ns = namespace(x='x') %}" + "{% set ns.x = ns.x ~ ns.x %}" * 40, "512 MB"),
        pytest.param(
            "{% for a in 'x' * 999 %}" * 5 + "x" + "{% endfor %}" * 5,
            "5 s or 512 MB",
            marks=pytest.mark.slow,
        ),
        ("{% for a in messages %}" * 6 + "{% endfor %}" * 6, "more than 5 loops"),
        ("{% if %}", "it cannot be read"),
    ],
)
def test_a_hostile_template_is_refused(template: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not rendered") as refused:
        check_template(file_with(template, tmp_path / "model.gguf"))
    assert reason in str(refused.value)


@pytest.mark.parametrize("body", [b"", b"GGUF", b"GGUF" + b"\xff" * 64, b"other"])
def test_a_damaged_header_is_left_to_llama_cpp(body: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(body)
    assert template_in(tmp_path / "x.gguf") is None


SWITCHED = CHATML + "{% if not enable_thinking %}<think>\n\n</think>\n\n{% endif %}"


def test_a_template_without_a_switch_for_thinking_is_refused() -> None:
    for template in (SWITCHED, "{% if thinking %}x{% endif %}"):
        check_thinking(template, "m")
    for template in ("", CHATML, CHATML + "<thinking>", "a rethinking"):
        with pytest.raises(InputError, match=r"'m' has no switch for thinking .*; leave"):
            check_thinking(template, "m")


class Tokenizer:
    """A tokenizer that notes what its template is told."""

    chat_template = SWITCHED
    told: dict[str, object]

    def apply_chat_template(self, turns: object, **told: object) -> str:
        """Note the arguments."""
        self.told = told
        return "text"

    def __call__(self, text: str, **_: object) -> dict[str, list[int]]:
        """Return one token."""
        return {"input_ids": [7]}


@pytest.mark.parametrize("thinking", [True, False, None])
def test_the_template_of_a_local_model_is_told(thinking: bool | None) -> None:
    tokenizer = Tokenizer()
    prompt = Prompt(messages=(Message("user", "?"),))
    assert encode_prompt(tokenizer, prompt, thinking) == [7]
    given = {} if thinking is None else {"enable_thinking": thinking, "thinking": thinking}
    assert tokenizer.told == {"tokenize": False, "add_generation_prompt": True, **given}


def test_llama_cpp_has_the_switch(shipped_gguf: Path, tmp_path: Path, gradeschool: Command) -> None:
    skip_without(SERVER_NEEDS, "a model run by llama.cpp")
    file, text = tmp_path / "switch.gguf", tmp_path / "template.jinja"
    text.write_text(SWITCHED)
    command = [sys.executable, "-m", "gguf.scripts.gguf_new_metadata", "--force",
               "--chat-template-file", str(text), str(shipped_gguf), str(file)]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    rows = {}
    for thinking in ("on", "off"):
        run = tmp_path / thinking
        words = ("-m", f"llama.cpp/{file}", "-p", "zero-shot/chat", "-d", "sample", "-n", 1)
        limits = ("--max-tokens", 1, "--thinking", thinking, "--quiet", "-o", run)
        gradeschool.done("eval", *words, *limits)
        rows[thinking] = json.loads((run / "completions.jsonl").read_text())
    assert rows["off"]["prompt_tokens"] > rows["on"]["prompt_tokens"]
    assert rows["off"]["key"] != rows["on"]["key"]
    no_switch = ("-m", f"llama.cpp/{shipped_gguf}", "-p", "zero-shot/chat", "-d", "sample")
    said = gradeschool.refused("eval", *no_switch, "--thinking", "on", "-o", tmp_path / "no")
    assert "has no switch for thinking" in said
