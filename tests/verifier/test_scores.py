"""Log-probabilities that sampling stores: those of a second pass, which they make needless."""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch, which make test-all installs")
pytest.importorskip("transformers")

from gradeschool.formats.samples import ReadOptions
from gradeschool.models.local import model_name
from gradeschool.verifier.candidates import candidates_of
from gradeschool.verifier.rank import rank_input
from gradeschool.verifier.scorers import FolderReader, load_scorer
from gradeschool.verifier.scores import ScoreRow, add_scores, read_scores, stores_logprobs
from gradeschool.verifier.selection import passes
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.trainees import sums, tokenizer_of, trainee

PROBLEMS = 6


@pytest.fixture
def sampled(tmp_path: Path, tiny_model: Path, gradeschool: Command) -> Path:
    """A run of the built-in model with the calculator; some samples end at the limit."""
    problems = gradeschool("data", "generate", "-n", PROBLEMS, "--seed", 5, "--steps", 2, 3)
    (tmp_path / "problems.jsonl").write_text(problems.out)
    ended = gradeschool(
        "sample", "-m", f"transformers/{tiny_model}", "-d", tmp_path / "problems.jsonl",
        "-k", 8, "--temperature", 0.7, "--max-tokens", 60, "-o", tmp_path / "run", "--quiet",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    return tmp_path / "run"


@pytest.fixture
def other_model(tmp_path: Path) -> Path:
    """A model that wrote none of the samples."""
    tokenizer = tokenizer_of(sums(4))
    trainee(tokenizer).save_pretrained(tmp_path / "other")
    tokenizer.save_pretrained(tmp_path / "other")
    return tmp_path / "other"


def test_they_are_those_that_the_model_gives_when_it_reads_the_samples(
    sampled: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = load_scorer(None, tiny_model)
    [run] = candidates_of(str(sampled), ReadOptions(), lambda _: None)
    assert stores_logprobs(run, model_name(tiny_model))
    candidates = [each for problem in run.answered for each in problem.candidates]
    assert all(each.logprob is not None and each.tokens for each in candidates)
    texts: list[int] = []
    read = FolderReader.logprobs

    def counted(reader: FolderReader, requested: list[object]) -> list[list[float]]:
        texts.append(len(requested))
        return read(reader, requested)  # type: ignore[arg-type]

    monkeypatch.setattr(FolderReader, "logprobs", counted)
    by_key = {row.key: row for row in read_scores(add_scores(run, scorer))}
    # Few texts were drawn in other tokens than the tokenizer gives them; those alone are read.
    assert sum(texts) < len(candidates) / 10
    whole = run._replace(manifest={})  # a run that does not say who wrote it
    assert not stores_logprobs(whole, model_name(tiny_model))
    again = add_scores(whole, scorer, path=sampled / "again.jsonl")
    assert sum(texts) >= len(candidates)
    for row in read_scores(again):
        assert math.log(row.score) == pytest.approx(math.log(by_key[row.key].score), abs=1e-4)
        assert row.length == by_key[row.key].length


def test_those_of_another_model_or_prompt_are_not_taken(
    sampled: Path, tiny_model: Path, other_model: Path
) -> None:
    [run] = candidates_of(str(sampled), ReadOptions(), lambda _: None)
    mine = model_name(tiny_model)
    assert stores_logprobs(run, mine)
    assert not stores_logprobs(run, model_name(other_model))
    protocol = {**run.manifest["protocol"], "name": "lm-eval/gsm8k"}
    assert not stores_logprobs(run._replace(manifest={**run.manifest, "protocol": protocol}), mine)
    answered = [
        part._replace(candidates=[each._replace(logprob=None) for each in part.candidates])
        for part in run.answered
    ]
    assert not stores_logprobs(run._replace(answered=answered), mine)


def test_rank_charges_no_reading_for_them(
    sampled: Path,
    tiny_model: Path,
    other_model: Path,
    gradeschool: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    [run] = candidates_of(str(sampled), ReadOptions(), lambda _: None)
    keys = [each.key for problem in run.answered for each in problem.candidates]

    def stored(verifier: str, generator: str | None = None) -> set[str]:
        rows = {key: ScoreRow(key, verifier, 0.5, 5, -1.0, generator) for key in keys}
        return set(rank_input(run, verifier, rows).stored)

    mine, other = model_name(tiny_model), model_name(other_model)
    assert stored("verifier", mine) == {"logprob", "sum"}
    assert stored(f"log-probability {mine}") == {"verifier"}
    assert stored(f"log-probability {other}", mine) == {"logprob", "sum"}
    assert stored(f"log-probability {mine}:min") == stored("verifier", other) == set()
    charged = []

    def recorded(strategy: str, stored: Collection[str] = ()) -> int:
        charged.append(set(stored))
        return passes(strategy, stored)

    monkeypatch.setattr("gradeschool.verifier.rank.passes", recorded)
    result = gradeschool("rank", sampled, "--generator", tiny_model, "--json")
    assert result.status == 0, result.err
    assert charged
    assert all(names == {"verifier"} for names in charged)


def test_a_row_holds_the_sum_over_the_tokens_that_it_counts(sampled: Path) -> None:
    rows = [json.loads(line) for line in (sampled / "completions.jsonl").read_text().splitlines()]
    assert all(row["logprob"] <= 0 and row["completion_tokens"] > 0 for row in rows)
