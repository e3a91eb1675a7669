"""ProcessBench: its metric by hand; thresholds, critics' votes, files."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gradeschool.completion import Completion, Finish
from gradeschool.datasets.load import NO_ERROR, LabelledSteps
from gradeschool.errors import InputError
from gradeschool.formats.run_folder import to_line
from gradeschool.verifier.data import SolutionTokens
from gradeschool.verifier.step_bench import (
    Predictions,
    assign_fold,
    bench,
    best_threshold,
    critic_predictions,
    f1_score,
    load_solutions,
    majority,
    predict,
    prediction_rows,
    score_steps,
)
from tests.support.command import Command
from tests.support.datasets import own_rows as own_rows  # a fixture
from tests.support.files import jsonl
from tests.support.fixtures import VERIFIER_NEEDS, skip_without


def row(label: int, steps: int = 3, problem: str = "", generator: str = "a") -> LabelledSteps:
    """A solution of so many steps whose first wrong one is the label."""
    id = f"gsm8k-{problem}-{label}-{steps}-{generator}"
    return LabelledSteps(
        id, generator, problem or id, tuple(f"Step {i}." for i in range(steps)), label
    )


ROWS = [
    row(0, generator="a"),
    row(1, generator="a"),
    row(2, generator="b"),
    row(1, 2, generator="b"),
    row(NO_ERROR, generator="a"),
    row(NO_ERROR, 2, generator="b"),
]


def test_f1_of_a_case_worked_out_by_hand() -> None:
    # Erroneous: 0 found, 1 found, 2 missed by one, 1 without a prediction: 2 of 4. Correct: 1 of 2.
    result = bench(ROWS, Predictions("hand", [0, 1, 1, None, NO_ERROR, 0]), resamples=200)
    assert (result["error_accuracy"], result["correct_accuracy"], result["f1"]) == (0.5, 0.5, 0.5)
    assert (result["erroneous"], result["correct"], result["unanswered"]) == (4, 2, 1)
    assert result["ci95"] is not None
    assert result["ci95"].low < 0.5 < result["ci95"].high
    erroneous = bench(ROWS[:4], Predictions("", [0, 1, 2, 1]), resamples=5)
    assert (erroneous["f1"], erroneous["ci95"]) == (None, None)


def test_f1_is_the_harmonic_mean_and_trivial_answers_have_none() -> None:
    assert f1_score([(4, 1, 4, 3)]) == pytest.approx(2 * 0.25 * 0.75)
    assert f1_score([(4, 0, 4, 0)]) == f1_score([(4, 0, 4, 4)]) == 0
    for first, accuracies in ((NO_ERROR, (0.0, 1.0)), (0, (0.25, 0.0))):
        found = bench(ROWS, Predictions("", [first] * 6), resamples=10)
        assert (found["error_accuracy"], found["correct_accuracy"]) == accuracies
        assert found["f1"] == 0.0


def test_the_best_threshold_is_that_of_all_that_matter() -> None:
    scores = [[0.2, 0.9, 0.9], [0.8, 0.3, 0.9], [0.9, 0.7, 0.1], [0.6, 0.2], [0.9] * 3, [0.5, 0.6]]
    threshold = best_threshold(list(zip(ROWS, scores, strict=True)))
    tried = [index / 50 for index in range(60)]
    best = max(
        bench(ROWS, predict("", ROWS, scores, each), resamples=2)["f1"] or 0 for each in tried
    )
    chosen = bench(ROWS, predict("", ROWS, scores, threshold), resamples=2)["f1"]
    assert chosen == best == 1.0
    with pytest.raises(InputError, match="choose a threshold"):
        best_threshold([])


def test_no_row_has_a_part_in_its_own_threshold() -> None:
    rows = [row(index % 3 - 1, 3, f"problem {index}") for index in range(40)]
    folds = [assign_fold(each.problem) for each in rows]
    assert {0, 1} == set(folds)
    scores = [[1.0 if each.label != number else 0.5 for number in range(3)] for each in rows]
    before = predict("", rows, scores)
    # What fold 0 scores decides the threshold of fold 1 alone.
    shifted = [
        [score - 10 for score in steps] if fold == 0 else steps
        for steps, fold in zip(scores, folds, strict=True)
    ]
    after = predict("", rows, shifted)
    assert before.thresholds is not None and after.thresholds is not None
    assert after.thresholds[0] == before.thresholds[0]
    assert after.thresholds[1] == before.thresholds[1] - 10
    assert before.first_wrong == [each.label for each in rows]


def test_steps_behind_the_first_wrong_one_have_no_label() -> None:
    rows = [row(1), row(NO_ERROR, 2)]
    result = bench(rows, predict("", rows, [[0.9, 0.1, 0.01], [0.9, 0.85]], 0.5), resamples=5)
    assert result["auc"] == 1.0


class Letters:
    """A tokenizer of letters; with an end token."""

    eos_token_id = 0

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(map(chr, tokens))

    def __call__(self, text: str | list[str], add_special_tokens: bool = True) -> dict[str, Any]:
        if isinstance(text, list):
            return {"input_ids": [self(each)["input_ids"] for each in text]}
        return {"input_ids": [ord(letter) for letter in text]}


class LetterModel:
    """A model whose value at a token is the token's number."""

    name = "letters"
    tokenizer = Letters()
    context: int | None = 40

    def values(self, texts: Sequence[SolutionTokens]) -> list[list[float]]:
        return [[float(token) for token in text.solution] for text in texts]


def test_a_step_has_the_value_of_its_last_token() -> None:
    rows = [
        LabelledSteps("1", "a", "Q", ("ab", "c"), 0),
        LabelledSteps("2", "a", "Q", ("x" * 60,), 0),
    ]
    model: Any = LetterModel()
    assert score_steps(model, rows) == [[10.0, 0.0], None]


class Whole:
    """A reward model that gives a solution one score."""

    name = "whole"

    def step_scores(self, solutions: Sequence[Any], last_only: bool = False) -> list[list[float]]:
        return [[0.5] for _ in solutions]


def test_a_scorer_of_whole_solutions_is_refused() -> None:
    with pytest.raises(InputError, match="whole gives 1 scores to a solution of 3 steps"):
        score_steps(Whole(), ROWS[:1])


def test_critiques_vote_as_upstream_counts_them() -> None:
    assert majority(["\\boxed{1}", "\\boxed{ 2 }", "no box", "\\boxed{2}"]) == 2
    assert majority(["\\boxed{3}", "\\boxed{1}"]) == 3  # the first seen of equals
    assert majority(["\\boxed{two}", "\\boxed{two}", "\\boxed{1}"]) is None
    assert majority(["nothing"]) is majority([]) is None


def test_predictions_are_written_by_row_and_scorer() -> None:
    scores = [[0.1, 0.9, 0.9], None, *[[0.9] * len(each.steps) for each in ROWS[2:]]]
    found = [predict("s", ROWS, scores, 0.5), Predictions("critic", [1] * len(ROWS))]
    rows = [json.loads(line) for line in prediction_rows(ROWS, found)]
    assert [row["id"] for row in rows] == 2 * [each.id for each in ROWS]
    assert rows[0] == {"id": ROWS[0].id, "scorer": "s", "label": 0, "prediction": 0,
                       "scores": [0.1, 0.9, 0.9]}  # fmt: skip
    assert (rows[1]["prediction"], rows[-1]["prediction"], rows[-1]["scores"]) == (None, 1, None)


def test_other_parts_and_prmbench_are_read_from_files(tmp_path: Path) -> None:
    part = tmp_path / "math.json"
    rows = [{"id": f"math-{n}", "generator": "m", "problem": f"P{n}", "steps": ["a", "b"],
             "label": n % 3 - 1} for n in range(10)]  # fmt: skip
    part.write_text(json.dumps(rows))
    assert [each.problem for each in load_solutions(str(part), 3)] == ["P0", "P3", "P6"]
    assert [each.label for each in load_solutions(str(part), None)][:3] == [-1, 0, 1]
    own = {"idx": "p_1", "classification": "confidence", "error_steps": [3, 2],
           "modified_question": "Q", "modified_process": ["a", "b", "c"],
           "original_question": "Q", "original_process": ["a", "b"]}  # fmt: skip
    file = jsonl(tmp_path / "prm.jsonl", [own, {**own, "classification": "circular"}])
    found = load_solutions(str(file), None)
    assert [(each.id, each.label) for each in found] == [
        ("confidence_p_1", 1), ("correct_p_1", NO_ERROR), ("circular_p_1", 1)]  # fmt: skip
    assert [each.errors for each in found] == [{1, 2}, None, {1, 2}]
    # Correct steps: 1 of 2 found, none predicted in vain; erroneous: 4 of 4, and 1 more.
    scored = [[0.4, 0.1, 0.2], [0.1, 0.1], [0.9, 0.1, 0.3]]
    result = bench(found, predict("", found, scored, 0.5), resamples=2)
    assert result["prm_score"] == pytest.approx(
        {"score": (2 / 3 + 8 / 9) / 2, "f1": 2 / 3, "negative_f1": 8 / 9}
    )
    assert bench(ROWS, predict("", ROWS, [[0.5] * 3] * 6, 0.1), resamples=2)["prm_score"] is None
    others: dict[str, list[Any]] = {
        "row 1 of .* is no row of ProcessBench or PRMBench": [{"text": "a"}],
        "row 2 of .* has the id 'math-1' of another row": [rows[1], {**rows[2], "id": "math-1"}],
        r"its error_steps are \['2', 'x'\], not": [{**own, "error_steps": ["2", "x"]}],
        r"its error_steps are \[0\], not a list of numbers from 1": [{**own, "error_steps": [0]}],
    }
    for said, listed in others.items():
        with pytest.raises(InputError, match=said):
            load_solutions(str(jsonl(tmp_path / "x.jsonl", listed)), None)
    words = load_solutions(str(jsonl(tmp_path / "x.jsonl", [{**own, "error_steps": ["2"]}])), None)
    assert words[0].errors == frozenset({1})
    with pytest.raises(InputError, match="there is no file 'mathbench'"):
        load_solutions("mathbench", None)


def test_critics_are_measured_and_refused_in_words(
    own_rows: list[dict[str, Any]], tmp_path: Path, gradeschool: Command
) -> None:
    run, out = tmp_path / "critic", tmp_path / "out.jsonl"
    run.mkdir()
    (run / "run.json").write_text(json.dumps({"schema": 1, "dataset": {"name": "processbench"}}))
    bench = ["verifier", "bench", "processbench"]
    with pytest.raises(InputError, match="contains no critique"):
        critic_predictions(run, load_solutions("processbench", None))
    with pytest.raises(InputError, match="not a run on the dataset 'processbench'"):
        critic_predictions(tmp_path, load_solutions("processbench", None))
    stored = [Completion(f"k{fields['id']}", fields["id"], 0, f"\\boxed{{{fields['label']}}}",
                         Finish.STOP) for fields in own_rows]  # fmt: skip
    (run / "completions.jsonl").write_bytes(b"".join(to_line(each, "?") for each in stored))
    ended = gradeschool.done(*bench, "--critic", run, "-o", out, "--json")
    result = ended.json()
    assert (result["solutions"], result["problems"]) == (12, 12)
    assert result["scorers"][0]["f1"] == 1.0
    assert len(out.read_text().splitlines()) == 12
    for more, message in (
        (("--critic", run, "-o", out), "exists"),
        ((), "no model is given"),
        (("--critic", run, "--threshold", 1), "which critics do not give"),
    ):
        assert message in gradeschool.refused(*bench, *more)
    assert "100.00 %" in gradeschool(*bench, "--critic", run).out


@pytest.mark.slow
def test_the_built_in_verifier_is_measured(
    own_rows: list[dict[str, Any]], gradeschool: Command
) -> None:
    skip_without(VERIFIER_NEEDS, "the built-in verifier")
    arguments = ["bench", "processbench", "--verifier", "tiny", "--json"]
    [verifier] = gradeschool("verifier", *arguments).json()["scorers"]
    assert verifier["name"].startswith("tiny-verifier@")
    assert len(verifier["thresholds"]) == 2 and 0 <= verifier["auc"] <= 1
    assert len(own_rows) == 12
