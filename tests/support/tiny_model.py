"""Make the tiny language model of the tests' servers from scratch, in about a minute.

`python -m tests.support.tiny_model FOLDER` builds it. It writes text that looks like GSM8K
answers and is nearly always wrong, which is all that tests of an evaluation need.
"""

import argparse
import hashlib
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from gradeschool.models import gguf_file
from tests.support import tiny_corpus, tiny_training
from tests.support.llama_server import CHAT_TEMPLATE

RECIPE_VERSION = 1  # raise it when the code changes what is built and no constant does
GGUF_NAME = "tiny.gguf"
RECIPE_NAME = "recipe.json"

END_OF_TEXT, START_OF_TURN, END_OF_TURN = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
SPECIAL_TOKENS = (END_OF_TEXT, START_OF_TURN, END_OF_TURN)
PAD_ID, EOS_ID = 0, 2

VOCABULARY = 2048
HIDDEN, INTERMEDIATE, LAYERS, HEADS, KV_HEADS, HEAD_DIM = 128, 384, 4, 4, 2, 32
POSITIONS = 4096
INITIAL_SPREAD = 0.04

SEED = 0


def build_tiny_model(folder: Path) -> Path:
    """Return `folder` with the tiny model, building it if necessary.

    The folder contains a Hugging Face model with its tokenizer, and `tiny.gguf`. It is replaced if
    it was built by another recipe or from other text. It is created atomically: an interrupted
    build leaves no folder. Processes that build the same folder take turns.
    """
    folder = folder.resolve()
    documents = list(tiny_corpus.training_documents(tiny_corpus.load_problems()))
    key = recipe_key(documents)
    if _built_key(folder) == key:
        return folder
    from filelock import FileLock

    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_name(f".{folder.name}.lock")):
        if _built_key(folder) != key:
            _build_beside(folder, documents, key)
    return folder


def recipe_key(documents: list[str]) -> str:
    """Return a hash of everything that determines the model: constants and training text."""
    constants = {
        name: value
        for source in (vars(tiny_corpus), vars(tiny_training), vars(gguf_file), globals())
        for name, value in source.items()
        if name.isupper() and isinstance(value, str | int | float | tuple)
    }
    text = json.dumps([constants, documents], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _built_key(folder: Path) -> str | None:
    recipe = folder / RECIPE_NAME
    if recipe.is_file():
        return str(json.loads(recipe.read_text(encoding="utf-8"))["key"])
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder} is not empty and holds no tiny model; not touching it")
    return None


def _build_beside(folder: Path, documents: list[str], key: str) -> None:
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as scratch:
        new, old = Path(scratch) / "new", Path(scratch) / "old"
        new.mkdir()
        tokenizer = _save_tokenizer(new, documents)
        _save_model(new, tokenizer, documents)
        gguf_file.write_gguf(new, new / GGUF_NAME)
        (new / RECIPE_NAME).write_text(json.dumps({"key": key}), encoding="utf-8")
        if folder.exists():
            shutil.move(folder, old)
        new.rename(folder)


def _save_tokenizer(folder: Path, documents: list[str]) -> Any:
    """Train a byte-level BPE tokenizer on the documents, save it, and return it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(documents, trainer)
    make_fast: Any = PreTrainedTokenizerFast
    wrapped = make_fast(
        tokenizer_object=tokenizer,
        pad_token=END_OF_TEXT,
        eos_token=END_OF_TURN,
        additional_special_tokens=[START_OF_TURN],
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
        model_max_length=POSITIONS,
    )
    wrapped.save_pretrained(folder)
    return tokenizer


def _save_model(folder: Path, tokenizer: Any, documents: list[str]) -> None:
    """Train the model on the documents with one thread, and save it."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    encoded = tokenizer.encode_batch(documents)
    tokens = torch.tensor([token for document in encoded for token in document.ids])
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=HIDDEN,
        intermediate_size=INTERMEDIATE,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        head_dim=HEAD_DIM,
        max_position_embeddings=POSITIONS,
        initializer_range=INITIAL_SPREAD,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=EOS_ID,
        pad_token_id=PAD_ID,
    )
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(SEED)
            model = LlamaForCausalLM(config)
            tiny_training.train(model, tokens)
    finally:
        torch.set_num_threads(threads)
    model.save_pretrained(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    print(build_tiny_model(parser.parse_args().folder))
