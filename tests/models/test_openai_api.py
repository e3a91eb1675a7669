"""OpenAI's HTTP API: what is an answer, what a refusal means."""

import json
from typing import Any

import pytest

from gradeschool.completion import (
    CUT_BY_STOP,
    ENDED_AT_ONCE,
    IN_REASONING,
    IN_THINKING,
    Decoding,
    Finish,
    Message,
    Prompt,
)
from gradeschool.errors import ModelError, TransientError
from gradeschool.models.base import Reply, Request
from gradeschool.models.openai_api import (
    LONGEST_RETRY_AFTER,
    classify,
    object_in,
    refused_fields,
    reply_in,
    thinking_fields,
)
from gradeschool.problem import Problem

PROBLEM = Problem.from_row("0", "Q?", "#### 1")
TOKENS = {"prompt_tokens": 9, "completion_tokens": 4}
TEXT = {"type": "text", "text": "#### 1"}
FAILED_500 = "A student failed 10 of the 500 questions.\n#### 490"  # like an error, but an answer


def request(number: int = 0, prompt: Prompt | None = None, stop: tuple[str, ...] = ()) -> Request:
    return Request(PROBLEM, prompt or Prompt(text="Q"), Decoding(stop=stop), f"k{number}", number)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("", None), ("5", 5.0), (" 1.5 ", 1.5), ("0", 0.0), ("86400", LONGEST_RETRY_AFTER),
        ("-3", None), ("soon", None), ("Fri, 31 Dec 9999 23:59:59 GMT", None), ("9" * 5000, None),
    ],
)  # fmt: skip
def test_retry_after_is_read_in_seconds_and_bounded(header: str, seconds: float | None) -> None:
    error = classify(429, {"retry-after": header}, b"", "http://x", has_key=True)
    assert isinstance(error, TransientError)
    assert error.retry_after == seconds


@pytest.mark.parametrize(
    ("base", "said"),
    [("http://x:1", "did you mean http://x:1/v1?"), ("http://x:1/v1", "check the address")],
)
def test_an_address_that_is_not_found_may_lack_v1(base: str, said: str) -> None:
    assert said in str(classify(404, {}, b"{}", base, has_key=False))


@pytest.mark.parametrize(
    ("choice", "stop", "cause"),
    [
        ({"message": {"content": None, "reasoning_content": "18"}}, (), IN_REASONING),
        ({"message": {"content": "", "reasoning": "hm"}, "finish_reason": "length"}, (),
         IN_THINKING),
        ({"message": {"content": "\n\nSo 18"}}, ("\n\n",), CUT_BY_STOP),
        ({"message": {"content": ""}, "stop_reason": "\n\n"}, ("\n\n",), CUT_BY_STOP),
        ({"message": {"content": ""}}, ("\n\n",), CUT_BY_STOP),  # cut by a server that does not say
        ({"message": {"content": ""}}, (), ENDED_AT_ONCE),
    ],
)  # fmt: skip
def test_an_empty_reply_is_told(choice: dict[str, Any], stop: tuple[str, ...], cause: str) -> None:
    body = {"choices": [{"finish_reason": "stop", **choice}], "usage": TOKENS}
    asked = request(0, Prompt(messages=(Message("user", "Q"),)), stop)
    reply = reply_in(object_in(json.dumps(body).encode()), asked)
    assert reply.text == ""
    assert cause in reply.deviations


@pytest.mark.parametrize(
    ("base", "thinking", "effort", "fields"),
    [
        ("http://localhost:8000/v1", False, None,  # vLLM, SGLang, llama.cpp
         {"chat_template_kwargs": {"enable_thinking": False, "thinking": False}}),
        ("http://localhost:8000/v1", None, "high",
         {"reasoning_effort": "high", "chat_template_kwargs": {"reasoning_effort": "high"}}),
        ("http://localhost:11434/v1", False, None, {"reasoning_effort": "none"}),
        ("https://api.openai.com/v1", True, None, {"reasoning_effort": "medium"}),
        ("https://generativelanguage.googleapis.com/v1beta/openai", None, "low",
         {"reasoning_effort": "low"}),
        ("https://openrouter.ai/api/v1", False, None, {"reasoning": {"enabled": False}}),
        ("https://api.anthropic.com/v1", True, None,
         {"thinking": {"type": "enabled", "budget_tokens": 8192}}),
        ("https://api.deepseek.com/v1", False, None, {"thinking": {"type": "disabled"}}),
        ("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", False, None,
         {"enable_thinking": False}),
    ],
)  # fmt: skip
def test_each_server_gets_its_field_for_thinking(
    base: str, thinking: bool | None, effort: str | None, fields: dict[str, Any]
) -> None:
    assert thinking_fields(base, thinking, effort) == fields


def said(content: Any, reason: Any = "stop", **more: Any) -> dict[str, Any]:
    return {"message": {"content": content, **more}, "finish_reason": reason}


@pytest.mark.parametrize(
    ("choice", "usage", "text", "finish"),
    [
        (said("x"), {}, "x", Finish.STOP),
        ({"message": {"content": "x"}}, {}, "x", Finish.UNKNOWN),
        (said("x", None), {}, "x", Finish.UNKNOWN),
        (said("x", "EOS"), {}, "x", Finish.STOP),
        (said("x", "length"), {}, "x", Finish.LENGTH),
        (said(""), TOKENS, "", Finish.STOP),  # the model ended at once
        (said(None, "length", reasoning="hm"), TOKENS, "", Finish.LENGTH),
        (said(None, "length"), TOKENS, "", Finish.LENGTH),  # thought out of sight
        ({"message": {"content": "x"}, "error": None}, {}, "x", Finish.UNKNOWN),
        (said(FAILED_500), TOKENS, FAILED_500, Finish.STOP),
        (said([{"type": "text", "text": "a"}, {"text": "b"}]), {}, "ab", Finish.STOP),
        (said(["a", "b"]), {}, "ab", Finish.STOP),
    ],
)
def test_what_is_an_answer(
    choice: dict[str, Any], usage: dict[str, Any], text: str, finish: Finish
) -> None:
    reply = parse(choice, usage)
    assert (reply.text, reply.finish) == (text, finish)


@pytest.mark.parametrize(
    ("choice", "usage", "cause", "passes"),
    [
        ({"message": "#### 1"}, TOKENS, "bad response", True),
        ({"text": "#### 1"}, TOKENS, "bad response", True),  # the other form
        (said(True), TOKENS, "bad response", True),
        (said([18]), TOKENS, "bad response", True),
        (said(""), {}, "empty reply", True),
        (said("So 5", "content_filter"), TOKENS, "content filter", False),
        (said(None, refusal="no"), TOKENS, "content filter", False),
        (said(None, tool_calls=[{}]), TOKENS, "tool call", False),
        (said("#### 1", {"a": 1}), TOKENS, "unknown ending", True),
        (said([]), TOKENS, "bad response", True),
        (said([{"type": "text", "text": None}]), TOKENS, "bad response", True),
        (said([{"type": "image_url", "image_url": {"url": "x"}}]), TOKENS, "bad response", True),
        (said([TEXT, {"type": "image"}]), TOKENS, "bad response", True),  # no part is dropped
        (said([{"type": "refusal", "refusal": "no"}]), TOKENS, "content filter", False),
        (said([{"type": "tool_use", "name": "f"}]), TOKENS, "tool call", False),
        (said([TEXT, {"type": "tool_use"}]), TOKENS, "tool call", False),
    ],
)
def test_what_is_no_answer_is_a_failure_with_a_cause(
    choice: dict[str, Any], usage: dict[str, Any], cause: str, passes: bool
) -> None:
    with pytest.raises(ModelError) as caught:
        parse(choice, usage)
    assert caught.value.cause == cause
    assert isinstance(caught.value, TransientError) == passes
    assert caught.value.usage[:2] == (usage.get("prompt_tokens"), usage.get("completion_tokens"))


def parse(choice: dict[str, Any], usage: dict[str, Any]) -> Reply:
    body = json.dumps({"choices": [choice], "usage": usage}).encode()
    return reply_in(object_in(body), request(0, Prompt(messages=(Message("user", "Q"),))))


def test_a_stop_string_left_in_and_a_repeated_prefix_are_taken_off_and_named() -> None:
    body = {"choices": [said("Answer: 5\nQuestion: next", "length")], "model": "m"}
    prompt = Prompt(messages=(Message("user", "Q"),), prefix="Answer:")
    reply = reply_in(body, request(0, prompt, ("Question:",)))
    assert reply.text == " 5\n"
    assert reply.deviations == ("prefix repeated", "stop string left in")
    assert reply.finish is Finish.STOP  # as if the server had stopped there


@pytest.mark.parametrize("count", ["-1", "2147483648", "9" * 25, "9" * 5000, "1.5", "true", '"7"'])
def test_usage_that_makes_no_sense_is_left_out(count: str) -> None:
    details = '"completion_tokens_details": {"reasoning_tokens": 3}'
    usage = f'{{"prompt_tokens": {count}, "completion_tokens": 4, {details}}}'
    raw = f'{{"choices": [{{"text": "x"}}], "usage": {usage}}}'.encode()
    assert reply_in(object_in(raw), request()).usage == (None, 4, 3)


SENT = {
    "model": "m", "messages": [], "max_tokens": 9, "temperature": 0, "top_p": 1, "stop": ["Q:"],
    "top_k": 0, "presence_penalty": 0,
}  # fmt: skip
EXTRA = {"type": "extra_forbidden", "loc": ["body", "top_k"], "msg": "Extra inputs", "input": SENT}
REFUSALS: dict[str, tuple[Any, set[str]]] = {
    "OpenAI, a value": (
        {"error": {"message": "Unsupported value: 'temperature' does not support 0 with this model."
                   " Only the default (1) value is supported.", "param": "temperature"}},
        {"temperature"},
    ),
    "OpenAI, a parameter": (
        {"error": {"message": "Unsupported parameter: 'stop' is not supported with this model."}},
        {"stop"},
    ),
    "OpenAI, too many": ({"error": {"message": "Invalid 'stop': array too long."}}, {"stop"}),
    "OpenAI, the user's value": (
        {"error": {"message": "Invalid 'temperature': decimal above maximum value."}}, set(),
    ),
    "Anthropic": ({"error": "`temperature` is deprecated for this model."}, {"temperature"}),
    "camel case": (
        {"error": "Model m does not support parameter presencePenalty."}, {"presence_penalty"},
    ),
    "FastAPI, beside the whole request": ({"detail": [EXTRA]}, {"top_k"}),
    "FastAPI in a text": ({"message": str([{**EXTRA, "input": 0}])}, {"top_k"}),
    "vLLM, a prompt that is too long": (
        {"error": "'max_tokens' or 'max_completion_tokens' is too large: 256."}, set(),
    ),
    "a field that was not sent": ({"error": "unknown field min_p"}, set()),
    "another reason, beside the whole request": (
        {"error": {"message": "invalid prompt: too long", "request": SENT}}, set(),
    ),
    "no JSON": ("unexpected keyword argument 'top_k'", {"top_k"}),
    "a new name": (
        {"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'"}},
        {"max_tokens"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_fields_that_a_server_refuses(name: str) -> None:
    says, fields = REFUSALS[name]
    raw = says if isinstance(says, str) else json.dumps(says)
    assert refused_fields(raw.encode(), SENT) == fields
