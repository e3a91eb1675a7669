"""Scores of completions, and the models that give them.

A verifier is a folder, a FILE.gguf or `tiny`; a published reward model a folder, or a server; a
language model gives log-probabilities, or is asked as a critic.
"""

import json
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from itertools import accumulate
from math import exp, isfinite, prod
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.errors import InputError
from gradeschool.formats.own_run import ScoreRow, append_scores, read_json, read_scores, scores_path
from gradeschool.formats.values import mapping
from gradeschool.models.choose import ask_model, choose_model, find_server
from gradeschool.models.llama_cpp import TINY, TINY_FILE, TINY_VERIFIER, gguf_digest
from gradeschool.problem import Problem
from gradeschool.scoring.candidates import CandidateRun
from gradeschool.verifier.base_model import GGUF, VERIFIER_FILE, needs_training_packages
from gradeschool.verifier.data import (
    QuestionSolution,
    SolutionTokens,
    encode_pairs,
    line_ends,
    use_chat,
)

FORMS = f"a folder, a FILE{GGUF}, {TINY}, or the address of a server (http://HOST:PORT/v1)"
ADDRESS = ("http://", "https://")
SHIPPED = {"verifier": TINY_VERIFIER, "generator": TINY_FILE}
CHUNK = 2048  # completions scored between two writes: full batches, and little to lose
LAST, TOKENS = "last", "tokens"
# How values are reduced to a solution's score: the value at the last token, the mean over all
# tokens; the others are over the values at the ends of steps. A product needs probabilities.
REDUCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    LAST: lambda values: values[-1],
    TOKENS: lambda values: sum(values) / len(values),
    "min": min,
    "product": lambda values: prod(min(max(value, 0.0), 1.0) for value in values),
    "mean": lambda values: sum(values) / len(values),
}


@runtime_checkable
class StepReader(Protocol):
    """A model that scores the steps of solutions: a published reward model, a server, a critic."""

    name: str

    def step_scores(
        self, solutions: Sequence[tuple[str, Sequence[str]]], last_only: bool = False
    ) -> list[list[float]]:
        """Return a score for each step of each solution (its question, its steps).

        last_only: only the last step's score is used, so that others may be left out.
        """


class TokenReader:
    """A model that gives values at tokens: a verifier, or a language model by its probabilities.

    context: maximum number of tokens of a question with its solution, None if unknown. level: what
    a verifier learnt, "" if unknown. Raises InputError if the files cannot be used.
    """

    def __init__(self, spec: str, what: Literal["verifier", "generator"]) -> None:
        path = SHIPPED[what] if spec == TINY else Path(spec)
        if not path.is_dir() and not (path.suffix == GGUF and path.is_file()):
            raise InputError(f"there is no {what} {spec!r}; give {FORMS}")
        needs_training_packages()
        from gradeschool.models.local import TRAINING_FILE, model_name
        from gradeschool.process import best_device
        from gradeschool.verifier import head

        self._head, self._verifies = head, what == "verifier"
        if path.is_dir():
            self.name = model_name(path, VERIFIER_FILE)
        else:
            stem = f"{TINY}-{what}" if spec == TINY else path.stem
            self.name = f"{stem}@{gguf_digest(path)[:12]}"
        load: Any = head.Verifier.load if self._verifies else head.load_language_model
        self._model, self.tokenizer = load(path, best_device())
        self.level = self._model.level if self._verifies else ""
        if mapping((read_json(path / TRAINING_FILE) or {}).get("settings")).get("chat"):
            use_chat(self.tokenizer, str(path))
        config = getattr(self._model, "model", self._model).config
        self.context: int | None = getattr(config, "max_position_embeddings", None)

    def values(self, texts: Sequence[SolutionTokens]) -> list[list[float]]:
        """Return the value at each token of each solution.

        Of a language model, it is the geometric mean of the probabilities of the tokens up to it.
        Raises InputError for a text that is longer than the context.
        """
        if self._verifies:
            self._check_context(texts)
            return self._head.read_values(self._model, texts)
        return [[exp(total / count) for count, total in enumerate(accumulate(row), start=1)]
                for row in self.logprobs(texts)]  # fmt: skip

    def logprobs(self, texts: Sequence[SolutionTokens]) -> list[list[float]]:
        """Return the log-probability (nats) of each token of each solution; see `values`."""
        self._check_context(texts)
        return self._head.read_logprobs(self._model, texts)

    def _check_context(self, texts: Sequence[SolutionTokens]) -> None:
        longest = max((len(text.question) + len(text.solution) for text in texts), default=0)
        if self.context is not None and longest > self.context:
            raise InputError(
                f"a question with its solution has {longest} tokens, more than the "
                f"{self.context} that {self.name!r} reads; give another model"
            )


# Models that are asked by requests: reward models on a server, and critics

TOGETHER, TRIES = 16, 4  # requests to a server in flight, and tries of each
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
        asked = Request(f"{self.base}{path}", data, headers)  # noqa: S310  (http or https)
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


# Scores

SolutionScore = tuple[list[float], float, Sequence[int]]


def score_pairs(
    reader: TokenReader | StepReader, pairs: Sequence[QuestionSolution], reduction: str = LAST
) -> list[SolutionScore]:
    """Return of each solution the values at its tokens (or steps), its score, its tokens' ids.

    reduction: one of REDUCTIONS.
    """
    reduce = REDUCTIONS[reduction]
    if isinstance(reader, StepReader):
        solutions = [(pair.question, [line for line in pair.solution.split("\n") if line.strip()]
                      or [""]) for pair in pairs]  # fmt: skip
        found = reader.step_scores(solutions, last_only=reduction == LAST)
        return [(list(values), reduce(values), ()) for values in found]
    texts = encode_pairs(reader.tokenizer, pairs)
    scores: list[SolutionScore] = []
    for pair, text, values in zip(pairs, texts, reader.values(texts), strict=True):
        used = values
        if reduction not in (LAST, TOKENS):
            ends = line_ends(reader.tokenizer, pair.solution, text.solution)
            used = [values[end - 1] for end in ends]
        scores.append((values, reduce(used), text.solution))
    return scores


class CandidateScorer(NamedTuple):
    """A verifier, a generator for log-probabilities or None, and how values make a score.

    name: of the scores: the verifier, and the reduction.
    """

    verifier: TokenReader | StepReader
    generator: TokenReader | None
    reduction: str
    name: str


def load_scorer(
    verifier: str | None = None,
    generator: str | None = None,
    critic: str | None = None,
    critiques: int = 1,
    reduction: str | None = None,
    form: str | None = None,
) -> CandidateScorer:
    """Load what gives scores, on a GPU if available.

    verifier: see the module. generator: a model for log-probabilities, which alone are the scores.
    critic: a model that is asked `critiques` times whether a solution is right; 0: for its
    probability of yes. reduction: None for the mean over tokens if the verifier learnt that, else
    the last value. form: of a published reward model, None for that of its config.json. Raises
    InputError if there is no such model, MissingExtraError if its library is not installed.
    """
    if verifier and critic:
        raise InputError("--verifier and --critic are both given; give one")
    other = TokenReader(generator, "generator") if generator is not None else None
    if critic is not None:
        head: TokenReader | StepReader = (
            Critic(critic, critiques) if critiques else ProbabilityServer(critic)
        )
    elif verifier is not None:
        head = load_verifier(verifier, form)
    elif other is not None:
        head, other = other, None
        head.name = f"log-probability {head.name}"
    else:
        raise InputError("no scorer is given; give a verifier or a generator")
    usual = TOKENS if getattr(head, "level", "") == "pooled" else LAST
    used = reduction or usual
    return CandidateScorer(head, other, used, head.name if used == LAST else f"{head.name}:{used}")


def load_verifier(spec: str, form: str | None = None) -> TokenReader | StepReader:
    """Load a verifier, or a published reward model; see `load_scorer`."""
    if spec.startswith(ADDRESS):
        return RewardServer(spec, form)
    folder = Path(spec)
    if folder.is_dir() and not (folder / VERIFIER_FILE).is_file():
        needs_training_packages()
        from gradeschool.verifier.reward_models import RewardModel, reward_form

        if form := form or reward_form(folder):
            return RewardModel(folder, form)
    return TokenReader(spec, "verifier")


def is_model(spec: str) -> bool:
    """Return whether a verifier's spec is a model, not a file of scores or a name in one."""
    path = Path(spec)
    return spec.startswith(ADDRESS) or spec == TINY or path.is_dir() or path.suffix == GGUF


def add_scores(
    sampled: CandidateRun,
    scorer: CandidateScorer,
    *,
    path: Path | None = None,
    tokens: bool = False,
    tell: Callable[[int, int], None] = lambda scored, total: None,
) -> Path:
    """Append the scores of completions without a score by this verifier; return the file.

    path: the file, by default the one beside the completions. tokens: also write the values and
    texts of all tokens. If a row lacks requested tokens or log-probabilities, a new row is written;
    the last row of a completion counts. tell: is told how many of all completions are scored.
    """
    target, reader, generator = path or scores_path(sampled.path), scorer.verifier, scorer.generator
    if tokens and isinstance(reader, StepReader):
        raise InputError(f"{reader.name} scores steps, not tokens; leave --tokens out")
    scored = {
        row.key
        for row in read_scores(target)
        if row.verifier == scorer.name
        and (row.values is not None or not tokens)
        and (generator is None or row.generator == generator.name)
    }
    waiting = [(each.key, QuestionSolution(answered.problem.question, each.text, each.finished))
               for answered in sampled.answered for each in answered.candidates
               if each.key not in scored]  # fmt: skip
    for start in range(0, len(waiting), CHUNK):
        chunk = waiting[start : start + CHUNK]
        pairs = list(dict.fromkeys(pair for _, pair in chunk))  # a text drawn often is read once
        found = dict(zip(pairs, score_pairs(reader, pairs, scorer.reduction), strict=True))
        logprobs: dict[QuestionSolution, list[float]] = {}
        if generator is not None:
            encoded = encode_pairs(generator.tokenizer, pairs)
            logprobs = dict(zip(pairs, generator.logprobs(encoded), strict=True))
        rows = []
        for key, pair in chunk:
            values, score, ids = found[pair]
            if not isfinite(score):
                raise InputError(
                    f"the verifier {scorer.name!r} gives a completion the score {score!r}; train "
                    "it again with a smaller learning rate"
                )
            row = ScoreRow(key, scorer.name, score)
            if generator is not None:
                mean = sum(logprobs[pair]) / len(logprobs[pair])
                row = row._replace(logprob=mean, generator=generator.name)
            if tokens and not isinstance(reader, StepReader):
                texts = [str(reader.tokenizer.decode([token])) for token in ids]
                row = row._replace(values=[round(value, 6) for value in values], tokens=texts)
            rows.append(row)
        append_scores(target, rows)
        tell(sampled.total - len(waiting) + start + len(chunk), sampled.total)
    return target
