"""ProcessBench, PRMBench and files like them: the wrong steps of solutions.

ProcessBench (arXiv 2412.06559) measures F1, the harmonic mean of two accuracies: on erroneous
solutions, the share whose first wrong step is predicted exactly; on correct solutions, the share
predicted to have no wrong step. PRMBench (arXiv 2501.03124) labels every step; its PRMScore is the
mean of the F1 of correct and of erroneous steps. A scorer gives every step a number; a step below a
threshold is predicted to be wrong. The threshold is never chosen on the reported rows: each half of
the problems uses the threshold from the other half.
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
from gradeschool.verifier.scores import TokenReader, load_reader
from gradeschool.verifier.select import auc

RESAMPLES = 2_000
FOLDS = 2
TOGETHER = 40  # solutions scored between two progress reports
StepScores = Sequence[float]


class Predictions(NamedTuple):
    """A scorer's predictions for each row: the first wrong step, NO_ERROR, or None for no answer.

    scores: by row, of each step, None for a row that could not be scored; None if the source gives
    only predictions. thresholds: by fold, or one for all; None without scores.
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
    rows without a prediction, which count as missed. prm_score: see `measure_prm_score`.
    """

    name: str
    whole: StepResult
    generators: Mapping[str, StepResult]
    thresholds: Sequence[float] | None
    calibration: Sequence[Bucket]
    auc: float | None
    unanswered: int
    prm_score: Mapping[str, float] | None = None


def bench(
    rows: Sequence[LabelledSteps], predictions: Predictions, resamples: int = RESAMPLES
) -> BenchResult:
    """Return the results of predictions, in the order of the rows."""
    both = list(zip(rows, predictions.first_wrong, strict=True))
    values: list[float] = []  # of the steps that have a label
    right: list[bool] = []
    for row, steps in zip(rows, predictions.scores or (), strict=False):
        labelled = (steps or ())[: None if row.label == NO_ERROR else row.label + 1]
        values += labelled
        right += [number != row.label for number in range(len(labelled))]
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
        measure_prm_score(rows, predictions),
    )  # fmt: skip


# Numbers of rows of a problem: erroneous, exactly predicted, correct, predicted as correct.
Counts = tuple[int, int, int, int]
Predicted = Iterable[tuple[LabelledSteps, int | None]]


def _result(predicted: Predicted, resamples: int) -> StepResult:
    clusters: dict[str, list[tuple[LabelledSteps, int | None]]] = {}
    for row, prediction in predicted:
        clusters.setdefault(row.problem, []).append((row, prediction))
    by_problem = [count_predicted(cluster) for cluster in clusters.values()]
    erroneous, exact, correct, passed = map(sum, zip(*by_problem, strict=True))
    f1 = f1_score(by_problem)
    return StepResult(
        f1,
        None if f1 is None else bootstrap(by_problem, f1_score, resamples=resamples),
        exact / erroneous if erroneous else 0.0,
        passed / correct if correct else 0.0,
        erroneous,
        correct,
    )


def count_predicted(predicted: Predicted) -> Counts:
    """Return the counts of rows with their predictions."""
    counts = [0, 0, 0, 0]
    for row, prediction in predicted:
        place = 2 if row.label == NO_ERROR else 0
        counts[place] += 1
        counts[place + 1] += prediction == row.label
    return (counts[0], counts[1], counts[2], counts[3])


def f1_score(counts: Iterable[Counts]) -> float | None:
    """Return the harmonic mean of both accuracies, 0 if both are 0; None without both kinds."""
    erroneous, exact, correct, passed = map(sum, zip(*counts, strict=True))
    if not erroneous or not correct:
        return None
    shares = exact / erroneous, passed / correct
    return 2 * shares[0] * shares[1] / sum(shares) if any(shares) else 0.0


def measure_prm_score(
    rows: Sequence[LabelledSteps], predictions: Predictions
) -> dict[str, float] | None:
    """Return PRMBench's score: the F1 of correct and of erroneous steps, and their mean.

    Over all steps of its modified solutions that have scores, at the thresholds of the predictions;
    that of the authors is 0.5 (ssmisya/PRMBench, mr_eval/tasks/prmtest_classified/task.py).
    None for rows whose steps are not all labelled, and without scores.
    """
    if not predictions.scores or not predictions.thresholds:
        return None
    counts = {True: [0, 0], False: [0, 0]}  # by label: predicted otherwise, and as labelled
    for row, scores in zip(rows, predictions.scores, strict=True):
        if row.errors is None or scores is None:
            continue
        folds = predictions.thresholds
        threshold = folds[assign_fold(row.problem) if len(folds) > 1 else 0]
        for number, score in enumerate(scores):
            is_right = number not in row.errors
            counts[is_right][(score >= threshold) == is_right] += 1
    if not any(map(sum, counts.values())):
        return None
    missed = counts[True][0] + counts[False][0]
    f1, negative = (2 * hit / (2 * hit + missed) if hit else 0.0
                    for hit in (counts[True][1], counts[False][1]))  # fmt: skip
    return {"score": (f1 + negative) / 2, "f1": f1, "negative_f1": negative}


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
        results.append(f1_score([count_predicted(zip(rows, predictions, strict=True))]) or 0.0)
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
        others = [index for index, number in enumerate(folds) if number != fold]
        thresholds.append(
            best_threshold([rows[index] for index in others], [scores[index] for index in others])
        )
    first = [first_below(steps, thresholds[fold])
             for steps, fold in zip(scores, folds, strict=True)]  # fmt: skip
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
    kind, id, listed = fields.get("classification"), fields.get("idx"), fields["error_steps"]
    errors = frozenset(step - 1 for step in listed if isinstance(step, int)) if isinstance(
        listed, list) else frozenset()  # fmt: skip
    changed = {"id": f"{kind}_{id}", "generator": kind, "problem": fields.get("modified_question"),
               "steps": fields.get("modified_process"),
               "label": min(errors, default=NO_ERROR)}  # fmt: skip
    original = {"id": f"correct_{id}", "generator": "correct", "label": NO_ERROR,
                "problem": fields.get("original_question"),
                "steps": fields.get("original_process")}  # fmt: skip
    return [labelled_steps(changed)._replace(errors=errors), labelled_steps(original)]


# Sources of scores or predictions


def predict_by_all(
    rows: Sequence[LabelledSteps],
    threshold: float | None,
    tell: Callable[[int, int], None],
    *,
    verifiers: Sequence[str] = (),
    generators: Sequence[str] = (),
    reward_models: Sequence[str] = (),
    critics: Sequence[str] = (),
    predictions: Sequence[str] = (),
    form: str | None = None,
) -> list[Predictions]:
    """Return the predictions of every source; raises InputError before anything is scored.

    generators: by their log-probabilities. form: of the reward models, None to detect it. critics:
    runs. predictions: files. tell: is told how many of all rows a model has scored.
    """
    for path in (*critics, *predictions):
        if not Path(path).exists():
            raise InputError(f"there is no {path!r}; give a run folder or a file")
    given = [critic_predictions(Path(run), rows) for run in critics]
    for file in predictions:
        given += file_predictions(Path(file), rows, threshold)
    models: list[tuple[str, Callable[..., Sequence[StepScores | None]]]] = []
    for spec in verifiers:
        reader = load_reader(spec, "verifier")
        models.append((reader.name, partial(verifier_scores, reader)))
    for spec in generators:
        reader = load_reader(spec, "generator")
        models.append((f"log-probability {reader.name}", partial(logprob_scores, reader)))
    for folder in reward_models:
        needs_training_packages()
        from gradeschool.verifier.reward_models import RewardModel

        model = RewardModel(Path(folder), form)
        models.append((model.name, partial(_reward_scores, model)))
    if not models and not given:
        raise InputError(
            "no scorer is given; give --verifier, --logprob, --reward-model, --critic or "
            "--predictions"
        )
    if threshold is not None and not models and all(each.scores is None for each in given):
        raise InputError(
            "--threshold applies to scores, and only predictions are given; leave it out"
        )
    found = []
    for name, score in models:
        scores: list[StepScores | None] = []
        for start in range(0, len(rows), TOGETHER):
            scores += score(rows[start : start + TOGETHER])
            tell(len(scores), len(rows))
        found.append(predict(name, rows, scores, threshold))
    return found + given


def _reward_scores(model: Any, rows: Sequence[LabelledSteps]) -> list[list[float]]:
    found: list[list[float]] = model.step_scores([(row.problem, row.steps) for row in rows])
    return found


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


def critic_predictions(run: Path, rows: Sequence[LabelledSteps]) -> Predictions:
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


def file_predictions(
    path: Path, rows: Sequence[LabelledSteps], threshold: float | None
) -> list[Predictions]:
    """Return the predictions of each scorer in a JSONL file with "id" and "prediction" or "scores".

    Rows without "scorer" belong to the file's name. Raises InputError for two rows for an id, a row
    that is missing, and one with neither scores nor prediction.
    """
    by_scorer: dict[str, dict[str, Mapping[str, Any]]] = {}
    for fields in _read_fields(path):
        by_id = by_scorer.setdefault(str(fields.get("scorer", path.stem)), {})
        id = str(fields.get("id"))
        if id in by_id:
            raise InputError(f"{str(path)!r} has {id!r} twice; give one row, or name scorers")
        by_id[id] = fields
    found = []
    for name, by_id in by_scorer.items():
        if absent := [row.id for row in rows if row.id not in by_id]:
            more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
            raise InputError(
                f"{str(path)!r} has no row for {absent[0]!r}{more}; give one for each solution"
            )
        without = [row.id for row in rows if "scores" not in by_id[row.id]]
        if len(without) == len(rows):
            first = [_prediction(by_id[row.id], row, path) for row in rows]
            found.append(Predictions(name, first))
            continue
        if without:
            raise InputError(
                f"{str(path)!r} has scores, but none for {without[0]!r}; give scores in every row "
                "(null for a solution that was not scored), or predictions alone"
            )
        scores = [_step_scores(by_id[row.id]["scores"], row, path) for row in rows]
        found.append(predict(name, rows, scores, threshold))
    return found


def _step_scores(written: Any, row: LabelledSteps, path: Path) -> StepScores | None:
    if written is None:
        return None
    is_list = isinstance(written, list) and len(written) == len(row.steps)
    if not is_list or not all(
        isinstance(score, int | float) and isfinite(score) for score in written
    ):
        raise InputError(
            f"{str(path)!r} has {written!r:.60} as the scores of {row.id!r}; give a number for "
            f"each of its {len(row.steps)} steps"
        )
    return [float(score) for score in written]


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
    """Yield a JSON line for each row and scorer, as `file_predictions` reads them."""
    for scorer in predictions:
        for index, row in enumerate(rows):
            fields: dict[str, Any] = {"id": row.id, "scorer": scorer.name, "label": row.label}
            fields["prediction"] = scorer.first_wrong[index]
            if scorer.scores is not None:
                fields["scores"] = scorer.scores[index]
            yield json.dumps(fields) + "\n"
