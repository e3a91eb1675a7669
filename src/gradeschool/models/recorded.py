"""`recorded/FILE`: a model that returns the completions of a file, for demonstrations and tests."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

from gradeschool.errors import InputError, ModelError
from gradeschool.formats.read import read_samples
from gradeschool.formats.samples import Sample
from gradeschool.models.base import Reply, Request
from gradeschool.problem import Problem
from gradeschool.scoring.matching import Matcher

SAMPLE = "sample"
SAMPLE_FILE = Path(__file__).parents[1] / "datasets" / "sample" / "completions.jsonl"


class RecordedModel:
    """Answers with the completions of one run in a file; ignores `prompt` and `decoding`.

    spec: a path, or "sample" for the shipped sample; "#RUN" after it selects one of several runs.
    problems: the problems of the run. Raises InputError if the file or the run cannot be used.
    """

    def __init__(self, spec: str, problems: tuple[Problem, ...], dataset: str) -> None:
        path_text, _, run = spec.partition("#")
        path = SAMPLE_FILE if path_text == SAMPLE else Path(path_text)
        recordings = [sample for sample in read_samples(path) if not sample.fault]
        self.run = _choose(Counter(recorded.run for recorded in recordings), run, path_text)
        self.name = f"recorded-{self.run}"
        self.identity = f"recorded/{path_text}#{self.run}"
        self._answers = self._by_problem(recordings, Matcher(problems, dataset))

    def _by_problem(
        self, recordings: list[Sample], matcher: Matcher
    ) -> dict[str, dict[int, Sample]]:
        answers: dict[str, dict[int, Sample]] = defaultdict(dict)
        for recorded in recordings:
            if recorded.run != self.run:
                continue
            try:
                samples = answers[matcher.find(recorded.reference).id]
            except InputError:
                continue  # a problem outside this run
            number = len(samples) if recorded.sample < 0 else recorded.sample
            samples.setdefault(number, recorded)
        return answers

    async def __aenter__(self) -> RecordedModel:
        """Do nothing: there is nothing to open."""
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Do nothing: there is nothing to close."""

    async def complete(self, request: Request) -> list[Reply]:
        """Return the recorded completion of the first sample; raises ModelError for none."""
        recorded = self._answers.get(request.problem.id, {}).get(request.sample)
        if recorded is None:
            raise ModelError(
                "not recorded",
                f"no completion of problem {request.problem.id!r}, sample {request.sample}, "
                f"is recorded for {self.run!r}",
            )
        if recorded.error:
            raise ModelError("recorded error", recorded.error)
        return [Reply(recorded.text, recorded.finish, model=recorded.model)]


def _choose(runs: Counter[str], run: str, path: str) -> str:
    if run in runs:
        return run
    if not run and len(runs) == 1:
        return next(iter(runs))
    if not runs:
        raise InputError(f"no row of {path!r} can be used; `gradeschool score` says what is wrong")
    names = ", ".join(f"recorded/{path}#{name}" for name in runs)
    raise InputError(f"recorded/{path}{'#' + run if run else ''} is not one run; choose: {names}")
