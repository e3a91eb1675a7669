"""A chat template of a GGUF file cannot hang or exhaust the process."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradeschool.errors import InputError
from gradeschool.models import chat_template
from gradeschool.models.chat_template import check_template, template_in

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
        ("{% for a in 'x' * 999 %}" * 5 + "x" + "{% endfor %}" * 5, "2 s or 512 MB"),
        ("{% for a in messages %}" * 6 + "{% endfor %}" * 6, "more than 5 loops"),
        ("{% if %}", "it cannot be read"),
    ],
)
def test_a_hostile_template_is_refused(
    template: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_template, "SECONDS", 2)
    with pytest.raises(InputError, match="is not rendered") as refused:
        check_template(file_with(template, tmp_path / "model.gguf"))
    assert reason in str(refused.value)


@pytest.mark.parametrize("body", [b"", b"GGUF", b"GGUF" + b"\xff" * 64, b"other"])
def test_a_damaged_header_is_left_to_llama_cpp(body: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(body)
    assert template_in(tmp_path / "x.gguf") is None
