"""The named datasets; a dataset's file in the user's folder, the cache or its origin, by digest.

`sources.jsonl` has a line for each name: origin at a pinned revision, SHA-256, number of rows. MGSM
(Shi et al. 2022) is the first 250 problems of GSM8K's test split, translated by people; MSVAMP
(Chen et al. 2023) is SVAMP, translated by machine and corrected. The files of lm-eval and
OpenCompass have the digests of the wheels of lm-eval 0.4.13 and opencompass 0.5.4. Those of
GSM-Plus and of GSM-Symbolic's main file are the digests by which other public repositories pin
these commits. Other origins are an address of the user, and a repository of the Hugging Face hub.
"""

import hashlib
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from gradeschool.atomic import replacing
from gradeschool.errors import DataError, InputError, require_packages

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
    from a commit, and every later copy must match.
    rows: number of problems. url: the origin, "" if the package ships it. layout: "gsm8k"
    (question, answer), "columns" (rows of JSON or tab-separated values, see `columns`), "platinum"
    (GSM8K's rows, then relabelled), "step-labels" (`LabelledSteps`), or one of exemplars:
    "exemplars" (question, rationale, answer), "lm-eval-yaml", "lm-eval-samples",
    "opencompass-config", "mgsm-exemplars". columns: for the layout "columns"; numbers if the file
    has no column names. alternative: another file with the same content that GRADESCHOOL_DATA may
    contain instead: (path, sha256, layout). language: ISO 639-1 code of the problems. golds: the
    kinds of golds, with counts. aliases: other names.
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
ALIASES = {alias: source.name for source in SOURCES.values() for alias in source.aliases}


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
    from urllib.parse import urlsplit

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
