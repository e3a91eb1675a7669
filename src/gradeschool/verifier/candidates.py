"""Completions with their problems, answers and keys, from a run folder or any recorded file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Finish
from gradeschool.datasets.load import Dataset, load_dataset
from gradeschool.errors import InputError
from gradeschool.formats.own_run import COMPLETIONS_FILE, manifest_of, read_completions
from gradeschool.problem import Problem
from gradeschool.protocols.registry import all_scorers, get_usable_scorer
from gradeschool.scorer import Scorer, ScorerFailure
from gradeschool.scoring.collect import Run
from gradeschool.scoring.select import choose_runs, headline_scorer
from gradeschool.scoring.sources import check_sources

Warn = Callable[[str], None]


class Candidate(NamedTuple):
    """One completion: its key, its number among the problem's, and what the scorer makes of it.

    finished: it ended by itself; where a file does not tell, it is taken to have.
    """

    key: str
    sample: int
    text: str
    finished: bool
    answer: str | None
    right: bool


class Answered(NamedTuple):
    """A problem with its completions, in the order of their numbers."""

    problem: Problem
    candidates: Sequence[Candidate]


class Held(NamedTuple):
    """The completions of a run. failed: samples without a text, or that the scorer fails on."""

    run: str
    path: Path
    manifest: dict[str, Any]
    scorer: str
    answered: Sequence[Answered]
    failed: int

    @property
    def total(self) -> int:
        """Return the number of completions."""
        return sum(len(one.candidates) for one in self.answered)


class _Raw(NamedTuple):
    """A completion before it is read."""

    key: str
    problem: Problem
    sample: int
    text: str
    finished: bool


def candidates_of(
    spec: str, dataset: str | None, warn: Warn, scorer: str | None = None
) -> list[Held]:
    """Return the runs of a run folder or file (FILE#RUN: one of several), ready to be ranked.

    dataset: a name or path; None takes the run folder's own, else GSM8K's test split. scorer: who
    reads the answers; None takes the first scorer of the run's protocol, else the careful reader.
    Raises InputError, DataError.
    """
    folder = Path(spec)
    manifest = manifest_of(folder) if folder.exists() else {}
    reader = get_usable_scorer(scorer or headline_scorer([manifest], list(all_scorers())))
    check_sources([spec], dataset)
    if _is_own(folder, manifest):
        loaded = load_dataset(dataset or manifest["dataset"]["name"])
        if loaded.sha256 == manifest["dataset"].get("sha256"):
            name, raw, failed = _of_own_run(folder, loaded)
            return [_held(name, folder, manifest, reader, raw, failed)]
    found = []
    for chosen in choose_runs([spec], dataset, warn):
        raw = _of_recording(chosen.run, _keys(folder) if _is_own(folder, manifest) else {})
        failed = len(chosen.run.samples) - len(raw)
        found.append(_held(chosen.run.name, chosen.path, chosen.manifest, reader, raw, failed))
    return found


def text_key(question: str, text: str) -> str:
    """Return the key of a completion that has none: a digest of what was asked and answered."""
    facts = json.dumps([question, text]).encode()
    return f"text-{hashlib.sha256(facts).hexdigest()[:32]}"


def _is_own(folder: Path, manifest: dict[str, Any]) -> bool:
    has_name = isinstance(manifest.get("dataset"), dict) and "name" in manifest["dataset"]
    return has_name and (folder / COMPLETIONS_FILE).is_file()


def _of_own_run(folder: Path, dataset: Dataset) -> tuple[str, list[_Raw], int]:
    """Return the run's name, its completions and how many samples failed; one for each key."""
    problems = {problem.id: problem for problem in dataset.problems}
    raw: dict[str, _Raw] = {}
    failed: set[str] = set()
    name = ""
    for _, one in read_completions(folder / COMPLETIONS_FILE):
        if one is None:
            continue
        if one.error:
            failed.add(one.key)
            continue
        if one.problem_id not in problems:
            raise InputError(
                f"{str(folder)!r} holds a completion of problem {one.problem_id!r}, which is not "
                f"in {dataset.name!r}; give the run's own dataset with -d"
            )
        name = name or one.run
        finished = one.finish is not Finish.LENGTH
        raw[one.key] = _Raw(one.key, problems[one.problem_id], one.sample, one.text, finished)
    return name or folder.name, list(raw.values()), len(failed - raw.keys())


def _keys(folder: Path) -> dict[tuple[str, int], str]:
    rows = read_completions(folder / COMPLETIONS_FILE)
    return {(one.problem_id, one.sample): one.key for _, one in rows if one and not one.error}


def _of_recording(run: Run, keys: dict[tuple[str, int], str]) -> list[_Raw]:
    found = []
    for sample in run.samples:
        if sample.problem is None or sample.error:
            continue
        place = (sample.problem.id, sample.sample)
        key = keys.get(place) or text_key(sample.problem.question, sample.text)
        finished = sample.finish != Finish.LENGTH
        found.append(_Raw(key, sample.problem, sample.sample, sample.text, finished))
    return found


def _held(
    name: str, path: Path, manifest: dict[str, Any], scorer: Scorer, raw: list[_Raw], failed: int
) -> Held:
    by_problem: dict[str, list[_Raw]] = {}
    for one in raw:
        by_problem.setdefault(one.problem.id, []).append(one)
    answered = []
    for rows in by_problem.values():
        read = _read(scorer, rows)
        failed += len(rows) - len(read)
        if read:
            answered.append(Answered(rows[0].problem, read))
    if not answered:
        raise InputError(f"{str(path)!r} holds no completion of {name!r} that can be read")
    return Held(name, path, manifest, scorer.name, answered, failed)


def _read(scorer: Scorer, rows: list[_Raw]) -> list[Candidate]:
    """Read the completions of a problem, equal texts once; those that the scorer fails on go."""
    known: dict[str, tuple[str | None, bool]] = {}
    found = []
    try:
        reference = scorer.reference(rows[0].problem)
    except ScorerFailure:
        return []
    for one in sorted(rows, key=lambda row: row.sample):
        if one.text not in known:
            try:
                answer = scorer.read(one.text, reference)
                right = answer is not None and scorer.same(answer.value, reference)
            except ScorerFailure:
                continue
            known[one.text] = (None if answer is None else answer.value, right)
        found.append(Candidate(one.key, one.sample, one.text, one.finished, *known[one.text]))
    return found
