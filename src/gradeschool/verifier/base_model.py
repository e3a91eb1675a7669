"""The base model of a training, and its result: the folder, and a GGUF file for llama.cpp."""

import json
import warnings
from collections.abc import Iterable
from contextlib import nullcontext, redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.datasets.load import sha256_of
from gradeschool.errors import InputError, StoreError, UnknownNameError, require_packages
from gradeschool.formats.values import read_object
from gradeschool.models.local import check_model, from_folder

PACKAGES = ("safetensors", "torch", "transformers")
GGUF = ".gguf"
ADAPTER = "adapter"  # the adapter's folder inside the trained model's folder
ALPHA = 2  # peft's lora_alpha is ALPHA x rank, so that one learning rate suits every rank
WEIGHTS = ("*.safetensors", "config.json", "tokenizer.json")
NEW_PREFIX = "new:"
PAD, EOS, VER = "<pad>", "<eos>", "<ver>"
SPECIALS = (PAD, EOS, VER)  # with ids 0, 1, 2; <ver> is reserved for a verifier's head
BYTES = 256
VOCABULARY = 1024  # the unembedding costs as much as a layer of 64 at about 800 tokens
CONTEXT = 1024  # maximum number of tokens of a prompt and its completion
# The modules of a block whose output is added to the residual stream, in transformers' models. The
# paper uses 20 % dropout on these paths (section 5.2).
RESIDUAL = ("self_attn", "attn", "attention", "mlp")


# The sizes of a new Llama: width of the residual stream and of the MLP, layers, heads; named by
# their number of parameters without the embedding, which is vocabulary x width.
Shape = tuple[int, int, int, int]
SHAPES: dict[str, Shape] = {
    "0.05M": (32, 88, 4, 4),
    "0.2M": (64, 176, 4, 4),
    "1M": (128, 352, 5, 4),
    "5M": (256, 704, 6, 8),
}


class BaseModel(NamedTuple):
    """A model with its tokenizer, and the dtype of its stored weights."""

    model: Any
    tokenizer: Any
    stored: Any

    @property
    def context(self) -> int | None:
        """The model's maximum number of tokens, None if unknown."""
        positions = getattr(self.model.config, "max_position_embeddings", None)
        return positions if isinstance(positions, int) else None


def needs_training_packages() -> None:
    """Raise MissingExtraError if a training package is not installed; does not import it."""
    require_packages("training", "train", *PACKAGES)


def identify_model(model: str) -> dict[str, str]:
    """Return the identity of a model: the digests of a folder's files, or a new shape.

    Raises InputError if there is no such folder, UnknownNameError for an unknown size.
    """
    if model.startswith(NEW_PREFIX):
        return {"shape": repr(named_shape(model))}
    folder = Path(model)
    if folder.suffix == GGUF and folder.is_file():
        return {folder.name: sha256_of(folder)}
    if not folder.is_dir():
        raise InputError(
            f"{model!r} contains no model (there is no such folder); give the folder of a Hugging "
            "Face model, or new:0.05M, new:0.2M, new:1M, new:5M for a new model"
        )
    check_model(folder)
    files = sorted(file for pattern in WEIGHTS for file in folder.glob(pattern))
    return {file.name: sha256_of(file) for file in files}


def load_folder(folder: Path) -> BaseModel:
    """Return a folder's model in float32 with its tokenizer; code in the folder is not run.

    folder: also a GGUF file, which transformers dequantises to float32. Raises InputError if the
    files cannot be used, MissingExtraError if reading GGUF needs a package.
    """
    import torch

    where, options = folder, dict[str, Any]()
    if is_gguf := folder.suffix == GGUF:
        require_packages("reading a GGUF file", "train", "accelerate", "gguf")
        where, options = folder.parent, {"gguf_file": folder.name}
    with redirect_stderr(StringIO()) if is_gguf else nullcontext():  # it has its own progress bar
        tokenizer = from_folder("AutoTokenizer", where, **options)
        model = from_folder("AutoModelForCausalLM", where, dtype=torch.float32, **options)
    stored = torch.float32 if is_gguf else from_folder("AutoConfig", where).dtype
    if is_gguf:  # a model without the mark of quantisation, which can be saved
        weights, generation = model.state_dict(), model.generation_config
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
        model = type(model)(model.config)
        model.load_state_dict(weights)
        model.generation_config = generation
    if tokenizer.eos_token_id is None:
        raise InputError(f"the tokenizer in {str(folder)!r} has no end token; give it an eos_token")
    line_break = tokenizer("\n", add_special_tokens=False)["input_ids"]
    if "\n" not in tokenizer.decode(line_break):
        raise InputError(
            f"the tokenizer in {str(folder)!r} loses line breaks, which divide a solution into "
            "steps; give a model whose tokenizer writes and reads them"
        )
    return BaseModel(model, tokenizer, stored or torch.float32)


def add_lora(model: Any, rank: int, seed: int) -> Any:
    """Freeze a model and add adapters to its linear layers except the head; return peft's wrapper.

    The model itself computes with the adapters. Raises MissingExtraError without peft.
    """
    require_packages("training LoRA adapters", "train", "peft")
    import torch
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(
        r=rank, lora_alpha=ALPHA * rank, target_modules="all-linear", task_type="CAUSAL_LM"
    )
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peft asks by a name of earlier releases
        torch.manual_seed(seed)
        return get_peft_model(model, config)


def save_folder(base: BaseModel, folder: Path, adapters: Any = None) -> None:
    """Write model and tokenizer as a folder that from_pretrained reads, in the stored dtype.

    adapters: peft's wrapper; they are saved beside the model, which gets the merged weights.
    Generation ends at the tokenizer's end token. Raises StoreError.
    """
    from safetensors import SafetensorError
    from transformers.utils import logging

    logging.disable_progress_bar()
    if adapters is not None:
        adapters.save_pretrained(folder / ADAPTER)
        adapters.merge_and_unload()
    model, end = base.model, base.tokenizer.eos_token_id
    generation, pad = model.generation_config, base.tokenizer.pad_token_id
    known = generation.eos_token_id
    ends = {end: 0, **dict.fromkeys([known] if isinstance(known, int) else known or ())}
    generation.eos_token_id = end if len(ends) == 1 else list(ends)
    if generation.pad_token_id is None:
        generation.pad_token_id = end if pad is None else pad
    try:
        model.to(base.stored).save_pretrained(folder)
        base.tokenizer.save_pretrained(folder)
        readable = (folder / "config.json").stat().st_mode
        for file in folder.glob("*.safetensors"):
            file.chmod(readable)  # created with access for the user only
    except (OSError, SafetensorError) as error:
        raise StoreError(
            f"cannot write the model to {str(folder)!r}: {error}; free the disk, then the same "
            "command continues from the last checkpoint"
        ) from error


def new_model(tokenizer: Any, shape: Shape, seed: int = 0) -> Any:
    """Return a Llama with tied embeddings and random weights that depend only on the seed.

    The projections back into the residual stream start at zero, so every block starts as the
    identity, which makes training from scratch faster.
    """
    import torch
    from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

    hidden, intermediate, layers, heads = shape
    ends = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=intermediate,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=heads,
        head_dim=hidden // heads,
        max_position_embeddings=CONTEXT,
        initializer_range=hidden**-0.5,
        tie_word_embeddings=True,
        bos_token_id=None,
        **ends,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model: Any = LlamaForCausalLM(config)
    with torch.no_grad():
        for block in model.model.layers:
            block.self_attn.o_proj.weight.zero_()
            block.mlp.down_proj.weight.zero_()
    model.generation_config = GenerationConfig(**ends)
    return model


def named_shape(size: str) -> Shape:
    """Return the shape of "new:SIZE"; raises UnknownNameError for an unknown size."""
    name = size.removeprefix(NEW_PREFIX)
    if name not in SHAPES:
        raise UnknownNameError("size of a new model", name, SHAPES)
    return SHAPES[name]


def build_tokenizer(texts: Iterable[str], vocabulary: int = VOCABULARY) -> Any:
    """Return a tokenizer trained on texts.

    It splits single digits, then words as GPT-2 does, with byte-level BPE, like llama.cpp's
    "smollm" pre-tokenizer. Any text is encoded and decoded exactly. The same texts give the same
    tokenizer. Raises InputError if the vocabulary is too small for every byte.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    least = BYTES + len(SPECIALS)
    if vocabulary < least:
        raise InputError(
            f"a vocabulary of {vocabulary!r} tokens is too small; give {least} at least"
        )
    byte_level, digits = pre_tokenizers.ByteLevel, pre_tokenizers.Digits
    tokenizer: Any = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [digits(individual_digits=True), byte_level(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=list(SPECIALS),
        initial_alphabet=sorted(byte_level.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=EOS,
        additional_special_tokens=[VER],
        clean_up_tokenization_spaces=False,
        model_max_length=CONTEXT,
    )


def set_dropout(model: Any, share: float) -> None:
    """Apply dropout to every block's outputs in training, replacing the model's own dropout.

    A share of 0 also turns the model's own dropout off. Raises InputError for an architecture whose
    blocks name their parts otherwise.
    """
    from torch import nn
    from torch.nn.functional import dropout

    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        if isinstance(getattr(module, "attention_dropout", None), float):
            module.attention_dropout = 0.0

    def drop(module: Any, inputs: Any, output: Any) -> Any:
        first, *rest = output if isinstance(output, tuple) else (output,)
        first = dropout(first, share, training=module.training)
        return (first, *rest) if isinstance(output, tuple) else first

    lists = [module for module in model.modules() if isinstance(module, nn.ModuleList)]
    blocks = [dict(block.named_children()) for block in max(lists, key=len, default=[])]
    parts = [block[name] for block in blocks for name in RESIDUAL if name in block]
    has_more = any("post_feedforward" in name for block in blocks for name in block)
    if share and (has_more or len(parts) != 2 * len(blocks)):
        raise InputError(
            f"--dropout does not know where the residual paths of {model.config.model_type!r} are; "
            "leave it out"
        )
    for part in parts if share else ():
        part.register_forward_hook(drop)


# GGUF files

ARCHITECTURE = "llama"
PRE_TOKENIZER = "smollm"  # llama.cpp's name for single digits, then GPT-2's byte-level split
# The head of a verifier: JSON with these fields of the folder's verifier.json.
HEAD_KEY, VERIFIER_FILE = "gradeschool.verifier", "verifier.json"
HEAD_FIELDS = ("schema", "head", "token_id", "gain", "bias", "level")
LIKELIHOOD, LOGIT = "likelihood", "logit"
GIVE_MODEL = "give the folder of a model"
# How the writer's settings are named in config.json.
GGUF_SHAPE = {
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

    check_model(folder)
    config = read_object(folder / "config.json", GIVE_MODEL)
    if config.get("model_type") != ARCHITECTURE or not config.get("tie_word_embeddings"):
        advice = "use llama.cpp's own convert_hf_to_gguf.py"
        raise InputError(f"{str(folder)!r} has no Llama with tied embeddings; {advice}")
    writer = gguf.GGUFWriter(target, ARCHITECTURE)
    writer.add_name(ARCHITECTURE)
    for add, name in GGUF_SHAPE.items():
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
