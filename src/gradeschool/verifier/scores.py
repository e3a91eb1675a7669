"""Scores of completions, and the models that give them.

A verifier is a folder, a FILE.gguf or `tiny`; a published reward model a folder, or a server; a
language model gives log-probabilities, or is asked as a critic.
"""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import accumulate
from math import exp, isfinite, prod
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable
from urllib.parse import urlsplit

from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.errors import InputError, ModelError
from gradeschool.formats import run_folder
from gradeschool.formats.run_folder import read_json, scores_path
from gradeschool.formats.values import mapping
from gradeschool.models import local
from gradeschool.models.choose import ask_model, choose_model, find_server
from gradeschool.models.endpoint import STARTING_WAITS, Endpoint, with_retries
from gradeschool.models.llama_cpp import TINY, TINY_FILE, TINY_VERIFIER, gguf_digest
from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_protocol, is_own
from gradeschool.scoring.at_k import CandidateRun
from gradeschool.verifier import data

PLACES = f"a folder, a FILE{local.GGUF}, {TINY}, or the address of a server (http://HOST:PORT/v1)"
ADDRESS = ("http://", "https://")
SHIPPED = {"verifier": TINY_VERIFIER, "generator": TINY_FILE}
# Completions scored between two writes: full batches of a model here, and little to pay twice.
CHUNK, CHUNK_OF_REQUESTS = 2048, 64
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
class StepModel(Protocol):
    """A model that scores the steps of solutions: a published reward model, a server, a critic."""

    name: str

    def step_scores(
        self, solutions: Sequence[tuple[str, Sequence[str]]], last_only: bool = False
    ) -> list[list[float]]:
        """Return a score for each step of each solution (its question, its steps).

        last_only: only the last step's score is used, so that others may be left out.
        """


class TokenModel:
    """A model that gives values at tokens: a verifier, or a language model by its probabilities.

    context: maximum number of tokens of a question with its solution, None if unknown. verifies:
    whether it is a verifier. level: what that learnt, "" if unknown. Raises InputError if the files
    cannot be used.
    """

    def __init__(self, spec: str, what: Literal["verifier", "generator"]) -> None:
        path = SHIPPED[what] if spec == TINY else Path(spec)
        if not path.is_dir() and not (path.suffix == local.GGUF and path.is_file()):
            raise InputError(f"there is no {what} {spec!r}; give {PLACES}")
        local.needs_training_packages()
        from gradeschool.verifier import networks

        self._networks, self.verifies = networks, what == "verifier"
        if path.is_dir():
            self.name = local.model_name(path, local.VERIFIER_FILE)
        else:
            stem = f"{TINY}-{what}" if spec == TINY else path.stem
            self.name = f"{stem}@{gguf_digest(path)[:12]}"
        load: Any = networks.Verifier.load if self.verifies else networks.load_language_model
        self._model, self.tokenizer = load(path, local.best_device())
        self.level = self._model.level if self.verifies else ""
        trained = mapping((read_json(path / local.TRAINING_FILE) or {}).get("settings"))
        if getattr(self._model, "chat", False) or trained.get("chat"):
            data.use_chat(self.tokenizer, str(path))
        config = getattr(self._model, "model", self._model).config
        self.context: int | None = getattr(config, "max_position_embeddings", None)

    def readable(self, pairs: Sequence[data.QuestionSolution]) -> list[data.QuestionSolution]:
        """Return the pairs that are not longer than the context."""
        texts = data.encode_pairs(self.tokenizer, pairs)
        return [pair for pair, text in zip(pairs, texts, strict=True) if self._fits(text)]

    def values(self, texts: Sequence[data.SolutionTokens]) -> list[list[float]]:
        """Return the value at each token of each solution.

        Of a language model, it is the geometric mean of the probabilities of the tokens up to it.
        Raises InputError for a text that is longer than the context.
        """
        if self.verifies:
            self._check_context(texts)
            return self._networks.read_values(self._model, texts)
        return [[exp(total / count) for count, total in enumerate(accumulate(row), start=1)]
                for row in self.logprobs(texts)]  # fmt: skip

    def logprobs(self, texts: Sequence[data.SolutionTokens]) -> list[list[float]]:
        """Return the log-probability (nats) of each token of each solution; see `values`."""
        self._check_context(texts)
        return self._networks.read_logprobs(self._model, texts)

    def _check_context(self, texts: Sequence[data.SolutionTokens]) -> None:
        if not all(map(self._fits, texts)):
            longest = max(len(text.question) + len(text.solution) for text in texts)
            raise InputError(
                f"a question with its solution has {longest} tokens, more than the "
                f"{self.context} that {self.name!r} reads; give another model"
            )

    def _fits(self, text: data.SolutionTokens) -> bool:
        return self.context is None or len(text.question) + len(text.solution) <= self.context


# Published reward models

# The forms of those in a folder: each form's class in transformers, and the end of its names in
# "architectures" of config.json. token: as TRL's PRMTrainer trains it (trl 0.24, trainer/
# prm_trainer.py, tokenize_row): every step ends in a line break, whose class 1 (True) counts.
# sequence: a step's score is that of the text up to it. math-shepherd:
# peiyi9979/math-shepherd-mistral-7b-prm (model card): after every step comes "ки", where the token
# "+" is compared with "-".
REWARD_MODEL_FORMS = {
    "token": ("AutoModelForTokenClassification", "ForTokenClassification"),
    "sequence": ("AutoModelForSequenceClassification", "ForSequenceClassification"),
    "math-shepherd": ("AutoModelForCausalLM", None),
}
SHEPHERD = ("ки", "+", "-")  # Math-Shepherd's tag of a step, and its two answers
MARKS = {"token": ("\n",), "math-shepherd": SHEPHERD}  # what the tokenizer must have


class RewardModel:
    """A reward model from a folder; form: one of REWARD_MODEL_FORMS.

    Raises InputError if the folder cannot be read in that form.
    """

    def __init__(self, folder: Path, form: str) -> None:
        if form not in REWARD_MODEL_FORMS:
            raise InputError(f"--form {form} is for a reward model on a server; serve it by vLLM")
        from gradeschool.verifier import networks

        self._networks, self._device = networks, local.best_device()
        self.form, self.name = form, f"{local.model_name(folder)} ({form})"
        self.tokenizer = local.load_tokenizer(folder)
        model = local.from_folder(
            REWARD_MODEL_FORMS[form][0], folder, quiet=True,
            dtype="float32" if self._device == "cpu" else "bfloat16",
        )  # fmt: skip
        self._model, config = model.to(self._device).eval(), model.config
        if form == "token" and config.problem_type == "regression":
            raise InputError(
                f"the token classifier in {str(folder)!r} has no {local.VERIFIER_FILE}; export the "
                "verifier again: gradeschool verifier export"
            )
        if form == "sequence" and (config.num_labels > 2 or not hasattr(self._model, "score")):
            raise InputError(
                f"the reward model in {str(folder)!r} has no linear layer `score` of one or two "
                "classes; give one that has"
            )
        self._tokens: list[int] = []
        for word in MARKS.get(form, ()):
            ids = self._ids(word)
            if not ids or ids[-1] == self.tokenizer.unk_token_id:
                raise InputError(
                    f"the tokenizer of {self.name} does not know {word!r}, which the form {form!r} "
                    "needs; give another --form"
                )
            self._tokens.append(ids[-1])

    def step_scores(
        self, solutions: Sequence[tuple[str, Sequence[str]]], last_only: bool = False
    ) -> list[list[float]]:
        """Return the model's probability that each step is right, of each solution."""
        import torch

        is_sequence = self.form == "sequence"
        rows: list[tuple[list[int], list[int]]] = []
        owners: list[int] = []
        for owner, (question, steps) in enumerate(solutions):
            ends = range(1, len(steps) + 1) if is_sequence and not last_only else [len(steps)]
            rows += [self._encode(question, steps[:end]) for end in ends]
            owners += [owner] * len(ends)
        found: list[list[float]] = [[]] * len(rows)
        for part in self._networks.batch_rows([len(ids) for ids, _ in rows], self._device):
            # Attention is causal, so that padding is never seen.
            ids = self._networks.pad_rows([rows[number][0] for number in part], self._device)
            with torch.inference_mode():
                if is_sequence:
                    states = self._model.base_model(input_ids=ids, use_cache=False)
                    outputs = self._model.score(states.last_hidden_state)
                else:
                    outputs = self._model(input_ids=ids, use_cache=False).logits
                for row, number in enumerate(part):
                    found[number] = self._read(outputs[row, rows[number][1]]).tolist()
        results: list[list[float]] = [[] for _ in solutions]
        for owner, scores in zip(owners, found, strict=True):
            results[owner] += scores
        return results

    def _encode(self, question: str, steps: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the tokens of a question with its steps, and where each step is scored."""
        if self.form == "sequence" and self.tokenizer.chat_template:
            turns = [{"role": "user", "content": question},
                     {"role": "assistant", "content": "\n".join(steps)}]  # fmt: skip
            ids = self._ids(self.tokenizer.apply_chat_template(turns, tokenize=False))
            return ids, [len(ids) - 1]
        if self.form == "sequence":  # the tokens of our own verifiers
            pair = data.QuestionSolution(question, "\n".join(steps))
            [text] = data.encode_pairs(self.tokenizer, [pair])
            ids = [*text.question, *text.solution]
            return ids, [len(ids) - 1]
        if self.form == "token":
            start, line_break = self.tokenizer.bos_token_id, self._ids("\n")
            ids = [*([] if start is None else [start]), *self._ids(question)]
            places = []
            for step in steps:
                ids += [*self._ids(step), *line_break]
                places.append(len(ids) - 1)
            return ids, places
        lines = [f"Step {number}: {step} {SHEPHERD[0]}" for number, step in enumerate(steps, 1)]
        ids = list(self.tokenizer(f"{question} " + "\n".join(lines))["input_ids"])
        places = [place for place, token in enumerate(ids) if token == self._tokens[0]]
        if len(places) != len(steps):
            raise InputError(
                f"{self.name} reads {len(places)} step tags in a solution of {len(steps)} steps: "
                "a step contains the tag itself, or the tokenizer joins it with the text; leave "
                "the row out"
            )
        return ids, places

    def _read(self, logits: Any) -> Any:
        """Return the scores of a model's logits [n, classes] at the steps' places."""
        logits = logits.float()
        if self.form == "math-shepherd":
            return logits[:, self._tokens[1:]].softmax(-1)[:, 0]
        return logits[:, 0].sigmoid() if logits.shape[-1] == 1 else logits.softmax(-1)[:, 1]

    def _ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])


# Models that are asked by requests: reward models on a server, and critics

REQUESTS_AT_ONCE = 16  # requests to a server in flight
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
JUDGEMENT = re.compile(r"(?:\bcorrect[^\w:\n]*:|\A)[\W_]*(yes|no)(?![a-z])")  # the last counts


class RewardServer(Endpoint):
    """A reward model behind vLLM: its /pooling, or /score for a model that compares two texts.

    address: http://HOST:PORT/v1/NAME, or without a name if one model is served. form: "qwen" puts
    Qwen's separator behind each step and reads a probability there; by default the solution is the
    assistant's turn, and the values that the server returns are the scores (the last is the
    solution's). Raises InputError or ModelError if the server does not answer.
    """

    def __init__(self, address: str, form: str | None = None) -> None:
        base, model, key = find_server(address, compatible=True)
        super().__init__(f"{base.removesuffix('/v1')}/v1", model, key)
        asyncio.run(self._open())
        self.form, self.base = form, self.base.removesuffix("/v1")
        self.name = f"{self.model.rpartition('/')[2]} at {urlsplit(self.base).netloc}"
        self.name += f" ({form})" if form else ""

    async def _open(self) -> None:
        async with self:  # finds the name of the model
            pass

    def step_scores(
        self, solutions: Sequence[tuple[str, Sequence[str]]], last_only: bool = False
    ) -> list[list[float]]:
        """Return the values that the server gives to each solution."""
        turns = asyncio.Semaphore(REQUESTS_AT_ONCE)

        async def ask(question: str, steps: Sequence[str]) -> list[float]:
            async with turns:
                return await self._scores(question, steps)

        async def ask_all() -> list[list[float]]:
            async with self:
                return await asyncio.gather(*(ask(*each) for each in solutions))

        return asyncio.run(ask_all())

    async def _scores(self, question: str, steps: Sequence[str]) -> list[float]:
        turns = [("user", question), ("assistant", "\n".join(steps))]
        if self.form == "qwen":
            solution = QWEN_SEPARATOR.join([*steps, ""])
            turns = [("system", QWEN_SYSTEM), ("user", question), ("assistant", solution)]
        messages = [{"role": role, "content": content} for role, content in turns]
        reply = await self._ask("/pooling", messages=messages)
        if reply is None:
            reply = await self._ask("/score", text_1=question, text_2="\n".join(steps))
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

    async def _ask(self, path: str, **fields: Any) -> dict[str, Any] | None:
        """Return the JSON at a path, None if there is no such path; raises ModelError."""
        body = json.dumps({"model": self.model, **fields}).encode()
        try:
            return await with_retries(lambda: self.call("POST", path, body), STARTING_WAITS)
        except ModelError as error:
            if error.cause not in ("http 404", "http 405"):
                raise
            return None


class ProbabilityServer(RewardServer):
    """A model behind a server; a solution's score is the probability of yes, of yes and no.

    address: also openai/NAME. The server's chat completions must give log-probabilities.
    """

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.name = f"critic {self.name}, probability"

    async def _scores(self, question: str, steps: Sequence[str]) -> list[float]:
        text = YES_OR_NO.format(question=question, solution="\n".join(steps))
        messages = [{"role": "user", "content": text}]
        reply = await self._ask(
            "/v1/chat/completions", messages=messages, max_tokens=1, temperature=0, logprobs=True,
            top_logprobs=MOST_ALTERNATIVES,
        ) or {}  # fmt: skip
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
        self.name = f"critic {asyncio.run(self._identity())}, {critiques} critiques"
        self.is_here = False
        try:
            find_server(spec)
        except InputError:  # a model on this machine, which is loaded for each chunk
            self.is_here = True

    async def _identity(self) -> str:
        """Return what tells this model from others: a server may have to be asked for its name."""
        async with choose_model(self.spec) as model:
            return model.identity

    def step_scores(
        self, solutions: Sequence[tuple[str, Sequence[str]]], last_only: bool = False
    ) -> list[list[float]]:
        """Return one score for each solution."""
        nothing = Problem.from_gold("0")
        texts = [CRITIC.format(question=question, solution="\n".join(steps))
                 for question, steps in solutions]  # fmt: skip
        prompts = [(nothing, Prompt(messages=(Message("user", text),))) for text in texts]
        decoding = Decoding(0.0 if self.critiques == 1 else 1.0, max_tokens=MOST_TOKENS, seed=0)
        found = ask_model(self.spec, prompts, self.critiques, decoding)
        worth = {"yes": 1.0, "no": 0.0}
        scores = []
        for replies in found:
            said = [JUDGEMENT.findall(reply.lower()) for reply in replies]
            scores.append([sum(worth[each[-1]] if each else 0.5 for each in said) / self.critiques])
        return scores


# Scores

SolutionScore = tuple[list[float], float, Sequence[int]]


def score_pairs(
    model: TokenModel | StepModel, pairs: Sequence[data.QuestionSolution], reduction: str = LAST
) -> list[SolutionScore]:
    """Return of each solution the values at its tokens (or steps), its score, its tokens' ids.

    reduction: one of REDUCTIONS.
    """
    reduce = REDUCTIONS[reduction]
    if isinstance(model, StepModel):
        solutions = [(pair.question, [line for line in pair.solution.split("\n") if line.strip()]
                      or [""]) for pair in pairs]  # fmt: skip
        found = model.step_scores(solutions, last_only=reduction == LAST)
        return [(list(values), reduce(values), ()) for values in found]
    texts = data.encode_pairs(model.tokenizer, pairs)
    scores: list[SolutionScore] = []
    for pair, text, values in zip(pairs, texts, model.values(texts), strict=True):
        used = values
        if reduction not in (LAST, TOKENS):
            ends = data.line_ends(model.tokenizer, pair.solution, text.solution)
            used = [values[end - 1] for end in ends]
        scores.append((values, reduce(used), text.solution))
    return scores


class Rater(NamedTuple):
    """A verifier, a generator for log-probabilities or None, and how values make a score.

    name: of the scores: the verifier, and the reduction.
    """

    verifier: TokenModel | StepModel
    generator: TokenModel | None
    reduction: str
    name: str


def load_rater(
    verifier: str | None = None,
    generator: str | None = None,
    critic: str | None = None,
    critiques: int | None = None,
    reduction: str | None = None,
    form: str | None = None,
) -> Rater:
    """Load what gives scores, on a GPU if available.

    verifier: see the module. generator: a model for log-probabilities, which alone are the scores.
    critic: a model that is asked `critiques` times (None: once) whether a solution is right; 0: for
    its probability of yes. reduction: None for the mean over tokens if the verifier learnt that,
    else the last value. form: of a published reward model, None for that of its config.json. Raises
    InputError if there is no such model, MissingExtraError if its library is not installed.
    """
    if verifier and critic:
        raise InputError("--verifier and --critic are both given; give one")
    if form and not verifier:
        raise InputError(f"--form {form} is for a reward model, and --verifier is not given")
    if critiques is not None and not critic:
        raise InputError(f"--critiques {critiques} needs --critic; leave it out")
    if critic and reduction:
        raise InputError(f"--reduce {reduction} changes nothing: a critic gives one score to a "
                         "solution; leave it out")  # fmt: skip
    other = TokenModel(generator, "generator") if generator is not None else None
    if critic is not None:
        head: TokenModel | StepModel = (
            ProbabilityServer(critic) if critiques == 0 else Critic(critic, critiques or 1)
        )
    elif verifier is not None:
        head = load_verifier(verifier, form)
    elif other is not None:
        head, other = other, None
        head.name = f"log-probability {head.name}"
    else:
        raise InputError("no model is given; give --verifier, --generator or --critic")
    used = reduction or (TOKENS if getattr(head, "level", "") == "pooled" else LAST)
    return Rater(head, other, used, head.name if used == LAST else f"{head.name}:{used}")


def load_verifier(spec: str, form: str | None = None) -> TokenModel | StepModel:
    """Load a verifier, or a published reward model; see `load_rater`."""
    if spec.startswith(ADDRESS):
        return RewardServer(spec, form)
    folder = Path(spec)
    if folder.is_dir() and not (folder / local.VERIFIER_FILE).is_file():
        local.needs_training_packages()
        names = (read_json(folder / "config.json") or {}).get("architectures") or ()
        known = (form for form, (_, end) in REWARD_MODEL_FORMS.items() for name in names
                 if end is not None and str(name).endswith(end))  # fmt: skip
        if form := form or next(known, None):
            return RewardModel(folder, form)
    if form:
        raise InputError(f"--form {form} is for a published reward model, which {spec!r} is not; "
                         "leave it out")  # fmt: skip
    return TokenModel(spec, "verifier")


def is_model(spec: str) -> bool:
    """Return whether a verifier's spec is a model, not a file of scores or a name in one."""
    path = Path(spec)
    return spec.startswith(ADDRESS) or spec == TINY or path.is_dir() or path.suffix == local.GGUF


def other_prompt(sampled: CandidateRun, rater: Rater) -> str:
    """Return a caution if log-probabilities are not those of the run's own prompts, else ""."""
    model = rater.verifier if rater.generator is None else rater.generator
    name = str(mapping(sampled.manifest.get("protocol")).get("name") or "")
    if not isinstance(model, TokenModel) or model.verifies or not name or is_own(name):
        return ""
    with suppress(InputError):  # a protocol that this version does not know
        is_chat = get_protocol(name).example_prompt().text is None
        if is_chat and not getattr(model.tokenizer, "reads_chat", False):
            return (f"the run was sampled from chats ({name}), and {model.name!r} reads plain "
                    "questions: its log-probabilities are not those of the sampling")  # fmt: skip
    return ""


def add_scores(
    sampled: CandidateRun,
    rater: Rater,
    *,
    path: Path | None = None,
    tokens: bool = False,
    tell: Callable[[int, int], None] = lambda scored, total: None,
) -> tuple[Path, int]:
    """Append the scores of completions without a score by this verifier.

    Return the file, and how many completions are longer than a model reads, which get no score.
    path: the file, by default the one beside the completions. tokens: also write the values and
    texts of all tokens. If a row lacks requested tokens or log-probabilities, a new row is written;
    the last row of a completion counts. tell: is told how many of all completions are scored.
    Raises InputError for a file with other rows, and for problems without a question.
    """
    target, verifier, generator = path or scores_path(sampled.path), rater.verifier, rater.generator
    if tokens and isinstance(verifier, StepModel):
        raise InputError(f"{verifier.name} scores steps, not tokens; leave --tokens out")
    if not all(problem.question.strip() for problem, _ in sampled.answered):
        raise InputError(
            f"the rows of {str(sampled.path)!r} have no question, which a verifier reads; name its "
            "column with --columns question=COLUMN, or the dataset with -d"
        )
    stored = list(run_folder.read_scores(target))
    if path is not None and not stored and path.exists() and path.stat().st_size:
        raise InputError(f"{str(target)!r} holds something else than scores; give another -o")
    scored = {
        row.key
        for row in stored
        if row.verifier == rater.name
        and (row.values is not None or not tokens)
        and (generator is None or row.generator == generator.name)
    }
    waiting = []
    for problem, candidates in sampled.answered:
        for each in candidates:
            if each.key not in scored:
                pair = data.QuestionSolution(problem.question, each.text, each.finished)
                waiting.append((each.key, pair))
    is_here = getattr(verifier, "is_here", isinstance(verifier, TokenModel | RewardModel))
    size, too_long = CHUNK if is_here else CHUNK_OF_REQUESTS, 0
    for start in range(0, len(waiting), size):
        chunk = waiting[start : start + size]
        pairs = list(dict.fromkeys(pair for _, pair in chunk))  # a text drawn often is read once
        for model in (verifier, generator):
            pairs = model.readable(pairs) if isinstance(model, TokenModel) else pairs
        found = dict(zip(pairs, score_pairs(verifier, pairs, rater.reduction), strict=True))
        logprobs: dict[data.QuestionSolution, list[float]] = {}
        if generator is not None:
            encoded = data.encode_pairs(generator.tokenizer, pairs)
            logprobs = dict(zip(pairs, generator.logprobs(encoded), strict=True))
        rows = []
        for key, pair in chunk:
            if pair not in found:
                too_long += 1
                continue
            values, score, ids = found[pair]
            if not isfinite(score):
                raise InputError(
                    f"the verifier {rater.name!r} gives a completion the score {score!r}; train "
                    "it again with a smaller learning rate"
                )
            row = run_folder.ScoreRow(key, rater.name, score)
            if generator is not None:
                mean = sum(logprobs[pair]) / len(logprobs[pair])
                row = row._replace(logprob=mean, generator=generator.name)
            if tokens and not isinstance(verifier, StepModel):
                texts = [str(verifier.tokenizer.decode([token])) for token in ids]
                row = row._replace(values=[round(value, 6) for value in values], tokens=texts)
            rows.append(row)
        run_folder.append_scores(target, rows)
        tell(sampled.total - len(waiting) + start + len(chunk), sampled.total)
    return target, too_long
