"""Batches of a transformers model: `generate`'s text, the calculator, reproducible samples."""

from collections import Counter, defaultdict
from typing import Any

import pytest

from tests.support.fixtures import MODEL_NEEDS, skip_without

skip_without(MODEL_NEEDS, "a model run by transformers")

import torch  # noqa: E402

from gradeschool.completion import Decoding, Prompt  # noqa: E402
from gradeschool.models.base import Reply, Request  # noqa: E402
from gradeschool.models.transformers_model import TransformersModel  # noqa: E402
from tests.support.trainees import architecture, sums, tokenizer_of, trainee  # noqa: E402

pytestmark = pytest.mark.slow

PROBLEMS = sums(9)
TOKENIZER = tokenizer_of(PROBLEMS)


class Loaded(TransformersModel):
    """A model that was not loaded from a folder."""

    def __init__(self, model: Any, rows: int, calculator: bool) -> None:
        self.calculator, self.thinking = calculator, None
        self.begin(model, TOKENIZER, rows)


def written(
    model: Any, decoding: Decoding, samples: int = 1, rows: int = 4, calculator: bool = False
) -> list[Reply]:
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
    for results in Loaded(model, rows, calculator).write(take):
        for request, reply in results:
            assert isinstance(reply, Reply)
            replies[request.key] = reply
    return [replies[key] for key in order]


@pytest.mark.slow
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


def test_samples_do_not_depend_on_the_other_rows() -> None:
    model = trainee(TOKENIZER).eval()
    decoding = Decoding(temperature=1.0, top_p=0.9, max_tokens=20)
    alone = written(model, decoding, samples=3, rows=1)
    together = written(model, decoding, samples=3, rows=27)
    assert [reply.text for reply in alone] == [reply.text for reply in together]
    assert len({reply.text for reply in alone}) > len(PROBLEMS)


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
