"""The scores of files in one pass: batches of samples -> outcomes -> rows -> counts -> scores.

`score_sources` runs all steps. `score_batch` maps a batch of samples to rows without texts: here,
in other processes (`--jobs`) or in tasks of Ray (`--engine ray`). `_scores_by_run` adds the rows of
one source up in 8 bytes a sample, and `score_counts` gives the figures of a run. `score_run` gives
the same figures for a run in memory.
"""

from __future__ import annotations

import json
import logging
import os
import signal
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import compress, islice, repeat
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.answers.regions import FORM_NAMES, Marks, answer_region, is_truncated
from gradeschool.atomic import replacing, writing_output
from gradeschool.datasets.load import LabelChanges, label_changes, several_golds
from gradeschool.errors import GradeschoolError, InputError, require_packages
from gradeschool.formats.read import SampleFile, run_of_unnamed
from gradeschool.formats.tables import Row, parse_line
from gradeschool.formats.values import UNNAMED, UNNUMBERED, Sample
from gradeschool.problem import Problem
from gradeschool.scorer import clip
from gradeschool.scoring.matching import Matcher
from gradeschool.scoring.sources import Numbering, Source, Warn, digest, no_such_run, note_missing
from gradeschool.scoring.statistics import Interval, Share, share_of, wilson
from gradeschool.scoring.table import BATCH, CORRECT, ERROR, OUTCOMES, ScoredTable, ScorerSet
from gradeschool.worker import keeping_handlers

REMOVED = b"\xff"  # GSM8K-Platinum removed the problem
AHEAD = 2  # batches for each process: one being scored, one waiting
RAY_BLOCK = 1024  # rows of a task
RAY_CHECKED = 256  # batches that are read here too, for the checks over whole files
RAY_STORE = 256 * 2**20  # bytes for Ray's objects: rows without texts are small
RAY_MESSAGE = 300  # characters of Ray's own error message
TextForm = tuple[bool, bool, bool, bool]  # whether it has each of `FORM_NAMES`
# Problem, outcomes, form, revised, flag.
RowKind = tuple[str, bytes, TextForm | None, bytes, bool | None]
UNUSABLE_ROW: RowKind = ("", b"", None, b"", None)


class ScoredRow(NamedTuple):
    """A sample after scoring, without its text.

    run: as in the file, "" if the row does not say. problem: its id, None if the row cannot be
    used. sample: as in the file, UNNUMBERED for none. error: the service's failure. fault: why the
    row cannot be used. flag: the file's own verdict. digest: of the text, never 0. outcomes: a byte
    for each scorer, empty without a text, which has no form. revised: outcomes under the gold of
    GSM8K-Platinum where it differs, or REMOVED.
    """

    row: int
    run: str
    problem: str | None
    gold: str
    sample: int
    finish: str
    error: str
    fault: str
    flag: bool | None
    digest: int
    outcomes: bytes
    form: TextForm | None
    revised: bytes

    @property
    def kind(self) -> RowKind:
        """Return what scores count: rows of one kind are added up."""
        return self.problem or "", self.outcomes, self.form, self.revised, self.flag


def score_batch(
    samples: Sequence[Sample], scorers: ScorerSet, changes: LabelChanges
) -> list[ScoredRow]:
    """Return a row for each sample, in their order."""
    rows, marks = [], scorers.thinking_marks
    # `once_per_text` remembers as many texts: `form_of` finds what the scorers have computed.
    for start in range(0, len(samples), BATCH):
        batch = samples[start : start + BATCH]
        pairs = [(each.text, each.problem) for each in batch if each.problem and not each.error]
        scored = iter(scorers.judge_all(pairs))
        for sample in batch:
            problem, text, outcomes, form, revised = sample.problem, sample.text, b"", None, b""
            id, gold = (problem.id, problem.gold) if problem else (None, "")
            if problem and not sample.error:
                outcomes = next(scored)
                form = form_of(text, sample.finish, problem, marks)
                if problem.id in changes:  # a failed sample has failed under both labels
                    other, revised = changes[problem.id], REMOVED
                    if other is not None:
                        other = replace(other, id=f"{other.id} revised")
                        [revised] = scorers.judge_all([(text, other)])
            rows.append(ScoredRow(sample.row, sample.run, id, gold, sample.sample, sample.finish,
                                  sample.error, sample.fault, sample.flag, digest(text), outcomes,
                                  form, revised))  # fmt: skip
    return rows


def form_of(text: str, finish: str, problem: Problem, marks: Marks) -> TextForm:
    """Return the form of a text: which of `FORM_NAMES` it has."""
    region = answer_region(text, problem.question, tuple(marks))
    return not text.strip(), is_truncated(text, finish), region.ran_on, region.thinking


def score_sources(
    sources: Sequence[Source], scorers: ScorerSet, warn: Warn, *, jobs: int = 1,
    labels: bool = False, engine: str = "local",
    write: Callable[[str, Sequence[ScoredRow]], None] = lambda source, rows: None,
) -> list[RunScore]:  # fmt: skip
    """Return the scores of every run of the sources, under distinct names.

    jobs: scoring processes; the scores do not depend on it. labels: score under the labels of
    GSM8K-Platinum too. engine: "ray" scores on Ray in place of this machine. write: called with the
    name of the source and each batch of rows. Messages about rows are passed to `warn`. Raises
    InputError for a source that cannot be read or has no usable row, GradeschoolError if a process
    dies.
    """
    scores: dict[str, RunScore] = {}
    checked: set[str] = set()
    for source in sources:
        if source.dataset.name not in checked and (text := several_golds(source.dataset.problems)):
            warn(text)
        checked.add(source.dataset.name)
        changes = label_changes(source.dataset.problems) if labels else {}
        batches: Iterable[list[ScoredRow]]
        if engine == "ray":
            batches = _score_on_ray(source, scorers, changes)
        elif jobs == 1:
            batches = map(score_batch, source.batches(), repeat(scorers), repeat(changes))
        else:
            batches = _score_in_processes(source.batches(), scorers, changes, jobs)
        for score in _scores_by_run(source, batches, scorers.names, warn, write):
            name = f"{score.run} ({source.name})" if score.run in scores else score.run
            scores[name] = replace(score, run=name)
    return list(scores.values())


def _score_in_processes(
    batches: Iterable[Sequence[Sample]], scorers: ScorerSet, changes: LabelChanges, jobs: int
) -> Iterator[list[ScoredRow]]:
    """Yield the rows of each batch, in order, scored in `jobs` processes."""
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    ignore = signal.signal, (signal.SIGINT, signal.SIG_IGN)  # on Ctrl-C, this process stops them
    try:
        pool = ProcessPoolExecutor(jobs, get_context("spawn"), *ignore)
    except (OSError, ImportError) as error:  # some containers have no /dev/shm for semaphores
        raise GradeschoolError(f"cannot start {jobs} processes: {error}; give --jobs 1") from error
    waiting: deque[Any] = deque()
    try:
        for batch in batches:
            waiting.append(pool.submit(score_batch, batch, scorers, changes))
            if len(waiting) > AHEAD * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise GradeschoolError(
            f"one of the {jobs} scoring processes died, perhaps because it ran out of memory; give "
            "fewer --jobs"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _score_block(
    block: Any, file: SampleFile, matcher: Matcher, scorers: ScorerSet, changes: LabelChanges
) -> Any:
    """Return a table with the path and the scored rows, as JSON, of each row of a block.

    A block has cells, or lines of JSON, of which a blank one has no rows.
    """
    import pyarrow as arrow

    scored: list[str] = []
    if block.column_names == ["text", "path"]:
        lines = [line.encode("utf-8", "surrogatepass") for line in block["text"].to_pylist()]
        read = [Row(0, *parse_line(line)) if line.strip() else None for line in lines]
    else:
        read = [Row(0, fields) for fields in block.drop_columns("path").to_pylist()]
    for row in read:
        samples = [matcher.match(sample) for sample in (file.read(row) if row else ())]
        rows = score_batch(samples, scorers, changes)
        scored.append(json.dumps(rows, default=bytes.hex))
    return arrow.table({"path": block.column("path"), "rows": scored})


@contextmanager
def _ray_session() -> Iterator[Any]:
    """Join a running Ray, at RAY_ADDRESS if set, or start one on this machine for the block.

    Yields the module. Raises MissingExtraError without ray, InputError if no Ray
    answers at RAY_ADDRESS, our own errors as tasks raise them, and GradeschoolError if a task or
    Ray fails.
    """
    require_packages("--engine ray", "cluster", "ray")
    import ray

    is_started_here = not ray.is_initialized()
    if is_started_here:
        address = os.environ.get("RAY_ADDRESS")
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if not address:
            options |= {"include_dashboard": False, "object_store_memory": RAY_STORE}
        try:
            with keeping_handlers(signal.SIGTERM):
                ray.init(**options)
        except (ConnectionError, ValueError) as error:
            raise InputError(f"cannot join Ray at RAY_ADDRESS={address!r}: {error}") from error
        except Exception as error:
            reason = clip(" ".join(str(error).split()), RAY_MESSAGE)
            raise GradeschoolError(
                f"cannot start Ray: {reason}; start it with `ray start --head`, then give "
                "RAY_ADDRESS=auto"
            ) from error
    try:
        yield ray
    except ray.exceptions.RayError as error:
        cause = getattr(error, "cause", None)  # of a task
        if isinstance(cause, GradeschoolError):
            raise cause from None
        message = str(cause or error).strip().rpartition("\n")[2].strip()
        raise GradeschoolError(f"Ray failed: {message[-RAY_MESSAGE:]}") from error
    finally:
        if is_started_here:
            ray.shutdown()


def _score_on_ray(
    source: Source, scorers: ScorerSet, changes: LabelChanges
) -> Iterator[list[ScoredRow]]:
    """Yield the scored rows of a source in file order, a list for each block.

    Uses a local Ray or the cluster at RAY_ADDRESS, whose machines need gradeschool too. A task
    reads and scores some rows, and returns some bytes for each, never its text. The checks over
    whole files see the first RAY_CHECKED batches, and a warning says so if there are more. Raises
    InputError for files of other formats or that cannot be read, MissingExtraError without ray,
    GradeschoolError if Ray fails.
    """
    paths = [str(part.absolute()) for part in source.parts]
    kinds = {Path(path).suffix for path in paths}
    if kinds not in ({".parquet"}, {".jsonl"}):
        raise InputError(
            f"--engine ray reads Parquet and JSON Lines (.jsonl), not {source.name!r}; convert it "
            "or leave --engine out"
        )
    if source.options.in_order:
        raise InputError("--in-order needs the rows one after the other; leave --engine ray out")
    runs: dict[str, None] = {}
    with _ray_session() as ray:
        require_packages("--engine ray", "cluster", "pyarrow")
        context = ray.data.DataContext.get_current()
        context.execution_options.preserve_order = True
        context.enable_progress_bars = False
        logging.getLogger("ray.data").setLevel("ERROR")
        if kinds == {".parquet"}:
            rows = ray.data.read_parquet(paths, include_paths=True)
        else:
            rows = ray.data.read_text(paths, include_paths=True, drop_empty_lines=False)
        batches = source.batches()  # as without Ray, in the order of the rows
        if sum(1 for _ in islice(batches, RAY_CHECKED)) == RAY_CHECKED:
            source.warn(
                f"{source.name!r}: on Ray, only the first rows are checked for columns, ids and "
                "golds that were taken wrongly; score it once without --engine"
            )
        batches.close()
        numbers: Counter[str] = Counter()
        blocks = rows.map_batches(
            _score_block, batch_format="pyarrow", batch_size=RAY_BLOCK,
            fn_args=(source.file, source.matcher, scorers, changes),
        )  # fmt: skip
        for block in blocks.iter_batches(batch_size=None, batch_format="pyarrow"):
            batch: list[ScoredRow] = []
            for path, scored in zip(*(block.column(i).to_pylist() for i in (0, 1)), strict=True):
                numbers[path] += 1
                for _, *facts, outcomes, form, revised in json.loads(scored):
                    known = bytes.fromhex(outcomes), form and tuple(form), bytes.fromhex(revised)
                    row = ScoredRow._make((numbers[path], *facts, *known))
                    runs[row.run] = None
                    if source.only in ("", row.run) or row.run == UNNAMED:
                        batch.append(row)
            yield batch
    if source.only and source.only not in runs:
        raise no_such_run(source.path, source.only, runs)


def _scores_by_run(
    source: Source,
    batches: Iterable[Sequence[ScoredRow]],
    scorers: Sequence[str],
    warn: Warn,
    write: Callable[[str, Sequence[ScoredRow]], None],
) -> Iterator[RunScore]:
    """Yield the score of each run of a source, in the order of the file, after its last row.

    Raises InputError if no row can be used.
    """
    numbering = Numbering(source.name)
    runs: defaultdict[str, Counter[RowKind]] = defaultdict(Counter)
    repeated: defaultdict[str, Counter[RowKind]] = defaultdict(Counter)
    for batch in batches:
        write(source.name, batch)
        # Unpacked, since this takes a third of the time of the attributes.
        for (row, run, problem, gold, sample, _, _, fault, flag, text_digest, outcomes, form,
             revised) in batch:  # fmt: skip
            counts = runs[run]
            if problem is None:
                counts[UNUSABLE_ROW] += 1
                numbering.note(row, run, fault)
                continue
            kind = problem, outcomes, form, revised, flag
            if numbering.number(row, run, problem, gold, sample, text_digest) is not None:
                counts[kind] = counts.get(kind, 0) + 1  # twice as fast as Counter's own
            elif sample == UNNUMBERED:  # it counts if the run turns out to be sampled
                repeated[run][kind] += 1
    for warning in source.checks.conclude():
        warn(warning)
    for run in numbering.conclude(warn):
        runs[run].update(repeated[run])
    unnamed = run_of_unnamed(runs, source.file.default_run)
    named: defaultdict[str, Counter[RowKind]] = defaultdict(Counter)
    for run, counts in runs.items():
        named[unnamed if run == UNNAMED else run].update(counts)
    usable = sum(counts.total() - counts[UNUSABLE_ROW] for counts in named.values())
    note_missing(Path(source.path), usable, warn)
    for run, counts in named.items():
        origin = f"{source.path}#{run}" if len(named) > 1 else source.name
        score = score_counts(run, counts, scorers)
        yield replace(score, faults=counts[UNUSABLE_ROW], origin=origin)


@dataclass(frozen=True, slots=True)
class ScorerResult:
    """The result of one scorer on one run.

    error: samples that are not judged: those that failed (`failed`: they have no text), and those
    on whose text the scorer itself fails. accuracy: the mean over problems of the share of judged
    samples that are correct. ci95: Wilson interval, clustered by problem if problems have several
    samples. If nothing was judged, both are undefined, and null in JSON. accuracy_bounds: if the
    scorer itself fails on some texts, the accuracy if all of these are wrong, and if all are right;
    else None. With bounds the accuracy is the lower, null in JSON.
    """

    scorer: str
    correct: int
    wrong: int
    no_answer: int
    error: int
    accuracy: float
    ci95: Interval
    accuracy_bounds: Interval | None = None
    failed: int = 0

    @property
    def judged(self) -> int:
        """Return the number of completions that the scorer judged: all except the errors."""
        return self.correct + self.wrong + self.no_answer


class Forms(NamedTuple):
    """Counts of completions by form; n: those whose form is known. One may have several forms."""

    n: int
    empty: int
    truncated: int
    run_on: int
    thinking: int


class FlagAgreement(NamedTuple):
    """A scorer against the file's own verdicts.

    n: flagged rows that the scorer judged. agree: rows on which both say the same. only_scorer,
    only_flag: rows that only one of them calls correct.
    """

    n: int
    agree: int
    only_scorer: int
    only_flag: int


@dataclass(frozen=True, slots=True)
class RunScore:
    """The scores of one run; n counts its completions, errors included.

    forms: numbers of completions that are empty, cut off or run on, None if unknown. platinum: the
    scores under the labels of GSM8K-Platinum, None if they were not asked for or change none of the
    run's problems. samples: the fewest and the most completions of a problem, None if all have
    equally many. flags: each scorer against the file's own verdicts, {} if it has none. agreeing:
    names of the scorers that agree on every completion, in groups. failed: samples without a text,
    which are errors under every scorer; faults: unusable rows among them. origin: FILE or FILE#RUN.
    """

    run: str
    n: int
    scorers: tuple[ScorerResult, ...]
    forms: Forms | None = None
    platinum: RunScore | None = field(default=None, compare=False)
    samples: tuple[int, int] | None = field(default=None, compare=False)
    flags: Mapping[str, FlagAgreement] = field(default_factory=dict, compare=False)
    agreeing: tuple[tuple[str, ...], ...] = field(default=(), compare=False)
    failed: int = field(default=0, compare=False)
    faults: int = field(default=0, compare=False)
    origin: str = field(default="", compare=False)

    def result(self, scorer: str) -> ScorerResult:
        """Return the result of a scorer by its name."""
        return next(each for each in self.scorers if each.scorer == scorer)

    def as_json(self) -> dict[str, Any]:
        """Return {"run", "n", "forms", "scorers": {name: ...}}; other facts if there are any."""
        scorers, flags = {}, {}
        for result in self.scorers:
            bounds, is_judged = result.accuracy_bounds, result.judged > 0
            scorers[result.scorer] = {
                "correct": result.correct,
                "wrong": result.wrong,
                "no_answer": result.no_answer,
                "error": result.error,
                "accuracy": result.accuracy if is_judged and not bounds else None,
                **({"accuracy_bounds": list(bounds)} if bounds else {}),
                "ci95": list(result.ci95) if is_judged else None,
            }
            if result.scorer in self.flags:
                flags[result.scorer] = self.flags[result.scorer]._asdict()
        return {
            "run": self.run,
            "n": self.n,
            **({"forms": self.forms._asdict()} if self.forms else {}),
            **({"samples_per_problem": list(self.samples)} if self.samples else {}),
            **({"platinum": self.platinum.as_json()} if self.platinum else {}),
            **({"flags": flags} if flags else {}),
            "scorers": scorers,
        }


def score_run(table: ScoredTable) -> RunScore:
    """Return the scores of a run in memory under every scorer of its table."""
    counts = Counter({UNUSABLE_ROW: len(table.run.samples) - len(table.samples)})
    for sample, problem, outcomes in zip(table.samples, table.problems, table.outcomes,
                                         strict=True):  # fmt: skip
        form = form_of(sample.text, sample.finish, problem, table.scorers.thinking_marks)
        counts[problem.id, outcomes, form, b"", sample.flag] += 1
    return score_counts(table.run.name, counts, table.scorers.names)


def score_counts(run: str, counts: Counter[RowKind], scorers: Sequence[str]) -> RunScore:
    """Return the score of a run from the numbers of its rows; those without outcomes failed."""
    sizes: dict[str, int] = {}  # samples with a text, by problem
    rows: list[tuple[str, bool | None, int]] = []
    forms, joined, has_flags, is_revised = Counter[TextForm](), [], False, False
    for (problem, outcomes, form, revised, flag), times in counts.items():
        is_revised = is_revised or revised != b""
        if outcomes:
            joined.append(outcomes)
            rows.append((problem, flag, times))
            sizes[problem] = sizes.get(problem, 0) + times
            has_flags = has_flags or flag is not None
        if form is not None:
            forms[form] += times
    n, fewest, most = counts.total(), min(sizes.values(), default=0), max(sizes.values(), default=0)
    failed, whole = n - sum(sizes.values()), b"".join(joined)
    groups: dict[bytes, list[str]] = {}  # the scorers with the same outcomes
    for index, scorer in enumerate(scorers):
        groups.setdefault(whole[index :: len(scorers)], []).append(scorer)
    results: dict[str, ScorerResult] = {}
    agreements: dict[str, FlagAgreement] = {}
    for column, names in groups.items():
        if most <= 1 and ERROR not in column:
            by_outcome = list(map(column.count, range(len(OUTCOMES))))
            right, judged = by_outcome[CORRECT], len(column)
            share = Share(judged, right / max(1, judged), wilson(right, judged), judged)
        else:
            tallies = {problem: [0] * len(OUTCOMES) for problem in sizes}
            for outcome, (problem, _, times) in zip(column, rows, strict=True):
                tallies[problem][outcome] += times
            by_outcome = list(map(sum, zip(*tallies.values(), strict=True)))
            share = share_of((each[CORRECT], sum(each[:ERROR]), each[ERROR])
                             for each in tallies.values())  # fmt: skip
        correct, wrong, no_answer, error = by_outcome
        pairs = Counter[tuple[bool, bool]]()
        for outcome, (_, flag, times) in zip(column, rows, strict=True) if has_flags else ():
            if flag is not None and outcome != ERROR:
                pairs[flag, outcome == CORRECT] += times
        for name in names:
            results[name] = ScorerResult(
                name, correct, wrong, no_answer, error + failed, share.accuracy, share.interval,
                share.bounds, failed,
            )  # fmt: skip
            if has_flags:
                agreements[name] = FlagAgreement(
                    pairs.total(), pairs[True, True] + pairs[False, False], pairs[False, True],
                    pairs[True, False],
                )  # fmt: skip
    revised_counts = Counter[RowKind]()
    for (problem, outcomes, _, revised, _), times in counts.items() if is_revised else ():
        if revised != REMOVED:
            revised_counts[problem, revised or outcomes, None, b"", None] += times
    of_form = [sum(compress(forms.values(), has_it)) for has_it in zip(*forms, strict=True)]
    return RunScore(
        run, n, tuple(map(results.__getitem__, scorers)),
        Forms(forms.total(), *of_form) if forms else None,
        score_counts(run, revised_counts, scorers) if is_revised else None,
        samples=(fewest, most) if fewest < most else None,
        flags=agreements, agreeing=tuple(map(tuple, groups.values())), failed=failed,
    )  # fmt: skip


# The table of verdicts (`score -o`): a row for each sample, a column for each scorer

FIELDS = {"source": str, "row": int, "run": str, "problem": str, "sample": int, "gold": str,
          "finish": str, "error": str, "form": str}  # fmt: skip
OUTCOME_WORDS = tuple(outcome.value for outcome in OUTCOMES)
ROW_GROUP = 65_536


@contextmanager
def verdict_table(
    path: Path, scorers: Sequence[str]
) -> Iterator[Callable[[str, Sequence[ScoredRow]], None]]:
    """Yield a function that appends rows of a source to a table of verdicts (.jsonl or .parquet).

    The file appears when the block ends well. Raises InputError if it cannot be written,
    MissingExtraError for Parquet without pyarrow.
    """
    waiting: list[dict[str, Any]] = []
    parquet: Any = None
    with writing_output(path), replacing(path) as part, part.open("wb") as file:
        if path.suffix.lower() == ".parquet":
            require_packages("writing Parquet", "parquet", "pyarrow")
            import pyarrow as arrow
            from pyarrow.parquet import ParquetWriter

            kinds = {str: arrow.string(), int: arrow.int64()}
            columns = [*((name, kinds[kind]) for name, kind in FIELDS.items())]
            columns += [(name, arrow.dictionary(arrow.int8(), arrow.string())) for name in scorers]
            parquet = ParquetWriter(file, arrow.schema(columns), compression="zstd")

        def flush() -> None:
            if parquet is None:
                file.writelines(json.dumps(fields).encode() + b"\n" for fields in waiting)
            elif waiting:
                parquet.write_table(arrow.Table.from_pylist(waiting, parquet.schema))
            waiting.clear()

        def write(source: str, rows: Sequence[ScoredRow]) -> None:
            for row in rows:
                forms = ", ".join(compress(FORM_NAMES, row.form or ()))
                outcomes = row.outcomes or [ERROR] * len(scorers)
                facts = row._asdict() | {
                    "source": source,
                    "error": row.fault or row.error,
                    "form": "unknown" if row.form is None else forms,
                }
                fields: dict[str, Any] = {name: facts[name] for name in FIELDS}
                fields |= zip(scorers, map(OUTCOME_WORDS.__getitem__, outcomes), strict=True)
                if parquet is not None:  # UTF-8 cannot encode lone surrogates: "\ud800" is written
                    for name in ("source", "run", "problem", "gold", "error"):
                        text = str(fields[name] or "").encode("utf-8", "backslashreplace")
                        fields[name] = None if fields[name] is None else text.decode()
                waiting.append(fields)
            if parquet is None or len(waiting) >= ROW_GROUP:
                flush()

        yield write
        flush()
        if parquet is not None:
            parquet.close()
