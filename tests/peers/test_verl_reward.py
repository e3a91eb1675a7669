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

SAID = ["so\\n#### 1,250", "ANSWER: 711", "no idea", "#### 5"]
GOLD = ["1250", "11", "5", ""]
tokenizer = AutoTokenizer.from_pretrained("tiny-model")
score = get_custom_reward_fn(OmegaConf.create({"reward": {"custom_reward_function": {
    "path": "pkg://gradeschool.integrations.verl", "name": "compute_score",
    "reward_kwargs": {"format_credit": 0.5}}}}))
ids = [tokenizer(text)["input_ids"] for text in SAID]
width = max(map(len, ids))
responses = torch.tensor([one + [tokenizer.pad_token_id] * (width - len(one)) for one in ids])
mask = torch.tensor([[1] + [1] * len(one) + [0] * (width - len(one)) for one in ids])
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
    return [await manager.run_single(data[at : at + 1]) for at in range(len(ids))]

found = asyncio.run(loop())
whole = Trainer(tokenizer, 0, score)(data, return_dict=True)
print(json.dumps({
    "loop": [[one["reward_score"], one["reward_extra_info"]["outcome"]] for one in found],
    "trainer": whole["reward_tensor"].sum(-1).tolist(),
    "extra": {key: list(map(str, values)) for key, values in whole["reward_extra_info"].items()},
}))
"""


def test_the_naive_reward_managers_score_as_we_do(tmp_path: Path, tiny_model: Path) -> None:
    if reason := why_not("verl"):
        pytest.skip(reason)
    (tmp_path / "tiny-model").symlink_to(tiny_model)
    done = run_python("verl", tmp_path, MANAGERS)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    expected = [[1.5, "correct"], [0.0, "wrong"], [0.0, "no_answer"], [0.0, "error"]]
    assert found["loop"] == expected
    assert found["trainer"] == [1.5, 0.0, 0.0, 0.0]
    assert found["extra"]["outcome"] == ["correct", "wrong", "no_answer", "error"]
    assert found["extra"]["pred"] == ["1250", "711", "", ""]
