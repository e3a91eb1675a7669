"""Datasets: the named ones, their files by digest, and problems read from them or the user's files.

`sources.jsonl` has a line for each name: origin at a pinned revision, SHA-256, number of rows. MGSM
(Shi et al. 2022) is the first 250 problems of GSM8K's test split, translated by people; MSVAMP
(Chen et al. 2023) is SVAMP, translated by machine and corrected. The files of lm-eval and
OpenCompass have the digests of the wheels of lm-eval 0.4.13 and opencompass 0.5.4. Those of
GSM-Plus and of GSM-Symbolic's main file are the digests by which other public repositories pin
these commits. Other origins are an address of the user, and a repository of the Hugging Face hub.
"""

import ast
import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from gradeschool.answers.golds import read_solution
from gradeschool.answers.numbers import normalize
from gradeschool.atomic import replacing
from gradeschool.errors import DataError, InputError, UnknownNameError, require_packages
from gradeschool.formats.columns import parse_columns
from gradeschool.formats.tables import Row, read_rows
from gradeschool.problem import MARKER, Problem
from gradeschool.scorer import clip

FRESH = "fresh"  # the generated problems; fresh:SEED are others
OWN_PROBLEMS = "the file's own problems"
ROW = "row"


@dataclass(frozen=True, slots=True)
class ProblemColumns:
    """The columns of a file from which a problem is built.

    question: columns that are joined with a space. gold: the final answer; "" if the solution ends
    in it ("#### N"). solution: the reference solution, "" for none. id: the problem's id, "" for
    the row number. seed: the column that identifies the varied problem of GSM8K's test split, kept
    in `Problem.meta["seed"]`: by its row (from 0), its question, or a program that quotes the
    question; ROW if it has the same row number. meta: other columns to keep, and the names to keep
    them under. writes_floats: the golds are integers written as "8.0".
    """

    question: Sequence[str] = ("question",)
    gold: str = ""
    solution: str = ""
    id: str = ""
    seed: str = ""
    meta: Mapping[str, str] = field(default_factory=dict)
    writes_floats: bool = False


@dataclass(frozen=True, slots=True)
class DatasetSource:
    """A dataset with a name.

    path: the file below GRADESCHOOL_DATA or the cache. sha256: of the file's bytes; "" for a file
    that the package ships, and if no digest is published: it is then recorded at the first fetch,
    from a commit, and every later copy must match. rows: number of problems. url: the origin, "" if
    the package ships it. layout: "gsm8k" (question, answer), "columns" (rows of JSON or
    tab-separated values, see `columns`), "platinum" (GSM8K's rows, then relabelled), "step-labels"
    (`LabelledSteps`), or one of exemplars: "exemplars" (question, rationale, answer),
    "lm-eval-yaml", "lm-eval-samples", "opencompass-config", "mgsm-exemplars". columns: for the
    layout "columns"; numbers if the file has no column names. alternative: another file with the
    same content that GRADESCHOOL_DATA may contain instead: (path, sha256, layout). language: ISO
    639-1 code of the problems. golds: the kinds of golds, with counts. aliases: other names.
    """

    name: str
    summary: str
    path: str
    sha256: str
    rows: int
    url: str
    licence: str
    layout: str = "gsm8k"
    alternative: Sequence[str] | None = None
    columns: ProblemColumns = field(default_factory=ProblemColumns)
    language: str = "en"
    golds: str = "integers"
    aliases: Sequence[str] = ()


_LINES = Path(__file__).with_name("sources.jsonl").read_text(encoding="utf-8").splitlines()
SOURCES = {
    fields["name"]: DatasetSource(**{**fields, "columns": ProblemColumns(**fields["columns"])})
    for fields in ({"columns": {}, **json.loads(line)} for line in _LINES)
}
DATASET_ALIASES = {alias: source.name for source in SOURCES.values() for alias in source.aliases}


# Files

DATA_VARIABLE = "GRADESCHOOL_DATA"
CACHE_VARIABLE = "GRADESCHOOL_CACHE"
OFFLINE_VARIABLES = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE")
TIMEOUT_SECONDS = 60
LARGEST_BYTES = 64 * 2**20
TABLES = (".jsonl", ".json", ".csv", ".parquet")
HUB = re.compile(
    r"hf:(?P<repo>[\w.-]+/[\w.-]+)(?::(?P<config>[^:@]*)(?::(?P<split>[^:@]+))?)?(?:@(?P<revision>[\w./-]+))?"
)
SHARD = re.compile(r"-\d{5}-of-\d{5}")


class LocatedFile(NamedTuple):
    """A dataset's file on disk, how to read it, and where it was found."""

    path: Path
    layout: str
    where: str


def cache_folder() -> Path:
    """Return the folder for fetched data: GRADESCHOOL_CACHE, else the user's cache folder."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "gradeschool"


def find_file(source: DatasetSource) -> LocatedFile | None:
    """Return the verified local file of a source, or None if it must be fetched.

    If no digest is published for a source, a cached file must have the digest recorded when it was
    first fetched, and a file in GRADESCHOOL_DATA is accepted as it is. Raises DataError for a file
    with another digest.
    """
    if not source.url:
        return LocatedFile(Path(__file__).parent / source.path, source.layout, "shipped")
    usual = (source.path, source.sha256, source.layout)
    candidates = []
    if folder := os.environ.get(DATA_VARIABLE):
        if not Path(folder).is_dir():
            raise DataError(
                f"{DATA_VARIABLE} is {folder!r}, which is not a folder; correct or unset it"
            )
        files: list[Sequence[str]] = [usual, source.alternative] if source.alternative else [usual]
        candidates = [(Path(folder) / path, sha, form, DATA_VARIABLE) for path, sha, form in files]
    cached = cache_folder() / source.path
    candidates.append((cached, source.sha256 or _record(cached)[1], source.layout, "cache"))
    for path, digest, layout, where in candidates:
        if path.is_file():
            if digest and (found := sha256_of(path)) != digest:
                raise DataError(
                    f"{str(path)!r} is not the {source.name} dataset: its SHA-256 is {found}, "
                    f"expected {digest}; remove it, or give the official file"
                )
            return LocatedFile(path, layout, where)
    return None


def locate(source: DatasetSource) -> LocatedFile:
    """Return the verified local file of a source; fetch it from its origin if it is missing."""
    return find_file(source) or LocatedFile(fetch(source), source.layout, "fetched")


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hex; raises DataError."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}: {error.strerror}") from error


def fetch(source: DatasetSource) -> Path:
    """Fetch a source from its origin into the cache and return the file.

    Obeys proxies (HTTPS_PROXY ...) and HF_HUB_OFFLINE. The cache only ever contains complete files
    with the right digest: the published one, or that of the first fetch if none is published.
    Raises DataError.
    """
    # 40 ms, which commands save if the file is on this machine
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import Request, build_opener

    place = f"${DATA_VARIABLE}/{source.path}"
    for variable in OFFLINE_VARIABLES:
        if os.environ.get(variable, "").strip().lower() in {"1", "true", "yes", "on"}:
            raise DataError(
                f"the dataset {source.name!r} is not on this machine and {variable} forbids "
                f"fetching it; put it at {place} or unset {variable}"
            )
    target = cache_folder() / source.path
    try:
        request = Request(source.url, headers={"User-Agent": "gradeschool"})  # noqa: S310 (pinned)
        # A new opener reads the proxy variables again; `urlopen` keeps those of its first call.
        with build_opener().open(request, timeout=TIMEOUT_SECONDS) as reply:
            body, length = reply.read(LARGEST_BYTES + 1), reply.headers.get("Content-Length") or ""
            is_downgraded = source.url.startswith("https:") and not reply.url.startswith("https:")
    except (OSError, HTTPException) as error:
        if isinstance(error, HTTPError):
            error.close()  # the connection
        reason = getattr(error, "reason", error) or type(error).__name__
        raise DataError(
            f"cannot fetch the dataset {source.name!r} from {source.url}: {reason}; "
            f"put it at {place}, or fetch it where there is a network"
        ) from error
    promised = int(length) if length.isdecimal() else 0
    digest, expected = hashlib.sha256(body).hexdigest(), source.sha256 or _record(target)[1]
    rows, fault = len(body.splitlines()), ""
    if is_downgraded:
        fault = "leads to an http:// address"
    elif len(body) > LARGEST_BYTES:
        fault = f"leads to more than {LARGEST_BYTES:,} bytes"
    elif len(body) < promised:
        fault = f"stopped after {len(body):,} of {promised:,} bytes"
    elif expected and digest != expected:
        fault = f"gave {len(body):,} bytes with SHA-256 {digest}, expected {expected}"
    elif not expected and source.rows and rows != source.rows:
        fault = f"gave {rows:,} lines, not the {source.rows:,} of the dataset {source.name!r}"
    if fault:
        raise DataError(
            f"{source.url} {fault}; nothing was kept: fetch it again, or put the published file "
            f"at {place}"
        )
    if not expected:
        _write_whole(_record(target)[0], f"{digest}\n".encode())
    _write_whole(target, body)
    return target


def source_at(url: str) -> DatasetSource:
    """Return the source for an address of the user's; its digest is recorded at the first fetch.

    Raises InputError for an address that is no table, or not encrypted and of another machine.
    """
    parts = urlsplit(url)
    file = Path(parts.path)
    if file.suffix not in TABLES:
        raise InputError(
            f"{url!r} does not end in {', '.join(TABLES)}; give the address of a table"
        )
    if parts.scheme != "https" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise InputError(f"{url!r} is not encrypted; give its https:// address")
    folder = hashlib.sha256(url.encode()).hexdigest()[:16]
    return DatasetSource(url, "", f"urls/{folder}/{file.name}", "", 0, url, "")


def fetch_from_hub(name: str) -> tuple[list[Path], str]:
    """Return the files of "hf:OWNER/NAME[:CONFIG[:SPLIT]][@REVISION]", and the name with a commit.

    The files are those whose paths name config and split, test where no split is given; they are in
    huggingface_hub's cache. Raises MissingExtraError, InputError if it is not certain which files
    are meant, DataError if the hub cannot be reached.
    """
    parts = HUB.fullmatch(name)
    if parts is None:
        raise InputError(f"{name!r} is not hf:OWNER/NAME[:CONFIG[:SPLIT]][@REVISION]; correct it")
    require_packages("a dataset of the Hugging Face hub", "hub", "huggingface_hub")
    from huggingface_hub import HfApi, errors, hf_hub_download
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    if not sys.stderr.isatty():
        disable_progress_bars()
    repo, config, split = parts["repo"], parts["config"], parts["split"]
    record = cache_folder() / "hub" / f"{hashlib.sha256(name.encode()).hexdigest()}.json"
    try:
        if record.is_file():  # of a name with a commit: nothing to ask
            chosen, commit = json.loads(record.read_text("utf-8")), parts["revision"]
        else:
            info = HfApi().dataset_info(repo, revision=parts["revision"], files_metadata=True)
            sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}
            chosen, commit = _choose_tables(list(sizes), config, split, name), info.sha
            if sum(sizes[file] for file in chosen) > LARGEST_BYTES:
                raise InputError(f"{name!r} has more than {LARGEST_BYTES:,} bytes; give a file")
        files = [
            Path(hf_hub_download(repo, file, repo_type="dataset", revision=commit))
            for file in chosen
        ]
    except errors.HfHubHTTPError as error:
        status = error.response.status_code
        if status in (401, 403, 404):
            raise InputError(
                f"the hub has no dataset {name!r} for you (HTTP {status}); correct the name, or "
                "run `hf auth login`"
            ) from error
        raise DataError(f"the hub answers HTTP {status} for {name!r}; try again later") from error
    except (errors.HTTPError, OSError, ValueError) as error:  # type: ignore[attr-defined]
        words = str(error).strip().partition("\n")[0][:200] or type(error).__name__
        raise DataError(f"cannot fetch {name!r} from the hub: {words}") from error
    pinned = f"{name.partition('@')[0]}@{commit}"
    if pinned != name:
        record = record.with_name(f"{hashlib.sha256(pinned.encode()).hexdigest()}.json")
    _write_whole(record, json.dumps(chosen).encode())
    return files, pinned


def _choose_tables(
    files: Sequence[str], config: str | None, split: str | None, name: str
) -> list[str]:
    """Return the files of one table, in parts or not, whose paths have these words."""
    tables = [file for file in files if Path(file).suffix in TABLES]
    kept = list(tables)
    for word in (config if config != "default" else None, split or "test"):
        pattern = re.compile(rf"(?<![a-z\d]){re.escape(word or '')}(?![a-z\d])", re.IGNORECASE)
        named = [file for file in kept if pattern.search(file)] if word else kept
        kept = named if named or word in (config, split) else kept
    if len({SHARD.sub("", file) for file in kept}) != 1:
        which = f"{len(kept)} tables fit" if kept else "no table fits"
        shown = ", ".join((kept or tables)[:8]) or "none"
        raise InputError(
            f"{which} {name!r} ({shown}); give hf:OWNER/NAME:CONFIG:SPLIT, words of a path"
        )
    return sorted(kept)


def _record(file: Path) -> tuple[Path, str]:
    """Return the file with the digest of the first fetch of a file, and the digest, "" for none."""
    record = file.with_name(f"{file.name}.sha256")
    try:
        return record, record.read_text("ascii").strip()
    except FileNotFoundError:
        return record, ""
    except (OSError, UnicodeError) as error:
        raise DataError(f"cannot read {str(record)!r}: {error}; remove it") from error


def _write_whole(target: Path, body: bytes) -> None:
    """Write a file atomically."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as part:
            part.write_bytes(body)
    except OSError as error:
        raise DataError(
            f"cannot write {str(target)!r}: {error.strerror}; set {CACHE_VARIABLE} to a folder "
            "that can be written"
        ) from error


# Problems

QUESTION_COLUMNS = ("question", "problem", "prompt")
ANSWER_COLUMNS = ("answer", "solution", "gold", "target")
# How generated problems (datasets/fresh/) and variations describe themselves in `Problem.meta`.
META_COLUMNS = (
    *("family", "kind", "steps", "structure", "split", "distractors"),
    *("seed", "perturbation", "instance", "language"),
)
ADDRESSES = ("https://", "http://")
COLUMN_ROLES = {"question": QUESTION_COLUMNS, "gold": ANSWER_COLUMNS, "id": ("id",)}


@dataclass(frozen=True, slots=True)
class Dataset:
    """Problems with a name.

    sha256: of the bytes of the file that they were read from, or of the rows of fresh problems.
    """

    name: str
    problems: tuple[Problem, ...]
    sha256: str

    def __len__(self) -> int:
        """Return the number of problems."""
        return len(self.problems)


def load_gsm8k(split: str = "test", config: str = "main") -> list[Problem]:
    """Return the problems of GSM8K in official order, with ids "0", "1", ...

    split: "test" (1,319) or "train" (7,473). config: "main" or "socratic" (test only). Golds keep
    their sign and commas: -10 and -3 occur in test, 0 in train. Raises UnknownNameError for another
    split, DataError if the data is not available or has another digest.
    """
    base = {"main": "gsm8k", "socratic": "gsm8k-socratic"}.get(config)
    if base is None:
        raise UnknownNameError("config of GSM8K", config, ("main", "socratic"))
    return list(load_dataset(f"{base}:{split}").problems)


def load_dataset(name: str) -> Dataset:
    """Return the dataset of that name, or the problems of a file, an address or the hub.

    "fresh:SEED" generates new problems (datasets/fresh/), the same for the same seed. Others: the
    path of a file, "https://…/FILE.jsonl", or "hf:OWNER/NAME:CONFIG:SPLIT@REVISION" with all behind
    NAME optional. Rows need a question (column question, problem or prompt) and an answer (answer,
    solution, gold or target: the number, or a solution that ends in "#### N"); "id" is optional.
    Other columns are named behind the place: "FILE.csv#question=Frage,gold=Antwort". The name of
    the result has the commit of the hub. Raises UnknownNameError, DataError, MissingExtraError, and
    InputError with the number of a row that cannot be used.
    """
    if name in SOURCES or name in DATASET_ALIASES:
        return _load_source(DATASET_ALIASES.get(name, name))
    if name == FRESH or name.startswith(f"{FRESH}:"):
        from gradeschool.datasets.fresh import load_fresh

        return Dataset(name, *load_fresh(name))
    place, columns = split_columns(name)
    if place.startswith("hf:"):
        paths, pinned = fetch_from_hub(place)
        return _load_files(pinned + name[len(place) :], paths, columns)
    if place.startswith(ADDRESSES):
        return _load_files(name, [locate(source_at(place)).path], columns)
    path = Path(place)
    if path.suffix in TABLES or "/" in place or (place and path.exists()):
        return _load_files(name, [path], columns)
    raise UnknownNameError("dataset", name, [*SOURCES, *DATASET_ALIASES, "fresh:SEED"])


def split_columns(name: str) -> tuple[str, dict[str, str]]:
    """Return the place of a dataset, and its columns by role; raises InputError for another."""
    place, mark, words = name.rpartition("#")
    if not mark or "=" not in words or Path(name).exists():
        return name, {}
    return place, parse_columns(words, tuple(COLUMN_ROLES), f"the dataset {name!r}:")


def is_here(name: str) -> bool:
    """Return whether a dataset can be loaded without a fetch; True for the path of a file."""
    if name.startswith("hf:"):
        return False
    place = name.partition("#")[0]
    source = SOURCES.get(DATASET_ALIASES.get(name, name))
    if place.startswith(ADDRESSES):
        source = source_at(place)
    return source is None or find_file(source) is not None


def several_golds(problems: Iterable[Problem]) -> str:
    """Return a sentence about questions that have different golds, "" if there are none."""
    golds: dict[str, dict[str, str]] = {}
    for problem in problems:
        question = " ".join(problem.question.split())
        golds.setdefault(question, {}).setdefault(problem.gold.replace(",", ""), problem.id)
    if not (unsure := {text: ids for text, ids in golds.items() if text and len(ids) > 1}):
        return ""
    question, first = next(iter(unsure.items()))
    shown = " and ".join(f"{gold!r} (problem {id})" for gold, id in list(first.items())[:2])
    questions = f"{len(unsure)} questions" if len(unsure) > 1 else "1 question"
    return (
        f"several golds for {questions} of the dataset, such as {question[:60]!r}: {shown}; "
        "no answer is right for both"
    )


def source_named(name: str) -> DatasetSource:
    """Return the named source; raises UnknownNameError."""
    try:
        return SOURCES[DATASET_ALIASES.get(name, name)]
    except KeyError:
        raise UnknownNameError("dataset", name, [*SOURCES, *DATASET_ALIASES]) from None


@lru_cache(8)
def _load_source(name: str) -> Dataset:
    source = SOURCES[name]
    file = locate(source)
    if file.layout in SHOTS:
        shots = enumerate(SHOTS[file.layout](file.path, source.language))
        problems = [
            Problem.from_row(str(index), question, f"{rationale}\n{MARKER} {answer}")
            for index, (question, rationale, answer) in shots
        ]
    else:
        rows = _tsv_rows(file.path) if file.path.suffix == ".tsv" else read_rows(file.path)
        build = BUILDERS[file.layout]
        problems = [build(source, str(index), row) for index, row in enumerate(rows)]
    if file.layout == "platinum":
        changes = platinum_changes(problems, name)
        kept = [changes.get(problem.id, problem) for problem in problems]
        problems = [replace(each, meta={**each.meta, "row": each.id}) for each in kept if each]
    if len(problems) != source.rows:
        raise DataError(f"{str(file.path)!r} contains {len(problems)} problems, not {source.rows}")
    return Dataset(name, tuple(problems), sha256_of(file.path))


def _load_files(name: str, paths: Sequence[Path], columns: Mapping[str, str]) -> Dataset:
    problems: dict[str, Problem] = {}
    for path in paths:
        with closing(read_rows(path)) as rows:
            for row in rows:
                problem = _row(name, str(len(problems)), row, columns)
                if problem.id in problems:
                    raise InputError(f"{name!r} uses the id {problem.id!r} twice; make ids unique")
                problems[problem.id] = problem
    if not problems:
        raise InputError(f"{name!r} contains no problems; give one row for each problem")
    digests = "".join(map(sha256_of, paths))
    sha256 = hashlib.sha256(digests.encode()).hexdigest() if len(paths) > 1 else digests
    return Dataset(name, tuple(problems.values()), sha256)


def _row(dataset: str, default_id: str, row: Row, columns: Mapping[str, str]) -> Problem:
    where, fields = _place(dataset, row), row.fields
    names = {role: (columns[role],) if role in columns else usual
             for role, usual in COLUMN_ROLES.items()}  # fmt: skip
    question = _field(fields, names["question"], "question", where)
    answer = _field(fields, names["gold"], "answer", where)
    id = fields.get(names["id"][0])
    meta = {name: value for name in META_COLUMNS if isinstance(value := fields.get(name), str)}
    try:
        gold, solution = read_solution(answer, expressions=True)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    return Problem(default_id if id in (None, "") else str(id), question, gold, solution, meta)


def _field(fields: Mapping[str, Any], names: tuple[str, ...], what: str, where: str) -> str:
    for written in (_written(fields.get(name)) for name in names):
        if written.strip():
            return written
    columns = clip(", ".join(map(repr, fields)), 300) or "none"
    raise InputError(
        f"{where} has no {what} (columns: {columns}); name one of them "
        f"{' or '.join(map(repr, names))}, or say which they are: FILE#question=COLUMN,gold=COLUMN"
    )


def _written(value: object) -> str:
    """Write a cell as text: 18.0 is "18"; anything but text and finite numbers is ""."""
    if isinstance(value, float):
        return normalize(f"{Decimal(repr(value)):f}") if isfinite(value) else ""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _place(dataset: str, row: Row) -> str:
    """Return the name of a row in messages; raises InputError if it could not be read."""
    where = f"row {row.number} of {dataset!r}"
    if row.fault:
        raise InputError(f"{where} {row.fault}; correct or remove it")
    return where


def _column_problem(source: DatasetSource, default_id: str, row: Row) -> Problem:
    """Build a problem from the columns that a source names."""
    columns, fields = source.columns, row.fields
    where = _place(source.name, row)
    question = " ".join(_field(fields, (name,), "question", where) for name in columns.question)
    solution = _written(fields.get(columns.solution))
    if columns.gold:
        gold = _field(fields, (columns.gold,), "answer", where)
        gold = normalize(gold) if columns.writes_floats else gold
        if solution.rpartition(MARKER)[2].strip() != gold:
            solution = f"{solution}\n{MARKER} {gold}".lstrip("\n")
    meta = {name: _written(fields.get(column)) for name, column in columns.meta.items()}
    if source.language != "en":
        meta["language"] = source.language
    if columns.seed == ROW:
        meta["seed"] = default_id
    elif columns.seed:
        written = _written(fields.get(columns.seed))
        _, quotes, quoted = written.partition('"""')  # of a program that quotes the question
        meta["seed"] = quoted.partition('"""')[0] if quotes else written
    id = _written(fields.get(columns.id)) or default_id
    return Problem.from_row(id, question, solution, meta)


def _tsv_rows(path: Path) -> Iterator[Row]:
    """Yield rows without quotes or header: the columns are "0", "1", ..."""
    lines = path.read_text("utf-8").removesuffix("\n").split("\n")
    for number, line in enumerate(lines, start=1):
        yield Row(number, {str(at): cell for at, cell in enumerate(line.split("\t"))})


# Exemplars: question, rationale, answer.
Shot = tuple[str, str, object]


def _table_shots(path: Path, _: str) -> Iterator[Shot]:
    for row in read_rows(path):
        yield str(row.fields["question"]), row.fields["rationale"], row.fields["answer"]


def _yaml_shots(path: Path, _: str) -> Iterator[Shot]:
    """Yield the exemplars of lm-eval's gsm8k-cot.yaml, with "The answer is N." split off."""
    import yaml

    for sample in yaml.safe_load(path.read_text(encoding="utf-8"))["fewshot_config"]["samples"]:
        rationale, _, answer = sample["target"].rpartition(" The answer is ")
        yield sample["question"], rationale, answer.removesuffix(".")


def _listed_shots(path: Path, _: str) -> Iterator[Shot]:
    """Yield the examples of lm-eval's minerva_math: the literal list of `list_fewshot_samples`."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    [function] = [each for each in functions if each.name == "list_fewshot_samples"]
    [returned] = [part for part in function.body if isinstance(part, ast.Return)]
    for sample in ast.literal_eval(returned.value) if returned.value else ():
        answer = sample["solution"].rpartition(" is $")[2].partition("$")[0]
        yield sample["problem"], sample["solution"], answer


def config_shots(path: Path, _: str = "") -> Iterator[Shot]:
    """Yield the examples of `round=[dict(role="HUMAN", prompt=...), dict(role="BOT", ...), ...]`.

    The open question at the end is not an example. Reads literals; nothing is executed.
    """
    prompts = list[str]()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        keywords = node.keywords if isinstance(node, ast.Call) else []
        if {word.arg for word in keywords} == {"role", "prompt"}:
            prompts += [ast.literal_eval(word.value) for word in keywords if word.arg == "prompt"]
    for question, answer in zip(prompts[:-1:2], prompts[1::2], strict=True):
        rationale, _, gold = answer.rpartition("The answer is ")
        question = question.removeprefix("Question: ")
        question = question.removesuffix("\nLet's think step by step\nAnswer:")
        yield question, rationale[:-1], gold.strip().removesuffix(".")


def _mgsm_shots(path: Path, language: str) -> Iterator[Shot]:
    """Yield MGSM's exemplars in one language, with the labels that the file writes before them.

    Reads two assignments of literals; nothing is executed.
    """
    values = {
        target.id: ast.literal_eval(node.value)
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    golds = values["EXEMPLAR_NUMBER_ANSWERS"]
    for number, exemplar in values["MGSM_EXEMPLARS"][language].items():
        yield exemplar["q"], exemplar["a"], golds[int(number) - 1]


SHOTS: dict[str, Callable[[Path, str], Iterator[Shot]]] = {
    "exemplars": _table_shots,
    "lm-eval-yaml": _yaml_shots,
    "lm-eval-samples": _listed_shots,
    "opencompass-config": config_shots,
    "mgsm-exemplars": _mgsm_shots,
}
BUILDERS: dict[str, Callable[[DatasetSource, str, Row], Problem]] = {
    **dict.fromkeys(("gsm8k", "platinum"), lambda source, id, row: _row(source.name, id, row, {})),
    "columns": _column_problem,
    "step-labels": lambda _, __, row: critic_problem(row.fields),
}


# GSM8K-Platinum as a layer over the official test split: 110 rows removed, 10 golds revised.
# Vendrow et al. 2025, "Do Large Language Model Benchmarks Test Reliability?", read every problem
# that strong models missed: ambiguous and self-contradicting questions are removed, wrong labels
# corrected. Facts read from th789/evolm @ f7302b5569d28a3cdbe2b3ebf23eebc92c1b3c62
# (evaluation/cot-eval-harness/data/cooked/GSM8KPlatinum.jsonl: 1,209 rows, every question equal to
# the official text, in order).


_LABELS = json.loads(Path(__file__).with_name("platinum.json").read_text("ascii"))
REMOVED = tuple(_LABELS["removed"])  # rows of the official test split, from 0
REVISED = {int(row): gold for row, gold in _LABELS["revised"].items()}
# The new gold by official row, None for a removed one.
LABELS: dict[int, str | None] = {**dict.fromkeys(REMOVED), **REVISED}
OFFICIAL_ROWS = 1319
# Of every question and gold of the test split, each closed by a NUL.
OFFICIAL_SHA256 = "b06228cdbfae6398c914e37a5cbc5fdf4063001ba3c12e95e7e1355bbcd9b49e"
# Problems whose label GSM8K-Platinum changes, by id: with the new gold, None for a removed one.
LabelChanges = Mapping[str, Problem | None]


def platinum_changes(problems: Sequence[Problem], name: str) -> LabelChanges:
    """Return the problems that Platinum changes, by id: relabelled, or None if removed.

    problems: the official test split, in its order; name: their name in messages. Raises InputError
    for any other problems: labels belong to row numbers, and would go to the wrong problems.
    """
    digest = hashlib.sha256()
    for problem in problems if len(problems) == OFFICIAL_ROWS else ():
        digest.update(f"{problem.question}\0{problem.gold}\0".encode("utf-8", "surrogatepass"))
    if digest.hexdigest() != OFFICIAL_SHA256:
        raise InputError(
            f"Platinum's labels are for the official test split of GSM8K, and {name!r} is not that "
            f"({len(problems)} problems); leave them out, or give -d gsm8k"
        )
    changes = dict[str, Problem | None]()
    for row, gold in LABELS.items():
        problem = problems[row]
        relabelled = None
        if gold is not None:  # the reference solution still leads to the old one
            solution = f"{problem.solution.rpartition(MARKER)[0]}{MARKER} {gold}"
            meta = {**problem.meta, "labels": "platinum", "official gold": problem.gold}
            relabelled = replace(problem, gold=gold, solution=solution, meta=meta)
        changes[problem.id] = relabelled
    return changes


def label_changes(problems: Sequence[Problem], used: Iterable[Problem | None] = ()) -> LabelChanges:
    """Return the same as `platinum_changes`, or nothing if problems are not the test split.

    used: the problems that a run answers; nothing is returned if one of them is not in the split.
    None, a row without a problem, is ignored.
    """
    try:
        changes = platinum_changes(problems, "gsm8k")
    except InputError:
        return {}
    official = {problem.id: problem for problem in problems}
    others = any(problem and official.get(problem.id) != problem for problem in used)
    return {} if others else changes


# ProcessBench: solutions in steps, with the first wrong step labelled by people (Zheng et al. 2024,
# arXiv 2412.06559); the part on GSM8K.


NO_ERROR = -1  # the label of a solution without a wrong step


class LabelledSteps(NamedTuple):
    """A solution in steps.

    label: the number of the first wrong step, counted from 0; NO_ERROR for none. generator: the
    model that wrote it. errors: all wrong steps, None where only the first one is labelled.
    """

    id: str
    generator: str
    problem: str
    steps: tuple[str, ...]
    label: int
    errors: frozenset[int] | None = None


def labelled_steps(fields: Mapping[str, Any]) -> LabelledSteps:
    """Return the labelled steps of a row of ProcessBench; raises DataError for any other row."""
    try:
        steps = tuple(map(str, fields["steps"]))
        label = int(fields["label"])
        row = LabelledSteps(
            str(fields["id"]), str(fields["generator"]), str(fields["problem"]), steps, label
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{fields!r:.80} is not a row of ProcessBench ({error!r})") from error
    if not steps or not NO_ERROR <= label < len(steps):
        raise DataError(f"row {row.id!r} has {len(steps)} steps and the label {label}")
    return row


def critic_problem(fields: Mapping[str, Any]) -> Problem:
    """Return a row as a problem: its question contains problem and steps, its gold is the label.

    The steps are as critics get them, numbered from 0, each in its own tag: ProcessBench,
    code/run_eval.py, prepare_input_boxed.
    """
    row = labelled_steps(fields)
    steps = "\n\n".join(
        f"<paragraph_{number}>\n{step}\n</paragraph_{number}>"
        for number, step in enumerate(row.steps)
    )
    question = f"[Math Problem]\n\n{row.problem}\n\n[Solution]\n\n{steps}"
    meta = {"generator": row.generator}
    return Problem(row.id, question, str(row.label), f"{MARKER} {row.label}", meta)
