"""The one reader of golds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradeschool import judge
from gradeschool.answers.golds import read_gold
from gradeschool.errors import InputError
from gradeschool.integrations.rewards import Grader
from gradeschool.scorer import Outcome

CASES = Path(__file__).parents[3] / "shared" / "cases"
READ = {
    "18": "18", "18.": "18", "$18": "18", "(18)": "18", "[18]": "18", r"\boxed{18}": "18",
    r"$\boxed{18}$": "18", "#### 18": "18", "18 eggs": "18", "1/2": "1/2", r"50,\!625": "50,625",
    "50{,}625": "50,625", "1 000": "1000", "1'250'000": "1250000", "12 3/5": "12.6",
    r"1\frac{1}{4}": "1.25", "6\u00bd": "6.5",
    "3 1/3": "10/3", "10%": "10", r"18\%": "18", r"\$18": "18", "x=5": "5",
    "\u22125": "-5", "5.0": "5",
    "1.5e3": "1500", r"5\text{ cm}": "5", "5 cm^2": "5", r"\dfrac{3}{4}": "3/4", "+18": "18",
    r"-\frac{3}{4}": "-3/4", "20 (twenty)": "20", "The answer is 18.": "18", "5kg": "5",
    "There are 18 eggs left.": "18", "9 eggs are left, so she earns 9 * 2 = $18 each day.": "18",
    r"We get 3 rows of 6, thus $3 \cdot 6=\boxed{18}$.": "18", "6 hats\nThe answer is 18": "18",
    "work\n#### 20 eggs": "20", "$1,234.50": "1,234.5",
}  # fmt: skip
REFUSED = {
    **dict.fromkeys((r"7\pi", r"2^{10}", r"3\sqrt{2}", "4a-2", "x^2+1", "1-1/e"), "expression"),
    "12:30": "expression",
    **dict.fromkeys(("18 or 19", "(1,2)", "3,5", "2 hours 30 minutes"), "several numbers"),
    **dict.fromkeys(("1.5 million", "2 dozen eggs", "#### $3 thousand"), "multiplies"),
    **dict.fromkeys(("3k", "$2.5K", "1.5M", "2 bn", "3 (thousand)", "5万", "2 Millionen"),
                    "multiplies"),
    **dict.fromkeys(("A", "twenty", r"\pi"), "no number"), "": "empty", "1/0": "divides by zero",
    "He has 3 hats and 4 caps, then buys 5. What a day.": "several numbers",
}  # fmt: skip


@pytest.mark.parametrize(("gold", "number"), READ.items())
def test_a_gold_is_read(gold: str, number: str) -> None:
    assert read_gold(gold) == number
    assert read_gold([gold]) == number
    assert judge(f"#### {number}", gold).correct
    assert Grader().grade(f"#### {number}", {"answer": gold}).value == 1.0


@pytest.mark.parametrize(("gold", "reason"), REFUSED.items())
def test_an_uncertain_gold_is_refused_with_the_reason(gold: str, reason: str) -> None:
    for read in (read_gold, lambda gold: judge("#### 18", gold)):
        with pytest.raises(InputError, match=reason):
            read(gold)
    reward = Grader().grade("#### 18", gold)
    assert (reward.value, reason in reward.reason) == (None, True)


def test_an_expression_is_kept_where_scorers_take_it() -> None:
    assert read_gold(r"so $\boxed{7\pi}$", expressions=True) == r"7\pi"


@pytest.mark.skipif(not CASES.exists(), reason="the cases are not in this checkout")
def test_gold_forms_of_the_cases() -> None:
    for line in (CASES / "reports.jsonl").read_text().splitlines():
        case = json.loads(line)
        if case["class"] == "gold-forms":
            assert judge(case["completion"], case["gold"]).outcome is Outcome.CORRECT
            assert Grader().grade(case["completion"], case["gold"]).value == 1.0
    for line in (CASES / "files" / "golds.jsonl").read_text().splitlines():
        gold = json.loads(line)["gold"]
        try:
            assert read_gold(gold)
        except InputError as error:
            assert "the gold" in str(error)
