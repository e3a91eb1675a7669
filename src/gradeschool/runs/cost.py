"""The cost of a run: prices, the estimate for missing samples, the budget."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Completion, Prompt, Usage
from gradeschool.errors import InputError
from gradeschool.models.base import Request
from gradeschool.runs.plan import groups

MILLION = 1_000_000
LARGEST_PRICE = 1e9  # dollars per million tokens
CHARACTERS_A_TOKEN = 4  # approximately, in English text; used until a server has counted
TOKENS_A_MESSAGE = 4
TYPICAL_ANSWER = 300  # tokens, if there is neither a limit nor an earlier answer
ADVICE = "give IN/OUT in dollars per million tokens, as in 2.50/10"


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
    pair: Any
    if text.endswith(".json"):
        try:
            table = json.loads(Path(text).read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"cannot read the prices in {text!r}: {error}") from error
        if not model:
            raise InputError(
                f"the prices in {text!r} are by name, and the model's is unknown before the run; "
                "give it behind the address, http://HOST:PORT/v1/NAME"
            )
        if not isinstance(table, dict) or model not in table:
            models = ", ".join(map(repr, table)) if isinstance(table, dict) else "no JSON object"
            raise InputError(f"{text!r} has no price of {model!r}, only: {models}; add it")
        pair = table[model]
        what = f"the price {pair!r} of {model!r} in {text!r}"
    else:
        pair, what = text.split("/"), f"the price {text!r}"
    try:
        first, second = (float(number) for number in pair)
        if 0 <= first <= LARGEST_PRICE and 0 <= second <= LARGEST_PRICE:
            return Price(first, second)
    except (TypeError, ValueError):
        pass
    raise InputError(f"{what} is not two numbers from 0 on; {ADVICE}")


def estimated_tokens(prompt: Prompt) -> int:
    """Return the approximate number of tokens of a prompt, from its characters."""
    if prompt.text is not None:
        return len(prompt.text) // CHARACTERS_A_TOKEN + 1
    texts = [message.content for message in prompt.messages] + [prompt.prefix or ""]
    return sum(len(text) // CHARACTERS_A_TOKEN + TOKENS_A_MESSAGE for text in texts)


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated size of the missing part of a run.

    prompt_tokens: estimated from characters, or from the server's counts for earlier prompts.
    completion_tokens: likely; most_completion_tokens: if every answer reaches its limit, None
    without a limit.
    """

    requests: int
    samples: int
    prompt_tokens: int
    completion_tokens: int
    most_completion_tokens: int | None
    measured: bool

    def cost(self, price: Price) -> float:
        """Return the likely cost in dollars."""
        return price.of(Usage(self.prompt_tokens, self.completion_tokens))

    def most_cost(self, price: Price) -> float | None:
        """Return the cost in dollars if every answer reaches its limit."""
        if self.most_completion_tokens is None:
            return None
        return price.of(Usage(self.prompt_tokens, self.most_completion_tokens))


def estimate(
    todo: Sequence[Request], answered: Iterable[tuple[Request, Completion]], choices: int
) -> Estimate:
    """Return the estimate for the requests in `todo`, from the lengths of the answered ones.

    choices: samples of a problem in one request, which pays for the prompt once.
    """
    usages = [(request, row.usage) for request, row in answered if not row.error]
    counted = [(request, usage) for request, usage in usages if usage.prompt_tokens is not None]
    written = [count for _, usage in usages if (count := usage.completion_tokens) is not None]
    guess = sum(estimated_tokens(request.prompt) for request, _ in counted)
    measured = sum(usage.prompt_tokens or 0 for _, usage in counted)
    factor = measured / guess if guess else 1.0
    limits = [request.decoding.max_tokens for request in todo]
    typical = [min(limit or TYPICAL_ANSWER, TYPICAL_ANSWER) for limit in limits]
    # Tokens counted for several choices together belong to the first.
    answers = len(usages) if choices > 1 else len(written)
    likely = [sum(written) / answers] * len(todo) if written else typical
    firsts = groups(todo, choices)
    return Estimate(
        requests=len(firsts),
        samples=len(todo),
        prompt_tokens=round(factor * sum(estimated_tokens(request.prompt) for request in firsts)),
        completion_tokens=round(sum(likely)),
        most_completion_tokens=None if None in limits else sum(limit or 0 for limit in limits),
        measured=bool(written),
    )


class Budget:
    """The cost of a run so far, and its limit.

    limit: dollars at which to stop, None for no limit. requests: of the whole run. stored: the
    completions of earlier sessions by key. choices: samples in one request. `stopped`: whether a
    request was refused.
    """

    def __init__(
        self,
        price: Price,
        limit: float | None,
        requests: Sequence[Request],
        stored: Mapping[str, Completion],
        choices: int = 1,
    ) -> None:
        self.price, self.limit, self.stopped = price, limit, False
        self.cost = sum(price.of(row.usage) for row in stored.values())
        pairs = [(request, stored[request.key]) for request in requests if request.key in stored]
        whole = estimate(requests, pairs, choices)
        self._expected = whole.cost(price) / max(1, whole.requests)  # dollars a request
        self._samples = whole.samples / max(1, whole.requests)  # of a request
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
        each = self.cost / self._answers * self._samples if self._answers else self._expected
        fits = self.cost + each * (in_flight + 1) <= self.limit
        is_first = not self._answers and in_flight == 0 and self.cost < self.limit
        self.stopped |= not fits and not is_first and in_flight == 0
        return fits or is_first
