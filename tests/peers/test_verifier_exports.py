"""Exported verifiers and step labels where they are used: vLLM, and trainers' own code.

vLLM is started by the lines of docs/verifier.md, as they stand but for the port; the trainers of
TRL make one step.
"""

from __future__ import annotations

import json
import math
import os
import re
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.peers.install import python_of
from tests.peers.pages import SERVER_ENVIRONMENT, run_python, wait_until_ready, why_not
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.trainees import save_verifier

pytestmark = pytest.mark.peers

PAGE = Path(__file__).resolve().parents[2] / "docs" / "verifier.md"
SERVE = re.compile(r"```sh\n(vllm serve FOLDER.*?)\n(curl .*?)\n```", re.DOTALL)
TEXTS = ("Tom has 3 apples and buys 4. He has 3+4=<<3+4=7>>7.\n#### 7", "2 and 2 is 5.\n#### 5")


@pytest.fixture
def verifier(tiny_model: Path, tmp_path: Path, gradeschool: Command) -> Any:
    """A verifier of the tiny model, exported to `FOLDER`."""
    pytest.importorskip("torch", reason="needs torch, which make test-all installs")
    import torch

    from gradeschool.models.local import load_model, load_tokenizer
    from gradeschool.verifier.head import new_verifier

    tokenizer = load_tokenizer(tiny_model)
    exported = new_verifier(load_model(tiny_model), tokenizer)
    with torch.no_grad():
        exported.gain.fill_(0.7)
        exported.bias.fill_(0.3)
    save_verifier(exported.eval(), tmp_path / "verifier", tokenizer)
    ended = gradeschool("verifier", "export", tmp_path / "verifier", "-o", tmp_path / "FOLDER")
    assert ended.status == 0, ended.err
    return exported


def values_at(verifier: Any, ids: list[int]) -> list[float]:
    """The verifier's value at each token but the first, which is read as the question."""
    from gradeschool.verifier.data import SolutionTokens
    from gradeschool.verifier.head import read_values

    [values] = read_values(verifier, [SolutionTokens(tuple(ids[:1]), tuple(ids[1:]))])
    return [float(value) for value in values]


def test_the_documented_lines_serve_our_values_by_vllm(
    verifier: Any, tiny_model: Path, tmp_path: Path
) -> None:
    if reason := why_not("vllm_cpu"):
        pytest.skip(reason)
    from gradeschool.models.local import load_tokenizer

    match = SERVE.search(PAGE.read_text("utf-8"))
    assert match is not None
    serve, curl = match.groups()
    # `vllm` stops in the CPU build, whose package has another name; this is what it starts.
    serve = serve.replace("vllm serve", "python -m vllm.entrypoints.openai.api_server --model", 1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = os.pathsep.join([str(python_of("vllm_cpu").parent), os.environ["PATH"]])
    variables = os.environ | SERVER_ENVIRONMENT | {"HF_HOME": str(tmp_path), "PATH": path}
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["bash", "-c", f"exec {serve} --port {port}"],
            cwd=tmp_path, stdout=output, stderr=subprocess.STDOUT, env=variables,
        )  # fmt: skip
    tokenizer = load_tokenizer(tiny_model)
    try:
        wait_until_ready(process, f"http://localhost:{port}/health", log)
        for text in TEXTS:
            ids = tokenizer(text)["input_ids"]
            line = curl.replace(":8000", f":{port}").replace("[5, 6, 7]", json.dumps(ids))
            assert line.count(str(port)) == 1 and str(ids) in line
            reply = subprocess.run(
                ["bash", "-c", f"{line} --silent --show-error --noproxy localhost"],
                cwd=tmp_path, capture_output=True, text=True, timeout=60,
            )  # fmt: skip
            [result] = json.loads(reply.stdout)["data"]
            served = [value for row in result["data"] for value in row]
            assert len(served) == len(ids)
            assert served[1:] == pytest.approx(values_at(verifier, ids), abs=1e-5)
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


REWARD = """
import json, torch
from datasets import Dataset
from trl import RewardConfig, RewardTrainer

torch.manual_seed(0)
right, wrong = TEXTS
config = RewardConfig("out", max_steps=1, per_device_train_batch_size=1, logging_steps=1,
                      report_to=[], save_strategy="no", use_cpu=True, bf16=False,
                      gradient_checkpointing=False)
rows = Dataset.from_list([{"chosen": right, "rejected": wrong}])
trainer = RewardTrainer("FOLDER", args=config, train_dataset=rows)
before = {name: weight.detach().clone() for name, weight in trainer.model.named_parameters()}
trainer.train()
moved = any(not torch.equal(before[name], w) for name, w in trainer.model.named_parameters())
[row] = list(trainer.train_dataset)
[loss] = [log["loss"] for log in trainer.state.log_history if "loss" in log]
print(json.dumps({"row": row, "loss": loss, "moved": moved}))
"""


def test_the_export_is_trained_one_step_by_trls_reward_trainer(
    verifier: Any, tmp_path: Path
) -> None:
    """Its first loss is that of the difference of our values, which has no bias."""
    if reason := why_not("trl_train"):
        pytest.skip(reason)
    process = run_python("trl_train", tmp_path, f"TEXTS = {TEXTS!r}\n{REWARD}")
    assert process.returncode == 0, process.stderr[-3000:]
    output = json.loads(process.stdout.splitlines()[-1])
    row = output["row"]
    right, wrong = (values_at(verifier, row[f"{name}_ids"])[-1] for name in ("chosen", "rejected"))
    assert output["moved"]
    assert output["loss"] == pytest.approx(math.log1p(math.exp(wrong - right)), abs=1e-4)


@pytest.fixture
def labelled(tiny_model: Path, tmp_path: Path, gradeschool: Command) -> Path:
    """A run on fresh problems."""
    ended = gradeschool(
        "verifier", "sample", "-m", f"transformers/{tiny_model}", "-d", "fresh:1", "-n", 4, "-k", 2,
        "--max-tokens", 120, "-o", tmp_path / "run", "--quiet",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    return tmp_path / "run"
