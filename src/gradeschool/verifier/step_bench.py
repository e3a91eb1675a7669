"""ProcessBench, PRMBench and files like them: the wrong steps of solutions.

ProcessBench (arXiv 2412.06559) measures F1, the harmonic mean of two accuracies: on erroneous
solutions, the share whose first wrong step is predicted exactly; on correct solutions, the share
predicted to have no wrong step. PRMBench (arXiv 2501.03124) labels every step; its PRMScore is the
mean of the F1 of correct and of erroneous steps. A scorer gives every step a number; a step below a
threshold is predicted to be wrong. The threshold is never chosen on the reported rows: each half of
the problems uses the threshold from the other half.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from itertools import accumulate, pairwise
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.datasets.load import NO_ERROR, SOURCES, LabelledSteps, labelled_steps, locate
from gradeschool.errors import DataError, InputError
from gradeschool.formats.run_folder import manifest_of, stored_completions
from gradeschool.formats.tables import read_rows
from gradeschool.formats.values import mapping, shown, whole_number
from gradeschool.printable import count
from gradeschool.protocols.extractions import extract_critic_box, parse_index
from gradeschool.scoring.statistics import bootstrap
from gradeschool.verifier.data import QuestionSolution, encode_pairs, step_ends
from gradeschool.verifier.rank import auc
from gradeschool.verifier.scores import StepModel, TokenModel, load_verifier

RESAMPLES = 2_000
FOLDS = 2
ORIGINAL = "correct"  # the generator of PRMBench's solutions that were not modified
SOLUTIONS_AT_ONCE = 40  # solutions scored between two progress reports
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


def bench(
    rows: Sequence[LabelledSteps], predictions: Predictions, resamples: int = RESAMPLES
) -> dict[str, Any]:
    """Return the results of predictions, in the order of the rows; accuracies are shares of 1.

    An accuracy without a row is None, and so is f1 then. ci95: a bootstrap over problems, from the
    resamples with both kinds of rows; the thresholds are those of the predictions. auc: of the
    first wrong step against the steps before it, if there are scores; later steps have no label.
    unanswered: rows without a prediction, which count as missed. prm_score: see
    `measure_prm_score`.
    """
    values: list[float] = []  # of the steps that have a label
    right: list[bool] = []
    for row, steps in zip(rows, predictions.scores or (), strict=False):
        labelled = (steps or ())[: None if row.label == NO_ERROR else row.label + 1]
        values += labelled
        right += [number != row.label for number in range(len(labelled))]
    clusters: dict[str, list[tuple[LabelledSteps, int | None]]] = {}
    for row, prediction in zip(rows, predictions.first_wrong, strict=True):
        clusters.setdefault(row.problem, []).append((row, prediction))
    by_problem = [count_predicted(cluster) for cluster in clusters.values()]
    erroneous, exact, correct, passed = map(sum, zip(*by_problem, strict=True))
    f1 = f1_score(by_problem)
    return {
        "name": predictions.name,
        "f1": f1,
        "ci95": None if f1 is None else bootstrap(by_problem, f1_score, resamples=resamples),
        "error_accuracy": exact / erroneous if erroneous else None,
        "correct_accuracy": passed / correct if correct else None,
        "erroneous": erroneous,
        "correct": correct,
        "thresholds": predictions.thresholds,
        "auc": auc(values, right),
        "unanswered": sum(prediction is None for prediction in predictions.first_wrong),
        "prm_score": measure_prm_score(rows, predictions),
    }


# Numbers of rows of a problem: erroneous, exactly predicted, correct, predicted as correct.
Counts = tuple[int, int, int, int]


def count_predicted(predicted: Iterable[tuple[LabelledSteps, int | None]]) -> Counts:
    """Return the counts of rows with their predictions."""
    hits: dict[bool, list[bool]] = {True: [], False: []}  # whether predicted, by erroneous
    for row, prediction in predicted:
        hits[row.label != NO_ERROR].append(prediction == row.label)
    return len(hits[True]), sum(hits[True]), len(hits[False]), sum(hits[False])


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
    hits: Counter[bool] = Counter()  # steps predicted as labelled, by label
    missed = 0
    for row, scores in zip(rows, predictions.scores or (), strict=False):
        for number, score in enumerate(scores or () if row.errors is not None else ()):
            is_right = number not in (row.errors or ())
            if (score >= threshold_for(row, predictions.thresholds or ())) == is_right:
                hits[is_right] += 1
            else:
                missed += 1
    if not hits and not missed:
        return None
    f1, negative = (2 * hit / (2 * hit + missed) if hit else 0.0
                    for hit in (hits[True], hits[False]))  # fmt: skip
    return {"score": (f1 + negative) / 2, "f1": f1, "negative_f1": negative}


# From step scores to predictions


def first_below(scores: StepScores | None, threshold: float) -> int | None:
    """Return the first step below a threshold, NO_ERROR for none; None without scores."""
    if scores is None:
        return None
    return next((number for number, score in enumerate(scores) if score < threshold), NO_ERROR)


def best_threshold(scored: Sequence[tuple[LabelledSteps, StepScores | None]]) -> float:
    """Return the threshold with the highest F1 on these rows, the middle one among equals."""
    # A score that is not lower than all before it never decides.
    candidates = sorted({
        score for _, steps in scored if steps
        for score, lowest in zip(steps, accumulate((inf, *steps), min), strict=False)
        if score < lowest
    })  # fmt: skip
    if not candidates:
        raise InputError(
            "no solution has scores from which to choose a threshold; give --threshold, or more "
            "solutions that are not too long for the model"
        )
    middles = ((low + high) / 2 for low, high in pairwise(candidates))
    by_edge = {}
    for edge in (candidates[0], *middles, candidates[-1] + 1.0):
        counts = count_predicted((row, first_below(steps, edge)) for row, steps in scored)
        by_edge[edge] = f1_score([counts]) or 0.0
    best = [edge for edge, f1 in by_edge.items() if f1 == max(by_edge.values())]
    return best[len(best) // 2]


def assign_fold(problem: str) -> int:
    """Return the fold of a problem, which depends only on its text."""
    return hashlib.sha256(problem.encode()).digest()[0] % FOLDS


def threshold_for(row: LabelledSteps, thresholds: Sequence[float]) -> float:
    """Return the threshold of a row: the only one, or that of its problem's fold."""
    return thresholds[assign_fold(row.problem) if len(thresholds) > 1 else 0]


def predict(
    name: str,
    rows: Sequence[LabelledSteps],
    scores: Sequence[StepScores | None],
    threshold: float | None = None,
) -> Predictions:
    """Return the predictions of a scorer's scores.

    threshold: for all rows; None chooses a threshold for each fold on the other fold.
    """
    scored = list(zip(rows, scores, strict=True))
    thresholds = [threshold] if threshold is not None else [
        best_threshold([each for each in scored if assign_fold(each[0].problem) != fold])
        for fold in range(FOLDS)
    ]  # fmt: skip
    first = [first_below(steps, threshold_for(row, thresholds)) for row, steps in scored]
    return Predictions(name, first, scores, thresholds)


# The solutions


def load_solutions(spec: str, limit: int | None) -> Sequence[LabelledSteps]:
    """Return labelled solutions: of "processbench", its part on GSM8K, or of a file.

    The file has rows of ProcessBench (any part) or of PRMBench (arXiv 2501.03124: its modified
    solutions, with the first of their error_steps, and each original one as a correct solution).
    limit: at most this many, evenly spread, because files have erroneous rows first. Raises
    InputError for a file that cannot be read, for other rows, and for two rows of one id.
    """
    by_id: dict[str, LabelledSteps] = {}
    path = locate(SOURCES[spec]).path if spec == "processbench" else Path(spec)
    if not path.is_file():
        raise InputError(f"there is no file {spec!r}; give processbench, or a file like it")
    with closing(read_rows(path)) as lines:
        for line in lines:
            where = f"row {line.number} of {spec!r}"
            if line.fault:
                raise InputError(f"{where} {line.fault}; remove it")
            is_prm = "error_steps" in line.fields
            try:
                found = _prmbench(line.fields) if is_prm else [labelled_steps(line.fields)]
            except DataError as error:
                raise InputError(
                    f"{where} is no row of ProcessBench or PRMBench ({error}); remove it"
                ) from error
            for row in found:
                known = by_id.setdefault(row.id, row)
                if known != row and row.generator != ORIGINAL:
                    raise InputError(f"{where} has the id {row.id!r} of another row; give each "
                                     "solution its own")  # fmt: skip
    if not by_id:
        raise InputError(
            f"there are no labelled solutions in {spec!r}; give processbench, or a file with rows "
            "of ProcessBench or PRMBench"
        )
    rows = list(by_id.values())
    if limit is None or limit >= len(rows):
        return rows
    return [rows[number * len(rows) // limit] for number in range(limit)]


def _prmbench(fields: Mapping[str, Any]) -> list[LabelledSteps]:
    """Return a row's modified solution, and its original one; steps are counted from 1 there."""
    kind, id, listed = fields.get("classification"), fields.get("idx"), fields["error_steps"]
    numbers = [whole_number(step) for step in listed] if isinstance(listed, list) else [None]
    if any(number is None or number < 1 for number in numbers):
        raise DataError(f"its error_steps are {shown(listed)}, not a list of numbers from 1")
    errors = frozenset(number - 1 for number in numbers if number is not None)
    changed = {"id": f"{kind}_{id}", "generator": kind, "problem": fields.get("modified_question"),
               "steps": fields.get("modified_process"),
               "label": min(errors, default=NO_ERROR)}  # fmt: skip
    original = {"id": f"correct_{id}", "generator": ORIGINAL, "label": NO_ERROR,
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
    form: str | None = None,
    critics: Sequence[str] = (),
) -> list[Predictions]:
    """Return the predictions of models and critics; tell: is told how many of all rows are scored.

    verifiers: also published reward models; critics: runs, see `critic_predictions`. Raises
    InputError if nothing is given, and for models that cannot be used.
    """
    if not (verifiers or critics):
        raise InputError("no model is given; give --verifier or --critic")
    if threshold is not None and not verifiers:
        raise InputError("--threshold applies to scores, which critics do not give; leave it out")
    found = []
    for spec in verifiers:
        model = load_verifier(spec, form)
        scores: list[StepScores | None] = []
        for start in range(0, len(rows), SOLUTIONS_AT_ONCE):
            scores += score_steps(model, rows[start : start + SOLUTIONS_AT_ONCE])
            tell(len(scores), len(rows))
        found.append(predict(model.name, rows, scores, threshold))
    return found + [critic_predictions(Path(run), rows) for run in critics]


def score_steps(
    model: StepModel | TokenModel, rows: Sequence[LabelledSteps]
) -> list[StepScores | None]:
    """Return a number for each step: a verifier's value at its last token, or a reward model's.

    None for a row that is longer than the model's context. Raises InputError for a server that does
    not score steps.
    """
    if isinstance(model, StepModel):
        given = model.step_scores([(row.problem, row.steps) for row in rows])
        for row, scores in zip(rows, given, strict=True):
            if len(scores) != len(row.steps):
                raise InputError(
                    f"{model.name} gives {len(scores)} scores to a solution of {len(row.steps)} "
                    "steps; give a reward model that scores steps, and its --form"
                )
        return list(given)
    pairs = [QuestionSolution(row.problem, "\n".join(row.steps)) for row in rows]
    texts = encode_pairs(model.tokenizer, pairs)
    sizes = [len(text.question) + len(text.solution) for text in texts]
    fits = [model.context is None or size <= model.context for size in sizes]
    values = iter(model.values([text for text, fit in zip(texts, fits, strict=True) if fit]))
    found: list[StepScores | None] = []
    for row, text, fit in zip(rows, texts, fits, strict=True):
        ends = step_ends(model.tokenizer, row.steps, text.solution)
        by_token = next(values) if fit else []
        found.append([by_token[end - 1] for end in ends] if fit else None)
    return found


def majority(critiques: Iterable[str]) -> int | None:
    """Return the index that most critiques box; None if none boxes one.

    Boxes vote as strings, and the first wins a tie; critiques without a box do not vote.
    """
    boxes = Counter(box.value for box in map(extract_critic_box, critiques) if box is not None)
    return parse_index(boxes.most_common(1)[0][0]) if boxes else None


def critic_predictions(run: Path, rows: Sequence[LabelledSteps]) -> Predictions:
    """Return the majority prediction of a run's critiques of each row.

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
    return Predictions(f"critic {run.name}, {count(max(map(len, ordered)), 'critique')}", first)


def prediction_rows(
    rows: Sequence[LabelledSteps], predictions: Sequence[Predictions]
) -> Iterable[str]:
    """Yield a JSON line for each row and scorer, with its prediction and scores."""
    for scorer in predictions:
        for index, row in enumerate(rows):
            yield json.dumps({
                "id": row.id, "scorer": scorer.name, "label": row.label,
                "prediction": scorer.first_wrong[index],
                "scores": None if scorer.scores is None else scorer.scores[index],
            }) + "\n"  # fmt: skip
