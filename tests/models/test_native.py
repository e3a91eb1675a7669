"""`anthropic/NAME` and `gemini/NAME`: what is refused at once, and how replies end."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gradeschool import errors
from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.errors import FatalModelError, InputError, MissingExtraError, TransientError
from gradeschool.models import native
from gradeschool.models.base import Request
from gradeschool.models.choose import choose_model
from gradeschool.models.native import NativeModel, ending
from gradeschool.problem import Problem

KEY = "sk-native-0123456789abcdef"


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library is there and a key is set; nothing of it is imported."""
    monkeypatch.setattr(errors, "is_installed", lambda package: True)
    for name in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, KEY)
    for name in ("ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def request(prefix: str | None = None, **decoding: Any) -> Request:
    messages = (Message("system", "Be brief."), Message("user", "2+2?"))
    prompt = Prompt(messages=messages, prefix=prefix)
    return Request(Problem.from_gold("4"), prompt, Decoding(**decoding), ("key",), (3,))


def options(model: NativeModel, sample: Request) -> tuple[dict[str, Any], list[str]]:
    return model.options_of(sample)


def test_a_model_is_chosen_by_its_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    model = choose_model("anthropic/claude-x", (), "sample")
    assert isinstance(model, NativeModel)
    assert model.identity == "claude-x at https://api.anthropic.com (anthropic)"
    address = "https://generativelanguage.googleapis.com"
    for spec in ("gemini/gemini-x", "google/gemini-x"):
        chosen = choose_model(spec, (), "sample")
        assert chosen.identity == f"gemini-x at {address} (gemini)"
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://proxy.example/anthropic/")
    moved = choose_model("anthropic/claude-x", (), "sample")
    assert moved.identity == "claude-x at https://proxy.example/anthropic (anthropic)"


def test_a_missing_key_library_or_address_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://user:secret-pw@host/v1")
    with pytest.raises(InputError, match="ANTHROPIC_BASE_URL") as caught:
        choose_model("anthropic/claude-x", (), "sample")
    assert "secret-pw" not in str(caught.value)
    monkeypatch.delenv("GEMINI_API_KEY")
    words = "GEMINI_API_KEY or GOOGLE_API_KEY is not set; export the key for -m gemini/g"
    with pytest.raises(InputError, match=words):
        choose_model("gemini/g", (), "sample")
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    assert choose_model("gemini/g", (), "sample").name == "g"
    monkeypatch.setattr(errors, "is_installed", lambda package: package != "any_llm")
    with pytest.raises(MissingExtraError, match=r"pip install 'gradeschool\[providers\]'"):
        choose_model("gemini/g", (), "sample")
    with pytest.raises(InputError, match="anthropic/ models cannot use the calculator"):
        choose_model("anthropic/c", (), "sample", calculator=True)


def test_what_a_provider_does_not_take_is_left_out_and_said() -> None:
    sample = request(
        prefix="The answer is", temperature=0.0, top_p=1.0, stop=("\n\n", "Q:"), seed=5
    )
    sent, deviations = options(NativeModel("anthropic", "c", 9.0), sample)
    assert sent == {
        "model": "c",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "2+2?"},
            {"role": "assistant", "content": "The answer is"},
        ],
        "timeout": 9.0,
        "temperature": 0.0,
        "max_tokens": native.LONGEST_COMPLETION,
        "stop": ["Q:"],
    }
    assert deviations == ["seed not sent", f"max_tokens {native.LONGEST_COMPLETION} sent"]
    sent, deviations = options(NativeModel("gemini", "g"), sample)
    assert sent["seed"] == 8 and "max_tokens" not in sent and not deviations


@pytest.mark.parametrize(
    ("error", "kind", "cause"),
    [
        ({"status_code": 429, "retry_after": "7"}, TransientError, "http 429"),
        ({"status_code": 529}, TransientError, "http 529"),
        ({"status_code": 401}, FatalModelError, "http 401"),
        ({"original_exception": TimeoutError()}, TransientError, "timeout"),
        ({"original_exception": ConnectionError()}, TransientError, "cannot connect"),
        ({"original_exception": ValueError()}, TransientError, "bad response"),
        ({"original_exception": OSError()}, TransientError, "connection lost"),
    ],
)
def test_failures_have_the_causes_of_an_endpoint(
    error: dict[str, Any], kind: type[Exception], cause: str
) -> None:
    fields = {"status_code": None, "original_exception": None, **error}
    failure = NativeModel("gemini", "g")._failure(
        type("Failure", (Exception,), fields)(f"failed with {KEY}")
    )
    assert type(failure) is kind and failure.cause == cause
    assert KEY not in str(failure)
    assert getattr(failure, "retry_after", None) == (7.0 if "retry_after" in error else None)


def test_endings_are_the_providers_own_words() -> None:
    message = SimpleNamespace(stop_reason="pause_turn", model="claude-x-1")
    assert ending(message) == ("pause_turn", "claude-x-1")
    candidate = SimpleNamespace(finish_reason=SimpleNamespace(value="MAX_TOKENS"))
    response = SimpleNamespace(candidates=[candidate], model_version="g-1", prompt_feedback=None)
    assert ending(response) == ("MAX_TOKENS", "g-1")
    response.candidates = None
    assert ending(response)[0] == "no candidates"
    response.prompt_feedback = SimpleNamespace(block_reason="SAFETY")
    assert ending(response)[0] == "content_filter"


@pytest.mark.parametrize(
    ("given", "effort"),
    [
        ({"thinking": True}, "medium"),
        ({"thinking": False}, "none"),
        ({"reasoning_effort": "high", "thinking": True}, "high"),
        ({}, None),
    ],
)
@pytest.mark.parametrize("spec", ["anthropic/claude-x", "gemini/gemini-x"])
def test_thinking_is_an_effort_of_these_providers(
    spec: str, given: dict[str, Any], effort: str | None
) -> None:
    model = choose_model(spec, (), "sample", options=given)
    assert isinstance(model, NativeModel)
    assert options(model, request())[0].get("reasoning_effort") == effort
    assert ("reasoning effort" in model.identity) == (effort is not None)
