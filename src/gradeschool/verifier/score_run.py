"""A verifier's scores of the completions of a run, written as they come and never twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from gradeschool.errors import InputError
from gradeschool.verifier.candidates import Answered, Held
from gradeschool.verifier.scorers import CandidateScorer
from gradeschool.verifier.scores_file import ScoreRow, append_scores, read_scores, scores_path
from gradeschool.verifier.solutions import Pair

# Completions that are scored between two writes: enough for full batches, few enough to lose.
CHUNK = 2048


class Told(NamedTuple):
    """How far a scoring is: completions of all, of which so many were there before."""

    done: int
    of: int
    before: int


def score_held(
    held: Held,
    scorer: CandidateScorer,
    *,
    path: Path | None = None,
    tokens: bool = False,
    tell: Callable[[Told], None] | None = None,
) -> Path:
    """Append the scores of completions that have none by this verifier; return the file.

    path: the file, by default the one beside the completions. tokens: write the values and texts of
    all tokens too. A row that lacks the tokens or the generator's log-probability that are asked
    for now is written anew; the last row of a completion counts.
    """
    target = path or scores_path(held.path)
    name = scorer.verifier.name
    generator = scorer.generator.name if scorer.generator else None
    done = {
        row.key
        for row in read_scores(target)
        if row.verifier == name
        and (row.values is not None or not tokens)
        and (generator is None or row.generator == generator)
    }
    of, before = held.total, sum(
        one.key in done for answered in held.answered for one in answered.candidates
    )  # fmt: skip
    finished = before
    for chunk in _chunks(held.answered, done):
        append_scores(target, _rows(chunk, scorer, tokens))
        finished += sum(len(one.candidates) for one in chunk)
        if tell is not None:
            tell(Told(finished, of, before))
    return target


def _chunks(answered: Sequence[Answered], done: set[str]) -> Iterator[list[Answered]]:
    """Yield problems with the completions that are not done, about CHUNK of them at a time."""
    chunk: list[Answered] = []
    size = 0
    for one in answered:
        missing = [candidate for candidate in one.candidates if candidate.key not in done]
        if not missing:
            continue
        chunk.append(Answered(one.problem, missing))
        size += len(missing)
        if size >= CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _rows(chunk: Sequence[Answered], scorer: CandidateScorer, tokens: bool) -> list[ScoreRow]:
    name = scorer.verifier.name
    keys = [one.key for answered in chunk for one in answered.candidates]
    pairs = [
        Pair(answered.problem.question, one.text, one.finished)
        for answered in chunk
        for one in answered.candidates
    ]
    found = scorer.verifier.score(pairs)
    if scorer.generator is not None:
        spoken = scorer.generator.logprobs(pairs)
        found = [one._replace(logprobs=said) for one, said in zip(found, spoken, strict=True)]
    rows = []
    for key, scored in zip(keys, found, strict=True):
        if not isfinite(scored.last):
            raise InputError(
                f"the verifier {name!r} gives a completion the score {scored.last!r}; "
                "train it again with a smaller learning rate"
            )
        texts = [scorer.verifier.text(token) for token in scored.tokens] if tokens else None
        values = [round(value, 6) for value in scored.values] if tokens else None
        rows.append(
            ScoreRow(
                key=key,
                verifier=name,
                score=scored.last,
                length=len(scored.logprobs or scored.tokens),
                logprob=scored.logprob,
                generator=scorer.generator.name if scorer.generator else None,
                values=values,
                tokens=texts,
            )
        )
    return rows
