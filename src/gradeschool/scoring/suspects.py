"""Problems whose label may be wrong: accurate runs miss them with the same answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gradeschool.answers.extractor import extract_final_answer
from gradeschool.answers.failures import is_right
from gradeschool.answers.quantities import canonical_gold, exact_form, same_answer
from gradeschool.problem import Problem
from gradeschool.scoring.causes import STRONG
from gradeschool.scoring.samples import Run


class Suspect(NamedTuple):
    """A problem to which strong runs give the same answer, other than its gold.

    value: the answer of most of them, as the first of these runs writes it. agreeing: the runs that
    give it, the most accurate first; strongest: the first one's accuracy. right: how many give the
    gold, of how many runs. platinum: the change of GSM8K-Platinum to the problem.
    """

    problem: Problem
    value: str
    agreeing: tuple[str, ...]
    strongest: float
    right: int
    runs: int
    platinum: str

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        fields = self._asdict() | {"agreeing": list(self.agreeing), "problem": self.problem.id}
        return fields | {"gold": self.problem.gold, "question": self.problem.question}


class _Votes(NamedTuple):
    problem: Problem
    values: dict[str, str | None]  # by run


def suspects(
    runs: Sequence[Run], changes: Mapping[str, Problem | None], strong: float = STRONG
) -> list[Suspect]:
    """Return the suspects, the most certain first: many runs alike, few with the gold.

    strong: only runs of a higher accuracy, by the answer extractor, count. If a problem has several
    samples, that of the lowest number counts. A problem is a suspect if one wrong value has more
    runs than the gold, at least two runs, and at least a third of all.
    """
    votes, accuracy = _votes(runs)
    trusted = [run for run, share in accuracy.items() if share > strong]
    listed = []
    for problem, values in votes:
        read = {run: values[run] for run in trusted if run in values}
        suspect = _suspect(problem, read, accuracy, changes)
        if suspect is not None:
            listed.append(suspect)
    return sorted(
        listed, key=lambda suspect: (suspect.right - len(suspect.agreeing)) / suspect.runs
    )


def _votes(runs: Sequence[Run]) -> tuple[list[_Votes], dict[str, float]]:
    """Return each run's answer to each problem, and each run's accuracy.

    Files with problems of their own may use the same id for another problem.
    """
    votes: dict[tuple[str, str, str], _Votes] = {}
    right: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    for run in runs:
        for sample in sorted(run.samples, key=lambda sample: sample.sample):
            problem = sample.problem
            if problem is None or sample.error:
                continue
            key = (problem.id, problem.question, problem.gold)
            values = votes.setdefault(key, _Votes(problem, {})).values
            if run.name in values:
                continue
            reading = extract_final_answer(sample.text, problem.question)
            values[run.name] = None if reading is None else reading.value
            answered[run.name] += 1
            right[run.name] += is_right(reading, problem.gold)
    return list(votes.values()), {run: right[run] / n for run, n in answered.items()}


def _suspect(
    problem: Problem,
    read: Mapping[str, str | None],
    accuracy: Mapping[str, float],
    changes: Mapping[str, Problem | None],
) -> Suspect | None:
    gold = canonical_gold(problem.gold)
    saying: defaultdict[str, list[str]] = defaultdict(list)
    for run, value in read.items():
        if value is not None and not same_answer(value, gold):
            saying[exact_form(value)].append(run)
    if not saying:
        return None
    agreeing = max(saying.values(), key=len)
    value = str(read[agreeing[0]])
    right = sum(value is not None and same_answer(value, gold) for value in read.values())
    if len(agreeing) < 2 or len(agreeing) <= right or 3 * len(agreeing) < len(read):
        return None
    agreeing.sort(key=lambda run: -accuracy[run])
    relabelled = _platinum(problem, value, changes)
    return Suspect(
        problem, value, tuple(agreeing), accuracy[agreeing[0]], right, len(read), relabelled
    )


def _platinum(problem: Problem, value: str, changes: Mapping[str, Problem | None]) -> str:
    if problem.id not in changes:
        return "keeps it"
    other = changes[problem.id]
    if other is None:
        return "removed it"
    agrees = "as these runs" if same_answer(value, other.gold) else "otherwise"
    return f"revised it to {other.gold}, {agrees}"
