"""ProcessBench and files like it: the first wrong step of solutions (arXiv 2412.06559).

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
from itertools import accumulate, pairwise
from math import exp, inf, isfinite
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.datasets.step_labels import (
    NO_ERROR,
    LabelledSteps,
    labelled_steps,
    load_step_labels,
)
from gradeschool.errors import InputError
from gradeschool.formats.own_run import manifest_of, stored_completions
from gradeschool.formats.settings import mapping
from gradeschool.formats.tables import read_rows
from gradeschool.percentages import count
from gradeschool.protocols.processbench import majority
from gradeschool.scoring.statistics import Interval, bootstrap
from gradeschool.verifier.base_model import needs_training_packages
from gradeschool.verifier.data import encode_steps
from gradeschool.verifier.rank import Bucket, calibrate
from gradeschool.verifier.scores import StepReader, TokenReader, load_reader
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

    generators: results by the model that wrote the solutions. calibration, auc: of the first wrong
    step against the steps before it, if there are scores; later steps have no label. unanswered:
    rows without a prediction, which count as missed.
    """

    name: str
    whole: StepResult
    generators: Mapping[str, StepResult]
    thresholds: Sequence[float] | None
    calibration: Sequence[Bucket]
    auc: float | None
    unanswered: int


def bench(
    rows: Sequence[LabelledSteps], predictions: Predictions, resamples: int = RESAMPLES
) -> BenchResult:
    """Return the results of predictions, in the order of the rows."""
    both = list(zip(rows, predictions.first_wrong, strict=True))
    values: list[float] = []  # of the steps that have a label
    right: list[bool] = []
    for row, steps in zip(rows, predictions.scores or (), strict=False):
        last = len(row.steps) if row.label == NO_ERROR else row.label + 1
        values += (steps or ())[:last]
        right += [number != row.label for number in range(len((steps or ())[:last]))]
    generators = sorted({row.generator for row in rows})
    return BenchResult(
        predictions.name,
        _result(both, resamples),
        {name: _result([each for each in both if each[0].generator == name], resamples)
         for name in generators},
        predictions.thresholds,
        calibrate(values, right),
        auc(values, right),
        sum(prediction is None for prediction in predictions.first_wrong),
    )  # fmt: skip


class _Counts(NamedTuple):
    """Numbers of rows of a problem: erroneous, exactly predicted, correct, predicted as correct."""

    erroneous: int
    exact: int
    correct: int
    passed: int


Predicted = Iterable[tuple[LabelledSteps, int | None]]


def _result(predicted: Predicted, resamples: int) -> StepResult:
    clusters: dict[str, list[tuple[LabelledSteps, int | None]]] = {}
    for row, prediction in predicted:
        clusters.setdefault(row.problem, []).append((row, prediction))
    by_problem = [_count(cluster) for cluster in clusters.values()]
    total = _Counts(*map(sum, zip(*by_problem, strict=True)))
    f1 = f1_score(by_problem)
    return StepResult(
        f1,
        None if f1 is None else bootstrap(by_problem, f1_score, resamples=resamples),
        total.exact / total.erroneous if total.erroneous else 0.0,
        total.passed / total.correct if total.correct else 0.0,
        total.erroneous,
        total.correct,
    )


def _count(predicted: Predicted) -> _Counts:
    counts = [0, 0, 0, 0]
    for row, prediction in predicted:
        place = 2 if row.label == NO_ERROR else 0
        counts[place] += 1
        counts[place + 1] += prediction == row.label
    return _Counts(*counts)


def f1_score(counts: Iterable[_Counts]) -> float | None:
    """Return the harmonic mean of both accuracies, 0 if both are 0; None without both kinds."""
    total = _Counts(*map(sum, zip(*counts, strict=True)))
    if not total.erroneous or not total.correct:
        return None
    shares = total.exact / total.erroneous, total.passed / total.correct
    return 2 * shares[0] * shares[1] / sum(shares) if any(shares) else 0.0


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
    # A score that is not lower than all before it never decides.
    candidates = sorted({
        score for steps in scores if steps
        for score, lowest in zip(steps, accumulate((inf, *steps), min), strict=False)
        if score < lowest
    })  # fmt: skip
    if not candidates:
        raise InputError(
            "no solution has scores from which to choose a threshold; give --threshold, or more "
            "solutions with scores (null: the solution was not scored, or is too long)"
        )
    middles = ((low + high) / 2 for low, high in pairwise(candidates))
    edges = [candidates[0], *middles, candidates[-1] + 1.0]
    results = []
    for edge in edges:
        predictions = [first_below(steps, edge) for steps in scores]
        results.append(f1_score([_count(zip(rows, predictions, strict=True))]) or 0.0)
    best = [edge for edge, f1 in zip(edges, results, strict=True) if f1 == max(results)]
    return best[len(best) // 2]


def assign_fold(problem: str) -> int:
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
    folds = [assign_fold(row.problem) for row in rows]
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


# The solutions


def load_solutions(spec: str, limit: int | None) -> Sequence[LabelledSteps]:
    """Return labelled solutions: of "processbench", its part on GSM8K, or of a file.

    The file has rows of ProcessBench (any part) or of PRMBench (arXiv 2501.03124: its modified
    solutions, with the first of their error_steps, and each original one as a correct solution).
    limit: at most this many, evenly spread, because files have erroneous rows first. Raises
    InputError for a file that cannot be read, DataError for other rows.
    """
    if spec == "processbench":
        rows = load_step_labels()
    elif Path(spec).is_file():
        by_id: dict[str, LabelledSteps] = {}
        for fields in _read_fields(Path(spec)):
            for row in _prmbench(fields) if "error_steps" in fields else [labelled_steps(fields)]:
                by_id.setdefault(row.id, row)
        rows = list(by_id.values())
    else:
        raise InputError(f"there is no benchmark {spec!r}; give processbench, or a file with rows "
                         "of ProcessBench or PRMBench")  # fmt: skip
    if limit is None or limit >= len(rows):
        return rows
    return [rows[number * len(rows) // limit] for number in range(limit)]


def _read_fields(path: Path) -> list[Mapping[str, Any]]:
    """Return the rows of a file; raises InputError for one that is no JSON object, and for none."""
    found = []
    with closing(read_rows(path)) as lines:
        for line in lines:
            if line.fault:
                raise InputError(
                    f"row {line.number} of {str(path)!r} {line.fault}; fix or remove it"
                )
            found.append(line.fields)
    if not found:
        raise InputError(f"{str(path)!r} has no rows; give one for each solution")
    return found


def _prmbench(fields: Mapping[str, Any]) -> list[LabelledSteps]:
    """Return a row's modified solution, and its original one; steps are counted from 1 there."""
    errors, kind, id = fields.get("error_steps"), fields.get("classification"), fields.get("idx")
    label = min((step for step in errors if isinstance(step, int)), default=0) - 1 if (
        isinstance(errors, list)) else NO_ERROR  # fmt: skip
    changed = {"id": f"{kind}_{id}", "generator": kind, "problem": fields.get("modified_question"),
               "steps": fields.get("modified_process"), "label": label}  # fmt: skip
    original = {"id": f"correct_{id}", "generator": "correct", "label": NO_ERROR,
                "problem": fields.get("original_question"),
                "steps": fields.get("original_process")}  # fmt: skip
    return [labelled_steps(changed), labelled_steps(original)]


# Sources of scores or predictions


Source = Callable[[Sequence[LabelledSteps], float | None, Callable[[int, int], None]], Predictions]
ScoreSteps = Callable[[Sequence[LabelledSteps]], Sequence[StepScores | None]]
TOGETHER = 40  # solutions scored between two progress reports


def load_sources(
    verifiers: Sequence[str] = (),
    generators: Sequence[str] = (),
    reward_models: Sequence[str] = (),
    critics: Sequence[str] = (),
    predictions: Sequence[str] = (),
    form: str | None = None,
) -> list[Source]:
    """Return a function for each source of predictions; raises InputError.

    generators: by their log-probabilities. form: of the reward models, None to detect it. critics:
    runs. predictions: files. Models are loaded here, so that errors occur before anything is
    scored.
    """
    for path in (*critics, *predictions):
        if not Path(path).exists():
            raise InputError(f"there is no {path!r}; give a run folder or a file")
    found = [(reader.name, partial(verifier_scores, reader))
             for reader in [load_reader(spec, "verifier") for spec in verifiers]]  # fmt: skip
    found += [(f"log-probability {reader.name}", partial(logprob_scores, reader))
              for reader in [load_reader(spec, "generator") for spec in generators]]  # fmt: skip
    sources: list[Source] = [_score(name, score) for name, score in found]
    for folder in reward_models:
        needs_training_packages()
        from gradeschool.verifier.reward_models import RewardModel

        model = RewardModel(Path(folder), form)
        sources.append(_score(model.name, partial(_reward_scores, model)))
    sources += [partial(critic_predictions, Path(run)) for run in critics]
    sources += [partial(check_predictions, name, by_id, Path(file)) for file in predictions
                for name, by_id in read_predictions(Path(file)).items()]  # fmt: skip
    return sources


def _reward_scores(model: StepReader, rows: Sequence[LabelledSteps]) -> list[list[float]]:
    return model.step_scores([(row.problem, row.steps) for row in rows])


def _score(name: str, score: ScoreSteps) -> Source:
    """Return a function that scores rows chunk by chunk and predicts from the scores."""

    def measure(
        rows: Sequence[LabelledSteps],
        threshold: float | None,
        tell: Callable[[int, int], None],
    ) -> Predictions:
        scores: list[StepScores | None] = []
        for start in range(0, len(rows), TOGETHER):
            scores += score(rows[start : start + TOGETHER])
            tell(len(scores), len(rows))
        return predict(name, rows, scores, threshold)

    return measure


def verifier_scores(reader: TokenReader, rows: Sequence[LabelledSteps]) -> list[StepScores | None]:
    """Return a verifier's value at the last token of each step; None for a row that is too long."""
    return _by_step(reader, rows, reader.values, lambda values: values[-1])


def logprob_scores(reader: TokenReader, rows: Sequence[LabelledSteps]) -> list[StepScores | None]:
    """Return the geometric mean of the probabilities of each step's tokens, from 0 to 1.

    None for a row longer than the model's context.
    """
    return _by_step(reader, rows, reader.logprobs, lambda part: exp(sum(part) / len(part)))


def _by_step(
    reader: TokenReader,
    rows: Sequence[LabelledSteps],
    read: Callable[..., list[list[float]]],
    reduce: Callable[[Sequence[float]], float],
) -> list[StepScores | None]:
    """Return a number for the tokens of each step; a step without tokens has the previous one's."""
    texts = [encode_steps(reader.tokenizer, row.problem, row.steps) for row in rows]
    most = reader.context or inf
    readable = [len(each.text.question) + len(each.text.solution) <= most for each in texts]
    by_token = iter(read([each.text for each, fits in zip(texts, readable, strict=True) if fits]))
    found: list[StepScores | None] = []
    for each, fits in zip(texts, readable, strict=True):
        if not fits:
            found.append(None)
            continue
        values, starts = next(by_token), (0, *each.ends)
        found.append([reduce(values[min(start, max(end, 1) - 1) : max(end, 1)])
                      for start, end in zip(starts, each.ends, strict=False)])  # fmt: skip
    return found


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
    for fields in _read_fields(path):
        by_id = by_scorer.setdefault(str(fields.get("scorer", path.stem)), {})
        id = str(fields.get("id"))
        if id in by_id:
            raise InputError(f"{str(path)!r} has {id!r} twice; give one row, or name scorers")
        by_id[id] = fields
    return by_scorer


def check_predictions(
    name: str,
    by_id: RowsById,
    path: Path,
    rows: Sequence[LabelledSteps],
    threshold: float | None,
    *_: Any,
) -> Predictions:
    """Return the predictions in a scorer's rows of a file.

    Raises InputError for a row that is missing, and for one with neither scores nor prediction.
    """
    if absent := [row.id for row in rows if row.id not in by_id]:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        raise InputError(
            f"{str(path)!r} has no row for {absent[0]!r}{more}; give one for each solution"
        )
    scored = ["scores" in by_id[row.id] for row in rows]
    if not any(scored):
        return Predictions(name, [_prediction(by_id[row.id], row, path) for row in rows])
    if not all(scored):
        raise InputError(
            f"{str(path)!r} has scores, but none for {rows[scored.index(False)].id!r}; give scores "
            "in every row (null for a solution that was not scored), or predictions alone"
        )
    scores: list[StepScores | None] = []
    for row in rows:
        found = by_id[row.id]["scores"]
        numbers = isinstance(found, list) and len(found) == len(row.steps) and all(
            isinstance(score, int | float) and isfinite(score) for score in found)  # fmt: skip
        if found is not None and not numbers:
            raise InputError(f"{str(path)!r} has {found!r:.60} as the scores of {row.id!r}; give a "
                             f"number for each of its {len(row.steps)} steps")  # fmt: skip
        scores.append(None if found is None else [float(score) for score in found])
    return predict(name, rows, scores, threshold)


def _prediction(fields: Mapping[str, Any], row: LabelledSteps, path: Path) -> int | None:
    found = fields.get("prediction", "nothing")
    if found is None:
        return None
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    if is_number and found in range(-1, len(row.steps)):
        return int(found)
    raise InputError(
        f"{str(path)!r} has {found!r:.60} as the prediction of {row.id!r}; give the number of its "
        f"first wrong step from 0 to {len(row.steps) - 1}, -1 for none, or null"
    )


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
