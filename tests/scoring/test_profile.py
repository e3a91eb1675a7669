"""Variations paired with what they vary, and what a profile says of them in words."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from gradeschool.completion import Finish
from gradeschool.errors import InputError
from gradeschool.formats.values import Sample
from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_scorer
from gradeschool.scoring.causes import ARITHMETIC, FORMAT, REASONING, misses_by_kind
from gradeschool.scoring.compare import Outcomes, conclusions, entry_sentence, profile
from gradeschool.scoring.sources import Run
from gradeschool.scoring.table import ScoredTable, Tally


def outcomes(
    name: str, corrects: Sequence[bool], metas: Sequence[Mapping[str, str]] | None = None
) -> Outcomes:
    """One sample of each problem; the questions of different names differ."""
    metas = metas or [{}] * len(corrects)
    problems = {
        str(index): Problem(str(index), f"{name} {index}?", "1", "#### 1", meta)
        for index, meta in enumerate(metas)
    }
    tallies = {str(index): Tally(int(correct), 1) for index, correct in enumerate(corrects)}
    return Outcomes(name, problems, tallies, 0, dataset=name)


def test_variations_are_paired_by_the_row_or_the_question_of_their_seed() -> None:
    original = outcomes("gsm8k", [True, True, False, True])
    by_row = outcomes("rows", [False, True], [{"seed": "0"}, {"seed": "3"}])
    by_question = outcomes("questions", [True], [{"seed": "gsm8k   2?"}])
    rows, questions = profile(original, [by_row, by_question])
    assert (rows.problems, rows.comparison.n) == (2, 2)
    assert (rows.comparison.accuracy_a, rows.comparison.accuracy_b) == (1.0, 0.5)
    assert [change.problem for change in rows.comparison.lost] == ["0"]
    assert (questions.comparison.n, questions.comparison.difference) == (1, 1.0)


def test_groups_of_a_set_follow_it_and_p_is_corrected_for_all() -> None:
    original = outcomes("gsm8k", [True] * 20)
    metas = [{"seed": str(index % 20), "perturbation": kind}
             for kind in ("numbers", "words") for index in range(20)]  # fmt: skip
    varied = outcomes("plus", [False] * 20 + [True] * 20, metas)
    whole, numbers, words = profile(original, [varied])
    assert [entry.group for entry in (whole, numbers, words)] == ["", "numbers", "words"]
    assert (numbers.comparison.difference, words.comparison.difference) == (-1.0, 0.0)
    assert numbers.comparison.p_holm == pytest.approx(
        min(1.0, 3 * numbers.comparison.p) if whole.comparison.p > numbers.comparison.p
        else 2 * numbers.comparison.p
    )  # fmt: skip
    assert numbers.is_lower and not words.is_lower


def test_a_drop_that_only_the_correction_leaves_open_is_called_so() -> None:
    """Nine of 40 lost: alone p is 0.004, of 20 lines 0.08."""
    original = outcomes("gsm8k", [True] * 40)
    metas = [{"seed": str(index)} for index in range(40)]
    lost = [outcomes(f"set-{index}", [False] * 9 + [True] * 31, metas) for index in range(20)]
    alone, (first, *_) = profile(original, lost[:1])[0], profile(original, lost)
    assert alone.is_lower and not first.is_lower
    assert first.comparison.ci95.high < 0
    assert (
        "no significant difference once p is corrected for the number of lines"
        in entry_sentence(first, "gsm8k")
    )


def test_a_set_of_other_problems_is_compared_without_pairs() -> None:
    original = outcomes("gsm8k", [True, False])
    paired, other = profile(
        original, [outcomes("rows", [True], [{"seed": "0"}]), outcomes("svamp", [True, True])]
    )
    assert (paired.comparison.n, other.comparison.n) == (1, 0)
    assert "other problems, svamp 100.0 %" in entry_sentence(other, "gsm8k")
    with pytest.raises(InputError, match="no run has a variation of a problem of the first run"):
        profile(original, [outcomes("svamp", [True, True])])


def with_kinds(run: Outcomes, arithmetic: int) -> Outcomes:
    """Say that the first so many misses are of arithmetic and the rest of reasoning."""
    missed = [id for id, tally in run.tallies.items() if not tally.correct]
    misses = {"arithmetic": dict.fromkeys(missed[:arithmetic], 1),
              "reasoning": dict.fromkeys(missed[arithmetic:], 1)}  # fmt: skip
    return replace(run, misses=misses)


def test_the_parts_of_a_loss_sum_to_it_and_only_sure_ones_are_said() -> None:
    seeds = [{"seed": str(index)} for index in range(200)]
    original = with_kinds(outcomes("gsm8k", [True] * 180 + [False] * 20), 10)
    corrects = [index >= 60 for index in range(180)] + [False] * 20
    varied = with_kinds(outcomes("gsm-symbolic", corrects, seeds), 58)
    [entry] = profile(original, [varied])
    parts = {kind: part.difference for kind, part in entry.parts.items()}
    assert parts == pytest.approx({"arithmetic": 48 / 200, "reasoning": 12 / 200})
    assert sum(parts.values()) == pytest.approx(-entry.comparison.difference)
    first, second = conclusions(original, [entry])
    assert first.startswith("gsm8k overstates the model: on the same problems with other numbers")
    assert second.startswith("Of the 30.0 points on gsm-symbolic: arithmetic 24.0 points, 95 % +")
    other = with_kinds(outcomes("svamp", [False] * 40), 3)
    unpaired = profile(original, [varied, other])[1]
    assert sum(part.difference for part in unpaired.parts.values()) == pytest.approx(0.9)


def test_the_verdict_says_what_was_not_tested_and_what_is_excluded() -> None:
    seeds = [{"seed": str(index)} for index in range(300)]
    right = [index % 5 > 0 for index in range(300)]
    original = outcomes("gsm8k", right)
    same, hard = outcomes("gsm-symbolic", right, seeds), outcomes("gsm-hard", right, seeds)
    [text] = conclusions(original, profile(original, [same]))
    assert re.search(
        r"No loss was found .* \(gsm-symbolic\); .* one of \d\.\d points or more", text
    )
    few = outcomes("gsm-symbolic", right[:12], seeds[:12])
    [text] = conclusions(original, profile(original, [few]))
    assert re.search(r"Too few problems to tell .* a loss of \d\d\.\d points is not excl", text)
    [text] = conclusions(original, profile(original, [hard]))
    assert text.startswith("Whether the model memorised the problems of gsm8k was not tested")


def is_called_memorised(draw: random.Random, seeds: int, instances: int, share: float) -> bool:
    """Whether the verdict names a model that has memorised a share of the test set.

    Its chances on problems that it does not know are Beta(3, 1), 75 % on average.
    """
    chances = [draw.betavariate(3.0, 1.0) for _ in range(seeds)]
    right = [draw.random() < share or draw.random() < chance for chance in chances]
    metas = [{"seed": str(index)} for index in range(seeds) for _ in range(instances)]
    corrects = [draw.random() < chances[int(meta["seed"])] for meta in metas]
    entries = profile(outcomes("gsm8k", right), [outcomes("gsm-symbolic", corrects, metas)])
    return "overstates" in conclusions(outcomes("gsm8k", right), entries)[0]


@pytest.mark.slow
@pytest.mark.parametrize(("seeds", "instances"), [(100, 50), (300, 2)])
def test_a_model_that_memorised_the_test_set_is_called_so(seeds: int, instances: int) -> None:
    """At the sizes of GSM-Symbolic, and of two perturbations of GSM-Plus mini; 30 models each."""
    draw = random.Random(seeds)
    called = {
        share: sum(is_called_memorised(draw, seeds, instances, share) for _ in range(30))
        for share in (1.0, 0.6, 0.0)
    }
    print(f"{seeds} x {instances}: called memorised, of 30, by the share that is: {called}")
    assert called[1.0] == 30
    assert called[0.6] >= 27
    assert called[0.0] <= 3


QUESTION = "Ann is 37 years old. She buys 4 pens at $3 and gives two away. What did she pay?"
SOLUTION = "The pens cost 4*3=$<<4*3=12>>12.\n#### 12"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("4 * 3 = 13. The answer is 13.", ARITHMETIC),
        ("4 + 3 = 7. The answer is 7.", REASONING),
        ("4 * 3 = 12, so she paid twelve dollars: $12.", FORMAT),
        ("I am sorry, I cannot help with that.", FORMAT),
        ("", FORMAT),
    ],
)
def test_every_miss_is_of_one_kind(text: str, kind: str) -> None:
    problem = Problem("0", QUESTION, "12", SOLUTION)
    table = ScoredTable(
        Run("run", [Sample(1, problem=problem, sample=0, text=text, finish=Finish.STOP)]),
        [get_scorer("openai/2021")],
    )
    misses = misses_by_kind(table)
    assert {name for name, counts in misses.items() if counts["0"]} == {kind}
    assert set(misses) == {ARITHMETIC, FORMAT, REASONING}
