"""Datasets other than GSM8K: made files in every published form, then the published files."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from gradeschool import Problem, load_dataset
from gradeschool.datasets.files import SOURCES
from tests.conftest import SHARED
from tests.support.datasets import forget_loaded as forget_loaded  # a fixture

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
def test_gsm_hard_writes_every_digit_and_knows_its_seed(
    target: float, gold: str, make: Make
) -> None:
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
