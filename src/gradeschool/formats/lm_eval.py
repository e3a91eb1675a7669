"""lm-evaluation-harness: `MODEL/results_TIME.json` and `MODEL/samples_TASK_TIME.jsonl`.

Reading: one row for each document and filter, from any version since 0.3. Writing: the layout of
lm-eval 0.4.13, lm_eval/loggers/evaluation_tracker.py (folders, names, hashes) and
lm_eval/result_schema.py (fields); lm-eval's own writer needs the task objects of an lm-eval run.
Scorers are written as filters, and their verdicts as `exact_match`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gradeschool import __version__
from gradeschool.completion import Prompt
from gradeschool.errors import InputError
from gradeschool.formats import settings
from gradeschool.formats.export import (
    ExportedFile,
    ExportedRun,
    ExportedSample,
    encoded,
    lines_file,
    storable,
)
from gradeschool.formats.own_run import slug
from gradeschool.formats.samples import (
    FileSample,
    Reference,
    faulty,
    first_of,
    shown,
    whole_number,
)
from gradeschool.formats.settings import (
    RecordedRequest,
    RecordedSettings,
    address_of,
    mapping,
    mapping_in,
    messages_prompt,
    recorded,
)
from gradeschool.formats.tables import Row, read_rows
from gradeschool.protocols.registry import all_protocols, all_scorers
from gradeschool.verdict import Outcome

METRIC = "exact_match"
OWN = "lm-eval/"
UNSAFE = re.compile(r"[\"<>:/|\\?*\[\]]+")  # replaced by lm_eval.utils.sanitize_model_name
WORDLESS = re.compile(r"\W+")
PLACES = ("pretrained", "path", "model", "base_url")  # arguments for model and address
QUESTION_FIELDS = ("question", "problem", "Problem", "prompt", "input")


def is_lm_eval(fields: Mapping[str, object]) -> bool:
    """Return whether a row is a sample of lm-eval."""
    return {"doc_id", "doc", "resps"} <= fields.keys()


class LmEvalSamples:
    """Reads rows in order; the rows of further filters repeat the responses and are skipped."""

    def __init__(self, path: Path, default_run: str) -> None:
        self.run = _model_beside(path) or default_run
        self.filter: object = None

    def read(self, row: Row) -> Iterator[FileSample]:
        """Yield the responses of a row that belongs to the file's first filter."""
        fields = row.fields
        self.filter = self.filter or fields.get("filter")
        if fields.get("filter") != self.filter:
            return
        doc, responses = fields.get("doc"), fields.get("resps")
        texts = responses[0] if isinstance(responses, list) and responses else None
        if not isinstance(doc, Mapping) or not isinstance(texts, list) or not texts:
            yield faulty(row.number, self.run, "has no 'doc' object or no list of 'resps'")
            return
        reference = _reference(fields, doc)
        for sample, text in enumerate(texts):
            if isinstance(text, str):
                yield FileSample(row.number, self.run, reference, text, sample)
            else:
                yield faulty(row.number, self.run, f"has the response {shown(text)}; give a text")


def check_filters(rows: Iterable[Row], file: str) -> None:
    """Raise InputError if rows of further filters have other responses than those of the first.

    lm-eval writes the same responses once for each filter, and only the rows of the first are read.
    """
    first: object = None
    read: set[int] = set()  # hashes, since texts may be many
    others: dict[int, tuple[int, object]] = {}
    for row in rows:
        if row.fault or not is_lm_eval(row.fields):
            continue
        name = row.fields.get("filter")
        first = first or name
        key = hash((repr(row.fields["doc_id"]), repr(row.fields["resps"])))
        if name == first:
            read.add(key)
        else:
            others.setdefault(key, (row.number, name))
    for key in read:
        others.pop(key, None)
    if others:
        number, name = next(iter(others.values()))
        raise InputError(
            f"{len(others)} rows of {file!r} have other filters than {first!r} and other responses "
            f"(row {number}: {name!r}); they are of another task or run: give each its own file"
        )


def _reference(fields: Mapping[str, Any], doc: Mapping[str, Any]) -> Reference:
    """Identify the problem by its question, or without one by its row of the split."""
    question, answer = first_of(doc, QUESTION_FIELDS), first_of(doc, ("answer",))
    if not isinstance(answer, str):
        answer = fields.get("target")
    return Reference(
        position=whole_number(fields.get("doc_id")),
        question=question if isinstance(question, str) else None,
        answer=answer if isinstance(answer, str) else None,
    )


def _model_beside(path: Path) -> str | None:
    """Return the model named in `results_<time>.json` beside `samples_<task>_<time>.jsonl`."""
    name = _results_beside(path).get("model_name")
    return name if isinstance(name, str) and name else None


def _results_beside(path: Path) -> Mapping[str, Any]:
    """Return the results file beside samples, {} if there is no readable one."""
    stamp = path.stem.rpartition("_")[2]
    return mapping_in(path.with_name(f"results_{stamp}.json"))


# Settings


def lm_eval_settings(path: Path) -> RecordedSettings:
    """Return the settings of samples; without a results file, only those in the rows."""
    requests: dict[int, RecordedRequest] = {}
    generation: Mapping[str, Any] = {}
    filters: list[str] = []
    for row in read_rows(path):
        prompt, options = arguments_of(row.fields.get("arguments"))
        requests[row.number] = RecordedRequest(prompt_of(prompt))
        generation = generation or options
        filters.append(str(row.fields.get("filter")))
    stem = path.stem.removeprefix("samples_").rpartition("_")[0]
    scorer = f"lm-eval/{stem.replace('_', '-')}/{filters[0] if filters else ''}"
    values = recorded({**_values(_results_beside(path), stem), **_generation(generation)})
    scorer = scorer if scorer in all_scorers() else ""
    return RecordedSettings("lm-eval samples", values, requests, scorer)


def arguments_of(value: object) -> tuple[object, Mapping[str, Any]]:
    """Return the prompt and the generation settings of a row; older files have a list."""
    if isinstance(value, list):
        first = value[0] if value and isinstance(value[0], list) else []
        prompt, options = (*first, None, None)[:2]
        return prompt, mapping(options)
    arguments = mapping(mapping(value).get("gen_args_0"))
    return arguments.get("arg_0"), mapping(arguments.get("arg_1"))


def prompt_of(argument: object) -> Prompt | None:
    """Return a prompt: a text, or the messages of a chat, which are stored as JSON text."""
    if isinstance(argument, str) and argument.startswith("["):
        try:
            argument = json.loads(argument)
        except (ValueError, RecursionError):
            return Prompt(text=str(argument))
        return messages_prompt(argument) or Prompt(text=str(argument))
    return Prompt(text=argument) if isinstance(argument, str) else messages_prompt(argument)


def _values(results: Mapping[str, Any], task: str) -> dict[str, Any]:
    if not results:
        return {}
    config = mapping(results.get("config"))
    options = mapping(mapping(results.get("configs")).get(task))
    model = _model_arguments(config.get("model_args"))
    shots = mapping(options.get("fewshot_config"))
    versions = [
        f"{name} {version}"
        for name in ("lm-eval", "transformers", "vllm")
        if (version := results.get(f"{name.replace('-', '_')}_version")) not in (None, "N/A")
    ]
    revision = mapping(options.get("dataset_kwargs")).get("revision")
    where = (
        options.get("dataset_path"),
        options.get("dataset_name"),
        options.get("test_split"),
    )
    return {
        settings.MODEL: results.get("model_name"),
        settings.ADDRESS: address_of(model.get("base_url")),
        settings.ENGINE: _engine(str(config.get("model")), model),
        settings.VERSIONS: ", ".join(versions) or None,
        settings.PRECISION: model.get("dtype"),
        settings.PROTOCOL: f"lm-eval {task}, version {mapping(results.get('versions')).get(task)}",
        settings.SYSTEM: results.get("system_instruction") or "none",
        settings.SHOTS: shots.get("split")
        or options.get("fewshot_split")
        or options.get("training_split"),
        settings.SHOT_COUNT: mapping(results.get("n-shot")).get(task),
        settings.TEMPLATE: results.get("chat_template_sha") or "none",
        settings.BOS: model.get("add_bos_token"),
        settings.SAMPLES: options.get("repeats"),
        settings.DATASET: " ".join(str(part) for part in where if part) or None,
        settings.DIGEST: f"revision {revision}" if revision else None,
    }


def _model_arguments(arguments: object) -> Mapping[str, Any]:
    """Return the arguments of a model: an object, or "name=value,name=value" in older files."""
    if isinstance(arguments, str):
        parts = (part.partition("=") for part in arguments.split(",") if "=" in part)
        return {name.strip(): value for name, _, value in parts}
    return mapping(arguments)


def _engine(name: str, model: Mapping[str, Any]) -> str:
    others = [f"{key}={value}" for key, value in model.items() if key not in PLACES]
    return " ".join([name, *others])


def _generation(options: Mapping[str, Any]) -> dict[str, Any]:
    greedy = options.get("do_sample") is False
    until = options.get("until")
    return {
        settings.TEMPERATURE: 0.0 if greedy else options.get("temperature"),
        settings.TOP_P: options.get("top_p"),
        settings.STOP: [until] if isinstance(until, str) else until,
        settings.LIMIT: options.get("max_gen_toks") or options.get("max_tokens"),
        settings.SEED: options.get("seed"),
    }


# Writing


def lm_eval_files(run: ExportedRun) -> list[ExportedFile]:
    """Return the files of a run's results and samples; the format has no failed samples."""
    documents: dict[str, list[ExportedSample]] = defaultdict(list)
    for sample in run.answered():
        documents[sample.problem.id].append(sample)
    stamp = run.begun.replace(tzinfo=None).isoformat().replace(":", "-")
    folder = folder_of(run.model)
    task = task_of(run.task)
    # Samples arrive in any order, and readers break the ties of a vote by their order.
    groups = [sorted(group, key=lambda sample: sample.sample) for group in documents.values()]
    return [
        lines_file(f"{folder}/samples_{task}_{stamp}.jsonl", _written_rows(run, groups)),
        lines_file(f"{folder}/results_{stamp}.json", [encoded(_results(run, groups, task), 2)]),
    ]


def folder_of(model: str) -> str:
    """Return the name of a model's folder."""
    shown = "".join(char if char.isprintable() else "_" for char in storable(model))
    return UNSAFE.sub("__", shown).strip(".")[:120] or "model"


def task_of(protocol: str) -> str:
    """Return a task's name: lm-eval's own for protocols of lm-eval ("gsm8k_cot")."""
    return WORDLESS.sub("_", slug(protocol.removeprefix(OWN)))


def filter_of(scorer: str, protocol: str) -> str:
    """Return a filter's name: lm-eval's own ("strict-match") for a scorer of the protocol."""
    return scorer.removeprefix(f"{protocol}/") if protocol.startswith(OWN) else scorer


def _results(
    run: ExportedRun, documents: Sequence[Sequence[ExportedSample]], task: str
) -> dict[str, Any]:
    figures: dict[str, Any] = {"name": task, "alias": task, "sample_len": len(documents)}
    for score in run.scores:
        name = filter_of(score.scorer.name, run.task)
        if score.problems:
            figures[f"{METRIC},{name}"] = score.mean
            figures[f"{METRIC}_stderr,{name}"] = "N/A" if score.stderr is None else score.stderr
    shots = _shots(run)
    version = run.facts("protocol").get("digest")
    config = {"task": task, "output_type": "generate_until", "num_fewshot": shots,
              "generation_kwargs": _options(run), "repeats": max(map(len, documents)),
              "metadata": {"version": version, "gradeschool": _origin(run)}}  # fmt: skip
    seconds = (run.ended - run.begun).total_seconds()
    return {
        "results": {task: figures},
        "group_subtasks": {task: []},
        "configs": {task: config},
        "versions": {task: version or "unknown"},
        "n-shot": {task: shots},
        "higher_is_better": {task: {METRIC: True}},
        "n-samples": {task: {"original": run.size, "effective": len(documents)}},
        "config": {"model": "gradeschool", "model_args": f"model={run.model}",
                   "gen_kwargs": _options(run), "limit": None, "bootstrap_iters": 0},
        "date": run.begun.timestamp(),
        "task_hashes": {task: _task_hash(run, documents)},
        "model_source": "gradeschool",
        "model_name": run.model,
        "model_name_sanitized": folder_of(run.model),
        "total_evaluation_time_seconds": str(seconds),
    }  # fmt: skip


def _origin(run: ExportedRun) -> dict[str, Any]:
    """Return the facts that lm-eval has no field for."""
    return {
        "version": __version__,
        "protocol": run.protocol,
        "dataset": run.dataset,
        "left_out": len(run.samples) - len(run.answered()) + run.faults,
        "accuracy": {
            score.scorer.name: {
                "value": score.accuracy,
                "ci95": list(score.interval),
                "n": score.judged,
            }
            for score in run.scores
        },
    }


def _shots(run: ExportedRun) -> int:
    protocol = all_protocols().get(run.task)
    return protocol.shot_count if protocol is not None else 0


def _options(run: ExportedRun) -> dict[str, Any]:
    decoding = run.facts("decoding")
    if not decoding:
        return {}
    return {
        "until": decoding.get("stop"),
        "do_sample": bool(decoding.get("temperature")),
        "temperature": decoding.get("temperature"),
        "top_p": decoding.get("top_p"),
        "max_gen_toks": decoding.get("max_tokens"),
    }


def _written_rows(
    run: ExportedRun, documents: Sequence[Sequence[ExportedSample]]
) -> Iterator[bytes]:
    """Yield the rows: all documents of the first filter, then those of the next."""
    options = _options(run)
    for place, score in enumerate(run.scores):
        name = filter_of(score.scorer.name, run.task)
        for samples in documents:
            yield encoded(_written_row(samples, place, name, options)) + b"\n"


def _written_row(
    samples: Sequence[ExportedSample], place: int, name: str, options: Mapping[str, Any]
) -> dict[str, Any]:
    problem, prompt = samples[0].problem, _prompt_text(samples[0].prompt)
    verdicts = [sample.verdicts[place] for sample in samples]
    extracted = [verdict.answer.value if verdict.answer else "[invalid]" for verdict in verdicts]
    judged = [verdict.correct for verdict in verdicts if verdict.outcome is not Outcome.ERROR]
    document_hash, prompt_hash, target_hash = _hashes(samples[0])
    return {
        "doc_id": samples[0].place,
        "doc": {"question": problem.question, "answer": problem.solution},
        "target": problem.solution,
        "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": options}},
        "resps": [[sample.text for sample in samples]],
        "filtered_resps": extracted if len(samples) == 1 else [extracted],
        "filter": name,
        "metrics": [METRIC] if judged else [],
        "doc_hash": document_hash,
        "prompt_hash": prompt_hash,
        "target_hash": target_hash,
        **({METRIC: sum(judged) / len(judged)} if judged else {}),
    }


def _hashes(sample: ExportedSample) -> tuple[str, str, str]:
    document = {"question": sample.problem.question, "answer": sample.problem.solution}
    return (
        _hash(json.dumps(document, indent=2, ensure_ascii=False)),
        _hash(_prompt_text(sample.prompt)),
        _hash(sample.problem.solution),
    )


def _task_hash(run: ExportedRun, documents: Sequence[Sequence[ExportedSample]]) -> str:
    return _hash("".join("".join(_hashes(samples[0])) for samples in documents) * len(run.scores))


def _hash(text: str) -> str:
    return hashlib.sha256(storable(text).encode("utf-8")).hexdigest()


def _prompt_text(prompt: Prompt | None) -> str:
    """Return a prompt as lm-eval's models get it: text, or a chat as JSON; "" if unknown."""
    if prompt is None:
        return ""
    if prompt.text is not None:
        return prompt.text
    return json.dumps(prompt.as_messages(), ensure_ascii=False)
