"""The formats of `gradeschool export`, and the run data that is written in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Prompt
from gradeschool.datasets.load import load_dataset
from gradeschool.datasets.sources import ALIASES, OWN_PROBLEMS, SOURCES
from gradeschool.errors import InputError
from gradeschool.formats.every_eval_ever import every_eval_ever_files
from gradeschool.formats.export import ExportedFile, ExportedRun, ExportedSample, ExportedScore
from gradeschool.formats.hub import eval_results_files, model_index_files
from gradeschool.formats.inspect_log import inspect_files
from gradeschool.formats.lm_eval import lm_eval_files
from gradeschool.formats.own_run import completions_file
from gradeschool.formats.parquet import parquet_files
from gradeschool.formats.settings import mapping
from gradeschool.percentages import count
from gradeschool.reports.page.gather import disputed_labels
from gradeschool.reports.page.verdicts import clustered_share
from gradeschool.runs.plan import prompts_of
from gradeschool.scorer import Scorer
from gradeschool.scoring.causes import ExplainedSample, explained_samples, label_changes
from gradeschool.scoring.samples import Warn
from gradeschool.scoring.sources import SourceRun, choose_runs
from gradeschool.scoring.statistics import clustered_error, standard_error
from gradeschool.scoring.table import OUTCOMES, scored_table, tally_by_problem
from gradeschool.verdict import Outcome


class ExportFormat(NamedTuple):
    """A format: the function that makes its files, and its ending ("": files in a folder)."""

    files: Callable[[ExportedRun], list[ExportedFile]]
    ending: str


FORMATS = {
    "lm-eval": ExportFormat(lm_eval_files, ""),
    "inspect": ExportFormat(inspect_files, ".eval"),
    "eval-results": ExportFormat(eval_results_files, ".yaml"),
    "model-index": ExportFormat(model_index_files, ".md"),
    "every-eval-ever": ExportFormat(every_eval_ever_files, ""),
    "parquet": ExportFormat(parquet_files, ".parquet"),
}


def one_run(spec: str, dataset: str | None, warn: Warn) -> SourceRun:
    """Return the run named by FILE or FILE#RUN; raises InputError unless there is exactly one."""
    runs = choose_runs([spec], dataset, warn)
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
    """Return a run with the verdicts of these scorers, the first of which is the headline."""
    run, manifest = chosen.run, chosen.manifest
    ids = (
        dict.fromkeys(problem.id for problem in run.problems() if problem is not None)
        if run.dataset == OWN_PROBLEMS
        else [problem.id for problem in load_dataset(run.dataset).problems]
    )
    places = {id: place for place, id in enumerate(ids)}
    task = mapping(manifest.get("protocol")).get("name")
    shown = dataset_name(run.dataset)
    begun, ended = _dates(chosen)
    samples = _samples(chosen, scorers, places, warn)
    return ExportedRun(
        model=run.name,
        task=str(task or shown),
        dataset=shown,
        size=len(places),
        scores=tuple(_score(samples, index, scorer) for index, scorer in enumerate(scorers)),
        samples=tuple(samples),
        manifest=manifest,
        begun=begun,
        ended=ended,
        faults=run.faults,
    )


def dataset_name(name: str) -> str:
    """Return a dataset's name; for a file, without folders, which exist on one machine only."""
    return ALIASES.get(name, name) if name in SOURCES or name in ALIASES else Path(name).name


def _samples(
    chosen: SourceRun, scorers: Sequence[Scorer], places: Mapping[str, int], warn: Warn
) -> list[ExportedSample]:
    prompts = _prompts(chosen.manifest, warn)
    changes = label_changes(chosen.run, disputed_labels(chosen.run))
    others: dict[str, int] = {}
    exported = []
    for each in explained_samples(scored_table(chosen.run, scorers), changes):
        sample, problem, stored = each.sample, each.sample.problem, each.sample.stored
        assert problem is not None  # noqa: S101  (for the type checker)
        place = places.get(problem.id)
        if place is None:  # a problem that comes with the file
            place = others.setdefault(problem.id, len(places) + len(others))
        exported.append(
            ExportedSample(
                problem=problem,
                place=place,
                sample=sample.sample,
                text=sample.text,
                error=sample.error,
                finish=str(sample.finish),
                stored=stored,
                prompt=prompts.get(stored.key) if stored else None,
                verdicts=each.verdicts,
                cause=_cause(each),
            )
        )
    return exported


def _score(samples: Sequence[ExportedSample], index: int, scorer: Scorer) -> ExportedScore:
    outcomes = (
        (sample.problem.id, OUTCOMES.index(sample.verdicts[index].outcome))
        for sample in samples
        if sample.verdicts
    )
    problems = tally_by_problem(outcomes)
    clusters = list(problems.values())
    share = clustered_share(clusters)
    shares = [correct / judged for correct, judged in problems.values()]
    mean = sum(shares) / len(shares) if shares else 0.0
    stderr = standard_error(shares) if len(shares) > 1 else None
    return ExportedScore(
        scorer, share.accuracy, share.interval, clustered_error(clusters), share.judged, mean,
        stderr, problems,
    )  # fmt: skip


def _cause(sample: ExplainedSample) -> str:
    """Return why the headline scorer misses, "" if it does not."""
    missed = any(
        verdict.outcome in (Outcome.WRONG, Outcome.NO_ANSWER) for verdict in sample.verdicts[:1]
    )
    return str(sample.causes[0] or "") if missed else ""


def _prompts(manifest: Mapping[str, Any], warn: Warn) -> dict[str, Prompt]:
    """Return the prompts by key; for a run whose prompts cannot be rendered here, none."""
    if "protocol" not in manifest:
        return {}
    try:
        return prompts_of(manifest)
    except InputError as error:
        warn(f"the export has no prompts, because they cannot be rendered here: {error}")
        return {}


def _dates(run: SourceRun) -> tuple[datetime, datetime]:
    file = completions_file(run.path)  # of several files, the name that the user gave
    time = int(file.stat().st_mtime) if file.exists() else None
    changed = datetime.now(UTC) if time is None else datetime.fromtimestamp(time, UTC)
    begun = _date(run.manifest.get("created"), changed)
    return begun, max(begun, _date(run.manifest.get("updated"), changed))


def _date(written: object, default: datetime) -> datetime:
    try:
        date = datetime.fromisoformat(str(written))
    except ValueError:
        return default
    return date.astimezone(UTC) if date.tzinfo else date.replace(tzinfo=UTC)
