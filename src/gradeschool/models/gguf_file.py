"""GGUF files for llama.cpp, written from a small Hugging Face Llama folder."""

import json
from pathlib import Path

from gradeschool.errors import InputError, require_packages
from gradeschool.formats.values import read_object

ARCHITECTURE = "llama"
PRE_TOKENIZER = "smollm"  # llama.cpp's name for single digits, then GPT-2's byte-level split
# The head of a verifier: JSON with these fields of the folder's verifier.json.
HEAD_KEY, VERIFIER_FILE = "gradeschool.verifier", "verifier.json"
HEAD_FIELDS = ("schema", "head", "token_id", "gain", "bias", "level")
LIKELIHOOD, LOGIT = "likelihood", "logit"
GIVE_MODEL = "give the folder of a model"
# How the writer's settings are named in config.json.
SHAPE = {
    "vocab_size": "vocab_size",
    "context_length": "max_position_embeddings",
    "embedding_length": "hidden_size",
    "feed_forward_length": "intermediate_size",
    "block_count": "num_hidden_layers",
    "head_count": "num_attention_heads",
    "head_count_kv": "num_key_value_heads",
    "key_length": "head_dim",
    "value_length": "head_dim",
    "rope_dimension_count": "head_dim",
    "layer_norm_rms_eps": "rms_norm_eps",
}
ROTATED = ("self_attn.q_proj.weight", "self_attn.k_proj.weight")


def write_gguf(folder: Path, target: Path) -> None:
    """Write a folder's model, tokenizer, chat template and verifier's head (if any) in float32.

    The folder must contain a Llama model with tied embeddings and a byte-level BPE tokenizer that
    splits as `PRE_TOKENIZER` does, as `gradeschool verifier finetune -m new:SIZE` makes it. Raises
    InputError for another architecture, MissingExtraError if gguf or safetensors is missing.
    """
    require_packages("writing GGUF", "llama-cpp", "gguf")
    require_packages("writing GGUF", "train", "safetensors")
    import gguf
    from safetensors.numpy import load_file

    from gradeschool.models.local import check_model

    check_model(folder)
    config = read_object(folder / "config.json", GIVE_MODEL)
    if config.get("model_type") != ARCHITECTURE or not config.get("tie_word_embeddings"):
        advice = "use llama.cpp's own convert_hf_to_gguf.py"
        raise InputError(f"{str(folder)!r} has no Llama with tied embeddings; {advice}")
    writer = gguf.GGUFWriter(target, ARCHITECTURE)
    writer.add_name(ARCHITECTURE)
    for add, name in SHAPE.items():
        getattr(writer, f"add_{add}")(config[name])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    tokenizer = read_object(folder / "tokenizer.json", GIVE_MODEL)
    vocabulary: dict[str, int] = tokenizer["model"]["vocab"]
    special = {token["content"] for token in tokenizer["added_tokens"] if token["special"]}
    tokens = sorted(vocabulary, key=vocabulary.__getitem__)
    kinds = [gguf.TokenType.CONTROL if t in special else gguf.TokenType.NORMAL for t in tokens]
    # A small text may leave the vocabulary smaller than the model's; llama.cpp requires equal
    # sizes.
    unused = config["vocab_size"] - len(tokens)
    tokens += [f"<|unused_{number}|>" for number in range(unused)]
    kinds += [gguf.TokenType.UNUSED] * unused
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(PRE_TOKENIZER)
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges([" ".join(pair) for pair in tokenizer["model"]["merges"]])
    writer.add_bos_token_id(config["pad_token_id"])  # never added; otherwise llama.cpp uses 11
    writer.add_eos_token_id(config["eos_token_id"])
    writer.add_pad_token_id(config["pad_token_id"])
    writer.add_add_bos_token(False)
    template = folder / "chat_template.jinja"
    if template.is_file():
        writer.add_chat_template(template.read_text(encoding="utf-8"))
    if (folder / VERIFIER_FILE).is_file():
        head = read_object(folder / VERIFIER_FILE, GIVE_MODEL)
        writer.add_string(HEAD_KEY, json.dumps({name: head.get(name) for name in HEAD_FIELDS}))
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config["num_hidden_layers"])
    for name, tensor in load_file(folder / "model.safetensors").items():
        if name.endswith(ROTATED):  # Transformers' rotary halves to llama.cpp's rotary pairs
            rows, columns = tensor.shape
            halves = rows // config["head_dim"], 2, config["head_dim"] // 2, columns
            tensor = tensor.reshape(halves).swapaxes(1, 2).reshape(rows, columns)
        renamed = names.get_name(name, try_suffixes=(".weight",))
        if renamed is None:
            raise InputError(f"llama.cpp has no name for the tensor {name!r} of {str(folder)!r}")
        writer.add_tensor(renamed, tensor.astype("float32"))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
