"""Samples of a run: repeats, numbers, faults."""

import pytest

from gradeschool.errors import InputError
from gradeschool.formats.values import UNNUMBERED, Reference, Sample
from gradeschool.scoring.matching import Matcher
from gradeschool.scoring.sources import Run, collect
from tests.support.numbered import PROBLEMS

MATCHER = Matcher(PROBLEMS, "numbers")


def recorded(row: int, index: int, text: str, sample: int = UNNUMBERED, run: str = "r") -> Sample:
    return Sample(row, run, text, Reference(str(index)), sample)


def collected(*rows: Sample) -> tuple[list[Run], list[str]]:
    notes: list[str] = []
    return collect(map(MATCHER.match, rows), "numbers", "f.jsonl", notes.append), notes


def test_unusable_rows_are_counted_and_told() -> None:
    bad = Sample(2, "r", fault="is bad")
    [run], notes = collected(recorded(1, 0, "#### 0"), bad, recorded(3, 99, "#### 0"))
    assert run.faults == 2
    assert [(s.problem is None, s.row) for s in run.samples] == [(False, 1), (True, 2), (True, 3)]
    assert notes[0] == "row 2 of 'f.jsonl' is bad"
    assert notes[1].startswith("row 3 of 'f.jsonl' has the id '99'")


def test_no_usable_row_is_an_error() -> None:
    with pytest.raises(InputError, match=r"no row of 'f\.jsonl' can be used"):
        collected(Sample(1, "r", fault="is bad"))


@pytest.mark.parametrize("sample", [UNNUMBERED, 0, 3])
def test_a_row_repeated_to_the_letter_counts_once(sample: int) -> None:
    """The message names the row; the same text of another problem or run is no repetition."""
    [run, other], notes = collected(
        recorded(1, 0, "a", sample),
        recorded(2, 1, "a", sample),
        recorded(3, 0, "a", sample),
        recorded(4, 2, "b", sample),
        recorded(5, 0, "a", sample, run="other"),
    )
    assert [(sample.row, sample.text) for sample in run.samples] == [(1, "a"), (2, "a"), (4, "b")]
    assert len(other.samples) == 1
    assert notes == ["row 3 of 'f.jsonl' repeats a sample of problem '0' exactly; counted once"]


@pytest.mark.parametrize("sample", [UNNUMBERED, 0])
def test_the_same_sample_with_another_text_is_kept(sample: int) -> None:
    """Nothing is lost: the text becomes a further sample, and the message names the row."""
    [run], notes = collected(
        recorded(1, 0, "a", sample),
        recorded(2, 0, "b", sample),
        recorded(3, 1, "c", sample),
        recorded(4, 2, "c", sample),
    )
    assert [(sample.sample, sample.text) for sample in run.samples[:2]] == [(0, "a"), (1, "b")]
    assert notes == [
        "row 2 of 'f.jsonl' contains problem '0' of run 'r' again, with another text; "
        "counted as sample 1"
    ]


def test_samples_without_numbers_may_repeat_each_other() -> None:
    """Where most problems of a run have several rows these are samples, equal ones too."""
    rows = [recorded(row, row % 2, "same") for row in range(1, 9)]
    [run], notes = collected(*rows, recorded(9, 5, "same"))
    assert len(run.samples) == 9
    assert [sample.sample for sample in run.samples] == [0, 0, 1, 1, 2, 2, 3, 3, 0]
    assert notes == []


def test_a_thousand_faults_are_told_in_six_lines() -> None:
    """The first five of a kind, and how many more there are."""
    _, notes = collected(
        recorded(0, 0, "a"), *(Sample(row, "r", fault="is bad") for row in range(1, 1001))
    )
    assert len(notes) == 6
    assert notes[-1] == "... and 995 more rows of this kind (cannot be used)"
