"""Read completions with their problems, answers and keys from a run folder or sample file."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Finish
from gradeschool.datasets.load import Dataset, load_dataset
from gradeschool.errors import InputError
from gradeschool.formats.own_run import COMPLETIONS_FILE, manifest_of, stored_completions
from gradeschool.problem import Problem
from gradeschool.scorer import Scorer
from gradeschool.scoring.samples import Run, Warn
from gradeschool.scoring.sources import check_sources, choose_runs, scorer_for
from gradeschool.scoring.table import ScorerSet
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
    dataset, by id; None for the order of the file.
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


class _Raw(NamedTuple):
    """A completion before scoring."""

    key: str
    problem: Problem
    sample: int
    text: str
    finished: bool
    logprob: float | None = None
    tokens: int = 0


def candidates_of(
    spec: str, dataset: str | None, warn: Warn, scorer: str | None = None
) -> list[CandidateRun]:
    """Return the runs of a run folder or file (FILE#RUN: one of several), ready for ranking.

    dataset: a name or path; None means the run folder's own, else GSM8K's test split. scorer: a
    name; None means the first scorer of the run's protocol, else the answer extractor. Raises
    InputError, DataError.
    """
    folder = Path(spec)
    manifest = manifest_of(folder) if folder.exists() else {}
    reader = scorer_for([manifest], scorer)
    check_sources([spec], dataset)
    if _is_own(folder, manifest):
        loaded = load_dataset(dataset or manifest["dataset"]["name"])
        if loaded.sha256 == manifest["dataset"].get("sha256"):
            name, raw, failed = _of_own_run(folder, loaded)
            places = {problem.id: place for place, problem in enumerate(loaded.problems)}
            return [_candidate_run(name, folder, manifest, reader, raw, failed, places)]
    runs = []
    for chosen in choose_runs([spec], dataset, warn):
        raw = _of_recording(chosen.run, _keys(folder) if _is_own(folder, manifest) else {})
        failed = len(chosen.run.samples) - len(raw)
        name, path, settings = chosen.run.name, chosen.path, chosen.manifest
        runs.append(_candidate_run(name, path, settings, reader, raw, failed))
    return runs


def one_run(spec: str, dataset: str | None, warn: Warn, scorer: str | None = None) -> CandidateRun:
    """Return the run of an argument; raises InputError for several runs."""
    runs = candidates_of(spec, dataset, warn, scorer)
    if len(runs) > 1:
        names = ", ".join(repr(f"{spec}#{run.run}") for run in runs)
        raise InputError(f"{spec!r} contains {len(runs)} runs; give one: {names}")
    return runs[0]


def text_key(question: str, text: str) -> str:
    """Return the key for a completion without one: a digest of question and completion."""
    facts = json.dumps([question, text]).encode()
    return f"text-{hashlib.sha256(facts).hexdigest()[:32]}"


# The identity in run.json of a model that ran locally: engine, name and fingerprint.
SAMPLER = re.compile(r"(?:transformers|vllm)/(.+) ([0-9a-f]{16})(?: |\Z)")
# The protocol whose prompt is the text before a solution, for verifiers and language models.
PLAIN_PROTOCOL = "openai/2021"


class LocalSampler(NamedTuple):
    """The local model that wrote a run: its name and the fingerprint of its files."""

    name: str
    fingerprint: str


def sampler_of(manifest: Mapping[str, Any]) -> LocalSampler | None:
    """Return the model of a run that was sampled locally, None for other runs."""
    match = SAMPLER.match(str(manifest.get("model") or ""))
    return LocalSampler(match[1], match[2]) if match else None


def _is_own(folder: Path, manifest: dict[str, Any]) -> bool:
    has_name = isinstance(manifest.get("dataset"), dict) and "name" in manifest["dataset"]
    return has_name and (folder / COMPLETIONS_FILE).is_file()


def _of_own_run(folder: Path, dataset: Dataset) -> tuple[str, list[_Raw], int]:
    """Return the run's name, its completions (one per key) and the number of failed samples."""
    problems = {problem.id: problem for problem in dataset.problems}
    raw: list[_Raw] = []
    failed = 0
    name = ""
    for completion in stored_completions(folder).values():
        if completion.error:
            failed += 1
            continue
        if completion.problem_id not in problems:
            raise InputError(
                f"{str(folder)!r} contains a completion of problem {completion.problem_id!r}, "
                f"which is not in {dataset.name!r}; give the run's own dataset with -d"
            )
        name = name or completion.run
        finished = completion.finish is not Finish.LENGTH
        raw.append(
            _Raw(
                completion.key,
                problems[completion.problem_id],
                completion.sample,
                completion.text,
                finished,
                completion.logprob,
                completion.usage.completion_tokens or 0,
            )
        )
    return name or folder.name, raw, failed


def _keys(folder: Path) -> dict[tuple[str, int], str]:
    return {
        (completion.problem_id, completion.sample): completion.key
        for completion in stored_completions(folder).values()
        if not completion.error
    }


def _of_recording(run: Run, keys: dict[tuple[str, int], str]) -> list[_Raw]:
    completions = []
    for sample in run.samples:
        if sample.problem is None or sample.error:
            continue
        place = (sample.problem.id, sample.sample)
        key = keys.get(place) or text_key(sample.problem.question, sample.text)
        finished = sample.finish != Finish.LENGTH
        completions.append(_Raw(key, sample.problem, sample.sample, sample.text, finished))
    return completions


def _candidate_run(
    name: str,
    path: Path,
    manifest: dict[str, Any],
    scorer: Scorer,
    raw: list[_Raw],
    failed: int,
    places: Mapping[str, int] | None = None,
) -> CandidateRun:
    by_problem: dict[str, list[_Raw]] = {}
    for completion in raw:
        by_problem.setdefault(completion.problem.id, []).append(completion)
    answered, scorers = [], ScorerSet([scorer])
    for rows in by_problem.values():
        read = _read(scorers, rows)
        failed += len(rows) - len(read)
        if read:
            answered.append(ProblemCandidates(rows[0].problem, read))
    if not answered:
        raise InputError(f"{str(path)!r} has no readable completion of {name!r}")
    return CandidateRun(name, path, manifest, scorer.name, answered, failed, places)


def _read(scorers: ScorerSet, rows: list[_Raw]) -> list[Candidate]:
    """Score the completions of a problem, equal texts once; drop those with a scorer error."""
    pairs = list({row.text: (row.text, row.problem) for row in rows}.values())
    verdicts = {
        text: verdict
        for (text, _), (verdict,) in zip(pairs, scorers.verdicts_of(pairs), strict=True)
    }
    candidates = []
    for completion in sorted(rows, key=lambda row: row.sample):
        verdict = verdicts[completion.text]
        if verdict.outcome is Outcome.ERROR:
            continue
        candidates.append(
            Candidate(
                completion.key,
                completion.sample,
                completion.text,
                completion.finished,
                verdict.answer.value if verdict.answer else None,
                verdict.correct,
                completion.logprob,
                completion.tokens,
            )
        )
    return candidates
