"""The first wrong step of solutions of fresh problems: by hand, by corruption, in others' forms."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random

import pytest

from gradeschool import Problem, load_dataset
from gradeschool.calculator import format_result
from gradeschool.datasets.load import NO_ERROR
from gradeschool.models.base import Reply, Request
from gradeschool.scoring.at_k import Candidate, CandidateRun, ProblemCandidates
from gradeschool.verifier.process_labels import (
    ANNOTATION,
    label_run,
    label_steps,
    split_steps,
    trl_row,
)
from tests.support.command import Command


def computed(expression: str, words: str = "That is {=}.") -> str:
    """A line with an annotation, as the calculator writes it."""
    result = format_result(expression)
    return words.replace("{=}", f"{expression}=<<{expression}={result}>>{result}")


def solution(*expressions: str, answer: object) -> str:
    return "\n".join([*map(computed, expressions), f"#### {answer}"])


def problem(
    *expressions: str, answer: object, before: str = "", question: str = "How many?"
) -> Problem:
    text = before + solution(*expressions, answer=answer)
    return Problem.from_row("7", question, text, {"structure": "by hand"})


# 3 boxes of 4, 5 more: 17, shared by 2 is no whole number; two friends get 6 each of 12.
ASKED = "Of 3 boxes of 4 and 5 more, 6 are gone. How many are left?"
APPLES = problem("3*4", "12+5", "17-6", answer=11, question=ASKED)


@pytest.mark.parametrize(
    ("text", "first_wrong", "reason"),
    [
        (solution("3*4", "12+5", "17-6", answer=11), NO_ERROR, ""),
        (solution("4*3", "5+12", "17-6", answer=11), NO_ERROR, ""),
        (solution("3*4+5", "17-6", answer=11), NO_ERROR, ""),
        (solution("3*4+5-6", answer=11), NO_ERROR, ""),
        # Another way: 12-6 is not in the reference and leads to its answer.
        (solution("3*4", "12-6", "6+5", answer=11), NO_ERROR, ""),
        (solution("3*4", "12+6", "18-5", answer=13), 1, "a quantity that the problem"),
        # The same way begun and not ended well counts where it begins.
        (solution("3*4", "12-6", "6+3", answer=9), 1, "a quantity that the problem"),
        (solution("3*4", "12+5", "17-4", answer=13), 2, "a quantity that the problem"),
        # 17-5 is 12 again, a quantity of the problem: the answer is wrong, no step before it.
        (solution("3*4", "12+5", "17-5", answer=12), 3, "a wrong answer"),
        # Right arithmetic, right numbers, a wrong answer at the end.
        (solution("3*4", "12+5", "17-6", answer=12), 3, "a wrong answer"),
        # 5+6 is 11 too: the right number by a wrong way.
        (solution("3*4", "5+6", answer=11), 1, "a quantity that the problem"),
        (solution("3*4", answer=11), 1, "the right number by a wrong way"),
        ("It is 3*4=<<3*4=13>>13.\n#### 13", 0, "false arithmetic: <<3*4=13>>"),
        ("It is 3*4=<<3*4=12>>21.\n#### 21", 0, "<<3*4=12>> is copied as 21"),
        ("Tom is glad.\n\n" + solution("3*4", "12+5", "17-6", answer=11), NO_ERROR, ""),
        ("There are 99.\n" + solution("3*4", answer=12), 0, "99 comes from nowhere"),
        # A number of the question, and that of the step itself.
        ("Step 1: 4 boxes.\n" + solution("3*4", "12+5", "17-6", answer=11), NO_ERROR, ""),
        ("2.\n" + solution("3*4", "12+5", "17-6", answer=11), NO_ERROR, ""),
        ("It is 3*4=12.\n" + solution("12+5", "17-6", answer=11), None, "cannot be read: a comp"),
        (computed("3*4"), None, "no final answer"),
        ("It is <<3*4=12.\n#### 12", None, "cannot be read: an annotation that does not end"),
        ("It is <<3**4=12>>12.\n#### 12", None, "cannot be read"),
        # The grammar is the calculator's; the parts of a whole-number division have no formula.
        ("It is <<+3*4=12>>12.\n" + solution("12+5", "17-6", answer=11), NO_ERROR, ""),
        ("It is <<12//1=12>>12.\n#### 12", None, "cannot be read: a whole-number division"),
        ("#### eleven", None, "cannot be read: 'eleven' is not a number"),
        ("", None, "no final answer"),
    ],
)
def test_first_wrong_steps_by_hand(text: str, first_wrong: int | None, reason: str) -> None:
    labels = label_steps(text, APPLES)
    assert labels.first_wrong == first_wrong, labels
    assert labels.reason.startswith(reason)


def test_equal_products_of_other_numbers_are_other_quantities() -> None:
    twelve = problem("2*6", answer=12)
    assert label_steps(solution("3*4", answer=12), twelve).first_wrong == 0
    assert label_steps(solution("7+5", answer=12), twelve).first_wrong == 0
    share = problem("80*3/4", answer=60)
    assert label_steps(solution("80/4", "20*3", answer=60), share).first_wrong == NO_ERROR


def test_twice_a_number_is_its_sum_with_itself() -> None:
    doubled = problem("7*6", "42+42", answer=84)
    assert label_steps(solution("7*6", "42*2", answer=84), doubled).first_wrong == NO_ERROR
    assert label_steps(solution("7*6", "2*(7*6)", answer=84), doubled).first_wrong == NO_ERROR
    assert label_steps(solution("7*6", "21*4", answer=84), doubled).first_wrong == 1
    assert label_steps(solution("7*12", answer=84), doubled).first_wrong == 0
    long = problem("5+5", "10+2+3+4+5+6+7", answer=37)  # 10 is a result, and each may be itself
    assert label_steps(long.solution, long).first_wrong == NO_ERROR


def test_a_wrong_guess_is_the_first_wrong_step() -> None:
    guess = problem("6*10", "69-60", "9/3", "6+3", answer=6, before="Try 6 hats.\n")
    assert label_steps(guess.solution, guess).first_wrong == NO_ERROR
    other = "Try 5 hats.\n" + solution("5*10", "69-50", "19/3", answer=5)
    assert label_steps(other, guess).reason == "5 comes from nowhere"


def test_the_solutions_of_all_families_have_no_wrong_step() -> None:
    problems = load_dataset("fresh:5:train:200").problems
    assert len({problem.meta["family"] for problem in problems}) == 22
    for each in problems:
        labels = label_steps(each.solution, each)
        assert labels.first_wrong == NO_ERROR, each


def test_a_changed_number_is_found_where_it_was_changed() -> None:
    """A number of one annotation is changed, its result computed anew, the rest left as it is."""
    chance = Random(0)
    for each in load_dataset("fresh:6:train:60").problems:
        lines = each.solution.split("\n")
        place = chance.choice([n for n, line in enumerate(lines) if ANNOTATION.search(line)])
        [expression, *_] = next(ANNOTATION.finditer(lines[place])).groups()
        first = re.split(r"[-+*/]", expression.lstrip("("))[0]
        lines[place] = computed(expression.replace(first, "9973", 1))
        labels = label_steps("\n".join(lines), each)
        assert labels.first_wrong == place, (each.solution, labels)


def test_a_hostile_solution_is_read_in_time() -> None:
    assert label_steps("<<" * 50_000 + "\n#### 1", APPLES).first_wrong is None
    many = "+".join(["12"] * 60)
    text = solution("3*4", "4*3", "6*2", many, answer=11)
    assert label_steps(text, APPLES).first_wrong in {2, 3}
    assert label_steps("(" * 150 + "\n#### 1", APPLES).first_wrong is not None


def test_rows_end_with_the_first_wrong_step() -> None:
    labels = label_steps(solution("3*4", "12+6", "18-5", answer=13), APPLES)
    row = {"question": APPLES.question, "steps": labels.steps, "first_wrong": labels.first_wrong}
    assert trl_row(row) == {
        "prompt": ASKED,
        "completions": [computed("3*4"), computed("12+6")],
        "labels": [True, False],
    }
    assert trl_row({**row, "first_wrong": None}) is None


def test_the_command_labels_a_run(tmp_path: Path, gradeschool: Command) -> None:
    problems = load_dataset("fresh:5:train:3").problems
    wrong = "\n".join([*split_steps(problems[0].solution)[:-1], "#### 1"])
    rows = [{"index": index, "sample": sample, "completion": text}
            for index, each in enumerate(problems)
            for sample, text in enumerate([each.solution, wrong if not index else "#### 2 apples"])
            ]  # fmt: skip
    samples, out = tmp_path / "samples.jsonl", tmp_path / "out.jsonl"
    samples.write_text("".join(f"{json.dumps(fields)}\n" for fields in rows))
    arguments = ("data", "label-steps", samples, "-d", "fresh:5:train:3")
    ended = gradeschool.done(*arguments)
    labels = [json.loads(line) for line in ended.out.splitlines()]
    assert [each["first_wrong"] for each in labels[:2]] == [NO_ERROR, len(labels[1]["steps"]) - 1]
    assert "3 without a wrong step" in ended.err and len(labels) == 6
    gradeschool.done(*arguments, "--form", "trl", "-o", out)
    assert set(json.loads(out.read_text().splitlines()[0])) == {"prompt", "completions", "labels"}
    assert gradeschool(*arguments, "-o", out).status == 2
    assert gradeschool("data", "label-steps", samples, "-d", "sample").status == 2


def test_roll_outs_label_the_step_that_none_mends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model goes on rightly only while the text has no 9."""

    class Continuing:
        name = identity = "continuing"
        connections = None

        async def __aenter__(self) -> Continuing:
            return self

        async def __aexit__(self, *exc: object) -> None:
            pass

        async def complete(self, request: Request) -> Reply:
            right = "9" not in (request.prompt.text or "") and request.sample == 1
            return Reply("#### 7" if right else "#### 1")

    monkeypatch.setattr("gradeschool.models.choose.choose_model", lambda *_, **__: Continuing())
    problem = Problem.from_row("0", "How many?", "So.\n#### 7")
    texts = {"He has 3.\nThen 4.\n#### 7": True, "He has 3.\nThen 9.\n#### 9": False}
    candidates = [Candidate(text, place, text, True, None, right)
                  for place, (text, right) in enumerate(texts.items())]  # fmt: skip
    run = CandidateRun(
        "run", Path("run"), {}, "openai/2021", [ProblemCandidates(problem, candidates)], 0
    )
    assert [row["first_wrong"] for row in label_run(run, "model", 2)] == [NO_ERROR, 1]
