"""Our compute_score in verl's real reward managers, found as its configuration names it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.peers.pages import run_python, why_not

pytestmark = pytest.mark.peers

# Both NaiveRewardManagers of verl 0.9.1: of the reward loop (asynchronous, scores in a thread) and
# of the trainer (in the main thread). The tokenizer is the tiny model's.
MANAGERS = """
import asyncio, json
import numpy as np
import torch
from omegaconf import OmegaConf
from tensordict import TensorDict
from transformers import AutoTokenizer
from verl import DataProto
from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager as Loop
from verl.trainer.ppo.reward import get_custom_reward_fn
from verl.workers.reward_manager.naive import NaiveRewardManager as Trainer

COMPLETIONS = ["so\\n#### 1,250", "ANSWER: 711", "no idea", "#### 5"]
GOLD = ["1250", "11", "5", ""]
tokenizer = AutoTokenizer.from_pretrained("tiny-model")
score = get_custom_reward_fn(OmegaConf.create({"reward": {"custom_reward_function": {
    "path": "pkg://gradeschool.integrations.verl", "name": "compute_score",
    "reward_kwargs": {"format_credit": 0.5}}}}))
ids = [tokenizer(text)["input_ids"] for text in COMPLETIONS]
width = max(map(len, ids))
responses = torch.tensor([row + [tokenizer.pad_token_id] * (width - len(row)) for row in ids])
mask = torch.tensor([[1] + [1] * len(row) + [0] * (width - len(row)) for row in ids])
prompts = torch.full((len(ids), 1), ids[0][0])
data = DataProto(
    batch=TensorDict({"prompts": prompts, "responses": responses, "attention_mask": mask},
                     batch_size=len(ids)),
    non_tensor_batch={
        "data_source": np.array(["openai/gsm8k"] * len(ids), dtype=object),
        "reward_model": np.array([{"ground_truth": gold} for gold in GOLD], dtype=object),
        "extra_info": np.array([{} for _ in ids], dtype=object),
    },
)

async def loop():
    manager = Loop(OmegaConf.create({}), tokenizer, score)
    return [await manager.run_single(data[row : row + 1]) for row in range(len(ids))]

rewards = asyncio.run(loop())
whole = Trainer(tokenizer, 0, score)(data, return_dict=True)
print(json.dumps({
    "loop": [[r["reward_score"], r["reward_extra_info"]["outcome"]] for r in rewards],
    "trainer": whole["reward_tensor"].sum(-1).tolist(),
    "extra": {key: list(map(str, values)) for key, values in whole["reward_extra_info"].items()},
}))
"""


def test_the_naive_reward_managers_score_as_we_do(tmp_path: Path, tiny_model: Path) -> None:
    if reason := why_not("verl"):
        pytest.skip(reason)
    (tmp_path / "tiny-model").symlink_to(tiny_model)
    process = run_python("verl", tmp_path, MANAGERS)
    assert process.returncode == 0, process.stderr[-3000:]
    output = json.loads(process.stdout.splitlines()[-1])
    expected = [[1.5, "correct"], [0.0, "wrong"], [0.0, "no_answer"], [0.0, "error"]]
    assert output["loop"] == expected
    assert output["trainer"] == [1.5, 0.0, 0.0, 0.0]
    assert output["extra"]["outcome"] == ["correct", "wrong", "no_answer", "error"]
    assert output["extra"]["pred"] == ["1250", "711", "", ""]
