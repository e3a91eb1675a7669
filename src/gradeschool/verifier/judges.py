"""Judges of solutions that are asked by requests: reward models on a server, and critics."""

import asyncio
import json
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from math import exp
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.errors import InputError, ModelError
from gradeschool.formats.values import mapping
from gradeschool.models.base import Request
from gradeschool.models.choose import choose_model, find_server
from gradeschool.problem import Problem

TOGETHER, TRIES = 16, 4  # requests in flight, and tries of each
SECONDS = 600.0  # of a reply
MOST_TOKENS = 2048  # of a critique
MOST_ALTERNATIVES = 20  # tokens whose probabilities a server says
QWEN_SEPARATOR = "<extra_0>"
QWEN_SYSTEM = "Please reason step by step, and put your final answer within \\boxed{}."
GIVEN = "Problem: {question}\n\nSolution:\n{solution}"
CRITIC = (
    "Below are a math problem and a solution. Check the solution step by step. Then write a last "
    f'line that is only "Correct: yes" or "Correct: no".\n\n{GIVEN}'
)
YES_OR_NO = (
    "Below are a math problem and a solution. Is the final answer correct? Answer with one word, "
    f"yes or no.\n\n{GIVEN}\n\nAnswer (yes or no):"
)
JUDGEMENT = re.compile(r"\b(yes|no)\b", re.IGNORECASE)


class RewardServer:
    """A reward model behind vLLM: its /pooling, or /score for a model that compares two texts.

    address: http://HOST:PORT/v1/NAME, or without a name if one model is served. form: "qwen" puts
    Qwen's separator behind each step and reads a probability there; by default the solution is the
    assistant's turn, and the values that the server returns are the scores (the last is the
    solution's). Raises InputError if the server does not answer.
    """

    def __init__(self, address: str, form: str | None = None) -> None:
        base, self.model, self._key = find_server(address, compatible=True)
        self.base, self.form = base.removesuffix("/v1"), form
        if not self.model:
            served = (self._ask("/v1/models") or {}).get("data") or []
            names = [str(mapping(each).get("id")) for each in served]
            if len(names) != 1:
                listed = ", ".join(names) or "no model"
                raise InputError(f"{self.base!r} serves {listed}; give {self.base}/v1/NAME")
            self.model = names[0]
        self.name = f"{self.model.rpartition('/')[2]} at {urlsplit(base).netloc}"

    def step_scores(
        self, solutions: Sequence[tuple[str, Sequence[str]]], last_only: bool = False
    ) -> list[list[float]]:
        """Return the values that the server gives to each solution."""
        with ThreadPoolExecutor(TOGETHER) as pool:
            return list(pool.map(lambda each: self._scores(*each), solutions))

    def _scores(self, question: str, steps: Sequence[str]) -> list[float]:
        turns = [("user", question), ("assistant", "\n".join(steps))]
        if self.form == "qwen":
            solution = QWEN_SEPARATOR.join([*steps, ""])
            turns = [("system", QWEN_SYSTEM), ("user", question), ("assistant", solution)]
        messages = [{"role": role, "content": content} for role, content in turns]
        reply = self._ask("/pooling", messages=messages)
        if reply is None:
            reply = self._ask("/score", text_1=question, text_2="\n".join(steps))
        if reply is None:
            raise InputError(
                f"{self.base!r} has neither /pooling nor /score; serve the reward model by vLLM: "
                "vllm serve MODEL --runner pooling"
            )
        try:  # one number, one a token, or the two classes of each step
            [item] = reply["data"]
            values = item["score"] if "score" in item else item["data"]
            listed = values if isinstance(values, list) else [values]
            numbers = [float(each[-1] if isinstance(each, list) else each) for each in listed]
            if not numbers:
                raise ValueError("no number")
            return numbers
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InputError(
                f"the reply of {self.base!r} has no scores ({str(reply)[:200]}); serve a reward "
                "model, and give its --form"
            ) from error

    def _ask(self, path: str, **body: Any) -> dict[str, Any] | None:
        """Return the JSON at a path, None if there is no such path."""
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        data = json.dumps({"model": self.model, **body}).encode() if body else None
        asked = HttpRequest(f"{self.base}{path}", data, headers)  # noqa: S310  (http or https)
        reason = ""
        for _ in range(TRIES):
            try:
                with urlopen(asked, timeout=SECONDS) as reply:  # noqa: S310
                    found = json.loads(reply.read())
                if isinstance(found, dict):
                    return found
                reason = "its reply is no JSON object"
            except HTTPError as error:
                if error.code in (404, 405):
                    return None
                reason = f"HTTP {error.code}: {error.read()[:200].decode('utf-8', 'replace')}"
                if error.code < 500 and error.code != 429:
                    break
            except (OSError, ValueError, HTTPException) as error:
                reason = str(error)
        raise InputError(f"the reward model at {self.base!r} does not answer {path} ({reason})")


class ProbabilityServer(RewardServer):
    """A model behind a server; a solution's score is the probability of yes, of yes and no.

    address: also openai/NAME. The server's chat completions must give log-probabilities.
    """

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.name = f"critic {self.name}, probability"

    def _scores(self, question: str, steps: Sequence[str]) -> list[float]:
        text = YES_OR_NO.format(question=question, solution="\n".join(steps))
        messages = [{"role": "user", "content": text}]
        reply = self._ask("/v1/chat/completions", messages=messages, max_tokens=1, temperature=0,
                          logprobs=True, top_logprobs=MOST_ALTERNATIVES) or {}  # fmt: skip
        shares = {"yes": 0.0, "no": 0.0}
        try:
            for each in reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]:
                word = str(each["token"]).strip().lower()
                if word in shares:
                    shares[word] += exp(float(each["logprob"]))
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InputError(f"{self.base!r} gives no log-probabilities; give --critiques 1 for "
                             "its answers in words") from error  # fmt: skip
        total = sum(shares.values())
        return [shares["yes"] / total if total else 0.5]


class Critic:
    """A model that is asked whether a solution is right; its score is the share of yes.

    spec: as for `-m`. critiques: answers for each solution; one is greedy, several are drawn at
    temperature 1. An answer without yes or no counts as half.
    """

    def __init__(self, spec: str, critiques: int) -> None:
        self.spec, self.critiques = spec, critiques
        self.name = f"critic {choose_model(spec).name}, {critiques} critiques"

    def step_scores(
        self, solutions: Sequence[tuple[str, Sequence[str]]], last_only: bool = False
    ) -> list[list[float]]:
        """Return one score for each solution."""
        nothing = Problem.from_gold("0")
        texts = [CRITIC.format(question=question, solution="\n".join(steps))
                 for question, steps in solutions]  # fmt: skip
        prompts = [(nothing, Prompt(messages=(Message("user", text),))) for text in texts]
        decoding = Decoding(0.0 if self.critiques == 1 else 1.0, max_tokens=MOST_TOKENS)
        found = ask_model(self.spec, prompts, self.critiques, decoding)
        return [[sum(map(_share_of_yes, replies)) / self.critiques] for replies in found]


def _share_of_yes(reply: str) -> float:
    said = [word.lower() for word in JUDGEMENT.findall(reply)]
    return {"yes": 1.0, "no": 0.0}[said[-1]] if said else 0.5


def ask_model(
    spec: str,
    prompts: Sequence[tuple[Problem, Prompt]],
    samples: int,
    decoding: Decoding,
    calculator: bool = False,
) -> list[list[str]]:
    """Return a model's replies to each prompt; spec: as for `-m`.

    A request that fails is sent again, four times at most. Raises InputError if it still fails.
    """
    model = choose_model(spec, calculator=calculator)
    turns = asyncio.Semaphore(model.connections or TOGETHER)

    async def ask(number: int, sample: int) -> str:
        request = Request(*prompts[number], decoding, f"prompt-{number}-{sample}", sample)
        async with turns:
            for left in reversed(range(TRIES)):
                try:
                    return (await model.complete(request)).text
                except ModelError as error:
                    if not left:
                        raise InputError(
                            f"the model {model.name!r} does not answer: {error}"
                        ) from error
                    await asyncio.sleep(1)
        raise AssertionError

    async def ask_all() -> list[list[str]]:
        async with model:
            return await asyncio.gather(*(
                asyncio.gather(*(ask(number, sample) for sample in range(samples)))
                for number in range(len(prompts))
            ))  # fmt: skip

    return asyncio.run(ask_all())
