"""A verifier with random weights, as a folder and as a GGUF file."""

from pathlib import Path

import pytest

from gradeschool.verifier.data import QuestionSolution
from tests.support.fixtures import skip_without
from tests.support.trainees import save_verifier

NEEDS = ("torch", "transformers", "accelerate", "gguf")
PAIRS = [
    QuestionSolution("Tom has 3 apples and buys 4. How many?", "He has 3+4=<<3+4=7>>7.\n#### 7"),
    QuestionSolution(
        "Tom has 3 apples and buys 4. How many?", "He has 12.\n#### 12", finished=False
    ),
    QuestionSolution("Tom has 3 apples and buys 4. How many?", "He has 3+4=<<3+4=7>>7.\n#### 7"),
    QuestionSolution("Wie viel sind 1.234 €?", "é\u2028½ <eos> <ver> 12\t\n#### -3"),
    QuestionSolution("Nothing?", ""),
]


@pytest.fixture(scope="module", params=["logit", "likelihood"])
def verifier(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a verifier with random weights, and beside it its GGUF file."""
    skip_without(NEEDS, "a verifier as a GGUF file")
    from gradeschool.verifier.networks import (
        SHAPES,
        Verifier,
        build_tokenizer,
        new_model,
        write_gguf,
    )

    folder: Path = tmp_path_factory.mktemp(request.param) / "model"
    tokenizer = build_tokenizer([pair.question + pair.solution for pair in PAIRS], vocabulary=300)
    model = new_model(tokenizer, SHAPES["0.05M"], seed=3)
    for layer in model.model.layers:  # zero in a new model, which would leave attention out
        layer.self_attn.o_proj.weight.data.normal_(std=0.1)
        layer.mlp.down_proj.weight.data.normal_(std=0.1)
    save_verifier(Verifier(model, 2, -1.5, 0.7, request.param), folder, tokenizer)
    write_gguf(folder, folder.with_suffix(".gguf"))
    return folder
