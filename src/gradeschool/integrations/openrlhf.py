"""OpenRLHF: give `--reward.remote_url` the path of this file; it calls `reward_func`.

The signature is that of openrlhf 0.11.2 (utils/agent.py, `_fetch_rewards_via_func`): it takes texts
of prompt and response together, decoded with special tokens, and returns a dictionary of tensors.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

from gradeschool.integrations.rewards import Grader

# Special tokens that decoding leaves at the end of a response.
SPECIAL_TOKEN = re.compile(r"(?:<\|[\w-]{1,40}\|>|</s>|<eos>|<pad>|<end_of_turn>)\Z")
LONGEST_TOKEN = 48
# If decoding changed the prompt's beginning, its last characters say where the response begins.
PROMPT_END = 200
NO_PROMPT = "a query does not contain its prompt; its reward is 0"
GRADER = Grader()


def reward_func(
    queries: Sequence[str], prompts: Sequence[str], labels: Sequence[object], **_: Any
) -> dict[str, Any]:
    """Return {"rewards", "scores", "extra_logs"}; labels are the golds.

    A query in which `response` does not find its prompt has the reward 0, with a warning: the
    response cannot be told from the prompt, which may state an answer.
    """
    import torch

    answers = [response(query, prompt) for query, prompt in zip(queries, prompts, strict=True)]
    if None in answers:
        warnings.warn(NO_PROMPT, stacklevel=2)
    rewards = GRADER.grade_all([answer or "" for answer in answers], labels)
    values = torch.tensor([reward.value or 0.0 for reward in rewards])
    correct = torch.tensor([float(reward.correct) for reward in rewards])
    read = torch.tensor([float(bool(reward.answer)) for reward in rewards])
    return {
        "rewards": values,
        "scores": correct,
        "extra_logs": {"accuracy": correct, "answered": read},
    }


def response(query: str, prompt: str) -> str | None:
    """Return the text of a query after its prompt, without special tokens at its end.

    White space may differ, and the prompt's beginning too: its last 200 characters are enough. None
    if the query does not contain them.
    """
    start = _start(query, prompt)
    return None if start is None else query[start : _end(query)]


def _start(query: str, prompt: str) -> int | None:
    """Return where the response begins: behind the first place of the prompt."""
    if (index := query.find(prompt)) >= 0:
        return index + len(prompt)
    squeezed, before = "".join(query.split()), "".join(prompt.split())
    index = squeezed.find(before)
    if index < 0:
        whole, before = before, before[-PROMPT_END:]
        is_unique = whole.find(before) == len(whole) - len(before)  # else any place may be the end
        index = squeezed.find(before) if is_unique else -1
    if index < 0:
        return None
    places = [place for place, character in enumerate(query) if not character.isspace()]
    return places[index + len(before) - 1] + 1 if before else 0


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
