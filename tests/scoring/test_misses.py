"""What misses consist of: arithmetic, distraction, format, reasoning."""

import pytest

from gradeschool.completion import Finish
from gradeschool.formats.samples import Sample
from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_scorer
from gradeschool.scoring.compare import outcomes_of
from gradeschool.scoring.profile import MissKind, unneeded_numbers, with_misses
from gradeschool.scoring.samples import Run
from gradeschool.scoring.table import scored_table

QUESTION = "Ann is 37 years old. She buys 4 pens at $3 and gives two away. What did she pay?"
SOLUTION = "The pens cost 4*3=$<<4*3=12>>12.\n#### 12"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("4 * 3 = 13. The answer is 13.", MissKind.ARITHMETIC),
        ("37 - 4 = 33. The answer is 33.", MissKind.DISTRACTION),
        ("37 - 4 = 32. The answer is 32.", MissKind.ARITHMETIC),  # the false step is what counts
        ("4 + 3 = 7. The answer is 7.", MissKind.REASONING),
        ("She is 37. 4 + 3 = 7. The answer is 7.", MissKind.REASONING),  # no step uses it
        ("4 * 3 = 12, so she paid twelve dollars: $12.", MissKind.FORMAT),
        ("I am sorry, I cannot help with that.", MissKind.FORMAT),
        ("", MissKind.FORMAT),
    ],
)
def test_every_miss_is_of_one_kind(text: str, kind: MissKind) -> None:
    problem = Problem("0", QUESTION, "12", SOLUTION)
    table = scored_table(
        Run("run", [Sample(1, problem=problem, sample=0, text=text, finish=Finish.STOP)]),
        [get_scorer("openai/2021")],
    )
    outcomes = with_misses(outcomes_of(table), table)
    assert {kind for kind, counts in outcomes.misses.items() if counts.get("0")} == {kind}
    assert set(outcomes.misses) == set(MissKind)


def test_only_a_solution_with_steps_says_which_numbers_are_needed() -> None:
    assert unneeded_numbers(Problem("0", QUESTION, "12", SOLUTION)) == {"37"}
    assert unneeded_numbers(Problem("0", QUESTION, "12", "#### 12")) == frozenset()
    in_words = "She pays three dollars for each of four: 12 dollars.\n#### 12"
    assert unneeded_numbers(Problem("0", QUESTION, "12", in_words)) == {"37"}


@pytest.mark.parametrize("step", ["80*1.5 = 120", "80*.5 = 40", "80*2.5 = 200", "80*150/100 = 120"])
def test_a_percentage_is_needed_as_any_factor(step: str) -> None:
    question = "A house of 80 gains 150% in value in 9 years. What is the new value?"
    solution = f"It is {step}.\n#### 200"
    assert unneeded_numbers(Problem("0", question, "200", solution)) == {"9"}
