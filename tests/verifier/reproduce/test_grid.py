"""The grid of scores: its stages, what it reads of a recipe's folder, what its tables say."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from gradeschool.reports.grid import write_grid
from gradeschool.verifier.candidates import candidates_of
from gradeschool.verifier.reproduce.ablations import plan
from gradeschool.verifier.reproduce.grid import ROUNDS, grid, outcomes_by_cell
from gradeschool.verifier.reproduce.presets import LAPTOP, stages_of
from gradeschool.verifier.reproduce.stages import STAGES_FOLDER, digests
from gradeschool.verifier.scores import ScoreRow, append_scores

PROBLEMS = 40
ONE_SEED = replace(LAPTOP, seeds=(0,))
SECOND = ROUNDS[1]


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


def write_round(root: Path, split: str, verified: int) -> None:
    """Write a split of the second round: of four samples of a problem the second is right.

    The self-trained model's log-probability finds it in half of the problems, the verifier's in as
    many as `verified`. The generator's own never does.
    """
    problems = root / f"problems/{split}.jsonl"
    problems.parent.mkdir(exist_ok=True)
    problems.write_text("".join(
        json.dumps({"question": f"{split}: how many are {n}?", "answer": f"#### {n}"}) + "\n"
        for n in range(PROBLEMS)
    ))  # fmt: skip
    run = root / "seed-0" / SECOND.drawn(split)
    run.parent.mkdir(exist_ok=True)
    rows = [
        {"index": n, "sample": sample, "completion": f"#### {n if sample == 1 else 1000 + sample}"}
        for n in range(PROBLEMS) for sample in range(4)
    ]  # fmt: skip
    run.write_text("".join(json.dumps(row) + "\n" for row in rows))
    sampled = candidates_of(str(run), str(problems), lambda _: None)[0]
    for scorer, limit in (("own", 0), ("self", PROBLEMS // 2), ("likelihood", verified)):
        scores = [
            ScoreRow(candidate.key, scorer, 0.9 if candidate.right and n < limit else 0.1 + s / 99,
                     10 if s else 2)
            for n, answered in enumerate(sampled.answered)
            for s, candidate in enumerate(answered.candidates)
        ]  # fmt: skip
        append_scores(root / SECOND.scores(scorer, split, 0), scores)
        finish(root, f"scores-{split}-{scorer}-control-0")
    finish(root, f"{SECOND.drawn(split)}-0")


def test_the_recipes_own_scores_lie_in_its_run_wherever_the_reader_stands() -> None:
    assert ROUNDS[0].scores("likelihood", "test", 0) == "seed-0/test/verifier-scores.jsonl"


def finish(root: Path, stage: str) -> None:
    (root / STAGES_FOLDER).mkdir(exist_ok=True)
    (root / STAGES_FOLDER / f"{stage}.json").write_text("{}")


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


def test_the_tables_say_what_was_measured_against_what(tmp_path: Path) -> None:
    write_round(tmp_path, "test", verified=PROBLEMS)
    (tmp_path / "results").mkdir()
    text = "\n".join(write_grid(tmp_path, ONE_SEED))
    assert "### test: samples of the self-trained generator" in text
    assert "| likelihood verifier (last) | best | 100.0 |" in text
    assert "the generator trained on its right samples: +50.0" in text
    assert ", above." in text
    assert "token head" not in text  # not run, so not claimed
    fields = json.loads((tmp_path / "results/grid.json").read_text())
    assert len(fields["test"]) == len(grid(tmp_path, ONE_SEED, "test"))
    assert fields["held-out"] == []
