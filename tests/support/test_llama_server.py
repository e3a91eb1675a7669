"""The tests' own llama.cpp server, and the tiny model that it runs."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support import tiny_corpus, tiny_training
from tests.support.llama_server import LlamaServer
from tests.support.openai_client import chat, complete, post
from tests.support.tiny_model import RECIPE_NAME, build_tiny_model

QUESTION = "Anna has 12 eggs. Ben brings 3 more eggs. How many eggs does Anna have now?"
SHOTS = [(p.question, p.answer) for p in tiny_corpus.make_problems(5, seed=1)]


def as_chat_text(question: str, prefix: str = "") -> str:
    return f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n{prefix}"


def few_shot(shots: list[tuple[str, str]], question: str) -> str:
    solved = "".join(f"Question: {q}\nAnswer: {a}\n\n" for q, a in shots)
    return f"{solved}Question: {question}\nAnswer:"


def test_greedy_text_equals_transformers(tiny_model: Path, tiny_url: str) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    tokenizer: Any = AutoTokenizer.from_pretrained(tiny_model, local_files_only=True)
    model: Any = AutoModelForCausalLM.from_pretrained(
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
        assert complete(tiny_url, prompt, max_tokens=60)["text"] == expected


def test_answers_look_like_gsm8k_and_end_by_themselves(tiny_url: str) -> None:
    questions = [p.question for p in tiny_corpus.make_problems(20, seed=3)]
    settings = {"temperature": 0.7, "max_tokens": 300, "seed": 1}
    choices = [complete(tiny_url, f"Question: {q}\nAnswer:", **settings) for q in questions]
    choices += [complete(tiny_url, as_chat_text(q), **settings) for q in questions]
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
                lambda number: post(
                    llama_url, "/completions", {"prompt": f"{number}\n{long}", "max_tokens": 16}
                ),
                range(8),
            )
        )
    for status, _, answer in answers:
        assert status == 200, answer
        assert answer["usage"]["prompt_tokens"] > 2048


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    with pytest.raises(RuntimeError, match=r"ended before it was ready[\s\S]*missing\.gguf"):
        LlamaServer(tmp_path / "missing.gguf")


def test_a_server_ends_with_its_block(shipped_gguf: Path) -> None:
    server = LlamaServer(shipped_gguf, slots=1, context=512)
    server.stop()
    assert server.process.returncode == 0
    with pytest.raises(ConnectionError):
        post(server.url, "/completions", {"prompt": "Q:"})


@pytest.mark.usefixtures("tiny_model")
def test_an_interrupted_build_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(model: Any, tokens: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tiny_training, "train", interrupt)
    with pytest.raises(KeyboardInterrupt):
        build_tiny_model(tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_a_folder_of_somebody_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(FileExistsError, match="not touching it"):
        build_tiny_model(tmp_path)
    assert not (tmp_path / RECIPE_NAME).exists()


def test_made_problems_are_right_and_the_same_each_time() -> None:
    problems = tiny_corpus.make_problems(50, seed=4)
    assert problems == tiny_corpus.make_problems(50, seed=4)
    for problem in problems:
        steps = re.findall(r"<<(\d+)([+*])(\d+)=(\d+)>>", problem.answer)
        for first, sign, second, result in steps:
            expected = int(first) + int(second) if sign == "+" else int(first) * int(second)
            assert expected == int(result)
        assert problem.answer.endswith(f"\n#### {steps[-1][3]}")
