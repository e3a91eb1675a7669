"""Every verb that reads sample files takes --columns and --id-base, and reads them alike."""

import json
from pathlib import Path

import pytest

from tests.support.command import Command
from tests.support.fixtures import skip_without

SCORER = "openai/2021"
COLUMNS = ("--columns", "id=Nummer,response=Antwort", "--id-base", "1", "-d", "sample")
# {F} is a file with columns that no name explains, {G} another.
VERBS = (
    ("score", "{F}", "--scorer", SCORER),
    ("explain", "{F}", "--scorer", SCORER),
    ("compare", "{F}", "{G}", "--scorer", SCORER),
    ("compare", "{G}", "--scorer", SCORER, "--not-worse-than", "{F}"),
    ("why", "{F}", "--scorer", SCORER, "--expected", "90"),
    ("report", "{F}", "--scorer", SCORER, "-o", "{T}/page.html"),
    ("export", "{F}", "--scorer", SCORER, "-o", "{T}/logs", "--to", "lm-eval"),
    ("runs", "curve", "{F}", "--scorer", SCORER),
    ("data", "right", "{F}"),
)


def answers(folder: Path, name: str, problems: int) -> Path:
    """Write answers with ids from 1: every third is wrong."""
    sample = Path("src/gradeschool/datasets/sample/problems.jsonl")
    golds = [json.loads(line)["answer"].rpartition("#### ")[2]
             for line in sample.read_text("utf-8").splitlines()]  # fmt: skip
    rows = [
        {"Nummer": number, "Antwort": f"#### {gold if number % 3 else 'unknown'}"}
        for number, gold in enumerate(golds[:problems], start=1)
    ]
    path = folder / name
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


@pytest.mark.parametrize("words", VERBS, ids=lambda words: " ".join(words[:2]))
def test_a_verb_reads_the_columns_that_are_named(
    gradeschool: Command, tmp_path: Path, words: tuple[str, ...]
) -> None:
    places = {"F": answers(tmp_path, "a.jsonl", 48), "G": answers(tmp_path, "b.jsonl", 48)}
    filled = [word.format(**places, T=tmp_path) for word in words]
    result = gradeschool(*filled, *COLUMNS)
    assert result.status in (0, 1), result.err
    assert "cannot be used" not in result.err
    again = [word.replace("{T}", "{T}/again") for word in words]
    again = [word.format(**places, T=tmp_path) for word in again]
    said = gradeschool.refused(*again, "--columns", "response=Reply", "-d", "sample")
    assert "--columns names 'Reply'" in said


@pytest.mark.slow
def test_the_tiny_verifier_reads_them_too(gradeschool: Command, tmp_path: Path) -> None:
    skip_without(("torch", "transformers", "gguf"), "the shipped verifier")
    file, output = answers(tmp_path, "a.jsonl", 3), tmp_path / "scores.jsonl"
    words = ("verifier", "score", file, "--verifier", "tiny", "-o", output)
    gradeschool.done(*map(str, words), *COLUMNS)
    assert len(output.read_text("utf-8").splitlines()) == 3
