"""The tokenizer of models that are made here: byte-level BPE with single digits."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradeschool.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

PAD, EOS, VER = "<pad>", "<eos>", "<ver>"
SPECIALS = (PAD, EOS, VER)  # their ids are 0, 1, 2; <ver> is kept for a verifier's head
BYTES = 256
VOCABULARY = 1024  # the unembedding costs as much as a layer of 64 at about 800 tokens
CONTEXT = 1024  # tokens of a prompt and its completion


def build_tokenizer(
    texts: Iterable[str], folder: Path | None = None, vocabulary: int = VOCABULARY
) -> PreTrainedTokenizerFast:
    """Return a tokenizer trained on texts, saved in the folder where one is given.

    Digits stand alone, then GPT-2's split into words and byte-level BPE: llama.cpp's "smollm"
    pre-tokenizer does the same. Any text is written and read back exactly. The same texts give
    the same tokenizer. Raises InputError where the vocabulary cannot hold every byte.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    least = BYTES + len(SPECIALS)
    if vocabulary < least:
        raise InputError(
            f"a vocabulary of {vocabulary!r} tokens is too small; give {least} at least"
        )
    tokenizer: Any = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=list(SPECIALS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    make: Any = PreTrainedTokenizerFast
    wrapped: PreTrainedTokenizerFast = make(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=EOS,
        additional_special_tokens=[VER],
        clean_up_tokenization_spaces=False,
        model_max_length=CONTEXT,
    )
    if folder is not None:
        wrapped.save_pretrained(folder)
    return wrapped
