"""run.json: what a run is, so that another command can tell whether it is the same run."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from gradeschool.errors import StoreError
from gradeschool.models.base import Model
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
    now = datetime.now(UTC).isoformat(timespec="seconds")
    fields = {
        "schema": SCHEMA,
        "gradeschool": version,
        "python": platform.python_version(),
        "created": earlier.get("created", now) if earlier else now,
        "updated": now,
        "model": model.identity,
        "protocol": {
            "name": plan.protocol.name,
            "digest": plan.protocol.digest(),
            "rules": list(plan.protocol.rules),
            "source": plan.protocol.source,
        },
        "dataset": {"name": plan.dataset.name, "sha256": plan.dataset.sha256},
        "shots": {"name": plan.shots.name, "sha256": plan.shots.sha256} if plan.shots else None,
        "decoding": {**asdict(plan.decoding), "stop": list(plan.decoding.stop)},
        "problems": len(plan.problems),
        "samples": plan.samples,
    }
    if earlier is not None:
        _compare(earlier, fields)
    return fields


def _compare(earlier: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
    for name in FIXED:
        if earlier.get(name) != fields[name]:
            raise StoreError(
                f"the run folder holds another run: its {name} is {earlier.get(name)!r}, "
                f"asked for is {fields[name]!r}; give another folder with -o"
            )
