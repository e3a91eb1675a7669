"""Every Eval Ever 0.3: `data/COLLECTION/DEVELOPER/MODEL/UUID.json` and `UUID_samples.jsonl`.

Follows the package every-eval-ever 0.3.0: schemas/{eval,instance_level_eval}.schema.json, and the
paths of validator/validation_core.py. Reading: a file of samples may contain rows of several
results (scorers) over the same outputs; the rows of the first result are read. Writing: one result
per scorer; the rows are those of the headline scorer, and `answer_attribution` contains what every
scorer extracted.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gradeschool import __version__
from gradeschool.completion import Prompt, finish_of
from gradeschool.formats.export import (
    ExportedFile,
    ExportedRun,
    ExportedSample,
    ExportedScore,
    encoded,
    lines_file,
    storable,
)
from gradeschool.formats.own_run import slug
from gradeschool.formats.samples import (
    FileSample,
    Reference,
    faulty,
    shown,
    whole_number,
)
from gradeschool.formats.settings import mapping, mapping_in
from gradeschool.formats.tables import Row
from gradeschool.scorer import Scorer
from gradeschool.verdict import Outcome

SCHEMA = "0.3.0"
NOT_STATED = "not stated"
HUB = {"gsm8k": "openai/gsm8k", "gsm8k-platinum": "madrylab/gsm8k-platinum"}
SOURCE = "https://github.com/openai/grade-school-math"
SAMPLES = "_samples.jsonl"
RESULT_FIELDS = ("evaluation_result_id", "evaluation_name")


def is_every_eval_ever(fields: Mapping[str, object]) -> bool:
    """Return whether a row is an instance of Every Eval Ever."""
    named = "evaluation_id" in fields  # cheap: runs on every row of any file
    return named and {"model_id", "sample_id", "interaction_type"} <= fields.keys()


class EveryEvalEverSamples:
    """Reads rows in order; `result` is the result of the first row."""

    def __init__(self, path: Path) -> None:
        self.run = _model_beside(path)
        self.result: tuple[object, ...] | None = None

    def read(self, row: Row) -> Iterator[FileSample]:
        """Yield the outputs of a row that belongs to the file's first result."""
        fields = row.fields
        result = tuple(fields.get(name) for name in RESULT_FIELDS)
        self.result = self.result or result
        if result != self.result:
            return
        run = self.run or str(fields["model_id"])
        facts = mapping(fields.get("metadata"))
        sample = whole_number(facts.get("sample"))
        reference = _reference(fields)
        outputs = mapping(fields.get("output")).get("raw")
        texts = outputs if isinstance(outputs, list) else []
        if not texts and fields.get("error"):
            yield FileSample(row.number, run, reference, "", sample, error=str(fields["error"]))
        elif not texts:
            yield faulty(row.number, run, "has no 'raw' text in its 'output'")
        finish = finish_of(facts.get("finish"))
        for index, text in enumerate(texts):
            if not isinstance(text, str):
                yield faulty(row.number, run, f"has the output {shown(text)}; give a text")
                continue
            number = sample if len(texts) == 1 else (sample or 0) + index
            yield FileSample(row.number, run, reference, text, number, finish, model=run)


def _reference(fields: Mapping[str, Any]) -> Reference:
    prompt = mapping(fields.get("input"))
    question, golds = prompt.get("raw"), prompt.get("reference")
    gold = golds[0] if isinstance(golds, list) and golds else None
    id = fields.get("sample_id")
    if isinstance(question, str) and isinstance(gold, str):
        return Reference(question=question, answer=gold)
    return Reference(id=str(id), question=question if isinstance(question, str) else None)


def _model_beside(path: Path) -> str:
    """Return the model's own name from `UUID.json` beside `UUID_samples.jsonl`."""
    stem = path.name.removesuffix(SAMPLES)
    if stem == path.name:
        return ""
    aggregate = mapping_in(path.with_name(f"{stem}.json"))
    name = mapping(aggregate.get("model_info")).get("name")
    return name if isinstance(name, str) else ""


# Writing


def every_eval_ever_files(run: ExportedRun) -> list[ExportedFile]:
    """Return the files of the aggregate and of its samples."""
    model = _model_id(run.model)
    developer, _, name = model.partition("/")
    stem = f"data/{slug(run.dataset)}/{developer}/{name}/{_uuid(run)}"
    samples = [encoded(_row(run, sample, model)) + b"\n" for sample in run.samples]
    digest = hashlib.sha256(b"".join(samples)).hexdigest()
    aggregate = _aggregate(run, model) | {
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": f"{stem}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": digest,
            "total_rows": len(samples),
        }
    }
    return [
        lines_file(f"{stem}_samples.jsonl", samples),
        lines_file(f"{stem}.json", [encoded(aggregate, 2), b"\n"]),
    ]


def _model_id(model: str) -> str:
    """Return DEVELOPER/NAME, as the datastore has it; without a developer, it is "local"."""
    developer, slash, name = model.partition("/")
    return f"{slug(developer)}/{slug(name)}" if slash else f"local/{slug(model)}"


def _uuid(run: ExportedRun) -> str:
    """Return a UUID in the form of version 4, always the same for the same run."""
    facts = [run.model, run.task, run.dataset, run.begun.isoformat(),
             [score.scorer.name for score in run.scores]]  # fmt: skip
    return str(uuid.UUID(bytes=hashlib.sha256(encoded(facts)).digest()[:16], version=4))


def _evaluation_id(run: ExportedRun, model: str) -> str:
    return f"{slug(run.task)}/{model}/{int(run.begun.timestamp())}"


def _result_id(run: ExportedRun, scorer: Scorer) -> str:
    return f"{run.task}#{scorer.name}"


def _aggregate(run: ExportedRun, model: str) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA,
        "evaluation_id": _evaluation_id(run, model),
        "evaluation_timestamp": str(int(run.begun.timestamp())),
        "retrieved_timestamp": str(int(run.ended.timestamp())),
        "source_metadata": {
            "source_name": "gradeschool",
            "source_type": "evaluation_run",
            "source_organization_name": NOT_STATED,
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "gradeschool",
            "version": str(run.manifest.get("gradeschool") or __version__),
            "additional_details": {
                "protocol": run.protocol or NOT_STATED,
                "protocol_digest": str(run.facts("protocol").get("digest") or NOT_STATED),
                "protocol_source": str(run.facts("protocol").get("source") or NOT_STATED),
            },
        },
        "model_info": {
            "name": run.model,
            "id": model,
            "additional_details": {
                "deployment_type": "unknown",
                "model_availability": "unknown",
            },
        },
        "evaluation_results": [_result(run, score) for score in run.judged_scores()],
    }


def _result(run: ExportedRun, score: ExportedScore) -> dict[str, Any]:
    scorer = score.scorer
    low, high = score.interval
    uncertainty: dict[str, Any] = {
        "confidence_interval": {
            "lower": low,
            "upper": high,
            "confidence_level": 0.95,
            "method": "Wilson, clustered by problem",
        },
        "num_samples": score.judged,
    }
    if score.error is not None:
        uncertainty["standard_error"] = {"value": score.error, "method": "clustered by problem"}
    return {
        "evaluation_result_id": _result_id(run, scorer),
        "evaluation_name": f"{run.task} ({scorer.name})",
        "evaluation_timestamp": str(int(run.begun.timestamp())),
        "source_data": _source_data(run),
        "metric_config": {
            "evaluation_description": f"share of completions that {scorer.name} finds correct",
            "metric_id": "accuracy",
            "metric_name": "Accuracy",
            "metric_kind": "accuracy",
            "metric_unit": "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 1,
            "additional_details": {"scorer": scorer.name, "source": scorer.source},
        },
        "score_details": {"score": score.accuracy, "uncertainty": uncertainty},
        "generation_config": _generation(run),
    }


def _source_data(run: ExportedRun) -> dict[str, Any]:
    digest = str(run.facts("dataset").get("sha256") or NOT_STATED)
    details = {"sha256": digest}
    if run.dataset not in HUB:
        return {"dataset_name": run.dataset, "source_type": "other",
                "additional_details": details}  # fmt: skip
    return {
        "dataset_name": run.dataset,
        "source_type": "hf_dataset",
        "hf_repo": HUB[run.dataset],
        "hf_split": "test",
        "samples_number": len({sample.problem.id for sample in run.samples}),
        "additional_details": details | {"read_from": SOURCE},
    }


def _generation(run: ExportedRun) -> dict[str, Any]:
    decoding = run.facts("decoding")
    kept = ("temperature", "top_p", "max_tokens")
    options = {name: decoding[name] for name in kept if decoding.get(name) is not None}
    details = {"stop": json.dumps(decoding.get("stop")), "seed": json.dumps(decoding.get("seed"))}
    return {"generation_args": options, "additional_details": details if decoding else {}}


def _row(run: ExportedRun, sample: ExportedSample, model: str) -> dict[str, Any]:
    headline = run.scores[0].scorer
    is_correct = bool(sample.verdicts) and sample.verdicts[0].correct
    facts = {"sample": str(sample.sample), "finish": sample.finish, "cause": sample.cause}
    outcomes = {verdict.scorer: verdict.outcome.value for verdict in sample.verdicts}
    failed = sample.error or _failed(sample)
    return {
        "schema_version": SCHEMA,
        "evaluation_id": _evaluation_id(run, model),
        "model_id": model,
        "evaluation_name": f"{run.task} ({headline.name})",
        "evaluation_result_id": _result_id(run, headline),
        "sample_id": sample.problem.id,
        "sample_hash": _sample_hash(sample),
        "interaction_type": "single_turn",
        "input": {
            "raw": sample.problem.question,
            "formatted": _formatted(sample.prompt),
            "reference": [sample.problem.gold],
        },
        "output": {"raw": [] if sample.error else [sample.text], **_reasoning(sample)},
        "answer_attribution": _attribution(sample),
        "evaluation": {"score": float(is_correct), "is_correct": is_correct},
        **({"token_usage": tokens} if (tokens := sample.tokens()) else {}),
        **({"error": failed} if failed else {}),
        "metadata": {name: value for name, value in (facts | outcomes).items() if value},
    }


def _failed(sample: ExportedSample) -> str:
    """Return why the headline scorer failed: a failure is not a wrong answer."""
    first = sample.verdicts[0]
    return f"the scorer failed: {first.reason}" if first.outcome is Outcome.ERROR else ""


def _sample_hash(sample: ExportedSample) -> str:
    text = storable(sample.problem.question + sample.problem.gold)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _attribution(sample: ExportedSample) -> list[dict[str, Any]]:
    return [
        {
            "turn_idx": 0,
            "source": "output.raw",
            "extracted_value": verdict.answer.value,
            "extraction_method": verdict.scorer,
            "is_terminal": True,
        }
        for verdict in sample.verdicts
        if verdict.answer is not None
    ]


def _reasoning(sample: ExportedSample) -> dict[str, list[str]]:
    reasoning = sample.stored.reasoning if sample.stored else ""
    return {"reasoning_trace": [reasoning]} if reasoning else {}


def _formatted(prompt: Prompt | None) -> str | None:
    """Return the prompt that was sent, messages as JSON; None if it is unknown."""
    if prompt is None:
        return None
    return json.dumps(prompt.as_messages()) if prompt.text is None else prompt.text
