"""lm-evaluation-harness: `MODEL/results_TIME.json` and `MODEL/samples_TASK_TIME.jsonl`.

One row for each document and filter, from any version since 0.3. `reports.export.lm_eval_files`
writes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gradeschool.completion import Prompt
from gradeschool.errors import InputError
from gradeschool.formats import settings
from gradeschool.formats.settings import (
    RecordedRequest,
    RecordedSettings,
    base_address,
    mapping,
    mapping_in,
    messages_prompt,
    recorded,
)
from gradeschool.formats.tables import read_rows
from gradeschool.formats.values import first_given
from gradeschool.protocols.registry import all_scorers

PLACES = ("pretrained", "path", "model", "base_url")  # arguments for model and address
QUESTION_FIELDS = ("question", "problem", "Problem", "prompt", "input")


def is_lm_eval(fields: Mapping[str, object]) -> bool:
    """Return whether a row is a sample of lm-eval."""
    return {"doc_id", "doc", "resps"} <= fields.keys()


def is_lm_eval_results(value: Mapping[str, object]) -> bool:
    """Return whether a JSON object has the results of lm-eval, which are without texts."""
    return "results" in value and not {"configs", "n-samples", "n-shot", "versions"}.isdisjoint(
        value
    )


class LmEvalSamples:
    """Reads rows; those of other filters than the first repeat the responses and are skipped."""

    def __init__(self, path: Path, first: object) -> None:
        self.run = _results_beside(path).get("model_name")
        self.filter = first
        self._read: set[int] = set()  # hashes of responses, since texts may be many
        self._others: dict[int, object] = {}

    def plain(self, fields: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return the plain row of the responses of a row of the file's first filter."""
        doc, responses = mapping(fields.get("doc")), fields.get("resps")
        key = hash((repr(fields.get("doc_id")), repr(responses)))
        if (name := fields.get("filter")) != self.filter and "resps" in fields:
            self._others.setdefault(key, name)
            return []
        self._read.add(key)
        lists = responses if isinstance(responses, list) else []
        texts = [text for each in lists for text in (each if isinstance(each, list) else [each])]
        question, gold = first_given(doc, QUESTION_FIELDS), doc.get("answer")
        return [{
            "id": fields.get("doc_id"),
            "question": question if isinstance(question, str) else None,
            "gold": gold if isinstance(gold, str) else fields.get("target"),
            "run": self.run,
            "sample": 0,  # so that a row that is written twice is counted once
            "response": texts or None,
            "flag": fields.get("exact_match"),
        }]  # fmt: skip

    def check(self, file: str) -> None:
        """Raise InputError if rows of other filters have other responses than the first's.

        lm-eval writes the same responses once for each filter.
        """
        if others := {key: row for key, row in self._others.items() if key not in self._read}:
            raise InputError(
                f"{len(others)} rows of {file!r} have other filters than {self.filter!r}, such as "
                f"{next(iter(others.values()))!r}, and other responses; they are of another task "
                "or run: give each its own file"
            )


def _results_beside(path: Path) -> Mapping[str, Any]:
    """Return `results_<time>.json` beside `samples_<task>_<time>.jsonl`, {} if it is unreadable."""
    return mapping_in(path.with_name(f"results_{path.stem.rpartition('_')[2]}.json"))


# Settings


def lm_eval_settings(path: Path) -> RecordedSettings:
    """Return the settings of samples; without a results file, only those in the rows."""
    requests: dict[int, RecordedRequest] = {}
    generation: Mapping[str, Any] = {}
    filters: list[str] = []
    for row in read_rows(path):
        prompt, options = request_arguments(row.fields.get("arguments"))
        requests[row.number] = RecordedRequest(prompt_of(prompt))
        generation = generation or options
        filters.append(str(row.fields.get("filter")))
    task = path.stem.removeprefix("samples_").rpartition("_")[0]
    scorer = f"lm-eval/{task.replace('_', '-')}/{filters[0] if filters else ''}"
    until = generation.get("until")
    values = {
        **_run_settings(_results_beside(path), task),
        settings.TEMPERATURE: 0.0
        if generation.get("do_sample") is False
        else generation.get("temperature"),
        settings.TOP_P: generation.get("top_p"),
        settings.STOP: [until] if isinstance(until, str) else until,
        settings.LIMIT: generation.get("max_gen_toks") or generation.get("max_tokens"),
        settings.SEED: generation.get("seed"),
    }
    scorer = scorer if scorer in all_scorers() else ""
    return RecordedSettings("lm-eval samples", recorded(values), requests, scorer)


def request_arguments(value: object) -> tuple[object, Mapping[str, Any]]:
    """Return the prompt and the generation settings of a row; older files have a list."""
    if isinstance(value, list):
        first = value[0] if value and isinstance(value[0], list) else []
        prompt, options = (*first, None, None)[:2]
        return prompt, mapping(options)
    arguments = mapping(mapping(value).get("gen_args_0"))
    return arguments.get("arg_0"), mapping(arguments.get("arg_1"))


def prompt_of(argument: object) -> Prompt | None:
    """Return a prompt: a text, or the messages of a chat, which are stored as JSON text."""
    if not isinstance(argument, str):
        return messages_prompt(argument)
    try:
        messages = messages_prompt(json.loads(argument)) if argument.startswith("[") else None
    except (ValueError, RecursionError):
        messages = None
    return messages or Prompt(text=argument)


def _run_settings(results: Mapping[str, Any], task: str) -> dict[str, Any]:
    """Return what the results file says of the model, the task and its prompts."""
    if not results:
        return {}
    config = mapping(results.get("config"))
    options = mapping(mapping(results.get("configs")).get(task))
    arguments = config.get("model_args")
    if isinstance(arguments, str):  # "name=value,name=value" in older files
        parts = (part.partition("=") for part in arguments.split(",") if "=" in part)
        arguments = {name.strip(): value for name, _, value in parts}
    model = mapping(arguments)
    engine = [str(config.get("model"))]
    engine += [f"{key}={value}" for key, value in model.items() if key not in PLACES]
    versions = [
        f"{name} {version}"
        for name in ("lm-eval", "transformers", "vllm")
        if (version := results.get(f"{name.replace('-', '_')}_version")) not in (None, "N/A")
    ]
    dataset = [str(options[name]) for name in ("dataset_path", "dataset_name", "test_split")
               if options.get(name)]  # fmt: skip
    shots = mapping(options.get("fewshot_config")).get("split") or options.get("fewshot_split")
    revision = mapping(options.get("dataset_kwargs")).get("revision")
    return {
        settings.MODEL: results.get("model_name"),
        settings.ADDRESS: base_address(model.get("base_url")),
        settings.ENGINE: " ".join(engine),
        settings.VERSIONS: ", ".join(versions) or None,
        settings.PRECISION: model.get("dtype"),
        settings.PROTOCOL: f"lm-eval {task}, version {mapping(results.get('versions')).get(task)}",
        settings.SYSTEM: results.get("system_instruction") or "none",
        settings.SHOTS: shots or options.get("training_split"),
        settings.SHOT_COUNT: mapping(results.get("n-shot")).get(task),
        settings.TEMPLATE: results.get("chat_template_sha") or "none",
        settings.BOS: model.get("add_bos_token"),
        settings.SAMPLES: options.get("repeats"),
        settings.DATASET: " ".join(dataset) or None,
        settings.DIGEST: f"revision {revision}" if revision else None,
    }
