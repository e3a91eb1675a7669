"""Causes of verdicts, labels of GSM8K-Platinum: by scorer, and in the commands."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool import Problem, get_scorer
from gradeschool.answers.failures import is_right
from gradeschool.datasets.load import platinum_changes
from gradeschool.scoring.causes import Side, explain_verdict, read_text
from tests.support.command import Command
from tests.support.files import jsonl

OLD_INSPECT, INSPECT = "inspect/match-numeric@<=0.3.220", "inspect/match-numeric@>=0.3.261"
OLMES, FLEXIBLE, READER = "olmes/gsm8k-tulu", "lm-eval/gsm8k/flexible-extract", "gradeschool/reader"
SAMPLE = ("-d", "sample")
RUN_ON = "The answer is 18.\n\nQuestion: How many are 3 and 4?\nAnswer: 7 apples"
# Each: scorer, text, gold, what it is put down to; None where scorer and reader agree that it is
# right.
VERDICTS = [
    ("openai/2021", "#### 18", "18", None),
    ("openai/2021", "The answer is 18.", "18", "right answer missed: format missing"),
    ("openai/2021", "#### 18.", "18", "right answer missed: unit or zeros kept"),
    (FLEXIBLE, "It costs #### 18.00", "18", "right answer missed: unit or zeros kept"),
    (FLEXIBLE, RUN_ON, "18", "right answer missed: run-on"),
    (FLEXIBLE, RUN_ON, "7", "wrong answer accepted: run-on"),
    (FLEXIBLE, "**18 eggs** (in 7 days).", "18", "right answer missed: another number"),
    ("opencompass/gsm8k", "The answer is 1,250.", "1250", "right answer missed: comma split"),
    (OLMES, "The answer is -10.", "10", "wrong answer accepted: sign lost"),
    (OLD_INSPECT, "The answer is 711", "11", "wrong answer accepted: suffix or prefix"),
    (INSPECT, "ANSWER: 123457", "123456", "wrong answer accepted: rounding"),
    ("qwen2.5-math/gsm8k", r"\boxed{1800}", "18", "wrong answer accepted: scale"),
    (READER, "She has 8 * 4 = 36 eggs.\n#### 36", "32", "arithmetic slip"),
    (READER, "#### 19", "18", "wrong value"),
    (READER, " ", "18", "no response"),
    ("multi-pattern", "#### " + "9" * 10_000, "18", "the scorer failed"),
]


@pytest.mark.parametrize(("scorer", "text", "gold", "expected"), VERDICTS)
def test_the_cause_of_a_verdict(scorer: str, text: str, gold: str, expected: str | None) -> None:
    problem = Problem.from_gold(gold)
    cause = explain_verdict(
        read_text(text, problem, None, {}), get_scorer(scorer).judge(text, problem)
    )
    assert (str(cause) if cause else None) == expected


@given(
    st.text(alphabet="0123456789.,-#$= \n*Aa:Q", max_size=60),
    st.sampled_from(["18", "-10", "1,250", "0"]),
    st.sampled_from(["openai/2021", FLEXIBLE, OLMES, OLD_INSPECT, READER, "multi-pattern"]),
)
def test_a_cause_is_there_exactly_where_one_is_not_right(text: str, gold: str, name: str) -> None:
    problem = Problem.from_gold(gold)
    sample_view, verdict = read_text(text, problem, None, {}), get_scorer(name).judge(text, problem)
    cause, right = explain_verdict(sample_view, verdict), is_right(sample_view.reading, gold)
    assert (cause is None) is (right and verdict.correct)
    if cause is not None and cause.side is not Side.SYSTEM:
        sides = {
            (True, False): Side.ACCEPTED,
            (False, True): Side.MISSED,
            (False, False): Side.TEXT,
        }
        assert cause.side is sides[verdict.correct, right]


def test_a_text_with_the_other_gold_suspects_the_label(gsm8k_test: Sequence[Problem]) -> None:
    changes = platinum_changes(gsm8k_test, "gsm8k")
    texts = {"288": "#### 4", "4": "#### 1", "0": "#### 1"}
    causes = {}
    for id, text in texts.items():
        problem = gsm8k_test[int(id)]
        causes[id] = explain_verdict(
            read_text(text, problem, None, changes), get_scorer(READER).judge(text, problem)
        )
    assert {id: str(cause) for id, cause in causes.items()} == {
        "288": "suspected label",
        "4": "wrong value",  # Platinum removed it, which says nothing about the text
        "0": "wrong value",
    }


@pytest.fixture
def run_of_four(tmp_path: Path) -> Path:
    """Golds of the sample problems 0, 29 and 2 are 600, 13 and 0."""
    rows = [
        {"index": 0, "completion": "#### 600", "finish_reason": "stop"},
        {"index": 29, "completion": "It is 13.", "finish_reason": "stop"},
        {"index": 2, "completion": "So she has", "finish_reason": "length"},
        {"index": 3, "completion": "", "finish_reason": "stop"},
    ]
    return jsonl(tmp_path / "four.jsonl", rows)


def test_explain_takes_the_reader_by_default(gradeschool: Command, run_of_four: Path) -> None:
    result = gradeschool("explain", run_of_four, *SAMPLE)
    first, second, third, *_ = result.out.splitlines()
    assert first == "gradeschool/reader: 2 of 4 correct (50.00 %)"
    assert {second.split("%")[1].strip(), third.split("%")[1].strip()} == {
        "truncated",
        "no response",
    }
    assert "→ truncated: the limit ended it before it stated an answer" in result.out


def test_explain_one_scorer_in_json(gradeschool: Command, run_of_four: Path) -> None:
    result = gradeschool("explain", run_of_four, *SAMPLE, "--scorer", "openai/2021", "--json")
    report = result.json()
    assert (report["completions"], report["correct"], report["scorer"]) == (4, 1, "openai/2021")
    assert sum(report["causes"].values()) == len(report["cases"]) == 3
    assert report["causes"]["right answer missed: format missing"] == 1


def test_explain_one_completion_under_every_scorer(gradeschool: Command, run_of_four: Path) -> None:
    result = gradeschool("explain", run_of_four, *SAMPLE, "--problem", "29")
    assert "problem 29, sample 0, row 2" in result.out
    assert "scorers  correct: " in result.out
    assert "scorers  no answer: " in result.out
    assert "gradeschool/reader" in result.out
    said = gradeschool.refused("explain", run_of_four, *SAMPLE, "--problem", "1")
    assert "gradeschool: no completion answers the pr" in said


def test_forms_stand_beside_the_accuracy(gradeschool: Command, run_of_four: Path) -> None:
    result = gradeschool("score", run_of_four, *SAMPLE, "--scorer", READER)
    assert "four, 4 completions, 25.0 % empty, 25.0 % truncated" in result.out
    [run] = gradeschool("score", run_of_four, *SAMPLE, "--scorer", READER, "--json").json()["runs"]
    assert run["forms"] == {"n": 4, "empty": 1, "truncated": 1, "run_on": 0, "thinking": 0}


def test_scores_under_platinum_are_those_of_its_own_problems(
    gradeschool: Command, data: Path, gsm8k_test: Sequence[Problem]
) -> None:
    """Counted apart: the problems of Platinum, each against its gold, by the scorer itself."""
    path, name = data / "completions" / "tora.jsonl", FLEXIBLE
    changes = platinum_changes(gsm8k_test, "gsm8k")
    labels = {each.id: changes.get(each.id, each) for each in gsm8k_test}
    expected: dict[str, list[int]] = {}
    with path.open(newline="\n") as lines:
        for row in map(json.loads, lines):
            problem = labels.get(str(row["index"]))
            if problem is not None:
                counts = expected.setdefault(row["model"], [0, 0])
                counts[0] += get_scorer(name).judge(row["completion"], problem).correct
                counts[1] += 1
    result = gradeschool("score", path, "--scorer", name, "--labels", "platinum", "--json")
    platinum = {run["run"]: run["platinum"] for run in result.json()["runs"]}
    assert {
        run: [score["scorers"][name]["correct"], score["n"]] for run, score in platinum.items()
    } == expected
    assert all(n == 1209 for _, n in expected.values())
    official = gradeschool("score", path, "--scorer", name, "--json").json()["runs"]
    assert all("platinum" not in run for run in official)


@pytest.mark.official
def test_platinums_gold_suspects_a_label(gradeschool: Command, data: Path, tmp_path: Path) -> None:
    rows = [{"index": 4, "completion": "1"}, {"index": 288, "completion": "4"}]
    path = jsonl(tmp_path / "a.jsonl", rows)
    plain = gradeschool("explain", path, "-d", "gsm8k", "--json").json()
    assert (plain["correct"], plain["causes"]) == (0, {"suspected label": 1, "wrong value": 1})


def test_platinum_is_for_the_official_split_only(gradeschool: Command, run_of_four: Path) -> None:
    result = gradeschool("score", run_of_four, *SAMPLE, "--labels", "platinum")
    assert result.status == 2
    assert (
        "gradeschool: Platinum's labels are for the official test split of GSM8K, and 'sample' is "
        "not that (48 problems); leave them out, or give -d gsm8k\n"
    ) in result.err


# A headline scorer that looks for a marker, and one that reads as people do.
@pytest.mark.parametrize("protocol", ["openai/2021", "zero-shot/chat"])
def test_explain_and_page_count_alike(gradeschool: Command, tmp_path: Path, protocol: str) -> None:
    folder, page = tmp_path / "run", tmp_path / "page.html"
    model = "recorded/sample#handwritten/run-on"
    gradeschool("eval", "-m", model, "-d", "sample", "-p", protocol, "-o", folder)
    explained = gradeschool("explain", folder, "--json").json()
    expected = explained["causes"]
    assert expected
    gradeschool("report", folder, "-o", page)
    section = page.read_text("utf-8").partition('id="causes"')[2].partition("</section>")[0]
    rows = re.findall(
        r'<th scope="row"><a[^>]*>([^<]+)</a></th>.*?<td class="number">([\d,]+)</td>', section
    )
    assert {cause: int(number.replace(",", "")) for cause, number in rows} == expected


def test_failed_completions_are_counted_alike(gradeschool: Command, tmp_path: Path) -> None:
    """A provider's error is a cause of its own, and a wrong acceptance is counted with misses."""
    rows = [
        {"id": "0", "response": "", "error": "timeout: no answer within 600 s"},
        {"id": "1", "response": "The answer is 10.\n\nQuestion: And 3 + 4?\nAnswer: 7"},
        {"id": "2", "response": "I do not know."},
    ]
    file = jsonl(tmp_path / "answers.jsonl", rows)
    words = (str(file), "-d", "sample", "--id-base", "0", "--scorer", FLEXIBLE, "--json")
    explained = gradeschool("explain", *words).json()["causes"]
    assert explained["provider error"] == 1
    assert sum(explained.values()) == 3
