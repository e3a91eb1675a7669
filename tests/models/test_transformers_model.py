"""A model run here by transformers: the served model's text, stops, limits, failures."""

from pathlib import Path

import pytest

from gradeschool import Problem
from gradeschool.completion import Decoding, Finish, Prompt
from gradeschool.errors import ModelError
from gradeschool.models.base import Reply, Request
from gradeschool.models.choose import choose_model
from tests.support.command import Command
from tests.support.fixtures import MODEL_NEEDS, skip_without
from tests.support.model_requests import CHAT, GREEDY, answers, prompts, requests, texts
from tests.support.trainees import sums, tokenizer_of, trainee

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("form", ["text", "chat", "prefix"])
def test_greedy_text_is_that_of_the_served_model(
    tiny_model: Path, tiny_url: str, form: str
) -> None:
    same_requests = requests(prompts(form), GREEDY if form == "text" else CHAT)
    served = texts(answers(choose_model(tiny_url), same_requests))
    assert len(set(served)) > len(served) / 2
    assert texts(answers(choose_model(f"transformers/{tiny_model}"), same_requests)) == served


def test_finish_and_usage(tiny_model: Path) -> None:
    mixed = requests(prompts("text")[:2], Decoding(max_tokens=5))
    mixed += requests(prompts("text")[2:4], Decoding(max_tokens=300))
    mixed += requests(prompts("text")[4:6], Decoding(max_tokens=300, stop=(" ",)))
    replies = answers(choose_model(f"transformers/{tiny_model}"), mixed)
    assert all(isinstance(reply, Reply) for reply in replies)
    finishes = [reply.finish for reply in replies if isinstance(reply, Reply)]
    assert finishes == [Finish.LENGTH] * 2 + [Finish.STOP] * 4
    used = [reply.usage.completion_tokens for reply in replies if isinstance(reply, Reply)]
    assert used[:2] == [5, 5]
    assert not any(" " in text for text in texts(replies[4:]))


def test_a_seed_repeats_a_sample_and_another_sample_differs(tiny_model: Path) -> None:
    prompt = prompts("text")[0]
    drawn = Decoding(temperature=1.0, max_tokens=30, seed=7)
    repeated = [
        Request(Problem.from_gold("18"), prompt, drawn, str(number), number % 2)
        for number in range(4)
    ]
    first, second, again, twice = texts(
        answers(choose_model(f"transformers/{tiny_model}"), repeated)
    )
    assert (first, second) == (again, twice)
    assert first != second


def test_a_prompt_that_does_not_fit_fails_alone(tiny_model: Path) -> None:
    long = Prompt(text="How many apples are there? " * 2_000)
    fits, fails = answers(
        choose_model(f"transformers/{tiny_model}"), requests([prompts("text")[0], long], GREEDY)
    )
    assert isinstance(fits, Reply)
    assert isinstance(fails, ModelError)
    assert fails.cause == "context length"


def test_a_chat_protocol_needs_a_chat_template(tmp_path: Path, gradeschool: Command) -> None:
    skip_without(MODEL_NEEDS, "a model run by transformers")
    words = tokenizer_of(sums(4))
    for part in (trainee(words), words):
        part.save_pretrained(tmp_path / "model")
    model, output = f"transformers/{tmp_path / 'model'}", tmp_path / "out"
    arguments = ("-m", model, "-d", "sample", "-n", "1", "-o", output, "--quiet")
    ended = gradeschool("eval", "-p", "zero-shot/chat", *arguments)
    assert ended.status == 2
    assert "has no chat template, which the protocol 'zero-shot/chat' needs" in ended.err
    assert not output.exists()
