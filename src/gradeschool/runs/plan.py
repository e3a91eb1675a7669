"""What a run asks for: every sample of every problem, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradeschool.completion import Decoding
from gradeschool.datasets.load import Dataset, load_dataset
from gradeschool.errors import InputError
from gradeschool.models.base import Request
from gradeschool.problem import Problem
from gradeschool.protocol import Protocol
from gradeschool.runs.keys import request_key

Group = Sequence[Request]


@dataclass(frozen=True, slots=True)
class Plan:
    """A run as it was ordered: protocol, problems, decoding, samples a problem."""

    protocol: Protocol
    dataset: Dataset
    problems: tuple[Problem, ...]
    shots: Dataset | None
    decoding: Decoding
    samples: int

    def requests(self, identity: str) -> list[Request]:
        """Return the requests to the model of that identity, problem by problem."""
        shots = self.shots.problems if self.shots else ()
        prompts = self.protocol.render(self.problems, shots)
        return [
            Request(
                key=request_key(identity, prompt, self.decoding, sample),
                problem=problem,
                prompt=prompt,
                decoding=self.decoding,
                sample=sample,
            )
            for problem, prompt in zip(self.problems, prompts, strict=True)
            for sample in range(self.samples)
        ]


def check_samples(decoding: Decoding, samples: int) -> None:
    """Raise InputError where greedy decoding is asked for several samples, all the same."""
    if samples > 1 and decoding.temperature == 0:
        raise InputError(
            f"{samples} samples at temperature 0 would all be the same; give --temperature 0.7"
        )


def make_plan(
    protocol: Protocol, dataset: Dataset, decoding: Decoding, limit: int | None, samples: int
) -> Plan:
    """Return the plan of a run over the first `limit` problems (None: all).

    Raises InputError where the protocol's few-shot examples are not to be had, or where greedy
    decoding is asked for several samples, which would all be the same.
    """
    check_samples(decoding, samples)
    shots = load_dataset(protocol.shots) if protocol.shots else None
    problems = dataset.problems[:limit]
    return Plan(protocol, dataset, problems, shots, decoding, samples)


def missing(requests: Sequence[Request], done: set[str]) -> list[Request]:
    """Return the requests that are not answered yet."""
    return [request for request in requests if request.key not in done]


def groups(requests: Sequence[Request], most: int) -> Iterator[Group]:
    """Yield the requests, in order, in groups that one request with `n` can ask for."""
    group: list[Request] = []
    for request in requests:
        joins = (
            group
            and len(group) < most
            and request.decoding.seed is None
            and request.problem.id == group[0].problem.id
            and request.prompt == group[0].prompt
        )
        if group and not joins:
            yield group
            group = []
        group.append(request)
    if group:
        yield group
