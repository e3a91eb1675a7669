"""Load models that score solutions: a transformers folder, a GGUF file, or `tiny`."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Sequence
from contextlib import closing
from enum import StrEnum
from itertools import accumulate
from math import exp, prod
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable
from urllib.parse import urlsplit

from gradeschool.errors import InputError, require_packages
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
from gradeschool.verifier.examples import (
    QuestionSolution,
    SolutionScore,
    SolutionTokens,
    step_ends,
    texts_of,
)

FORMS = f"a folder, a FILE{GGUF} or {TINY}"
SHIPPED = {"verifier": TINY_VERIFIER, "generator": TINY_FILE}


class SolutionReader(Protocol):
    """A model that reads solutions: as a verifier, or for their log-probabilities.

    context: maximum number of tokens of a question with its solution, None if unknown.
    """

    name: str
    tokenizer: Any
    context: int | None

    def values(self, texts: Sequence[SolutionTokens]) -> list[list[float]]:
        """Return the verifier's value at each token of each solution.

        Raises InputError if the model is not a verifier.
        """

    def logprobs(self, texts: Sequence[SolutionTokens]) -> list[list[float]]:
        """Return the log-probability (nats) of each token of each solution."""


@runtime_checkable
class StepReader(Protocol):
    """A model that only scores steps: a published reward model."""

    name: str

    def step_scores(self, question: str, steps: Sequence[str]) -> list[float]:
        """Return a score for each step of a solution."""


class StepReduction(StrEnum):
    """How the values at the ends of steps (lines) are reduced to a solution's score.

    LAST is the value at the last token, whatever the steps. A product needs probabilities.
    """

    LAST = "last"
    MIN = "min"
    PRODUCT = "product"
    MEAN = "mean"

    def of(self, values: Sequence[float]) -> float:
        """Return the score of the values of steps, in order."""
        if self is StepReduction.LAST:
            return values[-1]
        if self is StepReduction.MIN:
            return min(values)
        if self is StepReduction.PRODUCT:
            return prod(min(max(value, 0.0), 1.0) for value in values)
        return sum(values) / len(values)


def score(
    reader: SolutionReader | StepReader,
    pairs: Sequence[QuestionSolution],
    reduction: StepReduction = StepReduction.LAST,
) -> list[SolutionScore]:
    """Return a verifier's scores of solutions, in their order."""
    if isinstance(reader, StepReader):
        return [_by_steps(reader, pair, reduction) for pair in pairs]
    tokenizer = reader.tokenizer
    texts = texts_of(tokenizer, pairs)
    scores = []
    for pair, text, values in zip(pairs, texts, reader.values(texts), strict=True):
        at_ends = [values[-1]]
        if reduction is not StepReduction.LAST:
            ends = step_ends(tokenizer, pair.question, pair.solution, text.solution)
            at_ends = [values[end - 1] for end in ends]
        scores.append(SolutionScore(values, reduction.of(at_ends), list(text.solution)))
    return scores


def _by_steps(
    reader: StepReader, pair: QuestionSolution, reduction: StepReduction
) -> SolutionScore:
    steps = [line for line in pair.solution.split("\n") if line.strip()] or [""]
    values = reader.step_scores(pair.question, steps)
    return SolutionScore(values, reduction.of(values), [])


class CandidateScorer(NamedTuple):
    """A verifier, a generator for log-probabilities or None, and how steps make a score."""

    verifier: SolutionReader | StepReader
    generator: SolutionReader | None = None
    reduction: StepReduction = StepReduction.LAST

    @property
    def name(self) -> str:
        """Return the name of the scores: the verifier, and the reduction of steps."""
        last = self.reduction is StepReduction.LAST
        return self.verifier.name if last else f"{self.verifier.name}:{self.reduction}"


def load_scorer(
    verifier: str | Path | None,
    generator: str | Path | None = None,
    reduction: str = StepReduction.LAST,
    form: str | None = None,
) -> CandidateScorer:
    """Load a verifier and a generator, on a GPU if available and transformers reads them.

    Each is a model's folder, a FILE.gguf or `tiny`. A verifier may also be a published reward model
    (see `reward_models`; form: None means the one in config.json); None uses the generator's
    log-probabilities as scores. Raises InputError if there is no such model, MissingExtraError if
    its library is not installed.
    """
    if verifier is None:
        if generator is None:
            raise InputError("no scorer is given; give a verifier or a generator")
        by_logprob = LogprobReader(load_reader(generator, "generator"))
        return CandidateScorer(by_logprob, None, StepReduction(reduction))
    head: SolutionReader | StepReader | None = _reward_model(Path(verifier), form)
    head = head or load_reader(verifier, "verifier")
    other = None if generator is None else load_reader(generator, "generator")
    return CandidateScorer(head, other, StepReduction(reduction))


def is_model(spec: str) -> bool:
    """Return whether a verifier's spec is a model, not a file of scores or a name in one."""
    return spec == TINY or Path(spec).is_dir() or Path(spec).suffix == GGUF


def load_reader(spec: str | Path, what: Literal["verifier", "generator"]) -> SolutionReader:
    """Load one model: as a verifier, or only for its log-probabilities; see `load_scorer`."""
    if str(spec) == TINY:
        return GgufReader(SHIPPED[what], f"{TINY}-{what}")
    path = Path(spec)
    if path.suffix == GGUF and path.is_file():
        return GgufReader(path)
    if not path.is_dir():
        raise InputError(f"there is no {what} {str(spec)!r}; give {FORMS}")
    needs_training_packages()
    return FolderReader(path, what == "verifier")


def _reward_model(folder: Path, form: str | None) -> StepReader | None:
    """Return the published reward model of a folder, None for any other folder."""
    if not folder.is_dir() or (folder / VERIFIER_FILE).is_file():
        return None
    needs_training_packages()
    from gradeschool.verifier.reward_models import RewardForm, RewardModel, reward_form

    if form is None:
        try:
            form = reward_form(folder)
        except InputError:
            return None  # a language model without a head; its reader reports that
    return RewardModel(folder, RewardForm(form))


LOGPROB_READER = "log-probability "  # begins the name of every one


class LogprobReader:
    """A language model used as a verifier.

    Its value at a token is the geometric mean of the probabilities of the tokens up to it.
    """

    def __init__(self, generator: SolutionReader) -> None:
        self.generator = generator
        self.name = LOGPROB_READER + generator.name
        self.tokenizer, self.context = generator.tokenizer, generator.context

    def values(self, texts: Sequence[SolutionTokens]) -> list[list[float]]:
        """Return the mean probability up to each token of each solution."""
        return [
            [exp(total / count) for count, total in enumerate(accumulate(row), start=1)]
            for row in self.generator.logprobs(texts)
        ]

    def logprobs(self, texts: Sequence[SolutionTokens]) -> list[list[float]]:
        """Return the log-probability (nats) of each token of each solution."""
        return self.generator.logprobs(texts)


class FolderReader:
    """A model from a folder, read by transformers."""

    def __init__(self, folder: Path, verifies: bool) -> None:
        from gradeschool.models.local import load_tokenizer, model_name
        from gradeschool.verifier.head import Verifier, load_trunk

        load = Verifier.load if verifies else load_trunk
        self.name = model_name(folder, VERIFIER_FILE)
        self._model: Any = load(folder, best_device())
        self.tokenizer = load_tokenizer(folder)
        config = getattr(self._model, "model", self._model).config
        self.context = getattr(config, "max_position_embeddings", None)

    def values(self, texts: Sequence[SolutionTokens]) -> list[list[float]]:
        """Return the verifier's value at each token of each solution."""
        from gradeschool.verifier.head import values_of

        return values_of(self._model, texts)

    def logprobs(self, texts: Sequence[SolutionTokens]) -> list[list[float]]:
        """Return the log-probability of each token of each solution."""
        from gradeschool.verifier.head import logprobs_of

        return logprobs_of(self._model, texts)


class GgufReader:
    """A GGUF file that gives log-probabilities, and scores if it is a verifier."""

    def __init__(self, file: Path, name: str = "") -> None:
        self.tokenizer = LlamaStates(file, name)
        self.name = self.tokenizer.name
        self.context: int | None = self.tokenizer.context
        self._file = file

    def values(self, texts: Sequence[SolutionTokens]) -> list[list[float]]:
        """Return the verifier's values; raises InputError if the file has no head."""
        head = _head(self.tokenizer.field(HEAD_KEY), self._file)
        return self._each(texts, lambda *read: _values(self.tokenizer, head, *read))

    def logprobs(self, texts: Sequence[SolutionTokens]) -> list[list[float]]:
        """Return the log-probability (nats) of each token of each solution."""
        return self._each(texts, lambda *read: _logprobs(self.tokenizer, *read).tolist())

    def _each(
        self, texts: Sequence[SolutionTokens], read: Callable[[SolutionTokens, Any], list[float]]
    ) -> list[list[float]]:
        """Return the result for each text from its states; equal texts are computed once."""
        different = list(dict.fromkeys(texts))
        states = self.tokenizer.states([text.question + text.solution for text in different])
        results = {text: read(text, each) for text, each in zip(different, states, strict=True)}
        return [results[text] for text in texts]


def _values(model: LlamaStates, head: Head, text: SolutionTokens, states: Any) -> list[float]:
    import numpy

    if head.kind == LOGIT:
        logits = model.logits(states[len(text.question) :])[:, head.token_id]
        return list((head.gain * logits + head.bias).tolist())
    logprobs = _logprobs(model, text, states, head.token_id)
    logit = numpy.exp(head.gain) * logprobs.cumsum() + head.bias
    return list(numpy.exp(-numpy.logaddexp(0, -logit)).tolist())  # the sigmoid, without overflow


def _logprobs(
    model: LlamaStates, text: SolutionTokens, states: Any, banned: int | None = None
) -> Any:
    """Return the log-probability of each solution token; `banned` (-1: none) is excluded."""
    import numpy

    logits = model.logits(states[len(text.question) - 1 : -1]).astype(numpy.float64)
    if banned is not None and banned >= 0:
        logits[:, banned] = -numpy.inf
    highest = logits.max(1, keepdims=True)
    chosen = logits[numpy.arange(len(logits)), list(text.solution)]
    return chosen - highest[:, 0] - numpy.log(numpy.exp(logits - highest).sum(1))


def _head(written: Any, file: Path) -> Head:
    try:
        return head_from(written)
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{str(file)!r} is not a verifier ({error}); write one: gradeschool gguf "
            "VERIFIER_FOLDER -o FILE.gguf"
        ) from error


MOST_TOKENS = 2048  # maximum for a question with its solution
TOGETHER = 16  # texts per request: a few megabytes of JSON
SECONDS = 600.0
SHOWN = 200  # bytes of a refusal in a message
UNEMBEDDINGS = ("output.weight", "token_embd.weight")


class LlamaStates:
    """A Llama model read by llama.cpp; calling it tokenizes a text.

    Raises MissingExtraError if xllamacpp or gguf is missing, InputError for an unusable file.
    """

    def __init__(self, file: Path, name: str = "") -> None:
        from gradeschool.models.llama_cpp import needs_llama_cpp, serve

        needs_llama_cpp()
        require_packages("reading a GGUF file", "llama-cpp", "gguf")
        self.name = f"{name or file.stem}@{gguf_digest(file)[:12]}"
        import gguf

        try:
            self._reader = gguf.GGUFReader(file)
        except (ValueError, IndexError, KeyError) as error:
            raise InputError(f"{str(file)!r} is not a readable GGUF file: {error}") from error
        if self.field("general.architecture") != ARCHITECTURE:
            raise InputError(
                f"{str(file)!r} is not a Llama but {self.field('general.architecture')!r}; give "
                "the model's folder instead, which transformers reads"
            )
        self.eos_token_id = int(self.field("tokenizer.ggml.eos_token_id"))
        self.context = min(MOST_TOKENS, int(self.field(f"{ARCHITECTURE}.context_length")))
        self._unembedding = self._matrix()
        self._server = serve(file, self.context)
        self._address = urlsplit(self._server.listening_address).netloc

    def field(self, key: str) -> Any:
        """Return a value from the file's header, None if the key is missing."""
        entry = self._reader.get_field(key)
        return None if entry is None else entry.contents()

    def __call__(
        self, text: str | Sequence[str], add_special_tokens: bool = True
    ) -> dict[str, list[Any]]:
        """Return the tokens of a text or of each of several, like transformers' tokenizers."""
        if isinstance(text, str):
            return {"input_ids": self._tokens(text)}
        return {"input_ids": [self._tokens(part) for part in text]}

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens."""
        return str(self._post("/detokenize", {"tokens": list(tokens)})["content"])

    def states(self, texts: Sequence[Sequence[int]]) -> list[Any]:
        """Return an array [tokens, width] for each text, after the last norm."""
        import numpy

        arrays = []
        for start in range(0, len(texts), TOGETHER):
            chunk = [list(ids) for ids in texts[start : start + TOGETHER]]
            if longest := max((len(ids) for ids in chunk if len(ids) > self.context), default=0):
                raise InputError(
                    f"a question with its solution has {longest} tokens, more than the "
                    f"{self.context!r} that {self.name!r} reads; give another verifier"
                )
            replies = self._post("/embeddings", {"content": chunk})
            replies.sort(key=lambda reply: reply["index"])
            arrays += [numpy.array(reply["embedding"], numpy.float32) for reply in replies]
        return arrays

    def logits(self, states: Any) -> Any:
        """Return the logits [tokens, vocabulary] of states."""
        return states @ self._unembedding.T

    def _tokens(self, text: str) -> list[int]:
        body = {"content": text, "add_special": False, "parse_special": True}
        return list(self._post("/tokenize", body)["tokens"])

    def _matrix(self) -> Any:
        import gguf
        import numpy

        by_name = {tensor.name: tensor for tensor in self._reader.tensors}
        tensor = next(by_name[name] for name in UNEMBEDDINGS if name in by_name)
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        return numpy.asarray(values, numpy.float32)

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
