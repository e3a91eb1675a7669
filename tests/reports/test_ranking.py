"""Check the tables and the JSON of a ranking, and tables of calibration."""

from __future__ import annotations

import json

import pytest
from rich.console import Console

from gradeschool.reports.ranking import calibration_table, print_ranking, ranking_json
from gradeschool.verifier.rank import Bucket, Ranking, rank
from gradeschool.verifier.select import Option, RankedProblem, SelectionSettings

PROBLEMS = 12


def ranking() -> Ranking:
    """Of four completions the last is right; the verifier knows it in one family alone."""
    cases = []
    for number in range(PROBLEMS):
        is_known = number % 2 == 0
        options = [
            Option(str(index if index == 3 else 0), index == 3, (index == 3) == is_known, -index)
            for index in range(4)
        ]
        family = "ages\x1b[31m" if is_known else "trips"
        cases.append(RankedProblem(str(number), family, options, 4))
    return rank(cases, has_logprob=True, settings=SelectionSettings(voters=3))


def row_of(text: str, name: str) -> list[str]:
    """The cells of the first row with this name."""
    line = next(line for line in text.splitlines() if line.strip().startswith(name))
    return line.replace(" %", "").split()


def test_a_ranking_is_shown_by_strategy_and_by_family() -> None:
    console = Console(width=240, record=True)
    print_ranking(ranking(), {"greedy\x07": {"0": (1, 4), "1": (1, 4)}}, console)
    text = console.export_text()
    assert text.startswith("AUC within problems 0.50; to equal the majority vote")
    assert f"{PROBLEMS} problems, {4 * PROBLEMS} completions (up to 4 a problem)" in text
    assert "\x1b" not in text and "\x07" not in text
    assert row_of(text, "baseline greedy\\x07")[2] == "25.00"
    heads = row_of(text, "family")
    best = heads.index("best")
    assert row_of(text, "ages\\x1b[31m")[best] == "100.0"
    assert row_of(text, "trips")[best] == "0.0"
    assert row_of(text, "all")[best] == "50.0"


def test_the_json_of_a_ranking_holds_what_is_shown() -> None:
    fields = json.loads(json.dumps(ranking_json(ranking())))
    assert fields["strategies"]["best"]["accuracy"] == 0.5
    assert fields["strategies"]["mean"]["accuracy"] == 0.25
    assert {part["family"]: part["strategies"]["best"]["accuracy"]
            for part in fields["families"]} == {"ages\x1b[31m": 1.0, "trips": 0.0}  # fmt: skip
    assert fields["auc"]["verifier"]["within"] == pytest.approx(0.5)
    assert [point["n"] for point in fields["curves"]["best"]] == [1, 2, 4]
    assert list(fields["voters_curves"]) == ["1", "2", "4"]
    assert sum(bucket["completions"] for bucket in fields["calibration"]) == 4 * PROBLEMS
    low, high = fields["strategies"]["best"]["ci95"]
    assert 0 <= low < 0.5 < high <= 1


def test_buckets_without_a_bound_are_named_by_the_other() -> None:
    buckets = [
        Bucket(None, 0.05, 2, -0.5, 0.0),
        Bucket(0.2, 0.4, 10, 0.25, 0.4),
        Bucket(0.95, None, 3, 1.5, 1.0),
    ]
    console = Console(width=100, record=True)
    console.print(calibration_table(buckets, "calibration", "steps"))
    rows = [line.split() for line in console.export_text().splitlines()]
    assert ["score", "steps", "mean", "score", "right"] in rows
    assert ["below", "0.05", "2", "-0.500", "0.00", "%"] in rows
    assert ["0.20", "to", "0.40", "10", "0.250", "40.00", "%"] in rows
    assert ["0.95", "to", "1", "and", "above", "3", "1.500", "100.00", "%"] in rows
