"""Read completions with their problems, answers and keys from a run folder or sample file."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Finish
from gradeschool.errors import InputError
from gradeschool.formats.own_run import manifest_of
from gradeschool.formats.samples import ReadOptions, Sample
from gradeschool.problem import Problem
from gradeschool.scorer import Scorer
from gradeschool.scoring.samples import Warn
from gradeschool.scoring.sources import SourceRun, choose_runs
from gradeschool.scoring.table import scored_table, scorer_for
from gradeschool.verdict import Outcome


class Candidate(NamedTuple):
    """One completion: its key, its number among the problem's completions, and its verdict.

    finished: it ended before the token limit; True if a file does not say. logprob: of its `tokens`
    tokens under the model that wrote it, see `Completion`.
    """

    key: str
    sample: int
    text: str
    finished: bool
    answer: str | None
    right: bool
    logprob: float | None = None
    tokens: int = 0


class ProblemCandidates(NamedTuple):
    """A problem with its completions, in the order of their numbers."""

    problem: Problem
    candidates: Sequence[Candidate]

    @property
    def outcome(self) -> tuple[int, int]:
        """Return the number of right completions, and of all."""
        return sum(candidate.right for candidate in self.candidates), len(self.candidates)


class CandidateRun(NamedTuple):
    """The completions of a run.

    failed: number of samples without a text or with a scorer error. places: of the problems in the
    dataset, by id; of a sample file in the file. None for those of `answered`.
    """

    run: str
    path: Path
    manifest: dict[str, Any]
    scorer: str
    answered: Sequence[ProblemCandidates]
    failed: int
    places: Mapping[str, int] | None = None

    def first(self, limit: int | None) -> CandidateRun:
        """Return the run with its first problems in the order of the dataset; None for all.

        A run folder is not in that order: samples are stored as they end.
        """
        if limit is None:
            return self
        places = self.places or {}
        answered = sorted(self.answered, key=lambda each: places.get(each.problem.id, 0))
        return self._replace(answered=answered[:limit])

    @property
    def total(self) -> int:
        """Return the number of completions."""
        return sum(len(problem.candidates) for problem in self.answered)


def read_candidates(
    spec: str, options: ReadOptions, warn: Warn, scorer: str | None = None
) -> list[CandidateRun]:
    """Return the runs of a run folder or file (FILE#RUN: one of several), ready for ranking.

    scorer: a name; None means the first scorer of the run's protocol, else the answer extractor.
    Raises InputError, DataError.
    """
    folder = Path(spec)
    manifest = manifest_of(folder) if folder.exists() else {}
    reader = scorer_for([manifest], scorer)
    return [_candidate_run(chosen, reader) for chosen in choose_runs([spec], options, warn)]


def one_run(spec: str, options: ReadOptions, warn: Warn, scorer: str | None = None) -> CandidateRun:
    """Return the run of an argument; raises InputError for several runs."""
    runs = read_candidates(spec, options, warn, scorer)
    if len(runs) > 1:
        names = ", ".join(repr(f"{spec}#{run.run}") for run in runs)
        raise InputError(f"{spec!r} contains {len(runs)} runs; give one: {names}")
    return runs[0]


def sample_key(sample: Sample, problem: Problem) -> str:
    """Return the key of a sample: the stored one, else the digest of its texts."""
    stored = sample.stored.key if sample.stored else ""
    return stored or text_key(problem.question, sample.text)


def text_key(question: str, text: str) -> str:
    """Return the key for a completion without one: a digest of question and completion."""
    facts = json.dumps([question, text]).encode()
    return f"text-{hashlib.sha256(facts).hexdigest()[:32]}"


# The identity in run.json of a model that ran locally: engine, name and fingerprint.
SAMPLER = re.compile(r"(?:transformers|vllm)/(.+) ([0-9a-f]{16})(?: |\Z)")


class LocalSampler(NamedTuple):
    """The local model that wrote a run: its name and the fingerprint of its files."""

    name: str
    fingerprint: str


def read_sampler(manifest: Mapping[str, Any]) -> LocalSampler | None:
    """Return the model of a run that was sampled locally, None for other runs."""
    match = SAMPLER.match(str(manifest.get("model") or ""))
    return LocalSampler(match[1], match[2]) if match else None


def _candidate_run(chosen: SourceRun, scorer: Scorer) -> CandidateRun:
    run, table = chosen.run, scored_table(chosen.run, [scorer])
    rows = list(zip(table.samples, table.problems(), table.verdicts, strict=True))
    problems = {problem.id: problem for _, problem, _ in rows}
    if chosen.manifest:  # of a run folder, whose samples are in the order of the dataset
        rows.sort(key=lambda row: row[0].row)
    candidates: defaultdict[str, list[Candidate]] = defaultdict(list)
    for sample, problem, (verdict,) in rows:
        if verdict.outcome is Outcome.ERROR:
            continue
        candidates[problem.id].append(Candidate(
            sample_key(sample, problem),
            sample.sample,
            sample.text,
            finished=sample.finish != Finish.LENGTH,
            answer=verdict.answer.value if verdict.answer else None,
            right=verdict.correct,
            logprob=sample.stored.logprob if sample.stored else None,
            tokens=sample.usage.completion_tokens or 0,
        ))  # fmt: skip
    if not candidates:
        raise InputError(f"{str(chosen.path)!r} has no readable completion of {run.name!r}")
    answered = [
        ProblemCandidates(problems[id], sorted(each, key=lambda candidate: candidate.sample))
        for id, each in candidates.items()
    ]
    failed = len(run.samples) - sum(len(each.candidates) for each in answered)
    places = {id: place for place, id in enumerate(problems)}
    return CandidateRun(
        run.name, chosen.path, chosen.manifest, scorer.name, answered, failed, places
    )
