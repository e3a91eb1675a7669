"""`gradeschool export`: a run with its verdicts, as files of another tool.

`exported_run` collects what the formats need; `export_lm_eval`, `export_inspect` and
`parquet_files` write it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, NamedTuple

from gradeschool import __version__
from gradeschool.atomic import replacing, require_free, writing_output
from gradeschool.completion import NO_USAGE, Completion, Prompt
from gradeschool.datasets.load import load_dataset
from gradeschool.datasets.sources import ALIASES, OWN_PROBLEMS, SOURCES
from gradeschool.errors import InputError, require_packages
from gradeschool.formats.own_run import completions_file, planned_samples
from gradeschool.formats.samples import ReadOptions
from gradeschool.formats.settings import mapping
from gradeschool.percentages import count
from gradeschool.problem import Problem
from gradeschool.protocols.registry import all_scorers, available, get_scorer
from gradeschool.reports.judged import disputed_labels, sent_prompts
from gradeschool.scorer import DEFAULT_SCORER, Scorer
from gradeschool.scoring.causes import explained_samples, label_changes
from gradeschool.scoring.samples import Warn
from gradeschool.scoring.sources import SourceRun, choose_runs
from gradeschool.scoring.statistics import clustered_wilson, standard_error
from gradeschool.scoring.table import OUTCOMES, headline_scorer, scored_table, tally_by_problem
from gradeschool.verdict import Outcome, Verdict

SURROGATE = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"
ROW_GROUP = 16_384  # rows of Parquet
TEXTS = ("run", "problem_id", "question", "gold", "completion", "finish", "error", "cause", "read")


class ExportedScore(NamedTuple):
    """The score of a run under one scorer: a mean over problems, as lm-eval and inspect report it.

    accuracy, interval, stderr: the mean of the problems' shares, its 95 % interval and its standard
    error, None for a single problem. judged: number of completions, scorer failures left out.
    problems: (correct, judged) by problem id.
    """

    scorer: Scorer
    accuracy: float
    interval: tuple[float, float]
    stderr: float | None
    judged: int
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


def one_run(spec: str, options: ReadOptions, warn: Warn) -> SourceRun:
    """Return the run named by FILE or FILE#RUN; raises InputError unless there is exactly one."""
    runs = choose_runs([spec], options, warn)
    if len(runs) > 1:
        names = ", ".join(repr(f"{spec}#{each.run.name}") for each in runs[:5])
        more = f" and {len(runs) - 5} more" if len(runs) > 5 else ""
        raise InputError(
            f"{spec!r} contains {len(runs)} runs, but an export takes one; give {names}{more}"
        )
    samples = [sample for sample in runs[0].run.samples if sample.problem is not None]
    if all(sample.error for sample in samples):
        number = count(len(samples), "sample has", "samples have")
        raise InputError(f"{spec!r} has nothing to export: its {number} no completion")
    return runs[0]


def exported_run(chosen: SourceRun, scorers: Sequence[Scorer], warn: Warn) -> ExportedRun:
    """Return a run with the verdicts of these scorers, the first of which is the headline.

    A prompt that cannot be rendered here, or whose digest is not the key of its row, is left out.
    """
    run, manifest = chosen.run, chosen.manifest
    ids = (
        (problem.id for problem in run.problems() if problem is not None)
        if run.dataset == OWN_PROBLEMS
        else (problem.id for problem in load_dataset(run.dataset).problems)
    )
    places = {id: place for place, id in enumerate(dict.fromkeys(ids))}
    size, prompts = len(places), sent_prompts(manifest, warn)
    changes = label_changes(run, disputed_labels(run))
    samples = []
    for each in explained_samples(scored_table(run, scorers), changes):
        sample, problem, stored = each.sample, each.sample.problem, each.sample.stored
        assert problem is not None  # noqa: S101  (for the type checker)
        missed = each.verdicts and each.verdicts[0].outcome in (Outcome.WRONG, Outcome.NO_ANSWER)
        samples.append(ExportedSample(
            problem,
            places.setdefault(problem.id, len(places)),  # else a problem that the file brought
            sample.sample,
            sample.text,
            sample.error,
            str(sample.finish),
            stored,
            prompts.get(stored.key) if stored else None,
            each.verdicts,
            str(each.causes[0] or "") if missed else "",
        ))  # fmt: skip
    begun, ended = _dates(chosen)
    dataset = dataset_name(run.dataset)
    return ExportedRun(
        model=run.name,
        task=str(mapping(manifest.get("protocol")).get("name") or dataset),
        dataset=dataset,
        size=size,
        scores=tuple(_score(samples, index, scorer) for index, scorer in enumerate(scorers)),
        samples=tuple(samples),
        manifest=manifest,
        begun=begun,
        ended=ended,
        faults=run.faults,
    )


def own_scorers(manifest: Mapping[str, Any]) -> list[Scorer]:
    """Return the scorers of a run's protocol, as far as they are installed, and the reader."""
    listed = mapping(manifest.get("protocol")).get("scorers")
    own = [str(name) for name in listed] if isinstance(listed, list) else []
    chosen = dict.fromkeys((headline_scorer([manifest]), *own, DEFAULT_SCORER))
    known = (get_scorer(name) for name in chosen if name in all_scorers())
    return [scorer for scorer in known if available(scorer)]


def dataset_name(name: str) -> str:
    """Return a dataset's name; for a file, without folders, which exist on one machine only."""
    return ALIASES.get(name, name) if name in SOURCES or name in ALIASES else Path(name).name


def _score(samples: Sequence[ExportedSample], index: int, scorer: Scorer) -> ExportedScore:
    problems = tally_by_problem(
        (sample.problem.id, OUTCOMES.index(sample.verdicts[index].outcome))
        for sample in samples
        if sample.verdicts
    )
    clusters = list(problems.values())
    shares = [correct / judged for correct, judged in clusters]
    return ExportedScore(
        scorer,
        accuracy=sum(shares) / len(shares) if shares else 0.0,
        interval=clustered_wilson(clusters),
        stderr=standard_error(shares) if len(shares) > 1 else None,
        judged=sum(judged for _, judged in clusters),
        problems=problems,
    )


def _dates(run: SourceRun) -> tuple[datetime, datetime]:
    file = completions_file(run.path)  # of several files, the name that the user gave
    time = int(file.stat().st_mtime) if file.exists() else None
    changed = datetime.now(UTC) if time is None else datetime.fromtimestamp(time, UTC)

    def date(name: str) -> datetime:
        try:
            written = datetime.fromisoformat(str(run.manifest.get(name)))
        except ValueError:
            return changed
        return written.astimezone(UTC) if written.tzinfo else written.replace(tzinfo=UTC)

    return date("created"), max(date("created"), date("updated"))


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


def parquet_files(run: ExportedRun) -> list[ExportedFile]:
    """Return a Parquet table: a row per sample, its text and metadata, a column per scorer.

    Raises MissingExtraError without pyarrow.
    """
    require_packages("writing Parquet", "parquet", "pyarrow")
    return [ExportedFile("", lambda file: _write_parquet(run, file))]


def _write_parquet(run: ExportedRun, file: BinaryIO) -> None:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    about = {
        "version": __version__,
        "protocol": run.protocol,
        "dataset": run.dataset,
        "created": run.begun.isoformat(),
        "surrogates": "lone surrogates are written as U+FFFD",
    }
    scorers = [storable(score.scorer.name) for score in run.scores]
    word, number = arrow.dictionary(arrow.int32(), arrow.string()), arrow.int64()
    kinds = dict.fromkeys(TEXTS, arrow.string()) | {"run": word, "finish": word, "cause": word}
    kinds |= dict.fromkeys(("sample", "prompt_tokens", "completion_tokens"), number)
    kinds |= dict.fromkeys(scorers, word)
    schema = arrow.schema(list(kinds.items()), metadata={"gradeschool": json.dumps(about)})
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for start in range(0, len(run.samples), ROW_GROUP):
            rows = [_row(run, scorers, each) for each in run.samples[start : start + ROW_GROUP]]
            columns = [
                arrow.array([row[name] for row in rows], kind) for name, kind in kinds.items()
            ]
            writer.write_batch(arrow.record_batch(columns, schema=schema))


def _row(run: ExportedRun, scorers: Sequence[str], sample: ExportedSample) -> dict[str, Any]:
    problem, verdicts = sample.problem, sample.verdicts
    answer = verdicts[0].answer if verdicts else None
    usage = sample.stored.usage if sample.stored else NO_USAGE
    words = (run.model, problem.id, problem.question, problem.gold, sample.text, sample.finish,
             sample.error, sample.cause, answer.value if answer else None)  # fmt: skip
    outcomes = [verdict.outcome.value for verdict in verdicts] or ["error"] * len(scorers)
    return {
        **{name: word and storable(word) for name, word in zip(TEXTS, words, strict=True)},
        "sample": sample.sample,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        **dict(zip(scorers, outcomes, strict=True)),
    }
