"""ProcessBench: measure how well step scorers find the first wrong step (arXiv 2412.06559).

The metric is F1, the harmonic mean of two accuracies: on erroneous solutions, the share whose first
wrong step is predicted exactly; on correct solutions, the share predicted to have no wrong step. A
scorer gives every step a number; the first step below a threshold is predicted to be wrong. The
threshold is never chosen on the reported rows: each half of the problems uses the threshold from
the other half.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import pairwise
from math import exp, inf, isfinite
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.datasets.step_labels import NO_ERROR, LabelledSteps, load_step_labels
from gradeschool.errors import InputError
from gradeschool.formats.own_run import manifest_of, stored_completions
from gradeschool.formats.settings import mapping
from gradeschool.formats.tables import read_rows
from gradeschool.percentages import count
from gradeschool.protocols.processbench import majority
from gradeschool.scoring.statistics import Interval, bootstrap
from gradeschool.verifier.base_model import needs_training_packages
from gradeschool.verifier.data import SolutionTokens, encode_steps
from gradeschool.verifier.rank import Bucket, calibration
from gradeschool.verifier.scores import ScoringProgress, TokenReader, load_reader
from gradeschool.verifier.select import auc

RESAMPLES = 2_000
FOLDS = 2


StepScores = Sequence[float]


class Predictions(NamedTuple):
    """A scorer's predictions for each row: the first wrong step, NO_ERROR, or None for no answer.

    scores: by row, of each step, None for a row that could not be scored; None if the source gives
    only predictions. thresholds: by fold, None without scores.
    """

    name: str
    first_wrong: Sequence[int | None]
    scores: Sequence[StepScores | None] | None = None
    thresholds: Sequence[float] | None = None


class StepResult(NamedTuple):
    """F1 on some rows, with the two accuracies (shares of 1).

    f1: None without an erroneous or without a correct row. ci95: a bootstrap over problems, from
    the resamples with both kinds of rows; the thresholds are those of the predictions.
    """

    f1: float | None
    ci95: Interval | None
    error_accuracy: float
    correct_accuracy: float
    erroneous: int
    correct: int


class BenchResult(NamedTuple):
    """The results of one scorer.

    generators: results by the model that wrote the solutions. buckets, auc: of the first wrong step
    against the steps before it, if there are scores; later steps have no label. unanswered: rows
    without a prediction, which count as missed.
    """

    name: str
    whole: StepResult
    generators: Mapping[str, StepResult]
    thresholds: Sequence[float] | None
    buckets: Sequence[Bucket]
    auc: float | None
    unanswered: int


def bench(
    rows: Sequence[LabelledSteps], predictions: Predictions, resamples: int = RESAMPLES
) -> BenchResult:
    """Return the results of predictions, in the order of the rows."""
    generators = sorted({row.generator for row in rows})
    of_each = {
        name: [index for index, row in enumerate(rows) if row.generator == name]
        for name in generators
    }
    values, right = _labelled_scores(rows, predictions.scores or ())
    return BenchResult(
        predictions.name,
        _result(rows, predictions.first_wrong, resamples),
        {
            name: _result(
                [rows[index] for index in indexes],
                [predictions.first_wrong[index] for index in indexes],
                resamples,
            )
            for name, indexes in of_each.items()
        },
        predictions.thresholds,
        calibration(values, right),
        auc(values, right),
        sum(prediction is None for prediction in predictions.first_wrong),
    )


def spread_evenly(rows: Sequence[LabelledSteps], limit: int | None) -> Sequence[LabelledSteps]:
    """Return at most this many rows, evenly spread, because the file has erroneous rows first."""
    if limit is None or limit >= len(rows):
        return rows
    return [rows[number * len(rows) // limit] for number in range(limit)]


def f1_of(error_accuracy: float, correct_accuracy: float) -> float:
    """Return the harmonic mean of the accuracies, 0 if both are 0."""
    total = error_accuracy + correct_accuracy
    return 2 * error_accuracy * correct_accuracy / total if total else 0.0


class _Counts(NamedTuple):
    """Numbers of rows of a problem: erroneous, exactly predicted, correct, predicted as correct."""

    erroneous: int
    exact: int
    correct: int
    passed: int


def _result(
    rows: Sequence[LabelledSteps], first_wrong: Sequence[int | None], resamples: int
) -> StepResult:
    clusters: dict[str, list[tuple[LabelledSteps, int | None]]] = {}
    for row, prediction in zip(rows, first_wrong, strict=True):
        clusters.setdefault(row.problem, []).append((row, prediction))
    by_problem = list(map(_counted, clusters.values()))
    total = _added(by_problem)
    f1 = _f1(total)
    return StepResult(
        f1,
        None if f1 is None else bootstrap(by_problem, _f1_of_all, resamples=resamples),
        total.exact / total.erroneous if total.erroneous else 0.0,
        total.passed / total.correct if total.correct else 0.0,
        total.erroneous,
        total.correct,
    )


def _counted(predicted: Iterable[tuple[LabelledSteps, int | None]]) -> _Counts:
    counts = [0, 0, 0, 0]
    for row, prediction in predicted:
        place = 2 if row.label == NO_ERROR else 0
        counts[place] += 1
        counts[place + 1] += prediction == row.label
    return _Counts(*counts)


def _f1_of_all(counts: Iterable[_Counts]) -> float | None:
    return _f1(_added(counts))


def _added(counts: Iterable[_Counts]) -> _Counts:
    return _Counts(*map(sum, zip(*counts, strict=True)))


def _f1(counts: _Counts) -> float | None:
    if not counts.erroneous or not counts.correct:
        return None
    return f1_of(counts.exact / counts.erroneous, counts.passed / counts.correct)


def _labelled_scores(
    rows: Sequence[LabelledSteps], scores: Sequence[StepScores | None]
) -> tuple[list[float], list[bool]]:
    """Return the scores of the steps that have a label, and whether each step is right."""
    values, right = [], []
    for row, steps in zip(rows, scores, strict=False):
        last = len(row.steps) if row.label == NO_ERROR else row.label + 1
        for number, score in enumerate((steps or ())[:last]):
            values.append(score)
            right.append(number != row.label)
    return values, right


# From step scores to predictions


def first_below(scores: StepScores | None, threshold: float) -> int | None:
    """Return the number of the first step below a threshold, NO_ERROR if there is none.

    None without scores.
    """
    if scores is None:
        return None
    return next((number for number, score in enumerate(scores) if score < threshold), NO_ERROR)


def best_threshold(rows: Sequence[LabelledSteps], scores: Sequence[StepScores | None]) -> float:
    """Return the threshold with the highest F1 on these rows, the middle one among equals."""
    candidates = sorted({score for steps in scores for score in _lowest_so_far(steps or ())})
    if not candidates:
        raise InputError(
            "no solution has scores from which to choose a threshold; give --threshold, or more "
            "solutions with scores (null: the solution was not scored, or is too long)"
        )
    edges = [
        candidates[0],
        *((low + high) / 2 for low, high in pairwise(candidates)),
        candidates[-1] + 1.0,
    ]
    results = [_f1_at(rows, scores, edge) for edge in edges]
    best = [edge for edge, f1 in zip(edges, results, strict=True) if f1 == max(results)]
    return best[len(best) // 2]


def _lowest_so_far(steps: Sequence[float]) -> Iterable[float]:
    """Yield the scores that are lower than all before them; the others never matter."""
    lowest = float("inf")
    for score in steps:
        if score < lowest:
            lowest = score
            yield score


def _f1_at(
    rows: Sequence[LabelledSteps], scores: Sequence[StepScores | None], threshold: float
) -> float:
    predictions = (first_below(steps, threshold) for steps in scores)
    return _f1(_counted(zip(rows, predictions, strict=True))) or 0.0


def fold_of(problem: str) -> int:
    """Return the fold of a problem, which depends only on its text."""
    return hashlib.sha256(problem.encode()).digest()[0] % FOLDS


def predict(
    name: str,
    rows: Sequence[LabelledSteps],
    scores: Sequence[StepScores | None],
    threshold: float | None = None,
) -> Predictions:
    """Return the predictions of a scorer's scores.

    threshold: for all rows; None chooses a threshold for each fold on the other fold.
    """
    if threshold is not None:
        first = [first_below(steps, threshold) for steps in scores]
        return Predictions(name, first, scores, (threshold,))
    folds = [fold_of(row.problem) for row in rows]
    thresholds = []
    for fold in range(FOLDS):
        others = [index for index, of_row in enumerate(folds) if of_row != fold]
        thresholds.append(
            best_threshold([rows[index] for index in others], [scores[index] for index in others])
        )
    first = [
        first_below(steps, thresholds[fold]) for steps, fold in zip(scores, folds, strict=True)
    ]
    return Predictions(name, first, scores, thresholds)


# Sources of scores or predictions


Measured = Callable[
    [Sequence[LabelledSteps], float | None, Callable[[ScoringProgress], None]], Predictions
]
TOGETHER = 40  # solutions scored between two progress reports


class BenchSources(NamedTuple):
    """The sources to measure: verifiers, generators, reward models, critics' runs, predictions.

    form: of the reward models, None to detect it.
    """

    verifiers: Sequence[str] = ()
    generators: Sequence[str] = ()
    reward_models: Sequence[str] = ()
    critics: Sequence[str] = ()
    predictions: Sequence[str] = ()
    form: str | None = None

    def load(self) -> list[Measured]:
        """Return a function for each source that returns its predictions; raises InputError.

        Models are loaded here, so that errors occur before anything is scored.
        """
        for path in (*self.critics, *self.predictions):
            if not Path(path).exists():
                raise InputError(f"there is no {path!r}; give a run folder or a file")
        readers = [load_reader(spec, "verifier") for spec in self.verifiers]
        generators = [load_reader(spec, "generator") for spec in self.generators]
        return [
            *(_by_scores(reader.name, partial(verifier_scores, reader)) for reader in readers),
            *(
                _by_scores(f"log-probability {reader.name}", partial(logprob_scores, reader))
                for reader in generators
            ),
            *(_by_reward_model(Path(folder), self.form) for folder in self.reward_models),
            *(partial(critic_predictions, Path(run)) for run in self.critics),
            *(
                partial(predictions_of, name, by_id, Path(file))
                for file in self.predictions
                for name, by_id in read_predictions(Path(file)).items()
            ),
        ]


def _by_scores(
    name: str, score: Callable[[Sequence[LabelledSteps]], Sequence[StepScores | None]]
) -> Measured:
    """Return a function that scores rows chunk by chunk and predicts from the scores."""

    def measure(
        rows: Sequence[LabelledSteps],
        threshold: float | None,
        tell: Callable[[ScoringProgress], None],
    ) -> Predictions:
        scores: list[StepScores | None] = []
        for start in range(0, len(rows), TOGETHER):
            scores += score(rows[start : start + TOGETHER])
            tell(ScoringProgress(len(scores), len(rows), 0))
        return predict(name, rows, scores, threshold)

    return measure


def _by_reward_model(folder: Path, form: str | None) -> Measured:
    needs_training_packages()
    from gradeschool.verifier.reward_models import RewardForm, RewardModel

    reward = RewardModel(folder, RewardForm(form) if form else None)
    return _by_scores(
        reward.name, lambda rows: reward.step_scores([(row.problem, row.steps) for row in rows])
    )


def verifier_scores(reader: TokenReader, rows: Sequence[LabelledSteps]) -> list[StepScores | None]:
    """Return a verifier's value at the last token of each step; None for a row that is too long."""

    def of_steps(ends: Sequence[int], values: Sequence[float]) -> StepScores:
        return [values[max(end, 1) - 1] for end in ends]

    return _by_step(reader, rows, reader.values, of_steps)


def logprob_scores(reader: TokenReader, rows: Sequence[LabelledSteps]) -> list[StepScores | None]:
    """Return the geometric mean of the probabilities of each step's tokens, from 0 to 1.

    A step without tokens has the probability 1; None for a row longer than the model's context.
    """

    def of_steps(ends: Sequence[int], logprobs: Sequence[float]) -> StepScores:
        parts = [logprobs[start:end] for start, end in zip((0, *ends), ends, strict=False)]
        return [exp(sum(part) / len(part)) if part else 1.0 for part in parts]

    return _by_step(reader, rows, reader.logprobs, of_steps)


def _by_step(
    reader: TokenReader,
    rows: Sequence[LabelledSteps],
    read: Callable[[Sequence[SolutionTokens]], list[list[float]]],
    of_steps: Callable[[Sequence[int], Sequence[float]], StepScores],
) -> list[StepScores | None]:
    texts = [encode_steps(reader.tokenizer, row.problem, row.steps) for row in rows]
    most = reader.context or inf
    fits = [len(steps.text.question) + len(steps.text.solution) <= most for steps in texts]
    readable = [steps for steps, is_short in zip(texts, fits, strict=True) if is_short]
    by_token = iter(read([steps.text for steps in readable]))
    return [
        of_steps(steps.ends, next(by_token)) if is_short else None
        for steps, is_short in zip(texts, fits, strict=True)
    ]


def critic_predictions(run: Path, rows: Sequence[LabelledSteps], *_: Any) -> Predictions:
    """Return the majority prediction of a run's critiques of each row; see protocols/processbench.

    Raises InputError for a run on another dataset, or without a critique.
    """
    if mapping(manifest_of(run).get("dataset")).get("name") != "processbench":
        raise InputError(
            f"{str(run)!r} is not a run on the dataset 'processbench'; make one: gradeschool eval "
            "-p processbench/gsm8k -d processbench -m MODEL"
        )
    critiques: dict[str, dict[int, str]] = {}
    for completion in stored_completions(run).values():
        if not completion.error:
            samples = critiques.setdefault(completion.problem_id, {})
            samples[completion.sample] = completion.text
    if not any(row.id in critiques for row in rows):
        raise InputError(f"{str(run)!r} contains no critique; run the same eval command again")
    ordered = [critiques.get(row.id, {}) for row in rows]
    first = [majority(samples[number] for number in sorted(samples)) for samples in ordered]
    most = max(map(len, ordered))
    return Predictions(f"critic {run.name}, {count(most, 'critique')}", first)


RowsById = Mapping[str, Mapping[str, Any]]


def read_predictions(path: Path) -> Mapping[str, RowsById]:
    """Return the rows of a JSONL file by scorer and id: "id" and "prediction" or "scores".

    Rows without "scorer" belong to the file's name. Raises InputError for rows that are not JSON
    objects, two rows for an id, and no row.
    """
    by_scorer: dict[str, dict[str, Mapping[str, Any]]] = {}
    with closing(read_rows(path)) as lines:
        for line in lines:
            if line.fault:
                raise InputError(
                    f"row {line.number} of {str(path)!r} {line.fault}; fix or remove it"
                )
            by_id = by_scorer.setdefault(str(line.fields.get("scorer", path.stem)), {})
            id = str(line.fields.get("id"))
            if id in by_id:
                raise InputError(f"{str(path)!r} has {id!r} twice; give one row, or name scorers")
            by_id[id] = line.fields
    if not by_scorer:
        raise InputError(f"{str(path)!r} has no rows; give one for each solution")
    return by_scorer


def predictions_of(
    name: str,
    by_id: RowsById,
    path: Path,
    rows: Sequence[LabelledSteps],
    threshold: float | None,
    *_: Any,
) -> Predictions:
    """Return the predictions in a scorer's rows of a file.

    Raises InputError for an id that the benchmark does not have, a row that is missing, and a row
    with neither scores nor prediction.
    """
    if unknown := by_id.keys() - {row.id for row in rows}:
        unknown -= {row.id for row in load_step_labels()}  # those that -n leaves out
        if unknown:
            raise InputError(
                f"{str(path)!r} has the id {min(unknown)!r}, which is not in ProcessBench's GSM8K "
                "part; give the ids of `gradeschool verifier bench processbench -o FILE`"
            )
    if absent := [row.id for row in rows if row.id not in by_id]:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        raise InputError(
            f"{str(path)!r} has no row for {absent[0]!r}{more}; give one for each solution"
        )
    scored = ["scores" in by_id[row.id] for row in rows]
    if all(scored):
        scores = [_scores(by_id[row.id], row, path) for row in rows]
        return predict(name, rows, scores, threshold)
    if any(scored):
        first = rows[scored.index(False)].id
        raise InputError(
            f"{str(path)!r} has scores, but none for {first!r}; give scores in every row (null for "
            "a solution that was not scored), or predictions alone"
        )
    return Predictions(name, [_prediction(by_id[row.id], row, path) for row in rows])


def _scores(fields: Mapping[str, Any], row: LabelledSteps, path: Path) -> StepScores | None:
    scores = fields["scores"]
    if scores is None:
        return None
    if (
        isinstance(scores, list)
        and len(scores) == len(row.steps)
        and all(isinstance(score, int | float) and isfinite(score) for score in scores)
    ):
        return [float(score) for score in scores]
    raise InputError(
        f"{str(path)!r} has {scores!r:.60} as the scores of {row.id!r}; give a number for each of "
        f"its {len(row.steps)} steps"
    )


def _prediction(fields: Mapping[str, Any], row: LabelledSteps, path: Path) -> int | None:
    advice = (
        f"give the number of its first wrong step from 0 to {len(row.steps) - 1}, -1 for none, or "
        "null"
    )
    if "prediction" not in fields:
        raise InputError(f"{str(path)!r} has neither scores nor prediction of {row.id!r}; {advice}")
    prediction = fields["prediction"]
    if prediction is None:
        return None
    is_number = isinstance(prediction, int | float) and not isinstance(prediction, bool)
    if is_number and prediction in range(-1, len(row.steps)):
        return int(prediction)
    raise InputError(f"{str(path)!r} has {prediction!r:.60} as the prediction of {row.id!r}; "
                     f"{advice}")  # fmt: skip


def prediction_rows(
    rows: Sequence[LabelledSteps], predictions: Sequence[Predictions]
) -> Iterable[str]:
    """Yield a JSON line for each row and scorer, as `read_predictions` reads them."""
    for scorer in predictions:
        for index, row in enumerate(rows):
            fields: dict[str, Any] = {"id": row.id, "scorer": scorer.name, "label": row.label}
            fields["prediction"] = scorer.first_wrong[index]
            if scorer.scores is not None:
                fields["scores"] = scorer.scores[index]
            yield json.dumps(fields) + "\n"
