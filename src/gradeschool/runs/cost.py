"""The cost of a run: prices, the estimate for missing samples, the budget."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Completion, Prompt, Usage
from gradeschool.errors import InputError
from gradeschool.models.base import Request

MILLION = 1_000_000
LARGEST_PRICE = 1e9  # dollars per million tokens
CHARACTERS_A_TOKEN = 4  # approximately, in English text; used until a server has counted
TOKENS_A_MESSAGE = 4
TYPICAL_ANSWER = 300  # tokens, if there is neither a limit nor an earlier answer


class Price(NamedTuple):
    """Dollars per million tokens of prompts and of completions."""

    prompt: float
    completion: float

    def of(self, usage: Usage) -> float:
        """Return the dollars for these tokens; tokens without a count are free."""
        prompt = (usage.prompt_tokens or 0) * self.prompt
        return (prompt + (usage.completion_tokens or 0) * self.completion) / MILLION


def parse_price(text: str, model: str) -> Price:
    """Return the price from `--price`: "IN/OUT", or a JSON file of models and their prices.

    The file has the form {"gpt-4.1-mini": [0.40, 1.60], ...}. Raises InputError.
    """
    pair: Any = text.split("/")
    if text.endswith(".json"):
        try:
            table = json.loads(Path(text).read_bytes())
            pair = table[model]
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"cannot read the prices in {text!r}: {error}") from error
        except (LookupError, TypeError):
            name = repr(model) if model else "the model, whose name the address does not have"
            raise InputError(
                f"{text!r} has no price of {name}; add it, as {{NAME: [IN, OUT]}}"
            ) from None
    try:
        prompt, completion = map(float, pair)
        if 0 <= prompt <= LARGEST_PRICE and 0 <= completion <= LARGEST_PRICE:
            return Price(prompt, completion)
    except (TypeError, ValueError):
        pass
    raise InputError(
        f"the price {text!r} of {model!r} is not two numbers from 0 on; give IN/OUT in dollars per "
        "million tokens, as in 2.50/10"
    )


def estimated_tokens(prompt: Prompt) -> int:
    """Return the approximate number of tokens of a prompt, from its characters."""
    if prompt.text is not None:
        return len(prompt.text) // CHARACTERS_A_TOKEN + 1
    texts = [message.content for message in prompt.messages] + [prompt.prefix or ""]
    return sum(len(text) // CHARACTERS_A_TOKEN + TOKENS_A_MESSAGE for text in texts)


def estimate(
    todo: Sequence[Request],
    answered: Iterable[tuple[Request, Completion]],
    price: Price | None = None,
) -> dict[str, Any]:
    """Return the estimated size of the requests in `todo`, from the lengths of the answered ones.

    missing: requests. prompt_tokens: from characters, or from the server's counts for earlier
    prompts. completion_tokens, cost (dollars): likely. most_completion_tokens, most_cost: if every
    answer reaches its limit, None without a limit. measured: whether earlier answers were counted.
    """
    guessed = counted = 0
    written = []
    for request, row in answered:
        if not row.error and row.usage.prompt_tokens is not None:
            guessed += estimated_tokens(request.prompt)
            counted += row.usage.prompt_tokens
        if not row.error and row.usage.completion_tokens is not None:
            written.append(row.usage.completion_tokens)
    factor = counted / guessed if guessed else 1.0
    prompts = round(factor * sum(estimated_tokens(request.prompt) for request in todo))
    limits = [request.decoding.max_tokens for request in todo]
    likely = sum(min(limit or TYPICAL_ANSWER, TYPICAL_ANSWER) for limit in limits)
    if written:
        likely = round(len(todo) * sum(written) / len(written))
    most = None if None in limits else sum(limit or 0 for limit in limits)
    return {
        "missing": len(todo),
        "prompt_tokens": prompts,
        "completion_tokens": likely,
        "most_completion_tokens": most,
        "measured": bool(written),
        "cost": None if price is None else price.of(Usage(prompts, likely)),
        "most_cost": None if price is None or most is None else price.of(Usage(prompts, most)),
    }


class Budget:
    """The cost of a run so far, and its limit.

    limit: dollars at which to stop, None for no limit. requests: of the whole run. stored: the
    completions of earlier sessions by key. `stopped`: whether a request was refused.
    """

    def __init__(
        self,
        price: Price,
        limit: float | None,
        requests: Sequence[Request],
        stored: Mapping[str, Completion],
    ) -> None:
        self.price, self.limit, self.stopped = price, limit, False
        self.cost = sum(price.of(row.usage) for row in stored.values())
        pairs = [(request, stored[request.key]) for request in requests if request.key in stored]
        self._expected = estimate(requests, pairs, price)["cost"] / max(1, len(requests))
        self._answers = sum(not row.error for row in stored.values())

    def spend(self, usage: Usage) -> None:
        """Count the tokens of a reply."""
        self.cost += self.price.of(usage)

    def add(self, completion: Completion) -> None:
        """Count a completion, or a failed sample with the tokens of its last reply."""
        self.spend(completion.usage)
        self._answers += not completion.error

    def affordable(self, in_flight: int) -> bool:
        """Return whether the budget allows one more request beside those in flight.

        Before the first answer, whose length shows the cost, only one request may be sent.
        """
        if self.limit is None:
            return True
        each = self.cost / self._answers if self._answers else self._expected
        fits = self.cost + each * (in_flight + 1) <= self.limit
        is_first = not self._answers and in_flight == 0 and self.cost < self.limit
        self.stopped |= not fits and not is_first and in_flight == 0
        return fits or is_first
