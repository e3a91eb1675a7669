"""The losses against a reference that computes one token at a time."""

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch, which make test-all installs")
pytest.importorskip("transformers")

from gradeschool.verifier.data import Item, TrainingRow  # noqa: E402
from gradeschool.verifier.networks import Verifier, new_verifier  # noqa: E402
from gradeschool.verifier.train import TrainedModel  # noqa: E402
from tests.support.trainees import sums, tokenizer_of, trainee  # noqa: E402

pytestmark = pytest.mark.slow

TOKENIZER = tokenizer_of(sums(20))
# A right solution drawn twice, a wrong one, one that is right up to its second token; references.
ITEMS: list[Item] = [
    (TrainingRow((5, 6, 7, 8, 9, 1), 2, 2, 4, (2, 4)),
     TrainingRow((5, 6, 9, 9, 1), 2, language_start=2)),
    (TrainingRow((5, 6, 7, 4, 1), 2, 1, 0, (1, 3)),
     TrainingRow((5, 6, 9, 9, 1), 2, language_start=2)),
    (TrainingRow((4, 7, 7, 8, 1), 1, 1, 2, (2, 4)), TrainingRow((4, 9, 1), 1, language_start=1)),
]  # fmt: skip


def made(level: Any = "token", objective: Any = "joint") -> TrainedModel:
    """A small verifier with random weights and its losses."""
    verifier = new_verifier(trainee(TOKENIZER), TOKENIZER, 3, level == "likelihood")
    return TrainedModel(verifier, level, objective)


def reference(trained: TrainedModel, items: list[Item]) -> Any:
    """The paper's joint loss, one row and one token at a time."""
    verifier: Verifier = trained.trained
    errors, values, words, tokens = torch.zeros(()), 0.0, torch.zeros(()), 0
    for row in (row for item in items for row in item):
        output = verifier.model(torch.tensor([row.ids]), output_hidden_states=True)
        states, logits = output.hidden_states[-1][0], output.logits[0].clone()
        logits[:, verifier.token_id] = float("-inf")
        last = len(row.ids) - 1
        for place in range(row.start, len(row.ids)):
            target = float(place - row.start < row.right_tokens)
            value = verifier.gain[0] * (states[place] @ verifier.row) + verifier.bias[0]
            used = {
                "token": True,
                "solution": place == last,
                "step": place - row.start + 1 in row.ends,
                "pooled": False,
            }[trained.level]
            if row.weight and used:
                errors = errors + row.weight * (value - target) ** 2
                values += row.weight
            if row.language_start is not None:
                words = words - torch.log_softmax(logits[place - 1], 0)[row.ids[place]]
                tokens += 1
        if row.weight and trained.level == "pooled":
            mean = (verifier.gain[0] * (states[row.start :] @ verifier.row)).mean()
            errors = errors + row.weight * (mean + verifier.bias[0] - float(row.is_right)) ** 2
            values += row.weight
    return errors / values + words / tokens


@pytest.mark.parametrize("level", ["token", "pooled", "step", "solution"])
def test_joint_loss_and_gradients_are_the_references(level: str) -> None:
    trained = made(level)
    batch = trained.collate(ITEMS)
    loss = (trained(**batch) / trained.counts(batch)).sum()
    loss.backward()
    gradients = {
        name: weight.grad.clone()
        for name, weight in trained.named_parameters()
        if weight.grad is not None
    }
    trained.zero_grad()
    expected = reference(trained, ITEMS)
    expected.backward()
    assert float(loss.detach()) == pytest.approx(float(expected.detach()), rel=1e-5)
    for name, weight in trained.named_parameters():
        assert torch.allclose(gradients[name], weight.grad, rtol=1e-3, atol=1e-5), name


def test_passes_of_an_update_add_up_to_one_batch() -> None:
    trained = made()
    whole = trained.collate(ITEMS)
    parts = [trained.collate(ITEMS[:1]), trained.collate(ITEMS[1:])]
    counts = sum(trained.counts(part) for part in parts)
    assert torch.equal(counts, trained.counts(whole))
    summed = sum(trained(**part) for part in parts)
    assert torch.allclose(summed, trained(**whole), rtol=1e-5)


# A right and a wrong solution of a question.
PAIR: list[Item] = [(TrainingRow((5, 6, 7, 8, 1), 2, 1, 3), TrainingRow((5, 6, 7, 4, 1), 2, 1, 0))]


@pytest.mark.parametrize("level", ["token", "pooled", "solution"])
def test_pairwise_loss_compares_a_problems_solutions(level: str) -> None:
    trained = made(level, "pairwise")
    values = []
    for row in PAIR[0]:
        output = trained.model(torch.tensor([row.ids]), output_hidden_states=True)
        of_row = trained.trained.values(output.hidden_states[-1][0, row.start :])
        values.append(of_row.mean() if level == "pooled" else of_row[-1])
    expected = -torch.nn.functional.logsigmoid(values[0] - values[1])
    batch = trained.collate(PAIR)
    loss = trained(**batch)[0] / trained.counts(batch)[0]
    assert float(loss.detach()) == pytest.approx(float(expected.detach()), rel=1e-5)


def logprob(trained: TrainedModel, row: TrainingRow) -> Any:
    """The log-probability of a solution, without the reserved token."""
    logits = trained.model(torch.tensor([row.ids])).logits[0].clone()
    logits[:, trained.trained.token_id] = float("-inf")
    places = range(row.start, len(row.ids))
    logprobs = torch.log_softmax(logits, 1)
    return torch.stack([logprobs[place - 1, row.ids[place]] for place in places]).sum()


def test_likelihood_is_the_cross_entropy_of_the_label() -> None:
    trained = made("likelihood")
    rows = PAIR[0]
    logits = trained.trained.logits(torch.stack([logprob(trained, row) for row in rows]))
    expected = torch.nn.functional.binary_cross_entropy_with_logits(
        logits, torch.tensor([1.0, 0.0]), reduction="sum"
    )
    found = trained(**trained.collate([(row,) for row in rows]))[0]
    assert float(found.detach()) == pytest.approx(float(expected.detach()), rel=1e-4)
