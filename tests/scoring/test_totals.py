"""Check that rows counted one by one have the totals of all at once, and uneven samples."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradeschool.errors import InputError
from gradeschool.formats.samples import Reference, Sample, faulty
from gradeschool.scoring.matching import Matcher
from gradeschool.scoring.samples import collect
from gradeschool.scoring.score import score_table
from gradeschool.scoring.sources import choose_scorers
from gradeschool.scoring.stream import FileScorer
from gradeschool.scoring.table import scored_table
from gradeschool.scoring.totals import FileTally, Totals
from tests.support import numbered
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.fault_server import fault_server
from tests.support.real_rows import NAMES

PROBLEMS = tuple(numbered.PROBLEMS[:6])
SCORERS = choose_scorers(NAMES)
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["", "a", "b"]),  # run
        st.integers(0, 7),  # problem: two are not there
        st.integers(-1, 2),
        st.sampled_from(["#### 1", "it is 2", "", "#### 1\ud800", "The answer is 3."]),
        st.sampled_from(["", "", "", "timeout", "fault"]),
    ),
    max_size=25,
)


def recorded(rows: Sequence[tuple[str, int, int, str, str]]) -> list[Sample]:
    samples = []
    for row, (run, index, sample, text, error) in enumerate(rows, start=1):
        if error == "fault" or not run:
            samples.append(faulty(row, run, "is bad"))
        elif error:
            samples.append(Sample(row, run, "", Reference(position=index), sample, error=error))
        else:
            samples.append(Sample(row, run, text, Reference(position=index), sample))
    return samples


@settings(deadline=None)
@given(ROWS)
def test_a_stream_counts_what_a_collection_holds(
    rows: list[tuple[str, int, int, str, str]],
) -> None:
    """Runs, totals, intervals, faults and messages are those of all completions at once.

    Runs that number some samples and not others apart: what is a sample there is anyone's guess.
    """
    numbered = {run: sample < 0 for run, _, sample, *_ in rows}
    rows = [row for row in rows if (row[2] < 0) == numbered[row[0]]]
    notes: tuple[list[str], list[str]] = [], []
    tally = FileTally("f", "f")
    for row in FileScorer(PROBLEMS, "numbers", SCORERS).score(recorded(rows)):
        tally.add(row, "f")
    try:
        named = [
            sample if sample.run else faulty(sample.row, "f", sample.fault)
            for sample in recorded(rows)
        ]
        if len(runs := {sample.run for sample in recorded(rows) if sample.run}) == 1:
            named = [
                faulty(sample.row, min(runs), sample.fault) if sample.run == "f" else sample
                for sample in named
            ]
        loaded_runs = collect(named, Matcher(PROBLEMS, "numbers"), "f", notes[0].append)
    except InputError as error:
        with pytest.raises(InputError) as caught:
            tally.runs(notes[1].append)
        assert str(caught.value) == str(error)
    else:
        totals = Totals()
        totals.add(tally, NAMES, notes[1].append)
        assert totals.scores == [score_table(scored_table(run, SCORERS)) for run in loaded_runs]
        assert totals.faults == sum(run.faults for run in loaded_runs)
    assert notes[0] == notes[1]


def test_uneven_samples_and_two_golds_for_a_question_are_said(
    gradeschool: Command, tmp_path: Path
) -> None:
    problems, samples = tmp_path / "problems.jsonl", tmp_path / "samples.jsonl"
    golds = [3, 4, 5, 5]
    questions = ["What is 3 + 0?", "What is 4 + 0?", "What is 5 + 0?", "What  is 3 + 0?"]
    pairs = zip(questions, golds, strict=True)
    problems.write_text(
        "\n".join(json.dumps({"question": text, "answer": f"#### {n}"}) for text, n in pairs)
    )
    numbers = [0] * 10 + [1, 2]
    samples.write_text(
        "\n".join(
            json.dumps({"index": number, "sample": row, "completion": f"#### {number + 3}"})
            for row, number in enumerate(numbers)
        )
    )
    scored = gradeschool("score", samples, "-d", problems)
    assert "1 to 10 samples per problem" in scored.out
    assert "'What is 3 + 0?': '3' (problem 0) and '5' (problem 3)" in scored.err
    fields = gradeschool("score", samples, "-d", problems, "--json").json()["runs"][0]
    assert fields["samples_per_problem"] == [1, 10]
    with fault_server() as server:
        ended = gradeschool("eval", "-m", f"{server.url}/m", "-d", problems, "-o", tmp_path / "r")
    assert "several golds for 1 question of the dataset" in ended.err
