"""The settings of an evaluation, and what is prepared from them: plan, model, folder, run.json.

The command line, configuration files and `gradeschool.evaluate` all make a `Job`; `prepare` checks
it: contradictions before anything is fetched, the rest before anything is sent. Its
`RunPlan.requests` gives every sample of every problem in order with its key, once the identity of
the model is known. run.json contains the settings, so that a later command can check whether it is
the same run.
"""

import hashlib
import json
import os
import platform
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from shlex import quote
from typing import Any, TypeVar
from urllib.parse import urlsplit

from gradeschool import __version__
from gradeschool.answers.regions import parse_marks
from gradeschool.completion import Decoding, Prompt
from gradeschool.datasets.load import TABLES, Dataset, load_dataset, split_columns
from gradeschool.errors import DataError, InputError, StoreError
from gradeschool.formats.run_folder import BATCH_FILES, COMPLETIONS_FILE, MANIFEST_FILE, read_json
from gradeschool.formats.values import mapping
from gradeschool.models.base import Model, Request
from gradeschool.models.choose import CHAT_ONLY, choose_model
from gradeschool.printable import count
from gradeschool.problem import Problem
from gradeschool.protocol import Protocol, overrides
from gradeschool.protocols.registry import get_protocol, protocol_from
from gradeschool.runs.send import Price, parse_price
from gradeschool.scorer import Scorer
from gradeschool.scoring.table import ScorerChoice, choose_scorers
from gradeschool.user_function import OWN_FUNCTION

T = TypeVar("T")
SCHEMA = 1  # of run.json
# These never change in a run; the numbers of problems and samples may increase.
FIXED = ("model", "protocol", "dataset", "shots", "decoding")
DEFAULT_PROTOCOL = "zero-shot/chat"
# The shipped model was trained only on questions and annotated solutions.
BUILT_IN, BUILT_IN_PROTOCOL = "tiny", "openai/2021"
UNSAFE = re.compile(r"[^A-Za-z0-9.@=+]+")
MODEL_PROVIDERS = ("openai", *CHAT_ONLY, "transformers", "vllm", "llama.cpp", "recorded")
SET_BY_EVAL = {"model", "messages", "prompt", "n", "stream"}  # fields of each request
# Fields that options set, in the protocol's place.
HAVE_OPTIONS = {"max_tokens": "max-tokens", "max_completion_tokens": "max-tokens", "stop": "stop",
                "temperature": "temperature", "top_p": "top-p", "seed": "seed"}  # fmt: skip
# How completions end with the answer 12.
ANSWER_FORMS = ("6 + 6 = 12 #### 12", "So the answer is 12.", "It is $\\boxed{12}$.", "ANSWER: 12",
                "Answer: 12", "12")  # fmt: skip
STOP_PROBE = Problem("stop", "What is 6 + 6?", "12", "6 + 6 = 12\n#### 12")
MOST_PART = 60  # maximum number of characters in each part of a folder's name


@dataclass(frozen=True, slots=True)
class Job:
    """The settings of an evaluation; the fields are the options of `gradeschool eval`.

    protocol: a name, a file of one's own, or an object. protocol, dataset: "" selects the model's
    usual protocol, and the protocol's dataset. limit: use only the first problems, so many. random:
    in their place a sample of this size, the same for the same dataset. problems: in their place
    these ids, or a file with one a line. until: percentage points; stop when the interval is
    narrower, see `runs.evaluate.interim_check`. columns: of the dataset,
    "question=COLUMN,gold=COLUMN". system, shots, scorers: instead of the protocol's; shots is a
    number of its examples, or a file of others; the first scorer gives the headline.
    thinking_marks: "OPEN,CLOSE". temperature, top_p, max_tokens, stop, seed: None selects the
    protocol's. calculator: None turns it on for `tiny` only. connections: maximum number of
    requests in flight, None to adapt it. timeout: seconds per request. price: dollars per million
    tokens, "2.50/10". max_cost: dollars at which to stop. thinking, reasoning_effort: of a model
    that thinks, None for its own. extra_body: fields of each request, as a JSON object. headers: of
    each request, "NAME=VALUE"; secret. engine_args: of an engine on this machine, "NAME=VALUE".
    judge: a model that reads what no rule reads, see `runs.evaluate.ask_judge`. output: the run
    folder, None for `default_folder`.
    """

    model: str
    protocol: str | Protocol = ""
    dataset: str = ""
    limit: int | None = None
    random: int | None = None
    problems: str | None = None
    until: float | None = None
    columns: str | None = None
    system: str | None = None
    shots: int | str | None = None
    scorers: tuple[ScorerChoice, ...] = ()
    thinking_marks: tuple[str, ...] = ()
    samples: int = 1
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] | None = None
    seed: int | None = None
    calculator: bool | None = None
    connections: int | None = None
    batch: bool = False
    timeout: float = 600.0
    price: str | None = None
    max_cost: float | None = None
    thinking: bool | None = None
    reasoning_effort: str | None = None
    extra_body: str | None = None
    headers: tuple[str, ...] = ()
    engine_args: tuple[str, ...] = ()
    judge: str | None = None
    output: Path | None = None


def model_options(job: Job) -> dict[str, Any]:
    """Return what is given of the model's options, parsed; raises InputError."""
    options: dict[str, Any] = {}
    if job.thinking is not None:
        options["thinking"] = job.thinking
    if job.reasoning_effort is not None:
        options["reasoning_effort"] = job.reasoning_effort
    if job.extra_body is not None:
        body = _parsed(job.extra_body)
        if not isinstance(body, dict) or SET_BY_EVAL & body.keys():
            raise InputError(
                f"--extra-body {job.extra_body[:80]!r} is not a JSON object of fields beside "
                f"{', '.join(sorted(SET_BY_EVAL))}; give one such as '{{\"top_k\": 20}}'"
            )
        if given := sorted(body.keys() & HAVE_OPTIONS.keys()):
            raise InputError(f"{given[0]!r} of --extra-body has an option; give "
                             f"--{HAVE_OPTIONS[given[0]]}")  # fmt: skip
        options["extra_body"] = body
    for name, option, texts in (("headers", "--header", job.headers),
                                ("engine_args", "--engine-args", job.engine_args)):  # fmt: skip
        for text in texts:
            key, mark, value = text.partition("=")
            if not mark or not re.fullmatch(r"[A-Za-z][\w-]*", key):
                raise InputError(f"a value of {option} is not NAME=VALUE; correct it")  # a secret?
            options.setdefault(name, {})[key] = value if name == "headers" else _parsed(value)
    return options


def _parsed(value: str) -> Any:
    """Return a value of JSON (8, true, 0.9), any other text as it is."""
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The settings of a run: protocol, problems of its dataset, decoding, samples per problem.

    shot_dataset: what few-shot examples come from. file: the name of a protocol that Python made,
    "mine.py:PROTOCOL". scorers: the protocol's; () from run.json, where only names are known.
    """

    protocol: Protocol
    dataset: Dataset
    problems: tuple[Problem, ...]
    shot_dataset: Dataset | None
    decoding: Decoding
    samples: int
    file: str = ""
    scorers: tuple[Scorer, ...] = ()

    def requests(self, identity: str) -> list[Request]:
        """Return the requests to the model with this identity, by problem.

        Few-shot examples may be drawn for each problem of the dataset in order, so the prompts of
        a part are those of a run over the whole dataset.
        """
        whole, requests = self.dataset.problems, []
        examples = self.shot_dataset.problems if self.shot_dataset else ()
        rendered = self.problems if self.problems == whole[: len(self.problems)] else whole
        rendering = zip(rendered, self.protocol.render(rendered, examples), strict=True)
        prompts = {problem.id: prompt for problem, prompt in rendering}
        for problem in self.problems:
            prompt = prompts[problem.id]
            for sample in range(self.samples):
                key = request_key(identity, prompt, self.decoding, sample)
                requests.append(Request(problem, prompt, self.decoding, key, sample))
        return requests


def request_key(identity: str, prompt: Prompt, decoding: Decoding, sample: int) -> str:
    """Return the SHA-256 of model identity, rendered prompt, decoding and sample index, in hex.

    Different models, prompts, temperatures or samples never share a key, so that a stored
    completion is never used for another request.
    """
    limits = [decoding.temperature, decoding.top_p, decoding.max_tokens]
    facts = [identity, prompt.text, prompt.messages, prompt.prefix, limits, [*decoding.stop],
             decoding.seed, sample]  # fmt: skip
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class PreparedJob:
    """A checked job with its plan, model and run folder; nothing has been sent yet.

    options: the model's, for run.json: of headers only the names.
    """

    job: Job
    plan: RunPlan
    model: Model
    folder: Path
    options: Mapping[str, Any]
    price: Price | None = None
    judge: Model | None = None
    judge_price: Price | None = None


def prepare(job: Job, model: Model | None = None) -> PreparedJob:
    """Check a job, load its problems and create its model.

    model: replaces the model named by `job.model`, for example by a Python function. Raises
    InputError for contradictory or unknown settings, before a dataset is fetched; DataError if the
    dataset is not available; MissingExtraError for an engine or a scorer without its library.
    """
    changes: dict[str, Any] = {"system": job.system, "shots": job.shots, "scorers": None}
    if job.thinking_marks:
        changes["thinking_marks"] = [list(parse_marks(pair)) for pair in job.thinking_marks]
    if isinstance(job.shots, str) and job.shots.isdecimal():
        changes["shots"] = int(job.shots)
    functions = {each.name: each for each in choose_scorers(job.scorers)} if job.scorers else {}
    if functions:
        changes["scorers"] = list(functions)
    usual = BUILT_IN_PROTOCOL if job.model == BUILT_IN else DEFAULT_PROTOCOL
    named = job.protocol or usual
    file = named if isinstance(named, str) and ".py:" in named else ""
    base = (get_protocol(named) if isinstance(named, str) else named).with_changes(**changes)
    protocol = base.with_changes(temperature=job.temperature, top_p=job.top_p,
                                 max_tokens=job.max_tokens, stop=job.stop)  # fmt: skip
    calculates = job.model == BUILT_IN if job.calculator is None else job.calculator
    provider = job.model.strip().partition("/")[0]
    no_chat = f"{protocol.name} is a completion protocol; give another -p"
    thinks = job.thinking is not None or job.reasoning_effort is not None
    has_cost, is_chat = job.max_cost is not None, protocol.is_chat
    what = "--batch" if job.batch else f"the chat {protocol.name}"
    contradictions = (
        ((job.limit, job.random, job.problems).count(None) < 2,
         "give one of -n, --random and --problems"),
        (provider in CHAT_ONLY and not is_chat,
         f"{provider} answers only chats, and {no_chat}"),
        (thinks and not is_chat, f"--thinking and --reasoning-effort need a chat, and {no_chat}"),
        (has_cost and job.price is None,
         f"--max-cost {job.max_cost} needs the price of tokens; give --price"),
        (has_cost and job.judge is not None,
         "--max-cost does not limit what --judge costs; leave one of them out"),
        (job.batch and (has_cost or job.until is not None),
         "--batch cannot be combined with --max-cost or --until"),
        (calculates and (job.batch or is_chat),
         f"the calculator cannot be used with {what}; give --no-calculator, or a completion "
         "protocol"),
        (job.samples > 1 and protocol.decoding.temperature == 0,
         f"{job.samples} samples at temperature 0 would all be the same; give --temperature 0.7"),
    )  # fmt: skip
    for is_wrong, words in contradictions:
        if is_wrong:
            raise InputError(words)
    decoding = protocol.decoding
    if job.seed is not None:
        decoding = replace(decoding, seed=job.seed)
    scorers = [functions.get(name) or choose_scorers([name])[0] for name in protocol.scorers]
    if "stop" in protocol.changes and scorers[0].summary != OWN_FUNCTION:
        # Must not end every usual form of an answer before the answer that is read.
        reads = scorers[0].judge
        forms = [form for form in ANSWER_FORMS if reads(form, STOP_PROBE).correct]
        for stop in protocol.decoding.stop if forms else ():
            if not any(reads(form.partition(stop)[0], STOP_PROBE).correct for form in forms):
                raise InputError(
                    f"{protocol.name}: the stop string {stop!r} ends each text before the answer "
                    f"that {scorers[0].name} reads, as in {forms[0]!r}; leave it out"
                )

    options = model_options(job)
    answering = model or choose_model(job.model, job.timeout, calculates, options)
    judge = choose_model(job.judge, job.timeout) if job.judge is not None else None
    price = judge_price = None
    if job.price:
        price = parse_price(job.price, answering.name.removesuffix("+calculator"))
        if judge is not None and job.price.endswith(".json"):
            judge_price = parse_price(job.price, judge.name)
    if job.batch and not answering.speaks_openai:
        raise InputError(f"{job.model!r} has no batches; leave --batch out")
    if protocol.is_chat:
        answering.check_chat(protocol.name)
    if judge is not None:
        judge.check_chat("gradeschool/judge")

    dataset = load_dataset((job.dataset or protocol.dataset)
                           + (f"#{job.columns}" if job.columns else ""))  # fmt: skip
    try:
        shot_dataset = load_dataset(protocol.shots) if protocol.shots else None
    except DataError as error:
        words = f"the examples of {protocol.name} are from {protocol.shots!r}: {error}"
        raise DataError(f"{words}; or give --shots 0, or --shots FILE") from error
    problems = select_problems(dataset, job)
    answering.set_problems(problems, dataset.name)
    plan = RunPlan(protocol, dataset, problems, shot_dataset, decoding, job.samples, file,
                   tuple(scorers))  # fmt: skip
    if "headers" in options:
        options["headers"] = sorted(options["headers"])
    folder = job.output or default_folder(job, plan, base, options)
    return PreparedJob(job, plan, answering, folder, options, price, judge, judge_price)


def select_problems(dataset: Dataset, job: Job) -> tuple[Problem, ...]:
    """Return the problems of a dataset that a job is about, in the order in which they are asked.

    That is the dataset's, or with `until` a random one, the same each time. A random sample has its
    share of every number of steps in the solutions, where these are known. Raises InputError for
    ids that the dataset does not have.
    """
    problems = dataset.problems
    if job.problems is not None:
        text = job.problems
        if os.path.isfile(text):  # noqa: PTH113  (never raises)
            try:
                text = Path(text).read_text(encoding="utf-8")
            except (OSError, ValueError) as error:
                raise InputError(f"cannot read {text!r}: {error}; give ids") from error
        ids = set(re.split(r"[\s,]+", text.strip()))
        if unknown := sorted(ids - {problem.id for problem in problems}):
            few = f"{len(unknown)} of {len(ids)} ids are unknown"
            words = f"{dataset.name!r} has no problem {unknown[0]!r} ({few})"
            raise InputError(f"{words}; give ids of the dataset, or a file with one a line")
        problems = tuple(problem for problem in problems if problem.id in ids)
    elif job.random is not None and job.random < len(problems):
        # Sorted by steps, every n-th is taken, from a random order within each number of steps.
        places = sorted(_shuffled(range(len(problems))),
                        key=lambda at: problems[at].solution.strip().count("\n"))  # fmt: skip
        step = len(problems) / job.random
        taken = sorted(places[int((number + 0.5) * step)] for number in range(job.random))
        problems = tuple(problems[place] for place in taken)
    else:
        problems = problems[: job.limit]
    return problems if job.until is None else tuple(_shuffled(problems))


def _shuffled(items: Iterable[T]) -> list[T]:
    """Return items in a random order, the same each time."""
    listed = list(items)
    Random(0).shuffle(listed)  # noqa: S311  (guards nothing)
    return listed


def default_folder(job: Job, plan: RunPlan, usual: Protocol, options: Mapping[str, Any]) -> Path:
    """Return the default run folder: runs/MODEL_PROTOCOL, then _DATASET unless the protocol's own.

    Settings that differ from those of `usual`, the protocol without options of decoding, are
    appended, so that different settings have different folders and the same command finds its
    folder again.
    """
    decoding = {**asdict(plan.decoding), "stop": list(plan.decoding.stop)}
    changed = {name: value for name, (value, _) in overrides(decoding, usual).items()}
    if job.calculator is not None and job.calculator != (job.model == BUILT_IN):
        changed["calculator" if job.calculator else "no-calculator"] = ""
    changed |= {"until": ""} if job.until is not None else {}
    changed |= {"random": job.random} if job.random is not None else {}
    for name, value in options.items():
        words = json.dumps(value, sort_keys=True)
        if not isinstance(value, str | bool):
            words = hashlib.sha256(words.encode()).hexdigest()[:6]
        changed[name] = words
    dataset, _ = split_columns(plan.dataset.name)
    if Path(dataset).suffix in TABLES:
        dataset = Path(dataset).stem
    own = re.fullmatch(r"(?:.*/)?([^/]+)\.(?:toml|py:\w+)", str(job.protocol))
    parts = [model_label(job.model), own[1] if own else usual.name]  # of a file, its name
    parts += [dataset] if plan.dataset.name != usual.dataset else []
    parts += [f"{name}-{value}".replace("_", "-") for name, value in changed.items()]
    named = [UNSAFE.sub("-", part).strip("-.")[:MOST_PART] or "unnamed" for part in parts]
    return Path("runs", "_".join(named))


def model_label(spec: str) -> str:
    """Return the short name of a model: "localhost:8080", "SmolLM2-135M.Q4_1", "gpt-4.1"."""
    if spec.startswith(("http://", "https://")):
        parts = urlsplit(spec)
        tail = parts.path.removeprefix("/v1").strip("/")
        return f"{parts.netloc} {tail}".strip()
    provider, _, name = spec.partition("/")
    if provider not in MODEL_PROVIDERS or not name:
        return spec
    path, _, run = name.partition("#")
    label = Path(path).stem if provider in ("llama.cpp", "recorded") else Path(path).name
    return f"{label} {run}".strip()


# run.json


def make_manifest(plan: RunPlan, identity: str, folder: Path) -> dict[str, Any]:
    """Return the fields of run.json; they contain no API key, and no path except the dataset's.

    identity: of the model. Raises StoreError if the folder has a run.json of another run, or of one
    with problems or samples that this plan lacks; one that stored nothing is replaced.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    ids = [problem.id for problem in plan.problems]
    is_beginning = plan.problems == plan.dataset.problems[: len(ids)]
    fields = {
        "schema": SCHEMA,
        "gradeschool": __version__,
        "python": platform.python_version(),
        "created": now,
        "updated": now,
        "model": identity,
        **facts_of(plan),
        "problems": len(ids),
        "dataset_problems": len(plan.dataset.problems),
        "samples": plan.samples,
        **({} if is_beginning else {"problem_ids": ids}),
    }
    earlier = read_json(folder / MANIFEST_FILE)
    stored = folder / COMPLETIONS_FILE
    is_empty = stored.exists() and not stored.stat().st_size and not any(folder.glob(BATCH_FILES))
    if earlier is None or is_empty:  # a model that could not be loaded leaves no rows
        return fields
    if earlier.get("schema") != SCHEMA:
        raise StoreError(
            f"the run folder has the schema {earlier.get('schema')!r}, and this version knows "
            f"{SCHEMA}; use the version that wrote it, or give another folder with -o"
        )
    if changed := differing(earlier, fields):
        raise StoreError(
            f"{str(folder)!r} contains another run: its {changed}; give another folder with -o"
        )
    problems, samples = earlier.get("problems"), earlier.get("samples")
    asked = earlier.get("problem_ids")
    if not isinstance(asked, list) and isinstance(problems, int):
        asked = [problem.id for problem in plan.dataset.problems[:problems]]
    lost = {str(id) for id in asked or ()}.difference(ids)
    if lost and problems == len(ids):
        raise StoreError(
            f"{str(folder)!r} contains {count(len(ids), 'other problem')}; give the options that "
            "chose them, or another folder with -o"
        )
    if lost or (isinstance(samples, int) and samples > plan.samples):
        raise StoreError(
            f"{str(folder)!r} contains a larger run ({problems} problems, {samples} samples each); "
            f"give -n {problems} or more and -k {samples} or more, or another folder with -o "
            f"(`gradeschool score {quote(str(folder))}` scores what is answered)"
        )
    return {**fields, "created": earlier.get("created", now)}


def facts_of(plan: RunPlan) -> dict[str, Any]:
    """Return protocol, dataset, shots and decoding for run.json."""
    protocol, shots = plan.protocol, plan.shot_dataset
    optional = {"base": protocol.base, "changes": dict(protocol.changes), "file": plan.file}
    return {
        "protocol": {
            "name": protocol.name,
            "digest": protocol.digest(),
            "scorers": list(protocol.scorers),
            "source": protocol.source,
            **{name: value for name, value in optional.items() if value},
        },
        "dataset": {"name": plan.dataset.name, "sha256": plan.dataset.sha256},
        "shots": {"name": shots.name, "sha256": shots.sha256} if shots else None,
        "decoding": {**asdict(plan.decoding), "stop": list(plan.decoding.stop)},
    }


def differing(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """Return the first setting that makes two run.json files those of different runs, in words.

    "temperature is 0.0, not 0.7"; "" if they are of the same run.
    """
    for name in FIXED:
        before, after = first.get(name), second.get(name)
        if before == after:
            continue
        words = name
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            key = next(key for key in {**before, **after} if before.get(key) != after.get(key))
            before, after = before.get(key), after.get(key)
            words = "" if name == "decoding" else name
            words += "" if key == "name" else f" {key.replace('_', ' ')}"
        shown = ["none" if value in (None, [], "") else repr(value) for value in (before, after)]
        return f"{words.strip()} is {shown[0]}, not {shown[1]}"
    return ""


def recorded_prompts(
    fields: Mapping[str, Any], warn: Callable[[str], None] = lambda words: None
) -> Mapping[str, Prompt]:
    """Return the prompts of a run.json by key, rendered again, {} if that is not possible here.

    A key is a digest of its prompt: a stored completion with this key was given this prompt. warn:
    called with the reason if there are no prompts.
    """
    if "protocol" not in fields:
        return {}
    try:
        requests = recorded_plan(fields).requests(str(fields.get("model")))
    except InputError as error:
        warn(f"no prompts are shown, because they cannot be rendered here: {error}")
        return {}
    return {request.key: request.prompt for request in requests}


def recorded_protocol(fields: Mapping[str, Any]) -> Protocol:
    """Return the protocol that run.json describes: published, or one's own, as it is now.

    Raises UnknownNameError, and InputError if an own protocol cannot be made again.
    """
    changes, base = fields.get("changes"), fields.get("base")
    name = str(base or fields.get("file") or fields["name"])
    if ".py:" in name and not (changes and not base):
        raise InputError(f"its protocol is {name!r}, and code that a run folder names is not run")
    if base:
        return get_protocol(str(base)).with_changes(**dict(changes or {}))
    if changes:
        return protocol_from(changes, str(fields.get("source")), str(fields["name"]))
    return get_protocol(name)


def known_protocol(fields: Mapping[str, Any]) -> Protocol | None:
    """Return the protocol of a run.json, None if this version does not have it."""
    try:
        return recorded_protocol(mapping(fields.get("protocol")))
    except (InputError, KeyError, TypeError):
        return None


def recorded_plan(fields: Mapping[str, Any]) -> RunPlan:
    """Return the plan of a run.json, with the current protocol and dataset of these names.

    Raises StoreError if the fields are not those of a run.json, UnknownNameError, DataError.
    """
    try:
        protocol = recorded_protocol(fields["protocol"])
        dataset = load_dataset(fields["dataset"]["name"])
        decoding = {**fields["decoding"], "stop": tuple(fields["decoding"]["stop"])}
        examples = load_dataset(fields["shots"]["name"]) if fields["shots"] else None
        problems = dataset.problems[: fields["problems"]]
        if "problem_ids" in fields:
            by_id = {problem.id: problem for problem in dataset.problems}
            problems = tuple(by_id[id] for id in fields["problem_ids"])
        samples = int(fields["samples"])
        file = str(fields["protocol"].get("file", ""))
        return RunPlan(protocol, dataset, problems, examples, Decoding(**decoding), samples, file)
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise StoreError(
            f"run.json was changed or damaged ({error!s} is missing or of the wrong type); "
            "restore it, or run the evaluation again"
        ) from error
