"""What a recipe's findings say: pooled over seeds by problem, and the report's words for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from gradeschool.reports.reproduction import write_report
from gradeschool.scoring.statistics import wilson_of_mean
from gradeschool.verifier.rank import curves_of
from gradeschool.verifier.reproduce.findings import SELECTION, Findings, Seed, findings
from gradeschool.verifier.reproduce.presets import LAPTOP
from gradeschool.verifier.selection import pick
from tests.support.recipe_seeds import PROBLEMS, seed


def by_name(results: Findings) -> dict[str, float]:
    return {strategy.name: strategy.accuracy for strategy in results.strategies}


def test_seeds_are_pooled_by_problem() -> None:
    first, second = seed(True, 30), seed(False, 30)
    alone, both = findings([first]), findings([first, second])
    assert by_name(alone)["best"] == 1
    assert by_name(both)["best"] == 0.5
    assert by_name(both)["mean"] == 0.25
    best = next(strategy for strategy in both.strategies if strategy.name == "best")
    assert list(best.by_seed) == [1, 0]
    assert best.over["generator"].difference == pytest.approx(0)
    assert best.over["majority"].problems == PROBLEMS
    assert set(both.families) == {"ages", "trips"}
    assert next(row for row in alone.mean_aucs if row.score == "verifier").within == 1


def mixed_seed(chance: Random) -> Seed:
    """One seed whose verifier is right on the first half of the problems alone."""
    good, bad = seed(True, 30), seed(False, 30)
    picked = [*good.picked[: PROBLEMS // 2], *bad.picked[PROBLEMS // 2 :]]
    return good._replace(picked=chance.sample(picked, PROBLEMS))


def test_curves_pair_the_same_problems_of_all_seeds_in_whatever_order_they_are_stored() -> None:
    chance = Random(0)
    first, second = mixed_seed(chance), mixed_seed(chance)
    ordered = second._replace(
        picked=sorted(second.picked, key=lambda outcome: outcome.case.problem)
    )
    expected, mixed = findings([ordered, ordered]), findings([first, second])
    assert mixed.over_completions == expected.over_completions
    assert mixed.over_voters == expected.over_voters
    # A problem that one seed lacks takes no part.
    fewer = findings([first, second._replace(picked=second.picked[1:])])
    assert fewer.problems == PROBLEMS - 1
    assert fewer.over_completions["best"][-1].problems == PROBLEMS - 1
    assert fewer.over_voters[0].problems == PROBLEMS - 1


def test_an_auc_of_0_is_0_and_none_is_shown_where_there_is_none(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    measured = seed(True, 15)
    aucs = {row.score: row for row in findings([measured]).mean_aucs}
    assert (aucs["verifier"].overall, aucs["logprob"].within) == (1, 0)
    wrong = [
        pick(
            outcome.case._replace(
                options=[option._replace(right=False) for option in outcome.case.options]
            ),
            True,
            SELECTION,
            (1, 2, 4),
        )
        for outcome in measured.picked
    ]
    all_wrong = measured._replace(picked=wrong)
    assert findings([measured, all_wrong]).mean_aucs == findings([measured]).mean_aucs
    results = findings([all_wrong])
    assert {(row.overall, row.within) for row in results.mean_aucs} == {(None, None)}
    path = write_report(tmp_path, replace(LAPTOP, seeds=(0,)), {"test": results}, {})
    assert "| verifier |  |  |" in path.read_text().splitlines()


def test_log_probabilities_that_one_seed_lacks_have_no_results() -> None:
    measured = seed(True, 15)
    picked = [pick(outcome.case, False, SELECTION, (1, 2, 4)) for outcome in measured.picked]
    lacking = measured._replace(picked=picked, has_logprob=False)
    for seeds in ([measured, lacking], [lacking, measured]):
        results = findings(seeds)
        assert [row.score for row in results.mean_aucs] == ["verifier"]
        assert "best" in by_name(results)
        assert not {"logprob", "sum"} & {*by_name(results), *results.over_completions}


def test_points_of_fewer_completions_are_means_over_more_disjoint_sets() -> None:
    chance = Random(0)
    alone = mixed_seed(chance)
    ordered = sorted(alone.picked, key=lambda outcome: outcome.case.problem)
    expected = curves_of(ordered, 4)
    curves = findings([alone]).over_completions
    assert curves == {name: expected[name] for name in curves}
    first, last = findings([alone] * 3).over_completions["best"][::2]
    assert (first.n, last.n) == (1, 4)
    assert first.ci95 == wilson_of_mean([0.25] * PROBLEMS, PROBLEMS * 3 * 4)
    assert last.ci95 == wilson_of_mean([1.0, 0.0] * (PROBLEMS // 2), PROBLEMS * 3)


@pytest.mark.parametrize("changed", [0, PROBLEMS - 1])
def test_a_problem_of_fewer_completions_counts_where_it_has_enough(changed: int) -> None:
    """Of its three completions the last is right: it counts at 1 and 2, not at 4."""
    full = seed(True, 30)
    picked = list(full.picked)
    case = picked[changed].case
    fewer = case._replace(options=case.options[1:])
    picked[changed] = pick(fewer, True, SELECTION, (1, 2, 4))
    for seeds in ([full._replace(picked=picked)], [full, full._replace(picked=picked)]):
        results = findings(seeds)
        points = {point.n: point for point in results.over_completions["best"]}
        assert {n: point.problems for n, point in points.items()} == {
            1: PROBLEMS, 2: PROBLEMS, 4: PROBLEMS - 1
        }  # fmt: skip
        for n in (1, 2):
            one_seed = n / 4 * (PROBLEMS - 1) + n / 3
            total = one_seed + (len(seeds) - 1) * n / 4 * PROBLEMS
            assert points[n].accuracy == pytest.approx(total / len(seeds) / PROBLEMS)
        assert points[4].accuracy == 1
        assert [point.n for point in results.over_voters] == [1, 2, 3, 4]
        assert [point.accuracy for point in results.over_voters] == [1, 1, 0, 0]
        assert {point.problems for point in results.over_voters} == {PROBLEMS - 1}
