"""The training loop: accumulation, schedules, optimisers, checkpoints, resuming to the bit."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch, which make test-all installs")
pytest.importorskip("transformers")

from gradeschool.errors import InputError, StoreError  # noqa: E402
from gradeschool.verifier import training  # noqa: E402
from gradeschool.verifier.base_model import drop_residuals  # noqa: E402
from gradeschool.verifier.packing import (  # noqa: E402
    LANGUAGE,
    ExampleBatches,
    language_loss,
    take_packed,
)
from gradeschool.verifier.training import (  # noqa: E402
    CHECKPOINT,
    LOSSES,
    Optimizers,
    TrainingResult,
    TrainingSettings,
    checkpoint_facts,
    learning_rate_share,
    train,
)
from tests.support.trainees import (  # noqa: E402
    examples_of,
    sums,
    tokenizer_of,
    trainee,
)

PROBLEMS = sums(20)
EPOCHS, BATCH = 3, 4
UPDATES = 15


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return tokenizer_of(PROBLEMS)


def trained(
    tokenizer: Any, folder: Path, upto: int | None = None, *, dropout: float = 0.0,
    pass_tokens: int = 8192, **settings: Any,
) -> tuple[Any, TrainingResult]:  # fmt: skip
    """A model and how its training ended; a loss that is not finite stops it before `upto`."""
    folder.mkdir(exist_ok=True)
    model = trainee(tokenizer)
    drop_residuals(model, dropout)
    take_packed(model)
    examples = examples_of(tokenizer, PROBLEMS)
    batches = ExampleBatches(examples, EPOCHS, BATCH, seed=1, pass_tokens=pass_tokens)
    calls = 0

    def loss(model: Any, batch: Any) -> Any:
        nonlocal calls
        calls += 1
        if upto is not None and calls > upto:
            raise KeyboardInterrupt
        return language_loss(model, batch)

    save_every = settings.pop("save_every", 200)
    chosen = TrainingSettings(**{"lr": 1e-2, "warmup": 2, "seed": 3, **settings})
    return model, train(model, batches, loss, chosen, folder, save_every=save_every)


def weights(model: Any) -> dict[str, Any]:
    return {name: weight.detach().clone() for name, weight in model.named_parameters()}


def same(first: dict[str, Any], other: dict[str, Any]) -> bool:
    return all(torch.equal(first[name], other[name]) for name in first | other)


# The loop


@pytest.mark.parametrize("optimizer", ["adam", "muon"])
def test_training_lowers_the_loss_and_logs_every_update(
    optimizer: str, tokenizer: Any, tmp_path: Path
) -> None:
    _, ended = trained(tokenizer, tmp_path, optimizer=optimizer)
    rows = [json.loads(line) for line in (tmp_path / LOSSES).read_text().splitlines()]
    assert [row["update"] for row in rows] == list(range(1, UPDATES + 1))
    assert rows[-1][LANGUAGE] < rows[0][LANGUAGE] - 0.3
    assert ended.tokens == sum(row["tokens"] for row in rows)
    assert ended.updates == UPDATES
    assert not ended.stopped


def test_accumulated_passes_are_the_large_batch(tokenizer: Any, tmp_path: Path) -> None:
    large, _ = trained(tokenizer, tmp_path / "large", weight_decay=0.1)
    small, _ = trained(tokenizer, tmp_path / "small", weight_decay=0.1, pass_tokens=60)
    pairs = zip(weights(large).values(), weights(small).values(), strict=True)
    assert all(torch.allclose(single, other, atol=2e-5) for single, other in pairs)
    logs = [(tmp_path / name / LOSSES).read_text().splitlines() for name in ("large", "small")]
    for single, other in zip(*logs, strict=True):
        assert json.loads(single)[LANGUAGE] == pytest.approx(json.loads(other)[LANGUAGE], abs=2e-5)


def test_the_rate_rises_then_falls_linearly_to_nothing() -> None:
    shares = [learning_rate_share(step, 100, 4) for step in range(101)]
    assert shares[0] == pytest.approx(1 / 5)
    assert shares[100] == 0
    assert shares[50] == pytest.approx(0.5)
    assert all(share > other for share, other in pairwise(shares[4:]))
    assert learning_rate_share(0, 10, 0) == 1


def test_muon_takes_the_matrices_of_the_layers_alone(tokenizer: Any) -> None:
    model = trainee(tokenizer)
    adam, muon = Optimizers(model, "muon", 1e-3).each
    by_muon = {id(parameter) for group in muon.param_groups for parameter in group["params"]}
    by_adam = {id(parameter) for group in adam.param_groups for parameter in group["params"]}
    names = {name for name, parameter in model.named_parameters() if id(parameter) in by_muon}
    assert names == {name for name in weights(model) if name.endswith("_proj.weight")}
    assert by_adam | by_muon == {id(parameter) for parameter in model.parameters()}
    assert not by_adam & by_muon


def test_a_loss_that_is_not_finite_is_said_and_not_stored(tokenizer: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"not finite at update .*give a smaller"):
        trained(tokenizer, tmp_path, lr=1e30, warmup=0, save_every=1, clip=1e30)


# Checkpoints


@pytest.mark.parametrize("optimizer", ["adam", "muon"])
@pytest.mark.parametrize("upto", [1, 6, 14])
def test_a_resumed_training_gives_the_bits_of_one_that_was_not_interrupted(
    optimizer: str, upto: int, tokenizer: Any, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"optimizer": optimizer, "dropout": 0.2, "save_every": 4}
    whole, _ = trained(tokenizer, tmp_path / "whole", **options)
    with pytest.raises(KeyboardInterrupt):
        trained(tokenizer, tmp_path / "halves", upto, **options)
    torch.manual_seed(99)  # what a process drew before is of no account
    resumed, ended = trained(tokenizer, tmp_path / "halves", **options)
    assert same(weights(whole), weights(resumed))
    assert ended.updates == UPDATES
    logs = [
        [
            {**json.loads(row), "seconds": 0}
            for row in (tmp_path / name / LOSSES).read_text().splitlines()
        ]
        for name in ("whole", "halves")
    ]
    assert logs[0] == logs[1]


@pytest.mark.parametrize(("share", "updates"), [(0, 6), (1e9, 1)], ids=["fast", "slow"])
def test_long_updates_are_saved_by_the_clock_unless_saving_takes_long(
    share: float, updates: int, tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "LOSABLE_SECONDS", 0.0)
    monkeypatch.setattr(training, "TRAINED_PER_SAVED", share)
    with pytest.raises(KeyboardInterrupt):
        trained(tokenizer, tmp_path / "halves", 6)
    facts = checkpoint_facts(tmp_path / "halves" / CHECKPOINT)
    assert facts is not None
    assert facts["updates"] == updates
    resumed, ended = trained(tokenizer, tmp_path / "halves")
    assert ended.updates == UPDATES
    whole, _ = trained(tokenizer, tmp_path / "whole")
    assert same(weights(whole), weights(resumed))


def test_a_training_in_bfloat16_resumes_to_its_bits_and_is_not_one_in_float32(
    tokenizer: Any, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"precision": "bfloat16", "optimizer": "muon", "save_every": 4}
    whole, _ = trained(tokenizer, tmp_path / "whole", **options)
    with pytest.raises(KeyboardInterrupt):
        trained(tokenizer, tmp_path / "halves", 6, **options)
    resumed, _ = trained(tokenizer, tmp_path / "halves", **options)
    assert same(weights(whole), weights(resumed))
    assert all(weight.dtype == torch.float32 for weight in weights(whole).values())
    full, _ = trained(tokenizer, tmp_path / "full", **{**options, "precision": "float32"})
    assert not same(weights(whole), weights(full))
    ends = [json.loads((tmp_path / name / LOSSES).read_text().splitlines()[-1])[LANGUAGE]
            for name in ("whole", "full")]  # fmt: skip
    assert ends[0] == pytest.approx(ends[1], abs=0.05)


def test_a_checkpoint_holds_no_pickle(tokenizer: Any, tmp_path: Path) -> None:
    trained(tokenizer, tmp_path, save_every=5)
    assert {file.name for file in tmp_path.iterdir()} == {LOSSES, CHECKPOINT}
    facts = checkpoint_facts(tmp_path / CHECKPOINT)
    assert facts is not None
    assert facts["updates"] == UPDATES


def test_a_damaged_checkpoint_is_said_and_left_alone(tokenizer: Any, tmp_path: Path) -> None:
    trained(tokenizer, tmp_path, save_every=5)
    file = tmp_path / CHECKPOINT
    cut = file.read_bytes()[:-100]
    file.write_bytes(cut)
    with pytest.raises(StoreError, match=r"cannot be read .*remove it to begin again"):
        trained(tokenizer, tmp_path, save_every=5)
    assert file.read_bytes() == cut


def test_a_checkpoint_that_cannot_be_written_leaves_the_one_before(
    tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import safetensors.torch

    with pytest.raises(KeyboardInterrupt):
        trained(tokenizer, tmp_path, 6, save_every=5)
    before = (tmp_path / CHECKPOINT).read_bytes()

    def full(tensors: Any, path: Path, metadata: Any) -> None:
        Path(path).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(safetensors.torch, "save_file", full)
    with pytest.raises(StoreError, match=r"No space left.*free the disk"):
        trained(tokenizer, tmp_path, save_every=5)
    assert (tmp_path / CHECKPOINT).read_bytes() == before
    assert not list(tmp_path.glob(".tmp-*"))
