"""Write lm-eval's `MODEL/results_TIME.json` and `MODEL/samples_TASK_TIME.jsonl`.

The layout is that of lm-eval 0.4.13: lm_eval/loggers/evaluation_tracker.py (folders, names, hashes)
and lm_eval/result_schema.py (fields); lm-eval's own writer needs the task objects of an lm-eval
run. Scorers are written as filters, and their verdicts as `exact_match`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gradeschool import __version__
from gradeschool.completion import Prompt
from gradeschool.formats.own_run import slug
from gradeschool.protocols.registry import all_protocols
from gradeschool.reports.export import (
    ExportedFile,
    ExportedRun,
    ExportedSample,
    encoded,
    lines_file,
    storable,
)
from gradeschool.verdict import Outcome

METRIC = "exact_match"
OWN = "lm-eval/"
UNSAFE = re.compile(r"[\"<>:/|\\?*\[\]]+")  # replaced by lm_eval.utils.sanitize_model_name
WORDLESS = re.compile(r"\W+")


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
            figures[f"{METRIC},{name}"] = score.accuracy
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
