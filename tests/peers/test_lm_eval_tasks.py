"""Our task in the real lm-eval: the stock prompt, its filters as ever, ours beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradeschool import judge, load_dataset
from gradeschool.formats.read import read_samples
from gradeschool.scorer import DEFAULT_SCORER
from tests.peers.pages import run_python, why_not

pytestmark = pytest.mark.peers

# A model that gives a recorded completion for each document, under the stock task and under ours,
# from the files of one folder; `!function` and `include` are resolved by lm-eval itself.
HARNESS = """
import json, pathlib, sys
from importlib.metadata import version
import lm_eval
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager
from gradeschool.integrations import lm_eval_tasks

COMPLETIONS = json.loads(pathlib.Path("completions.json").read_text())
ours = pathlib.Path(next(iter(lm_eval_tasks.__path__))) / "gsm8k_gradeschool.yaml"
stock = pathlib.Path(lm_eval.__file__).parent / "tasks/gsm8k/gsm8k.yaml"
rows = pathlib.Path("rows.jsonl").resolve()
folder = pathlib.Path("tasks")
folder.mkdir()
for name, path in (("ours", ours), ("stock", stock)):
    files = f"{{train: {rows}, test: {rows}}}"
    (folder / f"{name}.yaml").write_text(
        f"include: {path}\\ntask: {name}\\ndataset_path: json\\ndataset_name: null\\n"
        f"dataset_kwargs: {{data_files: {files}}}\\n")

class RecordedModel(LM):
    def generate_until(self, requests):
        return [COMPLETIONS[request.doc_id] for request in requests]
    def loglikelihood(self, requests):
        raise NotImplementedError
    loglikelihood_rolling = loglikelihood

results = lm_eval.simple_evaluate(
    RecordedModel(), tasks=["ours", "stock"], bootstrap_iters=0,
    task_manager=TaskManager(include_path=str(folder)))
samples = results["samples"]
with open("samples_ours.jsonl", "w") as file:
    file.writelines(json.dumps(row, default=str) + "\\n" for row in samples["ours"])
by_filter = {}
for row in samples["ours"]:
    by_filter.setdefault(row["filter"], []).append(row["exact_match"])
keys = ("strict-match", "flexible-extract")
stock = {k: [r["exact_match"] for r in samples["stock"] if r["filter"] == k] for k in keys}
count = len(COMPLETIONS)
prompts = [[row["arguments"] for row in samples[name][:count]] for name in ("ours", "stock")]
print(json.dumps({"by_filter": by_filter, "stock": stock, "same": prompts[0] == prompts[1],
                  "aggregate": results["results"]["ours"]["exact_match,gradeschool"]}, default=str))
"""


def test_our_filters_score_as_our_scorers_and_leave_the_stock_filters_unchanged(
    tmp_path: Path,
) -> None:
    if reason := why_not("lm_eval"):
        pytest.skip(reason)
    problems = load_dataset("sample").problems[:12]
    forms = ("#### {}", "The answer is {}.00.", r"\boxed{{{}}}", "1{}", "not {} but 3", "none")
    texts = [
        forms[index % len(forms)].format(problem.gold) for index, problem in enumerate(problems)
    ]
    rows = [{"question": problem.question, "answer": problem.solution} for problem in problems]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    (tmp_path / "completions.json").write_text(json.dumps(texts), "utf-8")
    process = run_python("lm_eval", tmp_path, HARNESS)
    assert process.returncode == 0, process.stderr[-3000:]
    outcome = json.loads(process.stdout.splitlines()[-1])
    assert outcome["same"] is True
    assert {key: outcome["by_filter"][key] for key in outcome["stock"]} == outcome["stock"]
    for name, scorer in (("gradeschool", DEFAULT_SCORER), ("numeric-equality", "numeric-equality")):
        right = [
            judge(text, problem, scorer).correct
            for text, problem in zip(texts, problems, strict=True)
        ]
        assert outcome["by_filter"][name] == list(map(float, right))
        assert 0 < sum(right) < len(right)
    assert outcome["aggregate"] == sum(outcome["by_filter"]["gradeschool"]) / len(problems)
    recorded = list(read_samples(tmp_path / "samples_ours.jsonl"))
    assert {sample.text for sample in recorded} == set(texts)
