"""Files of other tools: their rows, with the columns of `columns.PLAIN_ROWS`, and settings.

OpenAI's Batch API: `{"custom_id", "response": {"status_code", "body"}, "error"}`. OpenAI's example
solutions: a row for each problem, with a solution of each system. OpenAI evals: a log of events,
`{"run_id", "event_id", "sample_id", "type", "data"}`, between its specification and final report.
HELM's `scenario_state.json`: `{"instance", "request", "result"}`. lighteval's details in Parquet:
`{"doc", "model_response", "metric"}`, before version 0.10 `{"example", "full_prompt",
"predictions", "gold", "metrics"}`. lm-evaluation-harness: `MODEL/results_TIME.json` and
`MODEL/samples_TASK_TIME.jsonl`, one row for each document and filter, from any version since 0.3.
inspect_ai: `.json` (one object) and `.eval` (a ZIP of the same, often zstd). `reports.export`
writes the last two.
"""

import importlib
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from gradeschool.completion import Message, Prompt
from gradeschool.errors import InputError, require_packages
from gradeschool.formats.tables import Row, parse_list, read_rows
from gradeschool.formats.values import (
    first_given,
    is_response,
    mapping,
    message_of,
    parse_flag,
    read_object,
    shown,
    text_of,
)
from gradeschool.protocols.registry import all_scorers
from gradeschool.scorer import clip

Fields = Mapping[str, Any]
EVALS = "OpenAI evals log"
SAMPLE = re.compile(r"[-_:/# ]+sample[-_:/# ]?(\d{1,9})\Z")
MODEL_PLACES = ("pretrained", "path", "model", "base_url")  # arguments for model and address
QUESTION_FIELDS = ("question", "problem", "Problem", "prompt", "input")
ZSTD = 93
PROVIDER = "none/"  # inspect's model that is never called; `inspect score` opens the log's model
LARGEST_MEMBER = 8 * 2**20  # bytes of a sample
LARGEST_LOG = 256 * 2**20  # characters of prompts in memory at a time
LOCAL_HEADER = struct.Struct("<26xHH")  # lengths of the name and of the extra field
# Raised for a damaged archive or damaged JSON in it. RuntimeError: a password, an unknown method,
# JSON that is nested too deeply.
DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, OSError, ValueError, EOFError,
          RuntimeError)  # fmt: skip
# The first version of inspect whose `match(numeric=True)` equals each scorer, latest first.
MATCH_SCORERS = (
    ((0, 3, 261), "inspect/match-numeric@>=0.3.261"),
    ((0, 3, 253), "inspect/match-numeric@0.3.253-0.3.260"),
    ((0, 3, 221), "inspect/match-numeric@0.3.221-0.3.252"),
    ((0,), "inspect/match-numeric@<=0.3.220"),
)
# The settings, in display order, under the same names for all formats.
SETTINGS = (
    *("model", "answered by", "address", "engine", "versions", "precision", "KV cache"),
    *("flash attention", "protocol", "prompt form", "system message", "prompt"),
    *("few-shot source", "few-shot examples", "chat template", "BOS token", "prompt tokens"),
    *("options of the model", "temperature", "top-p", "seed", "stop strings", "max tokens"),
    *("samples per problem", "dataset", "dataset SHA-256", "labels", "scorer"),
)


class RecordedRequest(NamedTuple):
    """The request for one completion; fields that are not recorded are None."""

    prompt: Prompt | None = None
    prompt_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class RecordedSettings:
    """The settings recorded in a file of results.

    values: by the names in SETTINGS; settings that are not recorded are missing or None. requests:
    by the row of the completion. scorer: the name of the scorer behind the published number, "" if
    the file does not say.
    """

    values: Mapping[str, Any]
    requests: Mapping[int, RecordedRequest] = field(default_factory=dict)
    scorer: str = ""


def base_address(url: object) -> str | None:
    """Return a server's address without the route that tools append."""
    if not isinstance(url, str) or not url:
        return None
    return url.removesuffix("/").removesuffix("/chat/completions").removesuffix("/completions")


def read_prompt(value: object) -> Prompt | None:
    """Return a prompt: a text, or the messages of a chat, also as JSON text; None for neither."""
    if isinstance(value, str):
        try:
            messages = read_prompt(json.loads(value)) if value.startswith("[") else None
        except (ValueError, RecursionError):
            messages = None
        return messages or Prompt(text=value)
    if not isinstance(value, list) or not value:
        return None
    turns = []
    for turn in value:
        content = text_of(mapping(turn).get("content"))
        role = mapping(turn).get("role")
        if content is None or not isinstance(role, str):
            return None
        turns.append(Message(role, content))
    return Prompt(messages=tuple(turns))


# OpenAI's Batch API


def batch(fields: Fields) -> list[Fields]:
    """Return one row with the choices of a request.

    `custom_id` identifies the problem: its id or "...-INDEX", then "-sample-N" for several samples.
    """
    name, response = fields.get("custom_id"), mapping(fields.get("response"))
    name = name if isinstance(name, str) else shown(name)
    match = SAMPLE.search(name)
    body, status = mapping(response.get("body")), response.get("status_code")
    error = message_of(fields.get("error") or body.get("error"))
    if not error and status not in (None, 200):
        error = f"status {shown(status)}"
    return [{
        "id": name[: match.start()] if match else name,
        "sample": match[1] if match else None,
        "run": body.get("model"),
        "error": error,
        "response": None if error else body if is_response(body) else body.get("choices"),
    }]  # fmt: skip


# OpenAI's example solutions


def openai_solutions(fields: Fields) -> list[Fields]:
    """Return a row for the solution of each system; the system's name is the run."""
    return [
        {"question": fields.get("question"), "run": system, "sample": 0,
         "response": value["solution"], "flag": value.get("is_correct")}
        for system, value in fields.items() if isinstance(mapping(value).get("solution"), str)
    ]  # fmt: skip


# OpenAI evals


def evals(fields: Fields, event: str, first: dict[Any, Any]) -> list[Fields]:
    """Return the row of an event; other rows of a log have no texts.

    event: "match", with golds and flags, or "sampling". first: the first such event of each sample,
    which is added. A later one is that of a judge.
    """
    data = mapping(fields.get("data"))
    if fields.get("type") != event:
        return []
    number = shown(fields.get("event_id"))
    return [] if first.setdefault(shown(fields.get("sample_id")), number) != number else [{
        "question": data.get("prompt"), "response": data.get("sampled"),
        "gold": data.get("expected"), "flag": data.get("correct"),
    }]  # fmt: skip


# HELM


def helm(fields: Fields) -> list[Fields]:
    """Return one row with the completions of a request; the model is the run."""
    instance, result = mapping(fields.get("instance")), mapping(fields.get("result"))
    completions = [
        {"text": mapping(each).get("text"),
         "finish_reason": mapping(mapping(each).get("finish_reason")).get("reason")}
        for each in _listed(result.get("completions"))
    ]  # fmt: skip
    failed = result.get("success") is False
    model = mapping(fields.get("request")).get("model")
    if perturbation := mapping(instance.get("perturbation")).get("name"):
        model = f"{model} ({perturbation})"
    return [{
        "question": mapping(instance.get("input")).get("text"),
        "gold": instance.get("references"),
        "run": model,
        "response": None if failed else completions,
        "error": (message_of(result.get("error")) or "request failed") if failed else None,
    }]  # fmt: skip


# lighteval


def lighteval(fields: Fields) -> list[Fields]:
    """Return one row with the completions of a document."""
    doc = mapping(fields.get("doc"))
    if doc:
        question, choices = doc.get("query"), _listed(doc.get("choices"))
        index = next(iter(_listed(doc.get("gold_index"))), 0)
        gold = choices[index] if isinstance(index, int) and -1 < index < len(choices) else None
        texts = _listed(mapping(fields.get("model_response")).get("text"))
    else:
        question, texts = fields.get("example"), _listed(fields.get("predictions"))
        gold = next(iter(_listed(fields.get("gold"))), None)
    scores = list(mapping(fields.get("metric", fields.get("metrics"))).values())
    flag = parse_flag(scores[0]) if len(scores) == 1 else None
    return [{"question": question, "gold": gold, "response": texts, "flag": flag}]


def _listed(value: Any) -> list[Any]:
    """Return a list; lighteval's first versions write it as Python prints it."""
    if isinstance(value, str):
        return parse_list(value) or [value]
    return value if isinstance(value, list) else [] if value is None else [value]


# Recognised by the fields of the first row; the plain rows of a row, None for a log of evals.
SIGNATURES: tuple[tuple[str, Callable[[Fields], bool], Any], ...] = (
    ("OpenAI's example solutions", lambda row: "ground_truth" in row and any(
        isinstance(mapping(value).get("solution"), str) for value in row.values()),
     openai_solutions),
    ("OpenAI batch output", lambda row: "custom_id" in row and bool({"response", "error"} & {*row}),
     batch),
    (EVALS, lambda row: "base_eval" in mapping(row.get("spec"))
     or {"run_id", "event_id", "sample_id", "type", "data"} <= {*row}, None),
    ("HELM scenario state", lambda row: "request" in row and "input" in mapping(row.get("instance"))
     and "completions" in mapping(row.get("result")), helm),
    ("lighteval details", lambda row: {"example", "full_prompt", "predictions", "gold"} <= {*row}
     or ("query" in mapping(row.get("doc")) and "model_response" in row), lighteval),
)  # fmt: skip


# lm-eval


def is_lm_eval(fields: Mapping[str, object]) -> bool:
    """Return whether a row is a sample of lm-eval."""
    return {"doc_id", "doc", "resps"} <= fields.keys()


class LmEvalSamples:
    """Reads rows; those of other filters than the first repeat the responses and are skipped."""

    def __init__(self, path: Path, first: object) -> None:
        self.run = _results_beside(path).get("model_name")
        self.filter = first
        self._read: set[int] = set()  # hashes of responses, since texts may be many
        self._others: dict[int, object] = {}

    def plain(self, fields: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return the plain row of the responses of a row of the file's first filter."""
        doc, responses = mapping(fields.get("doc")), fields.get("resps")
        key = hash((repr(fields.get("doc_id")), repr(responses)))
        if (name := fields.get("filter")) != self.filter and "resps" in fields:
            self._others.setdefault(key, name)
            return []
        self._read.add(key)
        lists = responses if isinstance(responses, list) else []
        texts = [text for each in lists for text in (each if isinstance(each, list) else [each])]
        question, gold = first_given(doc, QUESTION_FIELDS), doc.get("answer")
        return [{
            "id": fields.get("doc_id"),
            "question": question if isinstance(question, str) else None,
            "gold": gold if isinstance(gold, str) else fields.get("target"),
            "run": self.run,
            "sample": 0,  # so that a row that is written twice is counted once
            "response": texts or None,
            "flag": fields.get("exact_match"),
        }]  # fmt: skip

    def check(self, file: str) -> None:
        """Raise InputError if rows of other filters have other responses than the first's.

        lm-eval writes the same responses once for each filter.
        """
        if others := {key: row for key, row in self._others.items() if key not in self._read}:
            raise InputError(
                f"{len(others)} rows of {file!r} have other filters than {self.filter!r}, such as "
                f"{next(iter(others.values()))!r}, and other responses; they are of another task "
                "or run: give each its own file"
            )


def _results_beside(path: Path) -> Mapping[str, Any]:
    """Return `results_<time>.json` beside `samples_<task>_<time>.jsonl`, {} if it is unreadable."""
    with suppress(InputError):
        return read_object(path.with_name(f"results_{path.stem.rpartition('_')[2]}.json"), "")
    return {}


def lm_eval_settings(path: Path) -> RecordedSettings:
    """Return the settings of samples; without a results file, only those in the rows."""
    requests: dict[int, RecordedRequest] = {}
    generation: Mapping[str, Any] = {}
    filters: list[str] = []
    for row in read_rows(path):
        arguments = row.fields.get("arguments")
        if isinstance(arguments, list):  # of older versions
            first = arguments[0] if arguments and isinstance(arguments[0], list) else []
            prompt, options = (*first, None, None)[:2]
        else:
            named = mapping(mapping(arguments).get("gen_args_0"))
            prompt, options = named.get("arg_0"), named.get("arg_1")
        requests[row.number] = RecordedRequest(read_prompt(prompt))
        generation = generation or mapping(options)
        filters.append(str(row.fields.get("filter")))
    task = path.stem.removeprefix("samples_").rpartition("_")[0]
    scorer = f"lm-eval/{task.replace('_', '-')}/{filters[0] if filters else ''}"
    until = generation.get("until")
    values = {
        "temperature": 0.0
        if generation.get("do_sample") is False
        else generation.get("temperature"),
        "top-p": generation.get("top_p"),
        "stop strings": [until] if isinstance(until, str) else until,
        "max tokens": generation.get("max_gen_toks") or generation.get("max_tokens"),
        "seed": generation.get("seed"),
    }
    if results := _results_beside(path):
        config = mapping(results.get("config"))
        options = mapping(mapping(results.get("configs")).get(task))
        model = config.get("model_args")
        if isinstance(model, str):  # "name=value,name=value" in older files
            parts = (part.partition("=") for part in model.split(",") if "=" in part)
            model = {name.strip(): value for name, _, value in parts}
        model = mapping(model)
        engine = [str(config.get("model"))]
        engine += [f"{key}={value}" for key, value in model.items() if key not in MODEL_PLACES]
        versions = [
            f"{name} {version}"
            for name in ("lm-eval", "transformers", "vllm")
            if (version := results.get(f"{name.replace('-', '_')}_version")) not in (None, "N/A")
        ]
        dataset = [str(options[name]) for name in ("dataset_path", "dataset_name", "test_split")
                   if options.get(name)]  # fmt: skip
        shots = mapping(options.get("fewshot_config")).get("split") or options.get("fewshot_split")
        revision = mapping(options.get("dataset_kwargs")).get("revision")
        values |= {
            "model": results.get("model_name"),
            "address": base_address(model.get("base_url")),
            "engine": " ".join(engine),
            "versions": ", ".join(versions) or None,
            "precision": model.get("dtype"),
            "protocol": f"lm-eval {task}, version {mapping(results.get('versions')).get(task)}",
            "system message": results.get("system_instruction") or "none",
            "few-shot source": shots or options.get("training_split"),
            "few-shot examples": mapping(results.get("n-shot")).get(task),
            "chat template": results.get("chat_template_sha") or "none",
            "BOS token": model.get("add_bos_token"),
            "samples per problem": options.get("repeats"),
            "dataset": " ".join(dataset) or None,
            "dataset SHA-256": f"revision {revision}" if revision else None,
        }
    scorer = scorer if scorer in all_scorers() else ""
    return RecordedSettings(values, requests, scorer)


# inspect


def is_inspect(value: Any) -> bool:
    """Return whether a JSON value is a log of inspect."""
    return isinstance(value, Mapping) and isinstance(value.get("samples"), list) and "eval" in value


def inspect_rows(path: Path, log: Mapping[str, Any] | None) -> Generator[Row, None, None]:
    """Yield the samples of a log as they stand there, with the run under "run".

    log: the content of a JSON file, None for an `.eval` archive. Raises InputError for a damaged
    archive, MissingExtraError (zstandard).
    """
    with _open_log(path, log) as (header, rows):
        run = str(mapping(header.get("eval")).get("model") or path.stem)
        run = run.removeprefix(PROVIDER) or path.stem
        for number, fields, fault in rows:
            yield Row(number, {"run": run, **fields}, fault)


@contextmanager
def _open_log(
    path: Path, log: Mapping[str, Any] | None
) -> Iterator[tuple[Mapping[str, Any], Iterable[Row]]]:
    """Open a log; return its header and its samples, one that cannot be read with its fault."""
    if log is not None:
        yield log, (Row(n, mapping(each)) for n, each in enumerate(log["samples"], 1))
        return
    try:
        with zipfile.ZipFile(path) as archive, path.open("rb") as raw:
            members = {info.filename: info for info in archive.infolist()}
            head = members.get("header.json")
            samples = [info for name, info in members.items() if name.startswith("samples/")]
            rows = (_log_row(archive, raw, *pair) for pair in enumerate(samples, 1))
            yield {} if head is None else mapping(_log_member(archive, raw, head)), rows
    except DAMAGE as error:
        words = f"{str(path)!r} is not a readable inspect archive: {clip(str(error), 200)}"
        raise InputError(words) from error


def _log_row(archive: zipfile.ZipFile, raw: BinaryIO, number: int, info: zipfile.ZipInfo) -> Row:
    try:
        return Row(number, mapping(_log_member(archive, raw, info)))
    except DAMAGE as error:
        return Row(number, {}, f"({info.filename}) cannot be read: {clip(str(error), 200)}")


def _log_member(archive: zipfile.ZipFile, raw: BinaryIO, info: zipfile.ZipInfo) -> Any:
    if info.file_size > LARGEST_MEMBER:
        raise ValueError(f"{info.filename} is larger than {LARGEST_MEMBER} bytes")
    if info.compress_type != ZSTD:
        return json.loads(archive.read(info))
    require_packages("reading zstd-compressed .eval archives", "inspect-logs", "zstandard")
    zstandard = importlib.import_module("zstandard")
    raw.seek(info.header_offset)
    name, extra = LOCAL_HEADER.unpack(raw.read(LOCAL_HEADER.size))
    raw.seek(info.header_offset + LOCAL_HEADER.size + name + extra)
    packed = raw.read(info.compress_size)
    try:
        return json.loads(zstandard.ZstdDecompressor().stream_reader(packed).read(info.file_size))
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error


def inspect_sample(sample: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the plain row of a sample: the text that inspect's own scorers see.

    The problem is named by its question: inspect numbers samples without an id from 1. Tasks and
    exports of gradeschool have the question in the metadata; their input is the whole prompt.
    """
    facts, epoch = mapping(sample.get("metadata")), sample.get("epoch")
    id, question, gold = None, facts.get("question"), facts.get("solution")
    if not (isinstance(question, str) and isinstance(gold, str)):
        question, gold = sample.get("input"), sample.get("target")
        if isinstance(question, list):  # of messages; the last may begin the model's answer
            turns = [mapping(turn) for turn in question]
            prompts = [turn for turn in turns if turn.get("role") != "assistant"] or turns
            question = text_of(prompts[-1].get("content")) if prompts else None
        if not isinstance(question, str):
            id, question, gold = str(sample.get("id")), None, None
        elif isinstance(gold, list) and len(gold) == 1:
            gold = gold[0]
    output = mapping(sample.get("output"))
    choices = output.get("choices")
    choice = mapping(choices[0]) if isinstance(choices, list) and choices else {}
    text = output.get("completion")
    if not isinstance(text, str) or not text:
        content = mapping(choice.get("message")).get("content")
        text = text_of(content, "\n") if content is not None else text
    error, scores = message_of(sample.get("error")), list(mapping(sample.get("scores")).values())
    return [{
        "id": id, "question": question, "gold": gold if gold != "" else None,
        "run": sample.get("run"), "sample": epoch - 1 if isinstance(epoch, int) else None,
        "response": None if error else text, "finish": choice.get("stop_reason"), "error": error,
        "flag": mapping(scores[0]).get("value") if len(scores) == 1 else None,
    }]  # fmt: skip


def inspect_settings(path: Path) -> RecordedSettings:
    """Return the settings in a log's header and the messages of its samples.

    Samples that cannot be read are left out. Raises InputError, MissingExtraError (zstandard).
    """
    log = None if path.suffix == ".eval" else read_object(path, "copy it again")
    requests, size = {}, 0
    with _open_log(path, log) as (header, rows):
        for number, sample, _ in rows:
            turns = sample.get("messages")
            turns = turns if isinstance(turns, list) else []
            is_answered = bool(turns) and mapping(turns[-1]).get("role") == "assistant"
            tokens = mapping(mapping(sample.get("output")).get("usage")).get("input_tokens")
            prompt = read_prompt(turns[:-1] if is_answered else turns)
            size += sum(len(each.content) for each in prompt.messages) if prompt else 0
            if size > LARGEST_LOG:
                raise InputError(f"the prompts in {str(path)!r} have more than {size} characters")
            requests[number] = RecordedRequest(prompt, tokens if isinstance(tokens, int) else None)
    spec, plan = mapping(header.get("eval")), mapping(header.get("plan"))
    version = str(mapping(spec.get("packages")).get("inspect_ai") or "")
    config = {**mapping(spec.get("model_generate_config")), **mapping(plan.get("config"))}
    dataset, arguments = mapping(spec.get("dataset")), mapping(spec.get("task_args"))
    shown = ", ".join(f"{name}={value}" for name, value in arguments.items())
    task = spec.get("task")
    values = {
        "model": spec.get("model"),
        "address": base_address(spec.get("model_base_url")),
        "versions": f"inspect_ai {version}" if version else None,
        "protocol": f"inspect {task}{f' ({shown})' if shown else ''}" if task else None,
        "few-shot examples": arguments.get("fewshot"),
        "samples per problem": mapping(spec.get("config")).get("epochs"),
        "dataset": dataset.get("location") or dataset.get("name"),
        "temperature": config.get("temperature"),
        "top-p": config.get("top_p"),
        "seed": config.get("seed"),
        "stop strings": config.get("stop_seqs"),
        "max tokens": config.get("max_tokens"),
    }
    scorers = spec.get("scorers")
    first = mapping(scorers[0]) if isinstance(scorers, list) and scorers else {}
    is_match = str(first.get("name")).rpartition("/")[2] == "match"
    scorer = ""
    if is_match and mapping(first.get("options")).get("numeric"):
        parts = tuple(int(part) for part in version.split(".")[:3] if part.isdecimal())
        scorer = next((name for since, name in MATCH_SCORERS if parts >= since), "")
    return RecordedSettings(values, requests, scorer)
