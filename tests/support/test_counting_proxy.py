"""The proxy that counts requests before a real server."""

import http.client
import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.counting_proxy import Answer, counting_proxy, read_log
from tests.support.llama_server import LlamaServer
from tests.support.openai_client import SECONDS, complete, post


def wait_for(log: Path, event: str) -> None:
    deadline = time.monotonic() + SECONDS
    while not read_log(log, event):
        assert time.monotonic() < deadline, read_log(log)
        time.sleep(0.01)


def test_the_proxy_counts_and_passes_answers_on_unchanged(llama_url: str, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    prompts = [f"Question: {number} plus 1?\nAnswer:" for number in range(12)]
    with counting_proxy(llama_url, log, delay=0.01) as url, ThreadPoolExecutor(6) as pool:
        texts = list(pool.map(lambda p: complete(url, p, max_tokens=8)["text"], prompts))
    assert texts == [complete(llama_url, prompt, max_tokens=8)["text"] for prompt in prompts]
    requests, responses = read_log(log, "request"), read_log(log, "response")
    assert sorted(e["number"] for e in requests) == list(range(1, 13))
    assert sorted(e["body"]["prompt"] for e in requests) == sorted(prompts)
    texts_by_prompt = {e["request"]["prompt"]: e["body"]["choices"][0]["text"] for e in responses}
    assert texts_by_prompt == dict(zip(prompts, texts, strict=True))


def test_the_proxy_injects_faults(llama_url: str, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"

    def first_is_refused(number: int, body: dict[str, Any]) -> Answer | None:
        return (429, {"Retry-After": "7"}, b'{"error": "slow down"}') if number == 1 else None

    with counting_proxy(llama_url, log, faults=first_is_refused) as url:
        status, headers, answer = post(url, "/completions", {"prompt": "Q:", "max_tokens": 2})
        assert (status, headers["Retry-After"], answer) == (429, "7", {"error": "slow down"})
        assert complete(url, "Q:", max_tokens=2)["text"]
    assert [(e["status"], e["injected"]) for e in read_log(log, "response")] == [
        (429, True),
        (200, False),
    ]


def test_a_proxy_that_ends_drops_what_is_unanswered(llama_url: str, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with ThreadPoolExecutor(1) as pool:
        with counting_proxy(llama_url, log, delay=SECONDS) as url:
            waiting = pool.submit(post, url, "/completions", {"prompt": "Q:"})
            while not read_log(log, "request"):
                assert not waiting.done()
        with pytest.raises((ConnectionError, http.client.HTTPException)):
            waiting.result(SECONDS)
    assert [e["event"] for e in read_log(log)] == ["request", "dropped"]


def test_a_client_that_leaves_is_written_down(llama_url: str, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with counting_proxy(llama_url, log, delay=SECONDS) as url:
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(parts.netloc, timeout=SECONDS)
        connection.request("POST", f"{parts.path}/completions", json.dumps({"prompt": "Q:"}))
        wait_for(log, "request")
        connection.close()
        wait_for(log, "dropped")
    assert [e["event"] for e in read_log(log)] == ["request", "dropped"]


def test_events_stream_through_the_proxy(llama_url: str, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    body = {"prompt": "Q:", "max_tokens": 5, "stream": True}
    with counting_proxy(llama_url, log) as url:
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(parts.netloc, timeout=SECONDS)
        connection.request("POST", f"{parts.path}/completions", json.dumps(body))
        text = connection.getresponse().read().decode()
        connection.close()
    assert text.rstrip().endswith("data: [DONE]")
    assert [e["body"] for e in read_log(log, "response")] == [text]


def test_the_proxy_of_a_killed_server_says_502(shipped_gguf: Path, tmp_path: Path) -> None:
    server = LlamaServer(shipped_gguf, slots=1, context=512)
    try:
        with counting_proxy(server.url, tmp_path / "log.jsonl") as url:
            assert complete(url, "Q:", max_tokens=2)["text"]
            server.kill()
            status, _, answer = post(url, "/completions", {"prompt": "Q:"})
            assert status == 502, answer
        with pytest.raises(ConnectionError):
            post(server.url, "/completions", {"prompt": "Q:"})
    finally:
        server.stop()
