"""OpenRLHF: give `--reward.remote_url` the path of this file; it calls `reward_func`.

The signature is that of openrlhf 0.11.2 (utils/agent.py, `_fetch_rewards_via_func`): it takes texts
of prompt and response together, decoded with special tokens (which the reader passes over), and
returns a dictionary of tensors.
"""

import warnings
from collections.abc import Sequence
from typing import Any

from gradeschool.errors import require_packages
from gradeschool.integrations.rewards import Grader

# If decoding changed the prompt's beginning, its last characters say where the response begins.
PROMPT_END = 200
GRADER = Grader()


def reward_func(
    queries: Sequence[str], prompts: Sequence[str], labels: Sequence[object], **_: Any
) -> dict[str, Any]:
    """Return {"rewards", "scores", "extra_logs"}; labels are the golds.

    A query in which `response` does not find its prompt has the reward 0, with a warning: the
    response cannot be told from the prompt, which may state an answer.
    """
    require_packages("the reward for OpenRLHF", "local", "torch")
    import torch

    answers = [response(query, prompt) for query, prompt in zip(queries, prompts, strict=True)]
    if None in answers:
        warnings.warn("a query does not contain its prompt; its reward is 0", stacklevel=2)
    rewards = GRADER.grade_all([answer or "" for answer in answers], labels)
    correct = torch.tensor([float(reward.correct) for reward in rewards])
    answered = torch.tensor([float(bool(reward.answer)) for reward in rewards])
    return {
        "rewards": torch.tensor([reward.value or 0.0 for reward in rewards]),
        "scores": correct,
        "extra_logs": {"accuracy": correct, "answered": answered},
    }


def response(query: str, prompt: str) -> str | None:
    """Return the text of a query after the first place of its prompt, None without it.

    White space may differ, and the prompt's beginning too: its last 200 characters are enough.
    """
    if (index := query.find(prompt)) >= 0:
        return query[index + len(prompt) :]
    squeezed, before = "".join(query.split()), "".join(prompt.split())
    index = squeezed.find(before)
    if index < 0:
        whole, before = before, before[-PROMPT_END:]
        is_unique = whole.find(before) == len(whole) - len(before)  # else any place may be the end
        index = squeezed.find(before) if is_unique else -1
    if index < 0:
        return None
    places = [place for place, character in enumerate(query) if not character.isspace()]
    return query[places[index + len(before) - 1] + 1 if before else 0 :]
