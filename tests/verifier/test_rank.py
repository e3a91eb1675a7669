"""A whole ranking, and the file of scores."""

import random
import re
from pathlib import Path

import pytest

from gradeschool.errors import InputError
from gradeschool.formats.verifier_scores import (
    SCORES_FILE,
    ScoreRow,
    append_scores,
    choose_scores,
    read_scores,
)
from gradeschool.scoring.at_k import pass_at_k
from gradeschool.verifier.rank import rank
from gradeschool.verifier.select import Option, RankedProblem


def cases(problems: int, samples: int, seed: int = 0) -> list[RankedProblem]:
    """Problems of which the verifier knows something."""
    source = random.Random(seed)
    ranked = []
    for problem in range(problems):
        chance = source.random()
        cast = []
        for _ in range(samples):
            right = source.random() < chance
            answer = "18" if right else source.choice(["19", "20", None])
            cast.append(Option(answer, right, source.random() + 0.4 * right, -source.random()))
        ranked.append(RankedProblem(str(problem), cast, samples))
    return ranked


def test_a_ranking_agrees_with_itself() -> None:
    ranked = cases(40, 8)
    ranking = rank(ranked, has_logprob=True, voters=3)
    by_name = ranking["strategies"]
    assert (
        by_name["coverage"]["accuracy"] == sum(any(o.right for o in c.options) for c in ranked) / 40
    )
    assert by_name["mean"]["accuracy"] == pytest.approx(
        sum(result.right for case in ranked for result in case.options) / 320
    )
    for name, points in ranking["curves"].items():
        assert [point.n for point in points] == [1, 2, 4, 8]
        assert points[0].accuracy == pytest.approx(by_name["mean"]["accuracy"]), name
        assert points[-1].accuracy == pytest.approx(by_name[name]["accuracy"]), name
        for point in points:
            assert point.ci95.low <= point.accuracy <= point.ci95.high
    pooled = [pass_at_k(8, sum(o.right for o in c.options), 4) for c in ranked]
    assert ranking["curves"]["coverage"][2].accuracy == pytest.approx(float(sum(pooled) / 40))


def test_the_conclusion_says_what_to_select_by() -> None:
    known = rank(cases(200, 8), has_logprob=False)["conclusion"]
    assert re.match(r"AUC within problems 0\.\d\d; to equal the majority vote, the best of 8 needs "
                    r"0\.\d\d here\. Use the [a-z]", known)  # fmt: skip
    blind = [case._replace(options=[each._replace(score=0.5) for each in case.options])
             for case in cases(60, 8)]  # fmt: skip
    assert "Use the majority vote: no choice" in rank(blind, has_logprob=False)["conclusion"]


# The file of scores


def test_a_file_of_scores_is_read_by_verifier(tmp_path: Path) -> None:
    """Whatever is torn, and for a name that is the beginning of a reduction's."""
    path = tmp_path / SCORES_FILE
    append_scores(path, [ScoreRow("a", "v@1", 0.25, values=[0.5, 0.25], tokens=["x", "y"])])
    with path.open("ab") as file:
        file.write(b'{"key": "b", "verif')
    append_scores(path, [ScoreRow("c", "v@1", 1.0, -0.5, "g@2"), ScoreRow("a", "w@2", 0.0),
                         ScoreRow("d", "v@1", 0.5, float("nan"), "g@2")])  # fmt: skip
    assert [row.key for row in read_scores(path)] == ["a", "c", "a", "d"]
    name, rows = choose_scores(path, "v")
    assert (name, rows["c"].logprob, rows["a"].tokens) == ("v@1", -0.5, ["x", "y"])
    assert rows["d"].logprob is None  # no vote is weighted by it
    with pytest.raises(InputError, match=r"'v@1', 'w@2'; choose one"):
        choose_scores(path, None)
    with pytest.raises(InputError, match="no verifier scores of 'z'"):
        choose_scores(path, "z")
    append_scores(path, [ScoreRow("a", "v@1:product", 0.75)])
    assert choose_scores(path, "v@1")[1]["a"].score == 0.25
    assert choose_scores(path, "v@1:product")[1]["a"].score == 0.75
