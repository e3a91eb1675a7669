"""Datasets beside GSM8K: files in every published form, Platinum, ProcessBench."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gradeschool import Problem, load_dataset
from gradeschool.datasets.load import (
    LABELS,
    REMOVED,
    REVISED,
    SOURCES,
    critic_problem,
    labelled_steps,
    platinum_changes,
)
from gradeschool.errors import DataError, InputError
from gradeschool.formats.values import ProblemReference
from gradeschool.scoring.matching import Matcher
from tests.conftest import SHARED
from tests.support.command import Command
from tests.support.datasets import forget_loaded as forget_loaded  # a fixture
from tests.support.datasets import own_rows as own_rows  # a fixture
from tests.support.files import jsonl

Make = Callable[[str, str], tuple[Problem, ...]]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """A function that loads a named dataset from a file of ours in its published form."""
    monkeypatch.setenv("GRADESCHOOL_DATA", str(tmp_path))

    def problems(name: str, text: str) -> tuple[Problem, ...]:
        source = SOURCES[name]
        path = tmp_path / source.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest() if source.sha256 else ""
        rows = source.rows if path.suffix == ".py" else text.count("\n")
        rows = len(json.loads(text)) if text.startswith("[") else rows
        monkeypatch.setitem(SOURCES, name, replace(source, sha256=sha256, rows=rows))
        return load_dataset(name).problems

    return problems


def lines(*rows: Mapping[str, object]) -> str:
    """Write rows as JSONL."""
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def test_mgsm_is_read_as_plain_lines_without_quotes(make: Make) -> None:
    first, second = make("mgsm:de", 'Wie viele "Äpfel" hat er?\t18\n"Und jetzt?\t2,125\n')
    assert first.question == 'Wie viele "Äpfel" hat er?'
    assert (second.question, second.gold, second.id) == ('"Und jetzt?', "2,125", "1")
    assert first.meta == {"language": "de", "seed": "0"}
    assert first.solution == "#### 18"


def test_the_exemplars_of_mgsm_are_read_and_not_run(make: Make) -> None:
    exemplars = {
        language: {
            str(number): {"q": f"Q{number}?", "a": f"A: {number}."} for number in range(1, 9)
        }
        for language in ("de", "sw")
    }
    text = (
        "raise SystemExit('run')\nEXEMPLAR_NUMBER_ANSWERS = [11, 2, 3, 4, 5, 6, 7, 8]\n"
        f"MGSM_EXEMPLARS = {exemplars!r}\n"
    )
    problems = make("mgsm:sw:exemplars", text)
    assert len(problems) == 8
    assert problems[0].question == "Q1?"
    assert problems[0].solution == "A: 1.\n#### 11"


def test_msvamp_writes_its_integers_with_a_decimal(make: Make) -> None:
    row = {"query": "in English", "response": "8.0", "m_query": "ในภาษาไทย"}
    [problem, _] = make("msvamp:th", lines(row, row))  # of one line it would be a JSON value
    assert (problem.question, problem.gold) == ("ในภาษาไทย", "8")
    assert problem.meta == {"language": "th"}


def test_svamp_is_one_array_with_the_question_in_two_columns(make: Make) -> None:
    row = {"ID": "chal-7", "Body": "He had 3", "Question": "Now?", "Answer": 51.0, "Type": "Sum"}
    [problem] = make("svamp", json.dumps([row], indent=4))
    assert (problem.id, problem.question, problem.gold) == ("chal-7", "He had 3 Now?", "51")
    assert problem.meta == {"type": "Sum", "body": "He had 3"}


@pytest.mark.parametrize(
    ("target", "gold"),
    [
        (-9867630.0, "-9867630"), (2.0107e-06, "0.0000020107"), (3244047.0999999996,
         "3244047.0999999996"), (1e16, "10000000000000000"), (0.5, "0.5"),
    ],
)  # fmt: skip
def test_gsm_hard_has_every_digit_and_its_seed(target: float, gold: str, make: Make) -> None:
    code = 'def solution():\n    """How many ducks?"""\n    return 4\n'
    [problem] = make("gsm-hard", lines({"input": "How?", "code": code, "target": target}))
    assert problem.gold == gold
    assert problem.meta == {"seed": "How many ducks?"}
    assert problem.solution == f"{code}\n#### {gold}"


def test_a_row_without_its_column_is_an_error(make: Make) -> None:
    with pytest.raises(Exception, match=r"row 1 of 'cmath' has no answer .*name one of them"):
        make("cmath", lines({"input": "?"}))


INTEGER = re.compile(r"-?\d+(,\d{3})*")
# golds that are no plain integers, counted in the published files
NOT_INTEGERS = {
    "gsm-hard": 303, "mawps:addsub": 126, "mawps:singleeq": 134, "mawps:singleop": 15,
    "gsm-plus:mini": 461, "gsm-symbolic:p2": 100, "cmath": 83, "math500": 188,
}  # fmt: skip
FAMILY = [
    name
    for name, source in SOURCES.items()
    if source.path.startswith("family/") and (SHARED / source.path).is_file()
]


@pytest.mark.official
@pytest.mark.parametrize("name", FAMILY)
def test_the_published_files(name: str, data: Path) -> None:
    problems = load_dataset(name).problems
    assert all(problem.question.strip() and problem.gold for problem in problems)
    others = [problem.gold for problem in problems if not INTEGER.fullmatch(problem.gold)]
    assert len(others) == NOT_INTEGERS.get(name, 0)
    assert others.count("None") == (300 if name == "gsm-plus:mini" else 0)


@pytest.mark.official
def test_the_table_is_that_of_the_data(data: Path) -> None:
    facts = json.loads((data / "platinum.json").read_text())
    labels = LABELS
    assert sorted(row for row, gold in labels.items() if gold is None) == facts["removed"]
    revised = {str(row): gold for row, gold in labels.items() if gold is not None}
    assert revised == {row: change["platinum"] for row, change in facts["revised"].items()}


def test_changes_of_other_problems_are_refused(gsm8k_test: Sequence[Problem]) -> None:
    swapped = [gsm8k_test[1], gsm8k_test[0], *gsm8k_test[2:]]
    for problems in ([], gsm8k_test[:50], swapped):
        with pytest.raises(InputError, match=r"'mine' is not that \(\d+ problems\); leave"):
            platinum_changes(problems, "mine")


def test_the_dataset_is_the_official_split_without_removed_rows(data: Path) -> None:
    official = load_dataset("gsm8k").problems
    kept = load_dataset("gsm8k-platinum").problems
    assert len(kept) == 1209 == 1319 - len(REMOVED)
    assert load_dataset("gsm8k-platinum:test").problems == kept
    assert [problem.id for problem in kept] == [
        problem.id for row, problem in enumerate(official) if row not in REMOVED
    ]
    changed = {
        int(problem.id): problem.gold
        for problem in kept
        if problem.gold != official[int(problem.id)].gold
    }
    assert changed == REVISED
    for problem in kept:
        before = official[int(problem.id)]
        assert problem.question == before.question
        assert problem.meta.get("official gold", problem.gold) == before.gold
        assert problem.solution.endswith(f"#### {problem.gold}")


def test_an_index_is_an_official_row(data: Path) -> None:
    """Counted by places, 1,205 of 1,209 completions would be held to another problem's gold."""
    problems = load_dataset("gsm8k-platinum").problems
    matcher = Matcher(problems, "gsm8k-platinum")
    assert matcher.find(ProblemReference("288")).gold == "4"
    assert matcher.find(ProblemReference(id="gsm8k-1309")).gold == "2180"
    assert matcher.find(ProblemReference(id="288")).gold == "4"
    with pytest.raises(InputError, match="id '4', a row that 'gsm8k-platinum' does not contain"):
        matcher.find(ProblemReference("4"))
    own = [Problem(str(n + 1), f"{n}?", str(n), f"#### {n}") for n in range(3)]
    assert Matcher(own, "own").find(ProblemReference("0")) is own[0]  # as ever: a place


def test_samples_of_the_split_are_scored(gradeschool: Command, data: Path, tmp_path: Path) -> None:
    rows = [
        {"index": row, "completion": f"The answer is {REVISED.get(row, '?')}"}
        for row in (*REVISED, REMOVED[0])
    ]
    path = jsonl(tmp_path / "answers.jsonl", rows)
    words = ("score", path, "-d", "gsm8k-platinum", "--scorer", "numeric-equality", "--json")
    result = gradeschool(*words)
    scored = result.json()["runs"][0]["scorers"]["numeric-equality"]
    assert (result.status, scored["correct"], scored["wrong"], scored["error"]) == (3, 10, 0, 1)


def test_the_critics_prompt_is_the_published_one() -> None:
    from gradeschool.protocols.registry import get_protocol

    fields = {"id": "x", "generator": "g", "problem": "P?", "steps": ["One.", "Two."], "label": 1}
    problem = critic_problem(fields)
    assert (problem.gold, problem.meta["generator"]) == ("1", "g")
    [prompt] = get_protocol("processbench/gsm8k").render([problem], [])
    [message] = prompt.messages
    # The template's digest with this problem, from two repositories that quote it.
    text = message.content
    assert text.startswith("The following is a math problem and a solution (split into paragraphs,")
    assert "[Math Problem]\n\nP?\n\n[Solution]\n\n<paragraph_0>\nOne.\n</paragraph_0>\n\n" in text
    assert text.endswith("(i.e., the index) in \\boxed{}.")
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "4fcd1eec7b95bc8a"


def test_rows_that_are_none_are_refused() -> None:
    with pytest.raises(DataError, match="not a row of ProcessBench"):
        labelled_steps({"id": "1"})
    fields = {"id": "1", "generator": "g", "problem": "P?", "steps": ["One."], "label": 1}
    with pytest.raises(DataError, match="1 steps and the label 1"):
        labelled_steps(fields)
