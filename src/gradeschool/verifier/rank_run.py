"""A run, its verifier's scores and its baselines, put together to be ranked."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gradeschool.errors import InputError
from gradeschool.problem import Problem
from gradeschool.scoring.sources import parted
from gradeschool.scoring.statistics import Interval, clustered_wilson
from gradeschool.verifier.candidates import Answered, Held, Warn, candidates_of
from gradeschool.verifier.picking import Option
from gradeschool.verifier.score_run import Told, score_held
from gradeschool.verifier.scorers import CandidateScorer, is_model, load_scorer
from gradeschool.verifier.scores_file import ScoreRow, choose_scores, scores_path
from gradeschool.verifier.ways import Case

FAMILY_FIELDS = ("family", "kind")
STEP = re.compile(r"<<[^<>]*>>")  # an annotation of a reference solution


class Ready(NamedTuple):
    """Cases to rank. unscored: completions without a score, which are left out."""

    cases: Sequence[Case]
    verifier: str
    has_logprob: bool
    unscored: int


def one_run(spec: str, dataset: str | None, warn: Warn, scorer: str | None = None) -> Held:
    """Return the one run that an argument means; raises InputError where it means several."""
    found = candidates_of(spec, dataset, warn, scorer)
    if len(found) > 1:
        names = ", ".join(repr(f"{spec}#{one.run}") for one in found)
        raise InputError(f"{spec!r} holds {len(found)} runs; give one: {names}")
    return found[0]


def scores_of(
    spec: str, verifier: str | None, generator: str | None
) -> CandidateScorer | tuple[str, Mapping[str, ScoreRow]]:
    """Return a verifier that can score, or the name of one with its recorded scores by key.

    spec: the run, FILE or FILE#RUN. verifier: a verifier's folder, its FILE.gguf or `tiny`; a file
    of scores; the beginning of a verifier's name in the file beside the completions; None for the
    one there. Raises InputError.
    """
    if verifier is not None and is_model(verifier):
        return load_scorer(verifier, generator)
    if generator is not None:
        raise InputError("--generator needs a verifier's model; recorded scores are not asked anew")
    if verifier is not None and Path(verifier).is_file():
        return choose_scores(Path(verifier), None)
    return choose_scores(scores_path(Path(parted(spec)[0])), verifier)


def scored_by(
    scorer: CandidateScorer, held: Held, tell: Callable[[Told], None] | None = None
) -> tuple[str, Mapping[str, ScoreRow]]:
    """Return a verifier's name and its scores of a run's completions; scores what has none yet."""
    return choose_scores(score_held(held, scorer, tell=tell), scorer.verifier.name)


def ready(held: Held, verifier: str, scores: Mapping[str, ScoreRow]) -> Ready:
    """Return the cases of a run with their scores; raises InputError where none has a score."""
    rows = [scores[one.key] for answered in held.answered for one in answered.candidates
            if one.key in scores]  # fmt: skip
    if not rows:
        raise InputError(
            f"{verifier!r} has scored no completion of {str(held.path)!r}; give the scores of this "
            "run, or the verifier's folder with --verifier"
        )
    has_logprob = all(row.logprob is not None for row in rows)
    cases = [_case(answered, scores) for answered in held.answered]
    cases = [case for case in cases if case.options]
    return Ready(cases, verifier, has_logprob, held.total - len(rows))


def _case(answered: Answered, scores: Mapping[str, ScoreRow]) -> Case:
    options = []
    texts = set()
    for one in answered.candidates:
        row = scores.get(one.key)
        if row is None:
            continue
        logprob = row.logprob or 0.0
        options.append(Option(one.answer, one.right, row.score, logprob, row.length))
        texts.add(one.text)
    problem = answered.problem
    return Case(problem.id, family_of(problem), options, len(texts))


def family_of(problem: Problem) -> str:
    """Return what kind of problem it is: as its dataset says, else how many steps it takes."""
    for name in FAMILY_FIELDS:
        if name in problem.meta:
            return str(problem.meta[name])
    steps = len(STEP.findall(problem.solution))
    return f"{steps} step{'s' * (steps != 1)}" if steps else "all"


def baseline(
    held: Held, spec: str, dataset: str | None, warn: Warn
) -> tuple[str, dict[str, tuple[int, int]], float, Interval]:
    """Return another run on the same problems: its name, (right, completions) by problem, score.

    It is read by the same scorer. Raises InputError where it shares no problem with the run.
    """
    other = one_run(spec, dataset or str(_dataset(held) or "") or None, warn, held.scorer)
    questions = {one.problem.id: one.problem.question for one in held.answered}
    found = {
        one.problem.id: (sum(each.right for each in one.candidates), len(one.candidates))
        for one in other.answered
        if questions.get(one.problem.id) == one.problem.question
    }
    if not found:
        raise InputError(
            f"the baseline {spec!r} shares no problem with {str(held.path)!r}; "
            "give a run on the same dataset"
        )
    shares = [right / count for right, count in found.values()]
    accuracy = sum(shares) / len(shares)
    return other.run, found, accuracy, clustered_wilson(list(found.values()))


def _dataset(held: Held) -> str | None:
    named = held.manifest.get("dataset")
    return named.get("name") if isinstance(named, dict) else None
