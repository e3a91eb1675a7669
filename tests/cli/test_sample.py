"""`gradeschool sample`: labelled completions in a run folder, resumed and topped up."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import Command

pytestmark = pytest.mark.slow
PROBLEMS = 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that knows nothing, and problems."""
    pytest.importorskip("torch", reason="needs torch, which make test-all installs")
    pytest.importorskip("transformers")
    from tests.support.trainees import sums, tokenizer_of, trainee, write_problems

    folder = tmp_path_factory.mktemp("sample")
    tokenizer = tokenizer_of(sums(40))
    trainee(tokenizer).save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    write_problems(folder / "sums.jsonl", PROBLEMS)
    return folder


def words(folder: Path, output: Path, samples: int) -> list[object]:
    model, problems = f"transformers/{folder / 'model'}", folder / "sums.jsonl"
    return ["verifier", "sample", "-m", model, "-d", problems, "-k", samples,
            "--max-tokens", 12, "-o", output, "--quiet"]  # fmt: skip


def rows_of(output: Path) -> dict[str, dict[str, Any]]:
    lines = (output / "completions.jsonl").read_bytes().splitlines()
    rows = {row["key"]: row for row in map(json.loads, lines)}
    for row in rows.values():
        row.pop("latency", None)  # another session takes another time
    return rows


def test_a_killed_sampling_goes_on(folder: Path, tmp_path: Path, gradeschool: Command) -> None:
    output = tmp_path / "run"
    gradeschool.done(*words(folder, output, 3))
    first = rows_of(output)
    assert len(first) == 3 * PROBLEMS
    assert len({row["completion"] for row in first.values()}) > 2 * PROBLEMS
    lines = (output / "completions.jsonl").read_bytes().splitlines(keepends=True)
    (output / "completions.jsonl").write_bytes(b"".join(lines[:7]) + lines[7][:30])
    gradeschool.done(*words(folder, output, 3))
    assert rows_of(output) == first
    gradeschool.done(*words(folder, output, 5))
    more = rows_of(output)
    assert len(more) == 5 * PROBLEMS
    assert {key: more[key] for key in first} == first


def test_samples_are_counted_and_scored(folder: Path, tmp_path: Path, gradeschool: Command) -> None:
    output = tmp_path / "run"
    ended = gradeschool.done(*words(folder, output, 2), "--json")
    summary = ended.json()
    assert (summary["problems"], summary["completions"]) == (PROBLEMS, 2 * PROBLEMS)
    assert 0 <= summary["right"] <= summary["completions"]
    manifest = json.loads((output / "run.json").read_text())
    assert manifest["decoding"]["temperature"] == 0.7
    assert manifest["model"].endswith("with the calculator")
    scored = gradeschool.done("score", output)
    assert "openai/2021" in scored.out
