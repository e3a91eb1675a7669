"""Small data and models for training tests: problems, a tokenizer, several architectures."""

import json
from pathlib import Path
from typing import Any

from gradeschool.problem import Problem
from gradeschool.verifier.networks import build_tokenizer, new_model
from tests.support.files import jsonl

SMALL = (16, 32, 2, 2)  # see `networks.SHAPES`
VOCABULARY = 300
# Small versions of architectures that people fine-tune; the sizes that all of them accept.
SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 8,
    "intermediate_size": 32,
    "max_position_embeddings": 256,
    "vocab_size": VOCABULARY,
    "pad_token_id": 0,
    "bos_token_id": None,
    "eos_token_id": 1,
}


def sums(count: int) -> list[Problem]:
    """Problems of one or two additions."""
    made_problems = []
    for index in range(count):
        first, second, third = index % 7 + 2, index % 5 + 1, index % 11
        total = first + second
        steps = f"Tom has {first}+{second}=<<{first}+{second}={total}>>{total} apples.\n"
        if third > 4:
            steps += f"Then {total}+{third}=<<{total}+{third}={total + third}>>{total + third}.\n"
            total += third
        question = f"Tom has {first} apples and buys {second}." + (
            f" He finds {third} more." if third > 4 else ""
        )
        made_problems.append(
            Problem.from_row(str(index), f"{question} How many?", f"{steps}#### {total}")
        )
    return made_problems


def write_problems(path: Path, count: int) -> Path:
    """A JSONL file of problems."""
    rows = [{"question": problem.question, "answer": problem.solution} for problem in sums(count)]
    return jsonl(path, rows)


def tokenizer_of(problems: list[Problem]) -> Any:
    """A tokenizer of the problems."""
    return build_tokenizer(
        [f"{problem.question}\n{problem.solution}" for problem in problems], vocabulary=VOCABULARY
    )


def trainee(tokenizer: Any, seed: int = 0) -> Any:
    """A new model without zeros in it, so that every weight has a gradient."""
    import torch

    model = new_model(tokenizer, SMALL, seed)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(seed)
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model


def model_folder(folder: Path) -> Path:
    """A new model with its tokenizer, written to a folder."""
    tokenizer = tokenizer_of(sums(8))
    for part in (trainee(tokenizer), tokenizer):
        part.save_pretrained(folder)
    return folder


def architecture(kind: str, **sizes: Any) -> Any:
    """A small model of another architecture, random."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.for_model(kind, **{**SIZES, **sizes})
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return AutoModelForCausalLM.from_config(config).eval()


def save_verifier(verifier: Any, folder: Path, tokenizer: Any, **facts: str) -> Path:
    """Write a verifier as a training does, with these facts about it."""
    folder.mkdir(parents=True, exist_ok=True)
    fields = verifier.save_fields()
    verifier.model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "verifier.json").write_text(json.dumps({**fields, **facts}))
    return folder
