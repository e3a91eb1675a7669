"""`-m anthropic/NAME` and `-m gemini/NAME` through any-llm, on a stand-in of both APIs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.peers.install import missing
from tests.peers.pages import run
from tests.support.provider_apis import ANSWER, KEY, Providers, running_providers

pytestmark = pytest.mark.peers

PEER = "providers"
MODELS = {"anthropic": "anthropic/claude-x", "gemini": "gemini/gemini-x"}
VERSIONS = {"anthropic": "claude-x-20260101", "gemini": "gemini-x-001"}
# Scenario: what is stored, (text, finish) or (None, cause).
OF_BOTH = {
    "plain": (ANSWER, "stop"),
    "truncated": ("2 + 2", "length"),
    "refused": (None, "content filter"),
    "thinking": (ANSWER, "stop"),
    "only thinking": ("", "length"),
    "paused": (None, "unknown ending"),
    "new reason": (None, "unknown ending"),
    "busy": (ANSWER, "stop"),
    "overloaded": (ANSWER, "stop"),
}
ENDINGS = {
    "anthropic": {**OF_BOTH, "window": (ANSWER, "length")},
    "gemini": {**OF_BOTH, "silent": ("", "length"), "filtered": (None, "content filter")},
}
TOKENS = {"anthropic": (25, 7), "gemini": (21, 12)}  # cached ones and thoughts are counted


@pytest.fixture
def providers() -> Iterator[Providers]:
    if reason := missing(PEER):
        pytest.skip(reason)
    with running_providers() as providers:
        yield providers


def evaluate(
    providers: Providers, folder: Path, name: str, *options: str, **changes: str
) -> CompletedProcess[str]:
    variables = {
        "ANTHROPIC_API_KEY": KEY, "GEMINI_API_KEY": KEY, "GOOGLE_API_KEY": "",
        "ANTHROPIC_BASE_URL": providers.url, "GOOGLE_GEMINI_BASE_URL": providers.url,
        "NO_PROXY": "127.0.0.1",
    }  # fmt: skip
    process = run(
        PEER, folder, "python", "-m", "gradeschool", "eval", "-m", MODELS[name], "-o", "run",
        "--quiet", *options, **(variables | changes),
    )  # fmt: skip
    assert "Traceback" not in process.stderr, process.stderr[-3000:]
    stored = [path for path in folder.rglob("*") if path.is_file() and "lent" not in path.parts]
    assert not [path for path in stored if KEY.encode() in path.read_bytes()]
    assert KEY not in process.stdout + process.stderr
    return process


def questions(folder: Path, scenarios: list[str]) -> str:
    rows = [
        {"id": scenario, "question": f"What is 2 + 2? [{scenario}]", "answer": "#### 4"}
        for scenario in scenarios
    ]
    (folder / "questions.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return "questions.jsonl"


def stored(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the last row of each problem."""
    lines = (folder / "run" / "completions.jsonl").read_text("utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line]
    return {row["problem_id"]: row for row in rows}


@pytest.mark.parametrize("name", list(MODELS))
def test_every_ending_is_stored_as_what_it_is(
    providers: Providers, tmp_path: Path, name: str
) -> None:
    expected = ENDINGS[name]
    dataset = questions(tmp_path, list(expected))
    process = evaluate(providers, tmp_path, name, "-d", dataset, "--json")
    assert process.returncode == 3, process.stderr
    rows = stored(tmp_path)
    for scenario, (text, ending) in expected.items():
        row = rows[scenario]
        if text is None:
            assert row["error"].startswith(f"{ending}: "), (scenario, row)
            continue
        assert (row["completion"], row["finish"]) == (text, ending), (scenario, row)
        assert row["model"] == VERSIONS[name]
        assert (row["prompt_tokens"], row["completion_tokens"]) == TOKENS[name]
        assert row["reasoning"] == ("two and two" if "thinking" in scenario else "")
    assert providers.calls["busy"] == providers.calls["overloaded"] == 2
    assert providers.calls["plain"] == providers.calls["refused"] == 1
    results = json.loads((tmp_path / "run" / "results.json").read_text("utf-8"))
    assert results["truncated"] == sum(ending == "length" for _, ending in expected.values())
    run_json = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))
    assert run_json["engine"]["engine"] == "any-llm"
    sdk = {"anthropic": "anthropic ", "gemini": "google-genai "}[name]
    assert sdk in run_json["engine"]["version"]

    before = providers.calls.total()
    again = evaluate(providers, tmp_path, name, "-d", dataset, "--json")
    failed = sum(text is None for text, _ in expected.values())
    assert again.returncode == 3
    # Only what failed is asked again; unknown endings three times, refusals once.
    unknown = sum(ending == "unknown ending" for _, ending in expected.values())
    assert providers.calls.total() - before == 3 * unknown + (failed - unknown)


@pytest.mark.parametrize("name", list(MODELS))
def test_the_request_holds_system_stop_prefix_and_settings(
    providers: Providers, tmp_path: Path, name: str
) -> None:
    protocol = ("-p", "ai-benchmarks/gsm8k", "-d", "sample", "-n", "2")
    process = evaluate(providers, tmp_path, name, *protocol, "--max-tokens", "77", "--seed", "5",
                       "--temperature", "0.5", "-k", "2")  # fmt: skip
    assert process.returncode == 0, process.stderr
    assert len(providers.bodies) == 4
    body = providers.bodies[0]
    deviations = json.loads((tmp_path / "run" / "results.json").read_text("utf-8"))["deviations"]
    if name == "anthropic":
        assert body["max_tokens"] == 77 and body["temperature"] == 0.5
        assert "####" in body["system"] and body["messages"][0]["role"] == "user"
        assert "seed" not in body and deviations == {"seed not sent": 4}
    else:
        settings = body["generationConfig"]
        assert settings["maxOutputTokens"] == 77 and settings["temperature"] == 0.5
        seeds = sorted(body["generationConfig"]["seed"] for body in providers.bodies)
        assert seeds == [5, 5, 6, 6] and not deviations
        assert "####" in body["systemInstruction"]["parts"][0]["text"]
        assert body["contents"][0]["role"] == "user"


def test_a_setting_that_a_model_refuses_is_left_out_and_recorded(
    providers: Providers, tmp_path: Path
) -> None:
    providers.refuses = "temperature"
    process = evaluate(providers, tmp_path, "anthropic", "-d", "sample", "-n", "4",
                       "--connections", "1")  # fmt: skip
    assert process.returncode == 0, process.stderr
    assert ["temperature" in body for body in providers.bodies] == [True, *[False] * 4]
    results = json.loads((tmp_path / "run" / "results.json").read_text("utf-8"))
    assert results["deviations"]["temperature refused"] == 4


@pytest.mark.parametrize(
    ("options", "changes", "words"),
    [
        ((), {"ANTHROPIC_API_KEY": "sk-wrong-key-0123456789"}, "the server refuses the API key"),
        ((), {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}, "is the server running?"),
        (("--timeout", "0.5", "-d", "slow"), {}, "did not answer within 0.5 s"),
    ],
)
def test_what_no_request_survives_is_one_sentence(
    providers: Providers,
    tmp_path: Path,
    options: tuple[str, ...],
    changes: dict[str, str],
    words: str,
) -> None:
    if "slow" in options:
        options = (*options[:-1], questions(tmp_path, ["slow"]))
        process = evaluate(providers, tmp_path, "anthropic", *options)
        assert process.returncode == 3 and providers.calls["slow"] == 3
        assert words in stored(tmp_path)["slow"]["error"]
        return
    process = evaluate(providers, tmp_path, "anthropic", "-d", "sample", "-n", "3", **changes)
    assert process.returncode == 2, process.stderr
    assert words in process.stderr
    assert "sk-wrong-key" not in process.stderr + process.stdout


def test_a_missing_key_and_a_completion_protocol_are_refused_first(
    providers: Providers, tmp_path: Path
) -> None:
    missing_key = evaluate(providers, tmp_path, "gemini", "-d", "gsm8k", GEMINI_API_KEY="")
    assert missing_key.returncode == 2
    assert "GEMINI_API_KEY or GOOGLE_API_KEY is not set; export the key" in missing_key.stderr
    form = evaluate(providers, tmp_path, "gemini", "-d", "gsm8k", "-p", "openai/2021")
    assert form.returncode == 2
    assert "gemini answers only chats, and openai/2021 is a completion protocol" in form.stderr
    assert not providers.calls and not (tmp_path / "run").exists()
