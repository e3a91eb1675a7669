"""The grid of scores: its stages, and what it reads of a recipe's folder."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from gradeschool.verifier.reproduce.ablations import plan
from gradeschool.verifier.reproduce.grid import ROUNDS, grid, outcomes_by_cell
from gradeschool.verifier.reproduce.presets import LAPTOP, stages_of
from gradeschool.verifier.reproduce.stages import STAGES_FOLDER, digests
from tests.support.grid_round import ONE_SEED, PROBLEMS, SECOND, write_round


def test_the_grid_adds_stages_and_changes_none_of_the_recipe() -> None:
    stages = plan("grid", LAPTOP).stages
    whole, recipe = digests(stages), digests(stages_of(LAPTOP))
    shared = whole.keys() & recipe.keys()
    assert {name: whole[name] for name in shared} == {name: recipe[name] for name in shared}
    by_name = {stage.name: stage.command for stage in stages}
    verifier = by_name["verifier-likelihood-control-0"]
    assert verifier[verifier.index("--generator") + 1] == "seed-0/control"
    assert verifier[verifier.index("--init") + 1] == "seed-0/control-second"
    for name, command in by_name.items():
        if name.startswith("verifier-"):  # none reads a gold solution of the labelled problems
            level = command[command.index("--level") + 1]
            assert level == "likelihood" or "right" in command, name
    few = by_name["samples-few-control-0"]
    count, k = (int(few[few.index(option) + 1]) for option in ("-n", "-k"))
    assert count * k == LAPTOP.labelled * LAPTOP.k  # as many labels
    token = by_name["verifier-token-0"]
    batch, epochs = (int(token[token.index(option) + 1]) for option in ("--batch", "--epochs"))
    assert LAPTOP.labelled * LAPTOP.k * epochs // batch > 5000


def test_the_recipes_own_scores_lie_in_its_run_wherever_the_reader_stands() -> None:
    assert ROUNDS[0].scores("likelihood", "test", 0) == "seed-0/test/verifier-scores.jsonl"


def test_the_grid_has_the_cells_whose_stages_are_done(tmp_path: Path) -> None:
    assert grid(tmp_path, ONE_SEED, "test") == []
    write_round(tmp_path, "test", verified=PROBLEMS)
    cells = {(cell.scorer, cell.strategy): cell for cell in grid(tmp_path, ONE_SEED, "test")}
    assert {cell.round for cell in cells.values()} == {2}
    assert cells["likelihood", "best"].accuracy == 1
    assert cells["self", "best"].accuracy == 0.5
    assert cells["own", "best"].accuracy == 0
    gap = cells["likelihood", "best"].over["self best"]
    assert gap.difference == pytest.approx(0.5)
    assert gap.ci95.low > 0.3
    assert cells["", "majority"].over["own best"].difference == 0
    (tmp_path / STAGES_FOLDER / "scores-test-likelihood-control-0.json").unlink()
    assert not [cell for cell in grid(tmp_path, ONE_SEED, "test") if cell.scorer == "likelihood"]


def test_the_development_split_chooses_how_a_score_comes_of_its_tokens(tmp_path: Path) -> None:
    """The mean log-probability prefers long samples here, the sum the first one, which is short."""
    write_round(tmp_path, "test", verified=0)
    outcomes = outcomes_by_cell(tmp_path, 0, SECOND, "test")
    right = {name: sum(r for r, _ in outcomes["self", name, "best"].values())
             for name in ("mean", "sum")}  # fmt: skip
    assert right["mean"] == right["sum"] == PROBLEMS // 2  # 10 log .9 is above 2 log .1
    assert 10 * math.log(0.9) > 2 * math.log(0.1)
    write_round(tmp_path, "dev", verified=0)
    cells = {(cell.scorer, cell.strategy): cell for cell in grid(tmp_path, ONE_SEED, "test")}
    assert cells["self", "best"].development == 0.5
    # Where equal on the development split, the first reduction is taken.
    assert cells["self", "best"].reduction == "mean"
