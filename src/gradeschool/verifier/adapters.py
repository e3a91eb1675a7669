"""LoRA adapters by peft, injected into a model, and verifiers as token classifiers."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from gradeschool.atomic import require_new
from gradeschool.errors import InputError, StoreError, require_packages
from gradeschool.models.local import check_model, from_folder, load_tokenizer, untrained

ADAPTER = "adapter"  # the adapter's folder inside the trained model's folder
# peft's lora_alpha is ALPHA x rank, so that one learning rate suits every rank.
ALPHA = 2


def add_lora(model: Any, rank: int, seed: int) -> None:
    """Freeze a model and add adapters of this rank to its linear layers, except the head.

    The adapters are peft's, initialised from the seed; the model keeps its class. Raises
    MissingExtraError without peft, InputError for a model without linear layers.
    """
    require_packages("training LoRA adapters", "train", "peft")
    import torch
    from peft import LoraConfig, inject_adapter_in_model

    head = model.get_output_embeddings()
    names = {
        name.rpartition(".")[2]
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and module is not head
    }
    if not names:
        raise InputError(
            f"--lora finds no linear layers in a model of the type {model.config.model_type!r}; "
            "train all weights instead"
        )
    model.requires_grad_(False)
    config = LoraConfig(r=rank, lora_alpha=ALPHA * rank, target_modules=sorted(names))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        inject_adapter_in_model(config, model)
    model.peft_config = {"default": config}


def take_lora(model: Any, folder: Path) -> None:
    """Save a model's adapters to a folder in peft's format, then merge them into its weights.

    Does nothing to a model without adapters. Raises StoreError if they cannot be written.
    """
    config = getattr(model, "peft_config", {}).get("default")
    if config is None:
        return
    from peft import get_peft_model_state_dict
    from peft.tuners.lora import LoraLayer
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    tensors = {
        f"base_model.model.{name}": tensor.contiguous()
        for name, tensor in get_peft_model_state_dict(model).items()
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        save_file(tensors, folder / "adapter_model.safetensors", {"format": "pt"})
        config = copy.copy(config)
        config.task_type, config.inference_mode = "CAUSAL_LM", True
        config.save_pretrained(str(folder))
    except (OSError, SafetensorError) as error:
        raise StoreError(f"cannot write the adapter to {str(folder)!r}: {error}") from error
    for name, module in list(model.named_modules()):
        if isinstance(module, LoraLayer):
            module.merge()
            parent, _, child = name.rpartition(".")
            setattr(model.get_submodule(parent), child, module.get_base_layer())
    del model.peft_config


def export_classifier(verifier_folder: Path, output: Path) -> None:
    """Write a verifier's folder as a model of AutoModelForTokenClassification with one label.

    The label's logit is the verifier's value and needs no sigmoid: config.json says "problem_type":
    "regression". The weights keep their data type. Raises InputError for a likelihood head, which
    is not a linear layer, for an architecture without such a class, and for an existing output
    folder.
    """
    import torch
    from torch import nn
    from transformers import AutoConfig, AutoModelForTokenClassification

    from gradeschool.verifier.head import LikelihoodVerifier, Verifier

    require_new(output)
    check_model(verifier_folder)
    stored = from_folder(AutoConfig, verifier_folder).dtype or torch.float32
    tokenizer = load_tokenizer(verifier_folder)
    verifier = Verifier.load(verifier_folder, precision="float32")
    if isinstance(verifier, LikelihoodVerifier):
        raise InputError(
            f"the verifier in {str(verifier_folder)!r} scores by likelihood, which is not a token "
            "classifier; export one that was trained with another --level"
        )
    model = verifier.model
    config = copy.deepcopy(model.config)
    config.num_labels, config.problem_type = 1, "regression"
    try:
        classifier = untrained(AutoModelForTokenClassification, config)
    except ValueError as error:
        raise InputError(
            f"transformers has no token classifier of the type {config.model_type!r}; use the "
            "verifier's folder with gradeschool"
        ) from error
    classifier.base_model.load_state_dict(model.base_model.state_dict())
    [head] = [each for each in classifier.children() if isinstance(each, nn.Linear)]
    row = model.get_output_embeddings().weight[verifier.token_id]
    with torch.no_grad():
        head.weight.copy_(verifier.gain * row)
        head.bias.copy_(verifier.bias)
    classifier.to(stored).save_pretrained(output)
    tokenizer.save_pretrained(output)
