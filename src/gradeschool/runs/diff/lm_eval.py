"""What lm-evaluation-harness records: `samples_*.jsonl` and the results file beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gradeschool.completion import Prompt
from gradeschool.protocols.registry import all_scorers
from gradeschool.runs.diff import side
from gradeschool.runs.diff.side import Asked, Side, address_of, as_messages, known, mapping
from gradeschool.scoring.samples import Run
from gradeschool.tables import read_rows

UNSAID = ("pretrained", "path", "model", "base_url")  # arguments that say which model and where


def lm_eval_side(run: Run, path: Path) -> Side:
    """Return samples of lm-eval as a side; without a results file beside them, what rows hold."""
    asked: dict[int, Asked] = {}
    generation: Mapping[str, Any] = {}
    filters: list[str] = []
    for row in read_rows(path):
        prompt, told = _arguments_of(row.fields.get("arguments"))
        asked[row.number] = Asked(_prompt(prompt))
        generation = generation or told
        filters.append(str(row.fields.get("filter")))
    stem, _, stamp = path.stem.removeprefix("samples_").rpartition("_")
    results = _results(path.parent / f"results_{stamp}.json")
    scorer = f"lm-eval/{stem.replace('_', '-')}/{filters[0] if filters else ''}"
    settings = {**_said(results, stem), **_generation(generation)}
    return Side(
        run, "lm-eval samples", known(settings), asked, scorer if scorer in all_scorers() else ""
    )


def _arguments_of(value: object) -> tuple[object, Mapping[str, Any]]:
    """Return the prompt and the generation settings of a row; older files hold a list."""
    if isinstance(value, list):
        first = value[0] if value and isinstance(value[0], list) else []
        prompt, told = (*first, None, None)[:2]
        return prompt, mapping(told)
    arguments = mapping(mapping(value).get("gen_args_0"))
    return arguments.get("arg_0"), mapping(arguments.get("arg_1"))


def _prompt(argument: object) -> Prompt | None:
    """Return a prompt: a text, or the messages that a chat's first argument is as JSON."""
    if isinstance(argument, str) and argument.startswith("["):
        try:
            argument = json.loads(argument)
        except (ValueError, RecursionError):
            return Prompt(text=str(argument))
        return as_messages(argument) or Prompt(text=str(argument))
    return Prompt(text=argument) if isinstance(argument, str) else as_messages(argument)


def _results(path: Path) -> Mapping[str, Any]:
    try:
        return mapping(json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError):
        return {}


def _said(results: Mapping[str, Any], task: str) -> dict[str, Any]:
    if not results:
        return {}
    config = mapping(results.get("config"))
    about = mapping(mapping(results.get("configs")).get(task))
    model = _arguments(config.get("model_args"))
    shots = mapping(about.get("fewshot_config"))
    versions = [
        f"{name} {found}"
        for name in ("lm-eval", "transformers", "vllm")
        if (found := results.get(f"{name.replace('-', '_')}_version")) not in (None, "N/A")
    ]
    revision = mapping(about.get("dataset_kwargs")).get("revision")
    where = (about.get("dataset_path"), about.get("dataset_name"), about.get("test_split"))
    return {
        side.MODEL: results.get("model_name"),
        side.ADDRESS: address_of(model.get("base_url")),
        side.ENGINE: _engine(str(config.get("model")), model),
        side.VERSIONS: ", ".join(versions) or None,
        side.PRECISION: model.get("dtype"),
        side.PROTOCOL: f"lm-eval {task}, version {mapping(results.get('versions')).get(task)}",
        side.SYSTEM: results.get("system_instruction") or "none",
        side.SHOTS: shots.get("split") or about.get("fewshot_split") or about.get("training_split"),
        side.SHOT_COUNT: mapping(results.get("n-shot")).get(task),
        side.TEMPLATE: results.get("chat_template_sha") or "none",
        side.BOS: model.get("add_bos_token"),
        side.SAMPLES: about.get("repeats"),
        side.DATASET: " ".join(str(part) for part in where if part) or None,
        side.DIGEST: f"revision {revision}" if revision else None,
    }


def _arguments(given: object) -> Mapping[str, Any]:
    """Return the arguments of a model: an object, or "name=value,name=value" in older files."""
    if isinstance(given, str):
        parts = (part.partition("=") for part in given.split(",") if "=" in part)
        return {name.strip(): value for name, _, value in parts}
    return mapping(given)


def _engine(name: str, model: Mapping[str, Any]) -> str:
    others = [f"{key}={value}" for key, value in model.items() if key not in UNSAID]
    return " ".join([name, *others])


def _generation(given: Mapping[str, Any]) -> dict[str, Any]:
    greedy = given.get("do_sample") is False
    until = given.get("until")
    return {
        side.TEMPERATURE: 0.0 if greedy else given.get("temperature"),
        side.TOP_P: given.get("top_p"),
        side.STOP: [until] if isinstance(until, str) else until,
        side.LIMIT: given.get("max_gen_toks") or given.get("max_tokens"),
        side.SEED: given.get("seed"),
    }
