"""Every pair of runs: the same figures as two by two, corrected for their number."""

from __future__ import annotations

import json
import re
from pathlib import Path

from gradeschool.problem import Problem
from gradeschool.scoring.compare import Outcomes, all_pairs, compare, is_cheap
from gradeschool.scoring.statistics import holm, mcnemar
from gradeschool.scoring.table import Tally
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture

PROBLEMS = {str(index): Problem.from_row(str(index), f"{index}?", "#### 5") for index in range(30)}


def outcomes(name: str, right: int, samples: int = 1) -> Outcomes:
    tallies = {id: Tally(int(int(id) < right), samples) for id in PROBLEMS}
    return Outcomes(name, PROBLEMS, tallies, 0)


def test_every_pair_is_the_comparison_of_the_two_with_p_corrected_for_all() -> None:
    runs = [outcomes("a", 30), outcomes("b", 25), outcomes("c", 5), outcomes("d", 26)]
    pairs = all_pairs(runs)
    assert sorted(pairs) == [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]
    for (later, earlier), pair in pairs.items():
        (alone,) = compare([runs[earlier], runs[later]])
        assert (pair.difference, pair.p, pair.ci95) == (alone.difference, alone.p, alone.ci95)
    assert pairs[2, 1].p == mcnemar(20, 0)
    assert [pair.p_holm for pair in pairs.values()] == holm([pair.p for pair in pairs.values()])
    assert is_cheap(runs)
    assert not is_cheap([*runs, outcomes("e", 3, samples=4)])


def test_a_page_of_three_runs_shows_every_pair(gradeschool: Command, tmp_path: Path) -> None:
    problems, answers = tmp_path / "p.jsonl", tmp_path / "a.jsonl"
    problems.write_text(
        "".join(
            json.dumps({"question": f"{index}?", "answer": str(index)}) + "\n"
            for index in range(40)
        )
    )
    rows = [
        {"index": index, "run": run, "completion": f"#### {index if index < right else index + 1}"}
        for run, right in (("a", 38), ("b", 37), ("c", 10))
        for index in range(40)
    ]
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert gradeschool("report", answers, "-d", problems, "-o", tmp_path / "x.html").status == 0
    page = (tmp_path / "x.html").read_text("utf-8")
    table = page[page.index('class="plain pairs"') :]
    table = table[: table.index("</table>")]
    cells = re.findall(r"<td[^>]*>(?:<strong>)?([−+][\d.]+)(</strong>)?", table)
    assert cells == [("−2.50", ""), ("−70.00", "</strong>"), ("−67.50", "</strong>")]
    assert "corrected for all 3 pairs" in page
