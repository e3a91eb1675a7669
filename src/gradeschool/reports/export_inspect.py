"""Write an `.eval` archive of inspect_ai (EvalLog, version 2), as inspect_ai 0.3.285 reads it.

Members are deflated, which inspect reads as well as its own zstd. The same run always gives the
same bytes, unlike with inspect's own writer. Scorers are named as in
`gradeschool.integrations.for_inspect`, and each score is named after its scorer.
"""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from gradeschool import __version__
from gradeschool.formats.inspect_log import PROVIDER
from gradeschool.formats.settings import recorded
from gradeschool.reports.export import (
    ExportedFile,
    ExportedRun,
    ExportedSample,
    ExportedScore,
    encoded,
    storable,
)
from gradeschool.verdict import Outcome, Verdict

EPOCH = (1980, 1, 1, 0, 0, 0)  # time of every member, so that the same run gives the same bytes
OWN = "gradeschool/"
VALUES = {Outcome.CORRECT: "C", Outcome.WRONG: "I", Outcome.NO_ANSWER: "N"}
STOPS = {"stop": "stop", "length": "max_tokens", "content_filter": "content_filter"}
METRICS = ("accuracy", "stderr")
NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,8})\Z")  # an id that inspect may store as a number
Naming = Callable[[str], str | int]


def inspect_files(run: ExportedRun) -> list[ExportedFile]:
    """Return the `.eval` archive of a run."""
    return [ExportedFile("", lambda file: _archive(run, file))]


def inspect_scorer_name(scorer: str) -> str:
    """Return the name of a scorer in inspect."""
    return OWN + scorer.removeprefix(OWN).replace("@", ":").replace(".", "_")


def _archive(run: ExportedRun, file: BinaryIO) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in _members(run):
            member = zipfile.ZipInfo(name, EPOCH)
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, encoded(value))


def _members(run: ExportedRun) -> Iterator[tuple[str, Any]]:
    name = _naming(run)
    spec, plan = _spec(run, name), _plan(run)
    yield "_journal/start.json", {"version": 2, "eval": spec, "plan": plan}
    summaries = []
    for exported in run.samples:
        sample = _written_sample(run, exported, name)
        summaries.append(_summary(sample))
        yield f"samples/{sample['id']}_epoch_{sample['epoch']}.json", sample
    yield "summaries.json", summaries
    yield "reductions.json", [_reduction(score, name) for score in run.judged_scores()]
    yield (
        "header.json",
        {
            "version": 2,
            "status": "success" if run.is_whole() else "cancelled",
            "eval": spec,
            "plan": plan,
            "results": _results(run),
            "stats": _stats(run),
        },
    )


def _id(run: ExportedRun, what: str) -> str:
    """Return an id that is always the same for the same run: 22 characters, like inspect's."""
    facts = f"{what}\n{run.model}\n{run.task}\n{run.dataset}\n{run.begun.isoformat()}"
    return hashlib.sha256(facts.encode("utf-8", "replace")).hexdigest()[:22]


def _naming(run: ExportedRun) -> Naming:
    """Return how problems are named: by number, which inspect sorts, if all ids are numbers."""
    return int if all(NUMBER.match(id) for id in _ids(run)) else storable


def _ids(run: ExportedRun) -> list[str]:
    return list(dict.fromkeys(sample.problem.id for sample in run.samples))


def _spec(run: ExportedRun, name: Naming) -> dict[str, Any]:
    protocol, dataset = run.facts("protocol"), run.facts("dataset")
    ids = [name(id) for id in _ids(run)]
    epochs = max(sample.sample for sample in run.samples) + 1
    metrics = [{"name": f"inspect_ai/{name}", "options": {}} for name in METRICS]
    return {
        "eval_id": _id(run, "eval"),
        "run_id": _id(run, "run"),
        "created": run.begun.isoformat(),
        "task": run.task,
        "task_id": _id(run, "task"),
        "task_display_name": run.task,
        "task_version": str(protocol.get("digest") or 0),
        "task_args": {
            **({"protocol": run.protocol} if run.protocol else {}),
            "dataset": run.dataset,
        },
        "dataset": {
            "name": run.dataset,
            "samples": len(ids),
            "sample_ids": ids,
            "shuffled": False,
        },
        "model": PROVIDER + run.model,
        "config": {"epochs": epochs, "epochs_reducer": ["mean"]},
        "packages": {"gradeschool": str(run.manifest.get("gradeschool") or __version__)},
        "metadata": {
            "exported_by": f"gradeschool {__version__}",
            "protocol": run.protocol,
            "protocol_digest": protocol.get("digest"),
            "dataset_sha256": dataset.get("sha256"),
        },
        "scorers": [
            {
                "name": inspect_scorer_name(score.scorer.name),
                "options": {},
                "metrics": metrics,
                "metadata": {},
            }
            for score in run.scores
        ],
    }


def _plan(run: ExportedRun) -> dict[str, Any]:
    decoding = run.facts("decoding")
    config = recorded({
        "temperature": decoding.get("temperature"),
        "top_p": decoding.get("top_p"),
        "max_tokens": decoding.get("max_tokens"),
        "stop_seqs": decoding.get("stop") or None,
        "seed": decoding.get("seed"),
    })  # fmt: skip
    return {"name": "plan", "steps": [{"solver": "generate", "params": {}}], "config": config}


def _results(run: ExportedRun) -> dict[str, Any]:
    return {
        "total_samples": len(run.samples),
        "completed_samples": len(run.answered()),
        "scores": [_score_summary(run, score) for score in run.judged_scores()],
    }


def _score_summary(run: ExportedRun, score: ExportedScore) -> dict[str, Any]:
    values = {"accuracy": score.accuracy, "stderr": score.stderr or 0.0}
    return {
        "name": score.scorer.name,
        "scorer": inspect_scorer_name(score.scorer.name),
        "reducer": "mean",
        "scored_samples": len(score.problems),
        "unscored_samples": len(_ids(run)) - len(score.problems),
        "params": {},
        "metrics": {name: {"name": name, "value": values[name], "params": {}} for name in METRICS},
    }


def _reduction(score: ExportedScore, name: Naming) -> dict[str, Any]:
    return {
        "scorer": score.scorer.name,
        "reducer": "mean",
        "samples": [
            {"sample_id": name(id), "value": correct / judged}
            for id, (correct, judged) in score.problems.items()
        ],
    }


def _stats(run: ExportedRun) -> dict[str, Any]:
    usages = [usage for sample in run.samples if (usage := sample.tokens())]
    total = {name: sum(usage[name] for usage in usages) for name in usages[0]} if usages else {}
    return {
        "started_at": run.begun.isoformat(),
        "completed_at": run.ended.isoformat(),
        "model_usage": {PROVIDER + run.model: total} if total else {},
    }


def _written_sample(run: ExportedRun, exported: ExportedSample, name: Naming) -> dict[str, Any]:
    prompt, usage, problem = _input(exported), exported.tokens(), exported.problem
    sample: dict[str, Any] = {
        "id": name(problem.id),
        "epoch": exported.sample + 1,
        "input": prompt,
        "target": problem.gold,
        "messages": prompt if isinstance(prompt, list) else [{"role": "user", "content": prompt}],
        "output": {},
        "scores": {},
        "metadata": {"question": problem.question, "solution": problem.solution},
        "model_usage": {PROVIDER + run.model: usage} if usage else {},
        "uuid": _id(run, f"{problem.id}\n{exported.sample}"),
    }
    if exported.error:
        error = {"message": exported.error, "traceback": "", "traceback_ansi": ""}
        return sample | {"error": error, "output": {"model": run.model, "choices": []}}
    turn = {"role": "assistant", "content": _content(exported), "source": "generate"}
    stop = STOPS.get(exported.finish, "unknown")
    sample["messages"] = [*sample["messages"], turn]
    sample["output"] = {
        "model": (exported.stored.model if exported.stored else "") or run.model,
        "choices": [{"message": turn, "stop_reason": stop}],
        "completion": exported.text,
        **({"usage": usage} if usage else {}),
    }
    scorers = [score.scorer for score in run.scores]
    sample["scores"] = {
        scorer.name: _score(verdict, exported.cause if scorer is scorers[0] else "")
        for scorer, verdict in zip(scorers, exported.verdicts, strict=True)
        if verdict.outcome is not Outcome.ERROR
    }
    return sample


def _input(sample: ExportedSample) -> str | list[dict[str, str]]:
    """Return the prompt that was sent, or the question alone if the prompt is unknown."""
    if sample.prompt is None:
        return sample.problem.question
    if sample.prompt.text is not None:
        return sample.prompt.text
    return sample.prompt.as_messages()


def _content(sample: ExportedSample) -> str | list[dict[str, str]]:
    """Return the completion, after the reasoning if the server returned it separately."""
    if sample.stored is None or not sample.stored.reasoning:
        return sample.text
    thought = {"type": "reasoning", "reasoning": sample.stored.reasoning}
    return [thought, {"type": "text", "text": sample.text}]


def _score(verdict: Verdict, cause: str) -> dict[str, Any]:
    answer = verdict.answer
    span = {"span": list(answer.span)} if answer is not None and answer.span is not None else {}
    reason = f"{verdict.reason} ({cause})" if cause else verdict.reason
    return {
        "value": VALUES[verdict.outcome],
        "answer": answer.value if answer is not None else None,
        "explanation": reason,
        "metadata": {"scorer": verdict.scorer, "outcome": verdict.outcome.value, **span},
    }


def _summary(sample: dict[str, Any]) -> dict[str, Any]:
    """Return the entry for the list of samples; a long question is cut, as in inspect."""
    kept = ("id", "epoch", "target", "scores", "model_usage", "uuid")
    error = sample.get("error")
    question = str(sample["metadata"]["question"])
    return {
        **{name: sample[name] for name in kept},
        "input": question[:5000],
        "metadata": {},
        "completed": error is None,
        "message_count": len(sample["messages"]),
        **({"error": error["message"]} if error else {}),
    }
