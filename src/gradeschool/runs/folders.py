"""Verify a run folder (rows, keys, digests, scores); merge several folders of one run."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Completion
from gradeschool.errors import InputError, MissingExtraError, StoreError
from gradeschool.formats.own_run import (
    COMPLETIONS_FILE,
    MANIFEST_FILE,
    RESULTS_FILE,
    changed_words,
    fingerprint,
    latest,
    read_completions,
    read_json,
    read_manifest,
)
from gradeschool.formats.settings import mapping
from gradeschool.formats.tables import parse_line
from gradeschool.percentages import count
from gradeschool.runs.plan import SCHEMA, RunPlan, differing, facts_of, plan_of, request_key
from gradeschool.runs.results import (
    WrittenResults,
    run_for_scoring,
    scorers_of,
    summarise,
    write_results,
)
from gradeschool.runs.store import QUARANTINE_FILE, RunStore

SHOWN = 5
REWRITE = "the command of the run writes it again"


class RunFinding(NamedTuple):
    """A fact about a run; `fault`: whether it is an error."""

    fault: bool
    text: str


def verify(folder: Path) -> list[RunFinding]:
    """Return the findings about a run folder, faults first; changes nothing.

    It checks that rows are complete, that keys match the prompts as rendered today, that no key has
    two different texts, that protocol and data have the digests in run.json, and that results.json
    equals the scores of the stored completions under the run's scorers. Raises InputError if there
    is no run.
    """
    manifest = read_manifest(folder)
    rows = list(read_completions(folder / COMPLETIONS_FILE))
    completions = [completion for _, completion in rows if completion is not None]
    findings = [
        *_schema(manifest),
        *_lines(rows),
        *_answers(completions),
        *_plan(manifest, completions),
        *_results(folder, manifest, completions),
        *_quarantine(folder),
        *_repairs(manifest),
    ]
    return sorted(findings, key=lambda finding: not finding.fault)


def _schema(manifest: Mapping[str, Any]) -> Iterator[RunFinding]:
    schema = manifest.get("schema")
    if schema != SCHEMA:
        yield RunFinding(True, f"run.json has the schema {schema!r}, this version knows {SCHEMA}")


def _lines(rows: list[tuple[bytes, Completion | None]]) -> Iterator[RunFinding]:
    bad = [(number, line) for number, (line, row) in enumerate(rows, start=1) if row is None]
    torn = [number for number, line in bad if parse_line(line)[1] or not line.endswith(b"\n")]
    changed = [number for number, _ in bad if number not in torn]
    mending = "eval moves them to quarantine and requests them again"
    if torn:
        yield RunFinding(
            True, f"{count(len(torn), 'row is', 'rows are')} incomplete: {_some(torn)}; {mending}"
        )
    if changed:
        text = f"{changed_words(len(changed))}: {_some(changed)}"
        yield RunFinding(True, f"{text}; {mending}")


def _answers(completions: list[Completion]) -> Iterator[RunFinding]:
    texts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    failed: Counter[str] = Counter()
    for completion in completions:
        if completion.error:
            failed[completion.key] += 1
        else:
            texts[completion.key][completion.text] += 1
    different = [key[:12] for key, counts in texts.items() if len(counts) > 1]
    repeated = sum(counts.total() > 1 for counts in texts.values()) - len(different)
    lasting = len(failed.keys() - texts.keys())
    yield RunFinding(False, f"{count(len(texts), 'sample')} answered, {lasting} failed")
    if different:
        yield RunFinding(
            True,
            f"{count(len(different), 'sample has', 'samples have')} several texts: keys "
            f"{_some(different)}",
        )
    if repeated:
        samples = count(repeated, "sample is", "samples are")
        yield RunFinding(False, f"{samples} stored more than once, with the same text")


def _plan(manifest: Mapping[str, Any], completions: list[Completion]) -> Iterator[RunFinding]:
    try:
        plan = plan_of(manifest)
    except InputError as error:
        yield RunFinding(True, f"keys cannot be recomputed: {error}")
        return
    facts = {**manifest, **facts_of(plan)}
    difference = differing(manifest, facts)
    if difference is not None:
        name, before, now = difference
        setting, _, key = name.partition(" ")
        text = f"the {setting} has changed: {f'{key} ' if key else ''}{now}, not {before}"
        yield RunFinding(True, text)
        return
    yield from _keys(plan, str(manifest.get("model")), completions)
    planned = len(plan.problems) * plan.samples
    ids = {problem.id for problem in plan.problems}
    answered = {(row.problem_id, row.sample) for row in completions if not row.error}
    inside = {(id, sample) for id, sample in answered if id in ids and sample < plan.samples}
    if missing := planned - len(inside):
        verb = "is" if missing == 1 else "are"
        yield RunFinding(False, f"{missing} of {count(planned, 'sample')} {verb} not answered")
    if extra := len(answered) - len(inside):
        verb = "is" if extra == 1 else "are"
        yield RunFinding(False, f"{count(extra, 'answered sample')} {verb} not in the run's plan")


def _keys(plan: RunPlan, identity: str, completions: list[Completion]) -> Iterator[RunFinding]:
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


def _results(
    folder: Path, manifest: Mapping[str, Any], completions: list[Completion]
) -> Iterator[RunFinding]:
    results = read_json(folder / RESULTS_FILE)
    if results is None:
        yield RunFinding(False, "no results.json yet; the command of the run writes it")
        return
    stored = results.get("completions_file")
    if not isinstance(stored, dict) or not isinstance(stored.get("bytes"), int):
        yield RunFinding(True, "results.json does not say which completions it covers")
        return
    if fingerprint(folder / COMPLETIONS_FILE, stored["bytes"]) != stored:
        yield RunFinding(True, "completions.jsonl does not match results.json: "
                            "rows were changed or removed since")  # fmt: skip
    elif (folder / COMPLETIONS_FILE).stat().st_size > stored["bytes"]:
        yield RunFinding(False, "rows were added since results.json was written; "
                             "the command of the run brings it up to date")  # fmt: skip
    else:
        covered = count(len(completions), "row")
        covered = f"{'this' if len(completions) == 1 else 'these'} {covered}"
        yield RunFinding(False, f"results.json covers {covered} (SHA-256)")
        yield from _scores(manifest, results, completions)


def _scores(
    manifest: Mapping[str, Any], results: Mapping[str, Any], completions: list[Completion]
) -> Iterator[RunFinding]:
    try:
        wrong = _wrong_scores(manifest, results, completions)
    except (InputError, MissingExtraError) as error:
        yield RunFinding(False, f"scores cannot be recomputed: {error}")
        return
    if wrong:
        yield RunFinding(True, wrong)


def _wrong_scores(
    manifest: Mapping[str, Any], results: Mapping[str, Any], completions: Sequence[Completion]
) -> str:
    """Return what is wrong with the scores in results.json, "" if nothing is.

    completions: all stored rows, in order. Returns "" also if the run's protocol or dataset has
    changed since. Raises InputError if they cannot be loaded, MissingExtraError for a scorer.
    """
    plan = plan_of(manifest)
    if differing(manifest, {**manifest, **facts_of(plan)}) is not None:
        return ""
    stored = results.get("scorers")
    written = stored if isinstance(stored, Mapping) else {}
    if written.keys() != set(plan.protocol.scorers):
        others = ", ".join(written) or "no scorer"
        own = ", ".join(plan.protocol.scorers)
        return f"results.json has scores by {others}, the run's scorers are {own}; {REWRITE}"
    requests = plan.requests(str(manifest.get("model")))
    rows = latest(completions)
    run = run_for_scoring(str(results.get("run") or ""), requests, rows)
    *_, summary = summarise(run, scorers_of(plan), requests, rows, plan.dataset.problems)
    fields = json.loads(json.dumps(summary))
    for scorer, score in fields["scorers"].items():
        if written[scorer] != score:
            field = _differing_field(written[scorer], score)
            return f"results.json does not match {scorer} on these rows: {field}; {REWRITE}"
    counts = {name: value for name, value in fields.items() if name in results}
    if results != {**results, **counts}:
        field = _differing_field(results, counts)
        return f"results.json does not match these rows: {field}; {REWRITE}"
    return ""


def _differing_field(written: Any, score: Mapping[str, Any]) -> str:
    if not isinstance(written, Mapping):
        return repr(written)
    name = next((name for name in score if written.get(name) != score[name]), "")
    if not name:
        return "it has more fields than a score"
    return f"{name} {written.get(name)!r}, not {score[name]!r}"


def _quarantine(folder: Path) -> Iterator[RunFinding]:
    path = folder / QUARANTINE_FILE
    if path.is_file():
        rows = count(path.read_bytes().count(b"\n"), "torn or changed row")
        yield RunFinding(False, f"{rows} in {QUARANTINE_FILE}")


def _repairs(manifest: Mapping[str, Any]) -> Iterator[RunFinding]:
    repairs = manifest.get("repairs")
    for repair in repairs if isinstance(repairs, list) else ():
        if isinstance(repair, Mapping):
            yield RunFinding(False, f"repaired at {repair.get('time')}: {repair.get('what')}")


def _some(values: list[Any]) -> str:
    more = f" and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
    return ", ".join(map(str, values[:SHOWN])) + more


class MergedRun(NamedTuple):
    """Counts of rows: kept (one per key), dropped (the others), torn; and the new score."""

    kept: int
    dropped: int
    torn: int
    results: WrittenResults


def merge(folders: Sequence[Path], output: Path) -> MergedRun:
    """Merge the runs of these folders into a new folder, with results.

    One row per key is kept: the first one without an error, else the first. The folders must have
    the same model, protocol, dataset and decoding; StoreError says what differs. Raises InputError
    if `output` is not empty.
    """
    if output.exists() and any(output.iterdir()):
        raise InputError(f"{str(output)!r} is not empty; give a new folder with -o")
    manifests = [read_manifest(folder) for folder in folders]
    for folder, other in zip(folders[1:], manifests[1:], strict=True):
        difference = differing(manifests[0], other)
        if difference is not None:
            name, before, after = difference
            raise StoreError(
                f"{str(folders[0])!r} and {str(folder)!r} are not one run: the {name} is "
                f"{before} and {after}; merge runs with the same settings"
            )
    rows, total, torn = _rows(folders)
    fields = _joined(manifests)
    plan = plan_of(fields)
    requests = plan.requests(str(fields["model"]))
    name = next((row.run for _, row in rows.values() if row.run), output.name)
    with RunStore(output) as store:
        store.write_json(MANIFEST_FILE, fields)
        store.append([line for line, _ in rows.values()], [row for _, row in rows.values()])
        results = write_results(plan, name, store, requests, scorers_of(plan))
    return MergedRun(len(rows), total - len(rows), torn, results)


def _rows(folders: Sequence[Path]) -> tuple[dict[str, tuple[bytes, Completion]], int, int]:
    """Return the row to keep for each key, and the numbers of all rows and of torn rows."""
    kept: dict[str, tuple[bytes, Completion]] = {}
    total = torn = 0
    for folder in folders:
        for line, completion in read_completions(folder / COMPLETIONS_FILE):
            if completion is None:
                torn += 1
                continue
            total += 1
            earlier = kept.get(completion.key)
            if earlier is None or (earlier[1].error and not completion.error):
                kept[completion.key] = line, completion
    return kept, total, torn


def _count(fields: dict[str, Any], name: str) -> int:
    count = fields.get(name, 0)
    if type(count) is not int:
        raise StoreError(f"run.json was changed or damaged: {name} is {count!r}; restore it")
    return count


def _joined(manifests: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the fields of run.json for the problems of all runs."""
    last = max(manifests, key=lambda fields: str(fields.get("updated")))
    plans = [plan_of(fields) for fields in manifests]
    ids = {problem.id for plan in plans for problem in plan.problems}
    problems = tuple(problem for problem in plans[0].dataset.problems if problem.id in ids)
    whole = replace(plans[0], problems=problems)
    fields = {
        **last,
        "created": min(str(fields.get("created")) for fields in manifests),
        "problems": len(problems),
        "samples": max(_count(fields, "samples") for fields in manifests),
    }
    lists = (each.get("repairs") for each in manifests)
    if repairs := [repair for each in lists if isinstance(each, list) for repair in each]:
        fields["repairs"] = sorted(repairs, key=lambda repair: str(mapping(repair).get("time")))
    fields.pop("problem_ids", None)
    return fields if whole.is_prefix else {**fields, "problem_ids": [p.id for p in problems]}
