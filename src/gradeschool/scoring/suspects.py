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


def suspects(
    runs: Sequence[Run], changes: Mapping[str, Problem | None], strong: float = STRONG
) -> list[Suspect]:
    """Return the suspects, the most certain first: many runs alike, few with the gold.

    changes: those of GSM8K-Platinum. strong: only runs of a higher accuracy, by the answer
    extractor, count. If a problem has several samples, that of the lowest number counts. A problem
    is a suspect if one wrong value has more runs than the gold, at least two runs, and at least a
    third of all.
    """
    # By problem and run. Files with problems of their own may use an id for another problem.
    problems: dict[tuple[str, str, str], Problem] = {}
    values: defaultdict[tuple[str, str, str], dict[str, str | None]] = defaultdict(dict)
    right: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    for run in runs:
        for sample in sorted(run.samples, key=lambda sample: sample.sample):
            problem = sample.problem
            if problem is None or sample.error:
                continue
            key = (problem.id, problem.question, problem.gold)
            problems.setdefault(key, problem)
            if run.name not in values[key]:
                reading = extract_final_answer(sample.text, problem.question)
                values[key][run.name] = None if reading is None else reading.value
                answered[run.name] += 1
                right[run.name] += is_right(reading, problem.gold)
    accuracy = {run: right[run] / n for run, n in answered.items()}
    listed = []
    for key, problem in problems.items():
        gold = canonical_gold(problem.gold)
        read = {run: value for run, value in values[key].items() if accuracy[run] > strong}
        saying: defaultdict[str, list[str]] = defaultdict(list)
        with_gold = 0
        for run_name, value in read.items():
            if value is not None and same_answer(value, gold):
                with_gold += 1
            elif value is not None:
                saying[exact_form(value)].append(run_name)
        agreeing = max(saying.values(), key=len, default=[])
        if len(agreeing) < 2 or len(agreeing) <= with_gold or 3 * len(agreeing) < len(read):
            continue
        value = str(read[agreeing[0]])
        agreeing.sort(key=lambda run: -accuracy[run])
        platinum = "keeps it"
        if problem.id in changes:
            other = changes[problem.id]
            agrees = "as these runs" if other and same_answer(value, other.gold) else "otherwise"
            platinum = f"revised it to {other.gold}, {agrees}" if other else "removed it"
        listed.append(Suspect(problem, value, tuple(agreeing), accuracy[agreeing[0]], with_gold,
                              len(read), platinum))  # fmt: skip
    return sorted(listed, key=lambda each: (each.right - len(each.agreeing)) / each.runs)
