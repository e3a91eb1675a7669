"""lm-evaluation-harness: `MODEL/results_TIME.json` and `MODEL/samples_TASK_TIME.jsonl`.

The layout of lm-eval 0.4.13: lm_eval/loggers/evaluation_tracker.py (folders and names, hashes) and
lm_eval/result_schema.py (fields). Its filters are our scorers; `exact_match` is a scorer's verdict.
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
from gradeschool.reports.exchange.bundle import Bundle, Item
from gradeschool.reports.exchange.figures import accuracy_of, mean_of
from gradeschool.reports.exchange.files import File, encoded, lines_file, storable
from gradeschool.runs.results import slug
from gradeschool.verdict import Outcome

METRIC = "exact_match"
OWN = "lm-eval/"
UNSAFE = re.compile(r"[\"<>:/|\\?*\[\]]+")  # what lm_eval.utils.sanitize_model_name replaces
WORDLESS = re.compile(r"\W+")


def lm_eval_files(bundle: Bundle) -> list[File]:
    """Return the results and the samples of a run; failed samples have no place in them."""
    documents: dict[str, list[Item]] = defaultdict(list)
    for item in bundle.answered():
        documents[item.problem.id].append(item)
    stamp = bundle.begun.replace(tzinfo=None).isoformat().replace(":", "-")
    folder = folder_of(bundle.model)
    task = task_of(bundle.task)
    groups = list(documents.values())
    return [
        lines_file(f"{folder}/samples_{task}_{stamp}.jsonl", _rows(bundle, groups)),
        lines_file(f"{folder}/results_{stamp}.json", [encoded(_results(bundle, groups, task), 2)]),
    ]


def folder_of(model: str) -> str:
    """Return the name of a model's folder."""
    shown = "".join(char if char.isprintable() else "_" for char in storable(model))
    return UNSAFE.sub("__", shown).strip(".")[:120] or "model"


def task_of(protocol: str) -> str:
    """Return a task's name: lm-eval's own for its protocols ("gsm8k_cot")."""
    return WORDLESS.sub("_", slug(protocol.removeprefix(OWN)))


def filter_of(scorer: str, protocol: str) -> str:
    """Return a filter's name: lm-eval's own ("strict-match") for a scorer of the protocol."""
    return scorer.removeprefix(f"{protocol}/") if protocol.startswith(OWN) else scorer


def _results(bundle: Bundle, documents: Sequence[Sequence[Item]], task: str) -> dict[str, Any]:
    figures: dict[str, Any] = {"name": task, "alias": task, "sample_len": len(documents)}
    for at, scorer in enumerate(bundle.scorers):
        name, mean = filter_of(scorer.name, bundle.task), mean_of(bundle, at)
        if mean.problems:
            figures[f"{METRIC},{name}"] = mean.value
            figures[f"{METRIC}_stderr,{name}"] = "N/A" if mean.stderr is None else mean.stderr
    shots = _shots(bundle)
    version = bundle.facts("protocol").get("digest")
    config = {"task": task, "output_type": "generate_until", "num_fewshot": shots,
              "generation_kwargs": _options(bundle), "repeats": max(map(len, documents)),
              "metadata": {"version": version, "gradeschool": _origin(bundle)}}  # fmt: skip
    seconds = (bundle.ended - bundle.begun).total_seconds()
    return {
        "results": {task: figures},
        "group_subtasks": {task: []},
        "configs": {task: config},
        "versions": {task: version or "unknown"},
        "n-shot": {task: shots},
        "higher_is_better": {task: {METRIC: True}},
        "n-samples": {task: {"original": bundle.size, "effective": len(documents)}},
        "config": {"model": "gradeschool", "model_args": f"model={bundle.model}",
                   "gen_kwargs": _options(bundle), "limit": None, "bootstrap_iters": 0},
        "date": bundle.begun.timestamp(),
        "task_hashes": {task: _task_hash(bundle, documents)},
        "model_source": "gradeschool",
        "model_name": bundle.model,
        "model_name_sanitized": folder_of(bundle.model),
        "total_evaluation_time_seconds": str(seconds),
    }  # fmt: skip


def _origin(bundle: Bundle) -> dict[str, Any]:
    """Return what lm-eval has no field for."""
    return {
        "version": __version__,
        "protocol": bundle.task,
        "dataset": bundle.dataset,
        "left_out": len(bundle.items) - len(bundle.answered()) + bundle.faults,
        "accuracy": {
            scorer.name: {"value": share.accuracy, "ci95": list(share.interval), "n": share.judged}
            for scorer, share in (
                (scorer, accuracy_of(bundle, at)) for at, scorer in enumerate(bundle.scorers)
            )
        },
    }


def _shots(bundle: Bundle) -> int:
    from gradeschool.protocols.registry import all_protocols

    known = all_protocols().get(bundle.task)
    return known.shot_count if known is not None else 0


def _options(bundle: Bundle) -> dict[str, Any]:
    decoding = bundle.facts("decoding")
    if not decoding:
        return {}
    return {
        "until": decoding.get("stop"),
        "do_sample": bool(decoding.get("temperature")),
        "temperature": decoding.get("temperature"),
        "top_p": decoding.get("top_p"),
        "max_gen_toks": decoding.get("max_tokens"),
    }


def _rows(bundle: Bundle, documents: Sequence[Sequence[Item]]) -> Iterator[bytes]:
    """Yield the rows: all documents of the first filter, then those of the next."""
    options = _options(bundle)
    for at, scorer in enumerate(bundle.scorers):
        name = filter_of(scorer.name, bundle.task)
        for items in documents:
            yield encoded(_row(items, at, name, options)) + b"\n"


def _row(items: Sequence[Item], at: int, name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    problem, prompt = items[0].problem, _text_of(items[0].prompt)
    verdicts = [item.verdicts[at] for item in items]
    read = [verdict.answer.value if verdict.answer else "[invalid]" for verdict in verdicts]
    judged = [verdict.correct for verdict in verdicts if verdict.outcome is not Outcome.ERROR]
    document_hash, prompt_hash, target_hash = _hashes(items[0])
    return {
        "doc_id": items[0].place,
        "doc": {"question": problem.question, "answer": problem.solution},
        "target": problem.solution,
        "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": options}},
        "resps": [[item.text for item in items]],
        "filtered_resps": read if len(items) == 1 else [read],
        "filter": name,
        "metrics": [METRIC] if judged else [],
        "doc_hash": document_hash,
        "prompt_hash": prompt_hash,
        "target_hash": target_hash,
        **({METRIC: sum(judged) / len(judged)} if judged else {}),
    }


def _hashes(item: Item) -> tuple[str, str, str]:
    document = {"question": item.problem.question, "answer": item.problem.solution}
    return (
        _hash(json.dumps(document, indent=2, ensure_ascii=False)),
        _hash(_text_of(item.prompt)),
        _hash(item.problem.solution),
    )


def _task_hash(bundle: Bundle, documents: Sequence[Sequence[Item]]) -> str:
    return _hash("".join("".join(_hashes(items[0])) for items in documents) * len(bundle.scorers))


def _hash(text: str) -> str:
    return hashlib.sha256(storable(text).encode("utf-8")).hexdigest()


def _text_of(prompt: Prompt | None) -> str:
    """Return a prompt as lm-eval's models get it: text, or a chat as JSON; "" for not known."""
    if prompt is None:
        return ""
    if prompt.text is not None:
        return prompt.text
    turns = [{"role": turn.role, "content": turn.content} for turn in prompt.messages]
    if prompt.prefix:
        turns.append({"role": "assistant", "content": prompt.prefix})
    return json.dumps(turns, ensure_ascii=False)
