"""The plan of a run: every sample of every problem in order, with its key; and run.json.

run.json contains the settings, so that a later command can check whether it is the same run.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Any

from gradeschool import __version__
from gradeschool.completion import Decoding, Prompt
from gradeschool.datasets.load import Dataset, load_dataset
from gradeschool.errors import InputError, StoreError
from gradeschool.models.base import Request
from gradeschool.problem import Problem
from gradeschool.protocol import Protocol
from gradeschool.protocols.registry import get_protocol, protocol_from
from gradeschool.scorer import Scorer

SCHEMA = 1
# These never change in a run; the numbers of problems and samples may increase.
FIXED = ("model", "protocol", "dataset", "shots", "decoding")


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The settings of a run: protocol, problems of its dataset, decoding, samples per problem.

    file: the name of a protocol that Python made, "mine.py:PROTOCOL". scorers: of the protocol,
    ready for use; () to find them by name.
    """

    protocol: Protocol
    dataset: Dataset
    problems: tuple[Problem, ...]
    shots: Dataset | None
    decoding: Decoding
    samples: int
    file: str = ""
    scorers: tuple[Scorer, ...] = ()

    def prompts(self) -> dict[str, Prompt]:
        """Return the prompts by the problem's id.

        Few-shot examples may be drawn for each problem of the dataset in order, so the prompts of
        a part are those of a run over the whole dataset.
        """
        whole = self.dataset.problems
        rendered = self.problems if self.problems == whole[: len(self.problems)] else whole
        rendering = self.protocol.render(rendered, self.shots.problems if self.shots else ())
        prompts = {}
        for problem, prompt in zip(rendered, rendering, strict=True):
            prompts[problem.id] = prompt
        return prompts

    def requests(self, identity: str) -> list[Request]:
        """Return the requests to the model with this identity, by problem."""
        prompts, decoding, requests = self.prompts(), self.decoding, []
        for problem in self.problems:
            prompt = prompts[problem.id]
            for sample in range(self.samples):
                key = request_key(identity, prompt, decoding, sample)
                requests.append(Request(problem, prompt, decoding, key, sample))
        return requests


def request_key(identity: str, prompt: Prompt, decoding: Decoding, sample: int) -> str:
    """Return the SHA-256 of model identity, rendered prompt, decoding and sample index, in hex.

    Different models, prompts, temperatures or samples never share a key, so that a stored
    completion is never used for another request.
    """
    limits = [decoding.temperature, decoding.top_p, decoding.max_tokens]
    facts = [identity, prompt.text, prompt.messages, prompt.prefix, limits, [*decoding.stop],
             decoding.seed, sample]  # fmt: skip
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def make_manifest(
    plan: RunPlan, identity: str, earlier: Mapping[str, Any] | None, folder: Path
) -> dict[str, Any]:
    """Return the fields of run.json; they contain no API key, and no path except the dataset's.

    identity: of the model. Raises StoreError if `earlier`, the present run.json of `folder`, is of
    another run or of one with problems or samples that this plan lacks.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    ids = [problem.id for problem in plan.problems]
    is_beginning = plan.problems == plan.dataset.problems[: len(ids)]
    fields = {
        "schema": SCHEMA,
        "gradeschool": __version__,
        "python": platform.python_version(),
        "created": now,
        "updated": now,
        "model": identity,
        **facts_of(plan),
        "problems": len(ids),
        "samples": plan.samples,
        **({} if is_beginning else {"problem_ids": ids}),
    }
    if earlier is None:
        return fields
    if earlier.get("schema") != SCHEMA:
        raise StoreError(
            f"the run folder has the schema {earlier.get('schema')!r}, and this version knows "
            f"{SCHEMA}; use the version that wrote it, or give another folder with -o"
        )
    if changed := differing(earlier, fields):
        raise StoreError(
            f"{str(folder)!r} contains another run: its {changed}; give another folder with -o"
        )
    problems, samples = earlier.get("problems"), earlier.get("samples")
    stored = earlier.get("problem_ids")
    if not isinstance(stored, list) and isinstance(problems, int):
        stored = [problem.id for problem in plan.dataset.problems[:problems]]
    lost = {str(id) for id in stored or ()}.difference(ids)
    if lost or (isinstance(samples, int) and samples > plan.samples):
        raise StoreError(
            f"{str(folder)!r} contains a larger run ({problems} problems, {samples} samples each); "
            f"give -n {problems} or more and -k {samples} or more, or another folder with -o "
            f"(`gradeschool score {quote(str(folder))}` scores what is answered)"
        )
    return {**fields, "created": earlier.get("created", now)}


def facts_of(plan: RunPlan) -> dict[str, Any]:
    """Return protocol, dataset, shots and decoding for run.json."""
    protocol = plan.protocol
    described: dict[str, Any] = {
        "name": protocol.name,
        "digest": protocol.digest(),
        "scorers": list(protocol.scorers),
        "source": protocol.source,
    }
    if protocol.base:
        described["base"] = protocol.base
    if protocol.changes:
        described["changes"] = dict(protocol.changes)
    if plan.file:
        described["file"] = plan.file
    return {
        "protocol": described,
        "dataset": {"name": plan.dataset.name, "sha256": plan.dataset.sha256},
        "shots": {"name": plan.shots.name, "sha256": plan.shots.sha256} if plan.shots else None,
        "decoding": {**asdict(plan.decoding), "stop": list(plan.decoding.stop)},
    }


def differing(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """Return the first setting that makes two run.json files those of different runs, in words.

    "temperature is 0.0, not 0.7"; "" if they are of the same run.
    """
    for name in FIXED:
        before, after = first.get(name), second.get(name)
        if before == after:
            continue
        words = name
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            key = next(key for key in {**before, **after} if before.get(key) != after.get(key))
            before, after = before.get(key), after.get(key)
            words = "" if name == "decoding" else name
            words += "" if key == "name" else f" {key.replace('_', ' ')}"
        shown = ["none" if value in (None, [], "") else repr(value) for value in (before, after)]
        return f"{words.strip()} is {shown[0]}, not {shown[1]}"
    return ""


def recorded_prompts(fields: Mapping[str, Any]) -> dict[str, Prompt]:
    """Return the prompts of a run.json by key, rendered again; raises like `recorded_plan`.

    A key is a digest of its prompt: a stored completion with this key was given this prompt.
    """
    requests = recorded_plan(fields).requests(str(fields.get("model")))
    return {request.key: request.prompt for request in requests}


def recorded_protocol(fields: Mapping[str, Any]) -> Protocol:
    """Return the protocol that run.json describes: published, or one's own, as it is now.

    Raises UnknownNameError, and InputError if an own protocol cannot be made again.
    """
    changes, base = fields.get("changes"), fields.get("base")
    name = str(base or fields.get("file") or fields["name"])
    if ".py:" in name and not (changes and not base):
        raise InputError(f"its protocol is {name!r}, and code that a run folder names is not run")
    if base:
        return get_protocol(str(base)).with_changes(**dict(changes or {}))
    if changes:
        return protocol_from(changes, str(fields.get("source")), str(fields["name"]))
    return get_protocol(name)


def recorded_plan(fields: Mapping[str, Any]) -> RunPlan:
    """Return the plan of a run.json, with the current protocol and dataset of these names.

    Raises StoreError if the fields are not those of a run.json, UnknownNameError, DataError.
    """
    try:
        protocol = recorded_protocol(fields["protocol"])
        dataset = load_dataset(fields["dataset"]["name"])
        decoding = {**fields["decoding"], "stop": tuple(fields["decoding"]["stop"])}
        shots = load_dataset(fields["shots"]["name"]) if fields["shots"] else None
        problems = dataset.problems[: fields["problems"]]
        if "problem_ids" in fields:
            by_id = {problem.id: problem for problem in dataset.problems}
            problems = tuple(by_id[id] for id in fields["problem_ids"])
        samples = int(fields["samples"])
        file = str(fields["protocol"].get("file", ""))
        return RunPlan(protocol, dataset, problems, shots, Decoding(**decoding), samples, file)
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise StoreError(
            f"run.json was changed or damaged ({error!s} is missing or of the wrong type); "
            "restore it, or run the evaluation again"
        ) from error
