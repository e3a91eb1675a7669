"""Check which completions are explained and how their causes are grouped and counted."""

from collections.abc import Sequence

from gradeschool.formats.samples import Sample
from gradeschool.scoring.causes import Case, cases
from gradeschool.scoring.samples import Run
from gradeschool.scoring.table import choose_scorers
from tests.support.numbered import PROBLEMS


def test_disagreements() -> None:
    """Only completions with different outcomes, in file order, each with both verdicts."""
    texts = ["#### 0", "It is 1", "nothing", "#### 4 or 3", "It is 5."]
    samples = [
        Sample(index + 1, problem=PROBLEMS[index], sample=0, text=text)
        for index, text in enumerate(texts)
    ]
    unusable = [
        Sample(9, sample=0, text="", error="bad"),
        Sample(10, problem=PROBLEMS[6], sample=0, text="6", error="timeout"),
    ]
    scorers = choose_scorers(["openai/2021", "lm-eval/gsm8k/flexible-extract"])
    explained = list(cases([Run("r", [*samples, *unusable])], scorers, disagreements=True))
    assert [(case.row, case.kind) for case in explained] == [
        (2, "no_answer / correct"),
        (4, "wrong / correct"),
        (5, "no_answer / wrong"),
    ]
    assert [verdict.answer.span for verdict in explained[1].verdicts if verdict.answer] == [
        (5, 6),
        (10, 11),
    ]


def explained(names: Sequence[str], texts: Sequence[str]) -> list[Case]:
    """The cases of completions of the first problems, under these scorers."""
    samples = [
        Sample(index + 1, problem=PROBLEMS[index], sample=0, text=text)
        for index, text in enumerate(texts)
    ]
    return list(cases([Run("r", samples)], choose_scorers(names)))


def test_a_group_is_the_cause_or_the_scorers_that_err() -> None:
    texts = ["#### 0", "It is 1", "It is 5."]
    alone = explained(["openai/2021"], texts)
    assert [case.group for case in alone] == ["", *(str(case.causes[0]) for case in alone[1:])]
    assert alone[1].group == "right answer missed: format missing"
    both = explained(["openai/2021", "lm-eval/gsm8k/flexible-extract"], texts)
    assert [case.group for case in both[:2]] == ["", "A right answer missed: format missing"]
    assert both[2].group == "wrong value"  # no scorer errs: the text's own cause, once


def test_a_failed_completion_has_no_verdict_and_one_cause() -> None:
    samples = [
        Sample(1, problem=PROBLEMS[0], sample=0, text="", error="timeout: 9 s"),
        Sample(2, sample=0, text="", error="bad"),
    ]
    (case,) = cases([Run("r", samples)], choose_scorers(["openai/2021"]))
    assert (case.row, case.verdicts, case.failed, len(case.causes)) == (1, (), True, 1)
    assert case.group
