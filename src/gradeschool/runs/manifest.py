"""run.json: the settings of a run, so that a later command can tell whether it is the same run."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from gradeschool.completion import Decoding
from gradeschool.datasets.load import load_dataset
from gradeschool.errors import StoreError
from gradeschool.models.base import Model
from gradeschool.protocols.registry import get_protocol
from gradeschool.runs.plan import RunPlan

SCHEMA = 1
# These never change in a run; the number of problems and of samples may grow.
FIXED = ("model", "protocol", "dataset", "shots", "decoding")


def make_manifest(
    plan: RunPlan,
    model: Model,
    version: str,
    earlier: Mapping[str, Any] | None,
    repairs: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the fields of run.json; they hold no API key, and no path but the dataset's.

    repairs: what this session put right in the folder; all of them stay in run.json.

    Raises StoreError where `earlier`, the folder's present run.json, is of another run.
    """
    schema = (earlier or {}).get("schema", SCHEMA)
    if schema != SCHEMA:
        raise StoreError(
            f"the run folder has the schema {schema!r}, this version knows {SCHEMA}; "
            "use the version that wrote it, or give another folder with -o"
        )
    now = datetime.now(UTC).isoformat(timespec="seconds")
    fields = {
        "schema": SCHEMA,
        "gradeschool": version,
        "python": platform.python_version(),
        "created": earlier.get("created", now) if earlier else now,
        "updated": now,
        "model": model.identity,
        **facts_of(plan),
        "problems": len(plan.problems),
        "samples": plan.samples,
    }
    if earlier is not None:
        name = differing(earlier, fields)
        if name is not None:
            raise StoreError(
                f"the run folder holds another run: its {name} is "
                f"{earlier.get(name)!r}, asked for is {fields[name]!r}; "
                "give another folder with -o"
            )
    before = (earlier or {}).get("repairs")
    listed = [*(before if isinstance(before, list) else ())]
    listed += [{"time": now, "what": text} for text in repairs]
    return {**fields, "repairs": listed} if listed else fields


def facts_of(plan: RunPlan) -> dict[str, Any]:
    """Return protocol, dataset, shots and decoding as run.json holds them."""
    return {
        "protocol": {
            "name": plan.protocol.name,
            "digest": plan.protocol.digest(),
            "scorers": list(plan.protocol.scorers),
            "source": plan.protocol.source,
        },
        "dataset": {"name": plan.dataset.name, "sha256": plan.dataset.sha256},
        "shots": {"name": plan.shots.name, "sha256": plan.shots.sha256} if plan.shots else None,
        "decoding": {**asdict(plan.decoding), "stop": list(plan.decoding.stop)},
    }


def differing(first: Mapping[str, Any], second: Mapping[str, Any]) -> str | None:
    """Return the first field that makes two run.json those of different runs, or None."""
    return next((name for name in FIXED if first.get(name) != second.get(name)), None)


def plan_of(fields: Mapping[str, Any]) -> RunPlan:
    """Return the plan of a run.json, with today's protocol and dataset of these names.

    Raises StoreError where the fields are not those of a run.json, UnknownNameError, DataError.
    """
    try:
        protocol = get_protocol(fields["protocol"]["name"])
        dataset = load_dataset(fields["dataset"]["name"])
        decoding = {**fields["decoding"], "stop": tuple(fields["decoding"]["stop"])}
        shots = load_dataset(fields["shots"]["name"]) if fields["shots"] else None
        problems = dataset.problems[: fields["problems"]]
        samples = int(fields["samples"])
        return RunPlan(protocol, dataset, problems, shots, Decoding(**decoding), samples)
    except (KeyError, TypeError) as error:
        raise StoreError(
            f"run.json is not as gradeschool wrote it ({error!s} is missing or of another kind); "
            "restore it, or run the evaluation again"
        ) from error
