"""Selections among completions, a whole ranking, and the file of scores."""

import itertools
import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from scipy import stats

from gradeschool.errors import InputError
from gradeschool.formats.run_folder import (
    SCORES_FILE,
    ScoreRow,
    append_scores,
    choose_scores,
    read_scores,
)
from gradeschool.formats.values import ReadOptions
from gradeschool.reports.verifiers import print_ranking
from gradeschool.scoring.at_k import Ballot, pass_at_k, read_candidates, vote
from gradeschool.verifier.rank import RankedCompletion as Ranked
from gradeschool.verifier.rank import (
    RankedProblem,
    auc,
    best_of,
    break_even_auc,
    measure_auc,
    problem_result,
    rank,
)
from tests.support.command import Command

# An answer's rightness follows from the answer; few scores, so that there are ties.
ANSWERS = {"18": True, "19": False, "20": False, None: False}
SCORES = st.sampled_from([-0.2, 0.0, 0.25, 0.5, 0.75, 1.1])


@st.composite
def options(draw: st.DrawFn, most: int = 7) -> list[Ranked]:
    answers = draw(st.lists(st.sampled_from(list(ANSWERS)), min_size=1, max_size=most))
    return [Ranked(text, ANSWERS[text], draw(SCORES), draw(SCORES) - 2) for text in answers]


def picked(cast: list[Ranked], voters: int = 5) -> dict[str, float]:
    """What every strategy gives on all completions."""
    result = problem_result(RankedProblem("p", cast), True, [len(cast)], (voters,))
    return {name: values[-1] for name, values in result.by_strategy.items()}


@given(options(), st.data())
def test_best_of_n_is_the_mean_over_all_subsets(cast: list[Ranked], data: st.DataObject) -> None:
    n = data.draw(st.integers(1, len(cast)))
    picks = [
        cast[max(subset, key=lambda index: (cast[index].score, -index))].right
        for subset in itertools.combinations(range(len(cast)), n)
    ]
    exact = sum(picks) / len(picks)
    assert best_of(cast, [option.score for option in cast], n) == pytest.approx(exact)


@given(options())
def test_votes_are_those_of_brute_force(cast: list[Ranked]) -> None:
    found = picked(cast, voters=3)
    ballots = [Ballot(option.answer, option.right) for option in cast]
    assert found["majority"] == vote(ballots).correct
    in_order = sorted(cast, key=lambda option: -option.score)[:3]
    assert found["top 3"] == vote([Ballot(each.answer, each.right) for each in in_order]).correct
    answers = [answer for answer in dict.fromkeys(option.answer for option in cast) if answer]
    sums = {answer: sum(max(each.score, 1e-300) for each in cast if each.answer == answer)
            for answer in answers}  # fmt: skip
    best = max(sums, key=sums.__getitem__, default=None)
    assert found["weighted"] == ANSWERS[best]
    assert found["coverage"] == any(option.right for option in cast)
    values: dict[str | None, float] = {}
    for each in cast:
        share = sum(other.answer == each.answer for other in cast if each.answer) / len(cast)
        values[each.answer] = max(values.get(each.answer, -1), each.score + 0.2 * share)
    assert found["share"] == ANSWERS[max(values, key=values.__getitem__)]


def test_odds_weigh_a_sure_solution_above_several_doubtful_ones() -> None:
    cast = [Ranked("18", True, 0.9), *[Ranked("19", False, 0.4)] * 3]
    found = picked(cast)
    assert (found["majority"], found["weighted"], found["odds"]) == (0.0, 0.0, 1.0)
    probable = [Ranked("18", True, 0, -0.1), *[Ranked("19", False, 0, -3.0)] * 3]
    assert picked(probable)["probable"] == 1.0


@given(st.lists(st.tuples(SCORES, st.booleans()), min_size=2, max_size=40))
def test_the_auc_is_scipys(pairs: list[tuple[float, bool]]) -> None:
    above = [score for score, is_right in pairs if is_right]
    below = [score for score, is_right in pairs if not is_right]
    area = auc([score for score, _ in pairs], [is_right for _, is_right in pairs])
    if not above or not below:
        assert area is None
        return
    statistic = stats.mannwhitneyu(above, below, method="asymptotic").statistic
    assert area == pytest.approx(statistic / (len(above) * len(below)))


def test_within_problems_only_those_with_both_labels_count() -> None:
    one_label = [([0.1, 0.2], [False, False]), ([0.9, 0.8], [True, True])]
    assert measure_auc(one_label).within is None
    mixed = [([0.3, 0.4], [True, False]), ([0.6, 0.5, 0.1], [True, False, False])]
    areas = measure_auc([*one_label, *mixed])
    assert (areas.within, areas.problems) == (0.5, 2)


def noisy(count: int, distance: float, alike: bool) -> list[RankedProblem]:
    """Problems with three right ones among eight; scores tell them apart by a distance.

    alike: completions with the same answer have the same score.
    """
    chance = Random(str(distance))
    problems = []
    for number in range(count):
        cast, known = [], dict[str, float]()
        for sample in range(8):
            is_right = sample < 3
            answer = "7" if is_right else str(chance.choice([8, 9, 10, 11]))
            score = chance.gauss(distance * is_right, 1.0)
            score = known.setdefault(answer, score) if alike else score
            cast.append(Ranked(answer, is_right, score, -1.0, f"text {sample}"))
        chance.shuffle(cast)
        problems.append(RankedProblem(str(number), cast))
    return problems


@pytest.mark.parametrize("alike", [False, True])
def test_the_break_even_auc_is_where_best_of_n_equals_the_majority(alike: bool) -> None:
    need = break_even_auc(noisy(400, 0.0, alike))
    assert need is not None and need[0] < need[1]
    distance = stats.norm.ppf(need[alike]) * 2**0.5
    selected = noisy(2_000, distance, alike)
    best = [problem_result(case, False, [8]).by_strategy for case in selected]
    gain = sum(each["best"][-1] - each["majority"][-1] for each in best) / len(best)
    assert gain == pytest.approx(0, abs=0.06)


def test_equal_texts_are_one_choice_for_a_selector() -> None:
    once = noisy(100, 0.0, alike=False)
    twice = [each._replace(completions=[*each.completions] * 2) for each in once]
    assert break_even_auc(twice) == break_even_auc(once)


def test_the_lower_break_even_auc_is_first() -> None:
    """A guess among two answers equals the majority here, a guess among the texts does not."""
    lost = [Ranked("7", True, text="a"), *[Ranked("8", False, text=f"b{n}") for n in range(5)]]
    won = [*[Ranked("7", True, text="a")] * 3, *[Ranked("8", False, text=f"b{n}") for n in (0, 1)]]
    need = break_even_auc([RankedProblem("1", lost), RankedProblem("2", won)])
    assert need == pytest.approx((0.5, 0.73), abs=0.01)


def cases(problems: int, samples: int, seed: int = 0) -> list[RankedProblem]:
    """Problems of which the verifier knows something."""
    source = Random(seed)
    ranked = []
    for problem in range(problems):
        chance = source.random()
        cast: list[Ranked] = []
        for _ in range(samples):
            right = source.random() < chance
            answer = "18" if right else source.choice(["19", "20", None])
            cast.append(Ranked(answer, right, source.random() + 0.4 * right, -source.random(),
                               str(len(cast))))  # fmt: skip
        ranked.append(RankedProblem(str(problem), cast))
    return ranked


def test_a_ranking_agrees_with_itself() -> None:
    ranked = cases(40, 8)
    ranking = rank(ranked, has_logprob=True, voters=3)
    by_name = ranking["strategies"]
    solved = sum(any(o.right for o in c.completions) for c in ranked)
    assert by_name["coverage"]["accuracy"] == solved / 40
    assert by_name["mean"]["accuracy"] == pytest.approx(
        sum(result.right for case in ranked for result in case.completions) / 320
    )
    for name, points in ranking["curves"].items():
        assert [point["n"] for point in points] == [1, 2, 4, 8]
        assert points[0]["accuracy"] == pytest.approx(by_name["mean"]["accuracy"]), name
        assert points[-1]["accuracy"] == pytest.approx(by_name[name]["accuracy"]), name
        for point in points:
            assert point["ci95"].low <= point["accuracy"] <= point["ci95"].high
    pooled = [pass_at_k(8, sum(o.right for o in c.completions), 4) for c in ranked]
    assert ranking["curves"]["coverage"][2]["accuracy"] == pytest.approx(float(sum(pooled) / 40))


def test_the_conclusion_says_what_to_select_by() -> None:
    known = rank(cases(200, 8), has_logprob=False)["conclusion"]
    assert re.match(r"AUC within problems 0\.\d\d; to equal the majority vote, the best of 8 needs "
                    r"about 0\.\d\d to 0\.\d\d\. Use the [a-z]", known)  # fmt: skip
    blind = [case._replace(completions=[each._replace(score=0.5) for each in case.completions])
             for case in cases(60, 8)]  # fmt: skip
    assert "Use the majority vote: no choice" in rank(blind, has_logprob=False)["conclusion"]


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
    with pytest.raises(InputError, match="there are no scores by 'z' in"):
        choose_scores(path, "z")
    append_scores(path, [ScoreRow("a", "v@1:product", 0.75)])
    assert choose_scores(path, "v@1")[1]["a"].score == 0.25
    assert choose_scores(path, "v@1:product")[1]["a"].score == 0.75
    append_scores(path, [ScoreRow("c", "v@1", 1.0, values=[1.0], tokens=["x"])])  # without a model
    assert choose_scores(path, "v@1")[1]["c"][2:5] == (1.0, -0.5, "g@2")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"score": "high"}, "row 1 of .* has the score 'high'; give a finite number"),
        ({"score": float("nan")}, "has the score nan"),
        ({"score": True}, "has the score True"),
        ({"score": 10**400}, "has the score 1000"),
        ({"score": 0.5, "logprob": 1000.0}, "has the logprob 1000.0; give a number up to 0"),
    ],
)
def test_a_score_that_is_no_number_is_refused(
    row: dict[str, Any], said: str, tmp_path: Path
) -> None:
    path = tmp_path / SCORES_FILE
    path.write_text(json.dumps({"key": "a", "verifier": "v", **row}) + "\n")
    with pytest.raises(InputError, match=said):
        list(read_scores(path))


def test_a_column_of_the_file_has_the_scores(tmp_path: Path, gradeschool: Command) -> None:
    """Equal texts keep their own scores; numbers in words are numbers; the rest have none."""
    file = tmp_path / "answers.jsonl"
    answers = [("5", "0.1"), ("6", 0.9), ("5", 0.8), ("6", "-"), ("6", 0.2)]
    rows: list[dict[str, Any]] = [
            {"id": f"p{n}", "question": f"What is {n}?", "gold": "5", "sample": sample,
             "response": f"#### {answer}", "reward": reward}
            for n in range(6) for sample, (answer, reward) in enumerate(answers)]  # fmt: skip
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ended = gradeschool.done("verifier", "rank", file, "--score", "reward", "--json")
    found = json.loads(ended.out)
    assert (found["verifier"], found["completions"], found["unscored"]) == ("reward", 24, 6)
    assert found["auc"]["verifier"]["within"] == 0.25  # 0.1 and 0.8 against 0.9 and 0.2
    assert found["strategies"]["best"]["accuracy"] == 0.0
    assert "6 of 30 completions have no score and are left out, also of the majority" in ended.err
    scaled = tmp_path / "scaled.jsonl"
    scaled.write_text("".join(
        json.dumps({**row, "reward": 40.0 * row["sample"] - 60}) + "\n" for row in rows
    ))  # fmt: skip
    ended = gradeschool.done("verifier", "rank", scaled, "--score", "reward")
    assert "the scores are from -60 to 100, and the weighted votes" in ended.err
    said = gradeschool.refused("verifier", "rank", file, "--score", "question")
    assert "'question' has a score for no completion" in said
    said = gradeschool.refused("verifier", "rank", file, "--score", "reward", "--verifier", "tiny")
    assert "--score and --verifier are both given" in said
    said = gradeschool.refused("verifier", "rank", file, "--score", "absent")
    assert "--columns names 'absent'" in said


def test_a_baseline_called_majority_is_not_the_vote(tmp_path: Path, gradeschool: Command) -> None:
    rows = [{"id": f"p{n}", "question": f"What is {n}?", "gold": "5", "sample": sample,
             "response": f"#### {answer}", "reward": float(answer == 5)}
            for n in range(8) for sample, answer in enumerate((6, 5, 6))]  # fmt: skip
    for name, kept in (("answers", rows), ("majority", rows[1::3])):
        text = "".join(json.dumps(row) + "\n" for row in kept)
        (tmp_path / f"{name}.jsonl").write_text(text)
    ended = gradeschool.done("verifier", "rank", tmp_path / "answers.jsonl", "--score", "reward",
                             "--baseline", tmp_path / "majority.jsonl", "--json")  # fmt: skip
    over = json.loads(ended.out)["strategies"]["best"]["over"]
    baseline = f"majority ({tmp_path / 'majority.jsonl'})"
    assert {name: each["difference"] for name, each in over.items()} == {
        "majority": 1.0, baseline: 0.0,
    }  # fmt: skip


def ranking() -> dict[str, Any]:
    """Of four completions the last is right; the verifier knows it in half of the problems."""
    cases = []
    for number in range(12):
        is_known = number % 2 == 0
        options = [Ranked("3" if index == 3 else "0", index == 3, (index == 3) == is_known, -index,
                          str(index)) for index in range(4)]  # fmt: skip
        cases.append(RankedProblem(str(number), options))
    return rank(cases, has_logprob=True, voters=3)


def row_of(text: str, name: str) -> list[str]:
    """The cells of the first row with this name."""
    line = next(line for line in text.splitlines() if line.strip().startswith(name))
    return line.replace(" %", "").split()


def test_a_ranking_is_shown_by_strategy_and_completions() -> None:
    console = Console(width=240, record=True)
    print_ranking(ranking(), {"greedy\x07": {"0": (1, 4), "1": (1, 4)}}, console)
    text = console.export_text()
    assert text.startswith("AUC within problems 0.50; to equal the majority vote")
    assert "12 problems, 48 completions (up to 4 a problem)" in text
    assert "\x1b" not in text and "\x07" not in text
    assert row_of(text, "baseline greedy\\x07")[2] == "25.00"
    best = row_of(text, "N ")[2:].index("best")
    assert row_of(text, "4 ")[2:][best] == "50.0"


@pytest.mark.parametrize("option", ["--reduce tokens", "--form token", "--generator tiny"])
def test_recorded_scores_take_no_options_of_a_model(
    tmp_path: Path, option: str, gradeschool: Command
) -> None:
    scores = tmp_path / "scores.jsonl"
    append_scores(scores, [ScoreRow("a", "v@1", 0.25, values=[0.5, 0.25])])
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"index": 0, "completion": "5"}\n')
    said = gradeschool.refused("verifier", "rank", answers, "--verifier", scores, *option.split())
    assert f"{option.split()[0]} needs the verifier itself" in said


@pytest.mark.official
def test_rank_reads_published_solutions(data: Path, gradeschool: Command, tmp_path: Path) -> None:
    """6B verification has 515 of 1,319 right, 6B fine-tuning 286 (shared specification)."""
    source, scores = data / "completions" / "openai_example.jsonl", tmp_path / "scores.jsonl"
    picks = read_candidates(f"{source}#6b_verification", ReadOptions(), lambda _: None)
    append_scores(scores, [
        ScoreRow(candidate.key, "published", 0.5)
        for run in picks for problem in run.answered for candidate in problem.candidates
    ])  # fmt: skip
    ended = gradeschool.done(
        "verifier", "rank", f"{source}#6b_verification", "--verifier", scores,
        "--baseline", f"{source}#6b_finetuning", "--json",
    )  # fmt: skip
    best = ended.json()["strategies"]["best"]
    assert best["accuracy"] == pytest.approx(515 / 1319)
    over = best["over"]["6b_finetuning"]
    assert over["difference"] == pytest.approx((515 - 286) / 1319)
    assert over["ci95"][0] > 0.14
