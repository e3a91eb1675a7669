"""Python code that comes with a model is never run, whatever stands on standard input."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.command import SCRIPT, environment

CODE = """
from pathlib import Path
Path({marker!r}).write_text("ran")
from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerFast
class HostileConfig(PretrainedConfig):
    model_type = "hostile"
class HostileModel(PreTrainedModel):
    config_class = HostileConfig
class HostileTokenizer(PreTrainedTokenizerFast):
    pass
"""


def hostile_folder(folder: Path) -> Path:
    """Return the folder of a model that needs its own code, which leaves a file behind."""
    model = folder / "model"
    model.mkdir()
    classes = {"AutoConfig": "hostile.HostileConfig",
               "AutoModelForCausalLM": "hostile.HostileModel"}  # fmt: skip
    (model / "config.json").write_text(json.dumps({"model_type": "hostile", "auto_map": classes}))
    tokenizer = {"tokenizer_class": "HostileTokenizer",
                 "auto_map": {"AutoTokenizer": [None, "hostile.HostileTokenizer"]}}  # fmt: skip
    (model / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    (model / "hostile.py").write_text(CODE.format(marker=str(folder / "ran")))
    return model


def answers(folder: Path) -> Path:
    path = folder / "answers.jsonl"
    path.write_text('{"index": 0, "completion": "#### 600"}\n{"index": 0, "completion": "5"}\n')
    return path


def labelled_steps(folder: Path) -> Path:
    path = folder / "steps.json"
    row = {"id": "gsm8k-0", "generator": "a", "problem": "1 + 1?", "steps": ["1 + 1 = 2"],
           "final_answer_correct": True, "label": -1}  # fmt: skip
    path.write_text(json.dumps([row]))
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "verifier finetune -m M -d sample -o O",
        "verifier sample -m transformers/M -d sample -o O -k 1 -n 1",
        "eval -m transformers/M -d sample -o O -n 1",
        "verifier train --generator M --samples A -d sample -o O",
        "verifier score --verifier M A -d sample",
        "verifier bench S --verifier M --form token",
    ],
)
def test_code_of_a_model_is_not_run(tmp_path: Path, words: str) -> None:
    """One sentence and exit status 2; a "y" on standard input changes nothing."""
    model, samples = hostile_folder(tmp_path), answers(tmp_path)
    if "score" in words:
        head = {"schema": 1, "token_id": 0, "gain": 1.0, "bias": 0.0}
        (model / "verifier.json").write_text(json.dumps(head))
    paths = {"M": str(model), "transformers/M": f"transformers/{model}", "A": str(samples),
             "O": str(tmp_path / "out"), "S": str(labelled_steps(tmp_path))}  # fmt: skip
    result = subprocess.run(
        [SCRIPT, *(paths.get(word, word) for word in words.split())],
        input="y\n" * 20, capture_output=True, text=True, cwd=tmp_path, timeout=120,
        env=environment({"HF_HOME": str(tmp_path / "hub")}),
    )  # fmt: skip
    assert not (tmp_path / "ran").exists()
    assert "needs its own Python code" in result.stderr
    assert "Traceback" not in result.stderr
    assert "[y/N]" not in result.stdout + result.stderr
    assert result.returncode == 2
