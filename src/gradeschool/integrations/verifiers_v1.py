"""The taskset of `gsm8k-olmes` for version 1 of verifiers (0.3.0 and later).

In version 1, decoding belongs to the run, not to the taskset: see `olmes.toml` in the environment's
folder. Raises ImportError if verifiers is older; 0.1.14 has a different, unfinished version 1.
"""

from collections.abc import Iterator

from verifiers.v1 import Runtime, Task, TaskData, Taskset, TasksetConfig, Trace
from verifiers.v1 import reward as rewarded

from gradeschool.integrations.verifiers import exact_match, rows


class Gsm8kOlmesData(TaskData):
    """A problem: the gold, and the messages; the last begins the answer."""

    answer: str


class Gsm8kOlmesConfig(TasksetConfig):
    """dataset: a name or file, as `gradeschool eval -d` takes it."""

    dataset: str = "gsm8k"


class Gsm8kOlmesTask(Task[Gsm8kOlmesData]):
    """A problem scored by OLMES's scorer."""

    @rewarded(weight=1.0)
    async def exact_match(self, trace: Trace) -> float:
        """Return 1.0 if the last number of the reply equals the gold."""
        return exact_match(trace.last_reply, self.data.answer)

    async def validate(self, runtime: Runtime) -> bool | None:
        """Return whether the gold scores against itself."""
        return exact_match(f"So the answer is {self.data.answer}.", self.data.answer) == 1.0


class Gsm8kOlmes(Taskset[Gsm8kOlmesTask, Gsm8kOlmesConfig]):
    """The problems under the prompt of olmes/gsm8k-tulu."""

    def load(self) -> Iterator[Gsm8kOlmesTask]:
        """Yield a task for each problem, in order."""
        for row in rows(self.config.dataset):
            data = Gsm8kOlmesData(prompt=row["prompt"], answer=row["answer"], **row["info"])
            yield Gsm8kOlmesTask(data, self.config.task)
