"""Comparing runs: pairs, flips, clusters of samples, how often the gate fails equal builds."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gradeschool.problem import Problem
from gradeschool.scoring.compare import Outcomes, compare, compare_unpaired, gate
from gradeschool.scoring.table import Tally
from tests.support.command import Command
from tests.support.compared_runs import Write, rights
from tests.support.compared_runs import dataset as dataset  # a fixture
from tests.support.compared_runs import write as write  # a fixture
from tests.support.files import jsonl


def test_the_pairs_and_the_flips(gradeschool: Command, write: Write, dataset: Path) -> None:
    """Accuracies, difference, the problems by name, and the exact test."""
    a, b = write("a", rights(*range(10))), write("b", rights(0, 1, 39))
    result = gradeschool.done("compare", a, b, "-d", dataset, "--json")
    (comparison,) = result.json()["comparisons"]
    assert [run["accuracy"] for run in result.json()["runs"]] == [0.75, 0.925]
    assert comparison["difference"] == pytest.approx(0.175)
    assert [change["problem"] for change in comparison["gained"]] == [str(i) for i in range(2, 10)]
    assert comparison["lost"] == [{"problem": "39", "before": 1.0, "after": 0.0}]
    assert comparison["p"] == pytest.approx(20 / 512)  # 1 of 9 flips the other way
    assert comparison["ci95"][0] < 0.175 < comparison["ci95"][1]
    shown = gradeschool("compare", a, b, "-d", dataset)
    assert "+17.50" in shown.out
    assert "better on: 2, 3, 4, 5, 6, 7, 8, 9" in shown.out
    assert "worse on: 39" in shown.out


def test_unequal_numbers_of_samples_have_one_accuracy(
    gradeschool: Command, dataset: Path, tmp_path: Path
) -> None:
    """`score`, `compare`, `runs curve`: the mean over problems, inside its interval."""
    paths = []
    for name, right in (("a", 1), ("b", 3)):
        rows = [{"index": 0, "sample": i, "completion": "#### 0"} for i in range(40)]
        rows += [
            {"index": i, "completion": f"#### {i if i < right else i + 1}"} for i in range(1, 10)
        ]
        paths.append(jsonl(tmp_path / f"{name}.jsonl", rows))
    asked = ("-d", dataset, "--scorer", "gradeschool/reader", "--json")
    compared = gradeschool("compare", *paths, *asked).json()
    (comparison,) = compared["comparisons"]
    for path, run, side in zip(paths, compared["runs"], "ab", strict=True):
        scored = gradeschool("score", path, *asked).json()["runs"][0]["scorers"]
        expected = scored["gradeschool/reader"]["accuracy"]
        (first, *_) = gradeschool("runs", "curve", path, *asked).json()["curves"][path.stem]
        assert run["accuracy"] == comparison[f"accuracy_{side}"] == first["maj"] == expected
        assert run["ci95"][0] < expected < run["ci95"][1]
    assert comparison["difference"] == pytest.approx(0.2)
    assert "each problem counts once" in gradeschool("compare", *paths, *asked[:-1]).out
    (alone,) = gradeschool("compare", *paths, *asked, "--unpaired").json()["comparisons"]
    assert alone["difference"] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("wrong", "options", "status", "line"),
    [
        (range(3), (), 0, "met: b against a: -7.50 points, one-sided p 0.125 (fails below"),
        (range(5), (), 1, "MISSED: b against a: -12.50 points, one-sided p 0.031 (fails below"),
        (range(0), (), 0, "met: b against a: +0.00 points"),
        (range(0), ("--margin", "12"), 0, "a loss of 12 is excluded"),
        (range(3), (), 0, "an equally good run needs 5,887 problems to exclude it with 80 % power"),
    ],
)
def test_the_gate_fails_what_is_significantly_worse(
    gradeschool: Command, write: Write, dataset: Path, wrong: Sequence[int],
    options: tuple[str, ...], status: int, line: str,
) -> None:  # fmt: skip
    """Chance alone does not fail a build, and too few problems to exclude a loss do not either."""
    good, build = write("a", rights()), write("b", rights(*wrong))
    done = gradeschool("compare", build, "--gate", good, *options, "-d", dataset)
    assert done.status == status
    assert line in done.out
    assert "met: b: 0 samples failed (0 in a), at most 0 are accepted" in done.out


def outcomes(name: str, corrects: Sequence[bool]) -> Outcomes:
    """One sample of each problem."""
    ids = [str(index) for index in range(len(corrects))]
    problems = {id: Problem(id, f"{id}?", "1", "#### 1") for id in ids}
    tallies = {id: Tally(int(right), 1) for id, right in zip(ids, corrects, strict=True)}
    return Outcomes(name, problems, tallies, 0)


def test_an_unpaired_difference_is_that_of_its_accuracies() -> None:
    """Texts on which the scorer fails are in neither."""
    a, b = outcomes("a", [True, False]), outcomes("b", [True, True, False])
    failing = replace(a, scorer_errors={"7": 2})
    [pair] = compare_unpaired([failing, b])
    assert (pair.accuracy_a, pair.accuracy_b) == (1 / 2, 2 / 3)
    assert pair.difference == pytest.approx(1 / 6)


def gated(draw: random.Random, good: Sequence[float], build: Sequence[float]) -> bool:
    """Whether a build fails the gate; both are probabilities of the problems to be right."""
    runs = [
        outcomes(name, [draw.random() < chance for chance in chances])
        for name, chances in (("good", good), ("build", build))
    ]
    return not all(threshold.met for threshold in gate(runs, compare(runs), 1.0))


@pytest.mark.slow
def test_200_equal_builds_fail_the_gate_at_the_stated_rate() -> None:
    """5 % at most, one-sided; the exact test stays below it. A loss of 4 points is found."""
    draw = random.Random(200)
    chances = [draw.betavariate(4, 1) for _ in range(600)]
    alarms = sum(gated(draw, chances, chances) for _ in range(200))
    worse = [max(0.0, chance - 0.06) for chance in chances]
    found = sum(gated(draw, chances, worse) for _ in range(60))
    print(f"{alarms} of 200 equal builds fail, {found} of 60 that are 6 points worse")
    assert 0 < alarms <= 18  # binomial, 10 expected at most: more than 18 in 1 of 200 suites
    assert found >= 45


def test_one_id_of_two_is_refused(gradeschool: Command, dataset: Path, tmp_path: Path) -> None:
    """Runs that carry different problems of their own under one id are not paired."""
    from gradeschool.errors import InputError

    def run(gold: str) -> Outcomes:
        problem = Problem("7", f"What is {gold}?", gold, f"#### {gold}")
        return Outcomes(gold, {"7": problem}, {"7": Tally(1, 1)}, 0)

    with pytest.raises(InputError, match="use the id '7' for different problems"):
        compare([run("1"), run("2")])


@pytest.mark.slow
@pytest.mark.official
def test_the_published_solutions(gradeschool: Command, data: Path) -> None:
    """6B verification against 175B fine-tuning: 4.3 points."""
    solutions = data / "gsm8k" / "example_model_solutions.jsonl"
    result = gradeschool(
        "compare", f"{solutions}#175b_finetuning", f"{solutions}#6b_verification",
        "--scorer", "openai/example-solutions", "--json",
    ).json()  # fmt: skip
    (comparison,) = result["comparisons"]
    assert comparison["n"] == 1319
    assert comparison["difference"] == pytest.approx((515 - 458) / 1319)
    assert len(comparison["gained"]) - len(comparison["lost"]) == 515 - 458
    assert comparison["p"] < 0.01
