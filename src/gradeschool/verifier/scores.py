"""Scores of completions: the models that give them, and verifier-scores.jsonl.

A verifier is a folder, a FILE.gguf or `tiny`; a published reward model a folder, or a server
(`judges`); a language model alone gives log-probabilities.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import accumulate
from math import exp, isfinite, prod
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable
from urllib.parse import urlsplit

from gradeschool.atomic import append_lines
from gradeschool.errors import InputError, require_packages
from gradeschool.formats.own_run import read_json
from gradeschool.formats.settings import mapping
from gradeschool.formats.tables import parse_line
from gradeschool.machine import best_device
from gradeschool.models.gguf_file import (
    ARCHITECTURE,
    HEAD_KEY,
    LOGIT,
    TINY,
    TINY_FILE,
    TINY_VERIFIER,
    VERIFIER_FILE,
    Head,
    gguf_digest,
    head_from,
)
from gradeschool.verifier.base_model import GGUF, needs_training_packages
from gradeschool.verifier.data import (
    CandidateRun,
    QuestionSolution,
    SolutionTokens,
    encode_pairs,
    step_ends,
    use_chat,
)

FORMS = f"a folder, a FILE{GGUF}, {TINY}, or the address of a server (http://HOST:PORT/v1)"
ADDRESS = ("http://", "https://")
SHIPPED = {"verifier": TINY_VERIFIER, "generator": TINY_FILE}
SCORES_FILE = "verifier-scores.jsonl"
CHUNK = 2048  # completions scored between two writes: full batches, and little to lose
MOST_TOKENS = 2048  # maximum for a question with its solution in a GGUF file
TOGETHER = 16  # texts per request to llama.cpp: a few megabytes of JSON
SECONDS = 600.0
SHOWN = 200  # bytes of a refusal in a message
UNEMBEDDINGS = ("output.weight", "token_embd.weight")
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


class TokenReader(Protocol):
    """A model that reads solutions: as a verifier, or for their log-probabilities.

    context: maximum number of tokens of a question with its solution, None if unknown. level: of a
    verifier, "" if unknown.
    """

    name: str
    tokenizer: Any
    context: int | None
    level: str

    def values(self, texts: Sequence[SolutionTokens]) -> list[list[float]]:
        """Return the verifier's value at each token of each solution.

        Raises InputError if the model is not a verifier.
        """

    def logprobs(self, texts: Sequence[SolutionTokens]) -> list[list[float]]:
        """Return the log-probability (nats) of each token of each solution."""


class SolutionScore(NamedTuple):
    """A solution's score; values: at each of its tokens (or steps); tokens: their ids."""

    values: list[float]
    score: float
    tokens: list[int]


def score_pairs(
    reader: TokenReader | StepReader, pairs: Sequence[QuestionSolution], reduction: str = LAST
) -> list[SolutionScore]:
    """Return the scores of solutions, in their order; reduction: one of REDUCTIONS."""
    reduce = REDUCTIONS[reduction]
    if isinstance(reader, StepReader):
        solutions = [(pair.question, [line for line in pair.solution.split("\n") if line.strip()]
                      or [""]) for pair in pairs]  # fmt: skip
        found = reader.step_scores(solutions, last_only=reduction == LAST)
        return [SolutionScore(list(values), reduce(values), []) for values in found]
    texts = encode_pairs(reader.tokenizer, pairs)
    scores = []
    for pair, text, values in zip(pairs, texts, reader.values(texts), strict=True):
        used = values
        if reduction not in (LAST, TOKENS):
            ends = step_ends(reader.tokenizer, pair.question, pair.solution, text.solution)
            used = [values[end - 1] for end in ends]
        scores.append(SolutionScore(values, reduce(used), list(text.solution)))
    return scores


class CandidateScorer(NamedTuple):
    """A verifier, a generator for log-probabilities or None, and how values make a score."""

    verifier: TokenReader | StepReader
    generator: TokenReader | None = None
    reduction: str = LAST

    @property
    def name(self) -> str:
        """Return the name of the scores: the verifier, and the reduction."""
        is_last = self.reduction == LAST
        return self.verifier.name if is_last else f"{self.verifier.name}:{self.reduction}"


def load_scorer(
    verifier: str | None = None,
    generator: str | None = None,
    critic: str | None = None,
    critiques: int = 1,
    reduction: str | None = None,
    form: str | None = None,
) -> CandidateScorer:
    """Load what gives scores, on a GPU if available and transformers reads it.

    verifier: see the module. generator: a model for log-probabilities, which alone are the scores.
    critic: a model that is asked `critiques` times whether a solution is right; 0: for its
    probability of yes. reduction: None for the mean over tokens if the verifier learnt that, else
    the last value. form: of a published reward model, None for that of its config.json. Raises
    InputError if there is no such model, MissingExtraError if its library is not installed.
    """
    if verifier and critic:
        raise InputError("--verifier and --critic are both given; give one")
    other = load_reader(generator, "generator") if generator is not None else None
    head: TokenReader | StepReader
    if critic is not None:
        head = load_critic(critic, critiques)
    elif verifier is None:
        if other is None:
            raise InputError("no scorer is given; give a verifier or a generator")
        head, other = LogprobReader(other), None
    elif verifier.startswith(ADDRESS):
        from gradeschool.verifier.judges import RewardServer

        head = RewardServer(verifier, form)
    else:
        head = _reward_model(Path(verifier), form) or load_reader(verifier, "verifier")
    usual = TOKENS if getattr(head, "level", "") == "pooled" else LAST
    return CandidateScorer(head, other, reduction or usual)


def load_critic(spec: str, critiques: int) -> StepReader:
    """Return a critic; critiques: answers for each solution, 0 for the probability of yes.

    Raises InputError for a model that cannot be asked so.
    """
    from gradeschool.verifier.judges import Critic, ProbabilityServer

    if critiques:
        return Critic(spec, critiques)
    if spec.startswith(ADDRESS):
        return ProbabilityServer(spec)
    provider, _, folder = spec.partition("/")
    if provider != "transformers":
        raise InputError(
            f"--critiques 0 reads probabilities, which {spec!r} does not give; give a "
            "transformers/FOLDER, the URL of a server, or --critiques 1"
        )
    needs_training_packages()
    from gradeschool.models.local import model_folder
    from gradeschool.verifier.reward_models import RewardModel

    return RewardModel(model_folder(folder), "yes-no")


def is_model(spec: str) -> bool:
    """Return whether a verifier's spec is a model, not a file of scores or a name in one."""
    path = Path(spec)
    return spec.startswith(ADDRESS) or spec == TINY or path.is_dir() or path.suffix == GGUF


def load_reader(spec: str, what: Literal["verifier", "generator"]) -> TokenReader:
    """Load one model: as a verifier, or only for its log-probabilities; see `load_scorer`."""
    path = Path(spec)
    if spec == TINY:
        return GgufReader(SHIPPED[what], f"{TINY}-{what}")
    if path.suffix == GGUF and path.is_file():
        return GgufReader(path)
    if not path.is_dir():
        raise InputError(f"there is no {what} {spec!r}; give {FORMS}")
    needs_training_packages()
    return FolderReader(path, what == "verifier")


def _reward_model(folder: Path, form: str | None) -> StepReader | None:
    """Return the published reward model of a folder, None for any other folder."""
    if not folder.is_dir() or (folder / VERIFIER_FILE).is_file():
        return None
    needs_training_packages()
    from gradeschool.verifier.reward_models import RewardModel, reward_form

    if form is None:
        try:
            form = reward_form(folder)
        except InputError:
            return None  # a language model without a head; its reader reports that
    return RewardModel(folder, form)


class LogprobReader:
    """A language model used as a verifier.

    Its value at a token is the geometric mean of the probabilities of the tokens up to it.
    """

    level = ""

    def __init__(self, generator: TokenReader) -> None:
        self.name = f"log-probability {generator.name}"
        self.tokenizer, self.context = generator.tokenizer, generator.context
        self.logprobs = generator.logprobs

    def values(self, texts: Sequence[SolutionTokens]) -> list[list[float]]:
        """Return the mean probability up to each token of each solution."""
        return [[exp(total / count) for count, total in enumerate(accumulate(row), start=1)]
                for row in self.logprobs(texts)]  # fmt: skip


class FolderReader:
    """A model from a folder, read by transformers."""

    def __init__(self, folder: Path, verifies: bool) -> None:
        from gradeschool.models.local import TRAINING_FILE, load_model, load_tokenizer, model_name
        from gradeschool.verifier import head

        self._head, load = head, head.Verifier.load if verifies else load_model
        self.level = head.read_head(folder).level if verifies else ""
        self.name = model_name(folder, VERIFIER_FILE)
        self._model: Any = load(folder, best_device())
        self.tokenizer = load_tokenizer(folder)
        if mapping((read_json(folder / TRAINING_FILE) or {}).get("settings")).get("chat"):
            use_chat(self.tokenizer, str(folder))
        config = getattr(self._model, "model", self._model).config
        self.context = getattr(config, "max_position_embeddings", None)

    def values(self, texts: Sequence[SolutionTokens]) -> list[list[float]]:
        """Return the verifier's value at each token of each solution."""
        return self._head.read_values(self._model, texts)

    def logprobs(self, texts: Sequence[SolutionTokens]) -> list[list[float]]:
        """Return the log-probability of each token of each solution."""
        return self._head.read_logprobs(self._model, texts)


# The file of scores


class ScoreRow(NamedTuple):
    """One completion's score by one verifier.

    key: of the completion. verifier: its name and digest. length: number of tokens of the solution,
    by the generator's tokenizer if there is a generator. logprob: their mean log-probability under
    the named generator, None without one. values, tokens: at each token, if requested.
    """

    key: str
    verifier: str
    score: float
    length: int
    logprob: float | None = None
    generator: str | None = None
    values: list[float] | None = None
    tokens: list[str] | None = None


def scores_path(source: Path) -> Path:
    """Return the path of the scores of a run folder or a file of completions."""
    if source.is_dir():
        return source / SCORES_FILE
    return source.with_name(f"{source.stem}.{SCORES_FILE}")


def read_scores(path: Path) -> Iterator[ScoreRow]:
    """Yield the rows of a file of scores, without incomplete ones; no rows if there is no file."""
    if not path.exists():
        return
    try:
        with path.open("rb") as file:
            for fields, _ in map(parse_line, file):
                try:
                    logprob = fields.get("logprob")
                    if logprob is not None:
                        logprob = float(logprob) if isfinite(logprob) else None
                    row = ScoreRow(
                        str(fields["key"]), str(fields["verifier"]), float(fields["score"]),
                        int(fields.get("length") or 0), logprob,
                        fields.get("generator"), fields.get("values"), fields.get("tokens"),
                    )  # fmt: skip
                except (KeyError, TypeError, ValueError, OverflowError):
                    continue
                if isfinite(row.score):
                    yield row
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from error


def append_scores(path: Path, rows: Iterable[ScoreRow]) -> None:
    """Append rows; see `append_lines`."""
    append_lines(path, ({name: value for name, value in row._asdict().items() if value is not None}
                        for row in rows))  # fmt: skip


def choose_scores(path: Path, verifier: str | None) -> tuple[str, dict[str, ScoreRow]]:
    """Return the name of a verifier and its rows by key, the last of each.

    verifier: its name or the beginning of it; None if the file has only one. Raises InputError
    unless it is a name in the file, or exactly one name begins with it.
    """
    by_verifier: dict[str, dict[str, ScoreRow]] = {}
    for row in read_scores(path):
        if row.verifier.startswith(verifier or ""):
            by_verifier.setdefault(row.verifier, {})[row.key] = row
    if verifier in by_verifier:  # also the beginning of "NAME:product"
        return verifier, by_verifier[verifier]
    if len(by_verifier) == 1:
        return next(iter(by_verifier.items()))
    if by_verifier:
        names = ", ".join(map(repr, by_verifier))
        raise InputError(f"{str(path)!r} contains scores of {names}; choose one with --verifier")
    whose = f" of {verifier!r}" if verifier else ""
    raise InputError(
        f"{str(path.parent)!r} has no verifier scores{whose}; use --verifier FOLDER, or score "
        "first: gradeschool verifier score"
    )


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
        keys, pairs = zip(*waiting[start : start + CHUNK], strict=True)
        logprobs: list[list[float]] = [[]] * len(pairs)
        if generator is not None:
            logprobs = generator.logprobs(encode_pairs(generator.tokenizer, pairs))
        rows = []
        found = score_pairs(reader, pairs, scorer.reduction)
        for key, (values, score, ids), by_token in zip(keys, found, logprobs, strict=True):
            if not isfinite(score):
                raise InputError(
                    f"the verifier {scorer.name!r} gives a completion the score {score!r}; train "
                    "it again with a smaller learning rate"
                )
            row = ScoreRow(key, scorer.name, score, len(by_token or ids))
            if generator is not None:
                mean = sum(by_token) / len(by_token)
                row = row._replace(logprob=mean, generator=generator.name)
            if tokens and not isinstance(reader, StepReader):
                texts = [str(reader.tokenizer.decode([token])) for token in ids]
                row = row._replace(values=[round(value, 6) for value in values], tokens=texts)
            rows.append(row)
        append_scores(target, rows)
        tell(sampled.total - len(waiting) + start + len(pairs), sampled.total)
    return target


# GGUF files


class GgufReader:
    """A Llama in a GGUF file, read by llama.cpp, with its tokenizer; a verifier if it has a head.

    Raises MissingExtraError if xllamacpp or gguf is missing, InputError for an unusable file.
    """

    def __init__(self, file: Path, name: str = "") -> None:
        from gradeschool.models.llama_cpp import needs_llama_cpp, serve

        needs_llama_cpp()
        require_packages("reading a GGUF file", "llama-cpp", "gguf")
        import gguf
        import numpy

        self.name, self._file = f"{name or file.stem}@{gguf_digest(file)[:12]}", file
        try:
            reader = gguf.GGUFReader(file)
        except (ValueError, IndexError, KeyError) as error:
            raise InputError(f"{str(file)!r} is not a readable GGUF file: {error}") from error

        def field(key: str) -> Any:
            entry = reader.get_field(key)
            return None if entry is None else entry.contents()

        if field("general.architecture") != ARCHITECTURE:
            raise InputError(
                f"{str(file)!r} is not a Llama but {field('general.architecture')!r}; give the "
                "model's folder instead, which transformers reads"
            )
        self._written = field(HEAD_KEY)
        self.level = self._head().level if self._written else ""
        self.tokenizer, self.eos_token_id = self, int(field("tokenizer.ggml.eos_token_id"))
        most = min(MOST_TOKENS, int(field(f"{ARCHITECTURE}.context_length")))
        self.context: int | None = most
        by_name = {tensor.name: tensor for tensor in reader.tensors}
        tensor = next(by_name[name] for name in UNEMBEDDINGS if name in by_name)
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        self._unembedding = numpy.asarray(values, numpy.float32)
        self._server = serve(file, most)
        self._address = urlsplit(self._server.listening_address).netloc

    def _head(self) -> Head:
        try:
            return head_from(self._written)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{str(self._file)!r} is not a verifier ({error}); write one: gradeschool verifier "
                "export VERIFIER_FOLDER -o FILE.gguf"
            ) from error

    def __call__(
        self, text: str | Sequence[str], add_special_tokens: bool = True
    ) -> dict[str, list[Any]]:
        """Return the tokens of a text, or of each of several, like transformers' tokenizers."""
        if not isinstance(text, str):
            return {"input_ids": [self(each)["input_ids"] for each in text]}
        body = {"content": text, "add_special": False, "parse_special": True}
        return {"input_ids": list(self._post("/tokenize", body)["tokens"])}

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens."""
        return str(self._post("/detokenize", {"tokens": list(tokens)})["content"])

    def values(self, texts: Sequence[SolutionTokens]) -> list[list[float]]:
        """Return the verifier's values; raises InputError if the file has no head."""
        import numpy

        head = self._head()

        def read(text: SolutionTokens, states: Any) -> list[float]:
            if head.kind == LOGIT:
                logits = states[len(text.question) :] @ self._unembedding[head.token_id]
                return list((head.gain * logits + head.bias).tolist())
            sums = self._logprobs(text, states, head.token_id).cumsum()
            logits = numpy.exp(head.gain) * sums + head.bias
            return list(numpy.exp(-numpy.logaddexp(0, -logits)).tolist())  # without overflow

        return self._read(texts, read)

    def logprobs(self, texts: Sequence[SolutionTokens]) -> list[list[float]]:
        """Return the log-probability (nats) of each token of each solution."""
        return self._read(texts, lambda *each: list(self._logprobs(*each).tolist()))

    def _logprobs(self, text: SolutionTokens, states: Any, banned: int = -1) -> Any:
        """Return the log-probability of each solution token; `banned` (-1: none) is excluded."""
        import numpy

        logits = states[len(text.question) - 1 : -1] @ self._unembedding.T
        logits = logits.astype(numpy.float64)
        if banned >= 0:
            logits[:, banned] = -numpy.inf
        highest = logits.max(1, keepdims=True)
        chosen = logits[numpy.arange(len(logits)), list(text.solution)]
        return chosen - highest[:, 0] - numpy.log(numpy.exp(logits - highest).sum(1))

    def _read(
        self, texts: Sequence[SolutionTokens], read: Callable[[SolutionTokens, Any], list[float]]
    ) -> list[list[float]]:
        """Return what `read` makes of each text and its states [tokens, width] after the last norm.

        Equal texts are computed once.
        """
        import numpy

        different = list(dict.fromkeys(texts))
        results: dict[SolutionTokens, list[float]] = {}
        for start in range(0, len(different), TOGETHER):
            chunk = different[start : start + TOGETHER]
            rows = [[*text.question, *text.solution] for text in chunk]
            longest = max(map(len, rows))
            if self.context is not None and longest > self.context:
                raise InputError(
                    f"a question with its solution has {longest} tokens, more than the "
                    f"{self.context!r} that {self.name!r} reads; give another verifier"
                )
            replies = sorted(
                self._post("/embeddings", {"content": rows}), key=lambda it: it["index"]
            )
            for text, reply in zip(chunk, replies, strict=True):
                results[text] = read(text, numpy.array(reply["embedding"], numpy.float32))
        return [results[text] for text in texts]

    def _post(self, path: str, body: Any) -> Any:
        # One connection per request: the server closes connections that are idle for five seconds.
        with closing(http.client.HTTPConnection(self._address, timeout=SECONDS)) as connection:
            headers = {"Content-Type": "application/json"}
            connection.request("POST", path, json.dumps(body), headers)
            reply = connection.getresponse()
            raw = reply.read()
        if reply.status != 200:
            message = raw[:SHOWN].decode("utf-8", "replace")
            raise InputError(f"llama.cpp cannot read a text with {self.name!r}: {message}")
        return json.loads(raw)
