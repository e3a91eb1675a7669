"""`gradeschool export`: a run with its verdicts as files of lm-eval, inspect_ai, or as Parquet."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from gradeschool import __version__
from gradeschool.atomic import replacing, writing_output
from gradeschool.completion import Prompt
from gradeschool.datasets.load import load_dataset
from gradeschool.datasets.sources import ALIASES, OWN_PROBLEMS, SOURCES
from gradeschool.errors import require_packages
from gradeschool.formats.inspect_log import PROVIDER
from gradeschool.formats.own_run import completions_file, planned_samples, slug
from gradeschool.formats.samples import Sample
from gradeschool.formats.settings import mapping, recorded
from gradeschool.problem import Problem
from gradeschool.protocols.registry import all_protocols, all_scorers, available, get_scorer
from gradeschool.reports.report_data import dataset_label_changes, sent_prompts
from gradeschool.scorer import DEFAULT_SCORER, Scorer
from gradeschool.scoring.causes import explained_samples
from gradeschool.scoring.samples import Warn
from gradeschool.scoring.sources import SourceRun
from gradeschool.scoring.statistics import Share, share_of, standard_error
from gradeschool.scoring.table import ScoredTable, headline_scorer
from gradeschool.verdict import Outcome, Verdict

SURROGATE = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"

Write = Callable[[BinaryIO], object]
Files = dict[str, Write]  # by path below the target ("": the target itself)


class ExportedScore(NamedTuple):
    """The score of a run under one scorer: a mean over problems, as lm-eval and inspect report it.

    stderr: the standard error of the mean, None for a single problem.
    """

    name: str
    share: Share
    stderr: float | None

    @property
    def is_exact(self) -> bool:
        """True if there is an accuracy, and not only bounds, because the scorer fails on a text."""
        return self.share.judged > 0 and self.share.bounds is None


class ExportedSample(NamedTuple):
    """One sample with its verdicts in the order of the scorers; a failed sample has no verdicts.

    place: the row of its problem in the dataset, from 0. prompt: the prompt that was sent, None if
    unknown. cause: why the headline scorer does not call it correct.
    """

    sample: Sample
    problem: Problem
    place: int
    prompt: Prompt | None
    verdicts: tuple[Verdict, ...]
    cause: str


@dataclass(frozen=True, slots=True)
class ExportedRun:
    """A run with everything that a format needs; the first scorer is the headline.

    protocol: "" if it is not recorded. dataset: its name, without folders, which exist on one
    machine only. size: number of problems in it. begun, ended: times of the run; for a file without
    a run.json, its last change.
    """

    model: str
    protocol: str
    dataset: str
    size: int
    scores: tuple[ExportedScore, ...]
    samples: tuple[ExportedSample, ...]
    manifest: Mapping[str, Any]
    begun: datetime
    ended: datetime
    faults: int

    @property
    def task(self) -> str:
        """The protocol, or the dataset if the protocol is not recorded."""
        return self.protocol or self.dataset

    @property
    def answered(self) -> int:
        """The number of samples that have a completion."""
        return sum(not each.sample.error for each in self.samples)

    def facts(self, name: str) -> Mapping[str, Any]:
        """Return the object of this name in run.json, {} if there is none."""
        return mapping(self.manifest.get(name))


def exported_run(chosen: SourceRun, scorers: Sequence[Scorer], warn: Warn) -> ExportedRun:
    """Return a run with its verdicts; no scorers: those of its protocol, and the reader.

    A prompt that cannot be rendered here, or whose digest is not the key of its row, is left out.
    """
    run, manifest = chosen.run, chosen.manifest
    protocol = mapping(manifest.get("protocol"))
    if not scorers:
        listed = protocol.get("scorers")
        own = [str(name) for name in listed] if isinstance(listed, list) else []
        names = dict.fromkeys((headline_scorer([manifest]), *own, DEFAULT_SCORER))
        known = (get_scorer(name) for name in names if name in all_scorers())
        scorers = [scorer for scorer in known if available(scorer)]
    problems: Iterable[Problem | None] = (
        run.problems() if run.dataset == OWN_PROBLEMS else load_dataset(run.dataset).problems
    )
    places = {id: i for i, id in enumerate(dict.fromkeys(each.id for each in problems if each))}
    size, prompts = len(places), sent_prompts(manifest, warn)
    samples = []
    table = ScoredTable(run, scorers)
    for each in explained_samples(table, dataset_label_changes(run)):
        sample, problem = each.sample, each.sample.problem
        assert problem is not None  # noqa: S101  (for the type checker)
        missed = each.verdicts and each.verdicts[0].outcome in (Outcome.WRONG, Outcome.NO_ANSWER)
        samples.append(ExportedSample(
            sample,
            problem,
            places.setdefault(problem.id, len(places)),  # else a problem that the file brought
            prompts.get(sample.stored.key) if sample.stored else None,
            each.verdicts,
            str(each.causes[0] or "") if missed else "",
        ))  # fmt: skip
    scores = []
    for index, scorer in enumerate(scorers):
        tallies: dict[str, list[int]] = {}  # by problem: correct, judged, failures of the scorer
        for exported in samples:
            if exported.verdicts:
                outcome = exported.verdicts[index].outcome
                tally = tallies.setdefault(exported.problem.id, [0, 0, 0])
                tally[0] += outcome is Outcome.CORRECT
                tally[1 if outcome is not Outcome.ERROR else 2] += 1
        shares = [right / n for right, n, _ in tallies.values() if n]
        scores.append(ExportedScore(
            scorer.name,
            share_of((right, n, errors) for right, n, errors in tallies.values()),
            standard_error(shares) if len(shares) > 1 else None,
        ))  # fmt: skip

    file = completions_file(chosen.path)  # of several files, the name that the user gave
    changed = (
        datetime.fromtimestamp(int(file.stat().st_mtime), UTC)
        if file.exists()
        else datetime.now(UTC)
    )

    def date(name: str) -> datetime:
        try:
            written = datetime.fromisoformat(str(manifest.get(name)))
        except ValueError:
            return changed
        return written.astimezone(UTC) if written.tzinfo else written.replace(tzinfo=UTC)

    name = run.dataset
    is_known = name in SOURCES or name in ALIASES
    return ExportedRun(
        model=run.name,
        protocol=str(protocol.get("name") or ""),
        dataset=ALIASES.get(name, name) if is_known else Path(name).name,
        size=size,
        scores=tuple(scores),
        samples=tuple(samples),
        manifest=manifest,
        begun=date("created"),
        ended=max(date("created"), date("updated")),
        faults=run.faults,
    )


def save_files(target: Path, files: Files) -> int:
    """Write all files of an export or none; return their size in bytes. Raises InputError."""
    size = 0
    with writing_output(target), ExitStack() as stack:
        for name, write in files.items():
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            part = stack.enter_context(replacing(path))
            with part.open("wb") as stream:
                write(stream)
            size += part.stat().st_size
    return size


def storable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 and most readers refuse, by U+FFFD.

    The text keeps its length, so that positions in it stay valid.
    """
    return text if text.isascii() else SURROGATE.sub(REPLACEMENT, text)


def encoded(value: Any, indent: int | None = None) -> bytes:
    r"""Return a value as JSON in ASCII; lone surrogates are U+FFFD.

    ASCII, because some readers of JSON lines split at U+2028 too.
    """
    text = json.dumps(value, indent=indent)
    if "\\ud" in text:
        whole = storable(json.dumps(value, ensure_ascii=False))
        text = json.dumps(json.loads(whole), indent=indent)
    return text.encode("ascii")


def _hash(text: str) -> str:
    return hashlib.sha256(storable(text).encode("utf-8")).hexdigest()


# lm-eval, in the layout of 0.4.13: lm_eval/loggers/evaluation_tracker.py (folders, names, hashes)
# and lm_eval/result_schema.py (fields). Scorers are written as filters, and their verdicts as
# `exact_match`. The format has no failed samples.

METRIC = "exact_match"
LM_EVAL = "lm-eval/"
UNSAFE = re.compile(r"[\"<>:/|\\?*\[\]]+")  # replaced by lm_eval.utils.sanitize_model_name
WORDLESS = re.compile(r"\W+")


def lm_eval_files(run: ExportedRun) -> Files:
    """Return lm-eval's `MODEL/results_TIME.json` and `MODEL/samples_TASK_TIME.jsonl`."""
    documents: dict[str, list[ExportedSample]] = {}
    for each in run.samples:
        if not each.sample.error:
            documents.setdefault(each.problem.id, []).append(each)
    # Samples arrive in any order, and readers break the ties of a vote by their order.
    groups = [sorted(group, key=lambda each: each.sample.sample) for group in documents.values()]
    rows = [_document(group[0]) for group in groups]
    decoding = run.facts("decoding")
    options = {
        "until": decoding.get("stop"),
        "do_sample": bool(decoding.get("temperature")),
        "temperature": decoding.get("temperature"),
        "top_p": decoding.get("top_p"),
        "max_gen_toks": decoding.get("max_tokens"),
    } if decoding else {}  # fmt: skip
    # lm-eval's own names ("gsm8k_cot", "strict-match") for its own protocols and their scorers.
    task = WORDLESS.sub("_", slug(run.task.removeprefix(LM_EVAL)))
    prefix = f"{run.task}/" if run.task.startswith(LM_EVAL) else ""
    filters = [score.name.removeprefix(prefix) for score in run.scores]

    def samples() -> Iterator[bytes]:
        """Yield the rows: all documents of the first filter, then those of the next."""
        for index, name in enumerate(filters):
            for group, row in zip(groups, rows, strict=True):
                verdicts = [each.verdicts[index] for each in group]
                judged = [each.correct for each in verdicts if each.outcome is not Outcome.ERROR]
                read = [each.answer.value if each.answer else "[invalid]" for each in verdicts]
                yield encoded({  # in lm-eval's order
                    **{name: row[name] for name in ("doc_id", "doc", "target")},
                    "arguments": {"gen_args_0": {"arg_0": _text(group[0].prompt),
                                                 "arg_1": options}},
                    "resps": [[each.sample.text for each in group]],
                    "filtered_resps": read if len(group) == 1 else [read],
                    "filter": name,
                    "metrics": [METRIC] if judged else [],
                    **{name: row[name] for name in ("doc_hash", "prompt_hash", "target_hash")},
                    **({METRIC: sum(judged) / len(judged)} if judged else {}),
                }) + b"\n"  # fmt: skip

    figures: dict[str, Any] = {"name": task, "alias": task, "sample_len": len(groups)}
    for name, score in zip(filters, run.scores, strict=True):
        if score.is_exact:
            figures[f"{METRIC},{name}"] = score.share.accuracy
            figures[f"{METRIC}_stderr,{name}"] = "N/A" if score.stderr is None else score.stderr
    protocol = all_protocols().get(run.task)
    shots, version = protocol.shot_count if protocol else 0, run.facts("protocol").get("digest")
    origin = {  # what lm-eval has no field for
        "version": __version__,
        "protocol": run.protocol or None,
        "dataset": run.dataset,
        "left_out": len(run.samples) - run.answered + run.faults,
        "accuracy": {
            each.name: {"value": each.share.accuracy if each.is_exact else None,
                        "bounds": each.share.bounds, "ci95": each.share.interval,
                        "n": each.share.judged}
            for each in run.scores
        },
    }  # fmt: skip
    shown = "".join(char if char.isprintable() else "_" for char in storable(run.model))
    model = UNSAFE.sub("__", shown).strip(".")[:120] or "model"
    hashes = "".join(f"{row['doc_hash']}{row['prompt_hash']}{row['target_hash']}" for row in rows)
    results = {
        "results": {task: figures},
        "group_subtasks": {task: []},
        "configs": {task: {
            "task": task, "output_type": "generate_until", "num_fewshot": shots,
            "generation_kwargs": options, "repeats": max(map(len, groups)),
            "metadata": {"version": version, "gradeschool": origin},
        }},
        "versions": {task: version or "unknown"},
        "n-shot": {task: shots},
        "higher_is_better": {task: {METRIC: True}},
        "n-samples": {task: {"original": run.size, "effective": len(groups)}},
        "config": {"model": "gradeschool", "model_args": f"model={run.model}",
                   "gen_kwargs": options, "limit": None, "bootstrap_iters": 0},
        "date": run.begun.timestamp(),
        "task_hashes": {task: _hash(hashes * len(run.scores))},
        "model_source": "gradeschool",
        "model_name": run.model,
        "model_name_sanitized": model,
        "total_evaluation_time_seconds": str((run.ended - run.begun).total_seconds()),
    }  # fmt: skip
    stamp = run.begun.replace(tzinfo=None).isoformat().replace(":", "-")
    return {
        f"{model}/samples_{task}_{stamp}.jsonl": lambda file: file.writelines(samples()),
        f"{model}/results_{stamp}.json": lambda file: file.write(encoded(results, 2)),
    }


def _document(first: ExportedSample) -> dict[str, Any]:
    """Return what the rows of a problem have in common under every filter."""
    problem = first.problem
    document = {"question": problem.question, "answer": problem.solution}
    return {
        "doc_id": first.place,
        "doc": document,
        "target": problem.solution,
        "doc_hash": _hash(json.dumps(document, indent=2, ensure_ascii=False)),
        "prompt_hash": _hash(_text(first.prompt)),
        "target_hash": _hash(problem.solution),
    }


def _text(prompt: Prompt | None) -> str:
    """Return a prompt as lm-eval's models get it: text, or a chat as JSON; "" if unknown."""
    if prompt is None:
        return ""
    if prompt.text is not None:
        return prompt.text
    return json.dumps(prompt.as_messages(), ensure_ascii=False)


# inspect_ai: an `.eval` archive (EvalLog, version 2), as 0.3.285 reads it. Members are deflated,
# which inspect reads as well as its own zstd. The same run always gives the same bytes, unlike with
# inspect's own writer. Each score is named after its scorer.

EPOCH = (1980, 1, 1, 0, 0, 0)  # time of every member
INSPECT = "gradeschool/"
VALUES = {Outcome.CORRECT: "C", Outcome.WRONG: "I", Outcome.NO_ANSWER: "N"}
STOPS = {"stop": "stop", "length": "max_tokens", "content_filter": "content_filter"}
METRICS = ("accuracy", "stderr")
NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,8})\Z")  # an id that inspect may store as a number
SUMMARY = ("id", "epoch", "target", "scores", "model_usage", "uuid")


def inspect_scorer_name(scorer: str) -> str:
    """Return the name of a scorer in inspect, as `integrations.for_inspect` registers it."""
    return INSPECT + scorer.removeprefix(INSPECT).replace("@", ":").replace(".", "_")


def inspect_files(run: ExportedRun) -> Files:
    """Return the `.eval` archive of a run."""

    def write(file: BinaryIO) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, value in _members(run):
                member = zipfile.ZipInfo(name, EPOCH)
                member.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(member, encoded(value))

    return {"": write}


def _members(run: ExportedRun) -> Iterator[tuple[str, Any]]:
    """Yield the name and the content of each file of the archive."""
    ids = list(dict.fromkeys(each.problem.id for each in run.samples))
    # Problems have numbers, which inspect sorts, if all ids are numbers.
    name: Callable[[str], str | int] = int if all(map(NUMBER.match, ids)) else storable
    facts = f"{run.model}\n{run.task}\n{run.dataset}\n{run.begun.isoformat()}"

    def identify(what: str) -> str:
        """Return an id that is always the same for the same run: 22 characters, like inspect's."""
        digest = hashlib.sha256(f"{what}\n{facts}".encode("utf-8", "replace"))
        return digest.hexdigest()[:22]

    protocol, decoding = run.facts("protocol"), run.facts("decoding")
    protocol_name = run.protocol or None
    metrics = [{"name": f"inspect_ai/{metric}", "options": {}} for metric in METRICS]
    spec = {
        "eval_id": identify("eval"),
        "run_id": identify("run"),
        "created": run.begun.isoformat(),
        "task": run.task,
        "task_id": identify("task"),
        "task_display_name": run.task,
        "task_version": str(protocol.get("digest") or 0),
        "task_args": recorded({"protocol": protocol_name, "dataset": run.dataset}),
        "dataset": {"name": run.dataset, "samples": len(ids), "sample_ids": list(map(name, ids)),
                    "shuffled": False},
        "model": PROVIDER + run.model,
        "config": {"epochs": max(each.sample.sample for each in run.samples) + 1,
                   "epochs_reducer": ["mean"]},
        "packages": {"gradeschool": str(run.manifest.get("gradeschool") or __version__)},
        "metadata": {
            "exported_by": f"gradeschool {__version__}",
            "protocol": protocol_name,
            "protocol_digest": protocol.get("digest"),
            "dataset_sha256": run.facts("dataset").get("sha256"),
        },
        "scorers": [
            {"name": inspect_scorer_name(score.name), "options": {}, "metrics": metrics,
             "metadata": {}}
            for score in run.scores
        ],
    }  # fmt: skip
    config = recorded({
        "temperature": decoding.get("temperature"),
        "top_p": decoding.get("top_p"),
        "max_tokens": decoding.get("max_tokens"),
        "stop_seqs": decoding.get("stop") or None,
        "seed": decoding.get("seed"),
    })  # fmt: skip
    plan = {"name": "plan", "steps": [{"solver": "generate", "params": {}}], "config": config}
    yield "_journal/start.json", {"version": 2, "eval": spec, "plan": plan}

    summaries: list[dict[str, Any]] = []
    total: Counter[str] = Counter()
    for each in run.samples:
        total.update(_usage(each))
        uuid = identify(f"{each.problem.id}\n{each.sample.sample}")
        written = _sample(run, each, name(each.problem.id), uuid)
        error = written.get("error")
        summaries.append({
            **{field: written[field] for field in SUMMARY},
            "input": each.problem.question[:5000],  # as in inspect
            "metadata": {},
            "completed": error is None,
            "message_count": len(written["messages"]),
            **({"error": error["message"]} if error else {}),
        })  # fmt: skip
        yield f"samples/{written['id']}_epoch_{written['epoch']}.json", written
    yield "summaries.json", summaries
    judged = [score for score in run.scores if score.is_exact]
    done = len(run.samples) >= planned_samples(run.manifest)
    scores = [
        {
            "name": score.name,
            "scorer": inspect_scorer_name(score.name),
            "reducer": "mean",
            "scored_samples": score.share.problems,
            "unscored_samples": len(ids) - score.share.problems,
            "params": {},
            "metrics": {
                name: {"name": name, "value": value, "params": {}}
                for name, value in zip(METRICS, (score.share.accuracy, score.stderr or 0.0),
                                       strict=True)
            },
        }
        for score in judged
    ]  # fmt: skip
    yield (
        "header.json",
        {
            "version": 2,
            "status": "success" if done else "cancelled",
            "eval": spec,
            "plan": plan,
            "results": {
                "total_samples": len(run.samples),
                "completed_samples": run.answered,
                "scores": scores,
            },
            "stats": {
                "started_at": run.begun.isoformat(),
                "completed_at": run.ended.isoformat(),
                "model_usage": {PROVIDER + run.model: total} if total else {},
            },
        },
    )


def _usage(each: ExportedSample) -> dict[str, int]:
    """Return the tokens that were sent and written, and their sum; {} if one is unknown."""
    sent, written = each.sample.usage.prompt_tokens, each.sample.usage.completion_tokens
    if sent is None or written is None:
        return {}
    return {"input_tokens": sent, "output_tokens": written, "total_tokens": sent + written}


def _sample(run: ExportedRun, each: ExportedSample, id: str | int, uuid: str) -> dict[str, Any]:
    """Return a sample of the archive; the question is its input where the prompt is unknown."""
    sample, problem, usage = each.sample, each.problem, _usage(each)
    prompt: str | list[dict[str, str]] = problem.question
    if each.prompt is not None:
        text = each.prompt.text
        prompt = each.prompt.as_messages() if text is None else text
    sent = prompt if isinstance(prompt, list) else [{"role": "user", "content": prompt}]
    written: dict[str, Any] = {
        "id": id,
        "epoch": sample.sample + 1,
        "input": prompt,
        "target": problem.gold,
        "messages": sent,
        "output": {"model": run.model, "choices": []},
        "scores": {},
        "metadata": {"question": problem.question, "solution": problem.solution},
        "model_usage": {PROVIDER + run.model: usage} if usage else {},
        "uuid": uuid,
    }
    if sample.error:
        error = {"message": sample.error, "traceback": "", "traceback_ansi": ""}
        return written | {"error": error}
    content: str | list[dict[str, str]] = sample.text
    if sample.stored and sample.stored.reasoning:  # which the server returned apart
        thought = {"type": "reasoning", "reasoning": sample.stored.reasoning}
        content = [thought, {"type": "text", "text": sample.text}]
    turn = {"role": "assistant", "content": content, "source": "generate"}
    scores = {}
    for index, verdict in enumerate(each.verdicts):
        answer = verdict.answer
        if verdict.outcome is not Outcome.ERROR:
            cause = f" ({each.cause})" if each.cause and not index else ""
            span = {"span": list(answer.span)} if answer and answer.span else {}
            about = {"scorer": verdict.scorer, "outcome": verdict.outcome.value, **span}
            scores[verdict.scorer] = {
                "value": VALUES[verdict.outcome],
                "answer": answer and answer.value,
                "explanation": f"{verdict.reason}{cause}",
                "metadata": about,
            }
    return written | {
        "messages": [*sent, turn],
        "output": {
            "model": (sample.stored.model if sample.stored else "") or run.model,
            "choices": [{"message": turn, "stop_reason": STOPS.get(sample.finish, "unknown")}],
            "completion": sample.text,
            **({"usage": usage} if usage else {}),
        },
        "scores": scores,
    }


# Parquet

ROW_GROUP = 16_384  # rows
TEXTS = ("run", "problem_id", "question", "gold", "completion", "finish", "error", "cause", "read")
NUMBERS = ("sample", "prompt_tokens", "completion_tokens")
REPEATED = ("run", "finish", "cause")  # words that many rows share


def parquet_files(run: ExportedRun) -> Files:
    """Return a Parquet table: a row per sample, its text and metadata, a column per scorer.

    Raises MissingExtraError without pyarrow.
    """
    require_packages("writing Parquet", "parquet", "pyarrow")

    def write(file: BinaryIO) -> None:
        import pyarrow as arrow
        import pyarrow.parquet as parquet

        about = {
            "version": __version__,
            "protocol": run.protocol or None,
            "dataset": run.dataset,
            "created": run.begun.isoformat(),
            "surrogates": "lone surrogates are written as U+FFFD",
        }
        scorers = [storable(score.name) for score in run.scores]
        word = arrow.dictionary(arrow.int32(), arrow.string())
        kinds = dict.fromkeys(TEXTS, arrow.string()) | dict.fromkeys(REPEATED, word)
        kinds |= dict.fromkeys(NUMBERS, arrow.int64()) | dict.fromkeys(scorers, word)
        schema = arrow.schema(list(kinds.items()), metadata={"gradeschool": json.dumps(about)})
        with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            for start in range(0, len(run.samples), ROW_GROUP):
                group = run.samples[start : start + ROW_GROUP]
                rows = zip(*(_cells(run.model, each, len(scorers)) for each in group), strict=True)
                columns = map(arrow.array, rows, kinds.values())
                writer.write_batch(arrow.record_batch(list(columns), schema=schema))

    return {"": write}


def _cells(model: str, each: ExportedSample, scorers: int) -> list[str | int | None]:
    """Return a row of the table: TEXTS, NUMBERS, the outcome under each scorer."""
    sample, problem = each.sample, each.problem
    answer = each.verdicts[0].answer if each.verdicts else None
    texts = (model, problem.id, problem.question, problem.gold, sample.text, str(sample.finish),
             sample.error, each.cause, answer and answer.value)  # fmt: skip
    usage = sample.usage
    outcomes = [verdict.outcome.value for verdict in each.verdicts] or ["error"] * scorers
    return [
        *(text and storable(text) for text in texts),
        *(sample.sample, usage.prompt_tokens, usage.completion_tokens),
        *outcomes,
    ]
