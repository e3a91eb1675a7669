"""What a log of inspect_ai records: its header, and the messages of every sample."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gradeschool.completion import Prompt
from gradeschool.formats.inspect_log import read_log
from gradeschool.runs.diff import side
from gradeschool.runs.diff.side import Asked, Side, address_of, as_messages, known, mapping
from gradeschool.scoring.samples import Run

# Versions from which inspect's `match(numeric=True)` reads as the scorer says, the latest first.
MATCH_SCORERS = (
    ((0, 3, 253), "inspect/match-numeric@>=0.3.253"),
    ((0, 3, 221), "inspect/match-numeric@0.3.221-0.3.252"),
    ((0,), "inspect/match-numeric@<=0.3.220"),
)


def inspect_side(run: Run, path: Path) -> Side:
    """Return a log of inspect as a side."""
    header, samples = read_log(path)
    asked = {number: _asked(mapping(sample)) for number, sample in samples}
    spec, plan = mapping(header.get("eval")), mapping(header.get("plan"))
    version = str(mapping(spec.get("packages")).get("inspect_ai") or "")
    settings = {
        **_said(spec, version),
        **_decoding({**mapping(spec.get("model_generate_config")), **mapping(plan.get("config"))}),
    }
    return Side(run, "inspect log", known(settings), asked, _scorer(spec, version))


def _asked(sample: Mapping[str, Any]) -> Asked:
    turns = sample.get("messages")
    tokens = mapping(mapping(sample.get("output")).get("usage")).get("input_tokens")
    return Asked(_prompt(turns), tokens if isinstance(tokens, int) else None)


def _prompt(turns: object) -> Prompt | None:
    if not isinstance(turns, list):
        return None
    answered = bool(turns) and mapping(turns[-1]).get("role") == "assistant"
    return as_messages(turns[:-1] if answered else turns)


def _said(spec: Mapping[str, Any], version: str) -> dict[str, Any]:
    dataset, config = mapping(spec.get("dataset")), mapping(spec.get("config"))
    arguments = mapping(spec.get("task_args"))
    said = ", ".join(f"{name}={value}" for name, value in arguments.items())
    task = spec.get("task")
    return {
        side.MODEL: spec.get("model"),
        side.ADDRESS: address_of(spec.get("model_base_url")),
        side.VERSIONS: f"inspect_ai {version}" if version else None,
        side.PROTOCOL: f"inspect {task}{f' ({said})' if said else ''}" if task else None,
        side.SHOT_COUNT: arguments.get("fewshot"),
        side.SEED: mapping(spec.get("model_generate_config")).get("seed"),
        side.SAMPLES: config.get("epochs"),
        side.DATASET: dataset.get("location") or dataset.get("name"),
    }


def _decoding(config: Mapping[str, Any]) -> dict[str, Any]:
    return {
        side.TEMPERATURE: config.get("temperature"),
        side.TOP_P: config.get("top_p"),
        side.SEED: config.get("seed"),
        side.STOP: config.get("stop_seqs"),
        side.LIMIT: config.get("max_tokens"),
    }


def _scorer(spec: Mapping[str, Any], version: str) -> str:
    scorers = spec.get("scorers")
    first = mapping(scorers[0]) if isinstance(scorers, list) and scorers else {}
    name = str(first.get("name")).rpartition("/")[2]
    if name != "match" or not mapping(first.get("options")).get("numeric"):
        return ""
    parts = tuple(int(part) for part in version.split(".")[:3] if part.isdecimal())
    return next((scorer for since, scorer in MATCH_SCORERS if parts >= since), "")
