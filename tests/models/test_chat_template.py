"""A chat template of a GGUF file cannot hang or exhaust the process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gradeschool.completion import Message, Prompt
from gradeschool.errors import InputError
from gradeschool.models import llama_cpp
from gradeschool.models.llama_cpp import check_template, template_in
from gradeschool.models.local import check_thinking, encode_prompt
from tests.support.command import Command
from tests.support.fixtures import SERVER_NEEDS, skip_without

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
            "2 s or 512 MB",
            marks=pytest.mark.slow,
        ),
        ("{% for a in messages %}" * 6 + "{% endfor %}" * 6, "more than 5 loops"),
        ("{% if %}", "it cannot be read"),
    ],
)
def test_a_hostile_template_is_refused(
    template: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llama_cpp, "SECONDS", 2)
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


def test_llama_cpp_renders_with_the_switch(
    shipped_gguf: Path, tmp_path: Path, gradeschool: Command
) -> None:
    """For real: the tokens of the prompt differ, and so does the key of the answer."""
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
        ended = gradeschool("eval", *words, *limits)
        assert ended.status == 0, ended.err
        rows[thinking] = json.loads((run / "completions.jsonl").read_text())
    assert rows["off"]["prompt_tokens"] > rows["on"]["prompt_tokens"]
    assert rows["off"]["key"] != rows["on"]["key"]
    no_switch = ("-m", f"llama.cpp/{shipped_gguf}", "-p", "zero-shot/chat", "-d", "sample")
    refused = gradeschool("eval", *no_switch, "--thinking", "on", "-o", tmp_path / "no")
    assert (refused.status, "has no switch for thinking" in refused.err) == (2, True)
