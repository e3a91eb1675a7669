"""Scorers that are asked over a connection: reward models on a server, and models as critics."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import exp
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.errors import InputError, ModelError
from gradeschool.models.base import Model, Request
from gradeschool.problem import Problem

SECONDS = 600.0
TOGETHER = 16  # requests in flight
TRIES = 4
QWEN_SEPARATOR = "<extra_0>"
QWEN_SYSTEM = "Please reason step by step, and put your final answer within \\boxed{}."
CRITIC = """Below are a math problem and a solution. Check the solution step by step. Then write a \
last line that is only "Correct: yes" or "Correct: no".

Problem: {question}

Solution:
{solution}"""
YES_OR_NO = """Below are a math problem and a solution. Is the final answer correct? Answer with \
one word, yes or no.

Problem: {question}

Solution:
{solution}

Answer (yes or no):"""
MOST_ALTERNATIVES = 20  # tokens whose probabilities a server says
JUDGEMENT = re.compile(r"\b(yes|no)\b", re.IGNORECASE)


class RewardServer:
    """A reward model behind vLLM: its /pooling, or /score for a model that compares two texts.

    address: http://HOST:PORT/v1/NAME, or without a name if one model is served. form: "qwen" puts
    Qwen's separator behind each step and reads a probability there; by default the solution is the
    assistant's turn, and the values that the server returns are the scores (the last is the
    solution's). Raises InputError if the server does not answer.
    """

    def __init__(self, address: str, form: str | None = None) -> None:
        base, _, name = address.rstrip("/").partition("/v1")
        self.base, self.form, self.model = base, form, name.strip("/")
        if not self.model:
            served = (self._ask("/v1/models") or {}).get("data") or []
            if len(served) != 1:
                names = ", ".join(str(each.get("id")) for each in served)
                raise InputError(f"{address!r} serves {names or 'no model'}; give {base}/v1/NAME")
            self.model = str(served[0]["id"])
        self.name = f"{self.model.rpartition('/')[2]} at {urlsplit(base).netloc}"
        self._compares = False

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
        reply = None if self._compares else self._ask("/pooling", messages=messages)
        if reply is None:
            self._compares = True
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
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InputError(
                f"the reply of {self.base!r} has no scores ({str(reply)[:200]}); serve a reward "
                "model, and give its --form"
            ) from error
        return numbers

    def _ask(self, path: str, **body: Any) -> dict[str, Any] | None:
        """Return the JSON at a path, None if there is no such path."""
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get("GRADESCHOOL_API_KEY"):
            headers["Authorization"] = f"Bearer {key}"
        data = json.dumps({"model": self.model, **body}).encode() if body else None
        asked = HttpRequest(f"{self.base}{path}", data, headers)  # noqa: S310  (http or https)
        reason = ""
        for _ in range(TRIES):
            try:
                with urlopen(asked, timeout=SECONDS) as reply:  # noqa: S310
                    found: dict[str, Any] = json.loads(reply.read())
                    return found
            except HTTPError as error:
                if error.code in (404, 405):
                    return None
                reason = f"HTTP {error.code}: {error.read()[:200].decode('utf-8', 'replace')}"
                if error.code < 500 and error.code != 429:
                    break
            except (URLError, OSError, ValueError) as error:
                reason = str(error)
        raise InputError(f"the reward model at {self.base!r} does not answer {path} ({reason})")


class ProbabilityServer(RewardServer):
    """A model behind a server; a solution's score is the probability of yes, of yes and no.

    The server's chat completions must give log-probabilities.
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
        from gradeschool.models.choose import choose_model

        self.open: Callable[[], Model] = lambda: choose_model(spec, (), "")
        self.critiques = critiques
        self.name = f"critic {self.open().name}, {critiques} critiques"

    def step_scores(
        self, solutions: Sequence[tuple[str, Sequence[str]]], last_only: bool = False
    ) -> list[list[float]]:
        """Return one score for each solution."""
        return asyncio.run(self._ask(solutions))

    async def _ask(self, solutions: Sequence[tuple[str, Sequence[str]]]) -> list[list[float]]:
        model = self.open()
        turns = asyncio.Semaphore(model.connections or TOGETHER)
        decoding = Decoding(0.0 if self.critiques == 1 else 1.0, max_tokens=2048)

        async def ask(number: int, text: str, sample: int) -> float:
            prompt = Prompt(messages=(Message("user", text),))
            key = f"critique-{number}-{sample}"
            problem = Problem.from_gold("0")
            async with turns:
                for left in range(TRIES, 0, -1):
                    try:
                        request = Request(problem, prompt, decoding, key, sample)
                        reply = await model.complete(request)
                    except ModelError as error:
                        if left == 1:
                            raise InputError(f"the critic does not answer: {error}") from error
                        await asyncio.sleep(1)
                    else:
                        found = JUDGEMENT.findall(reply.text)
                        return {"yes": 1.0, "no": 0.0}[found[-1].lower()] if found else 0.5
            return 0.5

        async with model:
            asked = [
                ask(number, CRITIC.format(question=question, solution="\n".join(steps)), sample)
                for number, (question, steps) in enumerate(solutions)
                for sample in range(self.critiques)
            ]
            shares = await asyncio.gather(*asked)
        k = self.critiques
        return [[sum(shares[place : place + k]) / k] for place in range(0, len(shares), k)]
