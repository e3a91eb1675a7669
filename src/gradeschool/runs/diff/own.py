"""What a run folder of ours records: run.json, and prompts that its keys prove."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gradeschool.completion import Prompt
from gradeschool.errors import InputError
from gradeschool.formats.own_run import COMPLETIONS_FILE, from_fields
from gradeschool.runs.diff import side
from gradeschool.runs.diff.side import Asked, Side, address_of, known, mapping
from gradeschool.runs.manifest import plan_of
from gradeschool.scoring.collect import Run
from gradeschool.tables import read_rows


def own_side(run: Run, path: Path, manifest: Mapping[str, Any]) -> Side:
    """Return a run folder of ours as a side.

    A prompt counts as recorded where the protocol renders it today so that the completion's key
    comes out: the key is a hash of model, prompt and decoding.
    """
    prompts = _prompts(manifest)
    asked, models = {}, Counter[str]()
    file = path / COMPLETIONS_FILE if path.is_dir() else path
    for row in read_rows(file):
        completion = from_fields(row.fields)
        if completion is None:
            continue
        asked[row.number] = Asked(prompts.get(completion.key), completion.usage.prompt_tokens)
        models[completion.model] += bool(completion.model)
    protocol = mapping(manifest.get("protocol"))
    scorers = protocol.get("scorers")
    settings = {**_settings(manifest, protocol), side.ANSWERED_BY: sorted(+models) or None}
    scorer = str(scorers[0]) if isinstance(scorers, list) and scorers else ""
    return Side(run, "run folder", known(settings), asked, scorer)


def _prompts(manifest: Mapping[str, Any]) -> dict[str, Prompt]:
    """Return the prompts by key; none where protocol or dataset are not to be had here."""
    try:
        requests = plan_of(manifest).requests(str(manifest.get("model")))
    except InputError:
        return {}
    return {request.key: request.prompt for request in requests}


def _settings(manifest: Mapping[str, Any], protocol: Mapping[str, Any]) -> dict[str, Any]:
    decoding, dataset = mapping(manifest.get("decoding")), mapping(manifest.get("dataset"))
    shots = mapping(manifest.get("shots"))
    model, _, address = str(manifest.get("model") or "").partition(" at ")
    name, digest = protocol.get("name"), protocol.get("digest")
    return {
        side.MODEL: model or None,
        side.ADDRESS: address_of(address),
        side.ENGINE: manifest.get("engine") or manifest.get("server"),
        side.VERSIONS: _versions(manifest),
        side.PRECISION: manifest.get("precision"),
        side.PROTOCOL: f"{name} {digest}" if name else None,
        side.SHOTS: _source(shots) if "shots" in manifest else None,
        side.SHOT_COUNT: _shot_count(str(name)),
        side.TEMPERATURE: decoding.get("temperature"),
        side.TOP_P: decoding.get("top_p"),
        side.SEED: decoding.get("seed", "") if "seed" in decoding else None,
        side.STOP: decoding.get("stop"),
        side.LIMIT: decoding.get("max_tokens"),
        side.SAMPLES: manifest.get("samples"),
        side.DATASET: dataset.get("name"),
        side.DIGEST: dataset.get("sha256"),
    }


def _versions(manifest: Mapping[str, Any]) -> str | None:
    ours = manifest.get("gradeschool")
    return f"gradeschool {ours}, Python {manifest.get('python')}" if ours else None


def _source(shots: Mapping[str, Any]) -> str:
    return f"{shots.get('name')} {str(shots.get('sha256'))[:12]}" if shots else "none"


def _shot_count(protocol: str) -> int | None:
    from gradeschool.errors import UnknownNameError
    from gradeschool.protocols.registry import get_protocol

    try:
        return get_protocol(protocol).shot_count
    except UnknownNameError:
        return None
