"""--thinking and --reasoning-effort on a socket: the body that each kind of server gets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.fault_server import fault_server
from tests.support.provider_apis import KEY, running_providers

ON, OFF, LOW = ("--thinking", "on"), ("--thinking", "off"), ("--reasoning-effort", "low")
FIELDS = ("chat_template_kwargs", "reasoning_effort", "reasoning", "thinking", "enable_thinking")
ONE = ("-d", "sample", "-n", 1, "--quiet")
HERE = "http://localhost:{port}/v1/m"  # vLLM, SGLang and llama.cpp: arguments of the template
OPENAI = "http://api.openai.com/v1/m"
QWEN = "http://dashscope-intl.aliyuncs.com/compatible-mode/v1/m"
ANTHROPIC = "http://api.anthropic.com/v1/m"
GEMINI = "http://generativelanguage.googleapis.com/v1beta/openai/m"
OPENROUTER = "http://openrouter.ai/api/v1/m"


def template(**arguments: object) -> dict[str, Any]:
    return {"chat_template_kwargs": arguments}


@pytest.mark.parametrize(
    ("address", "options", "fields"),
    [
        (HERE, (), {}),
        (HERE, ON, template(enable_thinking=True, thinking=True)),
        (HERE, OFF, template(enable_thinking=False, thinking=False)),
        (HERE, LOW, {"reasoning_effort": "low", **template(reasoning_effort="low")}),
        (OPENAI, ON, {"reasoning_effort": "medium"}),
        (OPENAI, OFF, {"reasoning_effort": "none"}),
        (OPENAI, LOW, {"reasoning_effort": "low"}),
        (QWEN, ON, {"enable_thinking": True}),
        (QWEN, OFF, {"enable_thinking": False}),
        (ANTHROPIC, ON, {"thinking": {"type": "enabled", "budget_tokens": 8192}}),
        (ANTHROPIC, OFF, {"thinking": {"type": "disabled"}}),
        (GEMINI, ON, {"reasoning_effort": "medium"}),
        (GEMINI, OFF, {"reasoning_effort": "none"}),
        (OPENROUTER, ON, {"reasoning": {"enabled": True}}),
        (OPENROUTER, LOW, {"reasoning": {"effort": "low"}}),
    ],
)
def test_each_kind_of_server_is_sent_its_fields(
    gradeschool: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    options: tuple[str, ...],
    fields: Mapping[str, Any],
) -> None:
    """Hosts other than this machine are reached through a proxy, which is the stub."""
    for name in ("no_proxy", "NO_PROXY", "https_proxy", "HTTPS_PROXY", "GRADESCHOOL_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with fault_server() as server:
        port = server.url.rpartition(":")[2].partition("/")[0]
        for name in ("http_proxy", "HTTP_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
        run = tmp_path / "run"
        ended = gradeschool("eval", "-m", address.format(port=port), *ONE, *options, "-o", run)
        assert ended.status == 0, ended.err
    [request] = server.requests
    assert {name: request.body[name] for name in FIELDS if name in request.body} == fields
    stored = json.loads((run / "run.json").read_text()).get("options", {})
    shown = {"--thinking": "thinking", "--reasoning-effort": "reasoning_effort"}
    assert set(stored) == {shown[options[0]]} if options else not stored


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "package", "options", "fields"),
    [
        ("anthropic/claude-x", "anthropic", ON, {"type": "adaptive"}),
        ("anthropic/claude-x", "anthropic", OFF, {"type": "disabled"}),
        ("gemini/gemini-x", "google.genai", ON, {"include_thoughts": True}),
        ("gemini/gemini-x", "google.genai", OFF, {"thinking_budget": 0}),
    ],
)
def test_native_apis_are_sent_their_fields(
    gradeschool: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    package: str,
    options: tuple[str, ...],
    fields: Mapping[str, Any],
) -> None:
    pytest.importorskip("any_llm")
    pytest.importorskip(package)
    with running_providers() as providers:
        for name in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
            monkeypatch.setenv(name, KEY)
        for name in ("ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"):
            monkeypatch.setenv(name, providers.url)
        ended = gradeschool("eval", "-m", model, *ONE, *options, "-o", tmp_path / "run")
        assert ended.status == 0, ended.err
    [body] = providers.bodies
    config = body.get("generationConfig", {})
    sent = config.get("thinkingConfig", body.get("thinking"))
    assert sent is not None, body
    assert {name: sent.get(name) for name in fields} == fields
