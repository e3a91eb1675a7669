"""The reporting checklist, filled in from the run; facts that are not recorded are marked.

It lists what a result on GSM8K must state so that others can get the same number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from gradeschool.formats.own_run import other_models
from gradeschool.formats.settings import mapping
from gradeschool.protocol import Protocol
from gradeschool.reports.measured import (
    MeasuredSettings,
    engine_words,
    known_protocol,
    measured,
    temperature_words,
)
from gradeschool.reports.page.verdicts import HEADLINE, Judged, Rates, samples_of


class Item(NamedTuple):
    """One line of the checklist; value is None if the run does not record it."""

    name: str
    value: str | None


def checklist(judged: Judged, rates: Rates) -> list[Item]:
    """Return the checklist of a run."""
    manifest = judged.manifest
    decoding = mapping(manifest.get("decoding"))
    protocol = mapping(manifest.get("protocol"))
    published, settings = known_protocol(manifest), measured(manifest)
    return [
        Item("Model", _model(judged)),
        Item("Engine and versions", _versions(manifest)),
        Item("Precision", settings.precision or None),
        Item("Test set and its digest", _dataset(manifest)),
        Item("Few-shot examples", _shots(manifest, published)),
        Item("Prompt format", _format(published)),
        Item("Protocol", _protocol(protocol)),
        Item("Reading and comparing the answer", judged.scorers[HEADLINE]),
        Item("Decoding", _decoding(decoding)),
        Item("Changed from the protocol", _changes(published, settings)),
        Item("Samples a problem", _samples(*samples_of(judged))),
        Item("Stop strings and limit", _limits(decoding)),
        Item("Truncated, empty, run-on", _rates(rates)),
        Item("Interval", "95 %, Wilson; by problem where there are several samples"),
    ]


def _string(fields: Mapping[str, Any], name: str) -> str | None:
    result = fields.get(name)
    return str(result) if result not in (None, "", [], {}) else None


def _changes(protocol: Protocol | None, settings: MeasuredSettings) -> str | None:
    if protocol is None:
        return None
    return ", ".join(settings.changes) or "nothing"


def _model(judged: Judged) -> str | None:
    answered = mapping(judged.run.results.get("answered_by"))
    model = _string(judged.manifest, "model")
    others = other_models(model or "", answered)
    return f"{model}; the server says that it answered as {others}" if others else model


def _versions(manifest: Mapping[str, Any]) -> str | None:
    version = _string(manifest, "gradeschool")
    if version is None:
        return None
    engine = engine_words(manifest)
    own = f"gradeschool {version}, Python {_string(manifest, 'python') or 'unknown'}"
    return f"{engine}; {own}" if engine else f"engine not recorded; {own}"


def _dataset(manifest: Mapping[str, Any]) -> str | None:
    dataset = mapping(manifest.get("dataset"))
    name, digest = _string(dataset, "name"), _string(dataset, "sha256")
    return f"{name}, SHA-256 {digest}" if name else None


def _shots(manifest: Mapping[str, Any], protocol: Protocol | None) -> str | None:
    if not manifest:
        return None
    shots = mapping(manifest.get("shots"))
    if not shots:
        return "none (0-shot)"
    count = f"{protocol.shot_count} of " if protocol and protocol.shot_count else ""
    return f"{count}{_string(shots, 'name')}, SHA-256 {_string(shots, 'sha256')}"


def _format(protocol: Protocol | None) -> str | None:
    if protocol is None:
        return None
    return "chat messages (the server's template)" if protocol.is_chat else "one text (completion)"


def _protocol(protocol: Mapping[str, Any]) -> str | None:
    name = _string(protocol, "name")
    if name is None:
        return None
    return f"{name}, hash {_string(protocol, 'digest')}; {_string(protocol, 'source')}"


def _decoding(decoding: Mapping[str, Any]) -> str | None:
    if "temperature" not in decoding:
        return None
    top_p, seed = decoding.get("top_p"), decoding.get("seed")
    words = [
        temperature_words(decoding["temperature"]),
        *([] if top_p is None else [f"top-p {top_p}"]),
    ]
    return ", ".join([*words, "no seed" if seed is None else f"seed {seed}"])


def _samples(fewest: int, most: int) -> str:
    if most == 1:
        return "1"
    number = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    return f"{number}: accuracy is the mean over samples, maj@k and pass@k are reported separately"


def _limits(decoding: Mapping[str, Any]) -> str | None:
    if "max_tokens" not in decoding:
        return None
    stop = decoding.get("stop") or []
    limit = decoding["max_tokens"]
    stops = ", ".join(repr(string) for string in stops_of(stop)) or "no stop strings"
    return f"{stops}; {f'{limit} tokens' if limit else 'the limit of the server'}"


def stops_of(stop: object) -> list[str]:
    """Return stop strings as recorded: a list, or one string."""
    return [str(string) for string in stop] if isinstance(stop, list) else [str(stop)]


def _rates(rates: Rates) -> str:
    how = "truncated" if rates.finish_known else "look cut (no finish reason is recorded)"
    others = f"{rates.empty} empty, {rates.run_on} ran on, of {rates.texts}"
    return f"{rates.truncated} {how}, {others}"
