"""What a run costs: prices, what was spent, what the rest may come to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Completion, Prompt, Usage
from gradeschool.errors import InputError
from gradeschool.models.base import Request
from gradeschool.runs.plan import groups

MILLION = 1_000_000
CHARACTERS_A_TOKEN = 4  # of English text, roughly; only where no server has counted yet
TOKENS_A_MESSAGE = 4
TYPICAL_ANSWER = 300  # tokens, where neither a limit nor an earlier answer tells
ADVICE = "give IN/OUT in dollars per million tokens, as in 2.50/10"


class Price(NamedTuple):
    """Dollars for a million tokens of prompts and of completions."""

    prompt: float
    completion: float

    def of(self, usage: Usage) -> float:
        """Return the dollars for these tokens; what was not counted is free."""
        prompt, completion = (count or 0 for count in usage)
        return (prompt * self.prompt + completion * self.completion) / MILLION


def parse_price(text: str, model: str) -> Price:
    """Return the price that `--price` gives: "IN/OUT", or a JSON file of models and their prices.

    The file holds {"gpt-4.1-mini": [0.40, 1.60], ...}. Raises InputError.
    """
    if text.endswith(".json"):
        return _price(_entry(Path(text), model), f"the price of {model!r} in {text!r}")
    first, slash, second = text.partition("/")
    try:
        pair = [float(first), float(second)]
    except ValueError:
        pair = []
    if not slash or not pair:
        raise InputError(f"the price {text!r} is no pair of numbers and no .json file; {ADVICE}")
    return _price(pair, f"the price {text!r}")


def _entry(path: Path, model: str) -> Any:
    try:
        table = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"cannot read the prices in {str(path)!r}: {error}") from error
    if not isinstance(table, dict) or model not in table:
        known = ", ".join(map(repr, table)) if isinstance(table, dict) else "no JSON object"
        raise InputError(f"{str(path)!r} has no price of {model!r}, only: {known}; add it")
    return table[model]


def _price(pair: Any, what: str) -> Price:
    numbers = pair if isinstance(pair, list) and len(pair) == 2 else []
    if not numbers or not all(
        isinstance(one, int | float) and isfinite(one) and one >= 0 for one in numbers
    ):
        raise InputError(f"{what} is {pair!r}; {ADVICE}")
    return Price(float(numbers[0]), float(numbers[1]))


def tokens_of(prompt: Prompt) -> int:
    """Return about how many tokens a prompt has; no tokenizer is asked."""
    if prompt.text is not None:
        return len(prompt.text) // CHARACTERS_A_TOKEN + 1
    texts = [message.content for message in prompt.messages] + [prompt.prefix or ""]
    return sum(len(text) // CHARACTERS_A_TOKEN + TOKENS_A_MESSAGE for text in texts)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is still to be asked.

    prompt_tokens are estimated from characters, or from what the server counted for earlier
    prompts. completion_tokens: likely; most_completion_tokens: if every answer ran to its limit,
    None without a limit.
    """

    requests: int
    samples: int
    prompt_tokens: int
    completion_tokens: int
    most_completion_tokens: int | None
    measured: bool

    def cost(self, price: Price) -> float:
        """Return the likely dollars."""
        return price.of(Usage(self.prompt_tokens, self.completion_tokens))

    def most_cost(self, price: Price) -> float | None:
        """Return the dollars if every answer ran to its limit."""
        if self.most_completion_tokens is None:
            return None
        return price.of(Usage(self.prompt_tokens, self.most_completion_tokens))


def estimate(
    todo: Sequence[Request], known: Iterable[tuple[Request, Completion]], choices: int
) -> Estimate:
    """Return the estimate of what is missing; `known` are answers to learn from.

    choices: samples of a problem in one request, whose prompt is then paid once.
    """
    pairs = [(request, one) for request, one in known if not one.error]
    counted = [(r, one.usage) for r, one in pairs if one.usage.prompt_tokens is not None]
    written = [c for _, one in pairs if (c := one.usage.completion_tokens) is not None]
    guess = sum(tokens_of(request.prompt) for request, _ in counted)
    measured = sum(usage.prompt_tokens or 0 for _, usage in counted)
    factor = measured / guess if guess else 1.0
    limits = [request.decoding.max_tokens for request in todo]
    typical = [min(limit or TYPICAL_ANSWER, TYPICAL_ANSWER) for limit in limits]
    # What was counted for several choices together stands at the first of them.
    likely = [sum(written) / len(pairs)] * len(todo) if written else typical
    firsts = [group[0] for group in groups(todo, choices)]
    return Estimate(
        requests=len(firsts),
        samples=len(todo),
        prompt_tokens=round(factor * sum(tokens_of(request.prompt) for request in firsts)),
        completion_tokens=round(sum(likely)),
        most_completion_tokens=None if None in limits else sum(limit or 0 for limit in limits),
        measured=bool(written),
    )


class Purse:
    """What a run has spent, and whether it may spend more.

    spent: dollars of earlier sessions, for so many `answers`. most: where to stop, None for never.
    expected: dollars for a request before there is an answer to learn from.
    """

    def __init__(
        self, price: Price, spent: float, most: float | None, expected: float, answers: int = 0
    ) -> None:
        self.price = price
        self.spent = spent
        self.most = most
        self.stopped = False
        self._expected = expected
        self._paid = spent
        self._answers = answers

    def pay(self, completion: Completion) -> None:
        """Count a completion that came."""
        dollars = self.price.of(completion.usage)
        self.spent += dollars
        self._paid += dollars
        self._answers += not completion.error

    def affordable(self, in_flight: int) -> bool:
        """Tell whether one more request fits, beside those whose answers are still to come.

        Before anything is known of the answers' length, one request may find out.
        """
        if self.most is None:
            return True
        each = self._paid / self._answers if self._answers else self._expected
        fits = self.spent + each * (in_flight + 1) <= self.most
        tries = not self._answers and in_flight == 0 and self.spent < self.most
        self.stopped |= not fits and not tries and in_flight == 0
        return fits or tries
