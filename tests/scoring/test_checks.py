"""Checks over a whole file: shifted, permuted, mixed and foreign answers."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from gradeschool import load_dataset
from gradeschool.errors import InputError
from gradeschool.formats.values import ReadOptions, Sample, service_failure
from gradeschool.problem import Problem
from gradeschool.scoring.sources import open_sources
from tests.support.files import jsonl

SAMPLE = load_dataset("sample").problems
Row = dict[str, Any]


def wordy(problem: Problem, is_right: bool = True) -> str:
    """A text about a problem, as models write."""
    return f"We are told: {problem.question} So it is {problem.gold if is_right else '987654'}."


def rows(problems: Sequence[Problem], parse_id: Callable[[int], object]) -> list[Row]:
    return [
        {"id": parse_id(index), "completion": wordy(problem, index % 3 > 0)}
        for index, problem in enumerate(problems)
    ]


def read(path: Path, table: Sequence[Row], **options: Any) -> tuple[list[Sample], list[str]]:
    """Return the matched samples of a table, and what was said of it after the mapping."""
    notes: list[str] = []
    options = {"dataset": "sample", **options}
    [source] = open_sources(
        [str(jsonl(path / "a.jsonl", table))], ReadOptions(**options), notes.append
    )
    samples = [sample for batch in source.batches() for sample in batch]
    return samples, [*notes[1:], *source.checks.conclude()]


def right(samples: Sequence[Sample], problems: Sequence[Problem]) -> bool:
    return [sample.problem for sample in samples] == list(problems)


OTHER = "The plumber checked seven valves and then wrote down what every gauge showed: "
FAILURES = (
    "Error: rate limit 429", "Error code: 503 - {'error': {'message': 'overloaded'}}",
    "openai.APITimeoutError: Request timed out.", "<html><title>502 Bad Gateway</title></html>",
)  # fmt: skip
ORDER = random.Random(4).sample(range(48), 48)


def changed(texts: Mapping[int, str]) -> list[Row]:
    """Rows with ids, of which some have another text."""
    return [row | {"completion": texts.get(n, row["completion"])}
            for n, row in enumerate(rows(SAMPLE, int))]  # fmt: skip


def asked(texts: Sequence[str], golds: Sequence[object] = ()) -> list[Row]:
    """Rows with questions, and golds if there are some."""
    return [
        {"question": problem.question, "completion": text}
        | ({"gold": gold} if gold is not None else {})
        for problem, text, gold in zip_longest(SAMPLE[: len(texts)], texts, golds)
    ]


def own_rows() -> list[Row]:
    return [
        {"question": f"Box {n} has {n * n} pens and {n} are sold. How many are left?",
         "gold": str(n * n - n), "completion": f"After the sale {n * n - n} are left in box {n}."}
        for n in range(2, 42)
    ]  # fmt: skip


RIGHT_TEXTS = [wordy(problem, n % 3 > 0) for n, problem in enumerate(SAMPLE)]
BARE_TEXTS = [problem.gold for problem in SAMPLE]
NUMBERS = [random.Random(n).randrange(9000) for n in range(60)]
FRESH = load_dataset("fresh:7").problems[:120]
DEV = load_dataset("fresh:1:dev:90").problems
SWAPPED = [n + 1 - 2 * (n % 2) if n % 20 < 2 else n for n in range(len(FRESH))]
REFUSED: dict[str, tuple[list[Row], str | None, str]] = {
    "every tenth pair of texts swapped, of problems in the same words": (
        [{"question": problem.question, "gold": problem.gold, "response": FRESH[n].solution}
         for problem, n in zip(FRESH, SWAPPED, strict=True)], None,
        r"6 of 120 texts .* have the numbers of another row's question .*row 2 has"),
    "later texts with their prompts": (
        [{"question": problem.question, "gold": problem.gold, "response": (
            f"Q: {FRESH[n - 1].question}\nA: 6.\n\nQ: {problem.question}\nA: " if n >= 40 else "")
            + f"It is {problem.gold}."} for n, problem in enumerate(FRESH)], None,
        r"77 of 120 texts .* begin with their prompt, but not the first"),
    "a permutation": (
        rows(SAMPLE, ORDER.__getitem__), "sample", r"texts .* are about other problems"),
    "a permutation of texts that mostly repeat no question": (
        [row if place % 3 == 0 else row | {"completion": "First add both parts, then halve what is "
         f"left over after lunch, and round the sum up to the next whole one: {9000 + place}"}
         for place, row in enumerate(rows(SAMPLE, ORDER.__getitem__))], "sample",
        r"texts .* are about other problems"),
    "texts in another order than their questions": (
        asked([wordy(SAMPLE[n]) for n in ORDER]), "sample",
        r"about other problems .*put the texts beside"),
    "mostly failures": (
        changed(dict.fromkeys(range(34), FAILURES[0])), "sample",
        r"34 of 48 texts .* are failures of a service"),
    "questions as texts": (
        [{"question": wordy(problem), "response": problem.question} for problem in SAMPLE],
        "sample", "are questions of 'sample'"),
    "texts that slipped beside their questions": (
        asked(RIGHT_TEXTS[:20] + RIGHT_TEXTS[21:]), "sample",
        r"from row 21 .*fit the problem 1 place after"),
    "bare texts that slipped": (
        asked(BARE_TEXTS[:20] + BARE_TEXTS[21:], BARE_TEXTS[:47]), "sample",
        r"from row 21 .*fit the problem 1 place after"),
    "texts that slipped beside questions and golds of no dataset": (
        asked(RIGHT_TEXTS[:20] + RIGHT_TEXTS[21:], BARE_TEXTS[:47]), "fresh:3",
        r"from row 21 .*fit the problem 1 place after"),
    "golds that mostly cannot be read": (
        [row | ({"gold": "2 x + 3 y"} if n < 25 else {}) for n, row in enumerate(own_rows())],
        "sample", r"25 of 40 golds .* cannot be read, .* row 1 has"),
    "texts that slipped beside their golds": (
        [{"gold": gold, "response": f"It is {text}."}
         for gold, text in zip(NUMBERS, NUMBERS[:30] + NUMBERS[31:], strict=False)], None,
        r"from row 31 .*fit the problem 1 place"),
}  # fmt: skip
NAMED: dict[str, tuple[list[Row], list[list[str]]]] = {
    "failures of a service": (
        changed({n: FAILURES[n // 4 % 4] for n in range(0, 48, 4)}),
        [["12 of 48 texts of", "failures of a service, such as 'Error: rate limit 429'; counted"]]),
    "texts about nothing": (
        changed(dict.fromkeys(range(48), "I cannot say.")),
        [["48 of 48 texts"], ["nearly no text"]]),
    "texts about nothing from one row on": (
        [row | {"run": n // 48} | ({"completion": random.Random(n).randbytes(9).hex()}
         if n >= 96 else {}) for n, row in enumerate(rows(SAMPLE, int) * 4)],
        [["from row 97 to 192 nearly no text"]]),
    "many texts about something else": (
        changed({n: f"{OTHER}all of them work, so the invoice says {n} thousand."
                 for n in range(4, 16)}),
        [["12 of 48 texts"],
         ["12 of 48 texts", "share few words with their questions (the first is in row 5)"]]),
    **{f"texts that are alike: {failure}": (
        changed({n: failure.format(n) for n in range(0, 48, 8)}),
        [["6 of 48 texts", failure.format(0)]])
       for failure in ("API_ERROR", "[no output]", "Failed again (request {}fa)")},
    "one answer everywhere": (
        changed({n: "The answer is 12." for n in range(48) if n % 5}),
        [["38 of 48 texts", "'The answer is 12.'"]]),
    "golds of a revision": (
        asked([wordy(each) for each in SAMPLE], ["5"] * 5 + BARE_TEXTS[5:]),
        [["5 of 48 golds", "those of 'sample' are used"]]),
    "golds in no order": (
        [{"question": DEV[n].question, "gold": DEV[m].gold, "completion": wordy(DEV[n])}
         for n, m in enumerate(random.Random(1).sample(range(90), 90))],
        [["in the order of the texts?"]]),
    "short texts that have the gold": (
        changed({n: f"The total works out as {problem.gold} in 3 steps of mine"
                 for n, problem in enumerate(SAMPLE)}),
        [["nearly no text"]]),
    "a weak model": (
        changed({n: f"#### {p.gold if n % 8 else 5}" for n, p in enumerate(SAMPLE)}), []),
    "a model that is always wrong": (
        changed({n: wordy(problem, False) for n, problem in enumerate(SAMPLE)}), []),
}  # fmt: skip


def test_ids_of_the_dataset_are_taken(tmp_path: Path, data: Path) -> None:
    for form in ("{}", "{:04}", "sample-{}", "test/{:03}"):
        for options in ({}, {"dataset": None}):
            samples, notes = read(tmp_path, rows(SAMPLE, form.format), **options)
            if options:  # GSM8K, whose problems these texts are not about
                assert all("-d" in sample.fault for sample in samples)
            else:
                assert (right(samples, SAMPLE), notes) == (True, [])


@pytest.mark.parametrize("with_golds", [False, True])
def test_ids_from_1_are_read_as_such(tmp_path: Path, with_golds: bool) -> None:
    table = rows(SAMPLE, lambda index: index + 1)
    for row, problem in zip(table, SAMPLE, strict=True) if with_golds else ():
        row["gold"] = problem.gold
    samples, notes = read(tmp_path, table)
    assert (right(samples, SAMPLE), notes) == (True, [])


@pytest.mark.parametrize("shift", [2, -1])
def test_another_shift_is_refused_with_the_option(tmp_path: Path, shift: int) -> None:
    table = rows(SAMPLE[2:], lambda index: index + 2 + shift)
    with pytest.raises(InputError, match=f"--id-base {shift}"):
        read(tmp_path, table)
    if shift > 0:
        samples, _ = read(tmp_path, table, id_base=shift)
        assert right(samples, SAMPLE[2:])


@pytest.mark.parametrize("missing", [20, 30, 40])
def test_a_missing_row_is_found(tmp_path: Path, missing: int) -> None:
    problems = [*SAMPLE[:missing], *SAMPLE[missing + 1 :]]
    with pytest.raises(InputError, match=rf"from row {missing + 1} .*is a row missing"):
        read(tmp_path, rows(problems, int))
    table = [{"completion": row["completion"]} for row in rows(problems, int)]
    with pytest.raises(InputError, match=rf"from row {missing + 1} "):
        read(tmp_path, table, in_order=True)


@pytest.mark.parametrize("name", REFUSED)
def test_rows_that_are_not_what_they_seem_are_refused(tmp_path: Path, name: str) -> None:
    table, dataset, message = REFUSED[name]
    with pytest.raises(InputError, match=message):
        read(tmp_path, table, dataset=dataset)


@pytest.mark.parametrize("name", NAMED)
def test_what_is_odd_is_named_and_scored(tmp_path: Path, name: str) -> None:
    table, expected = NAMED[name]
    samples, notes = read(tmp_path, table)
    assert not any(sample.fault for sample in samples)
    for note, words in zip(notes, expected, strict=True):
        assert all(word in note for word in words)


@pytest.mark.parametrize(("first", "shift"), [(0, 1), (60, -1), (0, 2)])
def test_golds_in_other_rows_are_refused(tmp_path: Path, first: int, shift: int) -> None:
    golds = [problem.gold for problem in DEV]
    moved = golds[first:]
    golds[first:] = moved[shift:] + moved[:shift]
    table = [
        {"question": problem.question, "gold": gold, "completion": wordy(problem, index % 4 > 0)}
        for index, (problem, gold) in enumerate(zip(DEV, golds, strict=True))
    ]
    with pytest.raises(
        InputError, match=r"answers equal the gold of the problem . places? (before|after) "
    ):
        read(tmp_path, table)


def test_counts_of_a_long_file_are_estimates_of_all_its_texts(tmp_path: Path) -> None:
    fails = [index % 20 == 0 or index >= 3600 for index in range(4800)]
    table = [
        {"id": index % 48, "sample": index // 48, "completion": wordy(SAMPLE[index % 48])}
        | ({"completion": "No backend took this on, sorry"} if fail else {})
        for index, fail in enumerate(fails)
    ]
    _, said = read(tmp_path, table)
    [warning] = [each for each in said if "are alike" in each]
    number, n = map(int, re.findall(r"\d+", warning)[:2])
    assert abs(number - sum(fails)) < 130 and abs(n - 4800) < 30
    assert warning.endswith("(estimated from 1,588 of 4,800 texts)")


@pytest.mark.official
def test_rows_of_another_dataset_among_right_ones_are_found(tmp_path: Path, data: Path) -> None:
    problems = load_dataset("gsm8k").problems
    others = load_dataset("gsm8k:train").problems
    table = rows([*problems[:240], *others[240:300]], int)
    with pytest.raises(InputError, match=r"about other problems .*give -d gsm8k:train"):
        read(tmp_path, table, dataset="gsm8k")


@pytest.mark.official
def test_a_short_shifted_segment_of_a_weak_model_is_found(tmp_path: Path, data: Path) -> None:
    problems = load_dataset("gsm8k").problems
    moved = [*problems[:700], *problems[701:712], problems[711], *problems[712:]]
    table = [{"id": n, "completion": wordy(each, n % 4 == 0)} for n, each in enumerate(moved)]
    with pytest.raises(InputError, match=r"from row 70\d .* to 71\d, 11 of 11 texts"):
        read(tmp_path, table, dataset="gsm8k")


@pytest.mark.parametrize(
    "text",
    [
        "I made an error: the total is 500.", "Errors cost her 5 points, so 20 - 5 = 15.",
        "Error in step 2. The answer is 42.", "The server carries 502 plates.", "Error",
    ],
)  # fmt: skip
def test_a_text_about_errors_is_no_failure(text: str) -> None:
    assert not service_failure(text)


def test_shifted_rows_in_the_middle_are_found(tmp_path: Path, data: Path) -> None:
    problems = load_dataset("gsm8k").problems
    moved = [*problems[:600], *problems[601:900], problems[899], *problems[900:]]
    with pytest.raises(InputError, match=r"from row 60\d .* to 89\d, "):
        read(tmp_path, rows(moved, int), dataset="gsm8k")
    table = rows([*problems[:919], *problems[920:]], int)
    both = [{"run": "a", **row} for row in table] + [
        {"run": "b", **row} for row in rows(problems, int)
    ]
    with pytest.raises(InputError, match=r"from row 920 .* on, 39\d of 39\d "):
        read(tmp_path, both, dataset="gsm8k")


@pytest.mark.official
def test_another_dataset_is_named(tmp_path: Path, data: Path) -> None:
    table = rows(load_dataset("gsm8k:train").problems[:300], int)
    with pytest.raises(InputError, match="give -d gsm8k:train"):
        read(tmp_path, table, dataset="gsm8k")
    samples, _ = read(tmp_path, table, dataset=None)
    assert all("give it with -d" in sample.fault for sample in samples)
    asked = [
        {"question": problem.question, "response": wordy(problem)}
        for problem in load_dataset("gsm8k:train").problems[:30]
    ]
    with pytest.raises(InputError, match="give -d gsm8k:train"):
        read(tmp_path, asked, dataset="gsm8k")


@pytest.mark.slow
def test_files_of_two_datasets_are_mixed_with_faults(tmp_path: Path) -> None:
    other = load_dataset("fresh:3").problems[:20]
    table = [
        {"question": problem.question, "response": wordy(problem)} for problem in (*SAMPLE, *other)
    ]
    samples, _ = read(tmp_path, table)
    assert [bool(sample.fault) for sample in samples] == [False] * 48 + [True] * 20


@pytest.mark.slow
@pytest.mark.parametrize("missing", [1, 3, 20])
@pytest.mark.parametrize("form", ["It is {}.", "{}"])
def test_bare_answers_after_missing_rows_are_found(tmp_path: Path, missing: int, form: str) -> None:
    problems = load_dataset("fresh:3").problems
    kept = [*problems[:60], *problems[60 + missing : 150]]
    table = [
        {"id": n, "completion": form.format(each.gold if n % 5 < 3 else 4711 + n)}
        for n, each in enumerate(kept)
    ]
    with pytest.raises(InputError, match=rf"from row 6\d .*fit the problem {missing} place"):
        read(tmp_path, table, dataset="fresh:3")


def test_a_question_decides_whatever_the_id_says(tmp_path: Path) -> None:
    table = [
        {"id": 47 - index, "question": problem.question, "response": wordy(problem)}
        for index, problem in enumerate(SAMPLE)
    ]
    assert right(read(tmp_path, table)[0], SAMPLE)
    for row in table:
        row["question"] = f"Solve this.\n\nQuestion: {row['question']}\nAnswer:"
    assert right(read(tmp_path, table)[0], SAMPLE)


def test_rows_beyond_the_dataset_are_faults_in_order(tmp_path: Path) -> None:
    table = [{"completion": wordy(problem)} for problem in (*SAMPLE, SAMPLE[0])]
    samples, _ = read(tmp_path, table, in_order=True)
    assert right(samples[:-1], SAMPLE)
    assert "beyond the 48 problems" in samples[-1].fault


@pytest.mark.parametrize("in_order", [False, True])
def test_golds_in_a_named_column_replace_the_datasets(tmp_path: Path, in_order: bool) -> None:
    table = asked([wordy(each) for each in SAMPLE], ["5"] * 5 + BARE_TEXTS[5:])
    if in_order:
        table = [{**row, "question": None} for row in table]
    named, notes = read(tmp_path, table, columns=({"gold": "gold"},), in_order=in_order)
    assert notes == []
    assert [sample.problem.gold for sample in named if sample.problem][:5] == ["5"] * 5


def test_the_answers_of_the_model_are_no_golds(tmp_path: Path) -> None:
    table = [
        {"question": p.question, "answer": str(900 + n), "completion": f"So it is {900 + n}."}
        for n, p in enumerate(SAMPLE[:24])
    ]
    _, notes = read(tmp_path, table)
    assert any("has the model's own answers" in note for note in notes)
    own = [
        {"question": f"Ben has {n} hats. How many?", "answer": str(n), "completion": f"It is {n}."}
        for n in range(24)
    ]
    with pytest.raises(InputError, match="has the model's own answers, not golds"):
        read(tmp_path, table + own)
    _, [note] = read(tmp_path, own)
    assert "if it is the model's own answer" in note


def test_recorded_runs_are_let_alone(data: Path, tmp_path: Path) -> None:
    """No run of real models, weak and base models among them, is refused or shifted."""
    paths = sorted((data / "completions").glob("*.jsonl"))
    for path in paths:
        notes: list[str] = []
        [source] = open_sources([str(path)], ReadOptions(), notes.append)
        faults = sum(bool(sample.fault) for batch in source.batches() for sample in batch)
        assert faults == 0
        assert all("programs" in note for note in source.checks.conclude())
        assert source.matcher.base == 0


@pytest.mark.parametrize(
    ("column", "fill", "said"),
    [
        ("completion", lambda n: "So the answer is 7001.", "texts of"),
        ("completion", lambda n: f"{'so ' * 200} 7001.", "rows 21 to 40 of 'a.jsonl' have the same "
         "text for 20 problems"),
        ("completion", lambda n: f"{'so ' * 200}\\n\\nIt is 70{n}1.",
         "20 of 40 texts of 'a.jsonl' have a backslash and an n"),
        ("gold", lambda n: "7001", "rows 21 to 40 of 'a.jsonl' have the same gold"),
        ("gold", lambda n: str(7001 + n), "rows 21 to 40 of 'a.jsonl' have golds that count up"),
        ("gold", lambda n: f"{n + 1}.790", "20 golds of 'a.jsonl' are written like '1.790'"),
    ],
)  # fmt: skip
def test_cells_that_a_spreadsheet_filled_or_wrote_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: str, fill: Callable[[int], str],
    said: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    table = own_rows()
    assert read(Path(), table)[1] == []
    for n, row in enumerate(table[20:]):
        row[column] = fill(n)
    assert any(said in note for note in read(Path(), table)[1])


def test_two_files_in_one_are_two_runs_or_said(tmp_path: Path) -> None:
    table = own_rows()
    [note] = read(tmp_path, [*table, *table])[1]
    assert "stand 2 times in one order, taken as samples of one run" in note
    assert read(tmp_path, [row for row in table for _ in range(2)])[1] == []
