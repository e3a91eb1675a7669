"""Samples of a run: repeats, numbers, faults."""

import pytest

from gradeschool.formats.samples import faulty
from tests.scoring.test_score import collected, recorded


@pytest.mark.parametrize("sample", [-1, 0, 3])
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
    assert notes == [
        f"row 3 of 'f.jsonl' repeats sample {max(sample, 0)} of problem '0' exactly; counted once"
    ]


@pytest.mark.parametrize("sample", [-1, 0])
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


def test_many_samples_are_numbered_in_linear_time() -> None:
    """100,000 samples of one problem take no 5 billion comparisons."""
    [run], _ = collected(*(recorded(row, 0, str(row)) for row in range(100_000)))
    assert run.samples[-1].sample == 99_999


def test_a_thousand_faults_are_told_in_six_lines() -> None:
    """The first five of a kind, and how many more there are."""
    _, notes = collected(
        recorded(0, 0, "a"), *(faulty(row, "r", "is bad") for row in range(1, 1001))
    )
    assert len(notes) == 6
    assert notes[-1] == "... and 995 more rows of this kind (cannot be used)"
