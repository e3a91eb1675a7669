"""Is a run what it says it is? Every row, key and digest, recomputed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Completion
from gradeschool.errors import InputError, MissingExtraError
from gradeschool.formats.read import COMPLETIONS_FILE, MANIFEST_FILE
from gradeschool.runs.files import read_completions
from gradeschool.runs.finish import fingerprint
from gradeschool.runs.keys import request_key
from gradeschool.runs.manifest import SCHEMA, differing, facts_of, plan_of
from gradeschool.runs.plan import Plan
from gradeschool.runs.store import QUARANTINE_FILE, RESULTS_FILE, read_json
from gradeschool.runs.verify_scores import wrong_scores

SHOWN = 5


class Finding(NamedTuple):
    """Something to know about a run; a fault is something that should not be so."""

    fault: bool
    text: str


def verify(folder: Path) -> list[Finding]:
    """Return what there is to say about a run folder, faults first; reads, changes nothing.

    Checked: rows are whole, keys are those of the prompts as they are rendered today, no key was
    answered twice with different texts, protocol and data have the digests of run.json, and
    results.json is what the run's own scorers make of the stored completions. Raises InputError
    where there is no run.
    """
    manifest = read_json(folder / MANIFEST_FILE)
    if manifest is None:
        raise InputError(f"{str(folder)!r} is no run folder: it has no {MANIFEST_FILE}; give one")
    rows = list(read_completions(folder / COMPLETIONS_FILE))
    findings = [
        *_schema(manifest),
        *_lines(rows),
        *_answers([one for _, one in rows if one is not None]),
        *_plan(manifest, [one for _, one in rows if one is not None]),
        *_results(folder, manifest, [one for _, one in rows if one is not None]),
        *_quarantine(folder),
    ]
    return sorted(findings, key=lambda finding: not finding.fault)


def _schema(manifest: Mapping[str, Any]) -> Iterator[Finding]:
    schema = manifest.get("schema")
    if schema != SCHEMA:
        yield Finding(True, f"run.json has the schema {schema!r}, this version knows {SCHEMA}")


def _lines(rows: list[tuple[bytes, Completion | None]]) -> Iterator[Finding]:
    torn = [number for number, (_, one) in enumerate(rows, start=1) if one is None]
    if torn:
        yield Finding(True, f"{len(torn)} rows are not whole: {_some(torn)}; "
                            "eval moves them to quarantine and asks again")  # fmt: skip


def _answers(completions: list[Completion]) -> Iterator[Finding]:
    texts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    failed: Counter[str] = Counter()
    for one in completions:
        if one.error:
            failed[one.key] += 1
        else:
            texts[one.key][one.text] += 1
    different = [key[:12] for key, found in texts.items() if len(found) > 1]
    repeated = sum(found.total() > 1 for found in texts.values()) - len(different)
    lasting = len(failed.keys() - texts.keys())
    yield Finding(False, f"{len(texts)} samples answered, {lasting} failed")
    if different:
        yield Finding(True, f"{len(different)} samples have several texts: keys {_some(different)}")
    if repeated:
        yield Finding(False, f"{repeated} samples are stored more than once, with the same text")


def _plan(manifest: Mapping[str, Any], completions: list[Completion]) -> Iterator[Finding]:
    try:
        plan = plan_of(manifest)
    except InputError as error:
        yield Finding(True, f"keys cannot be recomputed: {error}")
        return
    facts = {**manifest, **facts_of(plan)}
    name = differing(manifest, facts)
    if name is not None:
        yield Finding(True, f"the {name} of today is another: {facts[name]!r}, "
                            f"not {manifest.get(name)!r}")  # fmt: skip
        return
    yield from _keys(plan, str(manifest.get("model")), completions)
    planned = len(plan.problems) * plan.samples
    answered = len({one.key for one in completions if not one.error})
    if answered < planned:
        yield Finding(False, f"{planned - answered} of {planned} samples are not answered")


def _keys(plan: Plan, identity: str, completions: list[Completion]) -> Iterator[Finding]:
    shots = plan.shots.problems if plan.shots else ()
    problems = plan.dataset.problems
    prompts = dict(
        zip((one.id for one in problems), plan.protocol.render(problems, shots), strict=True)
    )
    unknown = [one.problem_id for one in completions if one.problem_id not in prompts]
    wrong = [
        f"problem {one.problem_id} sample {one.sample}"
        for one in completions
        if (prompt := prompts.get(one.problem_id)) is not None
        and request_key(identity, prompt, plan.decoding, one.sample) != one.key
    ]
    if unknown:
        yield Finding(True, f"{len(unknown)} rows are of no problem of the dataset: "
                            f"{_some(list(dict.fromkeys(unknown)))}")  # fmt: skip
    if wrong:
        yield Finding(True, f"{len(wrong)} rows have a key that is not that of their request: "
                            f"{_some(wrong)}")  # fmt: skip
    if not unknown and not wrong:
        yield Finding(False, f"{len(completions)} keys recomputed, all as stored")


def _results(
    folder: Path, manifest: Mapping[str, Any], completions: list[Completion]
) -> Iterator[Finding]:
    results = read_json(folder / RESULTS_FILE)
    if results is None:
        yield Finding(False, "no results.json yet; the command of the run writes it")
        return
    stored = results.get("completions_file")
    known = stored if isinstance(stored, dict) and isinstance(stored.get("bytes"), int) else None
    if known is None:
        yield Finding(True, "results.json does not say which completions it is of")
        return
    now = fingerprint(folder / COMPLETIONS_FILE, known["bytes"])
    if now != known:
        yield Finding(True, "completions.jsonl is not what results.json was made of: "
                            "rows were changed or removed since")  # fmt: skip
    elif (folder / COMPLETIONS_FILE).stat().st_size > known["bytes"]:
        yield Finding(False, "rows were added since results.json was written; "
                             "the command of the run brings it up to date")  # fmt: skip
    else:
        yield Finding(False, f"results.json is of these {len(completions)} rows (SHA-256)")
        yield from _scores(manifest, results, completions)


def _scores(
    manifest: Mapping[str, Any], results: Mapping[str, Any], completions: list[Completion]
) -> Iterator[Finding]:
    try:
        wrong = wrong_scores(manifest, results, completions)
    except (InputError, MissingExtraError) as error:
        yield Finding(False, f"scores cannot be recomputed: {error}")
        return
    if wrong:
        yield Finding(True, wrong)


def _quarantine(folder: Path) -> Iterator[Finding]:
    path = folder / QUARANTINE_FILE
    if path.exists():
        count = path.read_bytes().count(b"\n")
        yield Finding(False, f"{count} rows that were not whole stand in {QUARANTINE_FILE}")


def _some(values: list[Any]) -> str:
    more = f" and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
    return ", ".join(map(str, values[:SHOWN])) + more
