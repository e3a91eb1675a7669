"""Our export beside the files that the real lm-eval writes of the same completions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.peers.compare import COMPARED
from tests.peers.pages import run_python, why_not
from tests.support.command import run_script

pytestmark = pytest.mark.peers
PROBLEMS = 12
COMPLETIONS = ("#### 18", "The answer is 3", "no idea", "#### 70,000.", "#### 540 and then 541")

# The real lm-eval: the stock task over local files, and its own tracker that saves.
HARNESS = """
import json, pathlib
import lm_eval
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

inputs = json.loads(pathlib.Path("inputs.json").read_text())
stock = pathlib.Path(lm_eval.__file__).parent / "tasks/gsm8k/gsm8k.yaml"
files = f"{{train: {inputs['train']}, test: {inputs['test']}}}"
pathlib.Path("tasks").mkdir()
pathlib.Path("tasks/gsm8k.yaml").write_text(
    f"include: {stock}\\ntask: gsm8k_here\\ndataset_path: json\\ndataset_name: null\\n"
    f"dataset_kwargs: {{data_files: {files}}}\\n")

class RecordedModel(LM):
    def generate_until(self, requests):
        return [inputs["completions"][request.doc_id] for request in requests]
    def loglikelihood(self, requests):
        raise NotImplementedError
    loglikelihood_rolling = loglikelihood

tracker = EvaluationTracker(output_path="theirs")
tracker.general_config_tracker.log_experiment_args("x", "model=org/model-7b", None, None, False)
results = lm_eval.simple_evaluate(
    RecordedModel(), tasks=["gsm8k_here"], limit=len(inputs["completions"]),
    task_manager=TaskManager(include_path="tasks"))
samples = results.pop("samples")
tracker.save_results_aggregated(results, samples)
for task, rows in samples.items():
    tracker.save_results_samples(task, rows)
"""


def both(folder: Path, pattern: str) -> Path:
    (path,) = folder.glob(pattern)
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    """A folder with the files of lm-eval ("theirs") and of our export ("ours")."""
    if reason := why_not("lm_eval"):
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("lm_eval")
    texts = [COMPLETIONS[index % len(COMPLETIONS)] for index in range(PROBLEMS)]
    splits = {name: str(data / "gsm8k" / f"{name}.jsonl") for name in ("train", "test")}
    (folder / "inputs.json").write_text(json.dumps({"completions": texts, **splits}))
    rows = [{"index": index, "model": "org/model-7b", "completion": text}
            for index, text in enumerate(texts)]  # fmt: skip
    (folder / "completions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = (
        "-m",
        f"recorded/{folder / 'completions.jsonl'}",
        "-p",
        "lm-eval/gsm8k",
        "-n",
        PROBLEMS,
    )
    result = run_script("eval", *options, "-o", folder / "run")
    assert result.status == 0, result.err
    scorers = ("lm-eval/gsm8k/strict-match", "lm-eval/gsm8k/flexible-extract")
    result = run_script("export", folder / "run", "--to", "lm-eval", "-o", folder / "ours",
                      *(word for scorer in scorers for word in ("--scorer", scorer)))  # fmt: skip
    assert result.status == 0, result.err
    harness = run_python("lm_eval", folder, HARNESS)
    assert harness.returncode == 0, harness.stderr[-3000:]
    return folder


def test_samples_are_those_of_lm_eval(written: Path) -> None:
    """The same rows in the same order: documents, prompts, readings, verdicts, hashes, fields."""
    theirs = rows_of(both(written / "theirs", "*/samples_*.jsonl"))
    ours = rows_of(both(written / "ours", "*/samples_*.jsonl"))
    assert len(ours) == len(theirs) == 2 * PROBLEMS
    for mine, real in zip(ours, theirs, strict=True):
        assert list(mine) == list(real)
        options = [row["arguments"]["gen_args_0"].pop("arg_1") for row in (mine, real)]
        assert options[0]["until"] == options[1]["until"]
        # lm-eval's filter keeps what its metric has yet to clean; ours is what is compared.
        read = [row.pop("filtered_resps")[0] for row in (mine, real)]
        assert (read[0] == "[invalid]") == (read[1] == "[invalid]")
        assert mine == real
    COMPARED["rows of lm-eval's samples"] += len(ours)


def test_results_are_those_of_lm_eval(written: Path) -> None:
    """The same figures, counts, shots and hash of the task; no field that lm-eval has not."""
    mine, real = (
        json.loads(both(written / side, "*/results_*.json").read_text())
        for side in ("ours", "theirs")
    )
    assert mine.keys() <= real.keys()
    figures, expected = mine["results"]["gsm8k"], real["results"]["gsm8k_here"]
    assert figures.keys() == expected.keys()
    numbers = [name for name in figures if name.startswith("exact_match")]
    assert len(numbers) == 4
    for name in numbers:
        assert figures[name] == pytest.approx(expected[name], abs=1e-12), name
    assert figures["sample_len"] == expected["sample_len"]
    for name in ("n-samples", "n-shot", "task_hashes", "higher_is_better"):
        assert mine[name]["gsm8k"] == real[name]["gsm8k_here"], name
    both_names = [both(written / side, "*").name for side in ("ours", "theirs")]
    assert both_names[0].endswith("model-7b")
    assert both_names[1] == "org__model-7b"
