"""Run folders: find them, summarise one, verify one."""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Completion
from gradeschool.errors import InputError, MissingExtraError, StoreError
from gradeschool.formats.own_run import (
    COMPLETIONS_FILE,
    MANIFEST_FILE,
    RESULTS_FILE,
    damaged_words,
    latest,
    other_models,
    planned_samples,
    read_completions,
    read_json,
    read_manifest,
)
from gradeschool.formats.settings import mapping
from gradeschool.percentages import count
from gradeschool.runs.plan import SCHEMA, RunPlan, differing, facts_of, plan_of, request_key

DEEPEST = 4  # levels of folders below the listed one
SHOWN = 5
REWRITE = "the command of the run writes it again"


def find_runs(folder: Path) -> Iterator[Path]:
    """Yield the run folders in a folder, or the folder itself, sorted; raises InputError.

    Symbolic links below the folder are not followed.
    """
    if not folder.is_dir():
        raise InputError(f"{str(folder)!r} is not a folder; give the one with your runs")
    for place, folders, files in os.walk(folder):
        path = Path(place)
        folders.sort()
        if len(path.relative_to(folder).parts) == DEEPEST:
            folders.clear()
        if MANIFEST_FILE in files:
            yield path


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run folder: run.json, results.json (None before the end of a session), and counts.

    answered, failed: samples by their last state. damaged: torn and changed rows.
    """

    folder: Path
    manifest: Mapping[str, Any]
    results: Mapping[str, Any] | None
    answered: int
    failed: int
    damaged: int

    @property
    def planned(self) -> int:
        """Return the number of samples in the complete run, 0 if run.json is damaged."""
        return planned_samples(self.manifest)

    @property
    def figures(self) -> dict[str, Mapping[str, Any]]:
        """Return the figures of the scorers with verdicts, the headline first."""
        named = self._scorers.items()
        return {str(name): figures for name, figures in named if _has_accuracy(figures)}

    @property
    def headline(self) -> Mapping[str, Any] | None:
        """Return the figures of the headline scorer, None if there are none yet."""
        return self.figures.get(next(iter(self._scorers), ""))

    @property
    def _scorers(self) -> Mapping[str, Any]:
        return mapping((self.results or {}).get("scorers"))

    @property
    def earlier_samples(self) -> int | None:
        """Return the number of samples in results.json, None if it is that of the stored ones."""
        n = (self.results or {}).get("n")
        return n if isinstance(n, int) and n != self.answered + self.failed else None

    @property
    def other_models(self) -> str:
        """Return the models that answered instead of the requested one, "" for none."""
        return other_models(
            str(self.manifest.get("model")), (self.results or {}).get("answered_by")
        )

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {
            "folder": str(self.folder),
            "planned": self.planned,
            "answered": self.answered,
            "failed": self.failed,
            "damaged": self.damaged,
            "run": dict(self.manifest),
            "results": None if self.results is None else dict(self.results),
        }


def _has_accuracy(figures: Any) -> bool:
    if not isinstance(figures, Mapping):
        return False
    bounds = figures.get("ci95")
    between = figures.get("accuracy_bounds") or [figures.get("accuracy")]
    values = [*between, *bounds] if isinstance(bounds, list) and isinstance(between, list) else []
    return len(values) in (3, 4) and all(type(value) in (int, float) for value in values)


def summary_of(folder: Path) -> RunSummary:
    """Return the summary of a run folder; raises InputError for any other or unreadable folder."""
    manifest = read_manifest(folder)
    try:
        rows = list(read_completions(folder / COMPLETIONS_FILE))
        results = read_json(folder / RESULTS_FILE)
    except OSError as error:
        raise StoreError(f"cannot read {str(folder)!r}: {error.strerror}") from error
    counted = latest(row for row in rows if row is not None)
    failed = sum(bool(row.error) for row in counted.values())
    return RunSummary(
        folder, manifest, results, len(counted) - failed, failed, sum(row is None for row in rows)
    )


class RunFinding(NamedTuple):
    """A fact about a run; `fault`: whether it is an error."""

    fault: bool
    text: str


def verify(folder: Path) -> list[RunFinding]:
    """Return the findings about a run folder, faults first; changes nothing.

    It checks that rows are complete and their texts have their digests, that keys match the prompts
    as rendered today, that no key has two different texts, that protocol and data have the digests
    in run.json, and that results.json equals the scores of the stored completions under the run's
    scorers. Raises InputError if there is no run.
    """
    manifest = read_manifest(folder)
    try:
        rows = list(read_completions(folder / COMPLETIONS_FILE))
        results = read_json(folder / RESULTS_FILE)
    except OSError as error:
        raise StoreError(f"cannot read {str(folder)!r}: {error.strerror}") from error
    completions = [row for row in rows if row is not None]
    findings = [RunFinding(False, f"{count(len(completions), 'row')} with the digest of its text")]
    if manifest.get("schema") != SCHEMA:
        text = f"run.json has the schema {manifest.get('schema')!r}, this version knows {SCHEMA}"
        findings.append(RunFinding(True, text))
    try:
        plan: RunPlan | None = plan_of(manifest)
    except InputError as error:
        plan = None
        findings.append(RunFinding(True, f"keys cannot be recomputed: {error}"))
    answered = {row.key for row in completions if not row.error}
    if damaged := [number for number, row in enumerate(rows, start=1) if row is None]:
        whole = len(answered) >= planned_samples(manifest) > 0
        rest = "every sample is answered without it" if whole else "eval requests what is missing"
        findings.append(RunFinding(not whole, f"{damaged_words(damaged)}; {rest}"))
    findings += _answers(completions)
    if plan is not None:
        difference = differing(manifest, {**manifest, **facts_of(plan)})
        if difference is None:
            findings += _keys(plan, str(manifest.get("model")), completions)
            findings += _results(plan, str(manifest.get("model")), results, completions)
        else:
            name, before, now = difference
            setting, _, key = name.partition(" ")
            text = f"the {setting} has changed: {f'{key} ' if key else ''}{now}, not {before}"
            findings.append(RunFinding(True, text))
    return sorted(findings, key=lambda finding: not finding.fault)


def _answers(completions: Sequence[Completion]) -> Iterator[RunFinding]:
    texts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for completion in completions:
        if not completion.error:
            texts[completion.key][completion.text] += 1
    failed = len({row.key for row in completions} - texts.keys())
    yield RunFinding(False, f"{count(len(texts), 'sample')} answered, {failed} failed")
    if different := [key[:12] for key, counts in texts.items() if len(counts) > 1]:
        several = count(len(different), "sample has", "samples have")
        yield RunFinding(True, f"{several} several texts: keys {_some(different)}")
    repeated = sum(counts.total() > 1 for counts in texts.values()) - len(different)
    if repeated:
        samples = count(repeated, "sample is", "samples are")
        yield RunFinding(False, f"{samples} stored more than once, with the same text")


def _keys(plan: RunPlan, identity: str, completions: Sequence[Completion]) -> Iterator[RunFinding]:
    shots = plan.shots.problems if plan.shots else ()
    problems = plan.dataset.problems
    ids = [problem.id for problem in problems]
    prompts = dict(zip(ids, plan.protocol.render(problems, shots), strict=True))
    unknown = [row.problem_id for row in completions if row.problem_id not in prompts]
    wrong = [
        f"problem {row.problem_id} sample {row.sample}"
        for row in completions
        if (prompt := prompts.get(row.problem_id)) is not None
        and request_key(identity, prompt, plan.decoding, row.sample) != row.key
    ]
    if unknown:
        rows = count(len(unknown), "row belongs", "rows belong")
        names = _some(list(dict.fromkeys(unknown)))
        yield RunFinding(True, f"{rows} to no problem of the dataset: {names}")
    if wrong:
        text = count(
            len(wrong),
            "row has a key that does not match its request",
            "rows have a key that does not match their request",
        )
        yield RunFinding(True, f"{text}: {_some(wrong)}")
    if not unknown and not wrong:
        yield RunFinding(False, f"{count(len(completions), 'key')} recomputed, all match")
    planned = {(problem.id, sample) for problem in plan.problems for sample in range(plan.samples)}
    answered = {(row.problem_id, row.sample) for row in completions if not row.error}
    if missing := len(planned - answered):
        verb = "is" if missing == 1 else "are"
        yield RunFinding(False, f"{missing} of {count(len(planned), 'sample')} {verb} not answered")
    if extra := len(answered - planned):
        verb = "is" if extra == 1 else "are"
        yield RunFinding(False, f"{count(extra, 'answered sample')} {verb} not in the run's plan")


def _results(
    plan: RunPlan,
    identity: str,
    results: Mapping[str, Any] | None,
    completions: Sequence[Completion],
) -> Iterator[RunFinding]:
    """Compare results.json with the scores of the stored completions."""
    from gradeschool.runs.evaluate import summarise
    from gradeschool.scoring.table import ScorerSet, choose_scorers

    if results is None:
        yield RunFinding(False, "no results.json yet; the command of the run writes it")
        return
    requests, rows = plan.requests(identity), latest(completions)
    n = sum(request.key in rows for request in requests)
    counted = results.get("n")
    if isinstance(counted, int) and counted < n:
        yield RunFinding(False, f"rows were added since results.json was written; {REWRITE}")
        return
    written = mapping(results.get("scorers"))
    if written.keys() != set(plan.protocol.scorers):
        others = ", ".join(written) or "no scorer"
        own = ", ".join(plan.protocol.scorers)
        yield RunFinding(
            True, f"results.json has scores by {others}, the run's scorers are {own}; {REWRITE}"
        )
        return
    if counted != n:
        yield RunFinding(True, f"results.json counts {counted!r} samples, and {n} are stored")
        return
    if functions := [name for name in written if ":" in name]:
        names = ", ".join(functions)
        text = f"scores by {names} are not recomputed: code that a run folder names is not run"
        yield RunFinding(False, text)
        return
    try:
        scorers = ScorerSet(plan.scorers or choose_scorers(plan.protocol.scorers))
        *_, summary = summarise(str(results.get("run") or ""), scorers, requests, rows)
    except (InputError, MissingExtraError) as error:
        yield RunFinding(False, f"scores cannot be recomputed: {error}")
        return
    fields = json.loads(json.dumps(summary))
    pairs = [(scorer, written[scorer], score) for scorer, score in fields["scorers"].items()]
    for name, before, now in [*pairs, ("these rows", dict(results), {**results, **fields})]:
        if before != now:
            wrong = next((key for key in now if mapping(before).get(key) != now[key]), "a field")
            values = f"{mapping(before).get(wrong)!r}, not {now.get(wrong)!r}"
            yield RunFinding(
                True, f"results.json does not match {name}: {wrong} {values}; {REWRITE}"
            )
            return
    yield RunFinding(False, f"results.json has the scores of these {count(n, 'sample')}")


def _some(values: Sequence[Any]) -> str:
    more = f" and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
    return ", ".join(map(str, values[:SHOWN])) + more
