"""verifier-scores.jsonl: scores of completions by verifiers, appended row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import exp, isfinite
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.atomic import append_lines
from gradeschool.errors import InputError
from gradeschool.formats.settings import mapping
from gradeschool.formats.tables import parse_line
from gradeschool.models.local import is_name_of
from gradeschool.verifier.candidates import (
    PLAIN_PROTOCOL,
    Candidate,
    CandidateRun,
    ProblemCandidates,
    sampler_of,
)
from gradeschool.verifier.examples import QuestionSolution, texts_of
from gradeschool.verifier.scorers import (
    CandidateScorer,
    LogprobReader,
    SolutionReader,
    StepReader,
    StepReduction,
    score,
)

SCORES_FILE = "verifier-scores.jsonl"


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

    def as_json(self) -> dict[str, Any]:
        """Return the fields that are not None."""
        return {name: value for name, value in self._asdict().items() if value is not None}


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
            for line in file:
                fields, fault = parse_line(line)
                if not fault and (row := _row(fields)) is not None:
                    yield row
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from error


def append_scores(path: Path, rows: Iterable[ScoreRow]) -> None:
    """Append rows; see `append_lines`."""
    append_lines(path, (row.as_json() for row in rows))


def choose_scores(path: Path, verifier: str | None) -> tuple[str, dict[str, ScoreRow]]:
    """Return the name of a verifier and its rows by key, the last of each.

    verifier: its name or the beginning of it; None if the file has only one. Raises InputError
    unless it is a name in the file, or exactly one name begins with it.
    """
    by_verifier: dict[str, dict[str, ScoreRow]] = {}
    for row in read_scores(path):
        if verifier is None or row.verifier.startswith(verifier):
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


def _row(fields: Mapping[str, Any]) -> ScoreRow | None:
    key, verifier = fields.get("key"), fields.get("verifier")
    score = _finite(fields.get("score"))
    if not (isinstance(key, str) and isinstance(verifier, str)) or score is None:
        return None
    length = fields.get("length")
    return ScoreRow(
        key=key,
        verifier=verifier,
        score=score,
        length=length if isinstance(length, int) else 0,
        logprob=_finite(fields.get("logprob")),
        generator=str(fields["generator"]) if fields.get("generator") else None,
        values=fields.get("values") if isinstance(fields.get("values"), list) else None,
        tokens=fields.get("tokens") if isinstance(fields.get("tokens"), list) else None,
    )


def _finite(value: Any) -> float | None:
    """Return a JSON number as a finite float; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


# Completions scored between two writes: enough for full batches, few enough to lose.
CHUNK = 2048


class ScoringProgress(NamedTuple):
    """Progress of a scoring: completions scored, in total, and scored before this call."""

    scored: int
    total: int
    before: int


def add_scores(
    sampled: CandidateRun,
    scorer: CandidateScorer,
    *,
    path: Path | None = None,
    tokens: bool = False,
    tell: Callable[[ScoringProgress], None] | None = None,
) -> Path:
    """Append the scores of completions without a score by this verifier; return the file.

    path: the file, by default the one beside the completions. tokens: also write the values and
    texts of all tokens. If a row lacks requested tokens or log-probabilities, a new row is written;
    the last row of a completion counts.
    """
    target = path or scores_path(sampled.path)
    name = scorer.name
    generator = scorer.generator.name if scorer.generator else None
    scored = {
        row.key
        for row in read_scores(target)
        if row.verifier == name
        and (row.values is not None or not tokens)
        and (generator is None or row.generator == generator)
    }
    of = sampled.total
    before = sum(
        candidate.key in scored for problem in sampled.answered for candidate in problem.candidates
    )
    finished = before
    reader = scorer.generator or getattr(scorer.verifier, "generator", None)
    stored = stores_logprobs(sampled, reader and reader.name)
    for chunk in _chunks(sampled.answered, scored):
        append_scores(target, _rows(chunk, scorer, tokens, stored))
        finished += sum(len(candidate.candidates) for candidate in chunk)
        if tell is not None:
            tell(ScoringProgress(finished, of, before))
    return target


def _chunks(
    answered: Sequence[ProblemCandidates], scored: set[str]
) -> Iterator[list[ProblemCandidates]]:
    """Yield problems with unscored completions, about CHUNK completions at a time."""
    chunk: list[ProblemCandidates] = []
    size = 0
    for problem in answered:
        missing = [candidate for candidate in problem.candidates if candidate.key not in scored]
        if not missing:
            continue
        chunk.append(ProblemCandidates(problem.problem, missing))
        size += len(missing)
        if size >= CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


class SolutionLogprob(NamedTuple):
    """The summed log-probability (nats) of a solution's tokens."""

    total: float
    tokens: int


def _logprobs(
    reader: SolutionReader,
    candidates: Sequence[Candidate],
    pairs: Sequence[QuestionSolution],
    stored: bool,
) -> list[SolutionLogprob]:
    """Return log-probabilities: stored ones from sampling, and computed ones for the rest.

    They are also computed if a sample's text has another number of tokens than were drawn, because
    the model may have written the text in other tokens.
    """
    texts = texts_of(reader.tokenizer, pairs)
    results = [
        SolutionLogprob(candidate.logprob, candidate.tokens)
        if stored and candidate.logprob is not None and candidate.tokens == len(text.solution)
        else None
        for candidate, text in zip(candidates, texts, strict=True)
    ]
    missing = [text for text, result in zip(texts, results, strict=True) if result is None]
    read = iter(reader.logprobs(missing) if missing else [])
    return [result or SolutionLogprob(sum(values := next(read)), len(values)) for result in results]


def _decoder(scorer: CandidateScorer) -> Callable[[int], str]:
    """Return the function from a verifier's token to its text."""
    reader = scorer.verifier
    if isinstance(reader, StepReader):
        raise InputError(f"{reader.name} scores steps, not tokens; leave --tokens out")
    decode = reader.tokenizer.decode
    return lambda token: str(decode([token]))


def stores_logprobs(sampled: CandidateRun, generator: str | None) -> bool:
    """Return whether samples contain their log-probabilities under a generator.

    generator: its name, see `ScoreRow`. They do if our own loop drew them from that model, with
    only the question as prompt.
    """
    sampler = sampler_of(sampled.manifest)
    return (
        mapping(sampled.manifest.get("protocol")).get("name") == PLAIN_PROTOCOL
        and sampler is not None
        and generator is not None
        and is_name_of(generator, sampler.fingerprint)
        and any(each.logprob is not None for part in sampled.answered for each in part.candidates)
    )


def _rows(
    chunk: Sequence[ProblemCandidates], scorer: CandidateScorer, tokens: bool, stored: bool
) -> list[ScoreRow]:
    name = scorer.name
    decode = _decoder(scorer) if tokens else None
    candidates = [candidate for answered in chunk for candidate in answered.candidates]
    pairs = [
        QuestionSolution(answered.problem.question, candidate.text, candidate.finished)
        for answered in chunk
        for candidate in answered.candidates
    ]
    alone = scorer.reduction is StepReduction.LAST and not tokens
    if alone and isinstance(scorer.verifier, LogprobReader):
        by_model = _logprobs(scorer.verifier.generator, candidates, pairs, stored)
        return [
            ScoreRow(candidate.key, name, exp(each.total / each.tokens), each.tokens)
            for candidate, each in zip(candidates, by_model, strict=True)
        ]
    results = score(scorer.verifier, pairs, scorer.reduction)
    by_generator: Sequence[SolutionLogprob | None] = [None] * len(pairs)
    if scorer.generator is not None:
        by_generator = _logprobs(scorer.generator, candidates, pairs, stored)
    rows = []
    for candidate, scored, logprob in zip(candidates, results, by_generator, strict=True):
        if not isfinite(scored.score):
            raise InputError(
                f"the verifier {name!r} gives a completion the score {scored.score!r}; "
                "train it again with a smaller learning rate"
            )
        texts = None if decode is None else [decode(token) for token in scored.tokens]
        values = [round(value, 6) for value in scored.values] if tokens else None
        rows.append(
            ScoreRow(
                key=candidate.key,
                verifier=name,
                score=scored.score,
                length=logprob.tokens if logprob else len(scored.tokens),
                logprob=logprob and logprob.total / logprob.tokens,
                generator=scorer.generator.name if scorer.generator else None,
                values=values,
                tokens=texts,
            )
        )
    return rows
