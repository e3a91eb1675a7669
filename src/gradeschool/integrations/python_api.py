"""`gradeschool.evaluate`, `score`, `compare`, `report`: the package from Python."""

import asyncio
import html
import inspect
import logging
import weakref
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gradeschool.atomic import check_output
from gradeschool.errors import InputError, TransientError, UnknownNameError
from gradeschool.formats.values import ReadOptions, Sample
from gradeschool.models.base import Model, Reply, Request
from gradeschool.printable import aligned
from gradeschool.problem import Problem
from gradeschool.protocol import Protocol
from gradeschool.scorer import DEFAULT_SCORER, Scorer, Verdict, clip
from gradeschool.scoring import compare as comparing
from gradeschool.scoring.score import RunScore, ScorerResult, score_run
from gradeschool.scoring.sources import Run, choose_run, load_runs
from gradeschool.scoring.statistics import Interval
from gradeschool.scoring.table import (
    ScoredTable,
    ScorerChoice,
    ScorerSet,
    choose_scorers,
    problem_of,
    scorer_choices,
    text_of,
)

ModelFunction = Callable[[Any], str] | Callable[[Any], Awaitable[str]]


@dataclass(frozen=True, repr=False)
class Scores:
    """The scores of some completions; `print` and notebooks show a table.

    run: counts, accuracy and interval under every scorer; the first scorer is the headline, with
    the figures `accuracy`, `ci95` and `correct`. `run.flags` compares the scorers with a file's own
    verdicts. verdicts: of the headline scorer, in the order of the completions. scored: every
    completion under every scorer. folder: the run folder, None for `score`.
    """

    run: RunScore
    verdicts: tuple[Verdict, ...]
    scored: ScoredTable = field(compare=False)
    folder: Path | None = field(default=None, compare=False)

    @property
    def headline(self) -> ScorerResult:
        """The result under the first scorer."""
        return self.run.scorers[0]

    @property
    def accuracy(self) -> float:
        """The mean over problems of the share of judged completions that are correct.

        Texts on which the scorer fails count as wrong.
        """
        return self.headline.accuracy

    @property
    def ci95(self) -> Interval:
        """The 95 % interval of the accuracy."""
        return self.headline.ci95

    @property
    def correct(self) -> int:
        """The number of correct completions by the first scorer."""
        return self.headline.correct

    def __len__(self) -> int:
        """Return the number of completions."""
        return self.run.n

    def _table(self) -> list[tuple[str, ...]]:
        from gradeschool.reports.terminal import FIGURES, figures_of

        heads = ("scorer", *(name.replace("\n", " ") for name in FIGURES))
        return [heads, *((each.scorer, *figures_of(each).values()) for each in self.run.scorers)]

    def __repr__(self) -> str:
        """Return the table as plain text, a line for each scorer."""
        return "\n".join(aligned(self._table()))

    def _repr_html_(self) -> str:
        """Return the table as HTML, for notebooks."""
        rows = "".join(f"<tr><td>{'</td><td>'.join(map(html.escape, row))}</td></tr>"
                       for row in self._table())  # fmt: skip
        return f"<table><caption>{len(self)} completions</caption>{rows}</table>"

    def misses(self) -> list[tuple[int, Verdict]]:
        """Return the index and the verdict of each completion that the first scorer rejects."""
        judged = [index for index, sample in enumerate(self.scored.run.samples)
                  if not sample.error and sample.problem]  # fmt: skip
        pairs = zip(judged, self.verdicts, strict=True)
        return [(index, verdict) for index, verdict in pairs if not verdict.correct]

    def report(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the report of this result and return its path; see `report`."""
        return report(path, self, force=force)


def report(
    path: str | Path,
    *runs: Scores | str | Path,
    scorer: ScorerChoice | Sequence[ScorerChoice] | None = None,
    dataset: str | None = None,
    force: bool = False,
) -> Path:
    """Write the report of runs as `gradeschool report` does, and return its path.

    path: ends in .html or .md. A run is a result of `score` or `evaluate`, or the path of a run
    folder or sample file. scorer: one or several, the headline first; by default those of the first
    result, and all that call no library. dataset: of files. force: replace a file that exists.
    Raises InputError for another ending, for a file that exists, and for no run.
    """
    from gradeschool.reports.report import JudgedRun, write_report

    check_output(Path(path), ".html", ".md", force=force)
    if not runs:
        raise InputError("no run is given; give a result, or the path of a run")
    own = runs[0].scored.scorers.scorers if isinstance(runs[0], Scores) else ()
    usual = {each.name: each for each in (*own, *choose_scorers(()))}
    scorers = ScorerSet(list(usual.values()) if scorer is None else _scorers(scorer))
    judged = [JudgedRun(_run_of(each, dataset), scorers, {}) for each in runs]
    write_report(judged, scorers.scorers, Path(path))
    return Path(path)


def score(
    texts: Sequence[str | Sequence[Mapping[str, Any]]] | str | Path,
    golds: Sequence[object] | None = None,
    scorer: ScorerChoice | Sequence[ScorerChoice] = DEFAULT_SCORER,
    *,
    dataset: str | None = None,
) -> Scores:
    """Return the scores of completions against their golds.

    texts: the completions, texts or messages; or, without golds, the path of a run folder or sample
    file with one run. golds: one for each text: a number, a solution ("... #### 18"), a GSM8K row
    or a Problem; texts with the same Problem are its samples. scorer: one or several names or
    functions of your own (`own_scorer`); the first is the headline. dataset: of a file, as
    for `gradeschool score -d`. Raises InputError if texts and golds differ in number, a gold cannot
    be read or a function cannot be called, UnknownNameError and MissingExtraError for a scorer.
    """
    scorers = _scorers(scorer)
    if golds is None and isinstance(texts, str | Path):
        return score_samples(_run_of(texts, dataset), scorers)
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise InputError(f"the completions are {clip(repr(texts))}; give a list of texts")
    if isinstance(golds, str) or not isinstance(golds, Sequence):
        raise InputError(f"the golds are {clip(repr(golds))}; give a list, a gold for each text")
    if len(texts) != len(golds):
        raise InputError(f"{len(texts)} texts but {len(golds)} golds; give a gold for each text")
    samples, earlier = list[Sample](), Counter[str]()
    for index, (text, gold) in enumerate(zip(texts, golds, strict=True)):
        if (read := text_of(text)) is None:
            kind = type(text).__name__
            raise InputError(f"text {index} is a {kind}: {clip(repr(text))}; give a str")
        try:
            problem = gold if isinstance(gold, Problem) else problem_of(gold)
        except InputError as error:
            raise InputError(f"gold {index}: {error}") from None
        if problem.id == "?":
            problem = replace(problem, id=str(index))
        samples.append(Sample(index, text=read, sample=earlier[problem.id], problem=problem))
        earlier[problem.id] += 1
    return score_samples(Run("", samples), scorers)


def compare(
    first: Scores | str | Path,
    *others: Scores | str | Path,
    scorer: ScorerChoice | None = None,
    dataset: str | None = None,
) -> list[comparing.Comparison]:
    """Compare runs with the first one, problem by problem, as `gradeschool compare` does.

    A run is a result of `score` or `evaluate`, or the path of a run folder or sample file. scorer:
    by default the headline of the first result, else DEFAULT_SCORER. dataset: of files. Raises
    InputError if the runs judge different problems.
    """
    if scorer is None and isinstance(first, Scores):
        chosen = list(first.scored.scorers.scorers[:1])
    else:
        chosen = _scorers(DEFAULT_SCORER if scorer is None else scorer)
    runs = [_run_of(each, dataset) for each in (first, *others)]
    if len(runs) < 2:
        raise InputError("one run is given; give another to compare it with")
    named = [replace(run, name=run.name or f"run {i}") for i, run in enumerate(runs, start=1)]
    return comparing.compare([comparing.run_outcomes(ScoredTable(run, chosen)) for run in named])


def _run_of(given: Scores | str | Path, dataset: str | None) -> Run:
    """Return the run of a result or of a path."""
    if isinstance(given, Scores):
        return given.scored.run
    return choose_run(str(given), ReadOptions(dataset=dataset), lambda message: None)


def _scorers(chosen: ScorerChoice | Sequence[ScorerChoice]) -> list[Scorer]:
    names = scorer_choices(chosen)
    if not names:
        raise InputError("no scorer is named; give at least one")
    return choose_scorers(names)


def score_samples(run: Run, scorers: Sequence[Scorer]) -> Scores:
    """Return the scores of a run by these scorers, and the verdicts of the first."""
    if not run.samples:
        raise InputError("there are no texts to score; give at least one")
    table = ScoredTable(run, scorers)
    return Scores(score_run(table), tuple(verdicts[0] for verdicts in table.verdicts), table)


class CallableModel(Model):
    """A function as a model: it takes a text or chat messages and returns the completion's text.

    An async function is awaited; other functions are called in threads. OSError (such as timeouts
    and broken connections) is retried; any other exception ends the run, which can be resumed.
    """

    connections = 16

    def __init__(self, function: ModelFunction, name: str) -> None:
        self.function = function
        self.name = name
        self.identity = f"callable/{name}"

    async def complete(self, request: Request) -> Reply:
        """Call the function. Raises TransientError, and InputError if it returns no text."""
        prompt = request.prompt
        given = prompt.as_messages() if prompt.text is None else prompt.text
        try:
            text = await asyncio.to_thread(self.function, given)
            if inspect.isawaitable(text):
                text = await text
        except OSError as error:
            raise TransientError("connection lost", f"{type(error).__name__}: {error}") from error
        if not isinstance(text, str):
            raise InputError(
                f"the model returned a {type(text).__name__}: {clip(repr(text))}; return a str"
            )
        return Reply(text, model=self.name)


def evaluate(
    model: str | ModelFunction,
    protocol: str | Protocol = "",
    dataset: str = "",
    *,
    scorers: ScorerChoice | Sequence[ScorerChoice] = (),
    limit: int | None = None,
    samples: int = 1,
    name: str = "",
    output: str | Path | None = None,
    progress: bool = False,
    **options: Any,
) -> Scores:
    """Evaluate a model under a protocol, and return the scores by the protocol's scorers.

    model: a name as for `gradeschool eval -m` ("tiny", "http://localhost:8080/v1"), or a function,
    async or not. A function takes the messages of a chat protocol ({"role", "content"}; a final
    assistant message is to be continued) or the text of another protocol, and returns a text.
    protocol, dataset, limit, samples: as the options of that command; the protocol may be an
    object, such as one of `Protocol.with_changes`. scorers: in place of the protocol's, the
    headline first; names, or functions of your own (`own_scorer`). name: a function's name;
    together with the prompt it identifies stored completions. output: a run folder to keep, which
    is resumed where it stopped; by default the folder is deleted with the result. progress: show
    progress on stderr. options: the other fields of `runs.job.Job`, such as temperature, stop,
    seed, shots, random, connections. Works inside a running event loop, as in a notebook.

    Raises InputError for unusable arguments, before anything is sent; DataError if the dataset is
    not available; FatalModelError if no request can succeed; and any error of the function.
    """
    from gradeschool.reports.progress import EvaluationDisplay
    from gradeschool.runs.evaluate import evaluate as evaluate_job
    from gradeschool.runs.job import DEFAULT_PROTOCOL, Job, prepare

    known = {each.name for each in fields(Job)} - {"model", "output"}
    for unknown in options.keys() - known:
        raise UnknownNameError("option of evaluate", unknown, known)
    settings: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in options.items()
    }
    job = Job("", protocol, dataset, limit, scorers=tuple(scorer_choices(scorers)),
              samples=samples, **settings)  # fmt: skip
    for setting in ("limit", "samples", "max_tokens", "connections"):
        value = getattr(job, setting)
        if value is not None and (type(value) is not int or value < 1):
            raise InputError(f"{setting} is {value!r}; give a whole number of at least 1")
    for setting, kinds in (("protocol", (str, Protocol)), ("dataset", (str,))):
        if not isinstance(value := getattr(job, setting), kinds):
            raise InputError(f"{setting} is {value!r}; give a name")
    function: CallableModel | None = None
    if callable(model):
        name = name or getattr(model, "__name__", type(model).__name__)
        function = CallableModel(model, name)
        # The default protocol, even if the function is called "tiny".
        usual, calculator = protocol or DEFAULT_PROTOCOL, job.calculator or False
        job = replace(job, model=name, protocol=usual, calculator=calculator)
    elif isinstance(model, str):
        job = replace(job, model=model)
    else:
        raise InputError(
            f"the model is a {type(model).__name__}; give its name, such as 'tiny', or a function"
        )

    def work() -> Scores:
        with ExitStack() as scratch:  # removed with the result, or at once without one
            if output is None:
                place = TemporaryDirectory(prefix="gradeschool-", ignore_cleanup_errors=True)
                folder = Path(scratch.enter_context(place), "run")
            else:
                folder = Path(output)
            prepared = prepare(replace(job, output=folder), function)
            with EvaluationDisplay(quiet=not progress) as display:
                evaluation = asyncio.run(evaluate_job(prepared, display.show))
            for text in evaluation.cautions:
                logging.getLogger("gradeschool").warning(text)
            if evaluation.fatal is not None:
                raise evaluation.fatal
            if evaluation.interrupted:
                raise KeyboardInterrupt
            reading = ReadOptions(dataset=prepared.plan.dataset.name)
            (run,) = load_runs(folder, reading, lambda _: None)
            named = replace(run, name=name if function else run.name)
            scores = replace(score_samples(named, prepared.plan.scorers), folder=folder)
            weakref.finalize(scores, scratch.pop_all().close)
            return scores

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work).result()


async def evaluate_async(
    model: str | ModelFunction, protocol: str | Protocol = "", dataset: str = "", **settings: Any
) -> Scores:
    """Evaluate as `evaluate` does, without blocking the event loop."""
    return await asyncio.to_thread(partial(evaluate, model, protocol, dataset, **settings))
