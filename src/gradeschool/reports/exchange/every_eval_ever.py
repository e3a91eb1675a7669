"""Every Eval Ever 0.3: `data/COLLECTION/DEVELOPER/MODEL/UUID.json` and `UUID_samples.jsonl`.

The package every-eval-ever 0.3.0: schemas/{eval,instance_level_eval}.schema.json, and the paths of
validator/validation_core.py. One result for each scorer; the rows are of the headline scorer,
with what every scorer read under `answer_attribution`.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from typing import Any

from gradeschool import __version__
from gradeschool.completion import NO_USAGE, Prompt
from gradeschool.reports.exchange.bundle import Bundle, Item
from gradeschool.reports.exchange.figures import accuracy_of, mean_of
from gradeschool.reports.exchange.files import File, encoded, lines_file, storable
from gradeschool.scorer import Scorer
from gradeschool.verdict import Outcome

SCHEMA = "0.3.0"
UNSAFE = re.compile(r"[^A-Za-z0-9._+=@-]+")
NOT_STATED = "not stated"
HUB = {"gsm8k": "openai/gsm8k", "gsm8k-platinum": "madrylab/gsm8k-platinum"}
SOURCE = "https://github.com/openai/grade-school-math"


def every_eval_ever_files(bundle: Bundle) -> list[File]:
    """Return the aggregate and its samples."""
    model = _model_id(bundle.model)
    developer, _, name = model.partition("/")
    stem = f"data/{_part(bundle.dataset)}/{developer}/{name}/{_uuid(bundle)}"
    samples = [encoded(_row(bundle, item, model)) + b"\n" for item in bundle.items]
    digest = hashlib.sha256(b"".join(samples)).hexdigest()
    aggregate = _aggregate(bundle, model) | {
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


def _part(name: str) -> str:
    """Return a name as one folder of the datastore."""
    return UNSAFE.sub("_", storable(name)).strip("._")[:80] or "unnamed"


def _model_id(model: str) -> str:
    """Return DEVELOPER/NAME, as the datastore files it; a name without a developer is "local"."""
    developer, slash, name = model.partition("/")
    return f"{_part(developer)}/{_part(name)}" if slash else f"local/{_part(model)}"


def _uuid(bundle: Bundle) -> str:
    """Return a UUID of version 4 in form, the same for the same run."""
    facts = [bundle.model, bundle.task, bundle.dataset, bundle.begun.isoformat(),
             [scorer.name for scorer in bundle.scorers]]  # fmt: skip
    return str(uuid.UUID(bytes=hashlib.sha256(encoded(facts)).digest()[:16], version=4))


def _evaluation_id(bundle: Bundle, model: str) -> str:
    return f"{_part(bundle.task)}/{model}/{int(bundle.begun.timestamp())}"


def _result_id(bundle: Bundle, scorer: Scorer) -> str:
    return f"{bundle.task}#{scorer.name}"


def _aggregate(bundle: Bundle, model: str) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA,
        "evaluation_id": _evaluation_id(bundle, model),
        "evaluation_timestamp": str(int(bundle.begun.timestamp())),
        "retrieved_timestamp": str(int(bundle.ended.timestamp())),
        "source_metadata": {
            "source_name": "gradeschool",
            "source_type": "evaluation_run",
            "source_organization_name": NOT_STATED,
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "gradeschool",
            "version": str(bundle.manifest.get("gradeschool") or __version__),
            "additional_details": {
                "protocol": bundle.task,
                "protocol_digest": str(bundle.facts("protocol").get("digest") or NOT_STATED),
                "protocol_source": str(bundle.facts("protocol").get("source") or NOT_STATED),
            },
        },
        "model_info": {
            "name": bundle.model,
            "id": model,
            "additional_details": {
                "deployment_type": "unknown",
                "model_availability": "unknown",
            },
        },
        "evaluation_results": [
            _result(bundle, at, scorer) for at, scorer in enumerate(bundle.scorers)
        ],
    }


def _result(bundle: Bundle, at: int, scorer: Scorer) -> dict[str, Any]:
    share, mean = accuracy_of(bundle, at), mean_of(bundle, at)
    low, high = share.interval
    uncertainty: dict[str, Any] = {
        "confidence_interval": {
            "lower": low,
            "upper": high,
            "confidence_level": 0.95,
            "method": "Wilson, clustered by problem",
        },
        "num_samples": share.judged,
    }
    if mean.stderr is not None:
        uncertainty["standard_error"] = {"value": mean.stderr, "method": "mean over problems"}
    return {
        "evaluation_result_id": _result_id(bundle, scorer),
        "evaluation_name": f"{bundle.task} ({scorer.name})",
        "evaluation_timestamp": str(int(bundle.begun.timestamp())),
        "source_data": _source_data(bundle),
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
        "score_details": {"score": share.accuracy, "uncertainty": uncertainty},
        "generation_config": _generation(bundle),
    }


def _source_data(bundle: Bundle) -> dict[str, Any]:
    digest = str(bundle.facts("dataset").get("sha256") or NOT_STATED)
    details = {"sha256": digest}
    if bundle.dataset not in HUB:
        return {"dataset_name": bundle.dataset, "source_type": "other",
                "additional_details": details}  # fmt: skip
    return {
        "dataset_name": bundle.dataset,
        "source_type": "hf_dataset",
        "hf_repo": HUB[bundle.dataset],
        "hf_split": "test",
        "samples_number": len({item.problem.id for item in bundle.items}),
        "additional_details": details | {"read_from": SOURCE},
    }


def _generation(bundle: Bundle) -> dict[str, Any]:
    decoding = bundle.facts("decoding")
    kept = ("temperature", "top_p", "max_tokens")
    options = {name: decoding[name] for name in kept if decoding.get(name) is not None}
    details = {"stop": json.dumps(decoding.get("stop")), "seed": json.dumps(decoding.get("seed"))}
    return {"generation_args": options, "additional_details": details if decoding else {}}


def _row(bundle: Bundle, item: Item, model: str) -> dict[str, Any]:
    headline = bundle.scorers[0]
    right = bool(item.verdicts) and item.verdicts[0].correct
    facts = {"sample": str(item.sample), "finish": item.finish, "cause": item.cause}
    outcomes = {verdict.scorer: verdict.outcome.value for verdict in item.verdicts}
    failed = item.error or _failed(item)
    return {
        "schema_version": SCHEMA,
        "evaluation_id": _evaluation_id(bundle, model),
        "model_id": model,
        "evaluation_name": f"{bundle.task} ({headline.name})",
        "evaluation_result_id": _result_id(bundle, headline),
        "sample_id": item.problem.id,
        "sample_hash": _sample_hash(item),
        "interaction_type": "single_turn",
        "input": {
            "raw": item.problem.question,
            "formatted": _formatted(item.prompt),
            "reference": [item.problem.gold],
        },
        "output": {"raw": [] if item.error else [item.text], **_reasoning(item)},
        "answer_attribution": _attribution(item),
        "evaluation": {"score": float(right), "is_correct": right},
        **_usage(item),
        **({"error": failed} if failed else {}),
        "metadata": {name: value for name, value in (facts | outcomes).items() if value},
    }


def _failed(item: Item) -> str:
    """Return why the headline scorer could not judge: its failure is no wrong answer."""
    first = item.verdicts[0]
    return f"the scorer failed: {first.reason}" if first.outcome is Outcome.ERROR else ""


def _sample_hash(item: Item) -> str:
    text = storable(item.problem.question + item.problem.gold)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _attribution(item: Item) -> list[dict[str, Any]]:
    return [
        {
            "turn_idx": 0,
            "source": "output.raw",
            "extracted_value": verdict.answer.value,
            "extraction_method": verdict.scorer,
            "is_terminal": True,
        }
        for verdict in item.verdicts
        if verdict.answer is not None
    ]


def _reasoning(item: Item) -> dict[str, list[str]]:
    thought = item.stored.reasoning if item.stored else ""
    return {"reasoning_trace": [thought]} if thought else {}


def _usage(item: Item) -> dict[str, Any]:
    usage = item.stored.usage if item.stored else NO_USAGE
    asked, written = usage.prompt_tokens, usage.completion_tokens
    if asked is None or written is None:
        return {}
    tokens = {"input_tokens": asked, "output_tokens": written, "total_tokens": asked + written}
    return {"token_usage": tokens}


def _formatted(prompt: Prompt | None) -> str | None:
    """Return what was sent: the text, or the messages as JSON; None where it is not known."""
    if prompt is None or prompt.text is not None:
        return prompt.text if prompt else None
    turns = [{"role": turn.role, "content": turn.content} for turn in prompt.messages]
    if prompt.prefix:
        turns.append({"role": "assistant", "content": prompt.prefix})
    return json.dumps(turns)
