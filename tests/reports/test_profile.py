"""Check the lines, the sentence and the figure of a profile."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from tests.support.command import Command

Write = Callable[[str, Sequence[bool], Sequence[Mapping[str, str]]], Path]


@pytest.fixture
def write(tmp_path: Path, gradeschool: Command) -> Write:
    """Write a dataset of variations, and a run folder of it."""

    def run(name: str, corrects: Sequence[bool], metas: Sequence[Mapping[str, str]]) -> Path:
        dataset, completions = tmp_path / f"{name}.jsonl", tmp_path / f"{name}-answers.jsonl"
        rows = [
            {"question": f"What is {name} {index}?", "answer": str(7 * index), **meta}
            for index, meta in enumerate(metas)
        ]
        dataset.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        answers = [
            {"index": index, "run": name, "completion": f"#### {7 * index if correct else -1}"}
            for index, correct in enumerate(corrects)
        ]
        completions.write_text("".join(f"{json.dumps(row)}\n" for row in answers))
        folder = tmp_path / name
        ended = gradeschool("eval", "-m", f"recorded/{completions}", "-p", "zero-shot/chat",
                            "-d", dataset, "-o", folder, "--quiet")  # fmt: skip
        assert ended.status == 0, ended.err
        return folder

    return run


def test_the_command_prints_a_line_for_each_set_and_says_what_it_shows(
    gradeschool: Command, write: Write, tmp_path: Path
) -> None:
    seeds = [{"seed": str(index)} for index in range(30)]
    original = write("gsm", [True] * 30, [{}] * 30)
    varied = write("varied", [index >= 12 for index in range(30)], seeds)
    page = tmp_path / "profile.html"
    ended = gradeschool("profile", original, varied, "-o", page, columns=120)
    assert ended.status == 0, ended.err
    assert "the same 30 problems as" in ended.out
    assert "60.0 % (-40.0 points" in ended.out and "significantly lower" in ended.out
    assert 'class="whisker"' in page.read_text("utf-8")
    result = gradeschool("profile", original, varied, "--json").json()
    [entry] = result["sets"]
    assert (entry["seed_problems"], entry["difference"]) == (30, pytest.approx(-0.4))
    assert result["original"]["accuracy"] == 1.0
    assert len(result["sentences"]) == 1


def test_a_scorer_that_fails_on_texts_has_no_accuracy(
    gradeschool: Command, write: Write, tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text("def f(text, gold):\n    return gold in text or 1 / 0\n")
    gradeschool.monkeypatch.chdir(tmp_path)
    original = write("gsm", [n != 3 for n in range(10)], [{}] * 10)
    varied = write("varied", [True] * 10, [{"seed": str(n)} for n in range(10)])
    words = ("profile", original, varied, "--scorer", "own.py:f")
    ended = gradeschool(*words)
    assert "own.py:f fails on 1 completion of 'gsm.jsonl'" in ended.err
    assert (ended.status, "gsm.jsonl: 90.00 to 100.00 %" in ended.out) == (3, True)
    figures = gradeschool(*words, "--json").json()["original"]
    assert (figures["accuracy"], figures["accuracy_bounds"]) == (None, [0.9, 1.0])
