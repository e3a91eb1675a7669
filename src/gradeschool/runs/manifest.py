"""run.json: what a run is, so that another command can tell whether it is the same run."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from gradeschool.completion import Decoding
from gradeschool.datasets.load import load_dataset
from gradeschool.errors import StoreError
from gradeschool.models.base import Model
from gradeschool.protocols.registry import get_protocol
from gradeschool.runs.plan import Plan

SCHEMA = 1
# A run keeps these for life; the number of problems and of samples may grow.
FIXED = ("model", "protocol", "dataset", "shots", "decoding")


def manifest(
    plan: Plan, model: Model, version: str, earlier: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the fields of run.json; holds no key and no machine's path but the dataset's.

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
        different = differing(earlier, fields)
        if different is not None:
            raise StoreError(
                f"the run folder holds another run: its {different} is "
                f"{earlier.get(different)!r}, asked for is {fields[different]!r}; "
                "give another folder with -o"
            )
    return fields


def facts_of(plan: Plan) -> dict[str, Any]:
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


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> str | None:
    """Return the first of the facts of two run.json that makes them different runs, or None."""
    return next((name for name in FIXED if one.get(name) != other.get(name)), None)


def plan_of(fields: Mapping[str, Any]) -> Plan:
    """Return the plan that a run.json tells of, with today's protocol and dataset of that name.

    Raises StoreError where the fields are no run.json of ours, UnknownNameError, DataError.
    """
    try:
        protocol = get_protocol(fields["protocol"]["name"])
        dataset = load_dataset(fields["dataset"]["name"])
        decoding = {**fields["decoding"], "stop": tuple(fields["decoding"]["stop"])}
        shots = load_dataset(fields["shots"]["name"]) if fields["shots"] else None
        problems = dataset.problems[: fields["problems"]]
        samples = int(fields["samples"])
        return Plan(protocol, dataset, problems, shots, Decoding(**decoding), samples)
    except (KeyError, TypeError) as error:
        raise StoreError(
            f"run.json is not as gradeschool wrote it ({error!s} is missing or of another kind); "
            "restore it, or run the evaluation again"
        ) from error
