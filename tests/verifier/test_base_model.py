"""Tests new models, their tokenizer, saved folders and dropout."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs torch, which make test-all installs")
pytest.importorskip("transformers")

from gradeschool.errors import InputError, UnknownNameError  # noqa: E402
from gradeschool.verifier.networks import (  # noqa: E402
    BYTES,
    SPECIALS,
    BaseModel,
    build_tokenizer,
    identify_model,
    load_folder,
    new_model,
    save_folder,
    set_dropout,
    write_gguf,
)
from tests.support.fixtures import skip_without  # noqa: E402
from tests.support.trainees import SMALL, architecture, model_folder, sums, tokenizer_of, trainee  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return tokenizer_of(sums(20))


def test_a_new_model_depends_on_its_seed_alone(tokenizer: Any) -> None:
    torch.manual_seed(5)
    drawn = torch.rand(1)
    torch.manual_seed(5)
    first, again, other = (torch.nn.utils.parameters_to_vector(
        new_model(tokenizer, SMALL, seed).parameters()) for seed in (0, 0, 1))  # fmt: skip
    assert torch.equal(torch.rand(1), drawn)  # nothing was drawn from the process's own state
    assert torch.equal(first, again) and not torch.equal(first, other)


def test_an_unknown_size_is_refused_with_those_nearest_to_it() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 5M or 1M"):
        identify_model("new:3M")


@given(text=st.text(max_size=40))
def test_any_text_is_encoded_and_decoded_exactly(tokenizer: Any, text: str) -> None:
    assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


def test_a_vocabulary_without_room_for_every_byte_is_refused() -> None:
    least = BYTES + len(SPECIALS)
    assert len(build_tokenizer(["eggs"], vocabulary=least)) == least
    with pytest.raises(InputError, match=f"give {least} at least"):
        build_tokenizer(["eggs"], vocabulary=least - 1)


def test_a_saved_folder_is_loaded_as_it_was(tokenizer: Any, tmp_path: Path) -> None:
    """In its own number format, to end at the tokenizer's end token, readable by others."""
    model = trainee(tokenizer)
    model.generation_config.eos_token_id = 7
    model.generation_config.pad_token_id = None
    save_folder(BaseModel(model, tokenizer, torch.float32), tmp_path / "model")
    loaded = load_folder(tmp_path / "model")
    pairs = zip(model.parameters(), loaded.model.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)
    assert (loaded.stored, loaded.context) == (torch.float32, 1024)
    generation = json.loads((tmp_path / "model" / "generation_config.json").read_text())
    assert (generation["eos_token_id"], generation["pad_token_id"]) == ([1, 7], 0)
    modes = {file.stat().st_mode for file in (tmp_path / "model").iterdir()}
    assert len(modes) == 1
    save_folder(loaded._replace(stored=torch.bfloat16), tmp_path / "half")
    half = load_folder(tmp_path / "half")
    assert half.stored == torch.bfloat16
    assert {weight.dtype for weight in half.model.parameters()} == {torch.float32}


def test_a_folder_whose_files_cannot_be_used_is_refused(tokenizer: Any, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match=r"cannot be loaded by AutoTokenizer \(.*copy tokenizer"):
        load_folder(tmp_path)
    ending = tokenizer_of(sums(8))
    ending.eos_token = None
    for part in (trainee(tokenizer), ending):
        part.save_pretrained(tmp_path / "endless")
    with pytest.raises(InputError, match="has no end token"):
        load_folder(tmp_path / "endless")


@pytest.mark.parametrize("kind", ["llama", "qwen3", "gemma", "phi3", "gpt2", "gpt_neox"])
def test_dropout_changes_training_and_not_evaluation(kind: str) -> None:
    model, ids = architecture(kind), torch.tensor([[5, 6, 7, 8]])
    plain = model(input_ids=ids).logits
    set_dropout(model, 0.5)
    assert torch.equal(model(input_ids=ids).logits, plain)
    model.train()
    torch.manual_seed(0)
    dropped, other = model(input_ids=ids).logits, model(input_ids=ids).logits
    assert not torch.allclose(dropped, plain) and not torch.allclose(dropped, other)


def test_dropout_in_an_unknown_architecture_is_refused() -> None:
    with pytest.raises(InputError, match="'bloom' are; leave it out"):
        set_dropout(architecture("bloom"), 0.2)


def test_a_gguf_file_begins_a_training(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    skip_without(("accelerate", "gguf"), "reading GGUF by transformers")
    folder = model_folder(tmp_path / "model")
    write_gguf(folder, tmp_path / "model.gguf")
    bases = [load_folder(folder), load_folder(tmp_path / "model.gguf")]
    assert "GGUF" not in capsys.readouterr().err
    ids = [torch.tensor([base.tokenizer("Tom has 3+4.\n")["input_ids"]]) for base in bases]
    assert torch.equal(*ids)
    with torch.no_grad():
        first, second = (base.model.eval()(input_ids=ids[0]).logits for base in bases)
    assert first.allclose(second, atol=1e-2)
    bases[1].model.save_pretrained(tmp_path / "again")
