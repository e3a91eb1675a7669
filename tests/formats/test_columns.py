"""Columns by canonical names: every combination of names is read right, or refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from gradeschool import load_dataset
from gradeschool.errors import InputError
from gradeschool.formats.columns import choose_columns, describe_columns, parse_columns
from gradeschool.formats.read import read_samples
from gradeschool.formats.values import ReadOptions, Sample, texts_of
from gradeschool.scoring.matching import last_number
from gradeschool.scoring.sources import open_sources
from tests.support.files import jsonl

TEXTS = ("response", "output", "completion", "model_output", "prediction", "answer",
         "generated_text", "blub")  # fmt: skip
QUESTIONS = ("question", "problem", "prompt", "input", "query", "blab")
GOLDS = ("gold", "target", "expected", "ground_truth", "answer", "label", "solution", "blob")
IDS = ("id", "idx", "index", "doc_id", "")
Triple = tuple[str, str, str]  # question, gold, text


def own_problems() -> list[Triple]:
    """A hundred problems of no dataset, with texts of which three in five are right."""
    rows = []
    for number in range(100):
        boxes, pens = 3 + number % 17, 4 + number // 7
        question = f"Lena packs {boxes} boxes with {pens} pens each. How many pens does she pack?"
        wrong = boxes * pens + (7 if number % 5 > 2 else 0)
        text = f"Each box has {pens} pens, so Lena packs {boxes} * {pens} = {wrong} pens."
        rows.append((question, str(boxes * pens), text))
    return rows


def named(
    rows: Sequence[Triple], text: str, question: str, gold: str, id: str
) -> list[dict[str, Any]]:
    return [
        {**({id: number} if id else {}), question: row[0], gold: row[1], text: row[2]}
        for number, row in enumerate(rows)
    ]


def read(path: Path, options: ReadOptions | None = None) -> list[Sample]:
    """Return the matched samples of a file; raises InputError as `score` does."""
    [source] = open_sources([str(path)], options or ReadOptions(), lambda _: None)
    samples = [sample for batch in source.batches() for sample in batch]
    source.checks.conclude()
    return samples


def cell(path: Path, rows: Sequence[Triple], names: tuple[str, str, str, str]) -> str:
    """Return "right", "refused" or what is wrong."""
    text, question, gold, id = names
    jsonl(path, named(rows, text, question, gold, id))
    try:
        samples = read(path)
    except InputError:
        return "refused"
    if all(sample.fault for sample in samples):
        return "refused"
    for sample, row in zip(samples, rows, strict=True):
        if sample.problem is None or (sample.text, sample.problem.gold) != (row[2], row[1]):
            return f"wrong: {sample}"
    return "right"


def test_each_row_with_a_gold_alone_is_a_problem(tmp_path: Path) -> None:
    rows = [{"prediction": str(number % 3), "label": str(number)} for number in range(9)]
    samples = read(jsonl(tmp_path / "a.jsonl", rows))
    problems = [sample.problem for sample in samples if sample.problem]
    assert [problem.gold for problem in problems] == [row["label"] for row in rows]
    assert len({problem.id for problem in problems}) == len(rows)


MATRIX = [names for names in product(TEXTS, QUESTIONS, GOLDS, IDS) if len({*names[:3]}) == 3]


@pytest.mark.parametrize("every", [61, pytest.param(1, marks=pytest.mark.slow)])
def test_no_combination_of_names_is_read_wrong(tmp_path: Path, every: int) -> None:
    rows = own_problems()
    cells = {names: cell(tmp_path / "a.jsonl", rows, names) for names in MATRIX[::every]}
    wrong = {names: found for names, found in cells.items() if found not in ("right", "refused")}
    assert not wrong
    known = [found for names, found in cells.items() if not {"blub", "blob", "blab"} & {*names}]
    assert known.count("right") > 0.9 * len(known)


@pytest.mark.parametrize("every", [97, pytest.param(1, marks=pytest.mark.slow)])
def test_names_over_gsm8k_are_never_read_wrong(tmp_path: Path, data: Path, every: int) -> None:
    problems = load_dataset("gsm8k").problems[200:300]
    rows = [
        (problem.question, problem.gold, f"So it is {problem.gold if n % 5 < 3 else '4711'}.")
        for n, problem in enumerate(problems)
    ]
    cells = {names: cell(tmp_path / "a.jsonl", rows, names) for names in MATRIX[::every]}
    assert not {names: each for names, each in cells.items() if each not in ("right", "refused")}


def first(path: Path, row: Mapping[str, Any], columns: str = "") -> Sample:
    options = ReadOptions(columns=(parse_columns(columns),) if columns else ())
    return read_samples(jsonl(path / "a.jsonl", [row]), options=options)[0]


@pytest.mark.parametrize(
    ("columns", "texts"),
    [
        ("response=outputs.response", ["a", "b"]),
        ("response=outputs", ["a", "b"]),
        ("response=steps+", ["one\ntwo"]),
        ("response=deep.er.text", ["c"]),
        ("response=a.b", ["d"]),
    ],
)
def test_columns_names_values_inside(tmp_path: Path, columns: str, texts: list[str]) -> None:
    row = {"question": "How?", "outputs": [{"response": "a"}, {"response": "b"}],
           "steps": ["one", "two"], "deep": {"er": {"text": "c"}}, "a.b": "d"}  # fmt: skip
    path = jsonl(tmp_path / "a.jsonl", [row])
    options = ReadOptions(columns=(parse_columns(columns),))
    assert [sample.text for sample in read_samples(path, options=options)] == texts


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"response": "a", "output": "b"}, ["response=response", "response=output", "row 1: "]),
        ({"solution": "a text", "answer": "b text"}, ["response=answer", "response=solution"]),
        ({"solution": "5", "answer": "5"}, ["response=answer", "response=solution"]),
        ({"blub": "a text"}, ["response=blub", "no column"]),
        ({"number": None}, ["has no text in any column"]),
    ],
)
def test_uncertain_texts_are_refused(tmp_path: Path, row: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        first(tmp_path, {"question": "How?", **row})
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not ROLE=COLUMN"),
        ("a", "is not ROLE"),
        ("x=y", "is not a role"),
        ("response=nothing", "but the columns are 'question'"),
    ],
)
def test_a_bad_columns_option_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        options = ReadOptions(columns=(parse_columns(text),))
        read_samples(
            jsonl(tmp_path / "a.jsonl", [{"question": "a", "output": "b"}]), options=options
        )


def test_flags_are_collected(tmp_path: Path) -> None:
    for flag, expected in ((True, True), ("wrong", False), (None, None)):
        row = {"question": "How?", "response": "a", "is_correct": flag, "gold": 3}
        assert first(tmp_path, row).flag is expected
    rows = [{"question": "How?", "outputs": ["a", "b"], "correct": [True, False]}]
    flags = [sample.flag for sample in read_samples(jsonl(tmp_path / "a.jsonl", rows))]
    assert flags == [True, False]


def test_a_value_without_text_has_none() -> None:
    values: list[Any] = [[], {}, None, True, [{"type": "image"}], float("nan")]
    for value in values:
        assert not texts_of(value)
    assert last_number("a 1,250.0 b") == "1250"


SAMPLED = [
    {"prob": f"p-{n}", "try_no": k, "tag": "ab"[n % 2], "response": f"It is {n * n}.",
     "gold": n * n}
    for n in range(12) for k in range(4)
]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "named", "unused"),
    [
        ({}, {}, "id=prob,sample=try_no"),
        ({}, {"sample": "-"}, "id=prob,sample=try_no"),
        ({}, {"id": "-"}, ""),
        ({"try_no": None}, {}, "id=prob"),
        ({"prob": "the same"}, {}, ""),
        ({"question": "How many?"}, {}, ""),
        ({"id": "7"}, {}, ""),
    ],
)
def test_unused_columns_like_problems_are_named(
    changes: dict[str, Any], named: dict[str, str], unused: str
) -> None:
    rows = [row | changes for row in SAMPLED]
    assert choose_columns(rows, named, "a.jsonl", False).unused == unused


def test_the_suggested_columns_name_every_missing_role() -> None:
    rows = [
        {"Die Aufgabe": f"Ana has {n} red apples and buys {n} more of them.", "Ausgabe":
         f"She has {n} and {n} of them, so {n + n}.", "Zahl": n + n, "Dauer": 9000 + n,
         "Nr": f"T{n}", "Lauf": f"run {n % 2}"}
        for n in range(10, 30)
    ]  # fmt: skip
    with pytest.raises(InputError) as raised:
        choose_columns(rows, {}, "a.csv", False)
    command = "\n  --columns 'response=Ausgabe,question=Die Aufgabe,gold=Zahl'"
    assert command in str(raised.value)
    roles = describe_columns(rows, "a.csv")
    assert "\n  Nr: 'T10': id, response\n  Lauf: 'run 0': run, response" in roles
