"""A plain HTTP client for OpenAI-compatible servers, independent of the code under test."""

import json
from typing import Any
from urllib.request import Request, urlopen


def complete(url: str, prompt: str, **more: Any) -> dict[str, Any]:
    """Return the only choice of a greedy completion."""
    body = {"prompt": prompt, "temperature": 0, "repeat_penalty": 1.0, **more}
    headers = {"Content-Type": "application/json"}
    with urlopen(Request(f"{url}/completions", json.dumps(body).encode(), headers)) as answer:
        return dict(json.load(answer)["choices"][0])
