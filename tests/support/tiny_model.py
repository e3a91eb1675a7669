"""The shipped model as files of Hugging Face and of llama.cpp, with room for few-shot prompts."""

import json
from pathlib import Path
from typing import Any

from gradeschool.models import gguf_file
from tests.support.llama_server import CHAT_TEMPLATE

GGUF_NAME = "tiny.gguf"
POSITIONS = 4096


def write_tiny_model(folder: Path) -> None:
    """Write the shipped generator to a folder as transformers stores it, and as `tiny.gguf`."""
    from tokenizers import Tokenizer
    from transformers import (
        AutoModelForCausalLM,
        AutoTokenizer,
        LlamaForCausalLM,
        PreTrainedTokenizerFast,
    )

    shipped = {"gguf_file": gguf_file.TINY_FILE.name}
    read: Any = AutoModelForCausalLM.from_pretrained(gguf_file.TINY_FOLDER, **shipped)
    config = read.config
    del config.quantization_config
    config.update({"max_position_embeddings": POSITIONS, "bos_token_id": None})
    model: Any = LlamaForCausalLM(config)
    model.load_state_dict(read.state_dict())
    model.save_pretrained(folder)

    as_gpt2: Any = AutoTokenizer.from_pretrained(gguf_file.TINY_FOLDER, **shipped)
    parts = json.loads(as_gpt2.backend_tokenizer.to_str())
    parts["added_tokens"] = [
        token for token in parts["added_tokens"] if token["id"] < config.vocab_size
    ]
    make_fast: Any = PreTrainedTokenizerFast
    tokenizer = make_fast(
        tokenizer_object=Tokenizer.from_str(json.dumps(parts)),
        pad_token="<pad>",
        eos_token="<eos>",
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
        model_max_length=POSITIONS,
    )
    tokenizer.save_pretrained(folder)
    gguf_file.write_gguf(folder, folder / GGUF_NAME)
