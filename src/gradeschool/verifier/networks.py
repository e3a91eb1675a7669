"""What is trained: a base model, its folder and its GGUF file; a verifier, and how it reads.

A verifier is a language model whose value at each token tells right solutions from wrong ones. The
value is trained by squared error towards 1 for right and 0 for wrong; it has no bounds.

The head is a gain and a bias on the logit of one reserved token, as in appendix E of "Training
Verifiers to Solve Math Word Problems" (arXiv 2110.14168). The other logits remain those of a
language model, so that one network is trained on both objectives. The reserved token's row of the
unembedding is a parameter of its own, which also learns where adapters freeze the rest.
"""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext, redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers
from safetensors import SafetensorError
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor, nn
from torch.nn.functional import dropout, linear
from transformers.utils import logging

from gradeschool.atomic import check_output, write_json
from gradeschool.datasets.load import sha256_of
from gradeschool.errors import InputError, StoreError, UnknownNameError, require_packages
from gradeschool.formats.values import read_object
from gradeschool.models import local
from gradeschool.models.local import GGUF, VERIFIER_FILE, check_model, from_folder
from gradeschool.verifier.data import SolutionTokens

# A base model

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
    hidden, intermediate, layers, heads = shape
    ends = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    config = transformers.LlamaConfig(
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
        model: Any = transformers.LlamaForCausalLM(config)
    with torch.no_grad():
        for block in model.model.layers:
            block.self_attn.o_proj.weight.zero_()
            block.mlp.down_proj.weight.zero_()
    model.generation_config = transformers.GenerationConfig(**ends)
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
    return transformers.PreTrainedTokenizerFast(
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
HEAD_KEY = "gradeschool.verifier"
HEAD_FIELDS = ("schema", "head", "token_id", "gain", "bias", "level", "chat")
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


# A verifier

SCHEMA = 1
LANGUAGE_MODEL, CLASSIFIER = "AutoModelForCausalLM", "AutoModelForTokenClassification"
# With these, an untrained head gives about 0.5, with little weight on the token's logit.
GAIN, BIAS = 0.1, 0.5
LEAST_DEVIATION = 0.1  # nats, of the log-probabilities of solutions
# Tokens of one forward pass, with padding.
PLACES_ON_CPU, PLACES_ON_GPU = 8_192, 131_072
SHARED = 4  # solutions of a question from which it is read once for all of them


class Verifier(nn.Module):
    """A causal language model from transformers with a head.

    kind LOGIT: the value at a token is gain x (state . row) + bias. kind LIKELIHOOD: it is
    sigmoid(exp(gain) x the sum of the log-probabilities up to it + bias), including tokens that a
    calculator forced; not in the paper, but close to the implicit rewards of Yuan et al. 2024
    (arXiv 2412.01981) without a reference model. level: what a loaded verifier learnt, "" if
    unknown. chat: whether it reads the question as a user's turn.
    """

    level, chat = "", False

    def __init__(
        self, model: Any, token_id: int, gain: float = GAIN, bias: float = BIAS, kind: str = LOGIT
    ) -> None:
        super().__init__()
        self.model, self.token_id, self.kind = model, token_id, kind
        self.gain = nn.Parameter(torch.tensor([gain], dtype=torch.float32))
        self.bias = nn.Parameter(torch.tensor([bias], dtype=torch.float32))
        self.offset = 0.0  # of the reserved token's logit, in models whose unembedding has a bias
        if kind == LOGIT:
            unembedding = model.get_output_embeddings() or classifying_layer(model)
            self.row = nn.Parameter(unembedding.weight[token_id].detach().float().clone())
            if getattr(unembedding, "bias", None) is not None:
                self.offset = float(unembedding.bias[token_id].detach())

    def values(self, states: Tensor) -> Tensor:
        """Return the value of each state, in float32: bfloat16 has 63 values from .9 to 1.1."""
        return self.gain * (states.float() @ self.row + self.offset) + self.bias

    def logits(self, logprobs: Tensor) -> Tensor:
        """Return the logit of each (partial) sum of log-probabilities; for LIKELIHOOD only."""
        return self.gain.exp() * logprobs + self.bias

    def fit_start(self, logprobs: Sequence[float]) -> None:
        """Make a likelihood head standardise log-probabilities (nats) like those of solutions."""
        values = torch.tensor(logprobs)
        deviation = values.std(correction=0).clamp(min=LEAST_DEVIATION)
        with torch.no_grad():
            self.gain.fill_(-float(deviation.log()))
            self.bias.fill_(-float(values.mean() / deviation))

    def fit_row(self, texts: Sequence[SolutionTokens], right: Sequence[bool]) -> None:
        """Begin the head from a ridge regression of the labels on each solution's mean state."""
        with torch.inference_mode():
            means = {text: found[1:].double().mean(0).cpu()
                     for text, found in read_states(self.model, texts)}  # fmt: skip
        states = torch.stack([means[text] for text in texts])
        labels = torch.tensor(right, dtype=torch.float64)
        mean, deviation = states.mean(0), states.std(0).clamp(min=1e-6)
        scaled = (states - mean) / deviation
        gram = scaled.T @ scaled + len(scaled) * torch.eye(scaled.shape[1], dtype=torch.float64)
        weights = torch.linalg.solve(gram, scaled.T @ (labels - labels.mean())) / deviation
        size = float(weights.norm().clamp(min=1e-6))
        with torch.no_grad():
            self.row.copy_(weights / size)
            self.gain.fill_(size)
            self.bias.fill_(float(labels.mean() - mean @ weights) - size * self.offset)

    def save_fields(self) -> dict[str, Any]:
        """Put the row into the model, and return the fields of verifier.json about the head."""
        if self.kind == LOGIT:
            weight = self.model.get_output_embeddings().weight
            with torch.no_grad():
                weight[self.token_id] = self.row.to(weight)
        numbers = {"gain": self.gain.item(), "bias": self.bias.item()}
        return {"schema": SCHEMA, "head": self.kind, "token_id": self.token_id, **numbers}

    @classmethod
    def load(
        cls, path: Path, device: str = "cpu", precision: str | None = None
    ) -> tuple[Verifier, Any]:
        """Return the verifier in a folder or GGUF file, and its tokenizer.

        precision: see `models.local.load_model`. Raises InputError if there is no verifier.
        """
        if (path / local.UNFINISHED).is_dir():
            local.check_model(path)
        written: Any = None
        try:
            if path.suffix == GGUF:
                require_packages("reading a GGUF file", "train", "gguf")
                import gguf

                field = gguf.GGUFReader(path).get_field(HEAD_KEY)
                written = "null" if field is None else field.contents()
            else:
                written = (path / VERIFIER_FILE).read_bytes()
            fields = json.loads(written)
            kind = str(fields.get("head") or LOGIT)  # verifiers of this kind may not name it
            if kind not in (LIKELIHOOD, LOGIT):
                raise ValueError(f"the head {kind!r} is unknown")
            token_id = int(fields["token_id"])
            gain, bias = float(fields["gain"]), float(fields["bias"])
        except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise InputError(
                f"{str(path)!r} is not a verifier: its head ({VERIFIER_FILE}, or the field "
                f"{HEAD_KEY} of a GGUF file) is missing or damaged ({error}); train one: "
                "gradeschool verifier train; or give the --form of a published reward model"
            ) from error
        used = CLASSIFIER if fields.get("classifier") else LANGUAGE_MODEL
        model, tokenizer = load_language_model(path, device, precision, used)
        vocabulary = model.get_input_embeddings().weight.shape[0]
        if not 0 <= token_id < vocabulary:
            raise InputError(
                f"the head in {str(path)!r} names the token {token_id!r}, but the model knows "
                f"{vocabulary}; train the verifier again"
            )
        verifier = cls(model, token_id, gain, bias, kind)
        verifier.level, verifier.chat = str(fields.get("level") or ""), bool(fields.get("chat"))
        return verifier.to(device).eval(), tokenizer


def classifying_layer(model: Any) -> Any:
    """Return the linear layer of a token classifier."""
    [layer] = [each for each in model.children() if isinstance(each, nn.Linear)]
    return layer


def load_language_model(
    path: Path, device: str = "cpu", precision: str | None = None, kind: str = LANGUAGE_MODEL
) -> tuple[Any, Any]:
    """Return the model and the tokenizer of a folder or a GGUF file; see `Verifier.load`."""
    if path.suffix == GGUF:
        base = load_folder(path)
        return base.model.to(device).eval(), base.tokenizer
    return local.load_model(path, device, precision, kind), local.load_tokenizer(path)


def compute_logits(model: Any, states: Tensor, banned: int = -1, exact: bool = False) -> Tensor:
    """Return the logits of states in float32, scaled and capped as in the model's own forward.

    banned: a token without probability, -1 for none. exact: multiply in float32 too, whatever the
    precision of the model and the passes.
    """
    head = model.get_output_embeddings()
    if exact:
        bias = getattr(head, "bias", None)
        with torch.autocast(states.device.type, enabled=False):
            bias = None if bias is None else bias.float()
            logits = linear(states.float(), head.weight.float(), bias)
    else:
        logits = head(states).float()
    config = model.config
    if (divisor := getattr(config, "logits_scaling", None)) is not None:
        logits = logits / divisor
    if (factor := getattr(config, "logit_scale", None)) is not None:
        logits = logits * factor
    if (cap := getattr(config, "final_logit_softcapping", None)) is not None:
        logits = cap * torch.tanh(logits / cap)
    if banned >= 0:
        is_banned = torch.arange(logits.shape[-1], device=logits.device) == banned
        logits = logits.masked_fill(is_banned, float("-inf"))
    return logits


def new_verifier(model: Any, tokenizer: Any, seed: int = 0, likelihood: bool = False) -> Verifier:
    """Make an untrained verifier from a generator, with the same weights.

    Its reserved token is `<ver>`, which tokenizer and embedding get if they lack it. The token's
    row is random: the generator has learnt to push its logit down.
    """
    if VER not in tokenizer.get_vocab():
        tokenizer.add_special_tokens({"additional_special_tokens": [VER]})
        rows = model.get_input_embeddings().weight.shape[0]
        if len(tokenizer) > rows:
            model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    token_id = tokenizer.convert_tokens_to_ids(VER)
    verifier = Verifier(model, token_id, kind=LIKELIHOOD if likelihood else LOGIT)
    if not likelihood:
        width = len(verifier.row)
        source = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            verifier.row.copy_(torch.randn(width, generator=source) * width**-0.5)
    return verifier


# Reading solutions


def read_values(verifier: Verifier, texts: Sequence[SolutionTokens]) -> list[list[float]]:
    """Return a verifier's value at each token of each solution."""
    if verifier.kind == LIKELIHOOD:
        # In float32 a sigmoid is 0 below -103, where many steps of a long solution end.
        rows = read_logprobs(verifier.model, texts, verifier.token_id)
        sums = [torch.tensor(row, device=verifier.gain.device).cumsum(0) for row in rows]
        return [torch.sigmoid(verifier.logits(each).double()).tolist() for each in sums]
    with torch.inference_mode():
        found = {text: verifier.values(states[1:]).tolist()
                 for text, states in read_states(verifier.model, texts)}  # fmt: skip
    return [found[text] for text in texts]


def read_logprobs(
    model: Any, texts: Sequence[SolutionTokens], banned: int = -1
) -> list[list[float]]:
    """Return the log-probability (nats) of each token of each solution; banned: a token of none."""
    found = {}
    with torch.inference_mode():
        for text, states in read_states(model, texts):
            logits = compute_logits(model, states[:-1], banned, exact=True)
            chosen = torch.tensor(text.solution, device=logits.device)[:, None]
            # In float32: double takes half of the time of the logits, and differs by 2e-6.
            found[text] = torch.log_softmax(logits, -1).gather(1, chosen)[:, 0].tolist()
    return [found[text] for text in texts]


def read_states(
    model: Any, texts: Sequence[SolutionTokens]
) -> Iterator[tuple[SolutionTokens, Tensor]]:
    """Yield each different text with the last states [tokens + 1, width] of its solution.

    The first state is that of the question's last token; state t has seen t tokens of the solution.
    A question with several solutions is read once: the keys and values are shared.
    """
    by_question: dict[tuple[int, ...], list[SolutionTokens]] = {}
    for text in dict.fromkeys(texts):
        by_question.setdefault(text.question, []).append(text)
    groups: dict[tuple[int, ...], list[SolutionTokens]] = {(): []}
    for question, group in by_question.items():
        is_shared = len(group) >= SHARED and len(question) > 1
        groups.setdefault(question[:-1] if is_shared else (), []).extend(group)
    for prefix, group in groups.items():
        rows = [(text.question + text.solution)[len(prefix) :] for text in group]
        for part in batch_rows([len(row) for row in rows], model.device.type):
            ids = pad_rows([rows[number] for number in part], model.device)
            options: dict[str, Any] = {"use_cache": False}
            if prefix:
                cache = transformers.DynamicCache(config=model.config)
                model.base_model(input_ids=pad_rows([prefix], model.device), past_key_values=cache)
                cache.batch_repeat_interleave(len(part))
                after = torch.arange(len(prefix), len(prefix) + ids.shape[1], device=ids.device)
                options = {"past_key_values": cache, "position_ids": after[None].expand_as(ids)}
            states = model.base_model(input_ids=ids, **options).last_hidden_state
            for row, number in enumerate(part):
                end = len(rows[number])
                yield group[number], states[row, end - len(group[number].solution) - 1 : end]


def pad_rows(rows: Sequence[Sequence[int]], device: Any) -> Tensor:
    """Return rows of tokens as one tensor, padded on the right."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (width - len(row))] for row in rows], device=device)


def batch_rows(lengths: Sequence[int], device: str) -> Iterator[list[int]]:
    """Yield the numbers of rows in passes that fit the device, the shortest rows first."""
    most = PLACES_ON_CPU if device == "cpu" else PLACES_ON_GPU
    part: list[int] = []
    for length, number in sorted(zip(lengths, range(len(lengths)), strict=True)):
        if part and length * (len(part) + 1) > most:
            yield part
            part = []
        part.append(number)
    if part:
        yield part


# Export


def export_classifier(verifier_folder: Path, output: Path) -> None:
    """Write a verifier's folder as a model of AutoModelForTokenClassification with one label.

    The label's logit is the verifier's value and needs no sigmoid: config.json says "problem_type":
    "regression". With the verifier.json beside it, gradeschool reads it like the verifier. The
    weights keep their data type. Raises InputError for a likelihood head, which is not a linear
    layer, for an architecture without such a class, and for an existing output folder.
    """
    check_output(output)
    local.check_model(verifier_folder)
    stored = local.from_folder("AutoConfig", verifier_folder).dtype or torch.float32
    verifier, tokenizer = Verifier.load(verifier_folder, precision="float32")
    if verifier.kind == LIKELIHOOD:
        raise InputError(
            f"the verifier in {str(verifier_folder)!r} scores by likelihood, which is not a token "
            "classifier; export one that was trained with another --level"
        )
    model = verifier.model
    config = copy.deepcopy(model.config)
    config.num_labels, config.problem_type = 1, "regression"
    try:
        classifier = local.untrained(CLASSIFIER, config)
    except ValueError as error:
        raise InputError(
            f"transformers has no token classifier of the type {config.model_type!r}; use the "
            "verifier's folder with gradeschool"
        ) from error
    classifier.base_model.load_state_dict(model.base_model.state_dict())
    head = classifying_layer(classifier)
    with torch.no_grad():
        head.weight.copy_(verifier.gain * verifier.row)
        head.bias.copy_(verifier.bias + verifier.gain * verifier.offset)
    classifier.to(stored).save_pretrained(output)
    tokenizer.save_pretrained(output)
    fields = {"schema": SCHEMA, "head": LOGIT, "token_id": 0, "gain": 1.0, "bias": 0.0}
    how = {"level": verifier.level, "chat": verifier.chat, "classifier": True}
    write_json(output / VERIFIER_FILE, fields | how)
