"""GSM8K as a benchmark class: tasks by id, and evaluation of one output at a time."""

from dataclasses import dataclass
from pathlib import Path

from gradeschool.answers.numbers import normalize, parse_decimal
from gradeschool.answers.parse import THOUGHT_END, answer_part, hashed_answer
from gradeschool.datasets.load import load_dataset
from gradeschool.errors import UnknownNameError
from gradeschool.problem import Problem
from gradeschool.scorer import clip


@dataclass(frozen=True, slots=True)
class Task:
    """One task; answer: the reference solution, which ends in "#### N"."""

    task_id: str
    benchmark: str
    question: str
    answer: str

    @property
    def data(self) -> dict[str, str]:
        """Return the question and the answer, as a row of the dataset."""
        return {"question": self.question, "answer": self.answer}


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """A score of 1.0 or 0.0, and a sentence with the extracted answer."""

    score: float
    score_explanation: str


class GSM8KBenchmark:
    """The test split of GSM8K (or another dataset or folder), task by task.

    data: a name or path as for `-d`, or a folder with `test.jsonl`. Ids are "0000", "0001", ... in
    the order of the data. Raises DataError if the data is not available.
    """

    name = "GSM8K"

    def __init__(self, data: str | Path = "gsm8k") -> None:
        if Path(data).is_dir():
            data = Path(data) / "test.jsonl"
        problems = load_dataset(str(data)).problems
        self._problems = {f"{index:04d}": problem for index, problem in enumerate(problems)}

    def get_task_ids(self) -> list[str]:
        """Return all ids, in order."""
        return list(self._problems)

    def get_task(self, task_id: str) -> Task:
        """Return one task; raises UnknownNameError for an unknown id."""
        problem = self._problem(task_id)
        return Task(task_id, self.name, problem.question, problem.solution)

    def evaluate(self, task_id: str, output: str) -> EvaluationResult:
        """Return 1.0 if the last "#### N" of an output is the gold, else 0.0.

        The comparison is exact: commas, "$", a trailing period and zero decimals do not matter, the
        sign does. Text before "</think>" counts only if no text follows it. Without "#### N", the
        whole output is the answer. Never raises because of the output.
        """
        gold, output = normalize(self._problem(task_id).gold), str(output)
        after = output.rpartition(THOUGHT_END)[2]
        reply = after if after.strip() else output
        # Before a run-on question, else before the end.
        marked = hashed_answer(answer_part(reply)) or hashed_answer(reply)
        if marked is not None:
            read, where = marked.value, "after '####'"
        else:
            read = normalize(output.replace("$", ""))
            where = "as the whole output (no '#### N' in it)"
        value = parse_decimal(read)
        right = read == gold or (value is not None and value == parse_decimal(gold))
        verdict = "Correct" if right else f"Incorrect, expected {gold}"
        return EvaluationResult(float(right), f"{verdict}: read {clip(read)!r} {where}")

    def _problem(self, task_id: str) -> Problem:
        try:
            return self._problems[task_id]
        except KeyError:
            ids = f"0000 to {len(self._problems) - 1:04d}"
            raise UnknownNameError("task", str(task_id), [ids]) from None
