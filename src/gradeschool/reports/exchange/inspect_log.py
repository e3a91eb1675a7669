"""inspect_ai: an `.eval` archive (EvalLog, version 2), as inspect_ai 0.3.285 reads it.

Members are deflated, which inspect reads as well as its own zstd. Scorers are named as
`gradeschool.integrations.inspect_scorers` names them; a score is called as its scorer.
"""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from gradeschool import __version__
from gradeschool.completion import NO_USAGE
from gradeschool.reports.exchange.bundle import Bundle, Item
from gradeschool.reports.exchange.figures import clusters_of, mean_of
from gradeschool.reports.exchange.files import File, encoded, storable
from gradeschool.scorer import Scorer
from gradeschool.verdict import Outcome, Verdict

EPOCH = (1980, 1, 1, 0, 0, 0)  # of every member: the same run gives the same bytes
PROVIDER = "none/"  # inspect's model that is never asked: `inspect score` opens the log's model
OWN = "gradeschool/"
VALUES = {Outcome.CORRECT: "C", Outcome.WRONG: "I", Outcome.NO_ANSWER: "N"}
STOPS = {"stop": "stop", "length": "max_tokens", "content_filter": "content_filter"}
METRICS = ("accuracy", "stderr")
NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,8})\Z")  # an id that inspect may have as a number
Naming = Callable[[str], str | int]


def inspect_files(bundle: Bundle) -> list[File]:
    """Return the archive."""
    return [File("", lambda file: _archive(bundle, file))]


def scorer_of(scorer: str) -> str:
    """Return the name of a scorer's scorer in inspect."""
    return OWN + scorer.removeprefix(OWN).replace("@", ":").replace(".", "_")


def _archive(bundle: Bundle, file: BinaryIO) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in _members(bundle):
            member = zipfile.ZipInfo(name, EPOCH)
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, encoded(value))


def _members(bundle: Bundle) -> Iterator[tuple[str, Any]]:
    name = _naming(bundle)
    spec, plan = _spec(bundle, name), _plan(bundle)
    yield "_journal/start.json", {"version": 2, "eval": spec, "plan": plan}
    summaries = []
    for item in bundle.items:
        sample = _sample(bundle, item, name)
        summaries.append(_summary(sample))
        yield f"samples/{sample['id']}_epoch_{sample['epoch']}.json", sample
    yield "summaries.json", summaries
    yield "reductions.json", [_reduction(bundle, at, name) for at in range(len(bundle.scorers))]
    yield (
        "header.json",
        {
            "version": 2,
            "status": "success" if bundle.is_whole() else "cancelled",
            "eval": spec,
            "plan": plan,
            "results": _results(bundle),
            "stats": _stats(bundle),
        },
    )


def _id(bundle: Bundle, what: str) -> str:
    """Return an id that the same run has again: 22 characters, as inspect's own."""
    facts = f"{what}\n{bundle.model}\n{bundle.task}\n{bundle.dataset}\n{bundle.begun.isoformat()}"
    return hashlib.sha256(facts.encode("utf-8", "replace")).hexdigest()[:22]


def _naming(bundle: Bundle) -> Naming:
    """Return how problems are named: by numbers where all ids are, which inspect sorts as such."""
    return int if all(NUMBER.match(id) for id in _ids(bundle)) else storable


def _ids(bundle: Bundle) -> list[str]:
    return list(dict.fromkeys(item.problem.id for item in bundle.items))


def _spec(bundle: Bundle, name: Naming) -> dict[str, Any]:
    protocol, dataset = bundle.facts("protocol"), bundle.facts("dataset")
    ids = [name(id) for id in _ids(bundle)]
    metrics = [{"name": f"inspect_ai/{name}", "options": {}} for name in METRICS]
    return {
        "eval_id": _id(bundle, "eval"),
        "run_id": _id(bundle, "run"),
        "created": bundle.begun.isoformat(),
        "task": bundle.task,
        "task_id": _id(bundle, "task"),
        "task_display_name": bundle.task,
        "task_version": str(protocol.get("digest") or 0),
        "task_args": {"protocol": bundle.task, "dataset": bundle.dataset},
        "dataset": {
            "name": bundle.dataset,
            "samples": len(ids),
            "sample_ids": ids,
            "shuffled": False,
        },
        "model": PROVIDER + bundle.model,
        "config": {"epochs": _epochs(bundle), "epochs_reducer": ["mean"]},
        "packages": {"gradeschool": str(bundle.manifest.get("gradeschool") or __version__)},
        "metadata": {
            "exported_by": f"gradeschool {__version__}",
            "protocol": bundle.task,
            "protocol_digest": protocol.get("digest"),
            "dataset_sha256": dataset.get("sha256"),
        },
        "scorers": [
            {"name": scorer_of(scorer.name), "options": {}, "metrics": metrics, "metadata": {}}
            for scorer in bundle.scorers
        ],
    }


def _epochs(bundle: Bundle) -> int:
    return max(item.sample for item in bundle.items) + 1


def _plan(bundle: Bundle) -> dict[str, Any]:
    decoding = bundle.facts("decoding")
    options = {
        "temperature": decoding.get("temperature"),
        "top_p": decoding.get("top_p"),
        "max_tokens": decoding.get("max_tokens"),
        "stop_seqs": decoding.get("stop") or None,
        "seed": decoding.get("seed"),
    }
    config = {name: value for name, value in options.items() if value is not None}
    return {"name": "plan", "steps": [{"solver": "generate", "params": {}}], "config": config}


def _results(bundle: Bundle) -> dict[str, Any]:
    return {
        "total_samples": len(bundle.items),
        "completed_samples": len(bundle.answered()),
        "scores": [_scored(bundle, at, scorer) for at, scorer in enumerate(bundle.scorers)],
    }


def _scored(bundle: Bundle, at: int, scorer: Scorer) -> dict[str, Any]:
    mean, clusters = mean_of(bundle, at), clusters_of(bundle, at)
    values = {"accuracy": mean.value, "stderr": mean.stderr or 0.0}
    return {
        "name": scorer.name,
        "scorer": scorer_of(scorer.name),
        "reducer": "mean",
        "scored_samples": mean.problems,
        "unscored_samples": len(_ids(bundle)) - len(clusters),
        "params": {},
        "metrics": {name: {"name": name, "value": values[name], "params": {}} for name in METRICS},
    }


def _reduction(bundle: Bundle, at: int, name: Naming) -> dict[str, Any]:
    return {
        "scorer": bundle.scorers[at].name,
        "reducer": "mean",
        "samples": [
            {"sample_id": name(id), "value": right / judged}
            for id, (right, judged) in clusters_of(bundle, at).items()
        ],
    }


def _stats(bundle: Bundle) -> dict[str, Any]:
    usages = [usage for item in bundle.items if (usage := _usage(item))]
    total = {name: sum(usage[name] for usage in usages) for name in usages[0]} if usages else {}
    return {
        "started_at": bundle.begun.isoformat(),
        "completed_at": bundle.ended.isoformat(),
        "model_usage": {PROVIDER + bundle.model: total} if total else {},
    }


def _usage(item: Item) -> dict[str, int]:
    usage = item.stored.usage if item.stored else NO_USAGE
    asked, written = usage.prompt_tokens, usage.completion_tokens
    if asked is None or written is None:
        return {}
    return {"input_tokens": asked, "output_tokens": written, "total_tokens": asked + written}


def _sample(bundle: Bundle, item: Item, name: Naming) -> dict[str, Any]:
    asked, usage, problem = _input(item), _usage(item), item.problem
    sample: dict[str, Any] = {
        "id": name(problem.id),
        "epoch": item.sample + 1,
        "input": asked,
        "target": problem.gold,
        "messages": asked if isinstance(asked, list) else [{"role": "user", "content": asked}],
        "output": {},
        "scores": {},
        "metadata": {"question": problem.question, "solution": problem.solution},
        "model_usage": {PROVIDER + bundle.model: usage} if usage else {},
        "uuid": _id(bundle, f"{problem.id}\n{item.sample}"),
    }
    if item.error:
        said = {"message": item.error, "traceback": "", "traceback_ansi": ""}
        return sample | {"error": said, "output": {"model": bundle.model, "choices": []}}
    turn = {"role": "assistant", "content": _content(item), "source": "generate"}
    stop = STOPS.get(item.finish, "unknown")
    sample["messages"] = [*sample["messages"], turn]
    sample["output"] = {
        "model": (item.stored.model if item.stored else "") or bundle.model,
        "choices": [{"message": turn, "stop_reason": stop}],
        "completion": item.text,
        **({"usage": usage} if usage else {}),
    }
    named = zip(bundle.scorers, item.verdicts, strict=True)
    sample["scores"] = {
        scorer.name: _score(verdict, item.cause if scorer is bundle.scorers[0] else "")
        for scorer, verdict in named
        if verdict.outcome is not Outcome.ERROR
    }
    return sample


def _input(item: Item) -> str | list[dict[str, str]]:
    """Return the prompt that was sent; the question alone where it is not known."""
    if item.prompt is None:
        return item.problem.question
    if item.prompt.text is not None:
        return item.prompt.text
    turns = [{"role": turn.role, "content": turn.content} for turn in item.prompt.messages]
    if item.prompt.prefix:
        turns.append({"role": "assistant", "content": item.prompt.prefix})
    return turns


def _content(item: Item) -> str | list[dict[str, str]]:
    """Return the completion, behind the reasoning that the server returned apart from it."""
    if item.stored is None or not item.stored.reasoning:
        return item.text
    thought = {"type": "reasoning", "reasoning": item.stored.reasoning}
    return [thought, {"type": "text", "text": item.text}]


def _score(verdict: Verdict, cause: str) -> dict[str, Any]:
    answer = verdict.answer
    span = {"span": list(answer.span)} if answer is not None and answer.span is not None else {}
    why = f"{verdict.reason} ({cause})" if cause else verdict.reason
    return {
        "value": VALUES[verdict.outcome],
        "answer": answer.value if answer is not None else None,
        "explanation": why,
        "metadata": {"scorer": verdict.scorer, "outcome": verdict.outcome.value, **span},
    }


def _summary(sample: dict[str, Any]) -> dict[str, Any]:
    """Return what the list of samples shows; a long question is cut, as inspect does."""
    kept = ("id", "epoch", "target", "scores", "model_usage", "uuid")
    said = sample.get("error")
    question = str(sample["metadata"]["question"])
    return {
        **{name: sample[name] for name in kept},
        "input": question[:5000],
        "metadata": {},
        "completed": said is None,
        "message_count": len(sample["messages"]),
        **({"error": said["message"]} if said else {}),
    }
