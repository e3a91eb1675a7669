"""`gradeschool export`: a run with its verdicts as files of lm-eval, inspect_ai, or as Parquet.

`export_run` gathers what the three formats need and writes one of them; `push` uploads the files.
"""

import hashlib
import json
import re
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from math import nan
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from gradeschool import __version__
from gradeschool.atomic import check_output, replacing, writing_output
from gradeschool.datasets.load import DATASET_ALIASES, OWN_PROBLEMS, SOURCES, load_dataset
from gradeschool.errors import InputError, TransientError, require_packages
from gradeschool.formats.foreign import PROVIDER
from gradeschool.formats.run_folder import completions_file, planned_samples, slug
from gradeschool.formats.values import Sample, mapping
from gradeschool.masking import masked, register_secret
from gradeschool.printable import count
from gradeschool.problem import Problem
from gradeschool.protocols.registry import all_protocols, all_scorers, available, get_scorer
from gradeschool.runs.job import recorded_prompts
from gradeschool.scorer import DEFAULT_SCORER, Outcome, Scorer, Verdict
from gradeschool.scoring.causes import ExplainedSample, explained_samples, label_changes_for
from gradeschool.scoring.sources import Run, Warn
from gradeschool.scoring.statistics import Share, share_of, standard_error
from gradeschool.scoring.table import ScoredTable, headline_scorer

SURROGATE = re.compile("[\ud800-\udfff]")
Files = dict[str, Callable[[BinaryIO], object]]  # by path below the target ("": the target itself)


class ExportedScore(NamedTuple):
    """The score of a run under one scorer: a mean over problems, as lm-eval and inspect report it.

    stderr: the standard error of the mean, None for a single problem. is_exact: there is an
    accuracy, and not only bounds because the scorer fails on a text.
    """

    name: str
    share: Share
    stderr: float | None
    is_exact: bool


class ExportedRun:
    """A run with its verdicts and everything else that a format needs.

    model: the run's name. protocol: "" if it is not recorded. task: the protocol, else the dataset.
    dataset: its name, without folders, which exist on one machine only. size: number of problems in
    it. answered: number of samples with a completion. scores: the first is the headline's. places:
    the row of each problem in the dataset, from 0. prompts: those that were sent, by key; one that
    cannot be rendered here, or whose digest is not the key of its row, is left out. begun, ended:
    times of the run; for a file without a run.json, its last change.
    """

    def __init__(self, run: Run, scorers: Sequence[Scorer], warn: Warn) -> None:
        """Score a run; no scorers: those of its protocol, and the reader."""
        self.model, self.manifest, self.faults = run.name, run.manifest, run.faults
        protocol = self.facts("protocol")
        if not scorers:
            listed = protocol.get("scorers")
            own = [str(name) for name in listed] if isinstance(listed, list) else []
            names = dict.fromkeys((headline_scorer([run.manifest]), *own, DEFAULT_SCORER))
            known = (get_scorer(name) for name in names if name in all_scorers())
            scorers = [scorer for scorer in known if available(scorer)]
        problems: Iterable[Problem | None] = (
            run.problems() if run.dataset == OWN_PROBLEMS else load_dataset(run.dataset).problems
        )
        ids = dict.fromkeys(each.id for each in problems if each)
        self.places, self.size = {id: place for place, id in enumerate(ids)}, len(ids)
        self.prompts = recorded_prompts(run.manifest, warn)
        self.samples: list[ExplainedSample] = []
        tallies: list[dict[str, list[int]]] = [{} for _ in scorers]  # correct, judged, failures
        table, changes = ScoredTable(run, scorers), label_changes_for(run)
        for each in explained_samples(table, changes):
            self.samples.append(each._replace(reading=None))
            self.places.setdefault(each.problem.id, len(self.places))  # that the file brought
            for tally, verdict in zip(tallies, each.verdicts, strict=False):
                counts = tally.setdefault(each.problem.id, [0, 0, 0])
                counts[0] += verdict.correct
                counts[2 if verdict.outcome is Outcome.ERROR else 1] += 1
        self.answered = sum(not each.sample.error for each in self.samples)
        self.scores: list[ExportedScore] = []
        for scorer, tally in zip(scorers, tallies, strict=True):
            shares = [right / n for right, n, _ in tally.values() if n]
            share = share_of((right, n, errors) for right, n, errors in tally.values())
            stderr = standard_error(shares) if len(shares) > 1 else None
            is_exact = share.judged > 0 and share.bounds is None
            self.scores.append(ExportedScore(scorer.name, share, stderr, is_exact))

        file = completions_file(run.path)  # of several files, the name that the user gave
        file = file if file.exists() else run.path  # a folder of tables
        changed = datetime.fromtimestamp(
            int(file.stat().st_mtime if file.exists() else time.time()), UTC
        )
        dates = dict.fromkeys(("created", "updated"), changed)
        for field in dates:
            with suppress(ValueError):
                date = datetime.fromisoformat(str(run.manifest.get(field)))
                dates[field] = date.astimezone(UTC) if date.tzinfo else date.replace(tzinfo=UTC)
        self.begun, self.ended = dates["created"], max(dates.values())
        named = DATASET_ALIASES.get(run.dataset, run.dataset)
        self.dataset = named if named in SOURCES else Path(run.dataset).name
        self.protocol = str(protocol.get("name") or "")
        self.task = self.protocol or self.dataset

    def facts(self, name: str) -> Mapping[str, Any]:
        """Return the object of this name in run.json, {} if there is none."""
        return mapping(self.manifest.get(name))

    def prompt(self, sample: Sample) -> str | list[dict[str, str]] | None:
        """Return the text or the messages that were sent for a sample, None if unknown."""
        prompt = self.prompts.get(sample.stored.key) if sample.stored else None
        if prompt is None:
            return None
        return prompt.as_messages() if prompt.text is None else prompt.text


def export_run(run: ExportedRun, form: str, output: Path, force: bool) -> tuple[list[Path], int]:
    """Write the files of a form (`EXPORT_FORMS`), all or none; return their paths and bytes.

    Raises InputError for a run without completions, and for a file that exists unless `force`.
    """
    if not run.answered:
        number = count(len(run.samples), "sample has", "samples have")
        raise InputError(f"{run.model!r} has nothing to export: its {number} no completion")
    files, size = {output / name: write for name, write in EXPORT_FORMS[form](run).items()}, 0
    for path in files:
        check_output(path, force=force)
    with writing_output(output), ExitStack() as stack:
        for path, write in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            part = stack.enter_context(replacing(path))
            with part.open("wb") as stream:
                write(stream)
            size += part.stat().st_size
    return list(files), size


def storable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 and most readers refuse, by U+FFFD.

    The text keeps its length, so that positions in it stay valid.
    """
    return text if text.isascii() else SURROGATE.sub("\ufffd", text)


def encoded(value: Any, indent: int | None = None) -> bytes:
    r"""Return a value as JSON in ASCII; lone surrogates are U+FFFD.

    ASCII, because some readers of JSON lines split at U+2028 too.
    """
    text = json.dumps(value, indent=indent)
    if "\\ud" in text:
        whole = storable(json.dumps(value, ensure_ascii=False))
        text = json.dumps(json.loads(whole), indent=indent)
    return text.encode("ascii")


def cause_of_miss(each: ExplainedSample) -> str:
    """Return why the headline scorer finds no right answer in a sample, "" if it does or fails."""
    is_miss = each.verdicts and each.verdicts[0].outcome in (Outcome.WRONG, Outcome.NO_ANSWER)
    return str(each.causes[0] or "") if is_miss else ""


def _hash(text: str) -> str:
    return hashlib.sha256(storable(text).encode("utf-8")).hexdigest()


# lm-eval, in the layout of 0.4.13: lm_eval/loggers/evaluation_tracker.py (folders, names, hashes)
# and lm_eval/result_schema.py (fields). Scorers are written as filters, and their verdicts as
# `exact_match`. The format has no failed samples.

METRIC = "exact_match"
LM_EVAL = "lm-eval/"
NOT_IN_LM_EVAL = re.compile(r"[\"<>:/|\\?*\[\]]+")  # replaced by lm_eval.utils.sanitize_model_name
WORDLESS = re.compile(r"\W+")


def lm_eval_files(run: ExportedRun) -> Files:
    """Return lm-eval's `MODEL/results_TIME.json` and `MODEL/samples_TASK_TIME.jsonl`."""
    documents: dict[str, list[ExplainedSample]] = {}
    for each in run.samples:
        if not each.sample.error:
            documents.setdefault(each.problem.id, []).append(each)
    # Samples arrive in any order, and readers break the ties of a vote by their order.
    groups = [sorted(group, key=lambda each: each.sample.sample) for group in documents.values()]
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
    hashes: list[str] = []
    shared = []  # what the rows of a document have in common under every filter
    for first, *_ in groups:
        document = {"question": first.problem.question, "answer": first.problem.solution}
        prompt = run.prompt(first.sample) or ""
        if not isinstance(prompt, str):  # a chat
            prompt = json.dumps(prompt, ensure_ascii=False)
        digests = {
            "doc_hash": _hash(json.dumps(document, indent=2, ensure_ascii=False)),
            "prompt_hash": _hash(prompt),
            "target_hash": _hash(first.problem.solution),
        }
        fields = {"doc_id": run.places[first.problem.id], "doc": document,
                  "target": first.problem.solution,
                  "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": options}}}  # fmt: skip
        shared.append((fields, digests))
        hashes += digests.values()

    def samples() -> Iterator[bytes]:
        """Yield the rows: all documents of the first filter, then those of the next."""
        for index, name in enumerate(filters):
            for group, (fields, digests) in zip(groups, shared, strict=True):
                verdicts = [each.verdicts[index] for each in group]
                judged = [each.correct for each in verdicts if each.outcome is not Outcome.ERROR]
                read = [each.answer.value if each.answer else "[invalid]" for each in verdicts]
                yield encoded({  # in lm-eval's order
                    **fields,
                    "resps": [[each.sample.text for each in group]],
                    "filtered_resps": read if len(group) == 1 else [read],
                    "filter": name,
                    "metrics": [METRIC] if judged else [],
                    **digests,
                    **({METRIC: sum(judged) / len(judged)} if judged else {}),
                }) + b"\n"  # fmt: skip

    figures: dict[str, Any] = {"name": task, "alias": task, "sample_len": len(groups)}
    accuracies = {}
    for filter_name, (name, share, stderr, is_exact) in zip(filters, run.scores, strict=True):
        if is_exact:
            figures[f"{METRIC},{filter_name}"] = share.accuracy
            figures[f"{METRIC}_stderr,{filter_name}"] = "N/A" if stderr is None else stderr
        accuracies[name] = {"value": share.accuracy if is_exact else None, "n": share.judged,
                            "bounds": share.bounds, "ci95": share.interval}  # fmt: skip
    protocol = all_protocols().get(run.task)
    shots, version = protocol.shot_count if protocol else 0, run.facts("protocol").get("digest")
    origin = {  # what lm-eval has no field for
        "version": __version__,
        "protocol": run.protocol or None,
        "dataset": run.dataset,
        "left_out": len(run.samples) - run.answered + run.faults,
        "accuracy": accuracies,
    }
    shown = "".join(char if char.isprintable() else "_" for char in storable(run.model))
    model = NOT_IN_LM_EVAL.sub("__", shown).strip(".")[:120] or "model"
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
        "task_hashes": {task: _hash("".join(hashes) * len(run.scores))},
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


# inspect_ai: an `.eval` archive (EvalLog, version 2), as 0.3.285 reads it. Members are deflated,
# which inspect reads as well as its own zstd. The same run always gives the same bytes, unlike with
# inspect's own writer. Each score is named after its scorer.

EPOCH = (1980, 1, 1, 0, 0, 0)  # time of every member
INSPECT = "gradeschool/"
# inspect's words, from the best; a failure of the scorer leaves a sample without a score.
VALUES = {Outcome.CORRECT: "C", Outcome.WRONG: "I", Outcome.NO_ANSWER: "N", Outcome.ERROR: nan}
STOPS = {"stop": "stop", "length": "max_tokens", "content_filter": "content_filter"}
METRICS = ("accuracy", "stderr")
NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,8})\Z")  # an id that inspect may store as a number
SUMMARY = ("id", "epoch", "target", "scores", "model_usage", "uuid")


def inspect_scorer_name(scorer: str) -> str:
    """Return the name of a scorer in inspect, as `integrations.for_inspect` registers it."""
    return INSPECT + scorer.removeprefix(INSPECT).replace("@", ":").replace(".", "_")


def inspect_score_fields(verdict: Verdict, cause: str) -> dict[str, Any]:
    """Return the fields of inspect's score for a verdict; cause: of a miss, "" for none."""
    answer = verdict.answer
    span = {"span": list(answer.span)} if answer and answer.span else {}
    return {
        "value": VALUES[verdict.outcome],
        "answer": answer and answer.value,
        "explanation": f"{verdict.reason} ({cause})" if cause else verdict.reason,
        "metadata": {"scorer": verdict.scorer, "outcome": verdict.outcome.value, **span},
    }


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
    model, metrics = PROVIDER + run.model, [{"name": f"inspect_ai/{metric}", "options": {}}
                                            for metric in METRICS]  # fmt: skip
    spec = {
        "eval_id": identify("eval"),
        "run_id": identify("run"),
        "created": run.begun.isoformat(),
        "task": run.task,
        "task_id": identify("task"),
        "task_version": str(protocol.get("digest") or 0),
        "task_args": {**({"protocol": run.protocol} if run.protocol else {}),
                      "dataset": run.dataset},
        "dataset": {"name": run.dataset, "samples": len(ids), "sample_ids": list(map(name, ids))},
        "model": model,
        "config": {"epochs": max(each.sample.sample for each in run.samples) + 1,
                   "epochs_reducer": ["mean"]},
        "packages": {"gradeschool": str(run.manifest.get("gradeschool") or __version__)},
        "metadata": {
            "exported_by": f"gradeschool {__version__}",
            "protocol": run.protocol or None,
            "protocol_digest": protocol.get("digest"),
            "dataset_sha256": run.facts("dataset").get("sha256"),
        },
        "scorers": [
            {"name": inspect_scorer_name(score.name), "options": {}, "metrics": metrics,
             "metadata": {}}
            for score in run.scores
        ],
    }  # fmt: skip
    options = {name: decoding.get(name) for name in ("temperature", "top_p", "max_tokens", "seed")}
    options["stop_seqs"] = decoding.get("stop") or None
    config = {name: value for name, value in options.items() if value is not None}
    plan = {"name": "plan", "steps": [{"solver": "generate", "params": {}}], "config": config}
    yield "_journal/start.json", {"version": 2, "eval": spec, "plan": plan}

    summaries: list[dict[str, Any]] = []
    total: Counter[str] = Counter()
    for each in run.samples:
        uuid = identify(f"{each.problem.id}\n{each.sample.sample}")
        written = _sample(run, each, name(each.problem.id), uuid)
        total.update(written["model_usage"].get(model, {}))
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
    scores = [
        {
            "name": score.name,
            "scorer": inspect_scorer_name(score.name),
            "reducer": "mean",
            "scored_samples": score.share.problems,
            "unscored_samples": len(ids) - score.share.problems,
            "params": {},
            "metrics": {
                metric: {"name": metric, "value": value, "params": {}}
                for metric, value in zip(METRICS, (score.share.accuracy, score.stderr or 0.0),
                                         strict=True)
            },
        }
        for score in run.scores if score.is_exact
    ]  # fmt: skip
    header = {
        "version": 2,
        "status": "success" if len(run.samples) >= planned_samples(run.manifest) else "cancelled",
        "eval": spec,
        "plan": plan,
        "results": {"total_samples": len(run.samples), "completed_samples": run.answered,
                    "scores": scores},
        "stats": {"started_at": run.begun.isoformat(), "completed_at": run.ended.isoformat(),
                  "model_usage": {model: total} if total else {}},
    }  # fmt: skip
    yield "header.json", header


def _sample(run: ExportedRun, each: ExplainedSample, id: str | int, uuid: str) -> dict[str, Any]:
    """Return a sample of the archive; the question is its input where the prompt is unknown."""
    sample, problem, usage = each.sample, each.problem, {}
    read, wrote = sample.usage.prompt_tokens, sample.usage.completion_tokens
    if read is not None and wrote is not None:
        usage = {"input_tokens": read, "output_tokens": wrote, "total_tokens": read + wrote}
    prompt = run.prompt(sample) or problem.question
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
    for index, verdict in enumerate(each.verdicts):
        if verdict.outcome is not Outcome.ERROR:
            cause = "" if index else cause_of_miss(each)
            written["scores"][verdict.scorer] = inspect_score_fields(verdict, cause)
    return written | {
        "messages": [*sent, turn],
        "output": {
            "model": (sample.stored.model if sample.stored else "") or run.model,
            "choices": [{"message": turn, "stop_reason": STOPS.get(sample.finish, "unknown")}],
            "completion": sample.text,
            **({"usage": usage} if usage else {}),
        },
    }


# Parquet

TEXTS = ("run", "problem_id", "question", "gold", "completion", "finish", "error", "cause", "read")
NUMBERS = ("sample", "prompt_tokens", "completion_tokens")
ROW_GROUP = 16_384  # rows


def parquet_files(run: ExportedRun) -> Files:
    """Return a Parquet table: a row per sample, its text and metadata, a column per scorer.

    Raises MissingExtraError without pyarrow.
    """
    require_packages("writing Parquet", "parquet", "pyarrow")
    scorers = [storable(score.name) for score in run.scores]

    def row(each: ExplainedSample) -> dict[str, str | int | None]:
        sample, problem = each.sample, each.problem
        answer = each.verdicts[0].answer if each.verdicts else None
        texts = (run.model, problem.id, problem.question, problem.gold, sample.text,
                 str(sample.finish), sample.error, cause_of_miss(each),
                 answer and answer.value)  # fmt: skip
        numbers = (sample.sample, sample.usage.prompt_tokens, sample.usage.completion_tokens)
        outcomes = [verdict.outcome.value for verdict in each.verdicts] or ["error"] * len(scorers)
        values = (*(text and storable(text) for text in texts), *numbers, *outcomes)
        return dict(zip((*TEXTS, *NUMBERS, *scorers), values, strict=True))

    def write(file: BinaryIO) -> None:
        import pyarrow as arrow
        import pyarrow.parquet as parquet

        kinds = dict.fromkeys(TEXTS, arrow.string()) | dict.fromkeys(NUMBERS, arrow.int64())
        kinds |= dict.fromkeys(scorers, arrow.string())
        schema = arrow.schema(list(kinds.items()))
        with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            for start in range(0, len(run.samples), ROW_GROUP):
                rows = list(map(row, run.samples[start : start + ROW_GROUP]))
                writer.write_table(arrow.Table.from_pylist(rows, schema))

    return {"": write}


EXPORT_FORMS: dict[str, Callable[[ExportedRun], Files]] = {
    "lm-eval": lm_eval_files, "inspect": inspect_files, "parquet": parquet_files,
}  # fmt: skip


# Upload

LOGIN = "run `hf auth login`, or set HF_TOKEN to a token that may write"


def check_push(repo: str) -> None:
    """Raise MissingExtraError or InputError if an upload cannot begin.

    The token is that of huggingface_hub (HF_TOKEN, or from `hf auth login`).
    """
    require_packages("--push", "hub", "huggingface_hub")
    from huggingface_hub import get_token

    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repo):
        raise InputError(f"{masked(repo)!r} is not a repository name; give --push OWNER/NAME")
    token = get_token()
    if not token:
        raise InputError(f"--push has no token for the Hugging Face hub; {LOGIN}")
    register_secret(token)


def push(repo: str, files: Sequence[Path], output: Path, run: ExportedRun) -> str:
    """Upload files to a dataset repository in one commit; return its address.

    A repository that does not exist is created, and is private. Raises InputError if the hub
    refuses, TransientError if it cannot be reached or has a server error; in both cases nothing is
    committed.
    """
    from huggingface_hub import CommitOperationAdd, HfApi
    from huggingface_hub import errors as hub
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    if not sys.stderr.isatty():
        disable_progress_bars()
    api = HfApi(library_name="gradeschool", library_version=__version__)
    names = [path.relative_to(output).as_posix() if path != output else path.name for path in files]
    additions = [CommitOperationAdd(*pair) for pair in zip(names, files, strict=True)]
    message = f"{storable(run.model)} under {run.task}, by gradeschool {__version__}"
    try:
        api.create_repo(repo, repo_type="dataset", private=True, exist_ok=True)
        commit = api.create_commit(repo, additions, repo_type="dataset", commit_message=message)
    except hub.HfHubHTTPError as error:
        status = error.response.status_code
        said = f"{api.endpoint} answers HTTP {status}: {_first_line(error)}"
        if status == 429 or status >= 500:
            raise TransientError(f"http {status}", f"{said}; try again later") from error
        raise InputError(f"{said}; {LOGIN}, or give another repository") from error
    except (hub.HTTPError, OSError, ValueError, KeyError, RuntimeError) as error:  # type: ignore[attr-defined]
        raise TransientError(
            "cannot connect", f"cannot upload to {api.endpoint}: {_first_line(error)}; try again"
        ) from error
    return str(commit.commit_url)


def _first_line(error: BaseException) -> str:
    lines = str(getattr(error, "server_message", None) or error).strip().split("\n")
    return masked(lines[0])[:200] or type(error).__name__
