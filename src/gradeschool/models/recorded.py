"""`recorded/FILE`: a model that returns the completions of a file, for demonstrations and tests."""

from collections import defaultdict
from contextlib import suppress
from pathlib import Path

from gradeschool.errors import InputError, ModelError
from gradeschool.formats.read import read_samples
from gradeschool.formats.values import Sample
from gradeschool.models.base import Model, Reply, Request
from gradeschool.problem import Problem
from gradeschool.scoring.matching import Matcher

SAMPLE = "sample"
SAMPLE_FILE = Path(__file__).parents[1] / "datasets" / "sample" / "completions.jsonl"


class RecordedModel(Model):
    """Answers with the completions of one run in a file; ignores `prompt` and `decoding`.

    spec: a path, or "sample" for the shipped sample; "#RUN" after it selects one of several runs.
    Raises InputError if the file or the run cannot be used.
    """

    def __init__(self, spec: str) -> None:
        path, _, run = spec.partition("#")
        file = SAMPLE_FILE if path == SAMPLE else Path(path)
        usable = [sample for sample in read_samples(file) if not sample.fault]
        runs = list(dict.fromkeys(recorded.run for recorded in usable))
        if not runs:
            raise InputError(f"no row of {path!r} can be used; `gradeschool score` says why")
        if run not in runs and (run or len(runs) > 1):
            names = ", ".join(f"recorded/{path}#{name}" for name in runs)
            raise InputError(f"recorded/{spec} is not one run; choose: {names}")
        run = run or runs[0]
        self.name = f"recorded-{run}"
        self.identity = f"recorded/{path}#{run}"
        self._recorded = [recorded for recorded in usable if recorded.run == run]
        self._answers: dict[str, dict[int, Sample]] = defaultdict(dict)

    def match(self, problems: tuple[Problem, ...], dataset: str) -> None:
        """Find the problems of the completions among those of a dataset."""
        matcher = Matcher(problems, dataset)
        for recorded in self._recorded:
            with suppress(InputError):  # a problem outside this run
                samples = self._answers[matcher.find(recorded.reference).id]
                number = len(samples) if recorded.sample < 0 else recorded.sample
                samples.setdefault(number, recorded)

    async def complete(self, request: Request) -> Reply:
        """Return the recorded completion of a sample; raises ModelError for none."""
        recorded = self._answers.get(request.problem.id, {}).get(request.sample)
        if recorded is None:
            which = f"problem {request.problem.id!r}, sample {request.sample}"
            raise ModelError("not recorded", f"no completion of {which}, is recorded")
        if recorded.error:
            raise ModelError("recorded error", recorded.error)
        return Reply(recorded.text, recorded.finish, model=recorded.model)
