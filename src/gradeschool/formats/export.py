"""The data that formats of other tools need from a run, and the files of an export."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, NamedTuple

from gradeschool.atomic import replacing, require_free, writing_output
from gradeschool.completion import NO_USAGE, Completion, Prompt
from gradeschool.formats.own_run import planned_samples
from gradeschool.formats.settings import mapping
from gradeschool.problem import Problem
from gradeschool.scorer import Scorer
from gradeschool.verdict import Verdict

SURROGATE = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"


class ExportedScore(NamedTuple):
    """The score of a run under one scorer, in both published forms.

    accuracy, interval, error, judged: over completions, with the 95 % interval and the standard
    error, both clustered by problem. mean, stderr: over problems, as lm-eval and inspect_ai report
    them. For a single problem, both errors are None. problems:
    (correct, judged) by problem id; scorer failures are not counted as judged.
    """

    scorer: Scorer
    accuracy: float
    interval: tuple[float, float]
    error: float | None
    judged: int
    mean: float
    stderr: float | None
    problems: Mapping[str, tuple[int, int]]


class ExportedSample(NamedTuple):
    """One sample with its verdicts in the order of the scorers; a failed sample has no verdicts.

    place: the row of its problem in the dataset, from 0. stored: the row of the run folder, None
    for other files. prompt: the prompt that was sent, None if unknown. cause: why the headline
    scorer does not call it correct.
    """

    problem: Problem
    place: int
    sample: int
    text: str
    error: str
    finish: str
    stored: Completion | None
    prompt: Prompt | None
    verdicts: tuple[Verdict, ...]
    cause: str

    def tokens(self) -> dict[str, int]:
        """Return the tokens that were sent and written, and their sum; {} if one is unknown."""
        usage = self.stored.usage if self.stored else NO_USAGE
        sent, written = usage.prompt_tokens, usage.completion_tokens
        if sent is None or written is None:
            return {}
        return {"input_tokens": sent, "output_tokens": written, "total_tokens": sent + written}


@dataclass(frozen=True, slots=True)
class ExportedRun:
    """A run with everything that a format needs; the first scorer is the headline.

    task: the protocol, or the dataset if the file names no protocol. size: number of problems in
    the dataset. begun, ended: times of the run; for a file without a run.json, its last change.
    """

    model: str
    task: str
    dataset: str
    size: int
    scores: tuple[ExportedScore, ...]
    samples: tuple[ExportedSample, ...]
    manifest: Mapping[str, Any]
    begun: datetime
    ended: datetime
    faults: int

    def facts(self, name: str) -> Mapping[str, Any]:
        """Return the object of this name in run.json, {} if there is none."""
        return mapping(self.manifest.get(name))

    @property
    def protocol(self) -> str | None:
        """Return the name of the protocol, None if it is not recorded."""
        name = self.facts("protocol").get("name")
        return None if name is None else str(name)

    def answered(self) -> tuple[ExportedSample, ...]:
        """Return the samples that have a completion."""
        return tuple(sample for sample in self.samples if not sample.error)

    def judged_scores(self) -> tuple[ExportedScore, ...]:
        """Return the scores of the scorers that judged a completion: the others have no figure."""
        return tuple(score for score in self.scores if score.judged)

    def is_whole(self) -> bool:
        """Return whether every sample of the run is stored, failed ones included."""
        return len(self.samples) >= planned_samples(self.manifest)


class ExportedFile(NamedTuple):
    """A file of an export: its content, and its path below the target ("": the target itself)."""

    path: str
    write: Callable[[BinaryIO], None]


def lines_file(path: str, lines: Iterable[bytes]) -> ExportedFile:
    """Return a file of these lines."""
    return ExportedFile(path, lambda file: file.writelines(lines))


def storable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 and most readers refuse, by U+FFFD.

    The text keeps its length, so that positions in it stay valid.
    """
    return text if text.isascii() else SURROGATE.sub(REPLACEMENT, text)


def encoded(value: Any, indent: int | None = None) -> bytes:
    r"""Return a value as JSON in ASCII; lone surrogates are U+FFFD.

    ASCII, because some readers of JSON lines split at U+2028 too.
    """
    text = json.dumps(value, indent=indent)
    if "\\ud" in text:
        whole = storable(json.dumps(value, ensure_ascii=False))
        text = json.dumps(json.loads(whole), indent=indent)
    return text.encode("ascii")


def require_all_free(target: Path, files: Sequence[ExportedFile], overwrite: bool) -> None:
    """Raise InputError if the export would replace a file and `overwrite` is False."""
    for file in files:
        require_free(target / file.path, overwrite)


def size_of(file: ExportedFile) -> int:
    """Return the size of a file of an export in bytes, without saving it."""
    with TemporaryFile() as stream:
        file.write(stream)
        return stream.seek(0, 2)


def save_files(target: Path, files: Sequence[ExportedFile]) -> int:
    """Write all files of an export or none; return their size in bytes. Raises InputError."""
    size = 0
    with writing_output(target), ExitStack() as stack:
        for file in files:
            path = target / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            part = stack.enter_context(replacing(path))
            with part.open("wb") as stream:
                file.write(stream)
            size += part.stat().st_size
    return size
