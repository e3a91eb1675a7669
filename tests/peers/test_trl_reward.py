"""Our reward in the real GRPOTrainer, on the tiny model: two steps, rewards that differ."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradeschool.integrations.rewards import Grader
from tests.peers.pages import run_python, why_not

pytestmark = pytest.mark.peers

# The format credit is for what the tiny model writes in any case, so that the rewards of a group
# are neither all 0 nor all 1; a wrapped reward keeps what TRL passed and what it got.
TRAINING = """
import json, torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer
from gradeschool import load_dataset
from gradeschool.integrations.rewards import Grader
from gradeschool.integrations.trl import RewardFunction

torch.manual_seed(0)
problems = load_dataset("sample").problems[:8]
rewarded = []

class RecordingReward(RewardFunction):
    def __call__(self, completions, **columns):
        values = super().__call__(completions, **columns)
        golds = columns["answer"]
        texts = [c if isinstance(c, str) else c[-1]["content"] for c in completions]
        rewarded.extend(zip(texts, golds, values, strict=True))
        return values

def prompt(problem):
    if CHAT:
        return [{"role": "user", "content": problem.question}]
    return f"Question: {problem.question}\\nAnswer:"

rows = [{"prompt": prompt(p), "answer": p.solution} for p in problems]
config = GRPOConfig("out", max_steps=2, num_generations=4, per_device_train_batch_size=8,
                    max_completion_length=64, logging_steps=1, report_to=[], save_strategy="no",
                    use_cpu=True, bf16=False, seed=1, log_completions=False)
trainer = GRPOTrainer("tiny-model", RecordingReward(Grader(format_credit=0.5)), args=config,
                      train_dataset=Dataset.from_list(rows))
trainer.train()
logs = [log["rewards/gradeschool/mean"] for log in trainer.state.log_history if "reward" in log]
print(json.dumps({"logs": logs, "rewarded": rewarded}))
"""


@pytest.mark.parametrize("chat", [False, True])
def test_two_steps_of_grpo_are_trained_on_our_rewards(
    chat: bool, tmp_path: Path, tiny_model: Path
) -> None:
    if reason := why_not("trl_train"):
        pytest.skip(reason)
    (tmp_path / "tiny-model").symlink_to(tiny_model)
    process = run_python("trl_train", tmp_path, f"CHAT = {chat}\n{TRAINING}")
    assert process.returncode == 0, process.stderr[-3000:]
    output = json.loads(process.stdout.splitlines()[-1])
    values = [value for _, _, value in output["rewarded"]]
    assert len(values) == 16
    grader = Grader(format_credit=0.5)
    assert values == [grader.grade(text, gold).value for text, gold, _ in output["rewarded"]]
    steps = [values[:8], values[8:]]
    assert output["logs"] == pytest.approx([sum(step) / 8 for step in steps])
    assert len(set(values)) > 1, "a group without a difference trains nothing"
