"""Scores of completions, and the models that give them.

A verifier is a folder, a FILE.gguf or `tiny`; a published reward model a folder, or a server; a
language model gives log-probabilities, or is asked as a critic.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate
from math import exp, isfinite, prod
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from gradeschool.errors import InputError
from gradeschool.formats.own_run import ScoreRow, append_scores, read_json, read_scores, scores_path
from gradeschool.formats.values import mapping
from gradeschool.models.llama_cpp import TINY, TINY_FILE, TINY_VERIFIER, gguf_digest
from gradeschool.scoring.candidates import CandidateRun
from gradeschool.verifier.base_model import GGUF, VERIFIER_FILE, needs_training_packages
from gradeschool.verifier.data import (
    QuestionSolution,
    SolutionTokens,
    encode_pairs,
    line_ends,
    use_chat,
)
from gradeschool.verifier.judges import Critic, ProbabilityServer, RewardServer

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
