"""Run folders of gradeschool: run.json has the settings, completions.jsonl the completions.

verifier-scores.jsonl has the scores of the completions, by verifier.

A row of completions.jsonl is one completion, or the error in its place. Its digest is that of its
key, text and error, and detects later changes of these; it uses no secret, so it does not protect
against deliberate forgery. A sample that failed and was requested again has several rows; the first
one without an error counts.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from gradeschool import atomic
from gradeschool.completion import Completion, Finish, Usage, finish_of
from gradeschool.errors import InputError, StoreError
from gradeschool.formats.tables import Row, parse_line
from gradeschool.formats.values import ProblemReference, Sample, finite_number, mapping, shown
from gradeschool.masking import masked
from gradeschool.printable import count

COMPLETIONS_FILE = "completions.jsonl"
MANIFEST_FILE = "run.json"
RESULTS_FILE = "results.json"
SCORES_FILE = "verifier-scores.jsonl"
BATCH_FILES = "batch-*.jsonl"  # the requests of batches that are open at the server
ROW_SCHEMA = 1
SYNC_SECONDS = 1.0
INTACT = "; what was stored before is intact, the same command continues from there"
CHANGED = "was changed after it was stored"
NOT_IN_SLUG = re.compile(r"[^A-Za-z0-9._@=+-]+")
ROUNDED = 1e-3  # up to this a mean log-probability is 0 by rounding
SERVER_CUTS = 0.9  # share of the limit on tokens; a shorter text was not cut by it
# The identity of a model on a server has an address; a local model is always the requested one.
HAS_ADDRESS = re.compile(r" at https?://")
# What servers append to the name of a model for the version that answered.
SNAPSHOT = re.compile(r"|:.+|-(?:v?\d[\d.]*(?:-\d+)*(?:-preview)?|latest)")


def slug(name: str) -> str:
    """Return a name as part of a file name: other characters become "_", at most 80 remain."""
    return NOT_IN_SLUG.sub("_", name).strip("._")[:80] or "unnamed"


# run.json and results.json


def read_json(path: Path) -> dict[str, Any] | None:
    """Return the JSON object in a file, None if there is no file; raises StoreError."""
    try:
        with os.fdopen(atomic.open_regular(path, os.O_RDONLY), "rb") as file:
            fields = json.load(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except StoreError:
        raise
    except (ValueError, RecursionError, OSError) as error:
        raise StoreError(f"cannot read {str(path)!r}: {error}; remove or repair it") from error
    if not isinstance(fields, dict):
        raise StoreError(f"{str(path)!r} is not a JSON object; remove or repair it")
    return fields


def manifest_of(path: Path) -> dict[str, Any]:
    """Return the run.json of a run folder or of the folder of a file; {} if it is unreadable."""
    return results_of(path if path.is_dir() else path.parent, MANIFEST_FILE)


def results_of(folder: Path, name: str = RESULTS_FILE) -> dict[str, Any]:
    """Return the results.json, or another JSON file, of a run folder, {} if it is unreadable."""
    try:
        return read_json(folder / name) or {}
    except StoreError:
        return {}


def dataset_of(path: Path) -> str | None:
    """Return the dataset of a run folder (or of a file in one), None if it is not recorded."""
    name = mapping(manifest_of(path).get("dataset")).get("name")
    return name if isinstance(name, str) else None


def scorer_of(manifest: Mapping[str, Any]) -> str | None:
    """Return the first scorer of a run's protocol, None if run.json does not name it."""
    scorers = mapping(manifest.get("protocol")).get("scorers")
    name = scorers[0] if isinstance(scorers, list) and scorers else None
    return name if isinstance(name, str) else None


def planned_samples(manifest: Mapping[str, Any]) -> int:
    """Return the number of samples in the complete run, 0 if run.json does not record it."""
    problems, samples = _count(manifest.get("problems")), _count(manifest.get("samples"))
    return (problems or 0) * (samples or 0)


def other_models(identity: str, answered_by: Any) -> str:
    """Return other models that answered according to the server, "" for none.

    identity: of the model, from run.json. answered_by: answers by model name, from results.json. A
    dated snapshot ("gpt-4o-2024-08-06") or a path to the model counts as the model.
    """
    if not isinstance(answered_by, Mapping) or not HAS_ADDRESS.search(identity):
        return ""

    def base(name: str) -> str:
        return name.lower().rstrip("/").rpartition("/")[2].removesuffix(".gguf")

    asked = base(identity.partition(" at ")[0].removesuffix(" with the calculator"))
    return ", ".join(
        f"{str(model)!r} ({answers} answers)"
        for model, answers in answered_by.items()
        if not base(str(model)).startswith(asked)
        or not SNAPSHOT.fullmatch(base(str(model)).removeprefix(asked))
    )


# completions.jsonl


def to_line(completion: Completion, question: str) -> bytes:
    """Return one line of JSON in ASCII, which can represent every string, even lone surrogates.

    Secrets are masked.
    """
    text, error = masked(completion.text), masked(completion.error)
    thought = completion.usage.reasoning_tokens
    fields = {
        "schema": ROW_SCHEMA,
        "key": completion.key,
        "problem_id": completion.problem_id,
        "question": question,
        "sample": completion.sample,
        "run": completion.run,
        "model": completion.model,
        "completion": text,
        "finish": completion.finish.value,
        "reasoning": completion.reasoning,
        "prompt_tokens": completion.usage.prompt_tokens,
        "completion_tokens": completion.usage.completion_tokens,
        **({} if thought is None else {"reasoning_tokens": thought}),
        **({} if completion.requests == 1 else {"requests": completion.requests}),
        **({} if completion.latency is None else {"latency": completion.latency}),
        "error": error,
        "deviations": list(completion.deviations),
        "digest": digest_of(completion.key, text, error),
    }
    return masked(json.dumps(fields)).encode() + b"\n"


def digest_of(key: object, text: object, error: object) -> str:
    """Return 16 hex digits of the SHA-256 of a row's key, text and error."""
    facts = f"{key}\0{text}\0{error or ''}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(facts).hexdigest()[:16]


def is_changed(fields: Mapping[str, Any]) -> bool:
    """Return whether the key, text or error of a row was changed after it was stored."""
    digest = digest_of(fields.get("key"), fields.get("completion"), fields.get("error"))
    return fields.get("digest") != digest


def from_fields(fields: Mapping[str, Any]) -> Completion | None:
    """Return the completion of a parsed line, None if it is not a row of a run folder."""
    key, problem_id, sample, text = map(fields.get, ("key", "problem_id", "sample", "completion"))
    if not (isinstance(key, str) and isinstance(problem_id, str) and isinstance(text, str)):
        return None
    if isinstance(sample, bool) or not isinstance(sample, int):
        return None
    requests, deviations, seconds = map(fields.get, ("requests", "deviations", "latency"))
    return Completion(
        key=key,
        problem_id=problem_id,
        sample=sample,
        text=text,
        finish=finish_of(fields.get("finish")),
        usage=Usage(*(_count(fields.get(name)) for name in Usage._fields)),
        model=str(fields.get("model") or ""),
        reasoning=str(fields.get("reasoning") or ""),
        error=str(fields.get("error") or ""),
        run=str(fields.get("run") or ""),
        deviations=tuple(map(str, deviations)) if isinstance(deviations, list) else (),
        requests=requests if isinstance(requests, int) and requests > 0 else 1,
        latency=seconds if isinstance(seconds, float) and 0 <= seconds < 1e9 else None,
    )


def stored_sample(number: int, fields: Mapping[str, Any], default_run: str) -> Sample:
    """Return the sample of a row of a run folder; a row that was changed is a fault.

    default_run: the run of a row that names neither its run nor its model.
    """
    completion = from_fields(fields) if "schema" in fields else None
    if completion is None:
        return Sample(number, fault="is not a row of a run folder")
    question = fields.get("question")
    return Sample(
        number,
        completion.run or completion.model or default_run,
        completion.text,
        ProblemReference(completion.problem_id, question if isinstance(question, str) else None),
        completion.sample,
        completion.finish,
        completion.error,
        fault=CHANGED if is_changed(fields) else "",
        model=completion.model,
        stored=completion,
    )


def _count(value: object) -> int | None:
    """Return a number of tokens or samples, None for any other value."""
    return value if type(value) is int and 0 <= value < 2**31 else None


def read_completions(path: Path) -> Iterator[Completion | None]:
    """Yield the completion of each line of completions.jsonl, None for a torn or changed row.

    A file that does not exist has no rows. Raises OSError, and StoreError if the path is not a
    regular file: symbolic links are not followed.
    """
    try:
        number = atomic.open_regular(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return
    with os.fdopen(number, "rb") as file:
        for line in file:
            fields, fault = parse_line(line)
            yield None if fault or is_changed(fields) else from_fields(fields)


def damaged_words(rows: Sequence[int]) -> str:
    """Return the numbers of torn or changed rows in words: "2 rows are damaged (rows 3, 7)"."""
    shown = ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")
    named = f"row {shown}" if len(rows) == 1 else f"rows {shown}"
    return f"{count(len(rows), 'row is', 'rows are')} damaged ({named})"


def valid_completions(
    rows: Iterable[Completion], counted: dict[str, Completion] | None = None
) -> dict[str, Completion]:
    """Return the valid row of each key, which counts: the first without an error, else the last.

    counted: is extended and returned; by default a new dictionary.
    """
    counted = {} if counted is None else counted
    for row in rows:
        earlier = counted.get(row.key)
        if earlier is None or earlier.error:
            counted[row.key] = row
    return counted


def stored_completions(folder: Path) -> dict[str, Completion]:
    """Return the valid completion of each key of a run folder; damaged rows are left out."""
    rows = read_completions(folder / COMPLETIONS_FILE)
    return valid_completions(completion for completion in rows if completion is not None)


class RunStore:
    """The completions.jsonl of a run folder, as `open_store` yields it.

    `completions`: the valid ones by key (see `valid_completions`); `append` adds to them.
    `damaged`: what is wrong with the file, "" if nothing is.
    """

    def __init__(self, folder: Path, file: int) -> None:
        self.folder = folder
        self.path = folder / COMPLETIONS_FILE
        self.completions: dict[str, Completion] = {}
        self.damaged = ""
        self._file, self._synced = file, monotonic()

    def append(self, completion: Completion, question: str) -> None:
        """Append a row: it survives a crash of this process, and soon one of the machine."""
        with atomic.writing_output(self.path, INTACT):
            rest = memoryview(to_line(completion, question))
            while rest:
                rest = rest[os.write(self._file, rest) :]
        valid_completions([completion], self.completions)
        if monotonic() - self._synced > SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Sync the rows to disk; raises StoreError if the file was removed meanwhile."""
        with atomic.writing_output(self.path, INTACT):
            os.fsync(self._file)
            is_removed = os.fstat(self._file).st_nlink == 0
        self._synced = monotonic()
        if is_removed:
            raise StoreError(
                f"{str(self.path)!r} was removed while the run was writing to it; the same "
                "command starts again"
            )


@contextmanager
def open_store(folder: Path) -> Iterator[RunStore]:
    """Yield the rows of a run folder, which is made; it is open in one process at a time.

    Damaged rows stay in the file and are left out; an incomplete last row is cut off. Everything is
    synced at the end. Raises StoreError if the folder cannot be used or another process has it.
    """
    with atomic.locked_file(folder / COMPLETIONS_FILE, os.O_RDWR | os.O_APPEND) as file:
        store = RunStore(folder, file)
        with atomic.writing_output(store.path, "; give another folder with -o"):
            for part in folder.glob(f"{atomic.PART_PREFIX}*"):  # of a process that died
                part.unlink()
            damaged, size, row = [], os.fstat(file).st_size, None
            for number, row in enumerate(read_completions(store.path), start=1):
                if row is None:
                    damaged.append(number)
                else:
                    valid_completions([row], store.completions)
            if damaged and not store.completions and not (folder / MANIFEST_FILE).exists():
                raise StoreError(
                    f"{str(store.path)!r} is not part of a run; give another folder with -o"
                )
            # Cut off an incomplete last row; end one whose line end was lost.
            if size and os.pread(file, 1, size - 1) != b"\n":
                if row is not None:
                    os.write(file, b"\n")
                else:
                    with store.path.open("rb") as lines:
                        *_, last = lines
                    os.ftruncate(file, size - len(last))
            atomic.sync_folder(folder)
        if damaged:
            store.damaged = f"{damaged_words(damaged)}; missing samples are requested again"
        try:
            yield store
        finally:
            store.sync()


def cut_by_server(
    manifest: Mapping[str, Any], completions: Iterable[Completion | Sample]
) -> int | None:
    """Return the tokens of the longest truncated completion of a run if the server cut it.

    None if it has nearly as many tokens as the run allows, or if not all are known.
    """
    limit = mapping(manifest.get("decoding")).get("max_tokens")
    tokens = [each.usage.completion_tokens for each in completions
              if each.finish is Finish.LENGTH]  # fmt: skip
    known = [count for count in tokens if count is not None]
    if not known or len(known) < len(tokens) or not isinstance(limit, int):
        return None
    return max(known) if max(known) < SERVER_CUTS * limit else None


def completions_file(path: Path) -> Path:
    """Return the completions.jsonl of a run folder; a file is returned as it is."""
    return path / COMPLETIONS_FILE if path.is_dir() else path


def is_stored_row(fields: Mapping[str, Any]) -> bool:
    """Return whether a row was stored by `gradeschool eval`."""
    return {"schema", "problem_id", "sample"} <= fields.keys() and isinstance(
        fields.get("key"), str
    )


def valid_rows(rows: Iterable[Row]) -> set[int]:
    """Return the numbers of the rows that `valid_completions` takes; a changed row has an error.

    All rows of other formats are valid; beside rows of a run, what cannot be read is a torn row and
    is left out.
    """
    counted: dict[str, tuple[int, bool]] = {}  # the number by key, and whether it has an error
    others: set[int] = set()
    torn: set[int] = set()
    for row in rows:
        if not is_stored_row(row.fields):
            (torn if row.fault else others).add(row.number)
        elif counted.get(row.fields["key"], (0, True))[1]:
            failed = bool(row.fields.get("error")) or is_changed(row.fields)
            counted[row.fields["key"]] = row.number, failed
    valid = others.union(number for number, _ in counted.values())
    return valid if counted else valid | torn


# verifier-scores.jsonl


class ScoreRow(NamedTuple):
    """One completion's score by one verifier.

    key: of the completion. verifier: its name and digest. logprob: the mean log-probability of the
    solution's tokens under the named generator, None without one. values, tokens: at each token, if
    requested.
    """

    key: str
    verifier: str
    score: float
    logprob: float | None = None
    generator: str | None = None
    values: list[float] | None = None
    tokens: list[str] | None = None


def scores_path(source: Path) -> Path:
    """Return the path of the scores of a run folder or a file of completions."""
    if source.is_dir():
        return source / SCORES_FILE
    return source.with_name(f"{source.stem}.{SCORES_FILE}")


def read_scores(path: Path) -> Iterator[ScoreRow]:
    """Yield the rows of a file of scores, without incomplete ones; no rows if there is no file.

    Raises InputError for a score that is no finite number, and for a log-probability above 0.
    """
    if not path.exists():
        return
    try:
        with path.open("rb") as file:
            for number, (fields, _) in enumerate(map(parse_line, file), start=1):
                row = ScoreRow._make(map(fields.get, ScoreRow._fields))
                names = fields.get("key"), fields.get("verifier")
                if not all(isinstance(name, str) for name in names):
                    continue
                score, logprob = finite_number(row.score), finite_number(row.logprob)
                if score is None or (logprob or 0.0) > ROUNDED:
                    name, value = ("score", row.score) if score is None else ("logprob", logprob)
                    raise InputError(
                        f"row {number} of {str(path)!r} has the {name} {shown(value)}; give a "
                        f"{'finite number' if score is None else 'number up to 0'}, or remove the "
                        "row"
                    )
                yield row._replace(score=score, logprob=logprob)
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from error


def append_scores(path: Path, rows: Iterable[ScoreRow]) -> None:
    """Append rows; see `append_lines`."""
    kept = ({name: value for name, value in row._asdict().items() if value is not None}
            for row in rows)  # fmt: skip
    atomic.append_lines(path, kept)


def choose_scores(path: Path, verifier: str | None) -> tuple[str, dict[str, ScoreRow]]:
    """Return the name of a verifier and its last row of each key.

    A row without a log-probability keeps that of the row before it. verifier: its name or the
    beginning of it; None if the file has only one. Raises InputError unless it is a name in the
    file, or exactly one name begins with it.
    """
    by_verifier: dict[str, dict[str, ScoreRow]] = {}
    for row in read_scores(path):
        if row.verifier.startswith(verifier or ""):
            rows = by_verifier.setdefault(row.verifier, {})
            if row.logprob is None and row.key in rows:  # scored again, without a generator
                earlier = rows[row.key]
                row = row._replace(logprob=earlier.logprob, generator=earlier.generator)
            rows[row.key] = row
    if verifier in by_verifier:  # also the beginning of "NAME:product"
        return verifier, by_verifier[verifier]
    if len(by_verifier) == 1:
        return next(iter(by_verifier.items()))
    if by_verifier:
        names = ", ".join(map(repr, by_verifier))
        raise InputError(f"{str(path)!r} contains scores of {names}; choose one with --verifier")
    whose = f" by {verifier!r}" if verifier else ""
    where = str(path) if path.exists() else f"{path}, which does not exist"
    raise InputError(
        f"there are no scores{whose} in {where}; name their column with --score, give a model with "
        "--verifier, or score first: gradeschool verifier score"
    )
