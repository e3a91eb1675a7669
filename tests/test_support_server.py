"""The tests' own llama.cpp server, its tiny model, and the proxy that counts requests."""

import http.client
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support import tiny_corpus
from tests.support.counting_proxy import counting_proxy, read_log
from tests.support.llama_server import LlamaServer
from tests.support.tiny_model import GGUF_NAME

pytest_plugins = ["tests.support.fixtures"]

GREEDY = {"temperature": 0, "repeat_penalty": 1.0}
QUESTION = "Anna has 12 eggs. Ben brings 3 more eggs. How many eggs does Anna have now?"
SHOTS = [(f"{p.question}", p.answer) for p in tiny_corpus.make_problems(5, seed=1)]
SECONDS = 60


def post(url: str, path: str, body: dict[str, Any]) -> tuple[int, http.client.HTTPMessage, Any]:
    """Post JSON and give the status, the headers and the parsed answer."""
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
    """The one choice of a greedy completion."""
    status, _, answer = post(url, "/completions", {"prompt": prompt, **GREEDY, **more})
    assert status == 200, answer
    return dict(answer["choices"][0])


def chat(url: str, messages: list[dict[str, str]], **more: Any) -> dict[str, Any]:
    """The one choice of a greedy chat."""
    status, _, answer = post(url, "/chat/completions", {"messages": messages, **GREEDY, **more})
    assert status == 200, answer
    return dict(answer["choices"][0])


def as_chat_text(question: str, prefix: str = "") -> str:
    return f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n{prefix}"


def few_shot(shots: list[tuple[str, str]], question: str) -> str:
    solved = "".join(f"Question: {q}\nAnswer: {a}\n\n" for q, a in shots)
    return f"{solved}Question: {question}\nAnswer:"


def test_greedy_text_equals_transformers(tiny_model: Path, llama_url: str) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    tokenizer: Any = AutoTokenizer.from_pretrained(tiny_model, local_files_only=True)
    model = AutoModelForCausalLM.from_pretrained(
        tiny_model, dtype=torch.float32, local_files_only=True
    )
    questions = [p.question for p in tiny_corpus.make_problems(5, seed=2)]
    prompts = [f"Question: {question}\nAnswer:" for question in questions[:4]]
    prompts += [as_chat_text(question) for question in questions]
    prompts += [few_shot(SHOTS, QUESTION)]
    for prompt in prompts:
        inputs = tokenizer(prompt, return_tensors="pt")
        output = model.generate(**inputs, max_new_tokens=60, do_sample=False)[0]
        expected = tokenizer.decode(
            output[inputs["input_ids"].shape[1] :], skip_special_tokens=True
        )
        assert complete(llama_url, prompt, max_tokens=60)["text"] == expected


def test_answers_look_like_gsm8k_and_end_by_themselves(llama_url: str) -> None:
    questions = [p.question for p in tiny_corpus.make_problems(20, seed=3)]
    settings = {"temperature": 0.7, "max_tokens": 300, "seed": 1}
    choices = [complete(llama_url, f"Question: {q}\nAnswer:", **settings) for q in questions]
    choices += [complete(llama_url, as_chat_text(q), **settings) for q in questions]
    ended = [c for c in choices if "#### " in c["text"] and c["finish_reason"] == "stop"]
    assert len(ended) > len(choices) * 3 / 4


def test_chat_is_the_completion_of_its_template(llama_url: str) -> None:
    choice = chat(llama_url, [{"role": "user", "content": QUESTION}], max_tokens=60)
    assert choice["message"]["role"] == "assistant"
    assert choice["message"]["content"]
    rendered = complete(llama_url, as_chat_text(QUESTION), max_tokens=60)
    assert choice["message"]["content"] == rendered["text"]


def test_a_continued_assistant_message_comes_back_with_its_prefix(llama_url: str) -> None:
    prefix = "Anna has 12+3"
    messages = [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": prefix},
    ]
    flags = {"continue_final_message": True, "add_generation_prompt": False}
    content = chat(llama_url, messages, max_tokens=40, **flags)["message"]["content"]
    continuation = complete(llama_url, as_chat_text(QUESTION, prefix), max_tokens=40)["text"]
    assert continuation
    assert content == prefix + continuation


def test_stop_strings_are_left_out(llama_url: str) -> None:
    prompt = f"Question: {QUESTION}\nAnswer:"
    whole = complete(llama_url, prompt, max_tokens=60)["text"]
    stop = whole[len(whole) // 2 :][:3]
    choice = complete(llama_url, prompt, max_tokens=60, stop=[stop])
    assert choice["text"] == whole[: whole.index(stop)]
    assert choice["finish_reason"] == "stop"


def test_every_slot_takes_a_long_few_shot_prompt_at_once(llama_url: str) -> None:
    long = few_shot(SHOTS * 5, QUESTION)
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(
                lambda number: post(llama_url, "/completions", {"prompt": f"{number}\n{long}"}),
                range(8),
            )
        )
    for status, _, answer in answers:
        assert status == 200, answer
        assert answer["usage"]["prompt_tokens"] > 2000


def test_the_proxy_counts_and_passes_answers_on_unchanged(llama_url: str, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    prompts = [f"Question: {number} plus 1?\nAnswer:" for number in range(12)]
    with counting_proxy(llama_url, log, delay=0.01) as url, ThreadPoolExecutor(6) as pool:
        texts = list(pool.map(lambda p: complete(url, p, max_tokens=8)["text"], prompts))
    assert texts == [complete(llama_url, prompt, max_tokens=8)["text"] for prompt in prompts]
    asked, answered = read_log(log, "request"), read_log(log, "response")
    assert sorted(e["number"] for e in asked) == list(range(1, 13))
    assert sorted(e["body"]["prompt"] for e in asked) == sorted(prompts)
    told = {e["request"]["prompt"]: e["body"]["choices"][0]["text"] for e in answered}
    assert told == dict(zip(prompts, texts, strict=True))


def test_the_proxy_injects_faults(llama_url: str, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"

    def first_is_refused(
        number: int, body: dict[str, Any]
    ) -> tuple[int, dict[str, str], bytes] | None:
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


def test_a_killed_server_refuses_and_the_proxy_says_502(tiny_model: Path, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    server = LlamaServer(tiny_model / GGUF_NAME, slots=1, context=512)
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


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    with pytest.raises(RuntimeError, match=r"ended before it was ready[\s\S]*missing\.gguf"):
        LlamaServer(tmp_path / "missing.gguf")
