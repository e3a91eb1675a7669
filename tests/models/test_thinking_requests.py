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

ON, OFF, LOW = ("--thinking", "on"), ("--thinking", "off"), ("--reasoning-effort", "low")
FIELDS = ("chat_template_kwargs", "reasoning_effort", "reasoning", "thinking", "enable_thinking")
ONE = ("-d", "sample", "-n", 1, "--quiet")
HERE = "http://localhost:{port}/v1/m"  # vLLM, SGLang and llama.cpp: arguments of the template
OPENAI = "http://api.openai.com/v1/m"
QWEN = "http://dashscope-intl.aliyuncs.com/compatible-mode/v1/m"
OPENROUTER = "http://openrouter.ai/api/v1/m"


def template(**arguments: object) -> dict[str, Any]:
    return {"chat_template_kwargs": arguments}


@pytest.mark.parametrize(
    ("address", "options", "fields"),
    [
        (HERE, (), {}),
        (HERE, LOW, {"reasoning_effort": "low", **template(reasoning_effort="low")}),
        (OPENAI, ON, {"reasoning_effort": "medium"}),
        (QWEN, OFF, {"enable_thinking": False}),
        (OPENROUTER, ON, {"reasoning": {"enabled": True}}),
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
