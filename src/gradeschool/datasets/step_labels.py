"""ProcessBench: solutions in steps, with the first wrong step labelled by people.

Zheng et al. 2024, arXiv 2412.06559; the part on GSM8K.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gradeschool.errors import DataError
from gradeschool.problem import MARKER, Problem

NO_ERROR = -1  # the label of a solution without a wrong step


class LabelledSteps(NamedTuple):
    """A solution in steps.

    label: the number of the first wrong step, counted from 0; NO_ERROR for none. generator: the
    model that wrote it. errors: all wrong steps, None where only the first one is labelled.
    """

    id: str
    generator: str
    problem: str
    steps: tuple[str, ...]
    label: int
    errors: frozenset[int] | None = None


def labelled_steps(fields: Mapping[str, Any]) -> LabelledSteps:
    """Return the labelled steps of a row of ProcessBench; raises DataError for any other row."""
    try:
        steps = tuple(map(str, fields["steps"]))
        label = int(fields["label"])
        row = LabelledSteps(
            str(fields["id"]), str(fields["generator"]), str(fields["problem"]), steps, label
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{fields!r:.80} is not a row of ProcessBench ({error!r})") from error
    if not steps or not NO_ERROR <= label < len(steps):
        raise DataError(f"row {row.id!r} has {len(steps)} steps and the label {label}")
    return row


def load_step_labels() -> list[LabelledSteps]:
    """Return the rows of ProcessBench's part on GSM8K; raises DataError if it is not available."""
    from gradeschool.datasets.files import locate
    from gradeschool.datasets.sources import SOURCES
    from gradeschool.formats.tables import read_whole

    source = SOURCES["processbench"]
    rows = read_whole(locate(source).path)
    return [labelled_steps(row) for row in rows or ()]


def tagged(steps: Sequence[str]) -> str:
    """Return steps as critics get them: numbered from 0, each in its own tag.

    ProcessBench, code/run_eval.py, prepare_input_boxed.
    """
    paragraphs = (
        f"<paragraph_{number}>\n{step}\n</paragraph_{number}>" for number, step in enumerate(steps)
    )
    return "\n\n".join(paragraphs).strip()


def critic_problem(fields: Mapping[str, Any]) -> Problem:
    """Return a row as a problem: its question contains problem and steps, its gold is the label."""
    row = labelled_steps(fields)
    question = f"[Math Problem]\n\n{row.problem}\n\n[Solution]\n\n{tagged(row.steps)}"
    meta = {"generator": row.generator}
    return Problem(row.id, question, str(row.label), f"{MARKER} {row.label}", meta)
