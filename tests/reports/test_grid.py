"""Check what the tables of a grid say, and the file that has its cells."""

from __future__ import annotations

import json
from pathlib import Path

from gradeschool.reports.grid import write_grid
from gradeschool.verifier.reproduce.grid import grid
from tests.support.grid_round import ONE_SEED, PROBLEMS, write_round


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
