"""Run folders: find them, summarise one, verify one."""

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from gradeschool.completion import Completion
from gradeschool.errors import InputError, MissingExtraError, StoreError
from gradeschool.formats import run_folder
from gradeschool.formats.values import mapping
from gradeschool.models.base import Request
from gradeschool.printable import accuracy_words, bounds, count
from gradeschool.runs.evaluate import summarise
from gradeschool.runs.job import SCHEMA, RunPlan, differing, facts_of, recorded_plan
from gradeschool.scorer import clip
from gradeschool.scoring.table import ScorerSet, choose_scorers

MOST_LISTED = 5
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
        if len(path.relative_to(folder).parts) == 4:  # levels below the listed one
            folders.clear()
        if run_folder.MANIFEST_FILE in files:
            yield path


class RunSummary:
    """One run folder: run.json, results.json (None before the end of a session), and counts.

    planned: samples in the complete run, 0 if run.json is damaged. answered, failed: samples by
    their last state. damaged: torn and changed rows. figures: of the scorers with verdicts, the
    headline first; headline: those of the headline scorer, None if there are none yet.
    earlier_samples: the number of samples in results.json, None if it is that of the stored ones.
    Raises InputError for any other or unreadable folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest, self.results, rows = _read(folder)
        counted = run_folder.valid_completions(row for row in rows if row is not None)
        self.planned = run_folder.planned_samples(self.manifest)
        self.failed = sum(bool(row.error) for row in counted.values())
        self.answered, self.damaged = len(counted) - self.failed, rows.count(None)
        n, scorers = map((self.results or {}).get, ("n", "scorers"))
        self.earlier_samples = n if isinstance(n, int) and n != len(counted) else None
        self.figures: dict[str, Mapping[str, Any]] = {}
        for name, each in mapping(scorers).items():
            # None without a verdict, and anything in a file that was changed.
            with suppress(TypeError, ValueError, KeyError, OverflowError):
                accuracy_words(each["accuracy"], each.get("accuracy_bounds"))
                bounds(each["ci95"])
                self.figures[str(name)] = each
        self.headline = self.figures.get(next(iter(mapping(scorers)), ""))

    def as_json(self) -> dict[str, Any]:
        """Return the folder, its files and the counts as JSON values."""
        names = ("planned", "answered", "failed", "damaged")
        counts = {name: getattr(self, name) for name in names}
        return {"folder": str(self.folder), **counts, "run": self.manifest, "results": self.results}


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, Any] | None, list[Completion | None]]:
    """Return run.json, results.json and the rows, None for a damaged one; raises InputError."""
    manifest = run_folder.read_json(folder / run_folder.MANIFEST_FILE)
    if manifest is None:
        raise InputError(f"{str(folder)!r} is not a run folder: it has no run.json")
    try:
        rows = list(run_folder.read_completions(folder / run_folder.COMPLETIONS_FILE))
        return manifest, run_folder.read_json(folder / run_folder.RESULTS_FILE), rows
    except OSError as error:
        raise StoreError(f"cannot read {str(folder)!r}: {error.strerror}") from error


def verify(folder: Path) -> list[tuple[bool, str]]:
    """Return findings about a run folder, (whether it is a fault, text), faults first.

    It checks that rows are complete and their texts have their digests, that keys match the prompts
    as rendered today, that no key has two different texts, that protocol and data have the digests
    in run.json, and that results.json equals the scores of the stored completions under the run's
    scorers. It changes nothing. Raises InputError if there is no run.
    """
    manifest, results, rows = _read(folder)
    completions = [row for row in rows if row is not None]
    findings: list[tuple[bool, str]] = []

    def report(fault: bool, text: str) -> None:
        findings.append((fault, text))

    report(False, f"{count(len(completions), 'row')} with the digest of its text")
    if manifest.get("schema") != SCHEMA:
        schema = f"run.json has the schema {manifest.get('schema')!r}"
        report(True, f"{schema}, this version knows {SCHEMA}")
    texts: defaultdict[str, set[str]] = defaultdict(set)
    for row in completions:
        if not row.error:
            texts[row.key].add(row.text)
    if damaged := [number for number, row in enumerate(rows, start=1) if row is None]:
        whole = len(texts) >= run_folder.planned_samples(manifest) > 0
        rest = "every sample is answered without it" if whole else "eval requests what is missing"
        report(not whole, f"{run_folder.damaged_words(damaged)}; {rest}")
    failed = len({row.key for row in completions} - texts.keys())
    report(False, f"{count(len(texts), 'sample')} answered, {failed} failed")
    if different := [key[:12] for key, each in texts.items() if len(each) > 1]:
        several = count(len(different), "sample has", "samples have")
        report(True, f"{several} several texts: keys {_some(different)}")
    try:
        plan = recorded_plan(manifest)
        if changed := differing({**manifest, **facts_of(plan)}, manifest):
            setting, _, values = changed.partition(" is ")
            report(True, f"the {setting.partition(' ')[0]} has changed: {values}")
        else:
            identity = str(manifest.get("model"))
            requests = replace(plan, problems=plan.dataset.problems).requests(identity)
            keys = {(each.problem.id, each.sample): each.key for each in requests}
            wrong = [
                f"problem {row.problem_id} sample {row.sample}"
                for row in completions if keys.get((row.problem_id, row.sample)) != row.key
            ]  # fmt: skip
            if wrong:
                have = count(len(wrong), "row has", "rows have")
                report(True, f"{have} a key that does not match its request: {_some(wrong)}")
            else:
                report(False, f"{count(len(completions), 'key')} recomputed, all match")
            planned = plan.requests(identity)
            if left := sum(request.key not in texts for request in planned):
                report(False, f"{left} of {count(len(planned), 'sample')} not answered")
            report(*_check_results(plan, planned, results, completions))
    except InputError as error:
        report(True, f"keys cannot be recomputed: {error}")
    return sorted(findings, key=lambda finding: not finding[0])


def _check_results(
    plan: RunPlan,
    requests: list[Request],
    results: Mapping[str, Any] | None,
    completions: list[Completion],
) -> tuple[bool, str]:
    """Compare results.json with the scores of the stored completions; return a finding."""
    if results is None:
        return False, f"no results.json yet; {REWRITE}"
    rows = run_folder.valid_completions(completions)
    counted, n = results.get("n"), sum(request.key in rows for request in requests)
    if isinstance(counted, int) and counted < n:
        return False, f"rows were added since results.json was written; {REWRITE}"
    if counted != n:
        return True, f"results.json counts {counted!r} samples, and {n} are stored"
    names, written = plan.protocol.scorers, mapping(results.get("scorers"))
    if written.keys() != set(names):
        scored, wanted = ", ".join(written) or "no scorer", ", ".join(names)
        return True, f"results.json has scores by {scored}, the run's scorers are {wanted}"
    if functions := [name for name in names if ":" in name]:
        code = "code that a run folder names is not run"
        return False, f"scores by {', '.join(functions)} are not recomputed: {code}"
    try:
        scorers = ScorerSet(plan.scorers or choose_scorers(names))
        *_, summary = summarise(str(results.get("run") or ""), scorers, requests, rows)
    except (InputError, MissingExtraError) as error:
        return False, f"scores cannot be recomputed: {error}"
    fields = json.loads(json.dumps(summary))
    pairs = [(name, mapping(written[name]), now) for name, now in fields["scorers"].items()]
    for name, before, now in [*pairs, ("these rows", results, fields)]:
        if wrong := next((key for key in now if before.get(key) != now[key]), None):
            values = f"{wrong} {clip(repr(before.get(wrong)))}, not {clip(repr(now[wrong]))}"
            return True, f"results.json does not match {name}: {values}; {REWRITE}"
    return False, f"results.json has the scores of these {count(n, 'sample')}"


def _some(values: Sequence[Any]) -> str:
    more = f" and {len(values) - MOST_LISTED} more" if len(values) > MOST_LISTED else ""
    return ", ".join(map(str, values[:MOST_LISTED])) + more
