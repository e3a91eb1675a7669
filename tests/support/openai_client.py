"""A plain HTTP client for OpenAI-compatible servers, independent of the code under test."""

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

GREEDY = {"temperature": 0, "repeat_penalty": 1.0}
SECONDS = 60


def post(url: str, path: str, body: dict[str, Any]) -> tuple[int, http.client.HTTPMessage, Any]:
    """Post JSON and return the status, the headers and the parsed answer."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=SECONDS)
    try:
        headers = {"Content-Type": "application/json"}
        connection.request("POST", parts.path + path, json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, json.loads(answer.read())
    finally:
        connection.close()


def complete(url: str, prompt: str, **more: Any) -> dict[str, Any]:
    """Return the only choice of a greedy completion."""
    status, _, answer = post(url, "/completions", {"prompt": prompt, **GREEDY, **more})
    assert status == 200, answer
    return dict(answer["choices"][0])


def chat(url: str, messages: list[dict[str, str]], **more: Any) -> dict[str, Any]:
    """Return the only choice of a greedy chat."""
    status, _, answer = post(url, "/chat/completions", {"messages": messages, **GREEDY, **more})
    assert status == 200, answer
    return dict(answer["choices"][0])
