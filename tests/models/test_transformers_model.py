"""A model run here by transformers: texts, limits, failures, batches, reproducible samples."""

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from gradeschool import Problem
from gradeschool.completion import Decoding, Finish, Prompt
from gradeschool.errors import ModelError
from gradeschool.models.base import Reply, Request
from gradeschool.models.choose import choose_model
from tests.support.command import Command
from tests.support.fixtures import MODEL_NEEDS, skip_without
from tests.support.model_requests import CHAT, GREEDY, answers, prompts, requests, texts

skip_without(MODEL_NEEDS, "a model run by transformers")

import torch  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

from gradeschool.models.transformers_model import TransformersModel  # noqa: E402
from tests.support.trainees import architecture, sums, tokenizer_of, trainee  # noqa: E402

pytestmark = pytest.mark.slow

PROBLEMS = sums(9)
TOKENIZER = tokenizer_of(PROBLEMS)


class Loaded(TransformersModel):
    """A model that was not loaded from a folder."""

    def __init__(self, model: Any, rows: int) -> None:
        self.calculator, self.thinking = False, None
        self.begin(model, TOKENIZER, rows)


def written(model: Any, decoding: Decoding, samples: int = 1, rows: int = 4) -> list[Reply]:
    """The replies to all problems, in order."""
    waiting = [
        Request(problem, Prompt(text=problem.question), decoding, f"{problem.id} {n}", n)
        for problem in PROBLEMS
        for n in range(samples)
    ]
    order = [request.key for request in waiting]

    def take(most: int) -> list[Request]:
        taken, waiting[:] = waiting[:most], waiting[most:]
        return taken

    replies = {}
    for results in Loaded(model, rows).write(take):
        for request, reply in results:
            assert isinstance(reply, Reply)
            replies[request.key] = reply
    return [replies[key] for key in order]


@pytest.mark.parametrize("kind", ["llama", "gpt2", "qwen2", "gemma", "mistral"])
def test_greedy_text_is_that_of_generate(kind: str) -> None:
    model = architecture(kind)
    model.generation_config.eos_token_id = 1
    replies = written(model, Decoding(max_tokens=12))
    for problem, reply in zip(PROBLEMS, replies, strict=True):
        ids = torch.tensor([TOKENIZER(problem.question)["input_ids"]])
        with torch.inference_mode():
            whole = model.generate(ids, max_new_tokens=12, do_sample=False, pad_token_id=0)
        expected = TOKENIZER.decode(whole[0, ids.shape[1] :], skip_special_tokens=True)
        assert reply.text == expected


@pytest.mark.parametrize("kind", ["llama", "gemma2", "lfm2"])  # sliding windows, convolutions
def test_samples_do_not_depend_on_the_other_rows(kind: str) -> None:
    layers = {"layer_types": ["conv", "full_attention"]} if kind == "lfm2" else {}
    model = trainee(TOKENIZER).eval() if kind == "llama" else architecture(kind, **layers)
    decoding = Decoding(temperature=1.0, top_p=0.9, max_tokens=20)
    alone = written(model, decoding, samples=3, rows=1)
    together = written(model, decoding, samples=3, rows=27)
    assert [reply.text for reply in alone] == [reply.text for reply in together]
    assert len({reply.text for reply in alone}) > len(PROBLEMS)


def test_samples_share_a_row_until_they_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    model, sizes = trainee(TOKENIZER).eval(), []
    forward = TransformersModel._forward

    def counted(self: TransformersModel, ids: Any, *args: Any) -> Any:
        sizes.append(len(ids))
        return forward(self, ids, *args)

    monkeypatch.setattr(TransformersModel, "_forward", counted)
    replies = written(model, Decoding(temperature=0.5, max_tokens=12), samples=8, rows=72)
    assert sizes[0] == len(PROBLEMS)
    assert len(PROBLEMS) < max(sizes) <= len(replies)
    assert sizes[-1] < max(sizes)
    # A pass has a row for each different start of the texts that are still being written.
    assert sum(sizes) < sum(reply.usage.completion_tokens or 0 for reply in replies)


def test_a_drawn_token_has_the_probability_of_the_softmax() -> None:
    model = trainee(TOKENIZER).eval()
    ids = torch.tensor([TOKENIZER(PROBLEMS[0].question)["input_ids"]])
    with torch.inference_mode():
        expected = torch.softmax(model(ids).logits[0, -1] / 0.7, 0)
    by_text: defaultdict[str, float] = defaultdict(float)
    for token, share in enumerate(expected.tolist()):
        by_text[TOKENIZER.decode([token], skip_special_tokens=True)] += share
    count = 1_000
    drawn = written(model, Decoding(temperature=0.7, max_tokens=1), samples=count, rows=count * 9)
    texts = Counter(reply.text for reply in drawn[:count])
    for text, share in sorted(by_text.items(), key=lambda item: -item[1])[:3]:
        assert texts[text] / count == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize("form", ["text", "chat", "prefix"])
def test_greedy_text_is_the_served_models(tiny_model: Path, tiny_url: str, form: str) -> None:
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
    words = TOKENIZER
    for part in (trainee(words), words):
        part.save_pretrained(tmp_path / "model")
    model, output = f"transformers/{tmp_path / 'model'}", tmp_path / "out"
    arguments = ("-m", model, "-d", "sample", "-n", "1", "-o", output, "--quiet")
    said = gradeschool.refused("eval", "-p", "zero-shot/chat", *arguments)
    assert "chat template, which the protocol 'zero-shot/chat' needs; use a completion" in said
    assert not output.exists()


def test_weights_that_are_not_there_are_not_drawn_at_random(
    tmp_path: Path, gradeschool: Command
) -> None:
    folder = tmp_path / "model"
    for part in (trainee(TOKENIZER), TOKENIZER):
        part.save_pretrained(folder)
    weights = load_file(folder / "model.safetensors")
    norm = weights.pop("model.norm.weight")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    arguments = ("-d", "sample", "-n", "1", "--quiet", "-o")
    run = ("verifier", "sample", "-m", f"transformers/{folder}", *arguments, tmp_path / "run")
    said = gradeschool.refused(*run)
    assert "lack model.norm.weight, which AutoModelForCausalLM needs; give a whole model" in said
    assert "MISSING" not in said, "transformers shows its own table"
    said = gradeschool.refused("verifier", "finetune", "-m", folder, *arguments, tmp_path / "out")
    assert "lack model.norm.weight" in said
    # The refused model stored nothing, so that its folder serves another.
    save_file(
        {**weights, "model.norm.weight": norm}, folder / "model.safetensors", {"format": "pt"}
    )
    assert gradeschool(*run).status == 0
    assert "contains another run: its seed" in gradeschool.refused(*run, "--seed", 1)
