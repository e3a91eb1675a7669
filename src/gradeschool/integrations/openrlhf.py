"""OpenRLHF: give `--reward.remote_url` the path of this file; it calls `reward_func`.

The signature is that of openrlhf 0.11.2 (utils/agent.py, `_fetch_rewards_via_func`): it takes texts
of prompt and response together, decoded with special tokens, and returns a dictionary of tensors.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from gradeschool.integrations.rewards import Grader

# Special tokens that decoding leaves at the end of a response.
SPECIAL_TOKEN = re.compile(r"(?:<\|[\w-]{1,40}\|>|</s>|<eos>|<pad>|<end_of_turn>)\Z")
LONGEST_TOKEN = 48
# If decoding changed the prompt's beginning, the prompt's end says where the response begins.
PROMPT_END = 200
GRADER = Grader()


def reward_func(
    queries: Sequence[str], prompts: Sequence[str], labels: Sequence[object], **_: Any
) -> dict[str, Any]:
    """Return {"rewards", "scores", "extra_logs"}; labels are the golds."""
    import torch

    answers = [response(query, prompt) for query, prompt in zip(queries, prompts, strict=True)]
    rewards = GRADER.grade_all(answers, labels)
    values = torch.tensor([reward.value or 0.0 for reward in rewards])
    correct = torch.tensor([float(reward.correct) for reward in rewards])
    read = torch.tensor([float(bool(reward.answer)) for reward in rewards])
    return {
        "rewards": values,
        "scores": correct,
        "extra_logs": {"accuracy": correct, "answered": read},
    }


def response(query: str, prompt: str) -> str:
    """Return the text of a query after its prompt, without special tokens at its end."""
    start = len(prompt) if query.startswith(prompt) else 0
    if not start and prompt:
        tail = prompt[-PROMPT_END:]
        index = query.find(tail)
        start = 0 if index < 0 else index + len(tail)
    return query[start : _end(query)]


def _end(text: str) -> int:
    """Return where the final white space and special tokens of a text begin."""
    end = len(text)
    while end:
        while end and text[end - 1].isspace():
            end -= 1
        token = SPECIAL_TOKEN.search(text, max(0, end - LONGEST_TOKEN), end)
        if token is None:
            break
        end = token.start()
    return end
