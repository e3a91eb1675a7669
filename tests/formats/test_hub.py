"""Results for the Hugging Face hub: model index and leaderboards."""

import importlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from gradeschool import load_dataset
from gradeschool.errors import InputError
from gradeschool.formats.export import (
    ExportedFile,
)
from gradeschool.formats.hub import eval_results_files, model_index_files
from tests.formats.test_export import run_with_a_silent_scorer
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.exports import answers as answers  # fixtures
from tests.support.exports import run as run


def test_a_leaderboard_takes_no_score_of_nothing() -> None:
    run = replace(run_with_a_silent_scorer(), dataset="gsm8k")
    index = b"".join(written(model_index_files(run)))
    assert b"gradeschool/reader" in index
    assert b"openai/2021" not in index
    silent = replace(run, scores=run.scores[1:])
    with pytest.raises(InputError, match="openai/2021 can judge none of its completions"):
        eval_results_files(silent)


def written(files: Sequence[ExportedFile]) -> Iterator[bytes]:
    """The content of each file of an export."""
    for file in files:
        stream = BytesIO()
        file.write(stream)
        yield stream.getvalue()


def test_a_leaderboard_takes_whole_runs_of_gsm8k_alone(
    gradeschool: Command, run: Path, answers: Path, tmp_path: Path
) -> None:
    """Other datasets and failed samples are refused, in words; no file is left."""
    for name, target in (("eval-results", "a.yaml"), ("model-index", "a.md")):
        for spec in (run, answers):
            dataset = ("-d", "sample") if spec is answers else ()
            result = gradeschool("export", spec, "--to", name, "-o", tmp_path / target, *dataset)
            assert result.status == 2
            assert "is not a result for openai/gsm8k" in result.err
            assert result.err.endswith("the test split of GSM8K; export to another format\n")
            assert not (tmp_path / target).exists()


def test_hub_files(gradeschool: Command, tmp_path: Path, data: Path) -> None:
    """Parsed by huggingface_hub itself: entry of the benchmark, and the card's results."""
    hub = pytest.importorskip("huggingface_hub")
    cards = importlib.import_module("huggingface_hub.repocard")
    yaml = importlib.import_module("yaml")
    path = tmp_path / "answers.jsonl"
    rows = [{"index": index, "model": "org/m", "completion": "#### 18"} for index in range(1319)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / ".eval_results" / "gsm8k.yaml"
    words = ("--scorer", "openai/2021", "--scorer", "gradeschool/reader")
    ended = gradeschool("export", path, "--to", "eval-results", "-o", out, *words)
    assert ended.status == 0, ended.err
    (entry,) = hub.parse_eval_result_entries(yaml.safe_load(out.read_text()))
    assert (entry.dataset_id, entry.task_id) == ("openai/gsm8k", "gsm8k")
    right = sum(problem.gold == "18" for problem in load_dataset("gsm8k").problems)
    assert entry.value == round(100 * right / 1319, 2) > 0
    assert hub.eval_result_entries_to_yaml([entry]) == yaml.safe_load(out.read_text())
    assert "openai/2021" in entry.notes
    card = tmp_path / "card.md"
    ended = gradeschool("export", path, "--to", "model-index", "-o", card, *words)
    assert ended.status == 0, ended.err
    loaded = cards.ModelCard.load(card)
    results = loaded.data.eval_results
    assert [result.metric_value for result in results] == [entry.value] * 2
    assert {result.dataset_type for result in results} == {"openai/gsm8k"}
    assert "protocol" not in card.read_text()
    some = tmp_path / "some.jsonl"
    some.write_text("".join(json.dumps(row) + "\n" for row in rows[:100]))
    ended = gradeschool("export", some, "--to", "eval-results", "-o", tmp_path / "b.yaml")
    assert "it has answers to 100 of 1,319 problems; finish it, or export" in ended.err
