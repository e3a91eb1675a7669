"""The completions of a run by problem, with their labels: what is ranked and learnt from."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Finish
from gradeschool.errors import InputError
from gradeschool.formats.values import ReadOptions, Sample
from gradeschool.printable import percent
from gradeschool.problem import Problem
from gradeschool.scorer import Outcome
from gradeschool.scoring.sources import Run, Warn, choose_run, choose_runs
from gradeschool.scoring.table import ScoredTable, scorer_for


class Candidate(NamedTuple):
    """One completion: its key, its number among the problem's completions, and its verdict.

    finished: it ended before the token limit; True if a file does not say.
    """

    key: str
    sample: int
    text: str
    finished: bool
    answer: str | None
    right: bool


class ProblemCandidates(NamedTuple):
    """A problem with its completions, in the order of their numbers."""

    problem: Problem
    candidates: list[Candidate]

    @property
    def outcome(self) -> tuple[int, int]:
        """Return the number of right completions, and of all."""
        return sum(candidate.right for candidate in self.candidates), len(self.candidates)


class CandidateRun(NamedTuple):
    """The completions of a run, by problem, in the order of the dataset or of the sample file.

    failed: number of samples without a text or with a scorer error.
    """

    run: str
    path: Path
    manifest: Mapping[str, Any]
    scorer: str
    answered: Sequence[ProblemCandidates]
    failed: int

    @property
    def total(self) -> int:
        """Return the number of completions."""
        return sum(len(problem.candidates) for problem in self.answered)


def read_candidates(spec: str, options: ReadOptions, warn: Warn) -> list[CandidateRun]:
    """Return the runs of a run folder or file (FILE#RUN: one of several), ready for ranking.

    They are judged by the first scorer of their protocol, else by the answer extractor. Raises
    InputError, DataError.
    """
    return _label(choose_runs([spec], options, warn), None)


def one_run(spec: str, options: ReadOptions, warn: Warn, scorer: str | None = None) -> CandidateRun:
    """Return the run of an argument, judged by the named scorer; InputError for several runs."""
    return _label([choose_run(spec, options, warn)], scorer)[0]


def _label(chosen: Sequence[Run], scorer: str | None) -> list[CandidateRun]:
    reader, runs = scorer_for([each.manifest for each in chosen], scorer), []
    for run in chosen:
        table = ScoredTable(run, [reader])
        problems: dict[str, ProblemCandidates] = {}
        for sample, problem, (verdict,) in zip(
            table.samples, table.problems, table.verdicts, strict=True
        ):
            if verdict.outcome is not Outcome.ERROR:
                problems.setdefault(problem.id, ProblemCandidates(problem, [])).candidates.append(
                    Candidate(
                        sample_key(sample, problem),
                        sample.sample,
                        sample.text,
                        finished=sample.finish != Finish.LENGTH,
                        answer=verdict.answer.value if verdict.answer else None,
                        right=verdict.correct,
                    )
                )
        if not problems:
            raise InputError(f"{str(run.path)!r} has no readable completion of {run.name!r}")
        for each in problems.values():
            each.candidates.sort(key=lambda candidate: candidate.sample)
        failed = len(run.samples) - sum(len(each.candidates) for each in problems.values())
        answered = list(problems.values())
        runs.append(CandidateRun(run.name, run.path, run.manifest, reader.name, answered, failed))
    return runs


def sample_key(sample: Sample, problem: Problem) -> str:
    """Return the key of a sample: the stored one, else the digest of its texts."""
    stored = sample.stored.key if sample.stored else ""
    return stored or text_key(problem.question, sample.text)


def text_key(question: str, text: str) -> str:
    """Return the key for a completion without one: a digest of question and completion."""
    facts = json.dumps([question, text]).encode()
    return f"text-{hashlib.sha256(facts).hexdigest()[:32]}"


def count_labels(answered: Sequence[ProblemCandidates]) -> dict[str, float]:
    """Count the labels of completions.

    solved: problems with a right completion. mixed: problems with right and wrong ones. different:
    distinct texts, by problem. right_share: of the completions.
    """
    outcomes = [each.outcome for each in answered]
    right, total = sum(right for right, _ in outcomes), sum(size for _, size in outcomes)
    return {
        "problems": len(answered),
        "completions": total,
        "right": right,
        "solved": sum(right > 0 for right, _ in outcomes),
        "mixed": sum(0 < right < size for right, size in outcomes),
        "different": sum(len({one.text for one in each.candidates}) for each in answered),
        "right_share": right / max(1, total),
    }


def describe_labels(labels: dict[str, float]) -> str:
    """Return the counts of `count_labels` in one line."""
    share = percent(labels["right_share"], 1)
    return (
        "{completions:,} completions of {problems:,} problems, {different:,} of them different, "
        "{share} right; {solved:,} problems solved at least once, {mixed:,} mixed"
    ).format(**labels, share=share)
