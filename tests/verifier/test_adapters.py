"""LoRA adapters, checkpointed gradients, the head's learning rate, token classifiers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from gradeschool.errors import InputError  # noqa: E402
from gradeschool.models.local import load_model  # noqa: E402
from gradeschool.verifier.adapters import add_lora, export_classifier, take_lora  # noqa: E402
from gradeschool.verifier.examples import QuestionSolution, texts_of  # noqa: E402
from gradeschool.verifier.finetune import Finetuning, finetune  # noqa: E402
from gradeschool.verifier.head import Verifier, new_verifier, values_of  # noqa: E402
from gradeschool.verifier.reward_models import RewardModel  # noqa: E402
from gradeschool.verifier.session import Session  # noqa: E402
from gradeschool.verifier.training import Optimizers  # noqa: E402
from tests.support.command import Command  # noqa: E402
from tests.support.command import gradeschool as gradeschool  # noqa: E402  # a fixture
from tests.support.trainees import sums, tokenizer_of, trainee, write_problems  # noqa: E402


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return tokenizer_of(sums(12))


@pytest.fixture
def model_folder(tokenizer: Any, tmp_path: Path) -> Path:
    for part in (trainee(tokenizer), tokenizer):
        part.save_pretrained(tmp_path / "model")
    write_problems(tmp_path / "sums.jsonl", 12)
    return tmp_path / "model"


def logits(model: Any) -> Any:
    with torch.no_grad():
        return model(input_ids=torch.tensor([[5, 6, 7, 8, 9, 10]])).logits


# Adapters


def test_an_adapter_changes_nothing_until_it_is_trained_and_is_all_that_is(tokenizer: Any) -> None:
    pytest.importorskip("peft")
    model = trainee(tokenizer)
    before = logits(model)
    add_lora(model, 4, seed=0)
    assert torch.equal(logits(model), before)
    trained = [name for name, weight in model.named_parameters() if weight.requires_grad]
    assert trained and all("lora_" in name for name in trained)
    assert {name.split(".")[-4] for name in trained} == {
        *("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
    }


@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing:FutureWarning")  # peft's own
def test_the_folder_has_the_merged_model_and_an_adapter_that_peft_loads(
    model_folder: Path, tmp_path: Path
) -> None:
    peft = pytest.importorskip("peft")
    output = tmp_path / "trained"
    settings = Finetuning(
        str(model_folder), str(tmp_path / "sums.jsonl"), lora=4, lr=1e-2, batch=4, epochs=3.0
    )
    fields = finetune(settings, Session(output))
    assert fields["status"] == "finished"
    base, merged = load_model(model_folder), load_model(output)
    difference = (logits(base) - logits(merged)).abs().max()
    assert difference > 1e-2
    embedding = "model.embed_tokens.weight"
    assert torch.equal(base.state_dict()[embedding], merged.state_dict()[embedding])
    adapted = peft.PeftModel.from_pretrained(base, output / "adapter").eval()
    assert logits(adapted).allclose(logits(merged), atol=1e-5)
    assert json.loads((output / "adapter" / "adapter_config.json").read_text())["r"] == 4


def test_a_model_without_adapters_stays_as_it_is(tokenizer: Any, tmp_path: Path) -> None:
    model = trainee(tokenizer)
    before = logits(model)
    take_lora(model, tmp_path / "adapter")
    assert torch.equal(logits(model), before)
    assert not (tmp_path / "adapter").exists()


# Checkpointed gradients, the head's learning rate


def test_checkpointed_activations_train_the_same_model(model_folder: Path, tmp_path: Path) -> None:
    data = str(tmp_path / "sums.jsonl")
    how: dict[str, Any] = {"lr": 1e-2, "batch": 4, "epochs": 1.0}
    for name, saves in (("plain", False), ("saving", True)):
        settings = Finetuning(str(model_folder), data, gradient_checkpointing=saves, **how)
        finetune(settings, Session(tmp_path / name))
    both = [logits(load_model(tmp_path / name)) for name in ("plain", "saving")]
    assert both[0].allclose(both[1], atol=1e-5)


def test_the_head_has_a_learning_rate_of_its_own(tokenizer: Any) -> None:
    verifier, _ = new_verifier(trainee(tokenizer), tokenizer)
    optimizers = Optimizers(verifier, "adam", 1e-5, head_lr=1e-2)
    before = {name: weight.detach().clone() for name, weight in verifier.named_parameters()}
    for weight in verifier.parameters():
        weight.grad = torch.ones_like(weight)
    optimizers.step(0.5)  # Adam's first step is the learning rate, whatever the gradient
    moved = {
        name: float((weight.detach() - before[name]).abs().max())
        for name, weight in verifier.named_parameters()
    }
    assert moved["gain"] == pytest.approx(5e-3, rel=1e-3)
    assert moved["bias"] == pytest.approx(5e-3, rel=1e-3)
    assert max(size for name, size in moved.items() if "model" in name) < 1e-5


# Token classifiers


def test_an_exported_verifier_is_a_token_classifier_with_its_values(
    tokenizer: Any, tmp_path: Path, gradeschool: Command
) -> None:
    from transformers import AutoModelForTokenClassification, AutoTokenizer

    verifier, _ = new_verifier(trainee(tokenizer), tokenizer)
    with torch.no_grad():
        verifier.gain.fill_(0.7)
    verifier.eval().save(tmp_path / "verifier", tokenizer)
    ended = gradeschool("verifier", "export", tmp_path / "verifier", "-o", tmp_path / "classifier")
    assert ended.status == 0, ended
    classifier = AutoModelForTokenClassification.from_pretrained(tmp_path / "classifier").eval()
    words = AutoTokenizer.from_pretrained(tmp_path / "classifier")
    pairs = [QuestionSolution(problem.question, problem.solution) for problem in sums(5)]
    texts = texts_of(words, pairs)
    for text, values in zip(texts, values_of(verifier, texts), strict=True):
        ids = torch.tensor([[*text.question, *text.solution]])
        with torch.no_grad():
            logit = classifier(input_ids=ids).logits[0, len(text.question) :, 0]
        assert logit.tolist() == pytest.approx(values, abs=1e-6)
    reward = RewardModel(tmp_path / "classifier")
    assert str(reward.form) == "token"
    again = gradeschool("verifier", "export", tmp_path / "verifier", "-o", tmp_path / "classifier")
    assert (again.status, "exists" in again.err) == (2, True)


def test_an_export_keeps_the_data_type_where_models_are_computed_in_bfloat16(
    tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors.torch import load_file

    verifier, _ = new_verifier(trainee(tokenizer), tokenizer)
    verifier.save(tmp_path / "verifier", tokenizer)
    monkeypatch.setattr("gradeschool.models.local.precision_on", lambda *_: "bfloat16")
    export_classifier(tmp_path / "verifier", tmp_path / "classifier")
    weights = load_file(tmp_path / "classifier" / "model.safetensors")
    embedding = verifier.model.state_dict()["model.embed_tokens.weight"]
    assert torch.equal(weights["model.embed_tokens.weight"], embedding)
    assert {weight.dtype for weight in weights.values()} == {torch.float32}
    assert json.loads((tmp_path / "classifier" / "config.json").read_text())["dtype"] == "float32"


def test_a_likelihood_head_is_no_token_classifier(tokenizer: Any, tmp_path: Path) -> None:
    likelihood, _ = new_verifier(trainee(tokenizer), tokenizer, likelihood=True)
    likelihood.save(tmp_path / "verifier", tokenizer)
    with pytest.raises(InputError, match="scores by likelihood, which is not a token classifier"):
        export_classifier(tmp_path / "verifier", tmp_path / "classifier")
    assert not (tmp_path / "classifier").exists()
    assert isinstance(Verifier.load(tmp_path / "verifier"), Verifier)
